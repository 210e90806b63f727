"""One API server: kubectl for what a user does, plain HTTPS for what the suite looks at."""
import http.client
import json
import ssl
import subprocess
import threading
import urllib.parse

JOB = "batch.volcano.sh/v1alpha1/jobs"
HYPERJOB = "training.volcano.sh/v1alpha1/hyperjobs"
QUEUE = "scheduling.volcano.sh/v1beta1/queues"
COMMAND = "bus.volcano.sh/v1alpha1/commands"
WORK = "work.karmada.io/v1alpha1/works"
QUOTA = "policy.karmada.io/v1alpha1/federatedresourcequotas"
CLUSTER = "cluster.karmada.io/v1alpha1/clusters"
PRIORITY = "scheduling.k8s.io/v1/priorityclasses"
CLUSTER_ROLE = "rbac.authorization.k8s.io/v1/clusterroles"
CLUSTER_ROLE_BINDING = "rbac.authorization.k8s.io/v1/clusterrolebindings"
POD, EVENT, NAMESPACE, NODE = "v1/pods", "v1/events", "v1/namespaces", "v1/nodes"
CONFIG_MAP, SECRET, ACCOUNT = "v1/configmaps", "v1/secrets", "v1/serviceaccounts"


class Refused(AssertionError):
    """An answer of the API server that is no success."""

    def __init__(self, status, text):
        super().__init__(f"HTTP {status}: {text[:500]}")
        self.status = status


class Api:
    """As the user whose certificate is given; `kubectl` is the program's path."""

    def __init__(self, name, port, kubeconfig, pki, kubectl):
        self.name, self.port, self.kubeconfig, self.program = name, port, kubeconfig, kubectl
        self.tls = ssl.create_default_context(cafile=pki / "ca.crt")
        self.tls.load_cert_chain(pki / "admin.crt", pki / "admin.key")
        self.local = threading.local()

    def kubectl(self, *arguments, stdin=None, kubeconfig=None):
        """The output; AssertionError with what kubectl said where it fails. As the administrator,
        unless KUBECONFIG is that of somebody else."""
        result = subprocess.run(
            [self.program, f"--kubeconfig={kubeconfig or self.kubeconfig}", *arguments],
            input=stdin,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        if result.returncode != 0:
            said = f"{result.stdout}{result.stderr}".strip()
            raise AssertionError(f"{self.name}: kubectl {' '.join(arguments)}: {said}")
        return result.stdout

    def apply(self, *objects):
        listed = {"apiVersion": "v1", "kind": "List", "items": list(objects)}
        return self.kubectl("apply", "-f", "-", stdin=json.dumps(listed))

    def apply_on_server(self, *objects):
        """For what is too large for an annotation of what was applied last."""
        listed = {"apiVersion": "v1", "kind": "List", "items": list(objects)}
        return self.kubectl("apply", "--server-side", "-f", "-", stdin=json.dumps(listed))

    def request(self, method, path, body=None, content="application/json"):
        """The decoded answer; Refused otherwise. One connection a thread, renewed when stale."""
        payload = None if body is None else json.dumps(body)
        for attempt in (1, 2):
            connection = getattr(self.local, "connection", None)
            if connection is None:
                connection = http.client.HTTPSConnection(
                    "127.0.0.1", self.port, timeout=30, context=self.tls
                )
                self.local.connection = connection
            try:
                connection.request(method, path, payload, {"Content-Type": content})
                answer = connection.getresponse()
                text = answer.read().decode()
            except (OSError, http.client.HTTPException) as error:
                connection.close()
                self.local.connection = None
                if attempt == 2 or method == "POST":
                    raise Refused(0, f"{self.name}: {error}") from error
                continue
            if answer.status >= 300:
                raise Refused(answer.status, text)
            return json.loads(text) if text.startswith("{") else text
        raise AssertionError("not reached")

    def path(self, kind, namespace=None, name=None, query=None):
        group_version, plural = kind.rsplit("/", 1)
        path = ("/api/" if "/" not in group_version else "/apis/") + group_version
        path += f"/namespaces/{namespace}" if namespace else ""
        path += f"/{plural}" + (f"/{name}" if name else "")
        return path + ("?" + urllib.parse.urlencode(query) if query else "")

    def get(self, kind, name, namespace=None):
        """The object; None where there is none."""
        try:
            return self.request("GET", self.path(kind, namespace, name))
        except Refused as refused:
            if refused.status == 404:
                return None
            raise

    def list(self, kind, namespace=None, selector=None):
        query = {"labelSelector": selector} if selector else None
        return self.request("GET", self.path(kind, namespace, query=query))["items"]

    def merge(self, kind, name, namespace, patch):
        path = self.path(kind, namespace, name)
        return self.request("PATCH", path, patch, "application/merge-patch+json")

    def delete(self, kind, name, namespace=None):
        """Nothing happens where there is none."""
        try:
            self.request("DELETE", self.path(kind, namespace, name))
        except Refused as refused:
            if refused.status != 404:
                raise

    def ready(self):
        try:
            return self.request("GET", "/readyz") == "ok"
        except Refused:
            return False
