// Any bytes as JSON: no crash, clear errors, and every document survives both writers.
#include <cstdint>
#include <string_view>

#include "controller/kube/json_reader.h"
#include "test/fuzz/round_trip.h"

// The name and the type are libFuzzer's.
// NOLINTNEXTLINE(readability-identifier-naming)
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): bytes are characters.
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  caldera::ReadReport report;
  caldera::ReadJson(
      text, "in.json",
      [](const caldera::Document& document) { caldera::fuzz::CheckRoundTrip(document.root); },
      report);
  caldera::fuzz::CheckReport(report);
  return 0;
}
