#include "test/sandbox/member_life_policy.h"

#include <algorithm>
#include <vector>

#include "test/sandbox/tree.h"

namespace caldera::sandbox {
namespace {

std::vector<std::string> EventsOf(const Value& policy) {
  std::vector<std::string> events;
  if (const std::string one = TextAt(policy, {"event"}); !one.empty()) {
    events.push_back(one);
  }
  for (const Value& event : ListAt(policy, {"events"})) {
    if (event.IsString()) {
      events.push_back(event.AsString());
    }
  }
  return events;
}

Millis TimeoutOf(const Value& policy) {
  const Result<Millis> timeout = ParseDuration(TextAt(policy, {"timeout"}));
  return timeout ? *timeout : Millis(0);
}

bool MatchesEvent(const Value& policy, const PodEvent& event) {
  const std::vector<std::string> events = EventsOf(policy);
  const bool named = std::any_of(events.begin(), events.end(), [&](const std::string& name) {
    return name == event.event || name == "*";
  });
  // Every pod is Pending at first: without a timeout that is no reason to act.
  return named && (event.event != "PodPending" || TimeoutOf(policy) > Millis(0));
}

bool MatchesExit(const Value& policy, const PodEvent& event) {
  const Value* const code = policy.Find("exitCode");
  return code != nullptr && code->IsInteger() && event.exit_code &&
         code->AsInteger() == *event.exit_code;
}

std::optional<PolicyAction> FindIn(const Value::List& policies, const PodEvent& event) {
  for (const Value& policy : policies) {
    if (!MatchesEvent(policy, event) && !MatchesExit(policy, event)) {
      continue;
    }
    PolicyAction found;
    found.action.action = TextAt(policy, {"action"});
    found.timeout = TimeoutOf(policy);
    if (found.action.action == "RestartTask") {
      found.action.target = {event.task, "", ""};
    } else if (found.action.action == "RestartPod") {
      found.action.target = {event.task, event.pod, ""};
    } else if (found.action.action == "RestartPartition") {
      found.action.target = {event.task, "", event.partition};
    }
    return found;
  }
  return std::nullopt;
}

}  // namespace

std::optional<PolicyAction> FindPolicy(const Value& job, const PodEvent& event) {
  for (const Value& task : ListAt(job, {"spec", "tasks"})) {
    if (TextAt(task, {"name"}) == event.task) {
      if (auto found = FindIn(ListAt(task, {"policies"}), event)) {
        return found;
      }
    }
  }
  return FindIn(ListAt(job, {"spec", "policies"}), event);
}

}  // namespace caldera::sandbox
