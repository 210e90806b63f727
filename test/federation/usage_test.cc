#include "federation/usage.h"

#include <doctest/doctest.h>

#include "federation/decay.h"

namespace caldera {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

const Time kStart{Millis(1'700'000'000'000)};

ResourceVector Cpu(int64_t milli) {
  ResourceVector amounts;
  amounts.Set(0, milli);
  return amounts;
}

/// Whole units at `time`, rounded down.
int64_t Whole(const Usage& usage, Time time, Millis half_life) {
  return static_cast<int64_t>(UsageOf(usage.At(time, half_life), 0) / kUsageOne);
}

TEST_CASE("A factor is one half after a half-life and its square root after half of one") {
  CHECK(DecayFactor(hours(0), hours(1)) == kDecayOne);
  CHECK(DecayFactor(hours(1), hours(1)) == kDecayOne / 2);
  CHECK(DecayFactor(hours(7), hours(1)) == kDecayOne / 128);
  const int64_t root = DecayFactor(minutes(30), hours(1));
  CHECK(Int128{root} * root <= Int128{kDecayOne} * (kDecayOne / 2));
  CHECK(Int128{root + 1} * (root + 1) > Int128{kDecayOne} * (kDecayOne / 2));
  CHECK(DecayFactor(hours(1000), hours(1)) == 0);
  CHECK(DecayFactor(hours(-1), hours(1)) == kDecayOne);
}

TEST_CASE("Vector V5: a day of a half-life of a week leaves 0.905724 and the week one half") {
  // 2^(-1/7) * 10^6, rounded down.
  CHECK(Int128{DecayFactor(hours(24), hours(24 * 7))} * 1'000'000 / kDecayOne == 905'723);
  CHECK(DecayFactor(hours(24 * 7), hours(24 * 7)) == kDecayOne / 2);
  CHECK(DecayFactor(minutes(10), minutes(10)) == kDecayOne / 2);
}

TEST_CASE("Vector H1: constant use of 8 cpu comes to 4 in a half-life and goes to 1 in two more") {
  Usage usage;
  usage.Hold(kStart, hours(1), Cpu(8000));
  CHECK(Whole(usage, kStart, hours(1)) == 0);
  // 8 * (1 - 2^(-1/12)) after the first of twelve steps.
  CHECK(Whole(usage, kStart + minutes(5), hours(1)) == 449);
  CHECK(Whole(usage, kStart + hours(1), hours(1)) == 4000);
  usage.Hold(kStart + hours(1), hours(1), Cpu(0));
  CHECK(Whole(usage, kStart + hours(3), hours(1)) == 1000);
}

TEST_CASE("Looking often changes nothing") {
  Usage often;
  Usage once;
  often.Hold(kStart, hours(1), Cpu(8000));
  once.Hold(kStart, hours(1), Cpu(8000));
  for (int step = 1; step <= 12; ++step) {
    often.Hold(kStart + minutes(5) * step, hours(1), Cpu(8000));
    CHECK(often.At(kStart + minutes(5) * step, hours(1)) ==
          once.At(kStart + minutes(5) * step, hours(1)));
  }
}

TEST_CASE("Of several changes in one cell of the grid the last counts") {
  const Time cell{Millis(1'700'000'000'000)};
  Usage a;
  Usage b;
  a.Hold(cell + seconds(1), hours(1), Cpu(5000));
  a.Hold(cell + seconds(9), hours(1), Cpu(8000));
  b.Hold(cell + seconds(3), hours(1), Cpu(8000));
  CHECK(a.At(cell + hours(2), hours(1)) == b.At(cell + hours(2), hours(1)));
}

TEST_CASE("Without a half-life the usage is what is held") {
  Usage usage;
  usage.Hold(kStart, Millis(0), Cpu(8000));
  CHECK(Whole(usage, kStart, Millis(0)) == 8000);
  usage.Hold(kStart, Millis(0), Cpu(0));
  CHECK(Whole(usage, kStart + hours(1), Millis(0)) == 0);
}

TEST_CASE("What is stored comes back and goes on as before") {
  Usage usage;
  usage.Hold(kStart, hours(1), Cpu(7777));
  usage.Hold(kStart + minutes(17), hours(1), Cpu(333));
  Usage again;
  again.Hold(kStart + hours(9), hours(1), Cpu(333));
  again.Restore(usage.Store());
  for (const auto later : {minutes(17), minutes(18), minutes(600)}) {
    CHECK(again.At(kStart + later, hours(1)) == usage.At(kStart + later, hours(1)));
  }
  CHECK(!again.IsZero());
  CHECK(Usage().IsZero());
}

TEST_CASE("The largest amounts do not overflow") {
  Usage usage;
  usage.Hold(kStart, hours(1), Cpu(kUnlimited));
  CHECK(Whole(usage, kStart + hours(1), hours(1)) == kUnlimited / 2);
  usage.Hold(kStart + hours(100), hours(1), Cpu(0));
  CHECK(Whole(usage, kStart + hours(101), hours(1)) == kUnlimited / 2);
}

}  // namespace
}  // namespace caldera
