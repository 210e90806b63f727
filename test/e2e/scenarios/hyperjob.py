"""The Jobs of a HyperJob are one gang over several clusters, with one status and one end."""
from kube import COMMAND, HYPERJOB, JOB
from objects import command, hyperjob, plain, queue, replicated_job
from processes import eventually

CPU = "60"  # One fits on a node, eight in a cluster.
SECONDS = 40


def run(world):
    """They start together, are aborted and resumed together, complete, and go together."""
    world.submit(queue("e2e-hyper"))
    world.submit(
        hyperjob(
            "sweep",
            replicated_job("read", plain("", 1, CPU, SECONDS, queue="e2e-hyper"), replicas=2),
            replicated_job("train", plain("", 10, CPU, SECONDS, queue="e2e-hyper"), mode="auto"),
        )
    )
    eventually("all pods run", lambda: _counted(world, "running") == {"read": 2, "train": 10})
    children = _children(world)
    assert {"sweep-read-0", "sweep-read-1", "sweep-train-0", "sweep-train-1"} == set(children)
    assert set(children.values()) == {"m1", "m2"}, children
    assert children["sweep-train-0"] != children["sweep-train-1"], children
    _check_together(world, children)
    status = _status(world)
    assert status["splitCount"] == 4 and "conditions" not in status, status

    _operate(world, "AbortJob")
    eventually("it is aborted", lambda: _condition(world) == ("Suspended", "Aborted"))
    eventually("no member has its Jobs", lambda: not any(_holders(world, children)))
    _operate(world, "ResumeJob")
    eventually("all pods run again", lambda: _counted(world, "running")["train"] == 10)
    assert not world.karmada.list(COMMAND, world.ns), "Commands are left"

    eventually("it completes", lambda: _condition(world)[0] == "Completed", 120)
    assert _counted(world, "succeeded") == {"read": 2, "train": 10}, _status(world)
    for each in _status(world)["replicatedJobsStatus"]:
        phases = [state["phase"] for state in each["jobStates"].values()]
        assert phases == ["Completed"] * 2, each
    assert world.events("sweep", "Completed"), world.events("sweep")
    world.karmada.kubectl("delete", "hyperjobs.training.volcano.sh", "-n", world.ns, "sweep")
    eventually("no member has its Jobs", lambda: not any(_holders(world, children)))
    eventually("no Work is left", lambda: not world.works())


def _check_together(world, children):
    """Each came suspended and was released; none before all the others were there."""
    works = world.works()
    assert len(works) == 4, [work["metadata"]["name"] for work in works]
    assert all(work["spec"]["suspendDispatching"] is False for work in works), works
    last = max(work["metadata"]["creationTimestamp"] for work in works)
    for name, cluster in children.items():
        copy = world.members[cluster].get(JOB, name, world.ns)
        assert copy["metadata"]["creationTimestamp"] >= last, copy["metadata"]
        assert copy["metadata"]["labels"]["volcano.sh/hyperjob-name"] == "sweep", copy["metadata"]


def _hyperjob(world):
    return world.karmada.get(HYPERJOB, "sweep", world.ns)


def _status(world):
    return _hyperjob(world).get("status", {})


def _counted(world, what):
    return {
        each["name"]: each.get(what, 0) for each in _status(world).get("replicatedJobsStatus", [])
    }


def _condition(world):
    """Type and reason of the one that is True."""
    true = [c for c in _status(world).get("conditions", []) if c["status"] == "True"]
    return (true[0]["type"], true[0]["reason"]) if true else ("", "")


def _children(world):
    """Cluster by the Job's name."""
    return {
        work["spec"]["workload"]["manifests"][0]["metadata"]["name"]: work["metadata"][
            "namespace"
        ].removeprefix("karmada-es-")
        for work in world.works()
    }


def _holders(world, children):
    return [world.holders(JOB, name) for name in children]


def _operate(world, action):
    world.command(command(action, "HyperJob", _hyperjob(world)))
