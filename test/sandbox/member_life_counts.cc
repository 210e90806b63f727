#include "test/sandbox/member_life_counts.h"

#include <algorithm>

#include "test/sandbox/cluster_summary.h"

namespace caldera::sandbox {
namespace {

std::string PhaseOfPod(const Value& pod) {
  const std::string phase = TextAt(pod, {"status", "phase"});
  return phase.empty() ? "Pending" : phase;
}

bool HasStarted(const MemberJob& job, const Value& task, const JobCounts& counts) {
  for (const JobShape::Task& other : job.shape.tasks) {
    const auto found = counts.by_task.find(other.name);
    if (!(task == Value(other.name))) {
      continue;
    }
    int64_t there = 0;
    if (found != counts.by_task.end()) {
      for (const auto& [phase, count] : found->second) {
        there += phase == "Running" || phase == "Succeeded" ? count : 0;
      }
    }
    return there >= other.min_available;
  }
  return false;
}

}  // namespace

JobCounts CountPods(const Mirror& pods, const std::set<ObjectKey>& keys,
                    const std::set<std::string>& doomed) {
  JobCounts counts;
  for (const ObjectKey& key : keys) {
    const Value* const pod = pods.Find(key);
    if (pod == nullptr) {
      continue;
    }
    if (IsDeleting(*pod) || doomed.contains(UidOf(*pod))) {
      ++counts.terminating;
      continue;
    }
    const std::string phase = PhaseOfPod(*pod);
    counts.pending += phase == "Pending" ? 1 : 0;
    counts.running += phase == "Running" ? 1 : 0;
    counts.succeeded += phase == "Succeeded" ? 1 : 0;
    counts.failed += phase == "Failed" ? 1 : 0;
    ++counts.by_task[LabelOf(*pod, "volcano.sh/task-spec")][phase];
  }
  return counts;
}

int64_t CountRestarts(const Mirror& pods, const std::set<ObjectKey>& keys,
                      const std::string& task) {
  int64_t restarts = 0;
  for (const ObjectKey& key : keys) {
    const Value* const pod = pods.Find(key);
    if (pod != nullptr && LabelOf(*pod, "volcano.sh/task-spec") == task && !HasEnded(*pod)) {
      const Value::List& statuses = ListAt(*pod, {"status", "containerStatuses"});
      restarts += statuses.empty() ? 0 : NumberAt(statuses[0], {"restartCount"});
    }
  }
  return restarts;
}

bool DependenciesMet(const MemberJob& job, size_t task, const JobCounts& counts) {
  const Value& written = ListAt(job.object, {"spec", "tasks"})[task];
  const Value::List& names = ListAt(written, {"dependsOn", "name"});
  const auto started = [&](const Value& name) { return HasStarted(job, name, counts); };
  if (names.empty()) {
    return true;
  }
  return TextAt(written, {"dependsOn", "iteration"}) == "any"
             ? std::any_of(names.begin(), names.end(), started)
             : std::all_of(names.begin(), names.end(), started);
}

bool InTarget(const Value& pod, const PodTarget& target) {
  const PodFacts facts = ReadPodFacts(pod);
  return facts.task == target.task && (target.pod.empty() || KeyOf(pod).name == target.pod) &&
         (target.partition.empty() || facts.partition == target.partition);
}

PodEvent ReadPodEvent(const Value* before, const Value* after) {
  const Value& pod = after == nullptr ? *before : *after;
  const PodFacts facts = ReadPodFacts(pod);
  PodEvent event{"", facts.task, KeyOf(pod).name, facts.partition, std::nullopt};
  if (after == nullptr) {
    event.event = "PodEvicted";
    return event;
  }
  const std::string was = before == nullptr ? "" : PhaseOfPod(*before);
  const std::string is = PhaseOfPod(*after);
  if (is == "Running") {
    event.event = "PodRunning";  // Also where only its containers changed.
  } else if (is == was) {
    return event;
  } else if (is == "Failed") {
    event.event = "PodFailed";
    const Value::List& statuses = ListAt(pod, {"status", "containerStatuses"});
    event.exit_code =
        statuses.empty() ? 0 : NumberAt(statuses[0], {"state", "terminated", "exitCode"});
  } else {
    event.event = is == "Succeeded" ? "PodSucceeded" : is == "Pending" ? "PodPending" : "";
  }
  return event;
}

}  // namespace caldera::sandbox
