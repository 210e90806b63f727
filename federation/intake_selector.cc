#include "federation/intake_selector.h"

#include <algorithm>
#include <array>
#include <string>

#include "federation/excerpt.h"
#include "federation/names.h"

namespace caldera {
namespace {

std::string_view Trim(std::string_view text) {
  constexpr std::string_view kBlanks = " \t";
  const size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) {
    return {};
  }
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

constexpr std::string_view kForms =
    "it takes key, !key, key=value, key!=value, key in (a,b), key notin (a,b)";

tl::unexpected<Error> Wrong(std::string_view part, std::string_view why) {
  return Fail(ErrorCode::kInvalid, "\"" + Excerpt(part) + "\" " + std::string(why));
}

Status CheckKey(std::string_view part, std::string_view key) {
  if (!IsQualifiedName(key)) {
    return Wrong(part, "has no label key: " + std::string(kForms));
  }
  return {};
}

Status CheckValue(std::string_view part, std::string_view value) {
  if (!IsLabelValue(value)) {
    return Wrong(part, "has no label value: it takes " + std::string(kLabelValueRule));
  }
  return {};
}

// `(a, b)`: one value or more.
Result<std::vector<std::string>> ParseValues(std::string_view part, std::string_view list) {
  if (!list.starts_with('(') || !list.ends_with(')')) {
    return Wrong(part, "needs values in parentheses after in or notin: key in (a,b)");
  }
  std::vector<std::string> values;
  for (const std::string_view value : SplitList(list.substr(1, list.size() - 2))) {
    CALDERA_CHECK(CheckValue(part, value));
    values.emplace_back(value);
  }
  return values;
}

// `key in (..)` and `key notin (..)`; nullopt-like kNotFound where it is another form.
Result<LabelRequirement> ParseSet(std::string_view part) {
  const size_t blank = part.find_first_of(" \t");
  if (blank == std::string_view::npos) {
    return Fail(ErrorCode::kNotFound, "no set");
  }
  const std::string_view rest = Trim(part.substr(blank));
  for (const auto& [word, op] : {std::pair{"in", "In"}, std::pair{"notin", "NotIn"}}) {
    const std::string_view name = word;
    if (rest.starts_with(name) &&
        (rest.size() == name.size() || rest[name.size()] == '(' || rest[name.size()] == ' ')) {
      const std::string_view key = part.substr(0, blank);
      CALDERA_CHECK(CheckKey(part, key));
      CALDERA_TRY(auto values, ParseValues(part, Trim(rest.substr(name.size()))));
      return LabelRequirement{std::string(key), op, std::move(values)};
    }
  }
  return Fail(ErrorCode::kNotFound, "no set");
}

Result<LabelRequirement> ParseRequirement(std::string_view part) {
  if (part.empty()) {
    return Fail(ErrorCode::kInvalid, "has an empty requirement: " + std::string(kForms));
  }
  if (part.front() == '!') {
    const std::string_view key = Trim(part.substr(1));
    CALDERA_CHECK(CheckKey(part, key));
    return LabelRequirement{std::string(key), "DoesNotExist", {}};
  }
  if (auto set = ParseSet(part); set.has_value() || set.error().code != ErrorCode::kNotFound) {
    return set;
  }
  const size_t equals = part.find('=');
  if (equals == std::string_view::npos) {
    CALDERA_CHECK(CheckKey(part, part));
    return LabelRequirement{std::string(part), "Exists", {}};
  }
  const bool unequal = equals > 0 && part[equals - 1] == '!';
  const bool twice = !unequal && part.substr(equals).starts_with("==");
  const std::string_view key = Trim(part.substr(0, equals - (unequal ? 1 : 0)));
  const std::string_view value = Trim(part.substr(equals + (twice ? 2 : 1)));
  CALDERA_CHECK(CheckKey(part, key));
  CALDERA_CHECK(CheckValue(part, value));
  return LabelRequirement{std::string(key), unequal ? "NotIn" : "In", {std::string(value)}};
}

Result<Toleration> ParseToleration(std::string_view part) {
  constexpr std::string_view kTolerationForms =
      "is no toleration: it takes key, key:Effect, key=value, key=value:Effect, or * for all";
  constexpr std::array<std::string_view, 3> kEffects = {"NoSchedule", "PreferNoSchedule",
                                                        "NoExecute"};
  Toleration toleration;
  toleration.op = "Exists";
  if (part == "*") {
    return toleration;
  }
  std::string_view rest = part;
  if (const size_t colon = rest.rfind(':'); colon != std::string_view::npos) {
    const std::string_view effect = rest.substr(colon + 1);
    if (std::find(kEffects.begin(), kEffects.end(), effect) == kEffects.end()) {
      return Wrong(part, "has no effect after ':': NoSchedule, PreferNoSchedule and NoExecute are");
    }
    toleration.effect = effect;
    rest = rest.substr(0, colon);
  }
  if (const size_t equals = rest.find('='); equals != std::string_view::npos) {
    toleration.op = "Equal";
    toleration.value = rest.substr(equals + 1);
    rest = rest.substr(0, equals);
  }
  toleration.key = rest;
  if (!IsQualifiedName(toleration.key) || !IsLabelValue(toleration.value)) {
    return Wrong(part, kTolerationForms);
  }
  return toleration;
}

}  // namespace

std::vector<std::string_view> SplitList(std::string_view text) {
  std::vector<std::string_view> parts;
  size_t start = 0;
  int depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    depth += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
    if (text[i] == ',' && depth <= 0) {
      parts.push_back(Trim(text.substr(start, i - start)));
      start = i + 1;
    }
  }
  parts.push_back(Trim(text.substr(start)));
  return parts;
}

Result<std::vector<LabelRequirement>> ParseLabelSelector(std::string_view text) {
  std::vector<LabelRequirement> requirements;
  for (const std::string_view part : SplitList(text)) {
    CALDERA_TRY(auto requirement, ParseRequirement(part));
    requirements.push_back(std::move(requirement));
  }
  return requirements;
}

Result<std::vector<Toleration>> ParseTolerations(std::string_view text) {
  std::vector<Toleration> tolerations;
  for (const std::string_view part : SplitList(text)) {
    CALDERA_TRY(auto toleration, ParseToleration(part));
    tolerations.push_back(std::move(toleration));
  }
  return tolerations;
}

}  // namespace caldera
