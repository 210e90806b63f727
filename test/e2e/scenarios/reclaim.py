"""A queue takes back what others have borrowed of what it deserves."""
from objects import plain, queue
from processes import eventually

CPU, PODS, JOBS = "60", 4, 4  # One pod fits on a node; the jobs fill all 16.
SOON = {"federation.caldera.sh/min-runtime": "1s"}  # Without it a job runs longer undisturbed.


def run(world):
    """One of the borrower's jobs goes, waits in its place, and comes back."""
    world.submit(queue("e2e-lender"), queue("e2e-borrower"))
    borrowers = [f"borrows-{index}" for index in range(JOBS)]
    world.submit(
        *(plain(name, PODS, CPU, queue="e2e-borrower", annotations=SOON) for name in borrowers)
    )
    for name in borrowers:
        world.await_phase(name, "Running")
    world.submit(plain("claims", PODS, CPU, queue="e2e-lender"))
    world.await_phase("claims", "Running")
    evicted = [name for name in borrowers if not world.placement(name)]
    assert len(evicted) == 1, evicted
    assert not world.works(evicted[0]), world.works(evicted[0])
    assert world.events(evicted[0], "Evicted"), world.events(evicted[0])
    world.delete_job("claims")
    world.await_phase(evicted[0], "Running")
    epochs = {name: world.placement(name)[0]["epoch"] for name in borrowers}
    assert sorted(epochs.values()) == [1] * (JOBS - 1) + [2], epochs
    assert epochs[evicted[0]] == 2, epochs
    eventually("all of its pods run", lambda: world.running(evicted[0]) == PODS)
