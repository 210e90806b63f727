#include "test/sandbox/member_life_status.h"

#include <utility>

#include "test/sandbox/object_rules.h"

namespace caldera::sandbox {
namespace {

// Zero counters are left out, as Go's omitempty does.
void SetCount(Value& status, std::string_view field, int64_t count) {
  if (count == 0) {
    status.Erase(field);
  } else {
    status.Set(field, count);
  }
}

void SetCounts(Value& status, const JobCounts& counts) {
  SetCount(status, "pending", counts.pending);
  SetCount(status, "running", counts.running);
  SetCount(status, "succeeded", counts.succeeded);
  SetCount(status, "failed", counts.failed);
  SetCount(status, "terminating", counts.terminating);
  Value tasks{Value::Map{}};
  for (const auto& [task, phases] : counts.by_task) {
    Value by_phase{Value::Map{}};
    for (const auto& [phase, count] : phases) {
      by_phase.Set(phase, count);
    }
    tasks.Set(task, MakeMap({{"phase", std::move(by_phase)}}));
  }
  if (counts.by_task.empty()) {
    status.Erase("taskStatusCount");
  } else {
    status.Set("taskStatusCount", std::move(tasks));
  }
}

// One entry for each phase that was, the newest last.
void AppendCondition(Value& status, const std::string& phase, const std::string& now) {
  Value::List kept;
  for (const Value& condition : ListAt(status, {"conditions"})) {
    if (TextAt(condition, {"status"}) != phase) {
      kept.push_back(condition);
    }
  }
  kept.push_back(MakeMap({{"status", phase}, {"lastTransitionTime", now}}));
  status.Set("conditions", std::move(kept));
}

Value PluginsOf(const MemberJob& job) {
  Value resources{Value::Map{}};
  if (const Value* const plugins = job.object.At({"spec", "plugins"});
      plugins != nullptr && plugins->IsMap()) {
    for (const Member& plugin : plugins->AsMap()) {
      resources.Set("plugin-" + plugin.key, plugin.key);
    }
  }
  return resources;
}

}  // namespace

Value NextJobStatus(const Value& old, const MemberJob& job, const JobStatusChange& change,
                    Time now) {
  Value status = old.IsMap() ? old : Value(Value::Map{});
  const bool fresh = TextAt(status, {"state", "phase"}).empty();
  if (fresh) {
    status.Set("minAvailable", job.shape.min_available);
    if (Value plugins = PluginsOf(job); !plugins.AsMap().empty()) {
      status.Set("controlledResources", std::move(plugins));
    }
  }
  if (change.synced) {
    status.Set("minAvailable", job.shape.min_available);
    status.Erase("runningDuration");
  }
  if (change.synced || change.killed) {
    SetCounts(status, change.counts);
  }
  if (change.version_bumped) {
    status.Set("version", NumberAt(status, {"version"}) + 1);
  }
  if (change.retried) {
    status.Set("retryCount", NumberAt(status, {"retryCount"}) + 1);
  }
  if (change.killed && old.Find("runningDuration") == nullptr) {
    const Result<Time> created = ParseTime(TextAt(job.object, {"metadata", "creationTimestamp"}));
    status.Set("runningDuration", FormatDuration(created ? now - *created : Millis(0)));
  }
  const bool moved = fresh || change.next != change.phase;
  if (!moved && status == old) {
    return old;
  }
  const std::string text = MetaTime(now);
  status.Set("state", MakeMap({{"phase", change.next}, {"lastTransitionTime", text}}));
  AppendCondition(status, change.next, text);
  return status;
}

}  // namespace caldera::sandbox
