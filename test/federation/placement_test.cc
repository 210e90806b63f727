#include "federation/placement.h"

#include "federation/feasibility.h"
#include "federation/round.h"
#include "test/federation/builders.h"

namespace caldera {
namespace {

using testing::Amounts;
using testing::Fed;
using testing::Names;
using testing::Placements;
using testing::Tweak;

Tweak<Cluster> Uses(const char* amounts) {
  return [=](Cluster& c) { c.allocated = Amounts(amounts); };
}

TEST_CASE("placement: best fit looks at devices where any are asked for") {
  Fed fed;
  // By cpu west is the fuller; by gpu east is.
  fed.AddCluster("east", "cpu=100 nvidia.com/gpu=8", Uses("nvidia.com/gpu=4"));
  fed.AddCluster("west", "cpu=10 nvidia.com/gpu=8");
  fed.AddJob("n/gpu", "default", 1, "cpu=1 nvidia.com/gpu=2")
      .AddJob("n/cpu", "default", 1, "cpu=1");
  CHECK(Placements(fed.Go()) == Names{"n/gpu@east", "n/cpu@west"});
}

TEST_CASE("placement: without devices the resource of which most is left decides") {
  Fed fed;
  fed.AddCluster("a", "cpu=10 memory=100Gi").AddCluster("b", "cpu=20 memory=20Gi");
  // In a 0 cpu and 90% memory would stay; in b 50% of both.
  fed.AddJob("n/j", "default", 1, "cpu=10 memory=10Gi");
  CHECK(Placements(fed.Go()) == Names{"n/j@b"});
}

TEST_CASE("placement: parts are compared exactly and relative to the cluster") {
  CHECK(Part{1, 3, 0} < Part{2, 5, 0});
  CHECK(!(Part{2, 6, 0} < Part{1, 3, 0}));
  CHECK(Part{kUnlimited - 1, kUnlimited, 0} < Part{1, 1, 0});
}

TEST_CASE("placement: equal clusters go by the job's preference and then cost and then name") {
  Fed fed;
  const auto cost = [](int64_t value) { return [=](Cluster& c) { c.cost = value; }; };
  fed.AddCluster("a", "cpu=10", cost(5)).AddCluster("b", "cpu=10", cost(1));
  fed.AddCluster("c", "cpu=10", cost(1)).AddCluster("d", "cpu=10", cost(9));
  fed.AddJob("n/any", "default", 10, "cpu=1");
  fed.AddJob("n/prefers", "default", 10, "cpu=1", [](Job& j) { j.clusters.names = {"d", "c"}; });
  CHECK(Placements(fed.Go()) == Names{"n/any@b", "n/prefers@d"});
  fed.AddJob("n/x", "default", 10, "cpu=1").AddJob("n/y", "default", 10, "cpu=1");
  CHECK(Placements(fed.Go()) == Names{"n/x@c", "n/y@a"});
}

Reason Admitted(const Fed& fed, const std::string& cluster, const ClusterConstraint& constraint) {
  for (const ClusterView& view : ViewClusters(fed.state)) {
    if (view.name() == cluster) {
      CHECK(IsAdmitted(view, constraint) == (Admits(view, constraint).verdict == Verdict::kNone));
      return Admits(view, constraint);
    }
  }
  return {};
}

TEST_CASE("feasibility: each cluster says why it is none") {
  Fed fed;
  fed.AddCluster("plain", "cpu=8");
  fed.AddCluster("off", "cpu=8", [](Cluster& c) { c.ready = false; });
  fed.AddCluster("going", "cpu=8", [](Cluster& c) { c.deleting = true; });
  fed.AddCluster("no-api", "cpu=8", [](Cluster& c) {
    c.apis_known = true;
    c.apis = {"apps/v1/Deployment"};
  });
  fed.AddCluster("api", "cpu=8", [](Cluster& c) {
    c.apis_known = true;
    c.apis = {"apps/v1/Deployment", "batch.volcano.sh/v1alpha1/Job"};
  });
  fed.AddCluster("tainted", "cpu=8", [](Cluster& c) {
    c.taints = {{"soft", "", "PreferNoSchedule"}, {"drain", "now", "NoExecute"}};
  });
  const auto verdict = [&](const char* cluster, const ClusterConstraint& constraint = {}) {
    return Admitted(fed, cluster, constraint).verdict;
  };
  CHECK(verdict("plain") == Verdict::kNone);
  CHECK(verdict("off") == Verdict::kClusterNotReady);
  CHECK(verdict("going") == Verdict::kClusterNotReady);
  CHECK(verdict("no-api") == Verdict::kNoClusterMatches);
  CHECK(verdict("api") == Verdict::kNone);
  CHECK(Admitted(fed, "tainted", {}).message ==
        "the job's cluster-tolerations do not tolerate its taint drain=now:NoExecute");
  ClusterConstraint constraint;
  constraint.tolerations = {{"drain", "Exists", "", ""}};
  CHECK(verdict("tainted", constraint) == Verdict::kNone);
  constraint.names = {"plain", "off"};
  CHECK(verdict("plain", constraint) == Verdict::kNone);
  CHECK(verdict("tainted", constraint) == Verdict::kNoClusterMatches);
  constraint.names.clear();
  constraint.selector = {{"region", "In", {"eu"}}};
  CHECK(verdict("plain", constraint) == Verdict::kNoClusterMatches);
  fed.AddCluster("plain", "cpu=8", [](Cluster& c) { c.labels = {{"region", "eu"}}; });
  CHECK(verdict("plain", constraint) == Verdict::kNone);
}

TEST_CASE("feasibility: a pod's own tolerations do not open a tainted cluster") {
  Fed fed;
  fed.AddCluster("east", "cpu=8", [](Cluster& c) { c.taints = {{"t", "", "NoSchedule"}}; });
  fed.AddJob("n/a", "default", 1, "cpu=1", [](Job& j) {
    j.tasks[0].nodes.tolerations = {{"", "Exists", "", ""}};
  });
  CHECK(fed.Go().actions.empty());
}

Reason RoomIn(const Fed& fed, std::string_view job) {
  return Room(fed.state, ViewClusters(fed.state)[0], fed.At(job).shape);
}

TEST_CASE("feasibility: what is short is said in figures") {
  Fed fed;
  fed.AddCluster("east", "cpu=8 memory=8Gi", Uses("cpu=6"));
  fed.AddJob("n/a", "default", 3, "cpu=1").AddJob("n/b", "default", 9, "cpu=1");
  fed.AddJob("n/c", "default", 2, "cpu=1");
  const Reason reason = RoomIn(fed, "n/a");
  CHECK(reason.verdict == Verdict::kInsufficientResources);
  CHECK(reason.message == "3 cpu asked, 2 of 8 free");
  REQUIRE(reason.figures.size() == 1);
  CHECK(reason.figures[0].object == "Cluster/east");
  CHECK(reason.figures[0].requested == 3000);
  CHECK(reason.figures[0].used == 6000);
  CHECK(reason.figures[0].limit == 8000);
  CHECK(RoomIn(fed, "n/b").message == "9 cpu asked, 2 of 8 free: larger than the cluster");
  CHECK(RoomIn(fed, "n/c").verdict == Verdict::kNone);
}

TEST_CASE("feasibility: the nodes may be what is short") {
  Fed fed;
  fed.AddCluster("east", "cpu=8").AddNode("east", "n1", "cpu=4").AddNode("east", "n2", "cpu=4");
  fed.AddJob("n/a", "default", 2, "cpu=3").AddJob("n/b", "default", 1, "cpu=5");
  CHECK(RoomIn(fed, "n/a").verdict == Verdict::kNone);
  const Reason reason = RoomIn(fed, "n/b");
  CHECK(reason.verdict == Verdict::kInsufficientResources);
  CHECK(reason.message == "its nodes hold 0 of 1 such pods, node by node");
}

}  // namespace
}  // namespace caldera
