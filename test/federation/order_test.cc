#include "federation/order.h"

#include "federation/round.h"
#include "federation/share.h"
#include "test/federation/builders.h"

namespace caldera {
namespace {

using testing::Amounts;
using testing::Fed;
using testing::Names;
using testing::Tweak;

Names Order(const Fed& fed) {
  Names names;
  for (const JobIndex job : WaitingOrder(Round(fed.state))) {
    names.push_back(fed.state.job(job).key.name);
  }
  return names;
}

Tweak<Queue> Weight(int32_t weight) {
  return [=](Queue& q) { q.weight = weight; };
}
Tweak<Job> Class(const std::string& name) {
  return [=](Job& j) { j.priority_class = name; };
}
Tweak<Job> RunsIn(const std::string& cluster, int32_t pods) {
  return [=](Job& j) { j.placement = {{cluster, 1, "", {{"worker", pods, pods}}, pods, {}}}; };
}

TEST_CASE("order: shares are fractions of 2^32 and exact at the edges") {
  CHECK(Share(0, 0) == 0);
  CHECK(Share(1, 0) == kUnlimited);
  CHECK(Share(1, 2) == int64_t{1} << 31U);
  CHECK(Share(2, 3) == 2863311530);
  CHECK(Share(1, 2, 2) == int64_t{1} << 30U);
  CHECK(Share(kUnlimited, 1) == kUnlimited);
  CHECK(Share(-1, 5) == 0);
}

TEST_CASE("order: inside a queue by priority and then creation and then uid") {
  Fed fed;
  fed.AddCluster("east", "cpu=10").AddPriorityClass("high", 10).AddPriorityClass("low", -10);
  fed.AddJob("n/low", "default", 1, "cpu=1", Class("low"));
  fed.AddJob("n/old", "default", 1, "cpu=1").AddJob("n/young", "default", 1, "cpu=1");
  const auto at_once = [](const char* uid) {
    return [=](Job& j) {
      j.creation = testing::kStart;
      j.uid = uid;
    };
  };
  fed.AddJob("n/tie-b", "default", 1, "cpu=1", at_once("b"));
  fed.AddJob("n/tie-a", "default", 2, "cpu=1", at_once("a"));
  fed.AddJob("n/high", "default", 1, "cpu=1", Class("high"));
  CHECK(Order(fed) == Names{"high", "tie-a", "tie-b", "old", "young", "low"});
}

TEST_CASE("order: the smallest of several global defaults counts for jobs without a class") {
  Fed fed;
  fed.AddCluster("east", "cpu=10").AddPriorityClass("five", 5).AddPriorityClass("seven", 7);
  const auto global = [](PriorityClass& p) { p.global_default = true; };
  fed.AddPriorityClass("g6", 6, global).AddPriorityClass("g9", 9, global);
  fed.AddJob("n/five", "default", 1, "cpu=1", Class("five"));
  fed.AddJob("n/none", "default", 1, "cpu=1");
  fed.AddJob("n/seven", "default", 1, "cpu=1", Class("seven"));
  CHECK(Order(fed) == Names{"seven", "none", "five"});
}

TEST_CASE("order: queues take turns by what they hold of what they deserve") {
  Fed fed;
  fed.AddCluster("east", "cpu=12").AddQueue("one").AddQueue("two", Weight(2));
  for (int i = 0; i < 6; ++i) {
    fed.AddJob("n/a" + std::to_string(i), "one", 1, "cpu=2");
    fed.AddJob("n/b" + std::to_string(i), "two", 1, "cpu=2");
  }
  // Deserved 4 and 8; both begin with nothing and `one` is first by name. After that: 2/4 against
  // 0/8 2/8, then 2/4 against 4/8 by name, and so on.
  CHECK(Order(fed) ==
        Names{"a0", "b0", "b1", "a1", "b2", "b3", "a2", "b4", "b5", "a3", "a4", "a5"});
}

TEST_CASE("order: lowest dominant share first fills both queues alike - vector V8") {
  // 9 cpu and 18 GB; A asks (1, 4), B asks (3, 1): A three times, B twice.
  Fed fed;
  fed.AddCluster("east", "cpu=9 memory=18G").AddQueue("a").AddQueue("b");
  for (int i = 0; i < 9; ++i) {
    fed.AddJob("n/a" + std::to_string(i), "a", 1, "cpu=1 memory=4G");
    fed.AddJob("n/b" + std::to_string(i), "b", 1, "cpu=3 memory=1G");
  }
  const Names placed = testing::Placements(fed.Go());
  CHECK(placed.size() == 5);
  CHECK(std::count_if(placed.begin(), placed.end(),
                      [](const std::string& name) { return name[2] == 'a'; }) == 3);
}

TEST_CASE("order: who stays within its share goes before a borrower of higher priority") {
  Fed fed;
  fed.AddCluster("east", "cpu=10");
  fed.AddQueue("rich", [](Queue& q) { q.priority = 9; }).AddQueue("poor");
  fed.AddJob("n/held", "rich", 5, "cpu=1", RunsIn("east", 5));
  fed.AddJob("n/owned", "poor", 1, "cpu=1", RunsIn("east", 1));
  fed.AddJob("n/borrows", "rich", 5, "cpu=1").AddJob("n/within", "poor", 4, "cpu=1");
  CHECK(Order(fed) == Names{"within", "borrows"});
  fed.AddJob("n/held", "rich", 1, "cpu=1", RunsIn("elsewhere", 1));
  CHECK(Order(fed) == Names{"within", "borrows"});
}

TEST_CASE("order: queue priority decides among those within their share") {
  Fed fed;
  fed.AddCluster("east", "cpu=10").AddQueue("a").AddQueue("b", [](Queue& q) { q.priority = 1; });
  fed.AddJob("n/a", "a", 1, "cpu=1").AddJob("n/b", "b", 1, "cpu=1");
  CHECK(Order(fed) == Names{"b", "a"});
}

TEST_CASE("order: the first job of a queue that holds nothing counts as within") {
  Fed fed;
  fed.AddCluster("east", "cpu=10").AddQueue("a").AddQueue("b", [](Queue& q) { q.priority = 5; });
  fed.AddJob("n/big", "a", 8, "cpu=1");  // Deserves 5.
  fed.AddJob("n/first", "b", 1, "cpu=2", RunsIn("east", 1));
  fed.AddJob("n/second", "b", 4, "cpu=1");
  const Plan plan = MakePlan(fed.state);
  REQUIRE(plan.actions.size() == 1);
  CHECK(plan.actions[0].job.name == "big");
  CHECK(plan.actions[0].reason.find("within its deserved share") != std::string::npos);
}

TEST_CASE("order: a part of a device counts as a whole one") {
  Fed fed;
  fed.AddCluster("east", "cpu=30 nvidia.com/gpu=3").AddQueue("a").AddQueue("b", [](Queue& q) {
    q.priority = 1;
  });
  // Each deserves 1.5 gpu; rounding gives 2 to a. b counts 2 as within all the same.
  for (const char* queue : {"a", "b"}) {
    for (int i = 0; i < 3; ++i) {
      fed.AddJob("n/" + std::string(queue) + std::to_string(i), queue, 1, "nvidia.com/gpu=1");
    }
  }
  CHECK(Order(fed) == Names{"b0", "b1", "a0", "a1", "b2", "a2"});
}

TEST_CASE("order: equal queues go by creation and then by name") {
  Fed fed;
  const auto born = [](int64_t second) {
    return [=](Queue& q) { q.creation = testing::kStart + std::chrono::seconds(second); };
  };
  fed.AddCluster("east", "cpu=30");
  fed.AddQueue("a", born(3)).AddQueue("c", born(2)).AddQueue("b", born(2));
  for (const char* queue : {"a", "b", "c"}) {
    fed.AddJob("n/" + std::string(queue), queue, 1, "cpu=1");
  }
  CHECK(Order(fed) == Names{"b", "c", "a"});
}

TEST_CASE("order: tenants of one queue take turns and by weight") {
  Fed fed;
  fed.AddCluster("east", "cpu=30");
  fed.AddQuota("heavy", "", [](TenantQuota& q) { q.weight = 2; });
  for (int i = 0; i < 4; ++i) {
    fed.AddJob("heavy/h" + std::to_string(i), "default", 1, "cpu=1");
  }
  for (int i = 0; i < 3; ++i) {
    fed.AddJob("light/l" + std::to_string(i), "default", 1, "cpu=1");
  }
  CHECK(Order(fed) == Names{"h0", "l0", "h1", "h2", "l1", "h3", "l2"});
}

TEST_CASE("order: at each level of the tree the parents compete first") {
  Fed fed;
  fed.AddCluster("east", "cpu=40").AddQueue("org").AddQueue("solo");
  for (const char* queue : {"x", "y"}) {
    fed.AddQueue(queue, [](Queue& q) { q.parent = "org"; });
  }
  for (const char* queue : {"x", "y", "solo"}) {
    for (int i = 0; i < 10; ++i) {
      fed.AddJob("n/" + std::string(queue) + std::to_string(i), queue, 1, "cpu=4");
    }
  }
  Names order = Order(fed);
  order.resize(8);
  CHECK(order == Names{"x0", "solo0", "y0", "solo1", "x1", "solo2", "y1", "solo3"});
}

TEST_CASE("order: a fifo queue stops at its first job that does not go - case c18") {
  Fed fed;
  fed.AddCluster("m1", "cpu=64").AddCluster("m2", "cpu=48");
  fed.AddQueue("walk").AddQueue("strict",
                                [](Queue& q) { q.dequeue_strategy = DequeueStrategy::kFifo; });
  const auto whole = [](Job& job) { job.split = "never"; };
  fed.AddJob("n/walk-big", "walk", 10, "cpu=8", whole).AddJob("n/walk-small", "walk", 1, "cpu=8");
  fed.AddJob("n/strict-big", "strict", 10, "cpu=8", whole);
  fed.AddJob("n/strict-small", "strict", 1, "cpu=8");
  CHECK(testing::Placements(fed.Go()) == Names{"n/walk-small@m2"});
  fed.AddCluster("m3", "cpu=96");
  const Names placed = testing::Placements(fed.Go());
  CHECK(placed == Names{"n/strict-big@m3", "n/strict-small@m3"});
  fed.AddCluster("m4", "cpu=96");
  CHECK(testing::Placements(fed.Go()) == Names{"n/walk-big@m4"});
}

}  // namespace
}  // namespace caldera
