#include "controller/run/hyperjob_status.h"

#include <algorithm>
#include <map>
#include <utility>

#include "federation/children.h"
#include "federation/resources.h"
#include "federation/time.h"
#include "federation/value_at.h"

namespace caldera {
namespace {

/// What is known of the Jobs of one template.
struct TemplateStatus {
  std::string name;
  Value states{Value::Map{}};  ///< By the Job's name.
  std::map<std::string_view, int64_t> counters;
};

struct Condition {
  std::string_view type;
  std::string reason;
  std::string message;
  Time since;
};

std::vector<std::string> PhasesOf(const ParentFacts& facts) {
  std::vector<std::string> phases;
  phases.reserve(facts.works.size());
  for (const WorkView* const work : facts.works) {
    phases.push_back(work == nullptr ? "" : work->phase);
  }
  return phases;
}

bool IsFailed(const std::string& phase) { return phase == "Failed" || phase == "Terminated"; }

// Fields that Volcano's JobState has; what else a member says, the API server would drop.
Value StateOf(const WorkView& work) {
  Value state{Value::Map{}};
  for (const std::string_view field : {"phase", "reason", "message", "lastTransitionTime"}) {
    const Value* const value = work.job_status.At({"state", field});
    if (value != nullptr && value->IsString()) {
      state.Set(field, *value);
    }
  }
  return state;
}

// In the order in which their first children stand in the placement.
TemplateStatus& StatusOfTemplate(const std::string& name, std::vector<TemplateStatus>& all) {
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const TemplateStatus& each) { return each.name == name; });
  if (found != all.end()) {
    return *found;
  }
  all.emplace_back().name = name;
  return all.back();
}

std::vector<TemplateStatus> TemplatesOf(const ParentFacts& facts, bool failed) {
  std::vector<TemplateStatus> all;
  for (size_t i = 0; i < facts.shards.size(); ++i) {
    const Shard& shard = facts.shards[i];
    const WorkView* const work = facts.works[i];
    TemplateStatus& status = StatusOfTemplate(TemplateOf(shard.child), all);
    const std::string job = MemberJobName(facts.name, shard.child);
    if (work == nullptr && failed) {
      status.states.Set(job, Value::Map{{"phase", "Terminated", {}},
                                        {"message", "another Job of the HyperJob failed", {}}});
    }
    if (work == nullptr || work->phase.empty()) {
      continue;
    }
    status.states.Set(job, StateOf(*work));
    const Value reported = ShardStatus(shard, *work);
    for (const std::string_view counter : kPodCounters) {
      int64_t& count = status.counters[counter];
      count = SaturatingAdd(count, NumberAt(reported, {counter}));
    }
  }
  return all;
}

Value ToValue(const TemplateStatus& status) {
  Value value{Value::Map{}};
  value.Set("name", status.name);
  if (!status.states.AsMap().empty()) {
    value.Set("jobStates", status.states);
  }
  for (const std::string_view counter : kPodCounters) {
    const auto count = status.counters.find(counter);
    if (count != status.counters.end() && count->second > 0) {
      value.Set(counter, count->second);
    }
  }
  return value;
}

Value ToValue(const ParentFacts& facts, const std::optional<Condition>& condition) {
  Value status{Value::Map{}};
  if (condition) {
    Value value{Value::Map{}};
    value.Set("type", std::string(condition->type));
    value.Set("status", "True");
    value.Set("reason", condition->reason);
    value.Set("message", condition->message);
    // metav1.Time has whole seconds.
    value.Set("lastTransitionTime",
              FormatTime(std::chrono::time_point_cast<std::chrono::seconds>(condition->since)));
    status.Set("conditions", Value::List{std::move(value)});
  }
  Value::List templates;
  for (const TemplateStatus& each :
       TemplatesOf(facts, condition && condition->type == kFailedCondition)) {
    templates.push_back(ToValue(each));
  }
  if (!templates.empty()) {
    status.Set("replicatedJobsStatus", std::move(templates));
  }
  status.Set("splitCount", static_cast<int64_t>(facts.shards.size()));
  if (facts.generation > 0) {
    status.Set("observedGeneration", facts.generation);
  }
  return status;
}

// How it ended, in the words of the first Job that failed.
Condition EndOf(const ParentFacts& facts, bool failed) {
  Condition condition{kCompletedCondition,
                      "AllJobsCompleted",
                      "all " + std::to_string(facts.shards.size()) + " Jobs completed",
                      {}};
  for (size_t i = 0; i < facts.works.size(); ++i) {
    const WorkView* const work = facts.works[i];
    if (work == nullptr) {
      continue;
    }
    condition.since = std::max(condition.since, work->phase_since);
    if (failed && condition.type == kCompletedCondition && IsFailed(work->phase)) {
      const Value* const why = work->job_status.At({"state", "message"});
      condition.type = kFailedCondition;
      condition.reason = "JobFailed";
      condition.message =
          "Job " + MemberJobName(facts.name, facts.shards[i].child) + " in cluster " +
          work->cluster + " is " + work->phase +
          (why != nullptr && why->IsString() && !why->AsString().empty() ? ": " + why->AsString()
                                                                         : "");
    }
  }
  if (condition.since == Time()) {
    condition.since = facts.now;
  }
  return condition;
}

}  // namespace

std::optional<ParentStatus> MakeHyperJobStatus(const ParentFacts& facts) {
  if (facts.suspended) {
    const std::string phase = facts.works_left ? "Aborting" : "Aborted";
    const Condition condition{kSuspendedCondition, phase,
                              facts.works_left
                                  ? "its Jobs are being deleted"
                                  : "aborted by a Command: it holds nothing until it is resumed",
                              facts.now};
    return ParentStatus{ToValue(facts, condition), phase, true};
  }
  const std::vector<std::string> phases = PhasesOf(facts);
  const bool reported =
      std::any_of(phases.begin(), phases.end(), [](const auto& phase) { return !phase.empty(); });
  if (!reported) {
    // Nothing runs. One that had a status before is told so; one that had none waits silently.
    if ((facts.phase.empty() && !facts.awaits_name) || IsTerminalPhase(facts.phase)) {
      return std::nullopt;
    }
    return ParentStatus{ToValue(facts, std::nullopt), "Pending", false};
  }
  const bool failed = std::any_of(phases.begin(), phases.end(), IsFailed);
  const std::string phase = failed ? "Failed" : PhaseOfShards(phases);
  if (!IsTerminalPhase(phase)) {
    return ParentStatus{ToValue(facts, std::nullopt), phase, false};
  }
  return ParentStatus{ToValue(facts, EndOf(facts, failed)), phase, true};
}

}  // namespace caldera
