// The nodes of one cluster with what is free on each, and how many pods of a gang fit node by node.
// A gang is packed task by task, the largest request first, each onto the node that it fills best.
// That is a lower bound: where it finds no room, another packing might. It is the same for a State
// that is built again as for the placements that led to it, since what is ours and not yet seen
// bound is packed by the same rule, oldest intent first.
#pragma once

#include <map>
#include <vector>

#include "federation/amounts.h"
#include "federation/state.h"

namespace caldera {

/// Whether a pod of that constraint may be put on the node at all: cordon, Ready, taints, selector,
/// required affinity.
bool NodeTakes(const Node& node, const NodeConstraint& constraint);

/// `requirement` of a label selector or an affinity term, against what a node or cluster has.
bool Matches(const LabelRequirement& requirement, const Labels& labels);
/// Whether one of `tolerations` covers every taint that keeps pods out.
bool Tolerates(const std::vector<Toleration>& tolerations, const std::vector<Taint>& taints);

class NodePool {
 public:
  /// Nodes with nothing on them.
  NodePool(const State& state, const ClusterEntry& cluster);

  struct Task {
    const NodeConstraint* nodes = nullptr;  ///< Lives as long as the pool.
    ResourceVector request;
    int64_t replicas = 0;
  };
  /// Takes room for all pods of a gang. False, and nothing is taken, where they do not all fit.
  bool Pack(const std::vector<Task>& gang);
  /// Takes room for as many of its pods as fit, in the order of Pack: less than all where that
  /// fails.
  int64_t PackMost(const std::vector<Task>& gang);
  /// Takes room for as many of one task's pods as fit.
  int64_t PackSome(const Task& task);
  /// Takes what a bound pod uses; a node that is not known is ignored.
  void Take(const std::string& node, const ResourceVector& amounts);
  /// Gives back what was taken there.
  void Give(const std::string& node, const ResourceVector& amounts);

  [[nodiscard]] const ResourceVector& allocatable() const { return allocatable_; }
  /// What is free on that node; nothing where there is none of that name.
  [[nodiscard]] ResourceVector FreeOn(const std::string& node) const;

 private:
  struct Slot {
    const Node* node = nullptr;
    ResourceVector free;
  };
  /// One step of a packing, so that it can be taken back.
  struct Step {
    size_t slot = 0;
    const ResourceVector* request = nullptr;
    int64_t count = 0;
  };
  /// The slots of the nodes that take such pods at all; remembered by the constraint's address.
  const std::vector<size_t>& Eligible(const NodeConstraint* constraint);
  /// The largest part of the cluster that these amounts are, of the resources that count for such
  /// pods: devices where they ask for any, else all but `pods`.
  [[nodiscard]] int64_t LargestPart(const ResourceVector& amounts,
                                    const ResourceVector& request) const;
  [[nodiscard]] std::vector<const Task*> InOrder(const std::vector<Task>& gang) const;
  Slot* Find(const std::string& node);
  int64_t Fill(const Task& task, std::vector<Step>& steps);

  std::vector<Slot> slots_;  ///< By name.
  ResourceVector allocatable_;
  ResourceKinds kinds_;
  std::map<const NodeConstraint*, std::vector<size_t>> eligible_;
};

/// The tasks of a shape as a NodePool packs them; borrows the shape.
std::vector<NodePool::Task> GangOf(const Shape& shape, const ShapeFacts& facts);

}  // namespace caldera
