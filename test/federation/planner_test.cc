#include "federation/planner.h"

#include <algorithm>
#include <random>

#include "federation/round.h"
#include "test/federation/builders.h"

namespace caldera {
namespace {

using testing::Amounts;
using testing::Fed;
using testing::Names;
using testing::Placements;

TEST_CASE("a job goes whole to the cluster that it fills best") {
  Fed fed;
  fed.AddCluster("east", "cpu=16").AddCluster("west", "cpu=8").AddJob("n/a", "default", 4, "cpu=1");
  const Plan plan = fed.Go();
  CHECK(Placements(plan) == Names{"n/a@west"});
  REQUIRE(plan.actions.size() == 1);
  const Shard& shard = plan.actions[0].shards[0];
  CHECK(shard.epoch == 1);
  CHECK(shard.min_available == 4);
  CHECK(shard.requests == Amounts("cpu=4 pods=4"));
  CHECK(plan.actions[0].reason ==
        "queue default stays within its deserved share; west is the best of 2 clusters with room "
        "(50% of its cpu stays free)");
  CHECK(fed.Go().actions.empty());
}

TEST_CASE("a job that fits at position 10000 behind blocked ones is found in the same round") {
  Fed fed;
  fed.AddCluster("east", "cpu=8");
  for (int i = 0; i < 10'000; ++i) {
    fed.AddJob("n/big" + std::to_string(i), "default", 1, "cpu=9");
  }
  fed.AddJob("n/small", "default", 1, "cpu=8");
  CHECK(Placements(fed.Go()) == Names{"n/small@east"});
}

TEST_CASE("low jobs bound to one cluster do not keep a high job from another - case c15") {
  Fed fed;
  fed.AddCluster("m1", "cpu=100").AddCluster("m2", "cpu=100");
  fed.AddPriorityClass("low", 10).AddPriorityClass("high", 100);
  fed.AddQueue("q-low").AddQueue("q-high", [](Queue& q) { q.weight = 100; });
  for (int i = 0; i < 1000; ++i) {
    fed.AddJob("n/low-" + std::to_string(i), "q-low", 1, "cpu=1", [](Job& j) {
      j.priority_class = "low";
      j.clusters.names = {"m1"};
    });
  }
  fed.AddJob("n/urgent", "q-high", 10, "cpu=1", [](Job& j) {
    j.priority_class = "high";
    j.clusters.names = {"m2"};
  });
  const Names placed = Placements(fed.Go());
  CHECK(placed.size() == 101);
  CHECK(std::count(placed.begin(), placed.end(), "n/urgent@m2") == 1);
  CHECK(fed.Go().actions.empty());
}

TEST_CASE("a job that a limit keeps back says nothing about where its queue stands") {
  Fed fed;
  fed.AddCluster("east", "cpu=4");
  fed.AddQueue("a", [](Queue& q) { q.capability = Amounts("cpu=3"); }).AddQueue("b");
  fed.AddJob("n/a0", "a", 1, "cpu=1").AddJob("n/b0", "b", 1, "cpu=1");
  fed.Go();
  // With n/big a would exceed what it deserves, and b come first.
  fed.AddJob("n/big", "a", 1, "cpu=3").AddJob("n/small", "a", 1, "cpu=1");
  fed.AddJob("n/one", "b", 1, "cpu=1");
  SUBCASE("it does not compete") {
    CHECK(Placements(fed.Go()) == Names{"n/small@east", "n/one@east"});
  }
  SUBCASE("and stops its queue where that is fifo") {
    fed.AddQueue("a", [](Queue& q) {
      q.capability = Amounts("cpu=3");
      q.dequeue_strategy = DequeueStrategy::kFifo;
    });
    CHECK(Placements(fed.Go()) == Names{"n/one@east"});
  }
}

TEST_CASE("the order of the input changes nothing") {
  Fed fed;
  fed.AddCluster("a", "cpu=10 memory=40Gi").AddCluster("b", "cpu=20 memory=10Gi");
  fed.AddQueue("x", [](Queue& q) { q.weight = 3; }).AddQueue("y").AddQueue("z", [](Queue& q) {
    q.parent = "y";
  });
  fed.AddQuota("t1", "cpu=9").AddPriorityClass("high", 7);
  for (int i = 0; i < 60; ++i) {
    const std::string queue = i % 3 == 0 ? "x" : i % 3 == 1 ? "z" : "default";
    fed.AddJob("t" + std::to_string(i % 4) + "/j" + std::to_string(i), queue, 1 + i % 2,
               i % 5 == 0 ? "cpu=2 memory=1Gi" : "cpu=500m memory=2Gi", [&](Job& j) {
                 j.priority_class = i % 7 == 0 ? "high" : "";
                 j.creation = testing::kStart + std::chrono::seconds(i / 10);
               });
  }
  const Names expected = Placements(MakePlan(fed.state));
  CHECK(expected.size() > 10);
  std::mt19937 random(7);
  for (int round = 0; round < 20; ++round) {
    std::vector<Change> changes = fed.changes;
    std::shuffle(changes.begin(), changes.end(), random);
    State state;
    for (const Change& change : changes) {
      state.Apply(change);
    }
    CHECK(Placements(MakePlan(state)) == expected);
    CHECK(WaitingOrder(Round(state)).size() == 60);
  }
}

}  // namespace
}  // namespace caldera
