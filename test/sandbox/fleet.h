// A fleet to stand up in the sandbox: Clusters, and what is in each, from manifests. A file of
// Clusters is enough: nodes and foreign pods are then made from status.resourceSummary. Pure but
// for reading files.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "federation/document.h"
#include "federation/result.h"

namespace caldera::sandbox {

struct FleetMember {
  Value cluster;  ///< As it is created; its status says Ready since when.
  bool reachable = true;
  std::vector<Value> nodes;
  std::vector<Value> hyper_nodes;
  std::vector<Value> pods;  ///< Of others than Caldera; bound.
};

using Fleet = std::map<std::string, FleetMember>;  ///< By cluster.

/// Reads Cluster, Node, HyperNode and Pod from files and folders; the last three say in annotation
/// or label `federation.caldera.sh/cluster` where they are. A Cluster whose condition Ready is
/// False is a member that does not answer. One without Nodes gets as many equal ones as
/// resourceSummary.allocatable makes of at most 110 pods each (fewer, where devices do not divide),
/// and on each a share of `allocated`, or of annotation `sandbox.caldera.sh/foreign`
/// (`cpu=16,memory=64Gi`), as a pod in kube-system. Errors: kInvalid, every complaint on a line.
Result<Fleet> ReadFleet(const std::vector<std::string>& paths);

/// Members of these names with 4 nodes of 16 cpu, 64Gi and 4 GPUs each.
Fleet MakeFleet(const std::vector<std::string>& names);

}  // namespace caldera::sandbox
