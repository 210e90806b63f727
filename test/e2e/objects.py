"""Objects as a user would write them, small and quick to end."""

DURATION = "sandbox.caldera.sh/duration"  # How long each pod runs; without it: until deleted.


def task(name, replicas, cpu="1", seconds=None, **more):
    """One container of CPU; `more` goes into the pod's spec. Pods stop at once when deleted."""
    marks = {DURATION: f"{seconds}s"} if seconds is not None else {}
    container = {
        "name": name,
        "image": "registry.example/e2e:1",
        "resources": {"requests": {"cpu": cpu, "memory": "64Mi"}},
    }
    spec = {
        "restartPolicy": "OnFailure",
        "terminationGracePeriodSeconds": 1,
        "containers": [container],
        **more,
    }
    template = {"metadata": {"annotations": marks}, "spec": spec}
    return {"name": name, "replicas": replicas, "template": template}


def job(name, *tasks, queue=None, annotations=None, **spec):
    """`minAvailable` is that of a gang unless `spec` says otherwise."""
    spec.setdefault("minAvailable", sum(t["replicas"] for t in tasks))
    if queue:
        spec["queue"] = queue
    return {
        "apiVersion": "batch.volcano.sh/v1alpha1",
        "kind": "Job",
        "metadata": {"name": name, "annotations": annotations or {}},
        "spec": {**spec, "tasks": list(tasks)},
    }


def plain(name, replicas=1, cpu="1", seconds=None, **more):
    return job(name, task("worker", replicas, cpu, seconds), **more)


def hyperjob(name, *replicated):
    return {
        "apiVersion": "training.volcano.sh/v1alpha1",
        "kind": "HyperJob",
        "metadata": {"name": name},
        "spec": {"replicatedJobs": list(replicated)},
    }


def replicated_job(name, template, replicas=1, mode="static"):
    """`template` is a Job, of which the spec counts."""
    return {
        "name": name,
        "replicas": replicas,
        "splitPolicy": {"mode": mode},
        "templateSpec": template["spec"],
    }


def mpi(name, queue, seconds):
    launcher = task("master", 1, seconds=seconds)
    launcher["policies"] = [{"event": "TaskCompleted", "action": "CompleteJob"}]
    plugins = {"ssh": [], "svc": [], "mpi": ["--master=master", "--worker=worker", "--port=22"]}
    return job(name, launcher, task("worker", 3), queue=queue, plugins=plugins)


def pytorch(name, queue, seconds):
    plugins = {"pytorch": ["--master=master", "--worker=worker", "--port=23456"]}
    tasks = [task("master", 1, seconds=seconds), task("worker", 2, seconds=seconds)]
    tasks[0]["policies"] = [{"event": "TaskCompleted", "action": "CompleteJob"}]
    return job(name, *tasks, queue=queue, plugins=plugins)


def tensorflow(name, queue, seconds):
    worker = task("worker", 2, seconds=seconds)
    worker["policies"] = [{"event": "TaskCompleted", "action": "CompleteJob"}]
    plugins = {"svc": [], "env": []}
    policies = [{"event": "PodEvicted", "action": "RestartJob"}]
    return job(name, task("ps", 1), worker, queue=queue, plugins=plugins, policies=policies)


def queue(name, weight=1, **spec):
    return {
        "apiVersion": "scheduling.volcano.sh/v1beta1",
        "kind": "Queue",
        "metadata": {"name": name},
        "spec": {"weight": weight, **spec},
    }


def quota(name, **overall):
    return {
        "apiVersion": "policy.karmada.io/v1alpha1",
        "kind": "FederatedResourceQuota",
        "metadata": {"name": name},
        "spec": {"overall": overall},
    }


def priority_class(name, value):
    return {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": name},
        "value": value,
        "globalDefault": False,
    }


def command(action, kind, target):
    """As `vcctl job suspend` and `vcctl queue operate` make it."""
    version = target["apiVersion"]
    name, uid = target["metadata"]["name"], target["metadata"]["uid"]
    reference = {"apiVersion": version, "kind": kind, "name": name, "uid": uid}
    return {
        "apiVersion": "bus.volcano.sh/v1alpha1",
        "kind": "Command",
        "metadata": {"name": f"{name}-{action.lower()}"},
        "action": action,
        "target": reference,
    }
