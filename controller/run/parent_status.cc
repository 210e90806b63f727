#include "controller/run/parent_status.h"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "controller/run/hyperjob_status.h"
#include "federation/queue_state.h"
#include "federation/resources.h"
#include "federation/time.h"
#include "federation/value_at.h"

namespace caldera {
namespace {

bool HasCounters(const Value& status) {
  return std::any_of(kPodCounters.begin(), kPodCounters.end(),
                     [&](std::string_view name) { return NumberAt(status, {name}) > 0; });
}

using TaskCounts = std::map<std::string, std::map<std::string, int64_t>>;

void AddTaskCounts(const Value& status, TaskCounts& counts) {
  const Value* const tasks = status.Find("taskStatusCount");
  if (tasks == nullptr || !tasks->IsMap()) {
    return;
  }
  for (const Member& task : tasks->AsMap()) {
    const Value* const phases = task.value.Find("phase");
    if (phases == nullptr || !phases->IsMap()) {
      continue;
    }
    for (const Member& phase : phases->AsMap()) {
      int64_t& count = counts[task.key][phase.key];
      count = SaturatingAdd(count, phase.value.IsInteger() ? phase.value.AsInteger() : 0);
    }
  }
}

Value ToValue(const TaskCounts& counts) {
  Value tasks{Value::Map{}};
  for (const auto& [task, phases] : counts) {
    Value map{Value::Map{}};
    for (const auto& [phase, count] : phases) {
      map.Set(phase, count);
    }
    tasks.Set(task, Value::Map{{"phase", std::move(map), {}}});
  }
  return tasks;
}

Value State(const std::string& phase, const std::string& reason, const std::string& message,
            Time since) {
  Value state{Value::Map{}};
  state.Set("phase", phase);
  if (!reason.empty()) {
    state.Set("reason", reason);
  }
  if (!message.empty()) {
    state.Set("message", message);
  }
  // metav1.Time has whole seconds.
  state.Set("lastTransitionTime",
            FormatTime(std::chrono::time_point_cast<std::chrono::seconds>(since)));
  return state;
}

Value::List ConditionOf(const std::string& phase, const Value& state) {
  return Value::List{Value(Value::Map{
      {"status", phase, {}}, {"lastTransitionTime", *state.Find("lastTransitionTime"), {}}})};
}

int64_t MinAvailable(const std::vector<Shard>& shards) {
  return std::accumulate(shards.begin(), shards.end(), int64_t{0},
                         [](int64_t sum, const Shard& shard) { return sum + shard.min_available; });
}

// Why the job has that phase, in the words of the first shard that has it.
std::pair<std::string, std::string> Reason(const ParentFacts& facts, const std::string& phase) {
  for (const WorkView* const work : facts.works) {
    if (work != nullptr && work->phase == phase) {
      const std::string message = TextAt(work->job_status, {"state", "message"});
      return {TextAt(work->job_status, {"state", "reason"}),
              message.empty() ? "" : "cluster " + work->cluster + ": " + message};
    }
  }
  return {};
}

Value Summed(const ParentFacts& facts, const std::string& phase) {
  std::map<std::string_view, int64_t> counters;
  std::map<std::string_view, int64_t> highest;
  Millis duration{0};
  Time since;
  TaskCounts tasks;
  for (size_t i = 0; i < facts.works.size(); ++i) {
    if (facts.works[i] == nullptr) {
      continue;
    }
    const Value status = ShardStatus(facts.shards[i], *facts.works[i]);
    for (const std::string_view name : kPodCounters) {
      counters[name] = SaturatingAdd(counters[name], NumberAt(status, {name}));
    }
    for (const std::string_view name : {"version", "retryCount"}) {
      highest[name] = std::max(highest[name], NumberAt(status, {name}));
    }
    duration =
        std::max(duration, ParseDuration(TextAt(status, {"runningDuration"})).value_or(Millis{0}));
    since = std::max(since, facts.works[i]->phase_since);
    AddTaskCounts(status, tasks);
  }
  const auto [reason, message] = Reason(facts, phase);
  Value status{Value::Map{}};
  status.Set("state", State(phase, reason, message, since));
  status.Set("minAvailable", MinAvailable(facts.shards));
  for (const auto& group : {counters, highest}) {
    for (const auto& [name, count] : group) {
      if (count > 0) {
        status.Set(name, count);
      }
    }
  }
  if (!tasks.empty()) {
    status.Set("taskStatusCount", ToValue(tasks));
  }
  if (duration > Millis{0}) {
    status.Set("runningDuration", FormatDuration(duration));
  }
  status.Set("conditions", ConditionOf(phase, *status.Find("state")));
  return status;
}

std::optional<ParentStatus> Own(const ParentFacts& facts, const std::string& phase,
                                const std::string& reason, const std::string& message) {
  Value status{Value::Map{}};
  status.Set("state", State(phase, reason, message, facts.now));
  status.Set("conditions", ConditionOf(phase, *status.Find("state")));
  return ParentStatus{std::move(status), phase, true};
}

}  // namespace

Value ShardStatus(const Shard& shard, const WorkView& work) {
  Value status = work.job_status;
  if (work.phase == "Completed" && !HasCounters(status)) {
    status.Set("succeeded", shard.Pods());
    Value counts{Value::Map{}};
    for (const TaskGrant& grant : shard.tasks) {
      if (grant.replicas > 0) {
        counts.Set(
            grant.name,
            Value::Map{{"phase", Value::Map{{"Succeeded", int64_t{grant.replicas}, {}}}, {}}});
      }
    }
    status.Set("taskStatusCount", std::move(counts));
  }
  return status;
}

std::string PhaseOfShards(const std::vector<std::string>& phases) {
  const auto any = [&](std::string_view phase) {
    return std::find(phases.begin(), phases.end(), phase) != phases.end();
  };
  const auto all = [&](const std::set<std::string_view>& among) {
    return std::all_of(phases.begin(), phases.end(),
                       [&](const std::string& phase) { return among.contains(phase); });
  };
  if (any("Failed")) {
    return "Failed";
  }
  if (all({"Completed"})) {
    return "Completed";
  }
  if (all({"Completed", "Terminated"})) {
    return "Terminated";
  }
  for (const std::string_view phase :
       {"Aborting", "Aborted", "Terminating", "Terminated", "Restarting"}) {
    if (any(phase)) {
      return std::string(phase);
    }
  }
  return all({"Running", "Completing", "Completed"}) ? "Running" : "Pending";
}

std::optional<ParentStatus> MakeParentStatus(const ParentFacts& facts) {
  if (facts.kind == JobKind::kHyperJob) {
    return MakeHyperJobStatus(facts);
  }
  if (facts.suspended) {
    return facts.works_left ? Own(facts, "Aborting", "AbortJob", "its shards are being deleted")
                            : Own(facts, "Aborted", "AbortJob",
                                  "aborted by a Command: it holds nothing until it is resumed");
  }
  std::vector<std::string> phases;
  bool reported = false;
  for (const WorkView* const work : facts.works) {
    phases.push_back(work == nullptr ? "" : work->phase);
    reported = reported || (work != nullptr && !work->phase.empty());
  }
  if (phases.empty() || !reported) {
    // Nothing runs. A job that had a status before is told so; one that had none waits silently.
    if ((facts.phase.empty() && !facts.awaits_name) || IsTerminalPhase(facts.phase)) {
      return std::nullopt;
    }
    return Own(facts, "Pending", "Queued", "waits for its place in a cluster");
  }
  if (phases.size() == 1) {
    return ParentStatus{ShardStatus(facts.shards.front(), *facts.works.front()), phases.front(),
                        false};
  }
  const std::string phase = PhaseOfShards(phases);
  return ParentStatus{Summed(facts, phase), phase, false};
}

Value MakeQueueStatus(QueueState state, const QueueCounts& counts, const ResourceList& allocated) {
  Value status{Value::Map{}};
  status.Set("state", std::string(QueueStateName(state)));
  const std::array<std::pair<std::string_view, int32_t>, 5> all = {{{"pending", counts.pending},
                                                                    {"inqueue", counts.inqueue},
                                                                    {"running", counts.running},
                                                                    {"completed", counts.completed},
                                                                    {"unknown", counts.unknown}}};
  for (const auto& [name, count] : all) {
    if (count > 0) {
      status.Set(name, int64_t{count});
    }
  }
  // Volcano's type has it without omitempty: it is always there.
  Value amounts{Value::Map{}};
  for (const auto& [resource, amount] : allocated) {
    amounts.Set(resource, FormatAmount(resource, amount));
  }
  status.Set("allocated", std::move(amounts));
  return status;
}

Value StatusPatch(const std::string& uid, const Value& status) {
  return Value::List{
      Value(Value::Map{{"op", "test", {}}, {"path", "/metadata/uid", {}}, {"value", uid, {}}}),
      Value(Value::Map{{"op", "add", {}}, {"path", "/status", {}}, {"value", status, {}}})};
}

}  // namespace caldera
