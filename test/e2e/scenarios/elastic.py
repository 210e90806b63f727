"""Jobs that may have less than all their pods: waves in a Queue of their own, trainers that rescale."""
from kube import QUEUE
from objects import plain, queue
from processes import eventually, steadily

OURS = "federation.caldera.sh/"
ONE_NODE = "60"  # CPUs of a pod of which a node holds one.


def waves(world):
    """A part of its pods runs at a time, held by a Queue; more once the queue may have more."""
    name = "e2e-waves"
    world.submit(queue(name, capability={"cpu": "3"}))
    world.submit(plain("waves", 8, seconds=10, queue=name, minAvailable=2))
    world.await_phase("waves", "Running")
    shard = world.placement("waves")[0]
    assert shard["tasks"]["worker"] == {"replicas": 8, "minAvailable": 8, "atOnce": 3}, shard
    own = f"caldera-{world.job('waves')['metadata']['uid']}"
    member = world.members[shard["cluster"]]
    assert member.get(QUEUE, own)["spec"]["capability"] == {"cpu": "3", "memory": "192Mi"}
    eventually("3 pods run", lambda: world.running("waves") == 3)
    steadily("never more than were granted", lambda: world.running("waves") <= 3)
    world.submit(queue(name, capability={"cpu": "5"}))
    eventually("5 pods run", lambda: world.running("waves") == 5)
    assert world.placement("waves")[0]["tasks"]["worker"]["atOnce"] == 5
    assert world.events("waves", "Resized"), world.events("waves")
    world.await_phase("waves", "Completed", 180)
    assert world.job("waves")["status"]["succeeded"] == 8, world.job("waves")["status"]
    world.delete_job("waves")
    eventually("its Queue is gone", lambda: not member.get(QUEUE, own))


def run(world):
    """A trainer grows into what gets free, and gives pods to a queue that deserves their room."""
    here = {OURS + "clusters": "m1"}
    elastic = {**here, OURS + "elastic": "true", OURS + "min-runtime": "1s"}
    world.submit(queue("e2e-elastic"), queue("e2e-claims"))
    world.submit(plain("first", 3, ONE_NODE, queue="e2e-elastic", annotations=here))
    world.await_phase("first", "Running")
    world.submit(plain("trainer", 8, ONE_NODE, queue="e2e-elastic", annotations=elastic, minAvailable=2))
    eventually("5 pods of the trainer run", lambda: world.running("trainer") == 5)
    world.delete_job("first")
    eventually("8 pods of the trainer run", lambda: world.running("trainer") == 8)
    # With the other member full the queue has more than it deserves once another asks.
    there = {OURS + "clusters": "m2"}
    world.submit(plain("fills", 8, ONE_NODE, queue="e2e-elastic", annotations=there))
    world.await_phase("fills", "Running")
    world.submit(plain("claims", 3, ONE_NODE, queue="e2e-claims", annotations=here))
    world.await_phase("claims", "Running")
    kept = [f"trainer-worker-{index}" for index in range(5)]
    eventually(
        "of the trainer run the pods with the lowest indexes",
        lambda: sorted(pod["metadata"]["name"] for pod in world.pods("trainer")) == kept,
    )
    assert world.placement("trainer")[0]["epoch"] == 1, world.placement("trainer")
    assert not world.events("trainer", "Evicted"), world.events("trainer")
    assert "claims" in world.events("trainer", "Shrunk")[0], world.events("trainer")
    world.delete_job("claims")
    steadily("it does not grow at once", lambda: world.running("trainer") == 5)
