// Any text as a quantity: no crash, and what is taken has a canonical text that means the same.
#include <cstdint>
#include <string_view>

#include "federation/assert.h"
#include "federation/quantity.h"
#include "federation/resources.h"

// The name and the type are libFuzzer's.
// NOLINTNEXTLINE(readability-identifier-naming)
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): bytes are characters.
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto quantity = caldera::Quantity::Parse(text);
  if (!quantity) {
    CALDERA_ASSERT(!quantity.error().message.empty());
    return 0;
  }
  const auto again = caldera::Quantity::Parse(quantity->Canonical());
  CALDERA_ASSERT(again.has_value());
  CALDERA_ASSERT(*again == *quantity);
  CALDERA_ASSERT(again->Canonical() == quantity->Canonical());
  CALDERA_ASSERT(quantity->ValueFloor() <= quantity->Value() || quantity->Negative());
  for (const char* resource : {"cpu", "memory", "nvidia.com/gpu"}) {
    if (!quantity->Negative()) {
      const int64_t request = caldera::RequestAmount(resource, *quantity);
      const int64_t capacity = caldera::CapacityAmount(resource, *quantity);
      CALDERA_ASSERT(0 <= capacity && capacity <= request);
      CALDERA_ASSERT(!caldera::FormatAmount(resource, request).empty());
    }
  }
  return 0;
}
