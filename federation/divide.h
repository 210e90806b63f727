// A whole number divided by weights: Webster's method (highest averages with divisors 1, 3, 5 ...),
// as Karmada divides replicas by static weights. Exact, and monotone: with a larger total nobody
// gets less.
#pragma once

#include <cstdint>
#include <vector>

namespace caldera {

struct Claim {
  int64_t weight = 0;
  int64_t most = 0;  ///< It gets no more than this.
};

/// What each gets of `total`, in the order of `parts`; of equal claims the one goes first that has
/// less so far, then the one that stands first. Who weighs nothing gets nothing. The sum is `total`
/// unless nobody can take more. O(n^2) at most, whatever the total.
/// Example: 5 by weights 170, 110, 60 -> 2, 2, 1.
std::vector<int64_t> DivideByWeight(int64_t total, const std::vector<Claim>& parts);

}  // namespace caldera
