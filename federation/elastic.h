// Jobs that say `elastic: "true"`: trainers that rescale. Where no cluster holds one at full
// replicas within its limits, it is placed at any number of pods from its floor up, the most that
// fit; what is missing is added later, in the last pass of a round, outside of room that is kept
// for others. The floor is the tasks' minAvailable, and further pods in the order of the tasks up
// to the job's own. Jobs with partitioned tasks are never partial. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "federation/capacity.h"
#include "federation/limits.h"
#include "federation/node_pool.h"
#include "federation/order.h"
#include "federation/reservations.h"
#include "federation/round.h"

namespace caldera {

/// Some pods of a job, beyond `held` of them: what they ask for, and how many of each task it has
/// with them. Borrows the State.
struct Grant {
  std::vector<int32_t> replicas;     ///< By task of the spec, `held` in it.
  ShapeFacts facts;                  ///< Only `total` and `requested`, of what is added.
  std::vector<NodePool::Task> gang;  ///< What is added.
};

/// It may be granted less than its full replicas.
bool MayBePartial(const JobSpec& spec);
/// How many pods of each task it starts with at least.
std::vector<int32_t> FloorOf(const JobSpec& spec);
/// `held` and `extra` pods more, in the order of the tasks. `from_nothing`: those of `held` are
/// added as well.
Grant GrantOf(const State& state, const JobSpec& spec, const std::vector<int32_t>& held,
              int32_t extra, bool from_nothing);
/// How many pods of the spec are missing in `held`.
int32_t MissingIn(const JobSpec& spec, const std::vector<int32_t>& held);

struct PartialSite {
  size_t cluster = 0;  ///< Position in the views.
  Grant grant;
};
/// The cluster that holds most of the job, and how much; nothing where none holds its floor.
/// `views`: what is free now.
std::optional<PartialSite> FindPartial(const Round& round, const Head& head,
                                       const std::vector<ClusterView>& views,
                                       const Reservations& reservations);

/// A placed job of which pods are missing, and what it can have of them in its cluster.
struct Growing {
  JobIndex job = kNoIndex;
  size_t cluster = 0;
  Grant grant;
};
/// The elastic jobs with missing pods, by priority and age; whoever has nothing to gain by itself
/// is left to FindGrowth.
std::vector<JobIndex> GrowingJobs(const State& state);
std::optional<Growing> FindGrowth(const Round& round, JobIndex job,
                                  const std::vector<ClusterView>& views,
                                  const Reservations& reservations);
/// The resize of that job is such growth: no task loses pods.
bool GrowsElastically(const JobSpec& spec, const Shard& held);

}  // namespace caldera
