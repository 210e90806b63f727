"""The sandbox's stand-ins for Karmada's and Volcano's programs, on the real API servers."""


def start(stack):
    members = [f"--member={m.name}={m.kubeconfig}" for m in stack.members.values()]
    stack.processes.start(
        "caldera-sandbox",
        stack.programs["caldera-sandbox"],
        "act",
        f"--kubeconfig={stack.karmada.kubeconfig}",
        *members,
        "--no-kubelets",  # kwok's part.
        "--probe-every=1s",
        "--failure-threshold=3s",
        "--success-threshold=1s",
    )
