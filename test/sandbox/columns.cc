#include "test/sandbox/columns.h"

#include "test/sandbox/store.h"
#include "test/sandbox/table.h"
#include "test/sandbox/tree.h"

namespace caldera::sandbox {
namespace {

size_t SizeOf(const Value* value) {
  return value == nullptr ? 0 : value->IsMap() ? value->AsMap().size() : 0;
}

std::string Since(const std::string& text, Time now) {
  const Result<Time> time = ParseTime(text);
  return time ? HumanDuration(now - *time) : "<unknown>";
}

std::string Ready(const Value& pod) {
  int64_t ready = 0;
  for (const Value& status : ListAt(pod, {"status", "containerStatuses"})) {
    const Value* flag = status.Find("ready");
    ready += flag != nullptr && flag->IsBool() && flag->AsBool() ? 1 : 0;
  }
  return std::to_string(ready) + "/" + std::to_string(ListAt(pod, {"spec", "containers"}).size());
}

std::string PodStatus(const Value& pod) {
  if (pod.At({"metadata", "deletionTimestamp"}) != nullptr) {
    return "Terminating";
  }
  if (std::string reason = TextAt(pod, {"status", "reason"}); !reason.empty()) {
    return reason;
  }
  for (const Value& status : ListAt(pod, {"status", "containerStatuses"})) {
    for (const char* state : {"waiting", "terminated"}) {
      if (std::string reason = TextAt(status, {"state", state, "reason"}); !reason.empty()) {
        return reason;
      }
    }
  }
  return TextAt(pod, {"status", "phase"});
}

std::string Restarts(const Value& pod) {
  int64_t restarts = 0;
  for (const Value& status : ListAt(pod, {"status", "containerStatuses"})) {
    const Value* count = status.Find("restartCount");
    restarts += count != nullptr && count->IsInteger() ? count->AsInteger() : 0;
  }
  return std::to_string(restarts);
}

std::string NodeStatus(const Value& node) {
  std::string status = "Unknown";
  for (const Value& condition : ListAt(node, {"status", "conditions"})) {
    if (TextAt(condition, {"type"}) == "Ready") {
      status = TextAt(condition, {"status"}) == "True" ? "Ready" : "NotReady";
    }
  }
  const Value* cordoned = node.At({"spec", "unschedulable"});
  const bool closed = cordoned != nullptr && cordoned->IsBool() && cordoned->AsBool();
  return closed ? status + ",SchedulingDisabled" : status;
}

std::string NodeRoles(const Value& node) {
  constexpr std::string_view kPrefix = "node-role.kubernetes.io/";
  std::string roles;
  const Value* labels = node.At({"metadata", "labels"});
  if (labels != nullptr && labels->IsMap()) {
    for (const Member& label : labels->AsMap()) {
      if (label.key.starts_with(kPrefix)) {
        roles += (roles.empty() ? "" : ",") + label.key.substr(kPrefix.size());
      }
    }
  }
  return roles.empty() ? "<none>" : roles;
}

std::string LastSeen(const Value& event, Time now) {
  for (const char* key : {"lastTimestamp", "eventTime", "firstTimestamp"}) {
    if (const std::string text = TextAt(event, {key}); !text.empty()) {
      return Since(text, now);
    }
  }
  return Since(TextAt(event, {"metadata", "creationTimestamp"}), now);
}

std::string Involved(const Value& event) {
  std::string kind = TextAt(event, {"involvedObject", "kind"});
  for (char& c : kind) {
    c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  }
  return kind + "/" + TextAt(event, {"involvedObject", "name"});
}

std::string DataCount(const Value& object) {
  return std::to_string(SizeOf(object.Find("data")) + SizeOf(object.Find("binaryData")));
}

}  // namespace

std::string ComputedCell(std::string_view name, const Value& object, Time now) {
  if (name == "@name") {
    return TextAt(object, {"metadata", "name"});
  }
  if (name == "@age") {
    return Since(TextAt(object, {"metadata", "creationTimestamp"}), now);
  }
  if (name == "@ready") {
    return Ready(object);
  }
  if (name == "@podStatus") {
    return PodStatus(object);
  }
  if (name == "@restarts") {
    return Restarts(object);
  }
  if (name == "@nodeStatus") {
    return NodeStatus(object);
  }
  if (name == "@nodeRoles") {
    return NodeRoles(object);
  }
  if (name == "@lastSeen") {
    return LastSeen(object, now);
  }
  if (name == "@involved") {
    return Involved(object);
  }
  if (name == "@dataCount") {
    return DataCount(object);
  }
  if (name == "@globalDefault") {
    const Value* flag = object.Find("globalDefault");
    return flag != nullptr && flag->IsBool() && flag->AsBool() ? "true" : "false";
  }
  if (name == "@roleRef") {
    return TextAt(object, {"roleRef", "kind"}) + "/" + TextAt(object, {"roleRef", "name"});
  }
  return {};
}

}  // namespace caldera::sandbox
