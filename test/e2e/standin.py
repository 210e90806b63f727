"""The sandbox's stand-ins for Karmada's and Volcano's programs, on the real API servers."""


def start(stack):
    members = [f"--member={m.name}={m.kubeconfig}" for m in stack.members.values()]
    stack.processes.start(
        "caldera-sandbox",
        stack.programs["caldera-sandbox"],
        "execute",
        f"--karmada={stack.karmada.kubeconfig}",
        *members,
    )
