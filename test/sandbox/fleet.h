// A fleet to stand in the sandbox: Clusters, their Nodes and HyperNodes, from manifests. One
// thread.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "controller/kube/client.h"
#include "controller/kube/reading.h"
#include "federation/document.h"
#include "federation/result.h"

namespace caldera::sandbox {

/// The kinds that the Karmada API of the sandbox serves beside the core ones, and those of a
/// member.
std::vector<ResourceType> KarmadaTypes();
std::vector<ResourceType> MemberTypes();
const ResourceType& PodGroups();

struct FleetMember {
  Value cluster;  ///< The Cluster, without status.
  bool reachable = true;
  std::vector<Value> nodes;
  std::vector<Value> hyper_nodes;
};

using Fleet = std::map<std::string, FleetMember>;  ///< By cluster.

}  // namespace caldera::sandbox
