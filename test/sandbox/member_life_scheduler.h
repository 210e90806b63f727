// Where the pods of a member go: gangs in their order, each whole or not at all down to its floor,
// pod by pod onto the best node of the moment, inside one HyperNode where the Job says so. It
// stands in for Volcano's scheduler where that is not there; it preempts and reclaims nothing.
// Pure.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "federation/model.h"
#include "test/sandbox/store.h"

namespace caldera::sandbox {

struct NodeRoom {
  Node node;
  ResourceList free;
};

/// The nodes under a HyperNode and how far apart they are.
struct Domain {
  std::string name;
  int32_t tier = 0;
  std::string tier_name;
  std::set<std::string> nodes;
};

/// Every HyperNode by tier and name, and last one of all `nodes` above them.
std::vector<Domain> DomainsOf(const std::vector<HyperNode>& hyper_nodes,
                              const std::vector<std::string>& nodes);

struct WaitingPod {
  ObjectKey key;
  std::string partition;
};

struct GangTask {
  const Task* task = nullptr;  ///< Outlives the gang.
  std::vector<WaitingPod> waiting;
  int64_t placed = 0;  ///< Bound, or ended well.
  /// Nodes of bound pods, by partition.
  std::map<std::string, std::set<std::string>> partition_nodes;
};

struct Gang {
  int64_t min_member = 0;
  NetworkTopology topology;
  std::vector<GangTask> tasks;
  std::set<std::string> nodes;  ///< Of bound pods.
};

struct QueueRoom {
  ResourceList capability;  ///< Absent: unlimited.
  ResourceList allocated;
};

struct Binding {
  ObjectKey pod;
  std::string node;
};

class MemberScheduler {
 public:
  MemberScheduler(std::vector<NodeRoom> nodes, std::vector<Domain> domains);

  /// Places what of the gang's waiting pods has room, and takes that room from nodes and queue.
  /// Empty, and nothing is taken, where the gang's floor is not reached.
  std::vector<Binding> Place(const Gang& gang, QueueRoom& queue);

 private:
  struct Attempt;
  [[nodiscard]] std::vector<const Domain*> Candidates(const NetworkTopology& topology) const;
  bool TryIn(const Gang& gang, const Domain* domain, Attempt& attempt);
  void PlaceTask(const GangTask& task, const Domain* domain, Attempt& attempt);
  void PlacePartitions(const GangTask& task, const Domain* domain, Attempt& attempt);
  bool PlacePod(const GangTask& task, const WaitingPod& pod, const Domain* domain,
                Attempt& attempt);
  void TakeBack(Attempt& attempt, size_t keep);

  std::vector<NodeRoom> nodes_;  ///< By name.
  std::vector<Domain> domains_;
};

}  // namespace caldera::sandbox
