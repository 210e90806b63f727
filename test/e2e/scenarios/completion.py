"""Jobs of four styles run to Completed, each in one cluster and in the right queue."""
from kube import JOB, QUEUE, WORK
from objects import mpi, plain, pytorch, queue, tensorflow
from processes import eventually

SECONDS = 2


def run(world):
    world.submit(queue("e2e-research", 2), queue("e2e-batch"))
    jobs = {
        "mpi": mpi("mpi", "e2e-research", SECONDS),
        "pytorch": pytorch("pytorch", "e2e-research", SECONDS),
        "tensorflow": tensorflow("tensorflow", "e2e-batch", SECONDS),
        "plain": plain("plain", 4, seconds=SECONDS, queue="e2e-batch"),
        "nowhere": plain("nowhere", 2, seconds=SECONDS),
    }
    world.submit(*jobs.values())
    for name, manifest in jobs.items():
        world.await_phase(name, "Completed")
        _check(world, name, manifest["spec"].get("queue", "default"))
    _queues_in_members(world)


def _check(world, name, wanted_queue):
    shards = world.placement(name)
    assert len(shards) == 1, f"{name} is not in one cluster: {shards}"
    cluster = shards[0]["cluster"]
    assert world.holders(JOB, name) == [cluster], f"{name}: {world.holders(JOB, name)}"
    copy = world.members[cluster].get(JOB, name, world.ns)
    assert copy["spec"]["queue"] == wanted_queue, copy["spec"]["queue"]
    parent = world.job(name)
    assert parent["metadata"]["labels"]["resourcetemplate.karmada.io/claimed-by"] == "caldera"
    # One of the two: that it was placed, or, where it waited, why.
    said = world.events(name, "Placed") or world.events(name, "Queued")
    assert said and world.events(name, "Completed"), world.events(name)
    works = world.works(name)
    assert len(works) == 1, [w["metadata"]["name"] for w in works]
    eventually(
        f"the Work of {name} is suspended",
        lambda: world.works(name)[0]["spec"].get("suspendDispatching"),
    )


def _queues_in_members(world):
    """Only flat copies are there, and `default` is the member's own."""
    for member in world.members.values():
        for name in ("e2e-research", "e2e-batch"):
            copy = member.get(QUEUE, name)
            if copy:
                assert copy["spec"]["parent"] == "root", copy["spec"]
                assert "capability" not in copy["spec"], copy["spec"]
    sent = [
        manifest["metadata"]["name"]
        for work in world.karmada.list(WORK, selector="federation.caldera.sh/work=queue")
        for manifest in work["spec"]["workload"]["manifests"]
    ]
    assert "default" not in sent and "root" not in sent, sent
