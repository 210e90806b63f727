"""Queues that want more than there is get it by their weights."""
from kube import JOB, QUEUE
from objects import plain, queue
from processes import eventually

# Three of these fill a node; 48 fill the fleet, by its sum too. 48 is 8 + 16 + 24.
CPU, SLOTS = "21333m", 48
WEIGHTS = {"e2e-one": 1, "e2e-two": 2, "e2e-three": 3}
MORE = 2  # So many jobs of each queue are left waiting.


def converge(world):
    """The first queue has all of the fleet; as its jobs go, the others come to their shares."""
    world.submit(*(queue(name, weight) for name, weight in WEIGHTS.items()))
    early = [f"early-{index:02}" for index in range(SLOTS)]
    world.submit(*(_job("e2e-one", job) for job in early))
    eventually("the first queue has it all", lambda: _held(world)["e2e-one"] == SLOTS)
    for name, share in _shares().items():
        world.submit(*(_job(name, f"{name}-{index:02}") for index in range(share + MORE)))
    for job in early:
        world.karmada.delete(JOB, job, world.ns)
    # Both at once: what an early job has not given back yet counts in the one, not in the other.
    eventually(
        "each queue has its share, and runs it",
        lambda: _near(_held(world)) and _near(_running(world)),
    )


def _shares():
    return {name: SLOTS * weight // sum(WEIGHTS.values()) for name, weight in WEIGHTS.items()}


def _near(slots):
    """Within a tenth of the shares."""
    return all(abs(slots[name] - share) <= share / 10 for name, share in _shares().items())


def _job(name, job):
    return plain(job, 1, CPU, queue=name)


def _held(world):
    """What the Queues' status says that they hold, in pods."""
    held = {}
    for name in WEIGHTS:
        allocated = world.karmada.get(QUEUE, name).get("status", {}).get("allocated", {})
        held[name] = int(allocated.get("pods", "0"))
    return held


def _running(world):
    running = dict.fromkeys(WEIGHTS, 0)
    for job in world.jobs():
        name, phase = job["spec"]["queue"], job.get("status", {}).get("state", {}).get("phase")
        running[name] += phase == "Running"
    return running
