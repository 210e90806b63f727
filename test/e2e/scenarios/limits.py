"""Capability, quota and priority hold the right jobs, which go when room frees."""
from objects import plain, priority_class, queue, quota
from processes import steadily


def capability(world):
    """A queue of 4 CPUs: the first job fills it, the second waits for it, others are free."""
    name = "e2e-small"
    world.submit(queue(name, capability={"cpu": "4"}), queue("e2e-large"))
    world.submit(plain("first", 4, queue=name))
    world.await_phase("first", "Running")
    world.submit(plain("second", 4, queue=name), plain("other", 4, queue="e2e-large"))
    world.await_event("second", "Queued", name)
    world.await_phase("other", "Running")
    steadily("the second job waits", lambda: not world.placement("second"))
    assert not world.pods("second")
    world.delete_job("first")
    world.await_phase("second", "Running")


def quota_of_tenant(world):
    """4 CPUs for the namespace, whatever the queue; raising the quota lets the next job go."""
    world.submit(quota("tenant", **{"requests.cpu": "4"}), queue("e2e-tenant"))
    world.submit(plain("first", 3, queue="e2e-tenant"))
    world.await_phase("first", "Running")
    world.submit(plain("second", 2, queue="e2e-tenant"), plain("fits", 1))
    world.await_event("second", "Queued", "quota")
    world.await_phase("fits", "Running")
    steadily("the second job waits", lambda: not world.placement("second"))
    world.submit(quota("tenant", **{"requests.cpu": "6"}))
    world.await_phase("second", "Running")


def priority(world):
    """Of two waiting jobs the later one with more priority goes first; the class is sent along."""
    name = "e2e-lane"
    world.submit(priority_class("e2e-low", 10), priority_class("e2e-high", 1000))
    world.submit(queue(name, capability={"cpu": "2"}))
    world.submit(plain("holder", 2, queue=name, priorityClassName="e2e-high"))
    world.await_phase("holder", "Running")
    world.submit(plain("low", 2, queue=name, priorityClassName="e2e-low"))
    world.await_event("low", "Queued")
    world.submit(plain("high", 2, queue=name, priorityClassName="e2e-high"))
    world.await_event("high", "Queued")
    world.delete_job("holder")
    world.await_phase("high", "Running")
    assert not world.placement("low"), world.placement("low")
    world.delete_job("high")
    world.await_phase("low", "Running")
