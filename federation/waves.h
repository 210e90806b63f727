// Jobs whose pods run in waves: the shard keeps all its replicas and runs in a member Queue of its
// own, whose capability is what it was granted, so that the member starts a pod when another ends;
// the Job is complete when all have run. The grant counts pods by task (TaskGrant::at_once), but a
// capability is a sum: which pods make it up is left to the member. Pure.
//   grant    sum over the tasks at `at_once`; of `pods` no more than can run at once, which is not
//            the sum where the pods of one task are smaller than those of another
//   charged  the grant, and after it was lowered what still runs beyond it (Shard::requests)
#pragma once

#include <cstdint>
#include <vector>

#include "federation/shape.h"

namespace caldera {

/// Volcano gives a meaning to a grant below its replicas: one Job whose gang (minAvailable) is
/// smaller than all its pods, none of them partitioned, each of them asking for something that a
/// capability can hold (Volcano's does not hold `pods`).
bool MayRunInWaves(const JobSpec& spec);

/// The shard's tasks are the spec's.
bool HasTasksOf(const JobSpec& spec, const Shard& shard);

/// What so many pods of each task of the spec may use at once; entries are positive.
ResourceList GrantOf(const JobSpec& spec, const std::vector<int32_t>& at_once);
/// How many pods of each task of a shard run at a time; of one without waves all.
std::vector<int32_t> CountsOf(const Shard& shard);

/// What was seen of the pods of one task.
struct SeenPods {
  int64_t running = 0;
  int64_t finished = 0;
};
/// How many pods of each task may start beside those that run, within what the shard is charged
/// for: first those that were granted, then whatever is left of the tasks, in their order. Both
/// lists by task of the spec, which are the shard's.
std::vector<int64_t> PodsToStart(const JobSpec& spec, const Shard& shard,
                                 const std::vector<SeenPods>& seen);

}  // namespace caldera
