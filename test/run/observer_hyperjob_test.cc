// HyperJobs as they are watched: what their children's Works say becomes the HyperJob's.
#include "test/run/watching.h"

namespace caldera::testing {
namespace {

std::string HyperText(const std::string& annotations = "", const std::string& status = "") {
  return R"({apiVersion: training.volcano.sh/v1alpha1, kind: HyperJob,
metadata: {name: big, namespace: team-a, uid: h1, creationTimestamp: "2026-01-01T00:00:00Z",
annotations: {)" +
         annotations + R"(}}, spec: {replicatedJobs: [
{name: a, replicas: 2, templateSpec: {queue: gold, tasks: [{name: w, replicas: 1,
template: {spec: {containers: [{name: c, image: i, resources: {requests: {cpu: "1"}}}]}}}]}},
{name: b, templateSpec: {queue: gold, tasks: [{name: w, replicas: 2,
template: {spec: {containers: [{name: c, image: i, resources: {requests: {cpu: "1"}}}]}}}]}}]},
status: {)" +
         status + "}}\n";
}

// The Work of a child in cluster east as Karmada has it.
std::string WorkText(const std::string& child, int index, int pods, const std::string& phase) {
  return R"({apiVersion: work.karmada.io/v1alpha1, kind: Work, metadata: {name: caldera-h1-)" +
         child + ", namespace: karmada-es-east, uid: w-" + child + R"(,
labels: {app.kubernetes.io/managed-by: caldera, federation.caldera.sh/work: shard}, annotations: {
federation.caldera.sh/job: team-a/big, federation.caldera.sh/job-uid: h1,
federation.caldera.sh/epoch: "4", federation.caldera.sh/intent: "7",
federation.caldera.sh/shard: ")" +
         std::to_string(index) + R"("}}, spec: {workload: {manifests: [{kind: Job, spec: {
minAvailable: )" +
         std::to_string(pods) + ", tasks: [{name: w, replicas: " + std::to_string(pods) +
         ", minAvailable: " + std::to_string(pods) + R"(, template: {spec: {containers: [{name: c,
env: [{name: CALDERA_SHARD_COUNT, value: "3"}]}]}}}]}}]}}, status: {manifestStatuses: [
{identifier: {kind: Job}, status: {state: {phase: )" +
         phase + "}, running: " + std::to_string(pods) + "}}]}}\n";
}

TEST_CASE("a HyperJob's placement is told from its Works where the ledger does not know it") {
  Watching w;
  w.See(QueueText("gold", "q-uid") + "---\n" + ClusterText("east") + "---\n" + HyperText());
  int index = 0;
  for (const auto& [child, pods] :
       {std::pair("a-0", 1), std::pair("a-1", 1), std::pair("b-0", 2)}) {
    w.observer.UpsertWork(ObjectOf(WorkText(child, index++, pods, "Running")), w.now);
  }
  w.Relisted();
  REQUIRE(w.Charged("big"));
  const std::vector<Shard>& shards = w.Job("big")->charge->shards;
  REQUIRE(shards.size() == 3);
  CHECK(shards[1].child == "a-1");
  CHECK(shards[1].epoch == 4);
  CHECK(shards[1].tasks == std::vector<TaskGrant>{{"a/w", 1, 1}});
  CHECK(shards[2].tasks == std::vector<TaskGrant>{{"b/w", 2, 2}});
  CHECK(shards[2].requests.at("cpu") == 2'000);
  // Tasks of one name in two templates are two.
  REQUIRE(w.Job("big")->rare().reports.size() == 2);
  CHECK(w.Job("big")->rare().reports[0].task == "a/w");
  CHECK(w.Job("big")->rare().reports[0].running == 2);
  CHECK(w.Job("big")->rare().reports[1].task == "b/w");
  CHECK(w.Decide().actions.empty());
}

TEST_CASE("a HyperJob of which a child's Work is missing is not taken over from the others") {
  Watching w;
  w.See(QueueText("gold", "q-uid") + "---\n" + ClusterText("east") + "---\n" + HyperText());
  w.observer.UpsertWork(ObjectOf(WorkText("a-0", 0, 1, "Running")), w.now);
  w.Relisted();
  CHECK_FALSE(w.Charged("big"));
}

TEST_CASE("a HyperJob ends with its last child") {
  Watching w;
  w.Start(HyperText());
  REQUIRE(w.Charged("big"));
  REQUIRE(w.Job("big")->charge->shards.size() == 3);
  const auto report = [&](const std::string& child, int index, int pods) {
    std::string text = WorkText(child, index, pods, "Completed");
    text.replace(text.find(R"(epoch: "4")"), 10, R"(epoch: "1")");
    w.observer.UpsertWork(ObjectOf(text), w.now);
    w.Step();
  };
  report("a-0", 0, 1);
  report("b-0", 2, 2);
  CHECK_FALSE(w.Job("big")->terminal);
  CHECK(w.Charged("big"));
  report("a-1", 1, 1);
  CHECK(w.Job("big")->terminal);
  CHECK_FALSE(w.Charged("big"));
}

TEST_CASE("of a HyperJob's status its conditions count at first sight") {
  const std::string condition = R"(conditions: [{status: "True", type: )";
  Watching w;
  w.Start(HyperText("", condition + "Suspended, reason: Aborted}]"));
  REQUIRE(w.Job("big") != nullptr);
  CHECK(w.Job("big")->suspended);
  CHECK_FALSE(w.Charged("big"));
  REQUIRE(w.observer.FindJob("h1") != nullptr);
  CHECK(w.observer.FindJob("h1")->phase == "Aborted");
  for (const std::string end : {"Completed", "Failed"}) {
    Watching ended;
    ended.Start(HyperText("", condition + end + ", reason: R}]"));
    CHECK(ended.Job("big")->terminal);
    CHECK(ended.observer.FindJob("h1")->phase == end);
  }
  Watching runs;
  runs.Start(HyperText("", "splitCount: 3"));
  CHECK(runs.observer.FindJob("h1")->phase == "Pending");
  CHECK(runs.Charged("big"));
}

}  // namespace
}  // namespace caldera::testing
