"""A large job gets a cluster kept; what ends before it can start passes it, what does not waits."""
from objects import plain, queue
from processes import eventually

ONLY_M1 = {"federation.caldera.sh/clusters": "m1"}
CPU, NODES = "60", 8  # One pod fits on a node.


def run(world):
    world.submit(queue("e2e-backfill"))
    world.submit(_job("runs", NODES - 2, 40, "45s"))
    world.await_phase("runs", "Running")
    world.submit(_job("large", NODES, 5, "10s"))
    world.await_event("large", "Queued", "by their estimates enough jobs end there until")
    world.submit(_job("endless", 2, None, None))
    world.await_event("endless", "Queued", "its room is kept for")
    world.submit(_job("short", 2, 2, "5s"))
    eventually("the short job passes", lambda: world.placement("short"))
    world.await_phase("short", "Completed")
    assert not world.placement("large"), "the large job went too early to show anything"
    assert not world.placement("endless"), "the endless job takes the room of the large one"
    world.await_phase("large", "Completed", 120)
    world.await_phase("endless", "Running")
    first, second = (_placed(world, name) for name in ("large", "endless"))
    assert first < second, f"the large job was placed at {first}, the endless one at {second}"


def _job(name, pods, seconds, estimate):
    more = {"runningEstimate": estimate} if estimate else {}
    return plain(name, pods, CPU, seconds, queue="e2e-backfill", annotations=ONLY_M1, **more)


def _placed(world, name):
    """When its Work was made."""
    return world.works(name)[0]["metadata"]["creationTimestamp"]
