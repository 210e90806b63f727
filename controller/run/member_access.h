// What the controller's account needs in a member that is watched node by node: a ClusterRole to
// list and watch Nodes, Pods and HyperNodes, and its binding. Sent as Works where the settings say
// so, in place of applying manifests/members by hand; both have the same content (a test holds them
// against each other). Pure.
#pragma once

#include <string>
#include <vector>

#include "controller/run/references.h"

namespace caldera {

/// `user` is whom Karmada's proxy impersonates in the member:
/// `system:serviceaccount:NAMESPACE:NAME` for a ServiceAccount of the Karmada API.
std::vector<Carrier> MakeAccessCarriers(const std::string& user, const std::string& cluster);

}  // namespace caldera
