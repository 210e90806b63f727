// Deserved shares: weighted water filling over a queue tree, exactly, one resource at a time.
//   deserved_i = max(guarantee_i, min(cap_i, level x weight_i)),
// the level chosen so that siblings sum to what their parent has (or every one is at its cap);
// whole units, leftovers by largest remainder, ties by position. Cost: a few passes over the
// siblings that are not yet pinned. Source: DESIGN 5; Volcano's proportion plugin with its pitfalls
// mended (reference vectors P1 to P8 are tests).
// Example: total 12000, weights 1 2 3, caps 1000 20000 20000 -> 1000 4400 6600.
#pragma once

#include <cstdint>
#include <vector>

namespace caldera {

/// One child of one parent, for one resource.
struct EntitlementInput {
  int64_t weight = 1;     ///< >= 1.
  int64_t guarantee = 0;  ///< >= 0; above cap it still holds.
  int64_t cap = 0;        ///< min(demand, capability, spec.deserved); kUnlimited is no cap.
};

struct EntitlementShare {
  int64_t deserved = 0;
  /// deserved, or one more where rounding took a part of a unit away: the within-deserved test uses
  /// this, so that a queue is never kept from a device that it owns most of.
  int64_t within = 0;
};

/// What is left of `guarantees` where together they are more than `total`: each in proportion,
/// exactly (largest remainder, ties by position); unchanged where they fit.
std::vector<int64_t> ScaleDown(int64_t total, std::vector<int64_t> guarantees);

/// Shares of `total` (>= 0) among `children`. Guarantees above the total are scaled down in
/// proportion (largest remainder). The sum is min(total, sum of max(guarantee, cap)).
std::vector<EntitlementShare> Entitle(int64_t total, const std::vector<EntitlementInput>& children);

}  // namespace caldera
