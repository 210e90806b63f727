// Parts of a whole as integers, so that every machine orders them alike.
#pragma once

#include <algorithm>
#include <cstdint>

#include "federation/quantity.h"
#include "federation/resources.h"
#include "federation/usage.h"

namespace caldera {

/// floor(amount * 2^32 / (whole * weight)), saturating; of nothing: 0 of 0 is 0, more is the
/// maximum. Negative amounts count as 0.
inline int64_t Share(int64_t amount, int64_t whole, int64_t weight = 1) {
  if (amount <= 0) {
    return 0;
  }
  if (whole <= 0) {
    return kUnlimited;
  }
  const Int128 share = (Int128{amount} << 32U) / (Int128{whole} * weight);
  return share > kUnlimited ? kUnlimited : static_cast<int64_t>(share);
}

/// A mix of what is held and what was used lately, in 2^-16 thousandths of a unit.
inline Int128 Blend(int64_t held, Int128 used, int32_t usage_weight) {
  return Int128{held} * kUsageOne * (1000 - usage_weight) + used * usage_weight;
}

/// Share of a Blend in whole units of the same.
inline int64_t BlendShare(Int128 blend, int64_t whole) {
  if (blend <= 0) {
    return 0;
  }
  if (whole <= 0) {
    return kUnlimited;
  }
  const Int128 share = (blend << 32U) / (Int128{whole} * kUsageOne * 1000);
  return share > kUnlimited ? kUnlimited : static_cast<int64_t>(share);
}

/// Share of a Blend in another, divided by a weight.
inline int64_t BlendShare(Int128 part, Int128 whole, int64_t weight) {
  if (part <= 0) {
    return 0;
  }
  // A part is at most 2^89.
  const Int128 share = (part << 32U) / std::max<Int128>(whole, 1);
  return static_cast<int64_t>(std::min<Int128>(share / weight, kUnlimited));
}

}  // namespace caldera
