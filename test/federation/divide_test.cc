// Weighted division: the table of case c24, and what holds of any division.
#include "federation/divide.h"

#include <doctest/doctest.h>

#include <numeric>
#include <random>
#include <vector>

namespace caldera {
namespace {

constexpr int64_t kAny = int64_t{1} << 40U;
using Shares = std::vector<int64_t>;

Shares Divide(int64_t total, const Shares& weights, int64_t most = kAny) {
  std::vector<Claim> claims;
  for (const int64_t weight : weights) {
    claims.push_back({weight, most});
  }
  return DivideByWeight(total, claims);
}

int64_t Sum(const Shares& shares) {
  return std::accumulate(shares.begin(), shares.end(), int64_t{0});
}

TEST_CASE("divide: one by one is what all at once gives") {
  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) {
    std::vector<Claim> claims(1 + random() % 6);
    for (Claim& claim : claims) {
      claim = {static_cast<int64_t>(random() % 12), static_cast<int64_t>(random() % 40)};
    }
    const auto total = static_cast<int64_t>(random() % 120);
    // Highest averages by the book.
    Shares given(claims.size(), 0);
    for (int64_t left = total; left > 0; --left) {
      size_t best = claims.size();
      for (size_t i = 0; i < claims.size(); ++i) {
        if (claims[i].weight == 0 || given[i] >= claims[i].most) {
          continue;
        }
        const auto better = [&](size_t j) {
          const int64_t a = claims[i].weight * (2 * given[j] + 1);
          const int64_t b = claims[j].weight * (2 * given[i] + 1);
          return a > b || (a == b && given[i] < given[j]);
        };
        best = best == claims.size() || better(best) ? i : best;
      }
      if (best < claims.size()) {
        ++given[best];
      }
    }
    CHECK(DivideByWeight(total, claims) == given);
  }
}

TEST_CASE("divide: nobody loses when there is more to give") {
  const Shares weights = {170, 110, 60, 1, 33};
  Shares before = Divide(0, weights);
  for (int64_t total = 1; total < 400; ++total) {
    const Shares now = Divide(total, weights);
    CHECK(Sum(now) == total);
    for (size_t i = 0; i < now.size(); ++i) {
      CHECK(now[i] >= before[i]);
    }
    before = now;
  }
}

TEST_CASE("divide: large totals and weights stay exact") {
  const int64_t total = 2'000'000'000;
  CHECK(Divide(total, {3, 1}) == Shares{1'500'000'000, 500'000'000});
  CHECK(Sum(Divide(total, {int64_t{1} << 60U, (int64_t{1} << 60U) + 1, 7})) == total);
  CHECK(Divide(total, {1, 1}, 10) == Shares{10, 10});
}

TEST_CASE("divide: nobody to give to") {
  CHECK(Divide(3, {0, 0}) == Shares{0, 0});
  CHECK(Divide(3, {}).empty());
  CHECK(Divide(0, {3, 1}) == Shares{0, 0});
}

}  // namespace
}  // namespace caldera
