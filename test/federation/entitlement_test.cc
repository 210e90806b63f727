#include "federation/entitlement.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "federation/resources.h"

namespace caldera {
namespace {

using Input = std::vector<EntitlementInput>;

std::vector<int64_t> Deserved(int64_t total, const Input& children) {
  std::vector<int64_t> amounts;
  for (const EntitlementShare& share : Entitle(total, children)) {
    amounts.push_back(share.deserved);
  }
  return amounts;
}

using Amounts = std::vector<int64_t>;
constexpr int64_t kGi = int64_t{1} << 30U;

// {weight, guarantee, cap}; the names are those of the reference vectors.
TEST_CASE("entitlement: Volcano's vectors P1 to P8 and one resource at a time") {
  CHECK(Deserved(10000, {{1, 0, 10000}, {1, 0, 10000}}) == Amounts{5000, 5000});  // P1
  CHECK(Deserved(12000, {{1, 0, 1000}, {2, 0, 20000}, {3, 0, 20000}}) ==          // P2
        Amounts{1000, 4400, 6600});
  // P3: Volcano ends at 89999.94 cpu after eleven rounds; ours ends at the whole.
  CHECK(Deserved(100000, {{1, 0, 10000}, {3, 0, 90000}}) == Amounts{10000, 90000});
  CHECK(Deserved(8000, {{1, 0, 8000}, {3, 0, 2000}}) == Amounts{6000, 2000});
  CHECK(Deserved(10000, {{1, 4000, 0}, {1, 0, 10000}}) == Amounts{4000, 6000});  // P4
  CHECK(Deserved(16000, {{1, 0, 4000}, {1, 0, 16000}, {2, 0, 2000}}) ==          // P5
        Amounts{4000, 10000, 2000});
  CHECK(Deserved(10000, {{1, 8000, 10000}, {1, 0, 10000}}) == Amounts{8000, 2000});  // P6
  CHECK(Deserved(20000, {{1, 0, 12000}, {1, 0, 2000}}) == Amounts{12000, 2000});     // P7 cpu
  CHECK(Deserved(100, {{1, 0, 2}, {1, 0, 61}}) == Amounts{2, 61});                   // P7 memory
  CHECK(Deserved(64000, {{5, 0, 64000}, {3, 0, 8000}, {2, 0, 64000}}) ==             // P8
        Amounts{40000, 8000, 16000});
}

// {weight, 0, demand} in thousandths. Armada also computes "uncapped" shares, what a queue would
// get if only its own demand grew, for its order; ours is by what is deserved now. Kueue's Q1 and
// D1 are about lending limits and usage above a nominal quota: a Queue here has neither, by design.
TEST_CASE("entitlement: Armada's capped vectors V1 to V3") {
  CHECK(Deserved(1000, {{1, 0, 1000}, {1, 0, 100}, {1, 0, 1000}}) == Amounts{450, 100, 450});
  CHECK(Deserved(1000, {{1, 0, 1000}, {1, 0, 100}, {2, 0, 400}, {1, 0, 50}}) ==
        Amounts{450, 100, 400, 50});
  CHECK(Deserved(1000, {{1, 0, 200}, {1, 0, 100}}) == Amounts{200, 100});
}

TEST_CASE("entitlement: an idle queue's guarantee is not shared out") {
  // Volcano gives 5 and 5: the reserve of the idle queue is gone.
  CHECK(Deserved(10, {{1, 4, 0}, {1, 0, 10}, {1, 0, 10}}) == Amounts{4, 3, 3});
}

TEST_CASE("entitlement: extreme weights - case c11") {
  CHECK(Deserved(1000'000, {{65535, 0, 96'000}, {1, 0, 960'000}}) == Amounts{96'000, 904'000});
  CHECK(Deserved(1200 * kGi, {{65535, 0, 350 * kGi}, {1, 0, 900 * kGi}}) ==
        Amounts{350 * kGi, 850 * kGi});
  for (const int64_t vip : {1, 2, 7, 65535}) {
    for (const int64_t bulk : {1, 2, 7, 65535}) {
      const Amounts cpu = Deserved(1000'000, {{vip, 0, 96'000}, {bulk, 0, 960'000}});
      CHECK(cpu[0] + cpu[1] == 1000'000);
      const Amounts memory = Deserved(1200 * kGi, {{vip, 0, 350 * kGi}, {bulk, 0, 900 * kGi}});
      CHECK(memory[0] + memory[1] == 1200 * kGi);
    }
  }
}

TEST_CASE("entitlement: whole units and the rest by largest remainder and then by position") {
  CHECK(Deserved(10, {{1, 0, 10}, {1, 0, 10}, {1, 0, 10}}) == Amounts{4, 3, 3});
  CHECK(Deserved(10, {{1, 0, 10}, {2, 0, 10}, {3, 0, 10}}) == Amounts{2, 3, 5});
  CHECK(Deserved(0, {{1, 0, 10}, {2, 0, 10}}) == Amounts{0, 0});
  CHECK(Deserved(7, {}).empty());
}

TEST_CASE("entitlement: within rounds a part of a unit up") {
  const auto shares = Entitle(10, {{1, 0, 10}, {1, 0, 10}, {1, 0, 10}});
  CHECK(shares[0].within == 4);
  CHECK(shares[1].within == 4);
  CHECK(shares[2].within == 4);
  CHECK(Entitle(9, {{1, 0, 10}, {1, 0, 10}, {1, 0, 10}})[1].within == 3);
}

TEST_CASE("entitlement: guarantees above the total shrink in proportion") {
  CHECK(Deserved(10, {{1, 10, 0}, {9, 20, 50}}) == Amounts{3, 7});
  CHECK(ScaleDown(10, {10, 20}) == Amounts{3, 7});
  CHECK(ScaleDown(30, {10, 20}) == Amounts{10, 20});
  CHECK(ScaleDown(0, {0, 0}) == Amounts{0, 0});
}

TEST_CASE("entitlement: amounts at the end of the range do not wrap") {
  constexpr int64_t kMost = kUnlimited;
  CHECK(Deserved(kMost, {{65535, 0, kMost}, {65535, 0, kMost}}) ==
        Amounts{kMost / 2 + 1, kMost / 2});
  CHECK(Deserved(kMost, {{1, 0, kMost}}) == Amounts{kMost});
  CHECK(ScaleDown(kMost, {kMost, kMost, kMost}) == Amounts{kMost / 3 + 1, kMost / 3, kMost / 3});
}

/// The level found by bisection on fine steps instead of by pinning.
int64_t SumAt(Int128 level_times_many, int64_t many, const Input& children) {
  Int128 sum = 0;
  for (const EntitlementInput& child : children) {
    const Int128 filled = level_times_many * child.weight / many;
    sum += std::max<Int128>(child.guarantee, std::min<Int128>(child.cap, filled));
  }
  return static_cast<int64_t>(sum);
}

TEST_CASE("entitlement: against a search for the level and on random siblings") {
  std::mt19937_64 random(11);
  const auto pick = [&](uint64_t most) { return static_cast<int64_t>(random() % (most + 1)); };
  for (int round = 0; round < 3000; ++round) {
    Input children(1 + static_cast<size_t>(pick(6)));
    Int128 floors = 0;
    Int128 ceilings = 0;
    for (EntitlementInput& child : children) {
      child = {1 + pick(9), pick(3) == 0 ? pick(60) : 0, pick(200)};
      floors += child.guarantee;
      ceilings += std::max(child.guarantee, child.cap);
    }
    const int64_t total = pick(600);
    const Amounts deserved = Deserved(total, children);
    const Int128 sum = std::accumulate(deserved.begin(), deserved.end(), Int128{0});
    CHECK(sum == std::min<Int128>(total, ceilings));
    if (floors > total) {
      continue;
    }
    // Every share is what the level gives, give or take the rounding of one unit.
    constexpr int64_t kMany = 1'000'000;
    Int128 low = 0;
    Int128 high = Int128{1000} * kMany;
    while (low < high) {
      const Int128 middle = (low + high) / 2;
      if (SumAt(middle, kMany, children) >= std::min<Int128>(total, ceilings)) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    for (size_t i = 0; i < children.size(); ++i) {
      const auto filled = static_cast<int64_t>(low * children[i].weight / kMany);
      const int64_t expected = std::max(children[i].guarantee, std::min(children[i].cap, filled));
      CHECK(std::abs(deserved[i] - expected) <= static_cast<int64_t>(children.size()));
      CHECK(deserved[i] >= children[i].guarantee);
      CHECK(deserved[i] <= std::max(children[i].guarantee, children[i].cap));
    }
  }
}

}  // namespace
}  // namespace caldera
