// A job over several clusters: of those that may take it, the fewest that can hold all of it
// together, nearest to each other first. Pure; takes nothing from the rooms it looks at.
//
// What is cut: a task between any two pods, a partitioned one between partitions; tasks that depend
// on each other go as a whole. Tasks of one pod (a master, a launcher) go where most pods go, and
// that shard is the first. Each shard gets `min-shard` pods or more. Where several sets of clusters
// of one size and distance would do, the ones with the most room are filled first and the last is
// the one that the rest fills best; then the job's order of clusters, cost and name decide.
//
// Packing several kinds of pods into several clusters has no fast exact answer: each set is tried
// with a few orders (first each kind where it has the advantage over the others, then in turn, then
// evenly). What they do not find is not found; what they find fits, node by node where nodes are
// given.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "federation/capacity.h"
#include "federation/limits.h"
#include "federation/quotas.h"
#include "federation/reason.h"
#include "federation/state.h"

namespace caldera {

/// The shape may be split at all: it has more than one part, and its rules allow it.
bool MaySplit(const Shape& shape);

/// A cluster as one job finds it.
struct SplitSite {
  size_t cluster = 0;  ///< Position in the views.
  const ClusterView* view = nullptr;
  ResourceVector free;              ///< Sums; the tenant's static assignment is taken off.
  const NodePool* nodes = nullptr;  ///< nullptr: sums are all that is known.
};
struct SplitSites {
  std::vector<SplitSite> sites;
  std::deque<NodePool>
      empty_nodes;  ///< Those that the sites point to, where they are not a view's.
};
/// What the clusters offer such jobs now. Borrows the views.
SplitSites SitesNow(const State& state, const JobClass& job_class,
                    const std::vector<ClusterView>& clusters, const Limits& limits);
/// The same if every cluster that is not lost were empty.
SplitSites SitesEmpty(const State& state, const std::vector<ClusterView>& clusters,
                      ShapeIndex shape, const TenantLimits& quotas);

/// What one cluster gets.
struct SplitPart {
  size_t cluster = 0;             ///< Position in the views.
  std::vector<int32_t> replicas;  ///< By task of the Shape; 0 where it gets none of it.
};

/// At least two parts, the one with the most pods first; empty: there is no such set of clusters.
std::vector<SplitPart> SplitOver(const State& state, ShapeIndex shape, const SplitSites& sites);

/// Why SplitOver gives nothing, for a shape that MaySplit and for which it does: MaxClusters,
/// or InsufficientResources with the pods that would find room.
Reason WhyNoSplit(const State& state, ShapeIndex shape, const SplitSites& sites);

/// It could be split over the clusters if they were empty.
bool CouldEverSplit(const State& state, const std::vector<ClusterView>& clusters, ShapeIndex shape,
                    const TenantLimits& quotas);

/// What the pods of a part ask for: `total` and `requested`, to hold against limits.
ShapeFacts FactsOfPart(const State& state, ShapeIndex shape, const std::vector<int32_t>& replicas);
/// The pods of a part as a NodePool packs them; borrows the State.
std::vector<NodePool::Task> GangOfPart(const State& state, ShapeIndex shape,
                                       const std::vector<int32_t>& replicas);

}  // namespace caldera
