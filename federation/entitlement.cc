#include "federation/entitlement.h"

#include <algorithm>
#include <numeric>

#include "federation/assert.h"
#include "federation/quantity.h"

namespace caldera {

namespace {

/// `total` among `parts` by weight, in whole units: floors, then one more for the largest
/// remainders. `within` is one more than `deserved` where a part of a unit was taken away.
std::vector<EntitlementShare> Proportion(Int128 total, const std::vector<Int128>& weights) {
  const Int128 sum = std::accumulate(weights.begin(), weights.end(), Int128{0});
  std::vector<EntitlementShare> shares(weights.size());
  std::vector<Int128> remainders(weights.size());
  Int128 left = total;
  for (size_t i = 0; i < weights.size(); ++i) {
    const Int128 product = total * weights[i];
    shares[i].deserved = static_cast<int64_t>(product / sum);
    remainders[i] = product % sum;
    shares[i].within = shares[i].deserved + (remainders[i] > 0 ? 1 : 0);
    left -= shares[i].deserved;
  }
  std::vector<size_t> order(weights.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return remainders[a] > remainders[b]; });
  for (size_t k = 0; left > 0; ++k, --left) {
    ++shares[order[k]].deserved;
  }
  return shares;
}

/// Siblings whose share still follows the level, and those that are pinned at a bound.
class Filling {
 public:
  Filling(int64_t total, const std::vector<EntitlementInput>& children)
      : children_(children), shares_(children.size()), left_(total) {
    for (size_t i = 0; i < children.size(); ++i) {
      open_.push_back(i);
      weights_ += Weight(i);
    }
  }

  /// While the broken floors outweigh the broken ceilings the level has to fall, so what is below
  /// its floor now stays there and is pinned; the other way round for ceilings. Each pass pins at
  /// least one.
  std::vector<EntitlementShare> Fill() {
    while (Pin(Violation())) {
    }
    Share();
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
    for (const size_t i : open_) {
      if (BelowFloor(i)) {
        violation += Floor(i) * weights_ - left_ * Weight(i);
      } else if (AboveCeiling(i)) {
        violation += Ceiling(i) * weights_ - left_ * Weight(i);
      }
    }
    return violation;
  }

  bool Pin(Int128 violation) {
    std::vector<size_t> open;
    Int128 left = left_;
    Int128 weights = weights_;
    for (const size_t i : open_) {
      const bool at_floor = violation >= 0 && BelowFloor(i);
      const bool at_ceiling = violation <= 0 && AboveCeiling(i);
      if (!at_floor && !at_ceiling) {
        open.push_back(i);
        continue;
      }
      const int64_t bound = at_floor ? Floor(i) : Ceiling(i);
      shares_[i] = {bound, bound};
      left -= bound;
      weights -= Weight(i);
    }
    const bool pinned = open.size() < open_.size();
    open_ = std::move(open);
    left_ = left;
    weights_ = weights;
    return pinned;
  }

  void Share() {
    if (open_.empty()) {
      return;
    }
    std::vector<Int128> weights;
    weights.reserve(open_.size());
    for (const size_t i : open_) {
      weights.push_back(Weight(i));
    }
    const std::vector<EntitlementShare> shares = Proportion(left_, weights);
    for (size_t k = 0; k < open_.size(); ++k) {
      shares_[open_[k]] = shares[k];
    }
  }

  const std::vector<EntitlementInput>& children_;
  std::vector<EntitlementShare> shares_;
  std::vector<size_t> open_;
  Int128 left_;
  Int128 weights_ = 0;
};

}  // namespace

std::vector<int64_t> ScaleDown(int64_t total, const std::vector<int64_t>& guarantees) {
  const Int128 sum = std::accumulate(guarantees.begin(), guarantees.end(), Int128{0});
  if (sum <= total) {
    return guarantees;
  }
  // Only the ratio counts, and a product of two int64 fits.
  std::vector<int64_t> scaled;
  scaled.reserve(guarantees.size());
  for (const EntitlementShare& share :
       Proportion(total, std::vector<Int128>(guarantees.begin(), guarantees.end()))) {
    scaled.push_back(share.deserved);
  }
  return scaled;
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
    std::vector<Int128> guarantees;
    guarantees.reserve(children.size());
    for (const EntitlementInput& child : children) {
      guarantees.push_back(child.guarantee);
    }
    return Proportion(total, guarantees);
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
