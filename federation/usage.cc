#include "federation/usage.h"

#include <algorithm>

#include "federation/decay.h"

namespace caldera {

namespace {

Time OnGrid(Time time) { return time - time.time_since_epoch() % kUsageGrid; }

/// What is left of the difference to what is held.
int64_t FactorAt(Time anchor, Time now, Millis half_life) {
  if (half_life <= Millis(0)) {
    return 0;
  }
  return DecayFactor(OnGrid(now) - anchor, half_life);
}

}  // namespace

void AddUsage(UsageVector& into, const UsageVector& from) {
  into.resize(std::max(into.size(), from.size()), 0);
  for (size_t r = 0; r < from.size(); ++r) {
    into[r] += from[r];
  }
}

void Usage::Hold(Time now, Millis half_life, const ResourceVector& held) {
  if (held == held_) {
    return;
  }
  Anchor(now, half_life);
  held_ = held;
}

void Usage::Anchor(Time now, Millis half_life) {
  value_ = At(now, half_life);
  anchor_ = OnGrid(now);
}

UsageVector Usage::At(Time now, Millis half_life) const {
  const int64_t factor = FactorAt(anchor_, now, half_life);
  UsageVector amounts(std::max(value_.size(), held_.size()));
  for (ResourceIndex r = 0; r < amounts.size(); ++r) {
    amounts[r] = Amount(r, factor);
  }
  return amounts;
}

/// Both are at most 2^79 and the factor at most 2^44: no overflow.
Int128 Usage::Amount(ResourceIndex r, int64_t factor) const {
  const Int128 held = Int128{held_[r]} * kUsageOne;
  return held + (UsageOf(value_, r) - held) * factor / kDecayOne;
}

Usage::Stored Usage::Store() const {
  Stored stored{anchor_, {}, {}};
  for (ResourceIndex r = 0; r < value_.size(); ++r) {
    if (value_[r] != 0) {
      stored.whole.Set(r, static_cast<int64_t>(value_[r] / kUsageOne));
      stored.part.Set(r, static_cast<int64_t>(value_[r] % kUsageOne));
    }
  }
  return stored;
}

void Usage::Restore(const Stored& stored) {
  anchor_ = stored.anchor;
  value_.assign(std::max(stored.whole.size(), stored.part.size()), 0);
  for (ResourceIndex r = 0; r < value_.size(); ++r) {
    value_[r] = Int128{stored.whole[r]} * kUsageOne + stored.part[r];
  }
}

bool Usage::IsZero() const {
  return held_.IsZero() &&
         std::all_of(value_.begin(), value_.end(), [](Int128 value) { return value == 0; });
}

}  // namespace caldera
