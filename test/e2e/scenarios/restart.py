"""A controller that is killed in the middle of its work loses and doubles nothing."""
import time

from kube import JOB
from objects import plain, queue
from processes import eventually

JOBS = 24
ROUNDS = 3  # Of kill and start, at different moments of the work.


def run(world):
    world.submit(queue("e2e-many", capability={"cpu": "8"}))
    names = [f"job-{index:02}" for index in range(JOBS)]
    third = JOBS // ROUNDS
    for turn in range(ROUNDS):
        batch = names[turn * third : (turn + 1) * third]
        world.submit(*(plain(name, 2, seconds=2, queue="e2e-many") for name in batch))
        time.sleep(0.3 * turn)
        world.kill_controller()
        world.submit(plain(f"late-{turn}", 1, seconds=1))
        world.start_controller()
    names += [f"late-{turn}" for turn in range(ROUNDS)]
    for name in names:
        world.await_phase(name, "Completed", 180)
    for name in names:
        _once(world, name)


def _once(world, name):
    placement, works = world.placement(name), world.works(name)
    assert len(placement) == 1, f"{name}: {placement}"
    assert placement[0]["epoch"] == 1, f"{name} was started again: {placement}"
    assert len(works) == 1, f"{name}: {len(works)} Works"
    eventually(f"{name} is in one member", lambda: len(world.holders(JOB, name)) == 1, 10)
    assert world.holders(JOB, name) == [placement[0]["cluster"]]
    assert len(world.events(name, "Completed")) <= 1, world.events(name, "Completed")
