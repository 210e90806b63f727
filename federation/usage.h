// What somebody used lately: the amounts held, averaged with a weight that halves every half-life,
//   u(t + dt) = u(t) * 2^(-dt / H) + held * (1 - 2^(-dt / H)),
// so that who held 8 for a long time has 8, and 4 one half-life later. Source: DESIGN 5.
// Kept as the value at an anchor, which moves only when what is held changes: the value at a time
// does not depend on how often anybody looked. Times are cut to a grid of 10 s; of several changes
// in one cell the last one counts for all of it. A value.
#pragma once

#include <vector>

#include "federation/resources.h"
#include "federation/time.h"

namespace caldera {

/// Usage is looked at in steps of this.
inline constexpr Millis kUsageGrid{10'000};

/// Amounts in 2^-16 of a unit: a part of a device counts. By ResourceIndex; beyond its size, 0.
using UsageVector = std::vector<Int128>;
inline constexpr int64_t kUsageOne = int64_t{1} << 16U;
/// into += from.
void AddUsage(UsageVector& into, const UsageVector& from);
inline Int128 UsageOf(const UsageVector& usage, ResourceIndex r) {
  return r < usage.size() ? usage[r] : Int128{0};
}

class Usage {
 public:
  /// A value as it is stored: `whole` + `part` / 2^16 at `anchor`.
  struct Stored {
    Time anchor;
    ResourceVector whole;
    ResourceVector part;
  };

  /// From `now` on, `held` is held. `half_life` <= 0: what is held is the usage.
  void Hold(Time now, Millis half_life, const ResourceVector& held);
  [[nodiscard]] UsageVector At(Time now, Millis half_life) const;
  /// The value at `now` becomes the anchor, so that another half-life may hold from then on.
  void Anchor(Time now, Millis half_life);

  [[nodiscard]] Stored Store() const;
  /// As stored, with what is held now.
  void Restore(const Stored& stored);
  /// Nothing held, and nothing left of what was at its anchor.
  [[nodiscard]] bool IsZero() const;

 private:
  [[nodiscard]] Int128 Amount(ResourceIndex r, int64_t factor) const;

  Time anchor_;
  UsageVector value_;
  ResourceVector held_;
};

}  // namespace caldera
