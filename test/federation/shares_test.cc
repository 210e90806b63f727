#include "federation/shares.h"

#include "federation/round.h"
#include "test/federation/builders.h"

namespace caldera {
namespace {

using testing::Amounts;
using testing::Fed;
using testing::Tweak;

QueueShare ShareOf(const Fed& fed, const std::string& queue) {
  return Round(fed.state).shares()[fed.state.queues().find(queue)->second];
}
ResourceList Deserved(const Fed& fed, const std::string& queue) {
  ResourceList list = ToList(fed.state.resources(), ShareOf(fed, queue).deserved);
  list.erase("pods");
  return list;
}
ResourceList Guarantee(const Fed& fed, const std::string& queue) {
  return ToList(fed.state.resources(), ShareOf(fed, queue).guarantee);
}
Tweak<Queue> Weight(int32_t weight) {
  return [=](Queue& q) { q.weight = weight; };
}

TEST_CASE("shares: two resources do not disturb each other - vector P3") {
  Fed fed;
  fed.AddCluster("east", "cpu=100 nvidia.com/gpu=8").AddQueue("a").AddQueue("b", Weight(3));
  fed.AddJob("n/a", "a", 1, "cpu=10 nvidia.com/gpu=8");
  fed.AddJob("n/b", "b", 1, "cpu=90 nvidia.com/gpu=2");
  CHECK(Deserved(fed, "a") == Amounts("cpu=10 nvidia.com/gpu=6"));
  CHECK(Deserved(fed, "b") == Amounts("cpu=90 nvidia.com/gpu=2"));
}

TEST_CASE("shares: capability caps one resource and leaves the other - vector P7") {
  Fed fed;
  fed.AddCluster("east", "cpu=20 memory=100Gi");
  fed.AddQueue("q1", [](Queue& q) { q.capability = Amounts("cpu=15"); });
  fed.AddQueue("q2", [](Queue& q) { q.capability = Amounts("cpu=5"); });
  fed.AddJob("n/1", "q1", 2, "cpu=6 memory=1Gi").AddJob("n/2", "q2", 1, "cpu=2 memory=61Gi");
  CHECK(Deserved(fed, "q1") == Amounts("cpu=12 memory=2Gi"));
  CHECK(Deserved(fed, "q2") == Amounts("cpu=2 memory=61Gi"));
}

TEST_CASE("shares: the tree is shared out level by level") {
  Fed fed;
  fed.AddCluster("east", "cpu=100");
  fed.AddQueue("org", Weight(3)).AddQueue("solo");
  fed.AddQueue("x", [](Queue& q) {
    q.parent = "org";
    q.weight = 2;
  });
  fed.AddQueue("y", [](Queue& q) { q.parent = "org"; });
  for (const char* queue : {"x", "y", "solo"}) {
    for (int i = 0; i < 10; ++i) {
      fed.AddJob("n/" + std::string(queue) + std::to_string(i), queue, 1, "cpu=20");
    }
  }
  CHECK(Deserved(fed, "org") == Amounts("cpu=75"));
  CHECK(Deserved(fed, "solo") == Amounts("cpu=25"));
  CHECK(Deserved(fed, "x") == Amounts("cpu=50"));
  CHECK(Deserved(fed, "y") == Amounts("cpu=25"));
  CHECK(Deserved(fed, "root") == Amounts("cpu=100"));
}

TEST_CASE("shares: spec.deserved and capability are caps and clamped by the parents' - case c13") {
  Fed fed;
  fed.AddCluster("m1", "cpu=300");
  fed.AddQueue("org", [](Queue& q) { q.capability = Amounts("cpu=100"); });
  fed.AddQueue("team-x", [](Queue& q) {
    q.parent = "org";
    q.deserved = Amounts("cpu=150");
    q.capability = Amounts("cpu=200");
  });
  fed.AddQueue("team-y", [](Queue& q) {
    q.parent = "org";
    q.deserved = Amounts("cpu=80");
    q.capability = Amounts("cpu=60");
  });
  fed.AddQueue("solo");
  fed.AddJob("n/x1", "team-x", 9, "cpu=10").AddJob("n/x2", "team-x", 2, "cpu=10");
  fed.AddJob("n/s1", "solo", 5, "cpu=10").AddJob("n/o1", "org", 1, "cpu=1");
  for (int i = 0; i < 20; ++i) {
    fed.AddJob("n/y" + std::to_string(i), "team-y", 1, "cpu=10",
               [](Job& j) { j.clusters.names = {"elsewhere"}; });
  }
  CHECK(Deserved(fed, "org") == Amounts("cpu=100"));
  CHECK(Deserved(fed, "team-x") == Amounts("cpu=100"));
  CHECK(Deserved(fed, "team-y").empty());  // Its demand could go nowhere.
  fed.AddCluster("elsewhere", "cpu=0", [](Cluster& c) { c.allocatable = Amounts("cpu=10"); });
  CHECK(Deserved(fed, "team-x") == Amounts("cpu=50"));
  CHECK(Deserved(fed, "team-y") == Amounts("cpu=50"));
  CHECK(Guarantee(fed, "org").empty());
}

TEST_CASE("shares: demand is what could ever go and what is held") {
  Fed fed;
  fed.AddCluster("east", "cpu=10").AddCluster("west", "cpu=10");
  fed.AddQueue("q", [](Queue& q) { q.capability = Amounts("nvidia.com/gpu=0"); });
  fed.AddQuota("small", "cpu=2");
  fed.AddJob("n/fits", "q", 1, "cpu=4");
  const auto whole = [](Job& j) { j.split = "never"; };
  fed.AddJob("n/too-large", "q", 2, "cpu=6", whole);  // 12: in no one cluster.
  fed.AddJob("n/larger", "q", 3, "cpu=6");            // In no two of them.
  fed.AddJob("n/no-gpu", "q", 1, "cpu=1 nvidia.com/gpu=1");
  fed.AddJob("small/quota", "q", 3, "cpu=1");
  fed.AddJob("n/held", "q", 1, "cpu=1", [](Job& j) { j.hold = true; });
  fed.AddJob("n/runs", "q", 1, "cpu=3", [](Job& j) {
    j.placement = {{"east", 1, "", {{"worker", 1, 1}}, 1, {}}};
  });
  CHECK(ToList(fed.state.resources(), ShareOf(fed, "q").demand) == Amounts("cpu=7 pods=2"));
  CHECK(ToList(fed.state.resources(), ShareOf(fed, "root").demand) == Amounts("cpu=7 pods=2"));
  fed.AddJob("n/split", "q", 2, "cpu=6");
  CHECK(ToList(fed.state.resources(), ShareOf(fed, "q").demand) == Amounts("cpu=19 pods=4"));
}

TEST_CASE("shares: a static assignment rules clusters out of the demand") {
  Fed fed;
  fed.AddCluster("east", "cpu=10")
      .AddCluster("west", "cpu=10")
      .AddJob("n/a", "default", 1, "cpu=4");
  const auto assign = [&](const char* west) {
    fed.AddQuota("n", "", [&](TenantQuota& q) {
      q.per_cluster = {{"east", Amounts("cpu=3")}, {"west", Amounts(west)}};
    });
  };
  assign("cpu=4");
  CHECK(Deserved(fed, "default") == Amounts("cpu=4"));
  assign("cpu=3");
  CHECK(Deserved(fed, "default").empty());
}

TEST_CASE("shares: closed queues and lost clusters take no part") {
  Fed fed;
  fed.AddCluster("east", "cpu=10").AddQueue("open").AddQueue("closed", [](Queue& q) {
    q.state = QueueState::kClosed;
  });
  fed.AddCluster("lost", "cpu=10", [](Cluster& c) {
    c.ready = false;
    c.ready_changed = Time();
  });
  fed.AddJob("n/a", "open", 10, "cpu=1").AddJob("n/b", "closed", 10, "cpu=1");
  fed.AddJob("n/c", "closed", 1, "cpu=2", [](Job& j) {
    j.placement = {{"lost", 1, "", {{"worker", 1, 1}}, 1, {}}};
  });
  fed.AddJob("n/d", "closed", 1, "cpu=3", [](Job& j) {
    j.placement = {{"east", 1, "", {{"worker", 1, 1}}, 1, {}}};
  });
  CHECK(Deserved(fed, "closed") == Amounts("cpu=3"));
  CHECK(Deserved(fed, "open") == Amounts("cpu=7"));
  CHECK(ToList(fed.state.resources(), ShareOf(fed, "closed").held) == Amounts("cpu=3 pods=1"));
  CHECK(ToList(fed.state.resources(), ShareOf(fed, "closed").charged) == Amounts("cpu=5 pods=2"));
}

TEST_CASE("shares: a parent is guaranteed at least what its children are") {
  Fed fed;
  fed.AddCluster("east", "cpu=100");
  fed.AddQueue("org");
  fed.AddQueue("x", [](Queue& q) {
    q.parent = "org";
    q.guarantee = Amounts("cpu=30");
  });
  fed.AddQueue("y", [](Queue& q) {
    q.parent = "org";
    q.guarantee = Amounts("cpu=20");
  });
  fed.AddQueue("solo").AddJob("n/s", "solo", 100, "cpu=1");
  CHECK(Guarantee(fed, "org") == Amounts("cpu=50"));
  CHECK(Deserved(fed, "org") == Amounts("cpu=50"));
  CHECK(Deserved(fed, "solo") == Amounts("cpu=50"));
}

TEST_CASE("shares: guarantees above the total shrink in proportion and below a capability too") {
  Fed fed;
  fed.AddCluster("east", "cpu=9");
  fed.AddQueue("a", [](Queue& q) { q.guarantee = Amounts("cpu=12"); });
  fed.AddQueue("b", [](Queue& q) { q.guarantee = Amounts("cpu=6"); });
  CHECK(Guarantee(fed, "a") == Amounts("cpu=6"));
  CHECK(Guarantee(fed, "b") == Amounts("cpu=3"));
  fed.AddQueue("b", [](Queue& q) {
    q.guarantee = Amounts("cpu=6");
    q.capability = Amounts("cpu=0");
  });
  CHECK(Guarantee(fed, "a") == Amounts("cpu=9"));
  CHECK(Guarantee(fed, "b").empty());
}

}  // namespace
}  // namespace caldera
