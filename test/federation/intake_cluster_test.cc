// Cluster, and what lives in one: Node, Pod, HyperNode.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "federation/intake.h"
#include "test/federation/manifests.h"

namespace caldera {
namespace {

struct Row {
  std::string body;
  std::string field;
  std::string part;
};

void CheckRefused(const std::string& head, const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    CAPTURE(row.body);
    const Intake intake = Take(head + row.body + "\n");
    CHECK(!intake.change.has_value());
    CHECK_MESSAGE(FindIssue(intake.errors, row.field, row.part) != nullptr,
                  ListIssues(intake.errors));
  }
}

template <typename Upsert>
Upsert Accepted(const std::string& yaml) {
  const Intake intake = Take(yaml);
  REQUIRE_MESSAGE(intake.change.has_value(), ListIssues(intake.errors));
  return std::get<Upsert>(*intake.change);
}

const std::string kClusterHead =
    "apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {name: east}\n";

TEST_CASE("cluster: every field") {
  const Cluster cluster = Accepted<ClusterUpsert>(R"(
apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata:
  name: east
  uid: u1
  labels: {gpu: a100}
  annotations: {federation.caldera.sh/cost: "7"}
  deletionTimestamp: "2026-11-30T00:00:00Z"
spec:
  syncMode: Push
  provider: acme
  region: eu-1
  zones: [a, b]
  taints: [{key: maintenance, value: soon, effect: NoSchedule, timeAdded: "2026-11-30T00:00:00Z"}]
status:
  kubernetesVersion: v1.36.0
  apiEnablements:
  - groupVersion: batch.volcano.sh/v1alpha1
    resources: [{name: jobs, kind: Job}, {name: jobs/status, kind: Job}]
  - groupVersion: apps/v1
    resources: [{name: deployments, kind: Deployment}]
  - groupVersion: scheduling.volcano.sh/v1beta1
    resources: [{name: queues, kind: Queue}]
  conditions:
  - {type: CompleteAPIEnablements, status: "True"}
  - {type: Ready, status: "True", reason: ClusterReady, lastTransitionTime: "2026-11-30T12:00:00Z"}
  resourceSummary:
    allocatable: {cpu: "600", memory: 700Gi, pods: "5000", ephemeral-storage: 1.5}
    allocated: {cpu: 1500500u, pods: 3}
    allocating: {cpu: 2, ephemeral-storage: 1.5}
)")
                              .cluster;
  CHECK(cluster.name == "east");
  CHECK(cluster.uid == "u1");
  CHECK(cluster.labels == Labels{{"gpu", "a100"}});
  CHECK(cluster.deleting);
  CHECK(cluster.cost == 7);
  CHECK(cluster.provider == "acme");
  CHECK(cluster.region == "eu-1");
  CHECK(cluster.zones == std::vector<std::string>{"a", "b"});
  CHECK(cluster.taints == std::vector<Taint>{{"maintenance", "soon", "NoSchedule"}});
  CHECK(cluster.ready);
  CHECK(FormatTime(cluster.ready_changed) == "2026-11-30T12:00:00Z");
  CHECK(cluster.apis_known);
  CHECK(cluster.apis == std::vector<std::string>{"batch.volcano.sh/v1alpha1/Job",
                                                 "scheduling.volcano.sh/v1beta1/Queue"});
  CHECK(cluster.has_summary);
  // Capacity rounds down; what is used rounds up.
  CHECK(cluster.allocatable.at("ephemeral-storage") == 1);
  CHECK(cluster.allocated == ResourceList{{"cpu", 1501}, {"pods", 3}});
  CHECK(cluster.allocating == ResourceList{{"cpu", 2000}, {"ephemeral-storage", 2}});
}

TEST_CASE("cluster: little is known") {
  const Cluster bare = Accepted<ClusterUpsert>(kClusterHead).cluster;
  CHECK(!bare.ready);
  CHECK(bare.ready_changed == Time{});
  CHECK(!bare.apis_known);
  CHECK(!bare.has_summary);
  CHECK(!bare.deleting);
  const Cluster old =
      Accepted<ClusterUpsert>(kClusterHead +
                              "spec: {zone: a}\nstatus: {apiEnablements: [], resourceSummary: {},"
                              " conditions: [{type: Ready, status: Unknown}]}\n")
          .cluster;
  CHECK(old.zones == std::vector<std::string>{"a"});
  CHECK(old.apis_known);
  CHECK(old.has_summary);
  CHECK(!old.ready);
}

TEST_CASE("cluster: what is refused") {
  CheckRefused(
      kClusterHead,
      {{"spec: x", "spec", "must be a map"},
       {"spec: {taints: [{key: a}]}", "spec.taints[0].effect", "NoSchedule"},
       {"spec: {taints: [{key: 'a b', effect: NoExecute}]}", "spec.taints[0].key", "label key"},
       {"spec: {zones: a}", "spec.zones", "must be a list"},
       {"status: {conditions: [{type: Ready, status: true}]}", "status.conditions[0].status",
        "in quotes"},
       {"status: {conditions: [{type: Ready, status: 'yes'}]}", "status.conditions[0].status",
        "\"True\""},
       {"status: {conditions: [{type: Ready, status: 'True', lastTransitionTime: now}]}",
        "status.conditions[0].lastTransitionTime", "RFC 3339"},
       {"status: {resourceSummary: {allocatable: {cpu: -1}}}",
        "status.resourceSummary.allocatable[cpu]", "negative"},
       {"status: {resourceSummary: [1]}", "status.resourceSummary", "must be a map"},
       {"status: {apiEnablements: [{groupVersion: batch.volcano.sh/v1alpha1, resources: Job}]}",
        "status.apiEnablements[0].resources", "must be a list"}});
  CheckRefused("apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\n",
               {{"metadata: {name: a.b}", "metadata.name", "at most 48"},
                {"metadata: {name: " + std::string(49, 'a') + "}", "metadata.name", "at most 48"},
                {"metadata: {name: a, annotations: {federation.caldera.sh/cost: cheap}}",
                 "metadata.annotations[federation.caldera.sh/cost]", "an integer from 0"},
                {"metadata: {name: a, annotations: {federation.caldera.sh/cost: '-1'}}",
                 "metadata.annotations[federation.caldera.sh/cost]", "an integer from 0"}});
}

std::string InEast(const std::string& api_version, const std::string& kind,
                   const std::string& more = "") {
  return "apiVersion: " + api_version + "\nkind: " + kind +
         "\nmetadata: {name: n1, annotations: {federation.caldera.sh/cluster: east}" + more + "}\n";
}

TEST_CASE("members: each says in which cluster it is") {
  const auto node = [](const std::string& metadata) {
    return Take("apiVersion: v1\nkind: Node\nmetadata: {name: n1" + metadata + "}\n");
  };
  for (const std::string metadata :
       {", annotations: {federation.caldera.sh/cluster: east}",
        ", labels: {federation.caldera.sh/cluster: east}",
        ", annotations: {resource.karmada.io/cached-from-cluster: east}"}) {
    const Intake intake = node(metadata);
    REQUIRE_MESSAGE(intake.change.has_value(), ListIssues(intake.errors));
    CHECK(intake.object == "Node/east/n1");
    CHECK(std::get<NodeUpsert>(*intake.change).node.cluster == "east");
  }
  const Intake nowhere = node("");
  CHECK(nowhere.object == "Node/?/n1");
  CHECK(FindIssue(nowhere.errors, "metadata", "federation.caldera.sh/cluster") != nullptr);
  CHECK(FindIssue(node(", annotations: {federation.caldera.sh/cluster: A B}").errors, "metadata",
                  "names no cluster") != nullptr);
}

TEST_CASE("node: every field") {
  const Node node = Accepted<NodeUpsert>(InEast("v1", "Node", ", labels: {zone: a}") +
                                         "spec: {unschedulable: true, taints: [{key: gpu, effect: "
                                         "NoSchedule}]}\n"
                                         "status: {allocatable: {cpu: 7910m, nvidia.com/gpu: 8},"
                                         " capacity: {cpu: 8},"
                                         " conditions: [{type: Ready, status: 'False'}]}\n")
                        .node;
  CHECK(node.name == "n1");
  CHECK(node.labels == Labels{{"zone", "a"}});
  CHECK(node.unschedulable);
  CHECK(!node.ready);
  CHECK(node.taints == std::vector<Taint>{{"gpu", "", "NoSchedule"}});
  CHECK(node.allocatable == ResourceList{{"cpu", 7910}, {"nvidia.com/gpu", 8}});
}

TEST_CASE("node: defaults") {
  const Node bare = Accepted<NodeUpsert>(InEast("v1", "Node")).node;
  CHECK(bare.ready);
  CHECK(!bare.unschedulable);
  CHECK(bare.allocatable.empty());
  const Node capacity =
      Accepted<NodeUpsert>(InEast("v1", "Node") +
                           "status: {capacity: {cpu: 8}, conditions: [{type: MemoryPressure, "
                           "status: 'False'}]}\n")
          .node;
  CHECK(capacity.ready);
  CHECK(capacity.allocatable == ResourceList{{"cpu", 8000}});
  CheckRefused(InEast("v1", "Node"),
               {{"spec: {unschedulable: 1}", "spec.unschedulable", "true or false"},
                {"status: {allocatable: {nvidia.com/gpu: 500m}}",
                 "status.allocatable[nvidia.com/gpu]", "whole number"},
                {"status: 3", "status", "must be a map"}});
}

TEST_CASE("pod: what is bound and whose it is") {
  const Intake intake =
      Take(InEast("v1", "Pod", ", namespace: team-a, labels: {volcano.sh/job-name: train}") +
           "spec: {nodeName: node-1, containers: [{name: c, resources: {limits: {cpu: 2}}}]}\n"
           "status: {phase: Running}\n");
  REQUIRE_MESSAGE(intake.change.has_value(), ListIssues(intake.errors));
  CHECK(intake.object == "Pod/east/team-a/n1");
  const Pod& pod = std::get<PodUpsert>(*intake.change).pod;
  CHECK(pod.cluster == "east");
  CHECK(pod.ns == "team-a");
  CHECK(pod.node == "node-1");
  CHECK(pod.requests == ResourceList{{"cpu", 2000}, {"pods", 1}});
  CHECK(!pod.terminal);
  CHECK(pod.job == "train");
  CHECK(pod.task.empty());
}

TEST_CASE("pod: task by annotation and terminal phases") {
  const auto phase = [](const std::string& text) {
    return Accepted<PodUpsert>(
               "apiVersion: v1\nkind: Pod\nmetadata: {name: p, annotations: "
               "{federation.caldera.sh/cluster: east, volcano.sh/task-spec: worker,"
               " volcano.sh/job-name: train}}\nstatus: {phase: " +
               text + "}\n")
        .pod;
  };
  CHECK(phase("Succeeded").terminal);
  CHECK(phase("Failed").terminal);
  CHECK(!phase("Pending").terminal);
  CHECK(phase("Unknown").task == "worker");
  CHECK(phase("Running").job == "train");
  CheckRefused(InEast("v1", "Pod"),
               {{"status: {phase: Done}", "status.phase", "must be Pending"},
                {"spec: {containers: [{resources: {requests: {cpu: x}}}]}",
                 "spec.containers[0].resources.requests[cpu]", "is no quantity"}});
}

const std::string kHyperNodeHead = InEast("topology.volcano.sh/v1alpha1", "HyperNode");

TEST_CASE("hypernode: members") {
  const Intake intake = Take(kHyperNodeHead + R"(
spec:
  tier: 1
  tierName: rack
  members:
  - {type: Node, selector: {exactMatch: {name: node-1}}}
  - {type: Node, selector: {regexMatch: {pattern: "(?i)^NODE-[[:digit:]]+$"}}}
  - type: Node
    selector:
      labelMatch:
        matchLabels: {rack: r1}
        matchExpressions: [{key: gpu, operator: In, values: [a, b]}, {key: old, operator: DoesNotExist}]
  - {type: HyperNode, selector: {exactMatch: {name: leaf-1}}}
)");
  REQUIRE_MESSAGE(intake.change.has_value(), ListIssues(intake.errors));
  CHECK(intake.warnings.empty());
  const HyperNode& node = std::get<HyperNodeUpsert>(*intake.change).hyper_node;
  CHECK(node.cluster == "east");
  CHECK(node.tier == 1);
  CHECK(node.tier_name == "rack");
  REQUIRE(node.members.size() == 4);
  CHECK(node.members[0].exact == "node-1");
  CHECK(node.members[1].regex == "(?i)^NODE-[[:digit:]]+$");
  CHECK(node.members[2].match_labels == Labels{{"rack", "r1"}});
  CHECK(node.members[2].match_expressions.size() == 2);
  CHECK(node.members[3].type == "HyperNode");
}

TEST_CASE("hypernode: selectors that select nothing are worth a warning") {
  const Intake intake = Take(kHyperNodeHead +
                             "spec: {tier: 0, members: [{type: Node, selector: {labelMatch: {}}},"
                             " {type: HyperNode, selector: {regexMatch: {pattern: 'a+'}}}]}\n");
  REQUIRE(intake.change.has_value());
  CHECK(FindIssue(intake.warnings, "spec.members[0].selector.labelMatch", "selects no node") !=
        nullptr);
  CHECK(FindIssue(intake.warnings, "spec.members[1].selector", "only exactMatch") != nullptr);
}

TEST_CASE("hypernode: misspelt fields are named") {
  const Intake intake =
      Take(kHyperNodeHead +
           "spec: {tier: 0, teirName: a, members: [{type: Node, kind: b, selector: {exactMatch: "
           "{name: a}, regexMach: {}}}]}\n");
  CHECK(intake.change.has_value());
  CHECK(FindIssue(intake.warnings, "spec.teirName", "did you mean tierName?") != nullptr);
  CHECK(FindIssue(intake.warnings, "spec.members[0].kind", "is not a field") != nullptr);
  CHECK(FindIssue(intake.warnings, "spec.members[0].selector.regexMach", "regexMatch?") != nullptr);
}

TEST_CASE("hypernode: what is refused") {
  const auto regex = [](const std::string& pattern) {
    return "spec: {tier: 1, members: [{type: Node, selector: {regexMatch: {pattern: '" + pattern +
           "'}}}]}";
  };
  const std::string pattern = "spec.members[0].selector.regexMatch.pattern";
  const std::string selector = "spec.members[0].selector";
  const std::string one = ", members: [{type: Node, selector: {exactMatch: {name: a}}}]}";
  CheckRefused(
      kHyperNodeHead,
      {{regex("a(b"), pattern, "missing )"},
       {regex("^(?!node-1$).*"), pattern, "RE2"},
       {regex("(n)ode-\\1"), pattern, "RE2"},
       {regex(""), pattern, "is missing"},
       {regex(std::string(5000, 'a')), pattern, "at most 4096"},
       {"spec: {tier: 1, members: [{type: Node, selector: {exactMatch: {name: a}, regexMatch: "
        "{pattern: b}}}]}",
        selector, "exactly one"},
       {"spec: {tier: 1, members: [{type: Node, selector: {}}]}", selector, "exactly one"},
       {"spec: {tier: 1, members: [{type: Node}]}", selector, "exactly one"},
       {"spec: {tier: 1, members: [{type: Rack, selector: {exactMatch: {name: a}}}]}",
        "spec.members[0].type", "Node or HyperNode"},
       {"spec: {tier: 1, members: [{type: Node, selector: {exactMatch: {name: A}}}]}",
        "spec.members[0].selector.exactMatch.name", "lower-case"},
       {"spec: {tier: 1, members: [{type: Node, selector: {labelMatch: {matchExpressions: [{key: a,"
        " operator: Gt, values: ['1']}]}}}]}",
        "spec.members[0].selector.labelMatch.matchExpressions[0].operator", "In, NotIn"},
       {"spec: {tier: 1, members: [{type: Node, selector: {labelMatch: {matchExpressions: [{key: a,"
        " operator: In}]}}}]}",
        "spec.members[0].selector.labelMatch.matchExpressions[0].values", "must not be empty"},
       {"spec: {tier: 1, members: []}", "spec.members", "at least one"},
       {"spec: {tier: 1}", "spec.members", "at least one"},
       {"spec: {tier: -1" + one, "spec.tier", "from 0"},
       {"spec: {tier: one" + one, "spec.tier", "an integer"},
       {"spec: {tierName: rack" + one, "spec.tier", "is missing"}});
}

}  // namespace
}  // namespace caldera
