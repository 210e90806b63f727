"""Karmada's own programs at the Karmada API, and the members that are joined to it."""
import base64

from kube import CLUSTER, Refused
from processes import eventually

CONTROLLERS = "cluster,clusterStatus,binding,bindingStatus,execution,workStatus,namespace,unifiedAuth"
SERVICE = {"name": "karmada-aggregated-apiserver", "namespace": "karmada-system"}


def start(stack):
    """Starts the aggregated API server and the controllers; the CRDs must be there."""
    api, ports, pki = stack.karmada, stack.ports, stack.pki
    _ensure_namespaces(api)
    stack.processes.start(
        "karmada-aggregated",
        stack.programs["karmada-aggregated-apiserver"],
        f"--kubeconfig={api.kubeconfig}",
        f"--authentication-kubeconfig={api.kubeconfig}",
        f"--authorization-kubeconfig={api.kubeconfig}",
        f"--etcd-servers=http://127.0.0.1:{ports.etcd}",
        f"--tls-cert-file={pki / 'server.crt'}",
        f"--tls-private-key-file={pki / 'server.key'}",
        "--bind-address=127.0.0.1",
        f"--secure-port={ports.aggregated}",
    )
    api.apply(_service(ports.aggregated), _api_service(ports.aggregated))
    eventually("Karmada's aggregated API server answers", lambda: _serves_clusters(api), 120)
    stack.processes.start(
        "karmada-controllers",
        stack.programs["karmada-controller-manager"],
        f"--kubeconfig={api.kubeconfig}",
        f"--controllers={CONTROLLERS}",
        "--leader-elect=false",
        "--metrics-bind-address=0",
        f"--health-probe-bind-address=127.0.0.1:{ports.health}",
        # Fast, so that the scenarios need not wait.
        "--cluster-status-update-frequency=2s",
        "--cluster-success-threshold=1s",
        "--cluster-failure-threshold=3s",
    )


def join(api, pki, member, token):
    """Makes the Cluster of a member, and the Secrets with which Karmada reaches it."""
    _ensure_namespaces(api)
    encoded = base64.b64encode(token.encode()).decode()
    where = {"namespace": "karmada-cluster", "name": member.name}
    impersonator = {"namespace": "karmada-cluster", "name": f"{member.name}-impersonator"}
    api.apply(
        _secret(where, {"token": encoded, "caBundle": pki.encoded("ca.crt")}),
        _secret(impersonator, {"token": encoded}),
        {
            "apiVersion": "cluster.karmada.io/v1alpha1",
            "kind": "Cluster",
            "metadata": {"name": member.name},
            "spec": {
                "syncMode": "Push",
                "apiEndpoint": f"https://127.0.0.1:{member.port}",
                "secretRef": where,
                "impersonatorSecretRef": impersonator,
                "region": "r1",
                "zones": [f"zone-{member.name}"],
            },
        },
    )


def is_ready(api, name):
    status = (api.get(CLUSTER, name) or {}).get("status", {})
    conditions = {c["type"]: c["status"] for c in status.get("conditions", [])}
    return conditions.get("Ready") == "True"


def shows(api, name, cpus):
    """Whether the Cluster is Ready and has CPUS in all."""
    status = (api.get(CLUSTER, name) or {}).get("status", {})
    allocatable = status.get("resourceSummary", {}).get("allocatable", {})
    return is_ready(api, name) and allocatable.get("cpu") == cpus


def _ensure_namespaces(api):
    names = ("karmada-system", "karmada-cluster")
    api.apply(*({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": n}} for n in names))


def _serves_clusters(api):
    try:
        return api.request("GET", api.path(CLUSTER))["kind"] == "ClusterList"
    except Refused:
        return False


def _secret(where, data):
    return {"apiVersion": "v1", "kind": "Secret", "metadata": where, "data": data}


def _service(port):
    # There is no cluster network here: the API server reaches it by this name and port.
    spec = {"type": "ExternalName", "externalName": "localhost", "ports": [{"port": port}]}
    return {"apiVersion": "v1", "kind": "Service", "metadata": SERVICE, "spec": spec}


def _api_service(port):
    return {
        "apiVersion": "apiregistration.k8s.io/v1",
        "kind": "APIService",
        "metadata": {"name": "v1alpha1.cluster.karmada.io"},
        "spec": {
            "group": "cluster.karmada.io",
            "version": "v1alpha1",
            "groupPriorityMinimum": 2000,
            "versionPriority": 10,
            "insecureSkipTLSVerify": True,
            "service": {**SERVICE, "port": port},
        },
    }
