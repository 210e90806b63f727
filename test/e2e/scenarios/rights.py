"""The controller runs as the account of manifests/, which may do what is needed and no more.

That it is enough, all other scenarios show: none of its requests may be forbidden.
"""
import rights
from objects import plain
from processes import eventually

ALLOWED = [
    ("create", "work.karmada.io/works"),
    ("patch", "batch.volcano.sh/jobs"),
    ("get", "secrets"),
]
DENIED = [
    ("list", "secrets"),
    ("create", "secrets"),
    ("create", "batch.volcano.sh/jobs"),
    ("delete", "scheduling.volcano.sh/queues"),
    ("create", "cluster.karmada.io/clusters"),
    ("patch", "cluster.karmada.io/clusters"),
    ("delete", "namespaces"),
    ("create", "pods"),
    ("create", "rbac.authorization.k8s.io/clusterroles"),
]


def run(world):
    for verb, what in ALLOWED:
        assert rights.may(world.karmada, verb, what), f"it may not {verb} {what}"
    for verb, what in DENIED:
        assert not rights.may(world.karmada, verb, what), f"it may {verb} {what}"
    eventually("its access is delivered", lambda: rights.delivered(world.stack))
    assert rights.delivered(world.stack) == [rights.NODES_OF], rights.delivered(world.stack)
    if world.stack.programs.real:
        eventually("it reads the member's nodes", lambda: rights.reads_nodes(world.stack))
    world.submit(plain("as-account", 1, seconds=1))
    world.await_phase("as-account", "Completed")
