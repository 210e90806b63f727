#include "federation/queue_state.h"

#include "federation/codec_fields.h"

namespace caldera {

std::string_view QueueStateName(QueueState state) {
  // The journal's names are Volcano's.
  constexpr auto kNames = codec::NamesOf(static_cast<const QueueState*>(nullptr));
  for (const auto& [each, name] : kNames) {
    if (each == state) {
      return name;
    }
  }
  return "Unknown";
}

}  // namespace caldera
