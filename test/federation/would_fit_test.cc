// The change that would admit a job: what it says for each verdict. That it holds when it is
// applied is a property (test/property).
#include <doctest/doctest.h>

#include <string>

#include "federation/explain.h"
#include "test/federation/builders.h"

namespace caldera {
namespace {

using testing::Amounts;
using testing::Fed;
using testing::Names;

Names WouldFit(const Fed& fed, const std::string& key) {
  Names texts;
  for (const Edit& edit : WouldFitIf(fed.state, testing::Key(key))) {
    texts.push_back(edit.object + " " + edit.field + ": " + edit.from + " -> " + edit.to);
  }
  return texts;
}

TEST_CASE("would fit: nothing to say of a job that goes, runs, or is not there") {
  Fed fed;
  fed.AddCluster("east", "cpu=8").AddJob("n/goes", "default", 1, "cpu=1");
  CHECK(WouldFit(fed, "n/goes").empty());
  fed.Go();
  CHECK(WouldFit(fed, "n/goes").empty());
  CHECK(WouldFit(fed, "n/nobody").empty());
}

TEST_CASE("would fit: what the job says itself") {
  Fed fed;
  fed.AddCluster("east", "cpu=8");
  fed.AddJob("n/held", "default", 1, "cpu=1", [](Job& j) { j.hold = j.suspended = true; });
  fed.AddJob("n/claimed", "default", 1, "cpu=1", [](Job& j) { j.claimed_elsewhere = true; });
  fed.AddJob("n/refers", "default", 1, "cpu=1", [](Job& j) {
    j.missing_references = {"Secret/n/token"};
    j.priority_class = "gone";
  });
  fed.AddJob("s/skip", "default", 1, "cpu=1").Do(NamespaceUpsert{{"s", true}});
  CHECK(WouldFit(fed, "n/held") ==
        Names{"Job/n/held metadata.annotations[federation.caldera.sh/hold]: true -> absent",
              "Job/n/held status.state.phase: Aborted -> Pending"});
  CHECK(WouldFit(fed, "n/claimed").empty());
  CHECK(WouldFit(fed, "n/refers") == Names{"Secret/n/token metadata.name: absent -> token",
                                           "PriorityClass/gone value: absent -> 0"});
  CHECK(WouldFit(fed, "s/skip") ==
        Names{"Namespace/s metadata.labels[namespace.karmada.io/skip-auto-propagation]: true -> "
              "absent"});
}

TEST_CASE("would fit: queues") {
  Fed fed;
  fed.AddCluster("east", "cpu=8");
  fed.AddQueue("org").AddQueue("team", [](Queue& q) {
    q.parent = "org";
    q.state = QueueState::kClosed;
  });
  fed.AddQueue("self", [](Queue& q) { q.parent = "self"; });
  fed.AddQueue("orphan", [](Queue& q) { q.parent = "lost"; });
  fed.AddJob("n/missing", "new", 1, "cpu=1").AddJob("n/shut", "team", 1, "cpu=1");
  fed.AddJob("n/self", "self", 1, "cpu=1").AddJob("n/orphan", "orphan", 1, "cpu=1");
  fed.AddJob("n/root", "root", 1, "cpu=1").AddJob("n/inner", "org", 1, "cpu=1");
  CHECK(WouldFit(fed, "n/missing") == Names{"Queue/new metadata.name: absent -> new"});
  CHECK(WouldFit(fed, "n/shut") == Names{"Queue/team status.state: Closed -> Open"});
  CHECK(WouldFit(fed, "n/self") == Names{"Queue/self spec.parent: self -> root"});
  CHECK(WouldFit(fed, "n/orphan") == Names{"Queue/lost metadata.name: absent -> lost"});
  CHECK(WouldFit(fed, "n/root") == Names{"Job/n/root spec.queue: root -> default"});
  CHECK(WouldFit(fed, "n/inner").empty());  // Its only leaf is closed.
}

TEST_CASE("would fit: limits along the chain and every quota that binds, no more than needed") {
  Fed fed;
  fed.AddCluster("east", "cpu=100");
  fed.AddQueue("org", [](Queue& q) { q.capability = Amounts("cpu=10"); });
  fed.AddQueue("team", [](Queue& q) {
    q.parent = "org";
    q.capability = Amounts("cpu=8");
  });
  fed.AddQuota("t", "cpu=9");
  fed.AddQuota("t", "cpu=12", [](TenantQuota& q) {
    q.name = "other";
    q.per_cluster["east"] = Amounts("cpu=6");
  });
  fed.AddJob("t/running", "team", 5, "cpu=1");
  fed.Go();
  fed.AddJob("t/more", "team", 7, "cpu=1");
  CHECK(WouldFit(fed, "t/more") ==
        Names{"FederatedResourceQuota/t/quota spec.overall[cpu]: 9 -> 12",
              "Queue/team spec.capability[cpu]: 8 -> 12",
              "Queue/org spec.capability[cpu]: 10 -> 12",
              "FederatedResourceQuota/t/other spec.staticAssignments[east].hard[cpu]: 6 -> 12"});
}

TEST_CASE("would fit: room for the jobs ahead is in the amount") {
  Fed fed;
  fed.AddCluster("east", "cpu=10");
  for (int i = 0; i < 8; ++i) {
    fed.AddJob("n/ahead" + std::to_string(i), "default", 3, "cpu=1");
  }
  fed.AddJob("n/last", "default", 3, "cpu=1");
  CHECK(WouldFit(fed, "n/last") ==
        Names{"Cluster/east status.resourceSummary.allocatable[cpu]: 10 -> 27"});
}

TEST_CASE("would fit: clusters that must change before the job may go there") {
  Fed fed;
  fed.AddCluster("tainted", "cpu=8", [](Cluster& c) {
    c.taints = {{"a", "b", "NoSchedule"}, {"x", "", "PreferNoSchedule"}, {"d", "", "NoExecute"}};
  });
  fed.AddJob("n/taint", "default", 1, "cpu=1");
  fed.AddJob("n/name", "default", 1, "cpu=1", [](Job& j) {
    j.clusters.names = {"gone"};
    j.clusters.selector = {{"zone", "In", {"z1"}}};
    j.clusters.tolerations = {{"a", "Exists", "", ""}};
  });
  CHECK(WouldFit(fed, "n/taint") ==
        Names{"Job/n/taint metadata.annotations[federation.caldera.sh/cluster-tolerations]: absent "
              "-> a=b:NoSchedule,d:NoExecute"});
  CHECK(WouldFit(fed, "n/name") ==
        Names{"Job/n/name metadata.annotations[federation.caldera.sh/clusters]: gone -> "
              "gone,tainted",
              "Job/n/name metadata.annotations[federation.caldera.sh/cluster-selector]: zone=z1 -> "
              "absent",
              "Job/n/name metadata.annotations[federation.caldera.sh/cluster-tolerations]: a -> "
              "a,d:NoExecute"});
  Fed down;
  down.AddCluster("east", "cpu=8", [](Cluster& c) { c.ready = false; });
  down.AddJob("n/j", "default", 9, "cpu=1");
  CHECK(WouldFit(down, "n/j") ==
        Names{"Cluster/east status.conditions[Ready].status: False -> True",
              "Cluster/east status.resourceSummary.allocatable[cpu]: 8 -> 9"});
}

TEST_CASE("would fit: nodes that are cordoned or too small for one more pod") {
  Fed fed;
  fed.AddCluster("east", "cpu=8").AddNode("east", "n1", "cpu=5").AddNode("east", "n2", "cpu=3");
  fed.AddJob("n/wide", "default", 2, "cpu=4");
  CHECK(WouldFit(fed, "n/wide") == Names{"Node/east/n1 status.allocatable[cpu]: 5 -> 8"});
  Fed cordoned;
  cordoned.AddCluster("east", "cpu=8").AddNode("east", "n1", "cpu=8", [](Node& n) {
    n.unschedulable = true;
  });
  cordoned.AddJob("n/j", "default", 1, "cpu=1");
  CHECK(WouldFit(cordoned, "n/j") == Names{"Node/east/n1 spec.unschedulable: true -> false"});
}

TEST_CASE("would fit: the order inside of a fifo queue and what others keep") {
  Fed fed;
  fed.AddCluster("east", "cpu=10");
  fed.AddQueue("line", [](Queue& q) { q.dequeue_strategy = DequeueStrategy::kFifo; });
  fed.AddJob("n/big", "line", 20, "cpu=1").AddJob("n/small", "line", 2, "cpu=1");
  CHECK(WouldFit(fed, "n/small") == Names{"Queue/line spec.dequeueStrategy: fifo -> traverse"});
  fed.AddQueue("kept", [](Queue& q) { q.guarantee = Amounts("cpu=7"); });
  fed.AddJob("n/kept-out", "default", 5, "cpu=1");
  CHECK(WouldFit(fed, "n/kept-out") == Names{"Queue/kept spec.guarantee.resource[cpu]: 7 -> 5"});
}

TEST_CASE("would fit: a job that no cluster holds may be split, if it lets") {
  Fed fed;
  fed.AddCluster("east", "cpu=8").AddCluster("north", "cpu=8").AddCluster("west", "cpu=8");
  const auto add = [&](const std::string& name, int32_t pods, const testing::Tweak<Job>& edit) {
    fed.AddJob("n/" + name, "default", pods, "cpu=1", edit);
  };
  add("never", 12, [](Job& j) { j.split = "never"; });
  add("one", 12, [](Job& j) { j.max_clusters = 1; });
  add("near", 12, [](Job& j) { j.max_distance = "cluster"; });
  add("two", 20, [](Job& j) { j.max_clusters = 2; });
  const std::string annotation = " metadata.annotations[federation.caldera.sh/";
  CHECK(WouldFit(fed, "n/never") ==
        Names{"Job/n/never" + annotation + "split]: never -> when-needed"});
  CHECK(WouldFit(fed, "n/one") == Names{"Job/n/one" + annotation + "max-clusters]: 1 -> absent"});
  CHECK(WouldFit(fed, "n/near") ==
        Names{"Job/n/near" + annotation + "max-distance]: cluster -> absent"});
  CHECK(WouldFit(fed, "n/two") == Names{"Job/n/two" + annotation + "max-clusters]: 2 -> 3"});

  Fed unsafe;
  unsafe.AddCluster("east", "cpu=8").AddCluster("west", "cpu=8");
  unsafe.AddJob("n/hard", "default", 12, "cpu=1", [](Job& j) {
    j.split = "never";
    j.topology.mode = TopologyMode::kHard;
  });
  CHECK(WouldFit(unsafe, "n/hard") ==
        Names{"Cluster/east status.resourceSummary.allocatable[cpu]: 8 -> 12"});
}

}  // namespace
}  // namespace caldera
