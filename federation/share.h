// Parts of a whole as integers, so that every machine orders them alike.
#pragma once

#include <algorithm>
#include <cstdint>

#include "federation/quantity.h"
#include "federation/resources.h"

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

}  // namespace caldera
