// Manifests for the tests of intake, as YAML text: what a test is about is then what it shows.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "controller/kube/yaml_reader.h"
#include "federation/intake.h"

namespace caldera {

inline std::vector<Document> Documents(const std::string& yaml) {
  std::vector<Document> documents;
  ReadReport report;
  ReadYaml(
      yaml, "test.yaml", [&](Document document) { documents.push_back(std::move(document)); },
      report);
  REQUIRE_MESSAGE(report.errors.empty(), report.errors.front().message);
  return documents;
}

inline Document OneDocument(const std::string& yaml) {
  std::vector<Document> documents = Documents(yaml);
  REQUIRE(documents.size() == 1);
  return std::move(documents.front());
}

/// 2026-12-01T08:00:00Z, the `now` of the tests.
inline Time TestNow() { return Time(Millis(1'796'112'000'000)); }

inline Intake Take(const std::string& yaml, Strictness strictness = Strictness::kNew) {
  return TakeObject(OneDocument(yaml), strictness, TestNow());
}

/// The first of `issues` at `field` whose message holds `part`; nullptr if there is none.
inline const Issue* FindIssue(const std::vector<Issue>& issues, const std::string& field,
                              const std::string& part) {
  const auto found = std::find_if(issues.begin(), issues.end(), [&](const Issue& issue) {
    return issue.field == field && issue.message.find(part) != std::string::npos;
  });
  return found == issues.end() ? nullptr : &*found;
}

/// All of `issues` on one line each, for a failing test to show.
inline std::string ListIssues(const std::vector<Issue>& issues) {
  std::string text;
  for (const Issue& issue : issues) {
    text += issue.object + ": " + issue.field + " (" + issue.value + "): " + issue.message + "\n";
  }
  return text;
}

}  // namespace caldera
