// Comparing what intake made of a manifest with what Volcano stored, as Go's types see it: an
// absent field is its zero or empty value, quantities and durations are equal by value.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "controller/kube/json_reader.h"
#include "controller/kube/yaml_reader.h"
#include "federation/intake.h"
#include "federation/quantity.h"
#include "federation/time.h"

namespace caldera {

inline std::string GoldenText(const std::string& name) {
  std::ifstream file(std::string(CALDERA_TEST_DATA) + "/golden/" + name);
  REQUIRE_MESSAGE(file.good(), name);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

/// The documents of test/golden/NAME: JSON (also one a line) or YAML, by its ending.
inline std::vector<Document> GoldenDocuments(const std::string& name) {
  std::vector<Document> documents;
  ReadReport report;
  const std::string text = GoldenText(name);
  const auto keep = [&](Document document) { documents.push_back(std::move(document)); };
  if (name.ends_with(".yaml")) {
    ReadYaml(text, name, keep, report);
  } else {
    ReadJson(text, name, keep, report);
  }
  REQUIRE_MESSAGE(report.errors.empty(), name);
  return documents;
}

inline std::string Text(const Value& value, std::string_view key) {
  const Value* const member = value.Find(key);
  return member != nullptr && member->IsString() ? member->AsString() : "";
}

// Absent, null, zero and empty are one in Go's types.
inline bool IsEmpty(const Value* value) {
  if (value == nullptr || value->IsNull()) {
    return true;
  }
  switch (value->kind()) {
    case Value::Kind::kBool:
      return !value->AsBool();
    case Value::Kind::kInteger:
      return value->AsInteger() == 0;
    case Value::Kind::kString:
      return value->AsString().empty();
    case Value::Kind::kList:
      return value->AsList().empty();
    case Value::Kind::kMap: {
      const auto& map = value->AsMap();
      return std::all_of(map.begin(), map.end(),
                         [](const Member& member) { return IsEmpty(&member.value); });
    }
    default:
      return false;
  }
}

inline std::string ScalarText(const Value& value) {
  return value.IsString() ? value.AsString() : value.Brief();
}

// By value: 3000 is 3k, 10m is 10m0s.
inline bool SameScalar(const Value& a, const Value& b) {
  if (a == b) {
    return true;
  }
  const auto amount_a = Quantity::Parse(ScalarText(a));
  const auto amount_b = Quantity::Parse(ScalarText(b));
  if (amount_a.has_value() && amount_b.has_value()) {
    return *amount_a == *amount_b;
  }
  const auto span_a = ParseDuration(ScalarText(a));
  const auto span_b = ParseDuration(ScalarText(b));
  return span_a.has_value() && span_b.has_value() && *span_a == *span_b;
}

// Go writes a quantity that was never set as 0; the one such field that is no entry of a map is the
// divisor of a resourceFieldRef.
inline bool IsUnsetDivisor(const std::string& path, const Value* ours, const Value* theirs) {
  return ours == nullptr && path.ends_with(".divisor") && theirs != nullptr &&
         SameScalar(*theirs, Value(0));
}

// Says where `ours` differs from `theirs`; `dropped` are paths of fields that the schema does not
// know, which the API server drops and Caldera keeps.
inline void Compare(const Value* ours, const Value* theirs, const std::string& path,
                    std::vector<std::string>& differences) {
  if ((IsEmpty(ours) && IsEmpty(theirs)) || IsUnsetDivisor(path, ours, theirs)) {
    return;
  }
  if (ours == nullptr || theirs == nullptr) {
    differences.push_back(path + (ours == nullptr ? " is missing" : " is not there in theirs"));
  } else if (ours->IsMap() && theirs->IsMap()) {
    std::set<std::string> keys;
    for (const Value* const map : {ours, theirs}) {
      for (const Member& member : map->AsMap()) {
        keys.insert(member.key);
      }
    }
    for (const std::string& key : keys) {
      std::string inner = path;
      inner.append(".").append(key);
      Compare(ours->Find(key), theirs->Find(key), inner, differences);
    }
  } else if (ours->IsList() && theirs->IsList() &&
             ours->AsList().size() == theirs->AsList().size()) {
    for (size_t i = 0; i < ours->AsList().size(); ++i) {
      Compare(&ours->AsList()[i], &theirs->AsList()[i], path + "[" + std::to_string(i) + "]",
              differences);
    }
  } else if (!SameScalar(*ours, *theirs)) {
    differences.push_back(path + ": " + ours->Brief() + " and theirs " + theirs->Brief());
  }
}

/// Where the defaulted spec of `intake` differs from the stored one; unknown fields, which the API
/// server drops and Caldera keeps, do not count.
inline std::vector<std::string> SpecDifferences(const Intake& intake, const Value& stored) {
  std::vector<std::string> differences;
  Compare(intake.defaulted.Find("spec"), &stored, "spec", differences);
  for (const Issue& warning : intake.warnings) {
    if (warning.message.starts_with("unknown field")) {
      std::erase(differences, warning.field + " is not there in theirs");
    }
  }
  return differences;
}

/// Every complaint names object, file, line, field and what would be right.
inline bool NamesAll(const Intake& intake) {
  return std::all_of(intake.errors.begin(), intake.errors.end(), [](const Issue& issue) {
    return !issue.object.empty() && !issue.file.empty() && issue.mark.line > 0 &&
           !issue.field.empty() && !issue.message.empty();
  });
}

inline std::string Said(const Intake& intake) {
  std::string text;
  for (const Issue& issue : intake.errors) {
    text += "\n  " + issue.field + " = " + issue.value + ": " + issue.message;
  }
  return text;
}

}  // namespace caldera
