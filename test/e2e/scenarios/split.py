"""A job that no cluster could hold runs in several, as one."""
from kube import JOB
from objects import plain, queue
from processes import eventually

CPU, PODS = "60", 12  # One fits on a node, eight in a cluster.


def run(world):
    """Its shards start together, have one status, and go together."""
    world.submit(queue("e2e-wide"))
    world.submit(plain("wide", PODS, CPU, 20, queue="e2e-wide"))
    world.await_phase("wide", "Running")
    assert sorted(world.clusters("wide")) == ["m1", "m2"], world.placement("wide")
    assert world.job("wide")["status"]["minAvailable"] == PODS, world.job("wide")["status"]
    eventually("one status counts them all", lambda: _counted(world, "running") == PODS)
    works = world.works("wide")
    copies = [member.get(JOB, "wide", world.ns) for member in world.members.values()]
    assert sum(copy["spec"]["tasks"][0]["replicas"] for copy in copies) == PODS, copies
    # Each came suspended and was released; none before the other one was there.
    assert all(work["spec"]["suspendDispatching"] is False for work in works), works
    last = max(work["metadata"]["creationTimestamp"] for work in works)
    assert min(copy["metadata"]["creationTimestamp"] for copy in copies) >= last, copies
    indices = {_variable(pod, "CALDERA_SHARD_INDEX") for pod in world.pods("wide")}
    assert indices == {"0", "1"}, indices
    world.await_phase("wide", "Completed")
    assert _counted(world, "succeeded") == PODS, world.job("wide")["status"]
    world.delete_job("wide")
    eventually("no member has the job", lambda: not world.holders(JOB, "wide"))


def _counted(world, what):
    return world.job("wide")["status"].get(what, 0)


def _variable(pod, name):
    environment = pod["spec"]["containers"][0]["env"]
    return next(one["value"] for one in environment if one["name"] == name)
