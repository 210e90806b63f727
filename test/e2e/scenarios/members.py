"""A member's API goes down and comes back: nothing is lost, started twice or left behind."""
import signal

import karmada
from kube import JOB
from objects import plain
from processes import eventually

ONLY_M1 = {"federation.caldera.sh/clusters": "m1"}


def down_and_back(world):
    world.submit(plain("stays", 2, annotations=ONLY_M1), plain("deleted", 1, annotations=ONLY_M1))
    world.await_phase("stays", "Running")
    world.await_phase("deleted", "Running")
    uid = world.members["m1"].get(JOB, "stays", world.ns)["metadata"]["uid"]
    processes = world.stack.processes
    processes.stop("m1-apiserver", signal.SIGKILL)
    try:
        eventually("Cluster m1 is not ready", lambda: not karmada.is_ready(world.karmada, "m1"), 120)
        world.submit(plain("waits", 1, annotations=ONLY_M1), plain("elsewhere", 2))
        world.await_phase("elsewhere", "Running")
        assert world.clusters("elsewhere") == ["m2"], world.clusters("elsewhere")
        world.await_event("waits", "Queued", "m1")
        world.delete_job("deleted")
        assert world.works("deleted"), "the Work went although its member cannot be reached"
    finally:
        processes.restart("m1-apiserver")
    eventually("m1 answers", world.members["m1"].ready, 120)
    eventually("Cluster m1 is ready", lambda: karmada.is_ready(world.karmada, "m1"), 120)
    eventually("the deleted job is gone from m1", lambda: "m1" not in world.holders(JOB, "deleted"))
    # Volcano's Job controller acts on a PodGroup that changes, not on one that it first sees when the
    # scheduler has let it in already, as may be once its watches are back: that Job never gets pods.
    # Then the controller calls it back and sends it anew (timing.unscheduledAfter).
    world.await_phase("waits", "Running", 290)
    assert world.placement("stays")[0]["epoch"] == 1, world.placement("stays")
    assert world.members["m1"].get(JOB, "stays", world.ns)["metadata"]["uid"] == uid
    assert world.clusters("stays") == ["m1"] and world.running("stays") == 2
    world.await_phase("stays", "Running")
