// The phases of a Volcano Job: what a job does on an action, and where its pods' counts take it.
// Source: volcano pkg/controllers/job/state. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace caldera::sandbox {

/// Which pods an action is about; empty `task`: the whole job.
struct PodTarget {
  std::string task;
  std::string pod;        ///< One pod of it.
  std::string partition;  ///< The pods of one partition of it.
};

struct JobAction {
  std::string action = "SyncJob";
  PodTarget target;
};

/// What the phases depend on, of the spec.
struct JobShape {
  struct Task {
    std::string name;
    int64_t replicas = 0;
    int64_t min_available = 0;
  };
  std::vector<Task> tasks;
  int64_t min_available = 0;
  int64_t max_retry = 3;
  std::optional<int64_t> min_success;

  [[nodiscard]] int64_t Replicas() const;
  [[nodiscard]] int64_t TaskMinimum() const;
};

struct JobCounts {
  int64_t pending = 0;
  int64_t running = 0;
  int64_t succeeded = 0;
  int64_t failed = 0;
  int64_t terminating = 0;
  /// Pods by task and phase.
  std::map<std::string, std::map<std::string, int64_t>> by_task;
};

struct JobStep {
  enum class Work {
    kSync,        ///< Create what is missing, delete what is too much.
    kKillJob,     ///< Delete its pods and its PodGroup.
    kKillTarget,  ///< Delete the pods of the target.
  };
  Work work = Work::kSync;
  bool keep_ended = true;  ///< Of a kill: Succeeded and Failed pods stay.
  std::string next;        ///< The phase at once; empty: by the counts (PhaseAfter).
  bool retry = false;      ///< Counts as a retry.
};

bool IsFinished(std::string_view phase);

/// What a job in `phase` does on `action`. A job without a phase is Pending.
JobStep StepFor(std::string_view phase, std::string_view action);

/// The phase that follows by what is there once a step without `next` is done; `phase` where it
/// stays. `min_available` is that of the status.
std::string PhaseAfter(const std::string& phase, const JobShape& shape, const JobCounts& counts,
                       int64_t min_available, int64_t retries);

}  // namespace caldera::sandbox
