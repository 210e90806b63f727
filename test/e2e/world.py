"""What a scenario works with: the APIs, a namespace of its own, the controller, and questions."""
import json
import signal

import controller as daemon
from kube import COMMAND, EVENT, HYPERJOB, JOB, NAMESPACE, POD, QUEUE, WORK
from processes import eventually

PLACEMENT = "federation.caldera.sh/placement"


class World:
    """One a scenario; `ns` is its namespace, which is there in every member too."""

    def __init__(self, stack, name):
        self.stack, self.ns = stack, f"e2e-{name}"
        self.karmada, self.members = stack.karmada, stack.members
        self.queues = []
        self.make_namespace(self.ns)

    def make_namespace(self, name):
        manifest = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
        self.karmada.apply(manifest)
        for member in self.members.values():
            eventually(
                f"namespace {name} is in {member.name}",
                lambda m=member: m.get(NAMESPACE, name),
            )

    def clean(self):
        """What a scenario leaves behind goes, so that the next one has the room."""
        self.karmada.kubectl("delete", "namespace", self.ns, "--wait=false")
        for kind in (JOB, HYPERJOB):
            for job in self.karmada.list(kind, self.ns):
                self.karmada.delete(kind, job["metadata"]["name"], self.ns)
        eventually("all Works of the scenario's jobs are gone", lambda: not self.works(), 120)
        for queue in self.queues:
            self.karmada.delete(QUEUE, queue)

    # What a user does.

    def submit(self, *objects):
        """Applies objects, those with a namespace in the scenario's."""
        for one in objects:
            if one["kind"] == "Queue":
                self.queues.append(one["metadata"]["name"])
            elif one["kind"] != "PriorityClass":
                one["metadata"].setdefault("namespace", self.ns)
        self.karmada.apply(*objects)

    def command(self, manifest):
        manifest["metadata"]["namespace"] = self.ns
        self.karmada.request("POST", self.karmada.path(COMMAND, self.ns), manifest)

    def delete_job(self, name):
        self.karmada.kubectl("delete", "jobs.batch.volcano.sh", "-n", self.ns, name)

    def patch_job(self, name, patch):
        kind = ("jobs.batch.volcano.sh", "-n", self.ns, name)
        return self.karmada.kubectl("patch", *kind, "--type=merge", "-p", json.dumps(patch))

    # What is asked of the Karmada API.

    def job(self, name):
        return self.karmada.get(JOB, name, self.ns)

    def jobs(self):
        return self.karmada.list(JOB, self.ns)

    def phase(self, name):
        return self.job(name).get("status", {}).get("state", {}).get("phase", "")

    def placement(self, name):
        """The entries of the placement; empty where there is none."""
        annotations = self.job(name)["metadata"].get("annotations", {})
        return json.loads(annotations.get(PLACEMENT, "[]"))

    def clusters(self, name):
        return [shard["cluster"] for shard in self.placement(name)]

    def events(self, name, reason=None):
        """Messages of the Events on a Job or HyperJob, of one reason or of all."""
        return [
            event["message"]
            for event in self.karmada.list(EVENT, self.ns)
            if event["involvedObject"]["name"] == name
            and event["involvedObject"]["kind"] in ("Job", "HyperJob")
            and reason in (None, event["reason"])
        ]

    def works(self, job=None):
        """Caldera's Works for shards of the namespace, or of one of its Jobs."""
        found = self.karmada.list(WORK, selector="federation.caldera.sh/work=shard")
        return [
            work
            for work in found
            for manifest in (work["spec"]["workload"]["manifests"][0],)
            if manifest["metadata"].get("namespace") == self.ns
            and job in (None, manifest["metadata"]["name"])
        ]

    def await_phase(self, name, phase, seconds=90):
        eventually(f"Job {name} is {phase}", lambda: self.phase(name) == phase, seconds)

    def await_event(self, name, reason, words="", seconds=60):
        def said():
            return [m for m in self.events(name, reason) if words in m]

        eventually(f"Event {reason} with '{words}' on Job {name}", said, seconds)
        described = self.karmada.kubectl("describe", "vcjob", "-n", self.ns, name)
        assert reason in described, f"kubectl describe does not show {reason}: {described[-800:]}"

    # What is asked of the members.

    def holders(self, kind, name):
        """The members that have such an object in the namespace."""
        return [m.name for m in self.members.values() if m.get(kind, name, self.ns)]

    def pods(self, name, cluster=None):
        """Pods of a Job by member, in one member or in all."""
        chosen = [self.members[cluster]] if cluster else self.members.values()
        selector = f"volcano.sh/job-name={name}"
        return [pod for m in chosen for pod in m.list(POD, self.ns, selector)]

    def running(self, name, cluster=None):
        pods = self.pods(name, cluster)
        alive = [p for p in pods if "deletionTimestamp" not in p["metadata"]]
        return sum(p.get("status", {}).get("phase") == "Running" for p in alive)

    # The controller.

    def kill_controller(self):
        self.stack.processes.stop(daemon.NAME, signal.SIGKILL)

    def start_controller(self):
        self.stack.processes.restart(daemon.NAME)
        daemon.await_leader(self.stack)
