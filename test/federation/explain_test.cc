// Every verdict that the first slice knows, with its figures, and who wins where several hold.
#include "federation/explain.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "test/federation/builders.h"

namespace caldera {
namespace {

using testing::Amounts;
using testing::Fed;
using testing::Names;

PendingJob Why(const State& state, const std::string& key) {
  const std::vector<PendingJob> pending = ExplainPending(state);
  const auto it = std::find_if(pending.begin(), pending.end(),
                               [&](const PendingJob& job) { return job.job == testing::Key(key); });
  REQUIRE_MESSAGE(it != pending.end(), key);
  return *it;
}

std::string VerdictOf(const Fed& fed, const std::string& key) {
  return std::string(VerdictName(Why(fed.state, key).verdict));
}

std::string Text(const Figure& figure) {
  return figure.object + " " + figure.resource + " " + std::to_string(figure.requested) + "+" +
         std::to_string(figure.used) + ">" + std::to_string(figure.limit);
}
Names Texts(const std::vector<Figure>& figures) {
  Names texts;
  for (const Figure& figure : figures) {
    texts.push_back(Text(figure));
  }
  return texts;
}

TEST_CASE("explain: reasons of the job itself win over all others, in their order") {
  Fed fed;
  fed.AddJob("n/refused", "none", 1, "cpu=1", [](Job& j) {
    j.refused = "spec.tasks[0].replicas (-1) must be 0 or more";
    j.claimed_elsewhere = j.hold = j.suspended = true;
  });
  fed.AddJob("n/claimed", "none", 1, "cpu=1", [](Job& j) {
    j.claimed_elsewhere = j.hold = j.suspended = true;
    j.missing_references = {"Secret/n/token"};
  });
  fed.AddJob("n/held", "none", 1, "cpu=1", [](Job& j) {
    j.hold = j.suspended = true;
    j.missing_references = {"Secret/n/token"};
  });
  fed.AddJob("n/suspended", "none", 1, "cpu=1", [](Job& j) {
    j.suspended = true;
    j.missing_references = {"Secret/n/token"};
  });
  fed.AddJob("n/refers", "none", 1, "cpu=1", [](Job& j) {
    j.missing_references = {"Secret/n/token", "PVC/n/data"};
  });
  fed.AddJob("n/class", "none", 1, "cpu=1", [](Job& j) { j.priority_class = "gone"; });
  fed.AddJob("skip/ns", "none", 1, "cpu=1").Do(NamespaceUpsert{{"skip", true}});
  fed.AddJob("n/queue", "none", 1, "cpu=1");
  CHECK(VerdictOf(fed, "n/refused") == "Refused");
  CHECK(Why(fed.state, "n/refused").message == "spec.tasks[0].replicas (-1) must be 0 or more");
  CHECK(WouldFitIf(fed.state, {"n", "refused"}).empty());
  CHECK(VerdictOf(fed, "n/claimed") == "ClaimedElsewhere");
  CHECK(VerdictOf(fed, "n/held") == "Held");
  CHECK(VerdictOf(fed, "n/suspended") == "Suspended");
  CHECK(VerdictOf(fed, "n/refers") == "MissingReference");
  CHECK(Why(fed.state, "n/refers").message ==
        "it refers to what is not there: Secret/n/token, PVC/n/data");
  CHECK(VerdictOf(fed, "n/class") == "MissingReference");
  CHECK(VerdictOf(fed, "skip/ns") == "NamespaceNotPropagated");
  CHECK(VerdictOf(fed, "n/queue") == "QueueMissing");
}

TEST_CASE("explain: queues that take no jobs") {
  Fed fed;
  fed.AddCluster("east", "cpu=8");
  fed.AddQueue("org").AddQueue("team", [](Queue& q) { q.parent = "org"; });
  fed.AddQueue("shut", [](Queue& q) { q.state = QueueState::kClosed; });
  fed.AddJob("n/inner", "org", 1, "cpu=1").AddJob("n/shut", "shut", 1, "cpu=1");
  fed.AddJob("n/root", "root", 1, "cpu=1");
  CHECK(VerdictOf(fed, "n/inner") == "QueueNotLeaf");
  CHECK(VerdictOf(fed, "n/root") == "QueueNotLeaf");
  CHECK(VerdictOf(fed, "n/shut") == "QueueClosed");
}

TEST_CASE("explain: quota before capability before clusters, with the figures") {
  Fed fed;
  fed.AddCluster("east", "cpu=8");
  fed.AddQueue("team", [](Queue& q) { q.capability = Amounts("cpu=6"); });
  fed.AddQuota("t", "cpu=4");
  fed.AddJob("t/first", "team", 3, "cpu=1").AddJob("t/quota", "team", 20, "cpu=1");
  fed.AddJob("u/capability", "team", 20, "cpu=1");
  fed.Go();
  fed.AddJob("u/cluster", "default", 7, "cpu=1");
  const PendingJob quota = Why(fed.state, "t/quota");
  CHECK(VerdictName(quota.verdict) == "TenantQuota");
  CHECK(Texts(quota.figures) == Names{"Tenant/t cpu 20000+3000>4000"});
  CHECK(quota.clusters.empty());
  const PendingJob capability = Why(fed.state, "u/capability");
  CHECK(VerdictName(capability.verdict) == "QueueCapability");
  CHECK(Texts(capability.figures) == Names{"Queue/team cpu 20000+3000>6000"});
  const PendingJob cluster = Why(fed.state, "u/cluster");
  CHECK(VerdictName(cluster.verdict) == "InsufficientResources");
  CHECK(Texts(cluster.figures) == Names{"Cluster/east cpu 7000+3000>8000"});
  REQUIRE(cluster.clusters.size() == 1);
  CHECK(cluster.clusters[0].cluster == "east");
  CHECK(Texts(cluster.clusters[0].figures) == Texts(cluster.figures));
}

TEST_CASE("explain: clusters that may not take it, are not Ready, or are too small") {
  Fed fed;
  fed.AddCluster("a", "cpu=8", [](Cluster& c) { c.taints = {{"gpu", "", "NoSchedule"}}; });
  fed.AddCluster("b", "cpu=4");
  fed.AddCluster("c", "cpu=8", [](Cluster& c) { c.ready = false; });
  fed.AddJob("n/nowhere", "default", 1, "cpu=1", [](Job& j) { j.clusters.names = {"z"}; });
  fed.AddJob("n/waits", "default", 1, "cpu=1", [](Job& j) { j.clusters.names = {"c"}; });
  fed.AddJob("n/big", "default", 6, "cpu=1");
  fed.AddJob("n/huge", "default", 21, "cpu=1");
  CHECK(VerdictOf(fed, "n/nowhere") == "NoClusterMatches");
  const PendingJob waits = Why(fed.state, "n/waits");
  CHECK(VerdictName(waits.verdict) == "ClusterNotReady");
  CHECK(waits.message == "no cluster that may take it is Ready: c");
  const PendingJob big = Why(fed.state, "n/big");
  CHECK(VerdictName(big.verdict) == "InsufficientResources");
  CHECK(big.message ==
        "larger than every cluster that may take it: it asks cpu 6 and the largest, b, has 4");
  CHECK(Texts(big.figures) == Names{"Cluster/b cpu 6000+0>4000"});
  Names verdicts;
  for (const ClusterVerdict& cluster : big.clusters) {
    verdicts.push_back(cluster.cluster + " " + std::string(VerdictName(cluster.verdict)));
  }
  CHECK(verdicts == Names{"a NoClusterMatches", "b InsufficientResources", "c ClusterNotReady"});
  const PendingJob huge = Why(fed.state, "n/huge");
  CHECK(VerdictName(huge.verdict) == "LargerThanFederation");
  CHECK(Texts(huge.figures) == Names{"Federation cpu 21000+0>20000"});
  CHECK(huge.message == "larger than all clusters together: it asks cpu 21 and they have 20");
  fed.AddQueue("q");
  CHECK(Why(Fed().AddJob("n/j", "default", 1, "cpu=1").state, "n/j").message ==
        "there is no cluster");
}

TEST_CASE("explain: a job that never borrows waits for what its queue deserves") {
  Fed fed;
  fed.AddCluster("east", "cpu=16").AddQueue("a").AddQueue("b");
  fed.AddJob("n/other", "b", 1, "cpu=8").AddJob("n/first", "a", 1, "cpu=4");
  fed.Go();
  fed.Do(JobDelete{testing::Key("n/other"), "uid-n/other"});
  fed.AddJob("n/large", "b", 1, "cpu=40", [](Job& job) { job.hold = true; });
  fed.AddQueue("a", [](Queue& queue) { queue.deserved = testing::Amounts("cpu=6"); });
  fed.AddJob("n/keeps", "a", 1, "cpu=4", [](Job& job) { job.preemptible = false; });
  CHECK(fed.Go().actions.empty());
  const auto pending = ExplainPending(fed.state);
  REQUIRE(pending.size() == 2);
  CHECK(VerdictName(pending[0].verdict) == "FairShare");
  CHECK(pending[0].message ==
        "it is not preemptible, so it does not borrow: queue a deserves cpu 6 and holds 4, and it "
        "asks 4");
  REQUIRE(pending[0].figures.size() == 1);
  CHECK(pending[0].figures[0].limit == 6000);
  const std::vector<Edit> edits = WouldFitIf(fed.state, testing::Key("n/keeps"));
  REQUIRE(edits.size() == 1);
  CHECK(edits[0].field == "metadata.annotations[federation.caldera.sh/preemptible]");
  CHECK(edits[0].to == "true");
}

TEST_CASE("explain: in a fifo queue who waits behind a higher priority is told so") {
  Fed fed;
  fed.AddCluster("east", "cpu=4").AddPriorityClass("high", 10);
  fed.AddQueue("q", [](Queue& queue) { queue.dequeue_strategy = DequeueStrategy::kFifo; });
  fed.AddJob("n/small", "q", 1, "cpu=1");
  fed.AddJob("n/head", "q", 1, "cpu=8", [](Job& job) { job.priority_class = "high"; });
  CHECK(fed.Go().actions.empty());
  const auto pending = ExplainPending(fed.state);
  REQUIRE(pending.size() == 2);
  CHECK(pending[1].job == testing::Key("n/small"));
  CHECK(VerdictName(pending[1].verdict) == "BehindPriority");
  CHECK(pending[1].message ==
        "queue q is fifo and its first job, n/head, does not go yet; it comes first by its "
        "priority, 10 against 0");
}

TEST_CASE("explain: room that is kept for others is FairShare, once a cluster has it") {
  Fed fed;
  fed.AddCluster("east", "cpu=10");
  fed.AddQueue("kept", [](Queue& q) { q.guarantee = Amounts("cpu=6"); });
  fed.AddJob("n/fits", "default", 4, "cpu=1").AddJob("n/kept-out", "default", 1, "cpu=1");
  fed.Go();
  const PendingJob job = Why(fed.state, "n/kept-out");
  CHECK(VerdictName(job.verdict) == "FairShare");
  REQUIRE(job.figures.size() == 1);
  CHECK(job.figures[0].requested + job.figures[0].used > job.figures[0].limit);
  REQUIRE(job.clusters.size() == 1);
  CHECK(job.clusters[0].verdict == Verdict::kNone);
}

TEST_CASE("explain: a fifo queue names the job that holds back the others") {
  Fed fed;
  fed.AddCluster("east", "cpu=10");
  fed.AddQueue("line", [](Queue& q) { q.dequeue_strategy = DequeueStrategy::kFifo; });
  fed.AddJob("n/big", "line", 11, "cpu=1").AddJob("n/small", "line", 1, "cpu=1");
  fed.AddJob("n/other", "default", 1, "cpu=1");
  fed.Go();
  CHECK(VerdictOf(fed, "n/big") == "LargerThanFederation");
  const PendingJob small = Why(fed.state, "n/small");
  CHECK(VerdictName(small.verdict) == "Fifo");
  CHECK(small.message == "queue line is fifo and its first job, n/big, does not go yet");
  CHECK(ExplainPending(fed.state).size() == 2);
}

TEST_CASE("explain: ranks count the waiting in the order in which they would go") {
  Fed fed;
  fed.AddCluster("east", "cpu=1");
  fed.AddPriorityClass("high", 9);
  fed.AddJob("n/held", "default", 1, "cpu=2", [](Job& j) { j.hold = true; });
  fed.AddJob("n/low", "default", 1, "cpu=2");
  fed.AddJob("n/high", "default", 1, "cpu=2", [](Job& j) { j.priority_class = "high"; });
  fed.AddJob("n/fits", "default", 1, "cpu=1");
  const Plan plan = fed.Go();
  REQUIRE(plan.actions.size() == 1);
  CHECK(plan.actions[0].rank == 1);  // Placements are counted apart.
  Names ranked;
  for (const PendingJob& job : ExplainPending(fed.state)) {
    ranked.push_back(std::to_string(job.rank) + " " + job.job.ToString());
  }
  CHECK(ranked == Names{"1 n/high", "2 n/low", "3 n/held"});
}

TEST_CASE("explain: jobs of one shape share one list of clusters") {
  Fed fed;
  for (int i = 0; i < 20; ++i) {
    fed.AddCluster("c" + std::to_string(i), "cpu=1");
  }
  for (int i = 0; i < 500; ++i) {
    fed.AddJob("n/j" + std::to_string(i), "default", 1, "cpu=2");
  }
  const std::vector<PendingJob> pending = ExplainPending(fed.state);
  REQUIRE(pending.size() == 500);
  CHECK(pending.front().clusters.size() == 20);
  CHECK(&pending.front().clusters.list() == &pending.back().clusters.list());
}

}  // namespace
}  // namespace caldera
