#include "federation/capacity.h"

#include "test/federation/builders.h"

namespace caldera {
namespace {

using testing::Amounts;
using testing::Fed;
using testing::Names;
using testing::Placements;

ResourceList Free(const Fed& fed, const std::string& cluster) {
  for (const ClusterView& view : ViewClusters(fed.state)) {
    if (view.name() == cluster) {
      return ToList(fed.state.resources(), view.free);
    }
  }
  return {};
}

ResourceList Total(const Fed& fed) {
  return ToList(fed.state.resources(), FederationTotal(ViewClusters(fed.state)));
}

/// A running job that the summary shows for long.
testing::Tweak<Job> Settled(const std::string& cluster, int32_t pods) {
  return [=](Job& j) {
    j.placement = {{cluster, 1, "", {{"worker", pods, pods}}, pods, {}}};
    j.reports = {{"worker", pods, 0}};
  };
}

TEST_CASE("capacity: free is what is neither allocated nor allocating nor on top") {
  Fed fed;
  fed.AddCluster("east", "cpu=10 pods=20", [](Cluster& c) {
    c.allocated = Amounts("cpu=2 pods=2");
    c.allocating = Amounts("cpu=3 pods=3");
  });
  CHECK(Free(fed, "east") == Amounts("cpu=5 pods=15"));
  fed.AddJob("n/a", "default", 2, "cpu=2");
  fed.Go();
  // 4 on top of 2, not of 2 + 3: what is allocating may well be these pods.
  CHECK(Free(fed, "east") == Amounts("cpu=4 pods=15"));
}

TEST_CASE("capacity: a cluster that is not Ready or that is going offers nothing") {
  Fed fed;
  fed.AddCluster("off", "cpu=10 pods=20", [](Cluster& c) { c.ready = false; });
  fed.AddCluster("going", "cpu=10 pods=20", [](Cluster& c) { c.deleting = true; });
  CHECK(Free(fed, "off").empty());
  CHECK(Free(fed, "going").empty());
}

TEST_CASE("capacity: pods that a summary does not say are unlimited and all else is none") {
  Fed fed;
  fed.AddCluster("east", "cpu=10").AddJob("n/a", "default", 5, "cpu=1");
  fed.AddJob("n/b", "default", 1, "cpu=1 memory=1Gi");
  CHECK(Placements(fed.Go()) == Names{"n/a@east"});
}

TEST_CASE("capacity: the total leaves out foreign use and lost clusters") {
  Fed fed;
  fed.AddCluster("east", "cpu=10 pods=20", [](Cluster& c) { c.allocated = Amounts("cpu=6"); });
  fed.AddJob("n/a", "default", 4, "cpu=1", Settled("east", 4));
  CHECK(Total(fed) == Amounts("cpu=8 pods=20"));  // 2 of the 6 are foreign.
  const Time now = fed.state.now();
  const auto off = [&](Time changed) {
    return [=](Cluster& c) {
      c.ready = false;
      c.ready_changed = changed;
    };
  };
  fed.AddCluster("west", "cpu=5 pods=5", off(now - Millis(300'000)));
  CHECK(Total(fed) == Amounts("cpu=13 pods=25"));
  fed.AddCluster("west", "cpu=5 pods=5", off(now - Millis(300'001)));
  CHECK(Total(fed) == Amounts("cpu=8 pods=20"));
  fed.AddCluster("west", "cpu=5 pods=5", off(Time()));
  CHECK(Total(fed) == Amounts("cpu=8 pods=20"));
}

TEST_CASE("capacity: late summaries book nothing twice - case c20") {
  Fed fed;
  fed.AddQueue("q", [](Queue& q) { q.capability = Amounts("cpu=100"); });
  const char* all = "cpu=2 memory=2Gi pods=110";
  fed.AddCluster("m1", all).AddCluster("m2", all);
  for (int i = 0; i < 20; ++i) {
    fed.AddJob("n/n-" + std::to_string(i), "q", 1, "cpu=1 memory=1Gi");
  }
  CHECK(fed.Go().actions.size() == 4);
  CHECK(fed.Go().actions.empty());
  fed.Do(ClockSet{fed.state.now() + Millis(30'000)});
  fed.AddCluster("m1", all, [](Cluster& c) { c.allocated = Amounts("cpu=2 memory=2Gi"); });
  fed.AddCluster("m2", all, [](Cluster& c) {
    c.allocated = Amounts("cpu=1 memory=1Gi");
    c.allocating = Amounts("cpu=1 memory=1Gi");
  });
  CHECK(fed.Go().actions.empty());
}

TEST_CASE("capacity: of nodes without a summary sums are taken") {
  Fed fed;
  fed.AddCluster("east", "").AddNode("east", "n1", "cpu=4 pods=10");
  fed.AddNode("east", "n2", "cpu=4 pods=10");
  fed.Do(PodUpsert{{"east", "x", "p", "n1", Amounts("cpu=1 pods=1"), false, "", ""}});
  fed.Do(PodUpsert{{"east", "x", "done", "n1", Amounts("cpu=1 pods=1"), true, "", ""}});
  fed.Do(PodUpsert{{"east", "x", "unbound", "", Amounts("cpu=1 pods=1"), false, "", ""}});
  CHECK(Free(fed, "east") == Amounts("cpu=7 pods=19"));
  CHECK(Total(fed) == Amounts("cpu=7 pods=19"));
  fed.AddJob("n/a", "default", 2, "cpu=1");
  fed.Go();
  CHECK(Free(fed, "east") == Amounts("cpu=5 pods=17"));
  // One of ours is seen bound: it counts once.
  fed.Do(PodUpsert{{"east", "n", "a-0", "n2", Amounts("cpu=1 pods=1"), false, "a", "worker"}});
  CHECK(Free(fed, "east") == Amounts("cpu=5 pods=17"));
  // And once it has succeeded it uses nothing, though its job stays charged.
  fed.Do(PodUpsert{{"east", "n", "a-0", "n2", Amounts("cpu=1 pods=1"), true, "a", "worker"}});
  CHECK(Free(fed, "east") == Amounts("cpu=6 pods=18"));
}

}  // namespace
}  // namespace caldera
