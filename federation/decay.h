// Powers of one half as integers, so that every machine decays alike: 2^(-elapsed / half-life) as a
// multiple of 2^-44, off by less than one of those, and exactly one half after one half-life.
#pragma once

#include <cstdint>

#include "federation/time.h"

namespace caldera {

/// The unit of DecayFactor: 1.0.
inline constexpr int kDecayBits = 44;
inline constexpr int64_t kDecayOne = int64_t{1} << kDecayBits;

/// floor(2^(-elapsed / half_life) * kDecayOne), from kDecayOne for no time to 0 for very long.
/// `elapsed` below 0 counts as 0; `half_life` must be positive.
int64_t DecayFactor(Millis elapsed, Millis half_life);

}  // namespace caldera
