#include <algorithm>
#include <array>
#include <charconv>
#include <numeric>

#include "federation/excerpt.h"
#include "federation/intake_kinds.h"
#include "federation/names.h"

namespace caldera {
namespace {

// Levenshtein distance, for texts short enough to be field names.
size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t above = row[j + 1];
      row[j + 1] = std::min({above + 1, row[j] + 1, diagonal + (a[i] == b[j] ? 0 : 1)});
      diagonal = above;
    }
  }
  return row.back();
}

// The known field that `key` is probably meant to be; empty where none is near.
std::string_view Nearest(std::string_view key, std::initializer_list<std::string_view> known) {
  constexpr size_t kNear = 2;
  std::string_view best;
  size_t best_distance = kNear + 1;
  for (const std::string_view candidate : known) {
    if (key.size() > candidate.size() + kNear || candidate.size() > key.size() + kNear) {
      continue;
    }
    const size_t distance = EditDistance(key, candidate);
    if (distance < best_distance && distance < candidate.size()) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

constexpr std::array<std::string_view, 3> kTaintEffects{"NoSchedule", "PreferNoSchedule",
                                                        "NoExecute"};

void CheckValues(const LabelRequirement& requirement, const Field& item) {
  const bool listed = requirement.op == "In" || requirement.op == "NotIn";
  const bool numeric = requirement.op == "Gt" || requirement.op == "Lt";
  const Field values = item["values"];
  if (listed && requirement.values.empty()) {
    values.Refuse("must not be empty with operator " + requirement.op);
  } else if (numeric && requirement.values.size() != 1) {
    values.Refuse("must be one integer with operator " + requirement.op);
  } else if (!listed && !numeric && !requirement.values.empty()) {
    values.Refuse("must be absent with operator " + requirement.op);
  }
}

}  // namespace

Field OurAnnotation(const Field& root, std::string_view name) {
  return root["metadata"]["annotations"][std::string(kAnnotationPrefix) + std::string(name)];
}

std::optional<Time> TakeTime(const Field& field) {
  const auto text = field.String();
  if (!text) {
    return std::nullopt;
  }
  const auto time = ParseTime(*text);
  if (!time) {
    field.Refuse(time.error().message);
    return std::nullopt;
  }
  return *time;
}

std::optional<int64_t> IntegerText(const Field& field, int64_t min, int64_t max) {
  const auto text = field.String();
  if (!text) {
    return std::nullopt;
  }
  int64_t number = 0;
  const char* const end = text->data() + text->size();
  const auto [stop, fault] = std::from_chars(text->data(), end, number);
  if (fault != std::errc{} || stop != end || number < min || number > max) {
    field.Refuse("must be an integer from " + std::to_string(min) + " to " + std::to_string(max) +
                 ", in quotes");
    return std::nullopt;
  }
  return number;
}

std::string ClusterOfMember(const Value& object) {
  const std::string ours = std::string(kAnnotationPrefix) + "cluster";
  constexpr std::string_view kCachedFrom = "resource.karmada.io/cached-from-cluster";
  for (const auto& [map, key] : {std::pair<std::string_view, std::string_view>{"annotations", ours},
                                 {"labels", ours},
                                 {"annotations", kCachedFrom}}) {
    const Value* const value = object.At({"metadata", map, key});
    if (value != nullptr && value->IsString() && !value->AsString().empty()) {
      return value->AsString();
    }
  }
  return {};
}

void WarnUnknown(const Field& map, std::initializer_list<std::string_view> known) {
  if (map.value() == nullptr || !map.value()->IsMap()) {
    return;
  }
  for (const Member& member : map.value()->AsMap()) {
    const std::string& key = member.key;
    if (std::find(known.begin(), known.end(), key) != known.end()) {
      continue;
    }
    const std::string_view near = Nearest(key, known);
    if (map.sink().warnings.size() >= kIssuesMax) {
      return;
    }
    map[key].Warn("is not a field and is dropped by the API server" +
                  (near.empty() ? "" : "; did you mean " + std::string(near) + "?"));
  }
}

std::vector<Taint> TakeTaints(const Field& list) {
  std::vector<Taint> taints;
  for (const Field& item : list.Items()) {
    item.IsMapOrAbsent();
    Taint taint;
    taint.key = item["key"].String().value_or("");
    taint.value = item["value"].String().value_or("");
    taint.effect = item["effect"].String().value_or("");
    if (!IsQualifiedName(taint.key)) {
      item["key"].Refuse("must be a label key: " + std::string(kQualifiedNameRule));
    }
    if (!IsLabelValue(taint.value)) {
      item["value"].Refuse("must be a label value: " + std::string(kLabelValueRule));
    }
    if (std::find(kTaintEffects.begin(), kTaintEffects.end(), taint.effect) ==
        kTaintEffects.end()) {
      item["effect"].Refuse("must be NoSchedule, PreferNoSchedule or NoExecute");
    }
    taints.push_back(std::move(taint));
  }
  return taints;
}

std::vector<LabelRequirement> TakeRequirements(const Field& list, bool node) {
  std::vector<LabelRequirement> requirements;
  for (const Field& item : list.Items()) {
    item.IsMapOrAbsent();
    LabelRequirement requirement;
    requirement.key = item["key"].String().value_or("");
    requirement.op = item["operator"].String().value_or("");
    requirement.values = item["values"].StringList();
    if (!IsQualifiedName(requirement.key)) {
      item["key"].Refuse("must be a label key: " + std::string(kQualifiedNameRule));
    }
    const std::string& op = requirement.op;
    const bool common = op == "In" || op == "NotIn" || op == "Exists" || op == "DoesNotExist";
    if (!common && !(node && (op == "Gt" || op == "Lt"))) {
      item["operator"].Refuse(node ? "must be In, NotIn, Exists, DoesNotExist, Gt or Lt"
                                   : "must be In, NotIn, Exists or DoesNotExist");
    } else {
      CheckValues(requirement, item);
    }
    requirements.push_back(std::move(requirement));
  }
  return requirements;
}

Labels TakeLabels(const Field& map) {
  Labels labels;
  for (const auto& [key, field] : map.Members()) {
    const std::string value = field.String().value_or("");
    if (!IsQualifiedName(key)) {
      field.Refuse("\"" + Excerpt(key) + "\" is no label key: it takes " +
                   std::string(kQualifiedNameRule));
    } else if (!IsLabelValue(value)) {
      field.Refuse("is no label value: it takes " + std::string(kLabelValueRule));
    }
    labels.emplace(key, value);
  }
  return labels;
}

}  // namespace caldera
