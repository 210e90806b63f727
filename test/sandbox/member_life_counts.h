// What a Job's pods look like together, and what happened to one of them. Source: volcano
// pkg/controllers/job (job_controller_actions.go, job_controller_handler.go). Pure.
#pragma once

#include <optional>
#include <set>
#include <string>

#include "test/sandbox/member_life_objects.h"
#include "test/sandbox/member_life_policy.h"
#include "test/sandbox/mirror.h"

namespace caldera::sandbox {

/// `keys` are the Job's pods; those whose uid is in `doomed` were deleted by the controller.
JobCounts CountPods(const Mirror& pods, const std::set<ObjectKey>& keys,
                    const std::set<std::string>& doomed);

/// Container restarts in the pods of a task that have not ended.
int64_t CountRestarts(const Mirror& pods, const std::set<ObjectKey>& keys, const std::string& task);

/// True where the tasks that this one depends on have started.
bool DependenciesMet(const MemberJob& job, size_t task, const JobCounts& counts);

bool InTarget(const Value& pod, const PodTarget& target);

/// From `before` to `after` (null: gone). `event` is PodFailed, PodEvicted, PodPending, PodRunning,
/// PodSucceeded or empty.
PodEvent ReadPodEvent(const Value* before, const Value* after);

}  // namespace caldera::sandbox
