// Everything but jobs: queues, clusters, tenants and what members hold.
#include "controller/run/observer.h"
#include "test/run/watching.h"

namespace caldera::testing {
namespace {

const std::string kNode =
    "apiVersion: v1\nkind: Node\nmetadata: {name: n1, uid: n-uid}\nstatus: {allocatable: {cpu: "
    "\"4\"}}\n";

std::string PodText(const std::string& name, const std::string& node, const std::string& labels,
                    const std::string& phase) {
  return "apiVersion: v1\nkind: Pod\nmetadata: {name: " + name +
         ", namespace: team-a, uid: p-uid, labels: {" + labels + "}}\nspec: {" +
         (node.empty() ? "" : "nodeName: " + node + ", ") +
         "containers: [{name: c, resources: {requests: {cpu: \"1\"}}}]}\nstatus: {phase: " + phase +
         "}\n";
}

const ClusterEntry& East(const Watching& w) {
  return w.state().cluster(w.state().clusters().at("east"));
}

// ---------------------------------------------------------------- queues

TEST_CASE("a queue is closed by a Command and is Closing while its jobs hold something") {
  Watching w;
  w.Start(JobText().Text());
  REQUIRE(w.Charged());
  w.SeeCommand(CommandText("CloseQueue", "Queue", "gold", "q-uid"));
  w.Step();
  CHECK(w.FindQueue("gold")->state == QueueState::kClosing);
  CHECK(w.observer.TakeObeyed().size() == 1);
  w.SeeWork({.phase = "Completed"});
  w.Step();
  CHECK(w.observer.NextDue() == w.now);
  w.observer.TakeDirtyQueues();
  w.Step();
  CHECK(w.FindQueue("gold")->state == QueueState::kClosed);
  CHECK(w.observer.TakeDirtyQueues() == std::set<std::string>{"gold"});
  CHECK(w.observer.NextDue() == Time());
  w.SeeCommand(CommandText("OpenQueue", "Queue", "gold", "q-uid", "open"));
  w.Step();
  CHECK(w.FindQueue("gold")->state == QueueState::kOpen);
}

TEST_CASE("what State knows of a queue's state holds over its status") {
  Watching w;
  w.Start();
  w.See(QueueText("gold", "q-uid", "state: Closed"));
  CHECK(w.Step().empty());
  CHECK(w.FindQueue("gold")->state == QueueState::kOpen);
  CHECK(w.observer.FindQueue("gold")->state == "Closed");
  // At first sight, and of another Queue under that name, the status is all there is.
  w.See(QueueText("silver", "s-uid", "state: Closed") + "---\n" +
        QueueText("gold", "q-uid-2", "state: Closed"));
  w.Step();
  CHECK(w.FindQueue("silver")->state == QueueState::kClosed);
  CHECK(w.FindQueue("gold")->state == QueueState::kClosed);
}

TEST_CASE("a Command for a queue that is not there or is root is refused") {
  Watching w;
  w.Start(QueueText("root", "r-uid"));
  w.SeeCommand(CommandText("CloseQueue", "Queue", "root", "r-uid", "c1"))
      .SeeCommand(CommandText("CloseQueue", "Queue", "gold", "earlier-uid", "c2"));
  w.Later(30);
  w.Step();
  const auto refused = w.observer.TakeRefused();
  REQUIRE(refused.size() == 2);
  CHECK(refused[0].message.find("root queue cannot be closed") != std::string::npos);
  CHECK(refused[0].ns.empty());
  CHECK(refused[1].message.find("no such Queue") != std::string::npos);
  CHECK(w.FindQueue("gold")->state == QueueState::kOpen);
}

TEST_CASE("a refused queue keeps its last good form and a new one is not there") {
  Watching w;
  w.Start();
  w.See(QueueText("gold", "q-uid", "", "weight: 70000") + "---\n" +
        QueueText("silver", "s-uid", "", "weight: 70000"));
  CHECK(w.Step().empty());
  CHECK(w.FindQueue("gold")->weight == 1);
  CHECK(w.FindQueue("silver") == nullptr);
  const auto refused = w.observer.TakeRefused();
  REQUIRE(refused.size() == 2);
  CHECK(refused[0].message.find("spec.weight (70000)") != std::string::npos);
  CHECK(w.observer.RefusedQueues().at("silver") == refused[1].message);
  w.See(QueueText("silver", "s-uid", "", "weight: 7"));
  w.Step();
  CHECK(w.observer.RefusedQueues().size() == 1);
}

TEST_CASE("queues whose parents lead in a circle are named and keep their jobs waiting") {
  Watching w;
  w.Start(QueueText("a", "a-uid", "", "parent: b") + "---\n" +
          QueueText("b", "b-uid", "", "parent: a") + "---\n" + JobText{.queue = "a"}.Text());
  CHECK(!w.Charged());
  const auto refused = w.observer.TakeRefused();
  REQUIRE(refused.size() == 2);
  CHECK(refused[0].name == "a");
  CHECK(refused[0].message.find("a -> b -> a") != std::string::npos);
  w.See(QueueText("b", "b-uid", "", "parent: root"));
  w.Decide();
  CHECK(w.Charged());
  CHECK(w.observer.TakeRefused().empty());
}

// Case c14.
TEST_CASE("a queue that is deleted while its jobs run stays charged by its name") {
  Watching w;
  const std::string queue = "weight: 1, capability: {cpu: \"10\"}";
  w.See(ClusterText("m1", "True", "2026-01-01T00:00:00Z", "32") + "---\n" +
        QueueText("q", "q-uid-1", "", queue) + "---\n" +
        JobText{.name = "j1", .uid = "u1", .queue = "q", .replicas = 8}.Text());
  w.Relisted();
  w.Decide();
  REQUIRE(w.Charged("j1"));
  const WorkText work{.job = "j1", .cluster = "m1", .applied = "True", .phase = "Running"};
  w.Later(10).SeeWork(work);
  w.Step();
  const auto charged = [&] { return w.state().queue(w.state().queues().at("q")).charged_jobs; };

  w.Later(10);
  w.observer.Delete("Queue", "", "q", "q-uid-1", w.now);
  w.Decide();
  CHECK(w.FindQueue("q") == nullptr);
  CHECK(charged() == 1);
  w.Later(1).See(JobText{.name = "j2", .uid = "u2", .queue = "q", .replicas = 1}.Text());
  CHECK(w.Decide().actions.empty());

  w.Later(9).See(QueueText("q", "q-uid-2", "", queue));
  w.Later(1).See(JobText{.name = "j3", .uid = "u3", .queue = "q", .replicas = 4}.Text());
  w.Decide();
  CHECK(charged() == 2);  // j1 and j2: 9 of 10.
  CHECK(!w.Charged("j3"));

  w.SeeWork({.job = "j2", .uid = "u2", .cluster = "m1", .phase = "Completed"});
  w.Step();
  w.Later(9).SeeCommand(CommandText("CloseQueue", "Queue", "q", "q-uid-2"));
  w.Decide();
  CHECK(w.FindQueue("q")->state == QueueState::kClosing);
  w.Later(10).SeeWork({.job = "j1", .cluster = "m1", .phase = "Completed"});
  w.Decide();
  w.Decide();
  CHECK(w.FindQueue("q")->state == QueueState::kClosed);
  CHECK(!w.Charged("j3"));

  w.Later(10);
  w.observer.Delete("Queue", "", "default", "", w.now);
  w.Step();
  CHECK(w.state().queue(w.state().queues().at("default")).object.has_value());
}

// ---------------------------------------------------------------- clusters

TEST_CASE("Ready is believed after it has stood for a while, both ways") {
  Watching w;
  w.Start();
  CHECK(w.FindCluster("east")->ready);  // At first sight at once.
  w.See(ClusterText("east", "False", "2026-01-10T00:00:00Z"));
  CHECK(w.Step().empty());
  CHECK(w.observer.NextDue() == w.now + Millis(10'000));
  w.Later(9);
  CHECK(w.Step().empty());
  // What else changes is seen at once.
  w.See(ClusterText("east", "False", "2026-01-10T00:00:00Z", "6"));
  w.Step();
  CHECK(w.FindCluster("east")->allocatable.at("cpu") == 6000);
  CHECK(w.FindCluster("east")->ready);
  w.Later(1);
  CHECK(w.Step().size() == 2);
  CHECK(!w.FindCluster("east")->ready);
  CHECK(w.FindCluster("east")->ready_changed == *ParseTime("2026-01-10T00:00:00Z"));
  w.Later(60).See(ClusterText("east", "True", "2026-01-10T00:01:10Z", "6"));
  w.Step();
  CHECK(!w.FindCluster("east")->ready);
  w.Later(10);
  w.Step();
  CHECK(w.FindCluster("east")->ready);
}

TEST_CASE("a change of Ready that does not stand did not happen") {
  Watching w;
  w.Start();
  w.See(ClusterText("east", "False", "2026-01-10T00:00:00Z"));
  w.Step();
  w.Later(5).See(ClusterText("east", "True", "2026-01-10T00:00:05Z"));
  CHECK(w.Step().empty());
  CHECK(w.observer.NextDue() == Time());
  // Off, on and off again between two sights: the time begins anew.
  w.See(ClusterText("east", "False", "2026-01-10T00:00:05Z"));
  w.Step();
  w.Later(5).See(ClusterText("east", "Unknown", "2026-01-10T00:00:09Z"));
  w.Step();
  w.Later(9);
  CHECK(w.Step().empty());
  w.Later(1);
  CHECK(w.Step().size() == 2);
}

TEST_CASE("after a restart Karmada's word on since when counts") {
  for (const bool long_ago : {true, false}) {
    Watching w;
    Cluster known;
    known.name = "east";
    known.uid = "c-uid";
    known.ready = true;
    w.cycle.Observe({ClusterUpsert{known}});
    w.See(ClusterText("east", "False", long_ago ? "2026-01-09T00:00:00Z" : "2026-01-09T23:59:55Z"));
    w.Relisted();
    CHECK(w.FindCluster("east")->ready == !long_ago);
    w.Later(5);
    w.Step();
    CHECK(!w.FindCluster("east")->ready);
  }
}

TEST_CASE("a cluster that is joined anew is believed at once") {
  Watching w;
  w.Start();
  w.See(ClusterText("east", "False", "2026-01-10T00:00:00Z", "8", "another"));
  w.Step();
  CHECK(!w.FindCluster("east")->ready);
  w.observer.Delete("Cluster", "", "east", "another", w.now);
  w.Step();
  CHECK(w.FindCluster("east") == nullptr);
}

TEST_CASE("a cluster that is refused offers nothing") {
  Watching w;
  w.Start();
  w.See(
      "apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {name: east, uid: "
      "c-uid}\nspec: {taints: 7}\n");
  w.Step();
  CHECK(w.observer.TakeRefused().size() == 1);
  w.Later(10);
  w.Step();
  CHECK(!w.FindCluster("east")->ready);
  w.See(ClusterText("east"));
  w.Step();
  w.Later(10);
  w.Step();
  CHECK(w.FindCluster("east")->ready);
}

// ---------------------------------------------------------------- tenants and the rest

TEST_CASE("quotas, namespaces and priority classes come and go") {
  Watching w;
  w.Start(
      "apiVersion: policy.karmada.io/v1alpha1\nkind: FederatedResourceQuota\nmetadata: {name: q, "
      "namespace: team-a, uid: f1}\nspec: {overall: {cpu: \"4\"}}\n---\n"
      "apiVersion: v1\nkind: Namespace\nmetadata: {name: team-a, uid: n1, labels: "
      "{namespace.karmada.io/skip-auto-propagation: \"true\"}}\n---\n"
      "apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: high, uid: "
      "p1}\nvalue: 9\n");
  const TenantEntry& tenant = w.state().tenant(w.state().tenants().at("team-a"));
  const PriorityEntry& high = w.state().priority(w.state().priorities().at("high"));
  CHECK(tenant.quotas.at("q").overall.at("cpu") == 4000);
  CHECK(tenant.object->skip_auto_propagation);
  CHECK(high.object->value == 9);
  w.observer.Delete("FederatedResourceQuota", "team-a", "q", "f1", w.now);
  w.observer.Delete("Namespace", "", "team-a", "n1", w.now);
  w.observer.Delete("PriorityClass", "", "high", "p1", w.now);
  CHECK(w.Step().size() == 4);
  CHECK(tenant.quotas.empty());
  CHECK(!tenant.object.has_value());
  CHECK(!high.object.has_value());
  w.observer.Delete("PriorityClass", "", "high", "p1", w.now);
  CHECK(w.Step().empty());
}

TEST_CASE("what is gone at a listing is deleted") {
  Watching before;
  before.Start();
  Watching w;
  w.cycle.Observe(before.state().Export());
  w.See(ClusterText("east"));
  w.Relisted();
  CHECK(w.FindQueue("gold") == nullptr);
  CHECK(w.FindCluster("east") != nullptr);
}

// ---------------------------------------------------------------- members

TEST_CASE("nodes and pods of members are kept as far as they matter") {
  Watching w;
  w.Start();
  w.observer.UpsertMember("east", ObjectOf(kNode), w.now);
  for (const std::string& pod :
       {PodText("foreign", "n1", "", "Running"), PodText("waiting", "", "", "Pending"),
        PodText("done", "n1", "", "Succeeded"),
        PodText("ours", "", "volcano.sh/job-name: train", "Pending")}) {
    w.observer.UpsertMember("east", ObjectOf(pod), w.now);
  }
  w.Step();
  CHECK(East(w).nodes.at("n1").allocatable.at("cpu") == 4000);
  CHECK(East(w).pods.size() == 2);
  CHECK(East(w).pods.contains({"team-a", "foreign"}));
  CHECK(East(w).pods.contains({"team-a", "ours"}));
  w.observer.UpsertMember("east", ObjectOf(PodText("foreign", "n1", "", "Succeeded")), w.now);
  w.observer.UpsertMember("east", ObjectOf(kNode), w.now);
  CHECK(w.Step().size() == 2);
  CHECK(East(w).pods.size() == 1);
  w.observer.DeleteMember("east", "Node", "", "n1");
  w.Step();
  CHECK(East(w).nodes.empty());
}

TEST_CASE("the members of a cluster that is no longer watched are forgotten") {
  Watching w;
  w.Start();
  w.observer.UpsertMember("east", ObjectOf(kNode), w.now);
  w.observer.UpsertMember(
      "east",
      ObjectOf("apiVersion: topology.volcano.sh/v1alpha1\nkind: HyperNode\nmetadata: "
               "{name: s0, uid: h1}\nspec: {tier: 1, members: [{type: Node, selector: "
               "{exactMatch: {name: n1}}}]}\n"),
      w.now);
  w.Step();
  REQUIRE(East(w).hyper_nodes.size() == 1);
  w.observer.UpsertMember("east", ObjectOf(PodText("late", "n1", "", "Running")), w.now);
  w.observer.ForgetMembers("east");
  w.Step();
  CHECK(East(w).nodes.empty());
  CHECK(East(w).hyper_nodes.empty());
  CHECK(East(w).pods.empty());
}

TEST_CASE("a refused object of a member is named with its cluster") {
  Watching w;
  w.Start();
  w.observer.UpsertMember("east",
                          ObjectOf("apiVersion: topology.volcano.sh/v1alpha1\nkind: HyperNode\n"
                                   "metadata: {name: s0, uid: h1}\nspec: {tier: -1}\n"),
                          w.now);
  const auto refused = w.observer.TakeRefused();
  REQUIRE(refused.size() == 1);
  CHECK(refused[0].name == "east/s0");
  CHECK(refused[0].message.find("spec.tier") != std::string::npos);
}

}  // namespace
}  // namespace caldera::testing
