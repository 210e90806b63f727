#include "federation/entitlement.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "federation/assert.h"
#include "federation/quantity.h"

namespace caldera {

namespace {

/// Quotient and remainder of amounts >= 0; most products fit into 64 bits, where to divide is
/// several times cheaper.
std::pair<int64_t, Int128> Divide(Int128 product, Int128 sum) {
  constexpr Int128 kMost = std::numeric_limits<int64_t>::max();
  if (product <= kMost && sum <= kMost) {
    const auto quotient = static_cast<int64_t>(product) / static_cast<int64_t>(sum);
    return {quotient, product - quotient * sum};
  }
  const auto quotient = static_cast<int64_t>(product / sum);
  return {quotient, product - quotient * sum};
}

/// `total` among `those` of the shares by weight, in whole units: floors, then one more for the
/// largest remainders, ties by position. `within` is one more than `deserved` where a part of a
/// unit was taken away. `sum`: of their weights.
template <typename Weight>
void Proportion(Int128 total, Int128 sum, const std::vector<uint32_t>& those, const Weight& weight,
                std::vector<EntitlementShare>& shares) {
  std::vector<std::pair<Int128, uint32_t>> remainders;
  remainders.reserve(those.size());
  Int128 left = total;
  for (const uint32_t i : those) {
    const auto [floor, remainder] = Divide(total * weight(i), sum);
    shares[i] = {floor, floor + (remainder > 0 ? 1 : 0)};
    left -= floor;
    if (remainder > 0) {
      remainders.emplace_back(-remainder, i);
    }
  }
  // The remainders come to `left` times the sum, and each is less than it.
  const auto end = remainders.begin() + static_cast<std::ptrdiff_t>(left);
  if (end != remainders.end()) {
    std::nth_element(remainders.begin(), end, remainders.end());
  }
  for (auto it = remainders.begin(); it != end; ++it) {
    ++shares[it->second].deserved;
  }
}

std::vector<uint32_t> Positions(size_t count) {
  std::vector<uint32_t> positions(count);
  std::iota(positions.begin(), positions.end(), 0U);
  return positions;
}

/// Siblings whose share still follows the level, and those that are pinned at a bound.
class Filling {
 public:
  Filling(int64_t total, const std::vector<EntitlementInput>& children)
      : children_(children),
        shares_(children.size()),
        open_(Positions(children.size())),
        left_(total) {
    for (const uint32_t i : open_) {
      weights_ += Weight(i);
    }
  }

  /// While the broken floors outweigh the broken ceilings the level has to fall, so what is below
  /// its floor now stays there and is pinned; the other way round for ceilings. Each pass pins at
  /// least one.
  std::vector<EntitlementShare> Fill() {
    while (Pin(Violation())) {
    }
    if (!open_.empty()) {
      Proportion(
          left_, weights_, open_, [this](uint32_t i) { return Weight(i); }, shares_);
    }
    return std::move(shares_);
  }

 private:
  [[nodiscard]] Int128 Weight(size_t i) const { return std::max<int64_t>(children_[i].weight, 1); }
  [[nodiscard]] int64_t Floor(size_t i) const { return children_[i].guarantee; }
  [[nodiscard]] int64_t Ceiling(size_t i) const {
    return std::max(children_[i].guarantee, children_[i].cap);
  }
  // Level x weight against a bound, both times the sum of the open weights: no division.
  [[nodiscard]] bool BelowFloor(size_t i) const { return left_ * Weight(i) < Floor(i) * weights_; }
  [[nodiscard]] bool AboveCeiling(size_t i) const {
    return left_ * Weight(i) > Ceiling(i) * weights_;
  }

  /// By how much the bounds move the sum of the open shares, times the sum of the weights.
  [[nodiscard]] Int128 Violation() const {
    Int128 violation = 0;
    for (const uint32_t i : open_) {
      if (BelowFloor(i)) {
        violation += Floor(i) * weights_ - left_ * Weight(i);
      } else if (AboveCeiling(i)) {
        violation += Ceiling(i) * weights_ - left_ * Weight(i);
      }
    }
    return violation;
  }

  bool Pin(Int128 violation) {
    Int128 left = left_;
    Int128 weights = weights_;
    const size_t pinned = std::erase_if(open_, [&](uint32_t i) {
      const bool at_floor = violation >= 0 && BelowFloor(i);
      if (!at_floor && !(violation <= 0 && AboveCeiling(i))) {
        return false;
      }
      const int64_t bound = at_floor ? Floor(i) : Ceiling(i);
      shares_[i] = {bound, bound};
      left -= bound;
      weights -= Weight(i);
      return true;
    });
    left_ = left;
    weights_ = weights;
    return pinned > 0;
  }

  const std::vector<EntitlementInput>& children_;
  std::vector<EntitlementShare> shares_;
  std::vector<uint32_t> open_;
  Int128 left_;
  Int128 weights_ = 0;
};

}  // namespace

std::vector<int64_t> ScaleDown(int64_t total, std::vector<int64_t> guarantees) {
  const Int128 sum = std::accumulate(guarantees.begin(), guarantees.end(), Int128{0});
  if (sum <= total) {
    return guarantees;
  }
  // Only the ratio counts, and a product of two int64 fits.
  std::vector<EntitlementShare> shares(guarantees.size());
  Proportion(
      total, sum, Positions(shares.size()), [&](uint32_t i) { return Int128{guarantees[i]}; },
      shares);
  for (size_t i = 0; i < shares.size(); ++i) {
    guarantees[i] = shares[i].deserved;
  }
  return guarantees;
}

std::vector<EntitlementShare> Entitle(int64_t total,
                                      const std::vector<EntitlementInput>& children) {
  CALDERA_ASSERT(total >= 0);
  Int128 floors = 0;
  Int128 ceilings = 0;
  for (const EntitlementInput& child : children) {
    floors += child.guarantee;
    ceilings += std::max(child.guarantee, child.cap);
  }
  if (floors > total) {
    std::vector<EntitlementShare> shares(children.size());
    Proportion(
        total, floors, Positions(shares.size()),
        [&](uint32_t i) { return Int128{children[i].guarantee}; }, shares);
    return shares;
  }
  if (ceilings <= total) {
    std::vector<EntitlementShare> shares;
    shares.reserve(children.size());
    for (const EntitlementInput& child : children) {
      const int64_t ceiling = std::max(child.guarantee, child.cap);
      shares.push_back({ceiling, ceiling});
    }
    return shares;
  }
  return Filling(total, children).Fill();
}

}  // namespace caldera
