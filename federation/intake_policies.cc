#include "federation/intake_policies.h"

#include <algorithm>
#include <array>
#include <set>

#include "federation/intake_read.h"

namespace caldera {
namespace {

// Events and actions that are for users.
constexpr std::array<std::string_view, 8> kEvents = {"*",          "PodFailed", "PodEvicted",
                                                     "PodPending", "Unknown",   "TaskCompleted",
                                                     "TaskFailed", "JobUpdated"};
constexpr std::array<std::string_view, 8> kActions = {
    "AbortJob",         "RestartJob",   "RestartTask", "RestartPod",
    "RestartPartition", "TerminateJob", "CompleteJob", "ResumeJob"};

// Volcano raises these for itself; the schema knows them, so they pass it.
constexpr std::array<std::string_view, 3> kInternalEvents = {"PodRunning", "OutOfSync",
                                                             "CommandIssued"};

template <size_t N>
bool IsIn(const std::array<std::string_view, N>& list, std::string_view text) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

template <size_t N>
std::string Listed(const std::array<std::string_view, N>& list) {
  std::string text;
  for (const std::string_view entry : list) {
    text += (text.empty() ? "" : ", ") + std::string(entry);
  }
  return text;
}

// The events of one policy; a repetition inside one policy counts once.
std::vector<Field> EventsOf(const Field& policy) {
  std::vector<Field> events = ItemsOf(policy["events"]);
  if (!TextOf(policy["event"]).empty()) {
    events.push_back(policy["event"]);
  }
  std::set<std::string_view> seen;
  std::erase_if(events, [&](const Field& event) { return !seen.insert(TextOf(event)).second; });
  return events;
}

void CheckEvents(const Field& policy, const std::vector<Field>& events,
                 std::set<std::string_view>& earlier) {
  for (const Field& event : events) {
    const std::string_view name = TextOf(event);
    if (IsIn(kInternalEvents, name)) {
      event.Refuse("is an event that Volcano keeps for itself: a policy takes " + Listed(kEvents));
    } else if (IsIn(kEvents, name) && !earlier.insert(name).second) {
      event.Refuse("has a policy already: one event, one policy");
    }
  }
  const Field action = policy["action"];
  if (!IsIn(kActions, TextOf(action)) && (!action.Present() || action.value()->IsString())) {
    action.Refuse("must be one of " + Listed(kActions));
  }
}

}  // namespace

void CheckPolicies(const Field& policies) {
  std::set<std::string_view> events_seen;
  std::set<int64_t> codes_seen;
  for (const Field& policy : ItemsOf(policies)) {
    const std::vector<Field> events = EventsOf(policy);
    const Field exit_code = policy["exitCode"];
    if (!events.empty() && exit_code.Present()) {
      exit_code.Refuse("must not stand beside event or events: give a policy one of them");
    } else if (events.empty() && !exit_code.Present()) {
      policy.Refuse("must have event, events or exitCode");
    } else if (!events.empty()) {
      CheckEvents(policy, events, events_seen);
    } else if (const auto code = NumberOf(exit_code); code.has_value()) {
      if (*code == 0) {
        exit_code.Refuse("must not be 0: that is success, not an error");
      } else if (!codes_seen.insert(*code).second) {
        exit_code.Refuse("has a policy already: one exit code, one policy");
      }
    }
  }
  if (events_seen.contains("*") && events_seen.size() > 1) {
    policies.Refuse("have event * beside other events: * stands for all, so it must be alone");
  }
}

}  // namespace caldera
