// The things that somebody could change so that a job goes: one knob each, as what a user would
// edit and as what it does to a State. would_fit.cc looks for the fewest and smallest. Values.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "federation/explain.h"
#include "federation/state.h"

namespace caldera {

struct Knob {
  /// Two knobs of one id are the same thing turned by different amounts.
  std::string id;
  /// How far it is turned, 1 at least; `most` is as far as it goes (a switch goes to 1).
  int64_t by = 1;
  int64_t most = 1;
  /// The amounts that make a difference are multiples of it.
  int64_t step = 1;
  /// Where an amount stood; 0 for a switch.
  int64_t from = 0;
  std::function<void(State&, int64_t by)> turn;
  /// What a user would edit, `by` from where it was.
  std::function<std::vector<Edit>(int64_t by)> edits;
  /// For a limit: how much of it a State uses, so that it need not be above that. May be empty.
  std::function<int64_t(const State&)> used;
};

// Each is made from the State in which nothing was turned yet.
Knob RaiseCapability(const State& state, QueueIndex queue, ResourceIndex r);
/// Takes from what the queue's guarantee reserves.
Knob LowerGuarantee(const State& state, QueueIndex queue, ResourceIndex r);
/// Of every quota of the tenant that is below `limit`, up to it; `by` counts from the smallest.
Knob RaiseQuota(const State& state, TenantIndex tenant, ResourceIndex r);
Knob RaiseClusterQuota(const State& state, TenantIndex tenant, ClusterIndex cluster,
                       ResourceIndex r);
Knob AddCapacity(const State& state, ClusterIndex cluster, ResourceIndex r);
/// `by` more of one resource on a node.
Knob AddNodeCapacity(const State& state, ClusterIndex cluster, const std::string& node,
                     ResourceIndex r);

Knob MakeReady(const State& state, ClusterIndex cluster);
Knob MakeNodeReady(const State& state, ClusterIndex cluster, const std::string& node);
Knob Uncordon(const State& state, ClusterIndex cluster, const std::string& node);
Knob OpenQueue(const State& state, QueueIndex queue);
Knob CreateQueue(const std::string& queue);
Knob MoveUnderRoot(const State& state, QueueIndex queue);
Knob MakeTraverse(const State& state, QueueIndex queue);
Knob CreatePriorityClass(const std::string& name);
Knob PropagateNamespace(const State& state, TenantIndex tenant);
Knob SetQueue(const State& state, JobIndex job, const std::string& queue);
Knob Unhold(const State& state, JobIndex job);
Knob Resume(const State& state, JobIndex job);
/// `reference` is `Secret/team-a/token`.
Knob CreateReference(const std::string& reference);
/// The backoffs of that cluster for the job end now.
Knob EndBackoff(const State& state, JobIndex job, ClusterIndex cluster);
/// The job's annotations, as far as they keep it out of that cluster; `by` is 1.
Knob AllowCluster(const State& state, JobIndex job, ClusterIndex cluster);
/// The job's annotations, as far as they keep it in one cluster; `by` is 1, without edits where
/// none does.
Knob LetSplit(const State& state, JobIndex job);
/// Others may evict it, so it may borrow.
Knob LetBorrow(const State& state, JobIndex job);
/// Its annotation max-clusters, which it has, by `by`.
Knob RaiseMaxClusters(const State& state, JobIndex job);

}  // namespace caldera
