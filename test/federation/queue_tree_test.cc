#include "federation/queue_tree.h"

#include "federation/gate.h"
#include "test/federation/builders.h"

namespace caldera {
namespace {

using testing::Amounts;
using testing::Fed;
using testing::Tweak;

Tweak<Queue> Under(const std::string& parent) {
  return [parent](Queue& q) { q.parent = parent; };
}

Verdict GateOf(const Fed& fed, const std::string& queue) {
  const QueueTree tree(fed.state);
  return tree.Gate(fed.state.queues().find(queue)->second);
}

std::string Says(const Fed& fed, const std::string& queue) {
  const QueueTree tree(fed.state);
  return tree.Explain(fed.state.queues().find(queue)->second).message;
}

TEST_CASE("queue tree: only an Open leaf under Open ancestors takes jobs") {
  Fed fed;
  fed.AddQueue("org").AddQueue("team", Under("org")).AddQueue("solo");
  CHECK(GateOf(fed, "team") == Verdict::kNone);
  CHECK(GateOf(fed, "solo") == Verdict::kNone);
  CHECK(GateOf(fed, "default") == Verdict::kNone);
  CHECK(GateOf(fed, "org") == Verdict::kQueueNotLeaf);
  CHECK(Says(fed, "org") == "Queue org has children and takes no jobs");
  CHECK(GateOf(fed, "root") == Verdict::kQueueNotLeaf);
  fed.AddQueue("org", [](Queue& q) { q.state = QueueState::kClosing; });
  CHECK(GateOf(fed, "team") == Verdict::kQueueClosed);
  CHECK(Says(fed, "team") == "Queue org above Queue team is not Open");
  CHECK(Says(fed, "org") == "Queue org is not Open");
}

TEST_CASE("queue tree: a chain that does not reach the root is missing") {
  Fed fed;
  fed.AddQueue("orphan", Under("nowhere")).AddQueue("child", Under("orphan"));
  fed.AddQueue("self", Under("self")).AddQueue("a", Under("b")).AddQueue("b", Under("a"));
  fed.AddJob("n/j", "ghost", 1, "cpu=1");
  for (const char* queue : {"orphan", "child", "self", "a", "b", "ghost"}) {
    CHECK(GateOf(fed, queue) == Verdict::kQueueMissing);
  }
  CHECK(Says(fed, "ghost") == "there is no Queue ghost");
  CHECK(Says(fed, "child") ==
        "the parents of Queue child do not lead to root: its parent is orphan");
  CHECK(QueueTree(fed.state).TopDown().size() == fed.state.queues().size());
  fed.AddQueue("nowhere");
  CHECK(GateOf(fed, "child") == Verdict::kNone);
}

TEST_CASE("queue tree: a child's capability is clamped by its parents'") {
  Fed fed;
  fed.AddQueue("org", [](Queue& q) { q.capability = Amounts("cpu=100"); });
  fed.AddQueue("team", [](Queue& q) {
    q.parent = "org";
    q.capability = Amounts("cpu=200 memory=1Gi");
  });
  const QueueTree tree(fed.state);
  const QueueNode& team = tree.node(fed.state.queues().find("team")->second);
  CHECK(team.capability[fed.state.resources().Find("cpu")] == 100'000);
  CHECK(team.own[fed.state.resources().Find("cpu")] == 200'000);
  CHECK(team.capability[fed.state.resources().Find("memory")] == int64_t{1} << 30U);
}

Verdict JobGateOf(const Fed& fed, std::string_view job) {
  return JobGate(fed.state, QueueTree(fed.state), fed.state.FindJob(testing::Key(job))).verdict;
}

TEST_CASE("gates: what a job says itself and what it refers to and in order") {
  Fed fed;
  fed.AddCluster("east", "cpu=100");
  fed.AddJob("n/claimed", "ghost", 1, "cpu=1", [](Job& j) {
    j.claimed_elsewhere = true;
    j.hold = true;
  });
  fed.AddJob("n/held", "ghost", 1, "cpu=1", [](Job& j) { j.hold = true; });
  fed.AddJob("n/hyper", "default", 1, "cpu=1", [](Job& j) { j.kind = JobKind::kHyperJob; });
  fed.AddJob("n/suspended", "default", 1, "cpu=1", [](Job& j) { j.suspended = true; });
  fed.AddJob("n/secret", "ghost", 1, "cpu=1",
             [](Job& j) { j.missing_references = {"Secret/n/s"}; });
  fed.AddJob("n/class", "ghost", 1, "cpu=1", [](Job& j) { j.priority_class = "nope"; });
  fed.AddJob("n/system", "default", 1, "cpu=1",
             [](Job& j) { j.priority_class = "system-node-critical"; });
  fed.AddJob("n/ghost", "ghost", 1, "cpu=1");
  fed.AddJob("stays/ns", "default", 1, "cpu=1");
  fed.Do(NamespaceUpsert{{"stays", true}});
  fed.AddJob("n/tier", "default", 1, "cpu=1", [](Job& j) {
    j.topology = {TopologyMode::kHard, {}, "rack"};
  });
  fed.AddJob("n/part", "default", 4, "cpu=1", [](Job& j) {
    j.tasks[0].partition = {2, 2, 2, {TopologyMode::kHard, {}, "rack"}};
  });
  CHECK(JobGateOf(fed, "n/claimed") == Verdict::kClaimedElsewhere);
  CHECK(JobGateOf(fed, "n/held") == Verdict::kHeld);
  CHECK(JobGateOf(fed, "n/hyper") == Verdict::kHeld);
  CHECK(JobGateOf(fed, "n/suspended") == Verdict::kSuspended);
  CHECK(JobGateOf(fed, "n/secret") == Verdict::kMissingReference);
  CHECK(JobGateOf(fed, "n/class") == Verdict::kMissingReference);
  CHECK(JobGateOf(fed, "n/system") == Verdict::kNone);
  CHECK(JobGateOf(fed, "n/ghost") == Verdict::kQueueMissing);
  CHECK(JobGateOf(fed, "stays/ns") == Verdict::kNamespaceNotPropagated);
  CHECK(JobGateOf(fed, "n/tier") == Verdict::kTopologyTier);
  CHECK(JobGateOf(fed, "n/part") == Verdict::kTopologyTier);
  const testing::Names placed = testing::Placements(fed.Go());
  CHECK(placed == testing::Names{"n/system@east"});
  fed.AddPriorityClass("nope", 1).AddQueue("ghost").Do(NamespaceDelete{"stays"});
  CHECK(testing::Placements(fed.Go()).size() == 3);
}

TEST_CASE("gates: topology below the cluster is said to be unchecked") {
  Fed fed;
  fed.AddCluster("east", "cpu=100");
  fed.AddJob("n/plain", "default", 1, "cpu=1");
  fed.AddJob("n/hard", "default", 1, "cpu=1", [](Job& j) {
    j.topology = {TopologyMode::kHard, 1, ""};
  });
  fed.AddJob("n/part", "default", 4, "cpu=1", [](Job& j) {
    j.tasks[0].partition = {2, 2, 2, {TopologyMode::kSoft, 1, ""}};
  });
  fed.AddJob("n/any", "default", 1, "cpu=1", [](Job& j) {
    j.topology = {TopologyMode::kHard, {}, ""};
  });
  std::vector<bool> unchecked;
  for (const Action& action : fed.Go().actions) {
    unchecked.push_back(action.topology_unchecked);
  }
  CHECK(unchecked == std::vector<bool>{false, true, true, false});
}

}  // namespace
}  // namespace caldera
