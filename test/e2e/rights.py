"""The controller's own account at the Karmada API, with the rights of manifests/ and no others."""
import base64

from kube import CLUSTER_ROLE, CLUSTER_ROLE_BINDING, SECRET
from processes import eventually
from programs import ROOT

NAMESPACE, ACCOUNT, TOKEN = "caldera-system", "caldera", "caldera-token"
MANIFESTS = ROOT / "manifests"
STRICT = ("--server-side", "--validate=strict")
NODES_OF = "m1"  # The member that is watched node by node, where Karmada's proxy is there.
READER = "caldera-reader"


def controller_kubeconfig(stack):
    """Applies manifests/ as its README says; the path of the account's kubeconfig."""
    karmada = stack.karmada
    karmada.kubectl("apply", *STRICT, "-k", str(MANIFESTS / "karmada"))
    # The host cluster's part is only checked: there is nothing here to run a StatefulSet. That of
    # the members too: the controller delivers it.
    karmada.kubectl("apply", *STRICT, "--dry-run=server", "-k", str(MANIFESTS / "host"))
    for member in stack.members.values():
        member.kubectl("apply", *STRICT, "--dry-run=server", "-k", str(MANIFESTS / "members"))
    token = eventually("the account has its token", lambda: _token(karmada))
    path = stack.folder / "caldera.kubeconfig"
    return stack.pki.kubeconfig(path, karmada.port, {"token": token})


def settings():
    """Settings that go with what the account may do here."""
    return {"members.clusters": f"{{{NODES_OF}: nodes}}", "members.deliverAccess": "true"}


def delivered(stack):
    """The members that have the role and the binding for the account."""
    user = f"system:serviceaccount:{NAMESPACE}:{ACCOUNT}"
    return [member.name for member in stack.members.values() if _binds(member, user)]


def reads_nodes(stack):
    """Whether the account reads nodes through Karmada's proxy; raises where it may not."""
    path = f"/apis/cluster.karmada.io/v1alpha1/clusters/{NODES_OF}/proxy/api/v1/nodes?limit=1"
    kubeconfig = stack.folder / "caldera.kubeconfig"
    return "NodeList" in stack.karmada.kubectl("get", "--raw", path, kubeconfig=kubeconfig)


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


def _binds(member, user):
    binding = member.get(CLUSTER_ROLE_BINDING, READER) or {"subjects": []}
    return member.get(CLUSTER_ROLE, READER) and user in [s["name"] for s in binding["subjects"]]
