#include "test/sandbox/member_life_phase.h"

#include <algorithm>

namespace caldera::sandbox {
namespace {

bool IsTargeted(std::string_view action) {
  return action == "RestartTask" || action == "RestartPod" || action == "RestartPartition";
}

JobStep Kill(std::string next, bool keep_ended, bool retry) {
  return {JobStep::Work::kKillJob, keep_ended, std::move(next), retry};
}

JobStep StepOfActive(std::string_view action) {
  if (action == "RestartJob") {
    return Kill("Restarting", false, true);
  }
  if (IsTargeted(action)) {
    return {JobStep::Work::kKillTarget, false, "Restarting", true};
  }
  if (action == "AbortJob") {
    return Kill("Aborting", true, false);
  }
  if (action == "TerminateJob") {
    return Kill("Terminating", true, false);
  }
  if (action == "CompleteJob") {
    return Kill("Completing", true, false);
  }
  return {};
}

std::string AfterRunning(const JobShape& shape, const JobCounts& counts) {
  const int64_t replicas = shape.Replicas();
  if (replicas == 0) {
    return "Running";
  }
  if (shape.min_success && counts.succeeded >= *shape.min_success) {
    return "Completed";
  }
  if (counts.succeeded + counts.failed == replicas) {
    if (shape.min_available >= shape.TaskMinimum()) {
      for (const JobShape::Task& task : shape.tasks) {
        const auto found = counts.by_task.find(task.name);
        const auto phases =
            found == counts.by_task.end() ? std::map<std::string, int64_t>() : found->second;
        const auto succeeded = phases.find("Succeeded");
        if ((succeeded == phases.end() ? 0 : succeeded->second) < task.min_available) {
          return "Failed";
        }
      }
    }
    if (shape.min_success && counts.succeeded < *shape.min_success) {
      return "Failed";
    }
    return counts.succeeded >= shape.min_available ? "Completed" : "Failed";
  }
  return counts.pending > replicas - shape.min_available ? "Pending" : "Running";
}

}  // namespace

int64_t JobShape::Replicas() const {
  int64_t sum = 0;
  for (const Task& task : tasks) {
    sum += task.replicas;
  }
  return sum;
}

int64_t JobShape::TaskMinimum() const {
  int64_t sum = 0;
  for (const Task& task : tasks) {
    sum += task.min_available;
  }
  return sum;
}

bool IsFinished(std::string_view phase) {
  return phase == "Completed" || phase == "Failed" || phase == "Terminated";
}

JobStep StepFor(std::string_view phase, std::string_view action) {
  if (phase.empty() || phase == "Pending" || phase == "Running") {
    return StepOfActive(action);
  }
  if (phase == "Restarting") {
    if (action == "SyncJob") {
      return {};
    }
    return IsTargeted(action) ? JobStep{JobStep::Work::kKillTarget, false, "", false}
                              : Kill("", false, false);
  }
  if ((phase == "Aborting" || phase == "Aborted") && action == "ResumeJob") {
    return Kill("Restarting", true, true);
  }
  return Kill("", true, false);
}

std::string PhaseAfter(const std::string& phase, const JobShape& shape, const JobCounts& counts,
                       int64_t min_available, int64_t retries) {
  const bool none_alive = counts.terminating == 0 && counts.pending == 0 && counts.running == 0;
  if (phase.empty() || phase == "Pending") {
    const int64_t there = counts.running + counts.succeeded + counts.failed;
    return shape.min_available <= there ? "Running" : "Pending";
  }
  if (phase == "Running") {
    return AfterRunning(shape, counts);
  }
  if (phase == "Restarting") {
    if (retries >= shape.max_retry) {
      return "Failed";
    }
    return shape.Replicas() - counts.terminating >= min_available ? "Pending" : "Restarting";
  }
  if (phase == "Aborting") {
    return none_alive ? "Aborted" : phase;
  }
  if (phase == "Completing") {
    return none_alive ? "Completed" : phase;
  }
  if (phase == "Terminating") {
    return none_alive ? "Terminated" : phase;
  }
  return phase;
}

}  // namespace caldera::sandbox
