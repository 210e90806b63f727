#include "test/sandbox/tree.h"

#include "federation/value_at.h"

namespace caldera::sandbox {
namespace {

bool IsEmptyMap(const Value& value) { return value.IsMap() && value.AsMap().empty(); }

}  // namespace

Value MakeMap(std::initializer_list<std::pair<std::string_view, Value>> members) {
  Value::Map map;
  map.reserve(members.size());
  for (const auto& [key, value] : members) {
    map.push_back({std::string(key), value, {}});
  }
  return map;
}

ObjectKey KeyOf(const Value& object) {
  return {TextAt(object, {"metadata", "namespace"}), TextAt(object, {"metadata", "name"})};
}

std::string UidOf(const Value& object) { return TextAt(object, {"metadata", "uid"}); }

std::string LabelOf(const Value& object, std::string_view label) {
  return TextAt(object, {"metadata", "labels", label});
}

std::string AnnotationOf(const Value& object, std::string_view annotation) {
  return TextAt(object, {"metadata", "annotations", annotation});
}

bool IsDeleting(const Value& object) {
  return object.At({"metadata", "deletionTimestamp"}) != nullptr;
}

std::string ControllerUidOf(const Value& object) {
  for (const Value& owner : ListAt(object, {"metadata", "ownerReferences"})) {
    if (FlagAt(owner, {"controller"})) {
      return TextAt(owner, {"uid"});
    }
  }
  return {};
}

const Value* FindCondition(const Value& conditions, std::string_view type) {
  if (conditions.IsList()) {
    for (const Value& condition : conditions.AsList()) {
      if (TextAt(condition, {"type"}) == type) {
        return &condition;
      }
    }
  }
  return nullptr;
}

bool SetCondition(Value& conditions, const Condition& condition, const std::string& now) {
  if (!conditions.IsList()) {
    conditions = Value::List{};
  }
  Value wanted = MakeMap({{"type", condition.type},
                          {"status", condition.status},
                          {"reason", condition.reason},
                          {"message", condition.message},
                          {"lastTransitionTime", now}});
  for (Value& there : conditions.AsList()) {
    if (TextAt(there, {"type"}) != condition.type) {
      continue;
    }
    if (TextAt(there, {"status"}) == condition.status) {
      wanted.Set("lastTransitionTime", TextAt(there, {"lastTransitionTime"}));
    }
    if (there == wanted) {
      return false;
    }
    there = std::move(wanted);
    return true;
  }
  conditions.AsList().push_back(std::move(wanted));
  return true;
}

std::optional<Value> MergeDiff(const Value& old, const Value& wanted) {
  if (!old.IsMap() || !wanted.IsMap()) {
    return old == wanted ? std::nullopt : std::optional<Value>(wanted);
  }
  Value patch{Value::Map{}};
  for (const Member& member : wanted.AsMap()) {
    const Value* const there = old.Find(member.key);
    if (there == nullptr) {
      patch.Set(member.key, member.value);
    } else if (auto below = MergeDiff(*there, member.value)) {
      patch.Set(member.key, *std::move(below));
    }
  }
  for (const Member& member : old.AsMap()) {
    if (wanted.Find(member.key) == nullptr) {
      patch.Set(member.key, Value());
    }
  }
  return IsEmptyMap(patch) ? std::nullopt : std::optional<Value>(std::move(patch));
}

}  // namespace caldera::sandbox
