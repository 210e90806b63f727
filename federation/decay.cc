#include "federation/decay.h"

#include <array>
#include <cstddef>

#include "federation/assert.h"
#include "federation/quantity.h"

namespace caldera {

namespace {

__extension__ using Wide = unsigned __int128;

/// Bits after the point while factors are multiplied.
constexpr int kBits = 62;

constexpr uint64_t SquareRoot(Wide value) {
  Wide low = 0;
  Wide high = Wide{1} << 63U;
  while (low < high) {
    const Wide middle = (low + high + 1) / 2;
    if (middle * middle <= value) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return static_cast<uint64_t>(low);
}

/// Entry k is 2^(-1 / 2^(k+1)): each is the square root of the one before it.
constexpr auto kRoots = [] {
  std::array<uint64_t, 48> roots{};
  uint64_t root = uint64_t{1} << (kBits - 1U);
  for (uint64_t& entry : roots) {
    root = SquareRoot(Wide{root} << unsigned{kBits});
    entry = root;
  }
  return roots;
}();

}  // namespace

int64_t DecayFactor(Millis elapsed, Millis half_life) {
  CALDERA_ASSERT(half_life > Millis(0));
  if (elapsed <= Millis(0)) {
    return kDecayOne;
  }
  const int64_t halvings = elapsed / half_life;
  if (halvings > kDecayBits) {
    return 0;
  }
  // The binary digits of what is left of a half-life say which roots to multiply.
  Wide rest = static_cast<uint64_t>((elapsed % half_life).count());
  const Wide whole = static_cast<uint64_t>(half_life.count());
  uint64_t factor = uint64_t{1} << unsigned{kBits};
  for (const uint64_t root : kRoots) {
    rest *= 2;
    if (rest >= whole) {
      rest -= whole;
      factor = static_cast<uint64_t>((Wide{factor} * root) >> unsigned{kBits});
    }
    if (rest == 0) {
      break;
    }
  }
  return static_cast<int64_t>(factor >> static_cast<unsigned>(kBits - kDecayBits + halvings));
}

}  // namespace caldera
