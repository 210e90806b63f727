// Any bytes as YAML: no crash, clear errors, every document survives both writers, and the short
// way for simple manifests reads nothing otherwise than the whole reader.
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "controller/kube/yaml_reader.h"
#include "test/controller/same_marks.h"
#include "test/fuzz/round_trip.h"

namespace {

struct Outcome {
  std::vector<caldera::Document> documents;
  caldera::ReadReport report;
};

template <typename Reader>
Outcome Read(Reader reader, std::string_view text) {
  Outcome outcome;
  reader(
      text, "in.yaml", [&](caldera::Document d) { outcome.documents.push_back(std::move(d)); },
      outcome.report);
  return outcome;
}

}  // namespace

// The name and the type are libFuzzer's.
// NOLINTNEXTLINE(readability-identifier-naming)
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): bytes are characters.
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const Outcome outcome = Read(caldera::ReadYaml, text);
  caldera::fuzz::CheckReport(outcome.report);
  const Outcome whole = Read(caldera::ReadYamlWhole, text);
  CALDERA_ASSERT(outcome.report.errors.size() == whole.report.errors.size());
  CALDERA_ASSERT(outcome.report.warnings.size() == whole.report.warnings.size());
  CALDERA_ASSERT(outcome.documents.size() == whole.documents.size());
  for (size_t i = 0; i < whole.documents.size(); ++i) {
    const caldera::Value& root = outcome.documents[i].root;
    CALDERA_ASSERT(caldera::testing::SameTree(root, whole.documents[i].root));
    caldera::fuzz::CheckRoundTrip(root);
  }
  return 0;
}
