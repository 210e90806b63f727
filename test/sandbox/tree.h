// Short ways to build, read and compare objects as trees; for what acts in the sandbox. Pure.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "federation/document.h"
#include "federation/value_at.h"
#include "test/sandbox/store.h"

namespace caldera::sandbox {

/// A map of these members in this order.
Value MakeMap(std::initializer_list<std::pair<std::string_view, Value>> members);

ObjectKey KeyOf(const Value& object);
std::string UidOf(const Value& object);
std::string LabelOf(const Value& object, std::string_view label);
std::string AnnotationOf(const Value& object, std::string_view annotation);
bool IsDeleting(const Value& object);
/// Of the owner with `controller: true`; empty: none.
std::string ControllerUidOf(const Value& object);

/// The condition of that type, or nullptr.
const Value* FindCondition(const Value& conditions, std::string_view type);
struct Condition {
  std::string type;
  std::string status;
  std::string reason;
  std::string message;
};
/// Adds or replaces; lastTransitionTime moves with `status` only. `conditions` is a list or null.
/// Returns whether anything changed.
bool SetCondition(Value& conditions, const Condition& condition, const std::string& now);

/// The merge patch that turns `old` into `wanted`; nullopt where they are equal. Lists go whole.
std::optional<Value> MergeDiff(const Value& old, const Value& wanted);

}  // namespace caldera::sandbox
