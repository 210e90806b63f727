"""What a member does not take is explained, and nothing of anybody else is touched."""
from kube import JOB
from objects import plain
from processes import eventually

ONLY_M1 = {"federation.caldera.sh/clusters": "m1"}


def name_conflict(world):
    """A Job of that name is in m1 already: it stays as it is, ours goes to m2 or waits."""
    m1 = world.members["m1"]
    foreign = plain("taken", 1, cpu="2000")  # Without room it has no pods, which would close m1 sooner.
    foreign["metadata"]["namespace"] = world.ns
    m1.apply(foreign)
    uid = m1.get(JOB, "taken", world.ns)["metadata"]["uid"]
    world.submit(plain("taken", 2, annotations=ONLY_M1))
    world.await_event("taken", "Recalled", "NameConflict: Failed to apply")
    world.await_event("taken", "Queued", "NameConflict")
    eventually("the Work is taken back", lambda: not world.works("taken"))
    assert m1.get(JOB, "taken", world.ns)["metadata"]["uid"] == uid
    world.patch_job("taken", {"metadata": {"annotations": {"federation.caldera.sh/clusters": None}}})
    world.await_phase("taken", "Running")
    assert world.clusters("taken") == ["m2"], world.clusters("taken")
    survivor = m1.get(JOB, "taken", world.ns)
    assert survivor["metadata"]["uid"] == uid
    assert survivor["spec"]["tasks"][0]["replicas"] == 1
    m1.delete(JOB, "taken", world.ns)


def not_applied(world):
    """The member's own admission denies the Job: said with its words, and retried elsewhere."""
    m1 = world.members["m1"]
    m1.apply(*_policy(world.ns))
    eventually("m1 denies such Jobs", lambda: _denied(m1, world.ns))
    world.submit(plain("unwelcome", 2, annotations=ONLY_M1))
    world.await_event("unwelcome", "Recalled", "no such jobs here", 120)
    world.await_event("unwelcome", "Queued", "ApplyFailed")
    world.patch_job(
        "unwelcome", {"metadata": {"annotations": {"federation.caldera.sh/clusters": None}}}
    )
    world.await_phase("unwelcome", "Running")
    assert world.clusters("unwelcome") == ["m2"], world.clusters("unwelcome")
    m1.kubectl("delete", "validatingadmissionpolicy,validatingadmissionpolicybinding", world.ns)


def _denied(member, namespace):
    probe = plain("probe")
    probe["metadata"]["namespace"] = namespace
    path = member.path(JOB, namespace) + "?dryRun=All"
    try:
        member.request("POST", path, probe)
    except AssertionError as refused:
        return "no such jobs here" in str(refused)
    return False


def _policy(namespace):
    version = "admissionregistration.k8s.io/v1"
    rule = {
        "apiGroups": ["batch.volcano.sh"],
        "apiVersions": ["*"],
        "operations": ["CREATE"],
        "resources": ["jobs"],
    }
    here = {"matchLabels": {"kubernetes.io/metadata.name": namespace}}
    policy = {
        "apiVersion": version,
        "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": namespace},
        "spec": {
            "failurePolicy": "Fail",
            "matchConstraints": {"resourceRules": [rule], "namespaceSelector": here},
            "validations": [{"expression": "false", "message": "no such jobs here"}],
        },
    }
    binding = {
        "apiVersion": version,
        "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": {"name": namespace},
        "spec": {"policyName": namespace, "validationActions": ["Deny"]},
    }
    return policy, binding
