#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "federation/intake.h"
#include "test/federation/manifests.h"

namespace caldera {
namespace {

std::string Quota(const std::string& spec, const std::string& more = "") {
  return "apiVersion: policy.karmada.io/v1alpha1\nkind: FederatedResourceQuota\n"
         "metadata: {name: main, namespace: team-a" +
         more + "}\nspec: " + spec + "\n";
}

TEST_CASE("quota: keys are normalised and the smaller of two forms binds") {
  const Intake intake = Take(
      Quota("{overall: {requests.cpu: '100', cpu: '80', requests.memory: 1Ti, nvidia.com/gpu: 16,"
            " requests.nvidia.com/gpu: 8, count/pods: 50, pods: 60, ephemeral-storage: 0},"
            " staticAssignments: [{clusterName: m1, hard: {requests.cpu: 30}},"
            " {clusterName: m2, hard: {cpu: 50, nvidia.com/gpu: 0}}]}",
            ", annotations: {federation.caldera.sh/weight: '3'}"));
  REQUIRE_MESSAGE(intake.change.has_value(), ListIssues(intake.errors));
  CHECK(intake.warnings.empty());
  const TenantQuota& quota = std::get<TenantQuotaUpsert>(*intake.change).quota;
  CHECK(quota.tenant == "team-a");
  CHECK(quota.name == "main");
  CHECK(quota.weight == 3);
  CHECK(quota.overall == ResourceList{{"cpu", 80'000},
                                      {"ephemeral-storage", 0},
                                      {"memory", 1'099'511'627'776},
                                      {"nvidia.com/gpu", 8},
                                      {"pods", 50}});
  CHECK(quota.per_cluster ==
        std::map<std::string, ResourceList>{{"m1", {{"cpu", 30'000}}},
                                            {"m2", {{"cpu", 50'000}, {"nvidia.com/gpu", 0}}}});
}

TEST_CASE("quota: what is not counted is left out with a warning") {
  const std::vector<std::string> keys{
      "limits.cpu",         "limits.memory",
      "count/jobs.batch",   "configmaps",
      "requests.storage",   "storage",
      "services.nodeports", "gold.storageclass.storage.k8s.io/requests.storage"};
  std::string overall = "{cpu: 1";
  for (const std::string& key : keys) {
    overall += ", " + key + ": 5";
  }
  const Intake intake = Take(Quota("{overall: " + overall + "}}"));
  REQUIRE_MESSAGE(intake.change.has_value(), ListIssues(intake.errors));
  CHECK(std::get<TenantQuotaUpsert>(*intake.change).quota.overall == ResourceList{{"cpu", 1000}});
  CHECK(intake.warnings.size() == keys.size());
  CHECK(FindIssue(intake.warnings, "spec.overall[limits.cpu]", "is not counted") != nullptr);
}

TEST_CASE("quota: what is refused") {
  struct Row {
    std::string spec;
    std::string field;
    std::string part;
  };
  for (const Row& row : std::vector<Row>{
           {"{}", "spec.overall", "is missing"},
           {"{overall: 3}", "spec.overall", "must be a map"},
           {"{overall: {cpu: -1}}", "spec.overall[cpu]", "negative"},
           {"{overall: {cpu: 1}, staticAssignments: [{hard: {cpu: 1}}]}",
            "spec.staticAssignments[0].clusterName", "is missing"},
           {"{overall: {cpu: 1}, staticAssignments: [{clusterName: A, hard: {cpu: 1}}]}",
            "spec.staticAssignments[0].clusterName", "no cluster name"},
           {"{overall: {cpu: 1}, staticAssignments: [{clusterName: a}]}",
            "spec.staticAssignments[0].hard", "is missing"},
           {"{overall: {cpu: 9}, staticAssignments: [{clusterName: a, hard: {cpu: 1}},"
            " {clusterName: a, hard: {cpu: 1}}]}",
            "spec.staticAssignments[1].clusterName", "named twice"},
           {"{overall: {cpu: 5}, staticAssignments: [{clusterName: a, hard: {cpu: 3}},"
            " {clusterName: b, hard: {cpu: 3}}]}",
            "spec.overall", "at least the 6"},
           {"{overall: {cpu: 5}, staticAssignments: [{clusterName: a, hard: {memory: 3}}]}",
            "spec.overall", "must have memory too"},
       }) {
    CAPTURE(row.spec);
    const Intake intake = Take(Quota(row.spec));
    CHECK(!intake.change.has_value());
    CHECK_MESSAGE(FindIssue(intake.errors, row.field, row.part) != nullptr,
                  ListIssues(intake.errors));
  }
  for (const std::string weight : {"0", "65536", "many", "", "1.5"}) {
    CAPTURE(weight);
    const Intake intake = Take(Quota(
        "{overall: {cpu: 1}}", ", annotations: {federation.caldera.sh/weight: '" + weight + "'}"));
    CHECK(FindIssue(intake.errors, "metadata.annotations[federation.caldera.sh/weight]",
                    "from 1 to 65535") != nullptr);
  }
}

TEST_CASE("quota: misspelt fields are named") {
  const Intake intake =
      Take(Quota("{overall: {cpu: 5}, staticAssignment: [], staticAssignments: [{clusterName: a,"
                 " hard: {cpu: 3}, hart: {}}]}"));
  CHECK(intake.change.has_value());
  CHECK(FindIssue(intake.warnings, "spec.staticAssignment", "did you mean staticAssignments?") !=
        nullptr);
  CHECK(FindIssue(intake.warnings, "spec.staticAssignments[0].hart", "did you mean hard?") !=
        nullptr);
}

TEST_CASE("quota: assignments of a stored quota may exceed overall") {
  const Intake intake =
      Take(Quota("{overall: {cpu: 5}, staticAssignments: [{clusterName: a, hard: {cpu: 30}}]}"),
           Strictness::kStored);
  CHECK(intake.change.has_value());
}

TEST_CASE("priority class") {
  const auto take = [](const std::string& name, const std::string& body) {
    return Take("apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: " + name +
                "}\n" + body + "\n");
  };
  const auto accepted = [&](const std::string& name, const std::string& body) {
    const Intake intake = take(name, body);
    REQUIRE_MESSAGE(intake.change.has_value(), ListIssues(intake.errors));
    return std::get<PriorityClassUpsert>(*intake.change).priority_class;
  };
  const PriorityClass high =
      accepted("high", "value: 1000\nglobalDefault: true\npreemptionPolicy: Never\n");
  CHECK(high.name == "high");
  CHECK(high.value == 1000);
  CHECK(high.global_default);
  CHECK(!high.preempts);
  CHECK(accepted("low", "value: -10").preempts);
  CHECK(accepted("none", "description: x").value == 0);
  CHECK(accepted("system-node-critical", "value: 2000001000").value == 2'000'001'000);
  CHECK(FindIssue(take("a", "value: 1000000001").errors, "value", "at most 1000000000") != nullptr);
  CHECK(FindIssue(take("a", "value: 99999999999").errors, "value", "to 2147483647") != nullptr);
  CHECK(FindIssue(take("a", "value: '7'").errors, "value", "without quotes") != nullptr);
  CHECK(FindIssue(take("a", "value: 1\npreemptionPolicy: Maybe").errors, "preemptionPolicy",
                  "Never or PreemptLowerPriority") != nullptr);
}

TEST_CASE("namespace") {
  const auto skips = [](const std::string& metadata) {
    const Intake intake =
        Take("apiVersion: v1\nkind: Namespace\nmetadata: {name: team-a" + metadata + "}\n");
    REQUIRE_MESSAGE(intake.change.has_value(), ListIssues(intake.errors));
    return std::get<NamespaceUpsert>(*intake.change).ns.skip_auto_propagation;
  };
  CHECK(!skips(""));
  CHECK(skips(", labels: {namespace.karmada.io/skip-auto-propagation: 'true'}"));
  CHECK(skips(", labels: {namespace.karmada.io/skip-auto-propagation: 'True'}"));
  CHECK(!skips(", labels: {namespace.karmada.io/skip-auto-propagation: 'yes'}"));
  CHECK(Take("apiVersion: v1\nkind: Namespace\nmetadata: {name: a.b}\n").errors.size() == 1);
}

}  // namespace
}  // namespace caldera
