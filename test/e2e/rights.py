"""The controller's own account at the Karmada API, with the rights of manifests/ and no others."""
import base64

from kube import SECRET
from processes import eventually
from programs import ROOT

NAMESPACE, ACCOUNT, TOKEN = "caldera-system", "caldera", "caldera-token"
MANIFESTS = ROOT / "manifests"
STRICT = ("--server-side", "--validate=strict")
NODES_OF = "m1"  # The member that is watched node by node, where Karmada's proxy is there.


def controller_kubeconfig(stack):
    """Applies manifests/ as its README says; the path of the account's kubeconfig."""
    karmada = stack.karmada
    karmada.kubectl("apply", *STRICT, "-k", str(MANIFESTS / "karmada"))
    # The host cluster's part is only checked: there is nothing here to run a StatefulSet.
    karmada.kubectl("apply", *STRICT, "--dry-run=server", "-k", str(MANIFESTS / "host"))
    for member in stack.members.values():
        member.kubectl("apply", *STRICT, "-k", str(MANIFESTS / "members"))
    token = eventually("the account has its token", lambda: _token(karmada))
    path = stack.folder / "caldera.kubeconfig"
    stack.pki.kubeconfig(path, karmada.port, {"token": token})
    if stack.programs.real:
        eventually(f"the account may read nodes of {NODES_OF}", lambda: _reads_nodes(karmada, path))
    return path


def settings(stack):
    """Settings that go with what the account may do here."""
    return {"members.clusters": f"{{{NODES_OF}: nodes}}"} if stack.programs.real else {}


def may(karmada, verb, what, namespace=NAMESPACE):
    """Whether the account may; asked of the API server."""
    user = f"system:serviceaccount:{NAMESPACE}:{ACCOUNT}"
    attributes = {"verb": verb, "namespace": namespace}
    group, _, attributes["resource"] = what.rpartition("/")
    attributes["group"] = group
    review = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SubjectAccessReview",
        "spec": {"user": user, "resourceAttributes": attributes},
    }
    path = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
    return karmada.request("POST", path, review)["status"]["allowed"]


def _token(karmada):
    secret = karmada.get(SECRET, TOKEN, NAMESPACE) or {}
    token = secret.get("data", {}).get("token")
    return token and base64.b64decode(token).decode()


def _reads_nodes(karmada, kubeconfig):
    path = f"/apis/cluster.karmada.io/v1alpha1/clusters/{NODES_OF}/proxy/api/v1/nodes?limit=1"
    return "NodeList" in karmada.kubectl("get", "--raw", path, kubeconfig=kubeconfig)
