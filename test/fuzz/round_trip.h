// What every document that a reader hands on must keep, shared by the fuzz targets.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "controller/kube/json_reader.h"
#include "controller/kube/json_writer.h"
#include "controller/kube/yaml_reader.h"
#include "controller/kube/yaml_writer.h"
#include "federation/assert.h"

namespace caldera::fuzz {

/// Errors are clear, and come with the place where they are.
inline void CheckReport(const ReadReport& report) {
  for (const Issue& issue : report.errors) {
    CALDERA_ASSERT(!issue.message.empty() && !issue.file.empty());
  }
}

/// Written as YAML and as JSON it is read back as the same tree, without a complaint.
inline void CheckRoundTrip(const Value& root) {
  std::vector<Document> documents;
  const DocumentVisitor keep = [&documents](Document d) { documents.push_back(std::move(d)); };
  ReadReport report;
  ReadYaml(WriteYaml(root), "again.yaml", keep, report);
  ReadJson(WriteJson(root), "again.json", keep, report);
  ReadJson(WritePrettyJson(root), "pretty.json", keep, report);
  CALDERA_ASSERT(report.errors.empty() && report.warnings.empty());
  // A map that looks like a list of objects is flattened.
  const Value* kind = root.Find("kind");
  if (kind != nullptr && kind->IsString() && kind->AsString().ends_with("List")) {
    return;
  }
  CALDERA_ASSERT(documents.size() == 3);
  for (const Document& document : documents) {
    CALDERA_ASSERT(document.root == root);
  }
}

}  // namespace caldera::fuzz
