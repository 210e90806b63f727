// What every kind has in common: kinds, names, metadata, hostile sizes.
#include "federation/intake.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "test/federation/manifests.h"

namespace caldera {
namespace {

std::string QueueOf(const std::string& metadata, const std::string& spec = "{}") {
  return "apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata: " + metadata +
         "\nspec: " + spec + "\n";
}

const caldera::Queue& QueueOf(const Intake& intake) {
  REQUIRE_MESSAGE(intake.change.has_value(), ListIssues(intake.errors));
  return std::get<QueueUpsert>(*intake.change).queue;
}

TEST_CASE("intake: kinds that are read are named with their versions") {
  const std::vector<std::string> kinds = KnownKinds();
  CHECK(kinds.size() == 10);
  CHECK(std::find(kinds.begin(), kinds.end(), "batch.volcano.sh/v1alpha1 Job") != kinds.end());
  CHECK(std::find(kinds.begin(), kinds.end(), "v1 Pod") != kinds.end());
}

TEST_CASE("intake: other kinds are named and nothing more") {
  const Intake intake = Take("apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\n");
  CHECK(!intake.known);
  CHECK(intake.object == "Deployment/web");
  CHECK(intake.kind == "Deployment");
  CHECK(intake.errors.empty());
  CHECK(intake.warnings.empty());
  CHECK(!intake.change.has_value());
  CHECK(Take("apiVersion: v1\nkind: Secret\nmetadata: {name: t, namespace: a}\n").object ==
        "Secret/a/t");
}

TEST_CASE("intake: another version of a known kind is worth a warning") {
  const Intake intake =
      Take("apiVersion: scheduling.volcano.sh/v1alpha2\nkind: Queue\nmetadata: {name: a}\n");
  CHECK(!intake.known);
  CHECK(FindIssue(intake.warnings, "apiVersion", "scheduling.volcano.sh/v1beta1") != nullptr);
  // A batch/v1 Job is simply another kind.
  CHECK(Take("apiVersion: batch/v1\nkind: Job\nmetadata: {name: a}\n").warnings.empty());
}

TEST_CASE("intake: an object must say what it is") {
  const Intake none = Take("metadata: {name: a}\n");
  CHECK(!none.known);
  CHECK(none.object == "?/a");
  CHECK(FindIssue(none.errors, "apiVersion", "is missing") != nullptr);
  CHECK(FindIssue(none.errors, "kind", "is missing") != nullptr);
  const Intake wrong = Take("apiVersion: 1\nkind: [Queue]\n");
  CHECK(FindIssue(wrong.errors, "apiVersion", "must be a string") != nullptr);
  CHECK(FindIssue(wrong.errors, "kind", "must be a string") != nullptr);
}

TEST_CASE("intake: names that are refused") {
  struct Row {
    std::string metadata;
    std::string field;
    std::string part;
  };
  for (const Row& row : std::vector<Row>{
           {"{}", "metadata.name", "is missing"},
           {"null", "metadata.name", "is missing"},
           {"{generateName: q-}", "metadata.name", "generateName"},
           {"{name: Gold}", "metadata.name", "lower-case"},
           {"{name: ''}", "metadata.name", "lower-case"},
           {"{name: 3}", "metadata.name", "must be a string"},
           {"{name: a, uid: 'A B'}", "metadata.uid", "is no uid"},
           {"{name: a, creationTimestamp: yesterday}", "metadata.creationTimestamp", "RFC 3339"},
           {"{name: a, labels: [x]}", "metadata.labels", "must be a map"},
           {"{name: a, labels: {x: 1}}", "metadata.labels[x]", "in quotes"},
           {"{name: a, labels: {'a b': x}}", "metadata.labels[a b]", "\"a b\" is no label key"},
           {"{name: a, labels: {x: 'a b'}}", "metadata.labels[x]", "is no label value"},
           {"{name: a, annotations: {x: {y: z}}}", "metadata.annotations[x]", "must be a string"},
           {"{name: a, annotations: {'a b': x}}", "metadata.annotations[a b]", "no annotation key"},
           {"text", "metadata", "must be a map"},
       }) {
    CAPTURE(row.metadata);
    const Intake intake = Take(QueueOf(row.metadata));
    CHECK(intake.known);
    CHECK(!intake.change.has_value());
    CHECK_MESSAGE(FindIssue(intake.errors, row.field, row.part) != nullptr,
                  ListIssues(intake.errors));
  }
}

TEST_CASE("intake: metadata as it comes from an API") {
  const Intake intake = Take(QueueOf(
      "{name: gold, uid: 6f7f3c1e-0000-4000-8000-000000000001, resourceVersion: '7', generation: 2,"
      " creationTimestamp: '2026-01-01T00:00:00Z', labels: {team: a}, annotations: {note: 'a b'},"
      " managedFields: [{manager: kubectl}]}"));
  CHECK(QueueOf(intake).uid == "6f7f3c1e-0000-4000-8000-000000000001");
  CHECK(FormatTime(QueueOf(intake).creation) == "2026-01-01T00:00:00Z");
  CHECK(intake.warnings.empty());
}

TEST_CASE("intake: what an object without an API lacks is made up the same each time") {
  const Intake first = Take(QueueOf("{name: gold, creationTimestamp: null}"));
  const Intake again = Take(QueueOf("{name: gold}"));
  const Intake other = Take(QueueOf("{name: silver}"));
  CHECK(QueueOf(first).creation == TestNow());
  CHECK(QueueOf(first).uid == QueueOf(again).uid);
  CHECK(QueueOf(first).uid != QueueOf(other).uid);
  CHECK(QueueOf(first).uid.size() == 36);
}

TEST_CASE("intake: a namespace is given where it is missing and ignored where it has no place") {
  const Intake queue = Take(QueueOf("{name: gold, namespace: team-a}"));
  CHECK(queue.object == "Queue/gold");
  CHECK(FindIssue(queue.warnings, "metadata.namespace", "is ignored") != nullptr);
  CHECK(queue.change.has_value());

  const std::string quota =
      "apiVersion: policy.karmada.io/v1alpha1\nkind: FederatedResourceQuota\n"
      "metadata: {name: q}\nspec: {overall: {cpu: 1}}\n";
  const Intake tenant = Take(quota);
  CHECK(tenant.object == "FederatedResourceQuota/default/q");
  CHECK(std::get<TenantQuotaUpsert>(*tenant.change).quota.tenant == "default");
  CHECK(tenant.defaulted.At({"metadata", "namespace"})->AsString() == "default");
}

TEST_CASE("intake: hostile names are cut in messages") {
  const std::string name(size_t{1} << 20U, 'A');
  const Intake intake = Take(QueueOf("{name: " + name + ", namespace: " + name + "}"));
  CHECK(intake.object.size() < 100);
  REQUIRE(!intake.errors.empty());
  for (const Issue& issue : intake.errors) {
    CHECK(issue.object.size() < 100);
    CHECK(issue.value.size() <= 64);
    CHECK(issue.message.size() < 500);
  }
  const Intake kind = Take("apiVersion: v1\nkind: " + name + "\nmetadata: {name: a}\n");
  CHECK(kind.kind.size() <= 64);
  CHECK(kind.object.size() < 100);
}

TEST_CASE("intake: every complaint says where") {
  const Intake intake = Take(
      "apiVersion: scheduling.volcano.sh/v1beta1\n"
      "kind: Queue\n"
      "metadata:\n"
      "  name: gold\n"
      "spec:\n"
      "  weight: heavy\n");
  REQUIRE(intake.errors.size() == 1);
  const Issue& issue = intake.errors.front();
  CHECK(issue.object == "Queue/gold");
  CHECK(issue.file == "test.yaml");
  CHECK(issue.mark.line == 6);
  CHECK(issue.mark.column == 11);
  CHECK(issue.field == "spec.weight");
  CHECK(issue.value == "heavy");
}

TEST_CASE("intake: the document is kept whole") {
  const Intake intake =
      Take(QueueOf("{name: gold, x-note: kept}", "{weight: 3, unknown: [1, {a: b}]}"));
  CHECK(intake.defaulted.At({"metadata", "x-note"})->AsString() == "kept");
  CHECK(intake.defaulted.At({"spec", "unknown"})->AsList().size() == 2);
}

}  // namespace
}  // namespace caldera
