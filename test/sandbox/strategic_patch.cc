#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "test/sandbox/patch.h"

namespace caldera::sandbox {
namespace {

constexpr std::string_view kDirective = "$patch";
constexpr std::string_view kDeleteScalars = "$deleteFromPrimitiveList/";
constexpr std::string_view kElementOrder = "$setElementOrder/";
constexpr std::string_view kRetainKeys = "$retainKeys";

// The merge keys of k8s.io/api, by field; a field that is not here is replaced as a whole.
std::string_view MergeKeyOf(std::string_view field) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 15> kMergeKeys{{
      {"containers", "name"},
      {"initContainers", "name"},
      {"ephemeralContainers", "name"},
      {"env", "name"},
      {"volumes", "name"},
      {"volumeMounts", "mountPath"},
      {"volumeDevices", "devicePath"},
      {"imagePullSecrets", "name"},
      {"secrets", "name"},
      {"ownerReferences", "uid"},
      {"conditions", "type"},
      {"addresses", "type"},
      {"hostAliases", "ip"},
      {"podIPs", "ip"},
      {"topologySpreadConstraints", "topologyKey"},
  }};
  const auto* const found = std::find_if(kMergeKeys.begin(), kMergeKeys.end(),
                                         [&](const auto& entry) { return entry.first == field; });
  if (found != kMergeKeys.end()) {
    return found->second;
  }
  return field == "ports" ? "port" : "";
}

bool IsScalarSet(std::string_view field) { return field == "finalizers"; }

std::string DirectiveOf(const Value& patch) {
  const Value* directive = patch.Find(kDirective);
  return directive != nullptr && directive->IsString() ? directive->AsString() : std::string();
}

Value WithoutDirectives(const Value& patch);

// Service ports merge by `port`, container ports by `containerPort`.
std::string_view KeyIn(const Value& item, std::string_view key) {
  return key == "port" && item.Find("containerPort") != nullptr ? "containerPort" : key;
}

Value* FindItem(Value::List& list, const Value& wanted, std::string_view key) {
  const std::string_view by = KeyIn(wanted, key);
  const Value* id = wanted.Find(by);
  const auto found = std::find_if(list.begin(), list.end(), [&](const Value& item) {
    const Value* other = item.Find(by);
    return id != nullptr && other != nullptr && *id == *other;
  });
  return found == list.end() ? nullptr : &*found;
}

void MergeItems(Value& target, const Value::List& patch, std::string_view key) {
  if (!target.IsList() || std::any_of(patch.begin(), patch.end(), [](const Value& item) {
        return DirectiveOf(item) == "replace";
      })) {
    target = Value::List{};
  }
  Value::List& list = target.AsList();
  for (const Value& item : patch) {
    const std::string directive = DirectiveOf(item);
    Value* const there = FindItem(list, item, key);
    if (directive == "delete") {
      if (there != nullptr) {
        list.erase(list.begin() + (there - list.data()));
      }
    } else if (there != nullptr) {
      ApplyStrategicPatch(*there, item);
    } else if (directive != "replace" || item.AsMap().size() > 1) {
      list.push_back(WithoutDirectives(item));
    }
  }
}

void AddScalars(Value& target, const Value::List& patch) {
  if (!target.IsList()) {
    target = Value::List{};
  }
  Value::List& list = target.AsList();
  for (const Value& item : patch) {
    if (std::find(list.begin(), list.end(), item) == list.end()) {
      list.push_back(item);
    }
  }
}

void DeleteScalars(Value& target, std::string_view field, const Value& gone) {
  Value* list = target.Find(field);
  if (list == nullptr || !list->IsList() || !gone.IsList()) {
    return;
  }
  const Value::List& items = gone.AsList();
  std::erase_if(list->AsList(), [&](const Value& item) {
    return std::find(items.begin(), items.end(), item) != items.end();
  });
}

// Union fields (a volume's source, a strategy): only what is named stays.
void RetainKeys(Value& target, const Value& keys) {
  if (!keys.IsList() || !target.IsMap()) {
    return;
  }
  std::erase_if(target.AsMap(), [&](const Member& member) {
    const Value key(member.key);
    return std::find(keys.AsList().begin(), keys.AsList().end(), key) == keys.AsList().end();
  });
}

Value WithoutDirectives(const Value& patch) {
  if (!patch.IsMap()) {
    return patch;
  }
  Value plain = Value::Map{};
  ApplyStrategicPatch(plain, patch);
  return plain;
}

void MergeMember(Value& target, const Member& member) {
  if (member.key.starts_with(kDeleteScalars)) {
    DeleteScalars(target, std::string_view(member.key).substr(kDeleteScalars.size()), member.value);
    return;
  }
  if (member.key == kDirective || member.key == kRetainKeys ||
      member.key.starts_with(kElementOrder)) {
    return;
  }
  if (member.value.IsNull()) {
    target.Erase(member.key);
    return;
  }
  Value* const there = target.Find(member.key);
  Value& slot = there != nullptr ? *there : target.Set(member.key, Value());
  const std::string_view key = MergeKeyOf(member.key);
  if (member.value.IsMap()) {
    ApplyStrategicPatch(slot, member.value);
    if (DirectiveOf(member.value) == "delete") {
      target.Erase(member.key);
    }
  } else if (member.value.IsList() && !key.empty()) {
    MergeItems(slot, member.value.AsList(), key);
  } else if (member.value.IsList() && IsScalarSet(member.key)) {
    AddScalars(slot, member.value.AsList());
  } else {
    slot = member.value;
  }
}

}  // namespace

void ApplyStrategicPatch(Value& target, const Value& patch) {
  if (!patch.IsMap()) {
    target = patch;
    return;
  }
  if (!target.IsMap() || DirectiveOf(patch) == "replace") {
    target = Value::Map{};
  }
  if (const Value* keys = patch.Find(kRetainKeys)) {
    RetainKeys(target, *keys);
  }
  for (const Member& member : patch.AsMap()) {
    MergeMember(target, member);
  }
}

}  // namespace caldera::sandbox
