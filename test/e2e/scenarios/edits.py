"""What users do to queues and jobs that are there."""
import copy
import json

from kube import COMMAND, JOB, QUEUE, WORK
from objects import command, plain, queue
from processes import eventually, steadily


def close_queue(world):
    """A closed Queue holds its jobs; those that run go on; opened again, it lets them go."""
    name = "e2e-gate"
    world.submit(queue(name))
    world.submit(plain("inside", 2, queue=name))
    world.await_phase("inside", "Running")
    _operate(world, "CloseQueue", QUEUE, "Queue", name)
    eventually("the Queue is not open", lambda: _queue_state(world, name) in ("Closed", "Closing"))
    world.submit(plain("outside", 1, queue=name))
    world.await_event("outside", "Queued", name)
    assert world.running("inside") == 2 and not world.placement("outside")
    _operate(world, "OpenQueue", QUEUE, "Queue", name)
    world.await_phase("outside", "Running")
    eventually("the Queue is open", lambda: _queue_state(world, name) == "Open")


def suspend(world):
    """AbortJob takes the Job out of its member and keeps the parent; ResumeJob starts it anew."""
    world.submit(plain("pausable", 3))
    world.await_phase("pausable", "Running")
    first = world.placement("pausable")[0]["epoch"]
    _operate(world, "AbortJob", JOB, "Job", "pausable")
    world.await_phase("pausable", "Aborted")
    eventually("no member has the job", lambda: not world.holders(JOB, "pausable"))
    eventually("its pods are gone", lambda: not world.pods("pausable"))
    assert not world.works("pausable") and not world.placement("pausable")
    steadily("it stays suspended", lambda: not world.works("pausable"))
    _operate(world, "ResumeJob", JOB, "Job", "pausable")
    world.await_phase("pausable", "Running")
    assert world.placement("pausable")[0]["epoch"] > first
    assert world.running("pausable") == 3
    assert not world.karmada.list(COMMAND, world.ns), "Commands are left"


def scale(world):
    """More and fewer replicas follow in place, within the queue's capability."""
    world.submit(queue("e2e-scale", capability={"cpu": "6"}))
    world.submit(plain("elastic", 2, queue="e2e-scale", minAvailable=1))
    world.await_phase("elastic", "Running")
    before = world.placement("elastic")[0]
    _replicas(world, "elastic", 5)
    eventually("5 pods run", lambda: world.running("elastic", before["cluster"]) == 5)
    _replicas(world, "elastic", 8)
    steadily("no more than the queue may have", lambda: world.running("elastic") <= 6)
    _replicas(world, "elastic", 1)
    eventually("1 pod is left", lambda: len(world.pods("elastic")) == 1)
    after = world.placement("elastic")[0]
    assert (after["cluster"], after["epoch"]) == (before["cluster"], before["epoch"]), after


def edit(world):
    """What Volcano does not let change is held, and said; the Job runs on as it was."""
    world.submit(plain("edited", 2))
    world.await_phase("edited", "Running")
    cluster = world.clusters("edited")[0]
    spec = world.job("edited")["spec"]
    spec["tasks"][0]["template"]["spec"]["containers"][0]["image"] = "registry.example/e2e:2"
    world.patch_job("edited", {"spec": {"tasks": spec["tasks"]}})
    world.await_event("edited", "SpecChangeHeld")
    copy = world.members[cluster].get(JOB, "edited", world.ns)
    image = copy["spec"]["tasks"][0]["template"]["spec"]["containers"][0]["image"]
    assert image == "registry.example/e2e:1", image
    assert world.running("edited") == 2 and world.phase("edited") == "Running"


def hands(world):
    """What somebody does to a Work by hand is undone, and its pods run on."""
    world.submit(plain("handled", 2))
    world.await_phase("handled", "Running")
    work = world.works("handled")[0]["metadata"]
    pods = {pod["metadata"]["uid"] for pod in world.pods("handled")}
    job = world.karmada.get(WORK, work["name"], work["namespace"])["spec"]["workload"]["manifests"][0]
    job["spec"]["tasks"][0]["replicas"] = 9
    more = json.dumps({"spec": {"workload": {"manifests": [job]}}})
    bare = json.dumps({"metadata": {"labels": None, "annotations": None}})
    for patch in (more, bare):
        world.karmada.kubectl(
            "-n", work["namespace"], "patch", "works.work.karmada.io", work["name"], "--type=merge", "-p", patch
        )
        eventually("the Work is as it was", lambda: _is_ours(world, work))
    steadily("2 pods run", lambda: world.running("handled") <= 2)
    assert pods == {pod["metadata"]["uid"] for pod in world.pods("handled")}, world.pods("handled")
    assert world.events("handled", "WorkEdited"), world.events("handled")


def hands_off(world):
    """The Queue of a job in waves has its grant again at once whatever is done to its Work (who was
    let in between runs on), and a job whose Work would leave its pods behind takes them with it."""
    world.submit(queue("e2e-hands", capability={"cpu": "3"}))
    world.submit(plain("held", 8, queue="e2e-hands", minAvailable=2))
    world.await_phase("held", "Running")
    shard = world.works("held")[0]["metadata"]
    own = f"caldera-{world.job('held')['metadata']['uid']}"
    member = world.members[world.clusters("held")[0]]
    carrier = world.karmada.get(WORK, f"caldera-queue.{own}", shard["namespace"])
    spec = member.get(QUEUE, own)["spec"]
    loose = copy.deepcopy(carrier["spec"]["workload"]["manifests"][0])
    del loose["spec"]["capability"]
    loose["spec"]["weight"] = 50
    for patch in (
        {"spec": {"workload": {"manifests": [loose]}}},
        {"metadata": {"labels": None, "annotations": None}, "spec": {"workload": {"manifests": [loose]}}},
        {"metadata": {"finalizers": None}, "spec": {"preserveResourcesOnDeletion": True}},
    ):
        world.karmada.merge(WORK, carrier["metadata"]["name"], shard["namespace"], patch)
        eventually("the Work of the Queue is as it was", lambda: _is_as_it_was(world, carrier), 3)
        eventually("its Queue is so too", lambda: member.get(QUEUE, own)["spec"] == spec)
    world.karmada.delete(WORK, carrier["metadata"]["name"], shard["namespace"])
    eventually("the Queue's Work is made again", lambda: _is_as_it_was(world, carrier, again=True), 30)
    stays = {"metadata": {"finalizers": None}, "spec": {"preserveResourcesOnDeletion": True}}
    world.karmada.merge(WORK, shard["name"], shard["namespace"], stays)
    world.delete_job("held")
    eventually("the Work is gone", lambda: not world.works("held"))
    eventually("no member has the job", lambda: not world.holders(JOB, "held"))
    eventually("its pods are gone", lambda: not world.pods("held"))


def delete(world):
    """A deleted Job leaves nothing in any member, and its room is free again."""
    world.submit(queue("e2e-room", capability={"cpu": "3"}))
    world.submit(plain("goes", 3, queue="e2e-room"))
    world.await_phase("goes", "Running")
    world.delete_job("goes")
    eventually("the Work is gone", lambda: not world.works("goes"))
    eventually("no member has the job", lambda: not world.holders(JOB, "goes"))
    eventually("its pods are gone", lambda: not world.pods("goes"))
    world.submit(plain("comes", 3, queue="e2e-room"))
    world.await_phase("comes", "Running")


def _is_ours(world, known):
    work = world.karmada.get(WORK, known["name"], known["namespace"])
    tasks = work["spec"]["workload"]["manifests"][0]["spec"]["tasks"]
    metadata = work["metadata"]
    ours = known["labels"].items() <= metadata.get("labels", {}).items()
    noted = known["annotations"].items() <= metadata.get("annotations", {}).items()
    return metadata["uid"] == known["uid"] and ours and noted and tasks[0]["replicas"] == 2


def _is_as_it_was(world, known, again=False):
    """A Work that carries what it did, with all that Caldera wrote on it; made AGAIN, or the same."""
    before = known["metadata"]
    work = world.karmada.get(WORK, before["name"], before["namespace"])
    if work is None:
        return False
    now = work["metadata"]
    keys = ("labels", "annotations", "finalizers")
    ours = all(set(before[key]) <= set(now.get(key, [])) for key in keys)
    held = not work["spec"].get("preserveResourcesOnDeletion")
    manifests = [w["spec"]["workload"]["manifests"][0]["spec"] for w in (known, work)]
    return ours and held and manifests[0] == manifests[1] and (now["uid"] != before["uid"]) == again


def _operate(world, action, kind, kind_name, name):
    namespace = world.ns if kind == JOB else None
    world.command(command(action, kind_name, world.karmada.get(kind, name, namespace)))


def _queue_state(world, name):
    return world.karmada.get(QUEUE, name).get("status", {}).get("state")


def _replicas(world, name, count):
    """As kubectl edit does it: the whole list of tasks."""
    tasks = world.job(name)["spec"]["tasks"]
    tasks[0]["replicas"] = count
    world.patch_job(name, {"spec": {"tasks": tasks}})
