// What time alone changes is looked at in time, also where nothing else happens and usage counts
// not.
#include <doctest/doctest.h>

#include <chrono>

#include "test/federation/builders.h"

namespace caldera {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;
using testing::Fed;
using testing::Key;

/// Ten cpu in cluster east, queues a and b of weight 1; usage does not count, and nobody has a
/// cluster kept for waiting.
Fed WithoutUsage(const testing::Tweak<Settings>& edit = {}) {
  Fed fed;
  Settings settings;
  settings.usage_half_life = Millis(0);
  settings.reserve_after = hours(48);
  if (edit) {
    edit(settings);
  }
  fed.Do(SettingsSet{settings});
  fed.AddCluster("east", "cpu=10").AddQueue("a").AddQueue("b");
  return fed;
}

/// Rounds at NextTimed alone, until one decides something; after how long that is. Zero: none does.
Millis Decides(Fed& fed) {
  const Time start = fed.state.now();
  for (Time next = fed.state.NextTimed(); next != Time(); next = fed.state.NextTimed()) {
    REQUIRE(next > fed.state.now());
    fed.Do(ClockSet{next});
    const Plan plan = fed.Go();
    if (!plan.actions.empty() || plan.reservations.has_value()) {
      return next - start;
    }
  }
  return Millis(0);
}

TEST_CASE("who has run for its min-runtime is taken from within ten seconds") {
  for (const Millis past : {Millis(0), Millis(1), Millis(3'000), Millis(9'999)}) {
    CAPTURE(past.count());
    Fed fed = WithoutUsage([&](Settings& settings) { settings.min_runtime = minutes(10) + past; });
    fed.AddJob("n/b1", "b", 1, "cpu=5").AddJob("n/b2", "b", 1, "cpu=5");
    fed.Go();
    fed.AddJob("n/a", "a", 1, "cpu=5");
    fed.Go();
    CHECK(Decides(fed) == minutes(10) + (past == Millis(0) ? seconds(0) : seconds(10)));
    CHECK(fed.At("n/b2").Evicting());
  }
}

TEST_CASE("who was evicted too often is taken from again a day later") {
  Fed fed = WithoutUsage();
  fed.AddJob("n/b1", "b", 1, "cpu=5").AddJob("n/b2", "b", 1, "cpu=5");
  const Time start = fed.state.now();
  for (const std::string key : {"n/b1", "n/b2"}) {
    for (const Millis ago : {hours(20), hours(10), hours(1)}) {
      fed.Do(Evicted{Key(key), "uid-" + key, 1, start - ago, Key("n/gone"), "uid-n/gone"});
    }
  }
  fed.Go();
  fed.AddJob("n/a", "a", 1, "cpu=5");
  fed.Go();
  CHECK(Decides(fed) == hours(4));
  CHECK(fed.At("n/b2").Evicting());
}

TEST_CASE("where nobody may be evicted no time is waited for") {
  Fed fed = WithoutUsage([](Settings& settings) {
    settings.evictions_a_day = 0;
    settings.reserve_after = minutes(10);
  });
  fed.AddJob("n/b1", "b", 1, "cpu=5").AddJob("n/b2", "b", 1, "cpu=5");
  fed.Go();
  fed.AddJob("n/a", "a", 1, "cpu=5");
  fed.Go();
  // But for the cluster that is kept for it in the end.
  CHECK(Decides(fed) == minutes(10));
  CHECK(fed.state.reservations().front().cluster == "east");
  CHECK(Decides(fed) == Millis(0));
}

TEST_CASE("who is first for ten minutes has a cluster kept in time") {
  Fed fed = WithoutUsage([](Settings& settings) { settings.reserve_after = minutes(10); });
  fed.AddJob("n/runs", "a", 1, "cpu=6", [](Job& job) { job.preemptible = false; });
  fed.Go();
  CHECK(fed.state.NextTimed() == Time());
  fed.AddJob("n/big", "a", 1, "cpu=8");
  fed.Go();
  CHECK(Decides(fed) == minutes(10));
  REQUIRE(fed.state.reservations().size() == 1);
  CHECK(fed.state.reservations()[0].cluster == "east");
}

TEST_CASE("room that evictions made is kept for five minutes, and given up in time") {
  Fed fed = WithoutUsage([](Settings& settings) { settings.min_runtime = Millis(0); });
  fed.AddJob("n/b1", "b", 1, "cpu=5").AddJob("n/b2", "b", 1, "cpu=5");
  fed.Go();
  fed.AddJob("n/a", "a", 1, "cpu=5");
  fed.Go();
  REQUIRE(fed.At("n/b2").Evicting());
  // Somebody else's pods took the room meanwhile.
  fed.AddCluster("east", "cpu=10",
                 [](Cluster& cluster) { cluster.allocated = testing::Amounts("cpu=9"); });
  fed.Do(Released{Key("n/b2"), "uid-n/b2", 0});
  fed.Go();
  REQUIRE(fed.state.reservations().size() == 1);
  REQUIRE(fed.state.reservations()[0].evicting);
  CHECK(Decides(fed) == minutes(5));
  CHECK((fed.state.reservations().empty() || !fed.state.reservations()[0].evicting));
}

}  // namespace
}  // namespace caldera
