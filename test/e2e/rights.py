"""The controller's own account at the Karmada API."""


def controller_kubeconfig(stack):
    stack.karmada.kubectl("create", "namespace", "caldera-system")
    return stack.karmada.kubeconfig
