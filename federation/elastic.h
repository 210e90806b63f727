// Jobs that may be granted less than all their pods. Where no cluster holds one at full replicas
// within its limits, it is placed at any number of pods from its floor up, the most that fit; what
// is missing is added later, in the last pass of a round, outside of room that is kept for others.
// What it has above its floor it gives to who deserves it, before anybody is evicted
// (preemption.h).
//   elastic: "true"  trainers that rescale: they are granted replicas
//   any other Job whose gang is smaller than all its pods: it keeps its replicas and runs in waves
//                    (waves.h)
// The floor is the tasks' minAvailable, and further pods in the order of the tasks up to the job's
// own; where that is below their sum, as many pods as it says in the order of the tasks, as Volcano
// counts. Jobs with partitioned tasks, HyperJobs and jobs in several clusters are never partial.
// Pure.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "federation/capacity.h"
#include "federation/limits.h"
#include "federation/node_pool.h"
#include "federation/order.h"
#include "federation/reservations.h"
#include "federation/resize.h"
#include "federation/round.h"
#include "federation/waves.h"

namespace caldera {

/// It may be granted less than its full replicas.
bool MayBePartial(const JobSpec& spec);
/// How many pods of each task it starts with at least.
std::vector<int32_t> FloorOf(const JobSpec& spec);
/// No task has fewer pods than that.
bool ReachesFloor(const JobSpec& spec, const std::vector<int32_t>& counts);
/// How many pods of the spec are missing in `held`.
int32_t MissingIn(const JobSpec& spec, const std::vector<int32_t>& held);
/// Of a job that waits and may be partial: the pods of its floor. Nothing of any other.
std::optional<MorePods> FloorPods(const State& state, const JobEntry& job);
/// The cluster would hold them if it were empty.
bool FitsEmpty(const State& state, const ClusterView& cluster, const MorePods& pods);
/// Of a spec that may be partial: the most that could ever be granted, with room for it in one of
/// the clusters that are not lost and within the tenant's quotas and the capability as if nothing
/// were held. Nothing where its floor never fits.
ResourceVector MostEver(const State& state, const std::vector<ClusterView>& clusters,
                        const JobSpec& spec, const TenantLimits& quotas,
                        const ResourceLimits& capability);
/// `extra` pods more than `low`, in the order of the tasks, of none more than `high`.
std::vector<int32_t> Between(std::vector<int32_t> low, const std::vector<int32_t>& high,
                             int32_t extra);

/// The largest `extra` in [low, high] for which `holds`, if it holds for `low` and never again
/// after it failed once.
template <typename Holds>
int32_t LargestOf(int32_t low, int32_t high, const Holds& holds) {
  while (low < high) {
    const int32_t middle = low + (high - low + 1) / 2;
    if (holds(middle)) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low;
}

/// Of a placed job that may be partial and has more than its floor: the floor, down to which it may
/// be shrunk. Nothing of any other, and of one that is being resized.
std::optional<std::vector<int32_t>> FloorBelow(const State& state, const JobEntry& job);
/// A placed job in waves of which pods beyond a lowered grant may still run: they are charged, but
/// are about to end. For so long as a job without a known start waits for its reservation
/// (reserve_after); after that nobody counts on it.
bool IsDraining(const State& state, const JobEntry& job);

/// What a job can have in a cluster.
struct PartialSite {
  size_t cluster = 0;           ///< Position in the views.
  std::vector<int32_t> counts;  ///< By task of the spec, with those that it has already.
  MorePods pods;                ///< What is added.
};
/// Where a job that waits is looked at, and what it may hold.
struct PartialSearch {
  Head head;
  std::function<bool(const ShapeFacts&)> may_hold;  ///< Of less it does if it does of more.
  std::optional<size_t> only;                       ///< Position in the views; else any.
};
/// The cluster that holds most of it; nothing where none holds its floor. `views`: what is free
/// now.
std::optional<PartialSite> FindPartial(const Round& round, const PartialSearch& search,
                                       const std::vector<ClusterView>& views,
                                       const Reservations& reservations);

/// From so long after pods were taken from a job on, it may grow again.
inline constexpr Millis kGrowAfterShrink{300'000};
/// From so long after a capability was lowered on, what runs beyond it has been reported.
Millis SeenAfter(const State& state);

/// The resize of that job is growth of a partial one: nobody edited it, and no task loses pods.
bool GrowsElastically(const JobSpec& spec, const Shard& held);
/// Nothing was taken from it lately, and it is charged for nothing beyond its grant.
bool MayGrowNow(const State& state, const JobEntry& job);
/// The placed jobs of which pods are missing so, by priority and age.
std::vector<JobIndex> GrowingJobs(const State& state);
/// As many of them as its cluster holds; nothing where it holds none.
std::optional<PartialSite> FindGrowth(const Round& round, JobIndex job,
                                      const std::vector<ClusterView>& views,
                                      const Reservations& reservations);

}  // namespace caldera
