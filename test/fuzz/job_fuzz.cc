// Any bytes as manifests: read, and taken as admission would. No crash, clear errors; what is
// accepted is accepted again with its defaults in, and then has nothing left to default.
#include <cstdint>
#include <string_view>
#include <utility>

#include "controller/kube/yaml_reader.h"
#include "federation/intake.h"
#include "test/fuzz/round_trip.h"

namespace {

using caldera::Document;
using caldera::Strictness;

void Take(const Document& document, Strictness strictness) {
  const caldera::Time now{caldera::Millis{1'800'000'000'000}};
  const caldera::Intake first = caldera::TakeObject(document, strictness, now);
  for (const caldera::Issue& issue : first.errors) {
    CALDERA_ASSERT(!issue.message.empty() && issue.file == document.file);
  }
  CALDERA_ASSERT(first.known || first.errors.empty() || !first.change.has_value());
  if (!first.known || !first.errors.empty()) {
    CALDERA_ASSERT(!first.change.has_value());
    return;
  }
  CALDERA_ASSERT(first.change.has_value());
  const caldera::Intake second =
      caldera::TakeObject({document.file, 0, first.defaulted}, strictness, now);
  CALDERA_ASSERT(second.errors.empty());
  CALDERA_ASSERT(second.defaulted == first.defaulted);
}

}  // namespace

// The name and the type are libFuzzer's.
// NOLINTNEXTLINE(readability-identifier-naming)
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): bytes are characters.
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  caldera::ReadReport report;
  caldera::ReadYaml(
      text, "in.yaml",
      [](const Document& document) {
        Take(document, Strictness::kNew);
        Take(document, Strictness::kStored);
      },
      report);
  caldera::fuzz::CheckReport(report);
  return 0;
}
