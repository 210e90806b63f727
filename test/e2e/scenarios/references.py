"""What a Job refers to arrives in its member before it, and leaves with the last user."""
import base64

from kube import ACCOUNT, CONFIG_MAP, SECRET
from objects import job, task
from processes import eventually

KINDS = {CONFIG_MAP: "settings", SECRET: "password", ACCOUNT: "runner"}


def run(world):
    # The Job comes first, and waits for what it needs.
    world.submit(_user("one"))
    world.await_event("one", "Queued", "settings")
    secret = base64.b64encode(b"not so secret").decode()
    world.submit(
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": _meta("settings"), "data": {"a": "1"}},
        {"apiVersion": "v1", "kind": "Secret", "metadata": _meta("password"), "data": {"p": secret}},
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": _meta("runner")},
    )
    world.await_phase("one", "Running")
    cluster = world.clusters("one")[0]
    for kind, name in KINDS.items():
        assert world.holders(kind, name) == [cluster], f"{name}: {world.holders(kind, name)}"
    member = world.members[cluster]
    assert member.get(CONFIG_MAP, "settings", world.ns)["data"] == {"a": "1"}
    assert member.get(SECRET, "password", world.ns)["data"] == {"p": secret}
    world.submit(_user("two", cluster))
    world.await_phase("two", "Running")
    world.delete_job("one")
    eventually("the first user is gone", lambda: not world.works("one"))
    for kind, name in KINDS.items():
        assert world.holders(kind, name) == [cluster], f"{name} went with the first of two users"
    world.delete_job("two")
    for kind, name in KINDS.items():
        eventually(f"{name} left with its last user", lambda k=kind, n=name: not world.holders(k, n))


def _meta(name):
    return {"name": name}


def _user(name, cluster=None):
    pod = {
        "serviceAccountName": "runner",
        "volumes": [
            {"name": "settings", "configMap": {"name": "settings"}},
            {"name": "password", "secret": {"secretName": "password"}},
        ],
    }
    where = {"federation.caldera.sh/clusters": cluster} if cluster else {}
    return job(name, task("worker", 2, **pod), annotations=where)
