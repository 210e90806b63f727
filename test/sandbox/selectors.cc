#include "test/sandbox/selectors.h"

#include <algorithm>

#include "federation/names.h"

namespace caldera::sandbox {
namespace {

using Operator = Requirement::Operator;

std::string_view Trim(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const size_t from = text.find_first_not_of(kBlanks);
  if (from == std::string_view::npos) {
    return {};
  }
  return text.substr(from, text.find_last_not_of(kBlanks) - from + 1);
}

// Splits at commas outside parentheses.
std::vector<std::string_view> SplitParts(std::string_view text) {
  std::vector<std::string_view> parts;
  int depth = 0;
  size_t from = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    if (i == text.size() || (text[i] == ',' && depth == 0)) {
      parts.push_back(Trim(text.substr(from, i - from)));
      from = i + 1;
    } else if (text[i] == '(') {
      ++depth;
    } else if (text[i] == ')') {
      --depth;
    }
  }
  return parts;
}

// `a=b`, `a==b`, `a!=b`; false where there is no such sign.
bool ParseEquality(std::string_view part, Requirement& into) {
  const size_t sign = part.find('=');
  if (sign == std::string_view::npos) {
    return false;
  }
  const bool differs = sign > 0 && part[sign - 1] == '!';
  const bool doubled = sign + 1 < part.size() && part[sign + 1] == '=';
  into.key = Trim(part.substr(0, differs ? sign - 1 : sign));
  into.op = differs ? Operator::kNotEquals : Operator::kEquals;
  into.values = {std::string(Trim(part.substr(sign + (doubled ? 2 : 1))))};
  return true;
}

// `a in (x, y)`, `a notin (x)`; false where there is no parenthesis.
bool ParseSet(std::string_view part, Requirement& into) {
  const size_t open = part.find('(');
  if (open == std::string_view::npos || !part.ends_with(')')) {
    return false;
  }
  const std::string_view head = Trim(part.substr(0, open));
  const size_t blank = head.find_last_of(" \t");
  if (blank == std::string_view::npos) {
    return false;
  }
  const std::string_view word = head.substr(blank + 1);
  if (word != "in" && word != "notin") {
    return false;
  }
  into.key = Trim(head.substr(0, blank));
  into.op = word == "in" ? Operator::kIn : Operator::kNotIn;
  for (const std::string_view value : SplitParts(part.substr(open + 1, part.size() - open - 2))) {
    into.values.emplace_back(value);
  }
  return true;
}

Answer<Requirement> ParseLabel(std::string_view part) {
  Requirement requirement;
  if (!ParseSet(part, requirement) && !ParseEquality(part, requirement)) {
    requirement.op = part.starts_with('!') ? Operator::kNotExists : Operator::kExists;
    requirement.key = Trim(part.substr(part.starts_with('!') ? 1 : 0));
  }
  const bool values_ok = std::all_of(requirement.values.begin(), requirement.values.end(),
                                     [](const std::string& value) { return IsLabelValue(value); });
  if (!IsQualifiedName(requirement.key) || !values_ok) {
    return tl::unexpected(BadRequest("unable to parse requirement: '" + std::string(part) + "'"));
  }
  return requirement;
}

bool CanSelectBy(const Kind& kind, const std::string& field) {
  return field == "metadata.name" || (field == "metadata.namespace" && kind.type.namespaced) ||
         std::find(kind.fields.begin(), kind.fields.end(), field) != kind.fields.end();
}

Answer<Requirement> ParseField(const Kind& kind, std::string_view part) {
  Requirement requirement;
  if (!ParseEquality(part, requirement)) {
    return tl::unexpected(
        BadRequest("invalid field selector: '" + std::string(part) + "'; can't understand it"));
  }
  if (!CanSelectBy(kind, requirement.key)) {
    return tl::unexpected(BadRequest("field label not supported: " + requirement.key));
  }
  return requirement;
}

bool Holds(const Requirement& requirement, const std::string* value) {
  const auto& values = requirement.values;
  const bool among =
      value != nullptr && std::find(values.begin(), values.end(), *value) != values.end();
  switch (requirement.op) {
    case Operator::kEquals:
    case Operator::kIn:
      return among;
    case Operator::kNotEquals:
    case Operator::kNotIn:
      return !among;
    case Operator::kExists:
      return value != nullptr;
    case Operator::kNotExists:
      return value == nullptr;
  }
  return false;
}

bool FieldHolds(const Requirement& requirement, const StoredObject& object) {
  static const std::string kUnset;
  if (requirement.key == "metadata.name") {
    return Holds(requirement, &object.key.name);
  }
  if (requirement.key == "metadata.namespace") {
    return Holds(requirement, &object.key.ns);
  }
  const auto found = object.fields.find(requirement.key);
  return Holds(requirement, found == object.fields.end() ? &kUnset : &found->second);
}

}  // namespace

Answer<Selector> Selector::Parse(const Kind& kind, std::string_view labels,
                                 std::string_view fields) {
  Selector selector;
  for (const std::string_view part : SplitParts(labels)) {
    if (part.empty()) {
      continue;
    }
    Answer<Requirement> requirement = ParseLabel(part);
    if (!requirement) {
      return tl::unexpected(std::move(requirement).error());
    }
    selector.labels_.push_back(*std::move(requirement));
  }
  for (const std::string_view part : SplitParts(fields)) {
    if (part.empty()) {
      continue;
    }
    Answer<Requirement> requirement = ParseField(kind, part);
    if (!requirement) {
      return tl::unexpected(std::move(requirement).error());
    }
    selector.fields_.push_back(*std::move(requirement));
  }
  return selector;
}

bool Selector::Matches(const StoredObject& object) const {
  const bool labels_match =
      std::all_of(labels_.begin(), labels_.end(), [&](const Requirement& requirement) {
        const auto found = object.labels.find(requirement.key);
        return Holds(requirement, found == object.labels.end() ? nullptr : &found->second);
      });
  return labels_match && std::all_of(fields_.begin(), fields_.end(),
                                     [&](const Requirement& r) { return FieldHolds(r, object); });
}

}  // namespace caldera::sandbox
