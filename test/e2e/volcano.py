"""Volcano's own programs in a member: admission, controllers, scheduler."""
from kube import NAMESPACE, QUEUE
from processes import eventually, free_ports

# What a member's administrator may well have; the scheduler re-reads the file when it changes.
SCHEDULER = """
actions: "enqueue, allocate, backfill"
tiers:
- plugins:
  - {name: priority}
  - {name: gang, enablePreemptable: false}
  - {name: conformance}
- plugins:
  - {name: overcommit}
  - {name: drf, enablePreemptable: false}
  - {name: predicates}
  - {name: proportion}
  - {name: nodeorder}
  - {name: binpack}
  - {name: network-topology-aware}
"""
# What is admitted, how: resource, verb, group, version, operations.
HOOKS = [
    ("jobs", "mutate", "batch.volcano.sh", "v1alpha1", ["CREATE"]),
    ("jobs", "validate", "batch.volcano.sh", "v1alpha1", ["CREATE", "UPDATE"]),
    ("queues", "mutate", "scheduling.volcano.sh", "v1beta1", ["CREATE"]),
    ("queues", "validate", "scheduling.volcano.sh", "v1beta1", ["CREATE", "UPDATE", "DELETE"]),
    ("podgroups", "validate", "scheduling.volcano.sh", "v1beta1", ["CREATE"]),
    ("hypernodes", "validate", "topology.volcano.sh", "v1alpha1", ["CREATE", "UPDATE"]),
]


def start(stack, member):
    """Starts all three; returns once the scheduler has made the queues `root` and `default`."""
    start, programs, pki = stack.processes.start, stack.programs, stack.pki
    hook, *ports = free_ports(6)
    webhook, controllers = ports[0], ports[1:3]
    scheduler = ports[3:]
    if member.get(NAMESPACE, "volcano-system") is None:
        member.kubectl("create", "namespace", "volcano-system")
    # A folder of its own: the programs watch the folder of their file.
    folder = stack.folder / "volcano" / member.name
    folder.mkdir(parents=True)
    (folder / "scheduler.yaml").write_text(SCHEDULER)
    (folder / "admission.yaml").write_text("resourceGroups: []\n")
    member.apply(*(_webhook(*h, hook, pki.encoded("ca.crt")) for h in HOOKS))
    start(
        f"{member.name}-vc-webhook-manager",
        programs["vc-webhook-manager"],
        f"--kubeconfig={member.kubeconfig}",
        f"--tls-cert-file={pki / 'server.crt'}",
        f"--tls-private-key-file={pki / 'server.key'}",
        f"--ca-cert-file={pki / 'ca.crt'}",
        "--listen-address=127.0.0.1",
        f"--port={hook}",
        f"--webhook-url=https://127.0.0.1:{hook}",
        f"--admission-conf={folder / 'admission.yaml'}",
        "--enabled-admission=" + ",".join(f"/{what}/{verb}" for what, verb, *_ in HOOKS),
        f"--healthz-address=127.0.0.1:{webhook}",
    )
    start(
        f"{member.name}-vc-controller-manager",
        programs["vc-controller-manager"],
        f"--kubeconfig={member.kubeconfig}",
        "--leader-elect=false",
        "--controllers=*,-sharding-controller",
        f"--healthz-address=127.0.0.1:{controllers[0]}",
        f"--listen-address=127.0.0.1:{controllers[1]}",
    )
    start(
        f"{member.name}-vc-scheduler",
        programs["vc-scheduler"],
        f"--kubeconfig={member.kubeconfig}",
        "--leader-elect=false",
        "--cache-dumper=false",
        "--schedule-period=500ms",
        f"--scheduler-conf={folder / 'scheduler.yaml'}",
        f"--healthz-address=127.0.0.1:{scheduler[0]}",
        f"--listen-address=127.0.0.1:{scheduler[1]}",
    )
    eventually(f"Volcano in {member.name} has its queues", lambda: member.get(QUEUE, "default"))


def _webhook(what, verb, group, version, operations, port, ca):
    kind = "MutatingWebhookConfiguration" if verb == "mutate" else "ValidatingWebhookConfiguration"
    rule = {
        "apiGroups": [group],
        "apiVersions": [version],
        "operations": operations,
        "resources": [what],
        "scope": "*",
    }
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": kind,
        # The webhook manager looks for these names, to give them its CA.
        "metadata": {"name": f"volcano-admission-service-{what}-{verb}"},
        "webhooks": [
            {
                "name": f"{verb}{what[:-1]}.volcano.sh",
                "admissionReviewVersions": ["v1"],
                "sideEffects": "NoneOnDryRun",
                "failurePolicy": "Fail",
                "timeoutSeconds": 10,
                "clientConfig": {"url": f"https://127.0.0.1:{port}/{what}/{verb}", "caBundle": ca},
                "rules": [rule],
            }
        ],
    }
