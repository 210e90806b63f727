// The part of CheckPlan about what a shard is charged for. Written apart from elastic.h and waves.h
// on purpose: a rule that planner and check shared could be broken in both.
#pragma once

#include <string>
#include <vector>

#include "federation/plan.h"
#include "federation/state.h"

namespace caldera {

/// Its requests are the sums over its tasks, and none of them is 0.
bool AsksForItsPods(const JobSpec& spec, const Shard& shard);

/// Of an action on a job that runs in waves, what it breaks, in words: one shard of all replicas,
/// of which as many as must start together run at once. It is charged for those, or, where it was
/// shrunk, at most for what it was charged for before.
std::vector<std::string> BrokenInWaves(const JobSpec& spec, const JobEntry& job,
                                       const Action& action);

/// Of a shard that is shrunk for another job, what that breaks, in words: it has fewer pods of some
/// task and more of none, says so by its time, and in waves keeps its charge and its replicas.
std::vector<std::string> BrokenInCut(const JobSpec& spec, const Shard& held, const Shard& wanted,
                                     Time now);

/// Five minutes have passed since pods were taken from it, or somebody edited its job.
bool MayGrowAgain(const JobSpec& spec, const Shard& held, Time now);

}  // namespace caldera
