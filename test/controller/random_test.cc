#include "controller/cli/random.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace caldera {
namespace {

constexpr double kOne = 4294967296.0;
constexpr int kDraws = 200'000;
constexpr int64_t kHour = 3'600'000'000'000;

std::vector<int64_t> Drawn(const SpanLaw& law) {
  Random random(7, 0);
  std::vector<int64_t> spans;
  for (int i = 0; i < kDraws; ++i) {
    spans.push_back(law.Draw(random));
  }
  std::sort(spans.begin(), spans.end());
  return spans;
}

double Mean(const std::vector<int64_t>& spans) {
  double sum = 0;
  for (const int64_t span : spans) {
    sum += static_cast<double>(span);
  }
  return sum / static_cast<double>(spans.size());
}

TEST_CASE("the generator gives the same numbers everywhere") {
  Random random(42, 3);
  CHECK(random.Next() == UINT64_C(3118560624667052209));
  CHECK(Random(42, 3).Next() != Random(42, 4).Next());
  CHECK(Random(42, 3).Next() != Random(43, 3).Next());
}

TEST_CASE("logarithm and power are those of libm") {
  for (const uint64_t x : {UINT64_C(1), UINT64_C(2), UINT64_C(3), UINT64_C(1000), UINT64_C(65537),
                           UINT64_C(9223372036854775807), UINT64_C(18446744073709551615)}) {
    CHECK(static_cast<double>(Log2Q32(x)) / kOne ==
          doctest::Approx(std::log2(static_cast<double>(x))).epsilon(1e-9));
  }
  for (const double e : {-70.0, -3.5, -1.0, -0.25, 0.0, 0.1, 1.0, 7.75, 20.0}) {
    CHECK(static_cast<double>(TimesExp2Q32(kHour, static_cast<int64_t>(e * kOne))) ==
          doctest::Approx(std::floor(static_cast<double>(kHour) * std::exp2(e))).epsilon(1e-8));
  }
  CHECK(TimesExp2Q32(kHour, int64_t{60} << 32U) == INT64_MAX);
}

TEST_CASE("laws have their means and their tails") {
  CHECK(Drawn(SpanLaw::Fixed(5)).back() == 5);
  const auto uniform = Drawn(SpanLaw::Uniform(kHour, 3 * kHour));
  CHECK(uniform.front() >= kHour);
  CHECK(uniform.back() <= 3 * kHour);
  CHECK(Mean(uniform) == doctest::Approx(2.0 * kHour).epsilon(0.01));
  const auto exponential = Drawn(SpanLaw::Exponential(kHour));
  CHECK(exponential.front() >= 0);
  CHECK(Mean(exponential) == doctest::Approx(1.0 * kHour).epsilon(0.01));
  CHECK(static_cast<double>(exponential[kDraws * 99 / 100]) ==
        doctest::Approx(std::log(100.0) * kHour).epsilon(0.02));
  const auto lognormal = Drawn(SpanLaw::Lognormal(kHour, 500));
  CHECK(static_cast<double>(lognormal[kDraws / 2]) == doctest::Approx(1.0 * kHour).epsilon(0.01));
  // The 84th percentile of a normal variable is one sigma above its median.
  CHECK(static_cast<double>(lognormal[kDraws * 8413 / 10000]) ==
        doctest::Approx(std::exp(0.5) * kHour).epsilon(0.02));
  CHECK(Mean(lognormal) == doctest::Approx(std::exp(0.125) * kHour).epsilon(0.01));
}

}  // namespace
}  // namespace caldera
