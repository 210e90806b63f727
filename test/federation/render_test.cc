#include "federation/render.h"

#include <doctest/doctest.h>

#include <variant>

#include "test/federation/manifests.h"

using namespace caldera;

namespace {

Intake Parent() {
  return Take(
      "apiVersion: batch.volcano.sh/v1alpha1\n"
      "kind: Job\n"
      "metadata:\n"
      "  name: train\n"
      "  namespace: team-a\n"
      "  uid: u-1\n"
      "  resourceVersion: \"7\"\n"
      "  generation: 3\n"
      "  creationTimestamp: \"2026-12-01T07:00:00Z\"\n"
      "  finalizers: [a/b]\n"
      "  ownerReferences: [{apiVersion: v1, kind: Pod, name: x, uid: y}]\n"
      "  managedFields: [{manager: kubectl}]\n"
      "  labels: {app: x, resourcetemplate.karmada.io/claimed-by: caldera}\n"
      "  annotations:\n"
      "    example.org/owner: me\n"
      "    federation.caldera.sh/hold: \"false\"\n"
      "    kubectl.kubernetes.io/last-applied-configuration: \"{}\"\n"
      "spec:\n"
      "  futureField: {keep: me}\n"
      "  tasks:\n"
      "  - name: master\n"
      "    replicas: 1\n"
      "    template: {spec: {containers: [{name: c, image: i}]}}\n"
      "  - name: worker\n"
      "    replicas: 6\n"
      "    template:\n"
      "      spec:\n"
      "        initContainers: [{name: i, image: i}]\n"
      "        containers:\n"
      "        - {name: c, image: i, env: [{name: CALDERA_EPOCH, value: mine}, {name: A, value: "
      "b}]}\n"
      "status: {state: {phase: Pending}}\n");
}

ShardContext TwoShards(int32_t index) {
  ShardContext context;
  context.job_uid = "u-1";
  context.index = index;
  context.intent = 42;
  context.all_shards = {{"east", 3, "", {{"master", 1, 1}, {"worker", 4, 4}}, 5, {}},
                        {"west", 3, "", {{"worker", 2, 2}}, 2, {}}};
  return context;
}

std::string Variable(const Value& container, const std::string& name) {
  std::string found = "(none)";
  for (const Value& entry : container.Find("env")->AsList()) {
    if (entry.Find("name")->AsString() == name) {
      REQUIRE(found == "(none)");
      found = entry.Find("value")->AsString();
    }
  }
  return found;
}

const Value& Container(const Value& job, size_t task, const char* list = "containers") {
  return job.At({"spec", "tasks"})->AsList()[task].At({"template", "spec", list})->AsList().front();
}

}  // namespace

TEST_CASE("render: a shard keeps name, unknown fields and nothing of the parent's life") {
  const Intake parent = Parent();
  REQUIRE_MESSAGE(parent.errors.empty(), ListIssues(parent.errors));
  const Value job = *RenderShardJob(parent.defaulted, TwoShards(0));
  CHECK(job.Find("status") == nullptr);
  const Value metadata = *job.Find("metadata");
  Value wanted{Value::Map{}};
  wanted.Set("name", "train");
  wanted.Set("namespace", "team-a");
  wanted.Set("labels", Value::Map{{"app", "x", {}}, {"karmada.io/managed", "true", {}}});
  wanted.Set("annotations", Value::Map{{"example.org/owner", "me", {}},
                                       {"work.karmada.io/name", "caldera-u-1", {}},
                                       {"work.karmada.io/namespace", "karmada-es-east", {}}});
  CHECK(metadata == wanted);
  CHECK(job.At({"spec", "futureField", "keep"})->AsString() == "me");
}

TEST_CASE("render: tasks have what the shard was granted, all tasks are there") {
  const Value west = *RenderShardJob(Parent().defaulted, TwoShards(1));
  CHECK(west.At({"spec", "minAvailable"})->AsInteger() == 2);
  const Value::List& tasks = west.At({"spec", "tasks"})->AsList();
  REQUIRE(tasks.size() == 2);
  CHECK(tasks[0].Find("replicas")->AsInteger() == 0);
  CHECK(tasks[0].Find("minAvailable")->AsInteger() == 0);
  CHECK(tasks[1].Find("replicas")->AsInteger() == 2);
  CHECK(tasks[1].Find("minAvailable")->AsInteger() == 2);
}

TEST_CASE("render: every container knows its cluster, shard, ranks and epoch") {
  ShardContext context = TwoShards(1);
  context.rendezvous = "host:29500";
  const Value west = *RenderShardJob(Parent().defaulted, context);
  for (const Value* const container :
       {&Container(west, 0), &Container(west, 1), &Container(west, 1, "initContainers")}) {
    CHECK(Variable(*container, "CALDERA_CLUSTER") == "west");
    CHECK(Variable(*container, "CALDERA_SHARD_INDEX") == "1");
    CHECK(Variable(*container, "CALDERA_SHARD_COUNT") == "2");
    CHECK(Variable(*container, "CALDERA_WORLD_SIZE") == "7");
    CHECK(Variable(*container, "CALDERA_EPOCH") == "3");
    CHECK(Variable(*container, "CALDERA_RENDEZVOUS") == "host:29500");
    CHECK(Variable(*container, "CALDERA_RESTORE_FROM") == "(none)");
  }
  CHECK(Variable(Container(west, 0), "CALDERA_RANK_OFFSET") == "1");
  CHECK(Variable(Container(west, 1), "CALDERA_RANK_OFFSET") == "4");
  CHECK(Variable(Container(west, 1), "A") == "b");
  const Value east = *RenderShardJob(Parent().defaulted, TwoShards(0));
  CHECK(Variable(Container(east, 1), "CALDERA_RANK_OFFSET") == "0");
}

TEST_CASE("render: what was rendered is rendered to the same again") {
  const Value once = *RenderShardJob(Parent().defaulted, TwoShards(0));
  CHECK(*RenderShardJob(once, TwoShards(0)) == once);
}

TEST_CASE("render: partitions of a shard are whole ones") {
  const Intake parent = Take(
      "apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nmetadata: {name: p}\nspec: {tasks: "
      "[{name: "
      "w, replicas: 8, partitionPolicy: {totalPartitions: 4, partitionSize: 2, minPartitions: 4}, "
      "template: {spec: {containers: [{name: c, image: i}]}}}]}\n");
  REQUIRE_MESSAGE(parent.errors.empty(), ListIssues(parent.errors));
  ShardContext context;
  context.job_uid = "u";
  context.all_shards = {{"east", 1, "", {{"w", 6, 6}}, 6, {}},
                        {"west", 1, "", {{"w", 2, 2}}, 2, {}}};
  const Value east = *RenderShardJob(parent.defaulted, context);
  const Value& policy = *east.At({"spec", "tasks"})->AsList().front().Find("partitionPolicy");
  CHECK(policy.Find("totalPartitions")->AsInteger() == 3);
  CHECK(policy.Find("minPartitions")->AsInteger() == 3);
  context.all_shards.front().tasks.clear();
  const Value none = *RenderShardJob(parent.defaulted, context);
  CHECK(none.At({"spec", "tasks"})->AsList().front().Find("partitionPolicy") == nullptr);
}

TEST_CASE("render: the Work carries the shard and says whose it is") {
  ShardContext context = TwoShards(1);
  const Value job = *RenderShardJob(Parent().defaulted, context);
  const Value work = RenderWork(job, context);
  CHECK(work.Find("apiVersion")->AsString() == "work.karmada.io/v1alpha1");
  CHECK(work.Find("kind")->AsString() == "Work");
  CHECK(work.At({"metadata", "name"})->AsString() == "caldera-u-1");
  CHECK(work.At({"metadata", "namespace"})->AsString() == "karmada-es-west");
  CHECK(work.At({"metadata", "labels", "app.kubernetes.io/managed-by"})->AsString() == "caldera");
  CHECK(*work.At({"metadata", "finalizers"}) ==
        Value(Value::List{Value("karmada.io/execution-controller")}));
  const Value& annotations = *work.At({"metadata", "annotations"});
  CHECK(annotations.Find("federation.caldera.sh/job")->AsString() == "team-a/train");
  CHECK(annotations.Find("federation.caldera.sh/job-uid")->AsString() == "u-1");
  CHECK(annotations.Find("federation.caldera.sh/epoch")->AsString() == "3");
  CHECK(annotations.Find("federation.caldera.sh/shard")->AsString() == "1");
  CHECK(annotations.Find("federation.caldera.sh/intent")->AsString() == "42");
  const Value::List& manifests = work.At({"spec", "workload", "manifests"})->AsList();
  REQUIRE(manifests.size() == 1);
  CHECK(manifests.front() == job);
  CHECK(work.At({"spec", "suspendDispatching"})->AsBool());
  context.all_shards.pop_back();
  context.index = 0;
  CHECK(RenderWork(job, context).At({"spec", "suspendDispatching"}) == nullptr);
  CHECK(WorkName("u-1", "worker-0") == "caldera-u-1-worker-0");
}
