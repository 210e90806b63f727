#include "controller/cli/random.h"

#include <array>
#include <bit>
#include <limits>

#include "federation/quantity.h"

namespace caldera {

namespace {

__extension__ using UInt128 = unsigned __int128;

constexpr uint64_t kGolden = 0x9E3779B97F4A7C15ULL;

constexpr uint64_t Mixed(uint64_t z) {
  z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27U)) * 0x94D049BB133111EBULL;
  return z ^ (z >> 31U);
}

constexpr UInt128 kOneQ62 = UInt128{1} << 62U;

/// The whole part of the square root.
constexpr UInt128 Root(UInt128 x) {
  UInt128 root = 0;
  for (unsigned bit = 64; bit-- > 0;) {
    const UInt128 next = root | (UInt128{1} << bit);
    if (next * next <= x) {
      root = next;
    }
  }
  return root;
}

/// 2^(1/2), 2^(1/4), ... in fixed point of 62 fraction bits.
constexpr std::array<UInt128, 32> kRoots = [] {
  std::array<UInt128, 32> roots{};
  UInt128 x = 2 * kOneQ62;
  for (UInt128& root : roots) {
    x = Root(x << 62U);
    root = x;
  }
  return roots;
}();

constexpr int64_t kLn2Q32 = 2977044472;    // ln(2) * 2^32
constexpr int64_t kLog2EQ32 = 6196328019;  // log2(e) * 2^32
constexpr int kNormalTerms = 12;

}  // namespace

Random::Random(uint64_t seed, uint64_t stream)
    : state_(Mixed(seed + kGolden) ^ Mixed(Mixed(stream + kGolden))) {}

uint64_t Random::Next() {
  state_ += kGolden;
  return Mixed(state_);
}

uint64_t Random::Below(uint64_t n) { return static_cast<uint64_t>((UInt128{Next()} * n) >> 64U); }

int64_t Log2Q32(uint64_t x) {
  const int whole = static_cast<int>(std::bit_width(x)) - 1;
  // In [1, 2), with 63 fraction bits; squared, its logarithm doubles: one more bit each time.
  uint64_t y = x << static_cast<unsigned>(63 - whole);
  int64_t fraction = 0;
  for (int bit = 31; bit >= 0; --bit) {
    const UInt128 square = (UInt128{y} * y) >> 63U;
    if ((square >> 64U) != 0) {
      fraction |= int64_t{1} << static_cast<unsigned>(bit);
      y = static_cast<uint64_t>(square >> 1U);
    } else {
      y = static_cast<uint64_t>(square);
    }
  }
  return (int64_t{whole} << 32U) + fraction;
}

int64_t TimesExp2Q32(int64_t amount, int64_t exponent) {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  const int64_t whole = exponent >> 32U;
  const auto fraction = static_cast<uint64_t>(exponent) & 0xFFFFFFFFU;
  UInt128 factor = kOneQ62;
  for (unsigned k = 0; k < kRoots.size(); ++k) {
    if (((fraction >> (31 - k)) & 1U) != 0) {
      factor = (factor * kRoots[k]) >> 62U;
    }
  }
  if (amount == 0 || whole < -63) {
    return 0;
  }
  // Below 2 * amount, so that a shift tells whether it still fits.
  const UInt128 scaled = (UInt128{static_cast<uint64_t>(amount)} * factor) >> 62U;
  if (whole <= 0) {
    return static_cast<int64_t>(scaled >> static_cast<unsigned>(-whole));
  }
  if (whole >= 63 ||
      scaled > (UInt128{static_cast<uint64_t>(kMax)} >> static_cast<unsigned>(whole))) {
    return kMax;
  }
  return static_cast<int64_t>(scaled << static_cast<unsigned>(whole));
}

int64_t SpanLaw::Draw(Random& random) const {
  switch (kind_) {
    case Kind::kFixed:
      return a_;
    case Kind::kUniform:
      return a_ + static_cast<int64_t>(random.Below(static_cast<uint64_t>(b_ - a_) + 1));
    case Kind::kExponential: {
      // -ln(u) for u in (0, 1].
      const uint64_t u = (random.Next() >> 1U) + 1;
      const Int128 negative_log2 = (Int128{63} << 32U) - Log2Q32(u);
      const Int128 factor = (negative_log2 * kLn2Q32) >> 32U;
      return static_cast<int64_t>((Int128{a_} * factor) >> 32U);
    }
    case Kind::kLognormal: {
      int64_t normal = -int64_t{kNormalTerms / 2} << 32U;
      for (int k = 0; k < kNormalTerms; ++k) {
        normal += static_cast<int64_t>(random.Next() >> 32U);
      }
      const Int128 exponent = ((Int128{normal} * b_ / 1000) * kLog2EQ32) >> 32U;
      return TimesExp2Q32(a_, static_cast<int64_t>(exponent));
    }
  }
  return a_;
}

}  // namespace caldera
