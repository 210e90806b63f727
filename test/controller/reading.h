// Reads a text with one of the readers and keeps everything, for the tests of this folder.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "controller/kube/json_reader.h"
#include "controller/kube/reading.h"
#include "controller/kube/yaml_reader.h"

namespace caldera::testing {

struct Read {
  std::vector<Document> documents;
  ReadReport report;

  [[nodiscard]] const Value& root(size_t i = 0) const { return documents.at(i).root; }
  [[nodiscard]] const Issue& error(size_t i = 0) const { return report.errors.at(i); }
  [[nodiscard]] const Issue& warning(size_t i = 0) const { return report.warnings.at(i); }
};

inline Read Yaml(std::string_view text) {
  Read read;
  ReadYaml(
      text, "in.yaml", [&](Document d) { read.documents.push_back(std::move(d)); }, read.report);
  return read;
}

inline Read Json(std::string_view text) {
  Read read;
  ReadJson(
      text, "in.json", [&](Document d) { read.documents.push_back(std::move(d)); }, read.report);
  return read;
}

inline bool Has(const std::string& text, std::string_view piece) {
  return text.find(piece) != std::string::npos;
}

}  // namespace caldera::testing
