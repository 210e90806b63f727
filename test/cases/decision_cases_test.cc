// What is decided in the cases c02 c05 c06 c09 c11 c13 c15, which are modelled on public reports:
// manifests in, plan, verdicts and shares out.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "federation/render.h"
#include "test/cases/case.h"

namespace caldera {
namespace {

std::vector<std::string> Placed(const Plan& plan) {
  std::vector<std::string> jobs;
  for (const Action& action : plan.actions) {
    jobs.push_back(action.job.name + "@" + action.shards.front().cluster);
  }
  std::sort(jobs.begin(), jobs.end());
  return jobs;
}

int64_t Amount(const ResourceList& list, const std::string& resource) {
  const auto it = list.find(resource);
  return it == list.end() ? 0 : it->second;
}

constexpr int64_t kGi = int64_t{1} << 30;

TEST_CASE("c02: at 24 devices three of the four pods run at once, and all once the queue has 32") {
  Case one;
  one.Load("c02-pytorch-anchors-limits-only");
  REQUIRE(one.refused.empty());
  one.AddCluster("m1", "cpu: '256', memory: 2Ti, nvidia.com/gpu: '64', pods: '100'");
  const Plan plan = one.Go();
  REQUIRE(plan.actions.size() == 1);
  const Shard& shard = plan.actions.front().shards.front();
  CHECK(shard.Pods() == 4);
  CHECK(shard.PodsAtOnce() == 3);
  CHECK(shard.tasks[0].AtOnce() == 1);  // The master first.
  CHECK(shard.min_available == 2);
  CHECK(Amount(one.Queue("train").allocated, "nvidia.com/gpu") == 24);
  CHECK(Amount(one.Queue("train").demand, "nvidia.com/gpu") == 24);
  CHECK(one.Go().actions.empty());

  one.AddText(
      "{apiVersion: scheduling.volcano.sh/v1beta1, kind: Queue, metadata: {name: train}, spec: "
      "{weight: 1, reclaimable: true, capability: {cpu: 96, memory: 384Gi, nvidia.com/gpu: 32}}}");
  const Plan more = one.Go();
  REQUIRE(more.actions.size() == 1);
  CHECK(more.actions.front().action == ActionKind::kGrow);
  CHECK(more.actions.front().shards.front().PodsAtOnce() == 4);
  CHECK(Amount(one.Queue("train").allocated, "nvidia.com/gpu") == 32);
  CHECK(Amount(one.Queue("train").allocated, "cpu") == 64'000);
  CHECK(Amount(one.Queue("train").allocated, "memory") == 256 * kGi);
}

TEST_CASE("c02: before it is placed its queue's demand is what could ever be granted") {
  Case one;
  one.Load("c02-pytorch-anchors-limits-only");
  one.AddCluster("m1", "cpu: '256', memory: 2Ti, nvidia.com/gpu: '64', pods: '100'");
  CHECK(Amount(one.Queue("train").demand, "nvidia.com/gpu") == 24);
  CHECK(Amount(one.Queue("train").deserved, "nvidia.com/gpu") == 24);
}

TEST_CASE("c05: a gang is placed whole, also the task that waits for the others") {
  Case small;
  small.Load("c05-horovod-dependson");
  REQUIRE(small.refused.size() == 2);
  CHECK(small.refused[0].object == "Job/team-e/hvd-cycle");
  CHECK(small.refused[1].object == "Job/team-e/spark-dangling");
  small.AddCluster("m1", "cpu: '16', memory: 64Gi, pods: '100'");  // Enough for the workers.
  CHECK(small.Go().actions.empty());
  CHECK(small.Waiting("hvd-ok").verdict == Verdict::kLargerThanFederation);

  Case enough;
  enough.Load("c05-horovod-dependson");
  enough.AddCluster("m1", "cpu: '17', memory: 34Gi, pods: '9'");
  const Plan plan = enough.Go();
  REQUIRE(Placed(plan) == std::vector<std::string>{"hvd-ok@m1"});
  const Shard& shard = plan.actions[0].shards[0];
  CHECK(shard.min_available == 9);
  CHECK(shard.tasks == std::vector<TaskGrant>{{"master", 1, 1}, {"worker", 8, 8}});
  CHECK(shard.requests == ResourceList{{"cpu", 17'000}, {"memory", 34 * kGi}, {"pods", 9}});
}

TEST_CASE("c06: a shared volume keeps a job whole, and volumes are sent as they were written") {
  Case halves;
  halves.Load("c06-mindspore-volumes");
  CHECK(halves.refused.size() == 2);
  const std::string half = "cpu: '4', memory: 4Gi, ephemeral-storage: 8Gi, pods: '10'";
  halves.AddCluster("m1", half);
  halves.AddCluster("m2", half);
  CHECK(halves.Go().actions.empty());
  // All together have room for it, no single one has.
  CHECK(halves.Waiting("ms-cpu").verdict == Verdict::kSplitUnsafe);

  std::istringstream nothing;
  const std::string path = std::string(CALDERA_TEST_DATA) + "/cases/c06-mindspore-volumes.yaml";
  std::vector<Document> documents;
  ReadInput({path}, nothing, [&](Document document) { documents.push_back(std::move(document)); });
  const Value defaulted = TakeObject(documents[0], Strictness::kNew, kNow).defaulted;
  halves.AddCluster("m3", "cpu: '8', memory: 8Gi, ephemeral-storage: 16Gi, pods: '8'");
  const Plan plan = halves.Go();
  REQUIRE(Placed(plan) == std::vector<std::string>{"ms-cpu@m3"});
  const std::vector<Shard>& shards = plan.actions[0].shards;
  CHECK(shards[0].requests ==
        ResourceList{
            {"cpu", 8'000}, {"ephemeral-storage", 16 * kGi}, {"memory", 8 * kGi}, {"pods", 8}});
  ShardContext context;
  context.job_uid = plan.actions[0].uid;
  context.all_shards = shards;
  const Value sent = *RenderShardJob(defaulted, context);
  for (const char* const field : {"volumes", "futureField"}) {
    CHECK(*sent.At({"spec", field}) == *documents[0].root.At({"spec", field}));
  }
  CHECK(sent.At({"metadata", "annotations", "example.org/owner"})->AsString() == "someone");
}

TEST_CASE("c09: each name of a shared device is a resource of its own, and 0 is not absent") {
  Case c;
  c.Load("c09-vgpu-mig-names");
  CHECK(c.refused.empty());
  const Plan plan = c.Go();
  CHECK(Placed(plan) == std::vector<std::string>{"gpu-d@m1", "infer-a@m1"});
  const ResourceList held = c.Queue("share").allocated;
  CHECK(Amount(held, "volcano.sh/vgpu-number") == 3);
  CHECK(Amount(held, "volcano.sh/vgpu-memory") == 24000);
  CHECK(Amount(held, "volcano.sh/vgpu-cores") == 90);
  CHECK(Amount(held, "nvidia.com/gpu") == 1);

  const PendingJob infer = c.Waiting("infer-b");
  CHECK(infer.verdict == Verdict::kQueueCapability);
  REQUIRE(infer.figures.size() == 1);
  CHECK(infer.figures[0].resource == "volcano.sh/vgpu-memory");
  CHECK(infer.figures[0].requested + infer.figures[0].used == 24001);
  CHECK(infer.figures[0].limit == 24000);

  const PendingJob mig = c.Waiting("mig-c");
  CHECK(mig.verdict == Verdict::kQueueCapability);
  REQUIRE(mig.figures.size() == 1);
  CHECK(mig.figures[0].resource == "nvidia.com/mig-1g.10gb");
  CHECK(mig.figures[0].limit == 0);
}

TEST_CASE("c11: a heavy queue takes what it asks for, the light one all the rest") {
  Case c;
  c.Load("c11-extreme-weights");
  REQUIRE(c.refused.size() == 1);
  CHECK(c.refused[0].object == "Queue/vip-too-heavy");
  CHECK(c.refused[0].errors[0].field == "spec.weight");
  for (int i = 0; i < 32; ++i) {  // 96 cpu, 350Gi in all.
    c.AddJob("vip-" + std::to_string(i), "vip", 1, "cpu: 3, memory: 11200Mi");
  }
  for (int i = 0; i < 96; ++i) {  // 960 cpu, 900Gi in all.
    c.AddJob("bulk-" + std::to_string(i), "bulk", 1, "cpu: 10, memory: 9600Mi");
  }
  CHECK(Amount(c.Queue("vip").deserved, "cpu") == 96'000);
  CHECK(Amount(c.Queue("vip").deserved, "memory") == 350 * kGi);
  CHECK(Amount(c.Queue("bulk").deserved, "cpu") == 904'000);
  CHECK(Amount(c.Queue("bulk").deserved, "memory") == 850 * kGi);
}

TEST_CASE("c11: any pair of weights ends and shares out all that is asked for") {
  for (const int heavy : {1, 2, 7, 65535}) {
    for (const int light : {1, 2, 7, 65535}) {
      Case c;
      c.AddCluster("m1", "cpu: '1000', memory: 1200Gi, pods: '5000'");
      c.AddText(
          "{apiVersion: scheduling.volcano.sh/v1beta1, kind: Queue, metadata: {name: a}, "
          "spec: {weight: " +
          std::to_string(heavy) + "}}");
      c.AddText(
          "{apiVersion: scheduling.volcano.sh/v1beta1, kind: Queue, metadata: {name: b}, "
          "spec: {weight: " +
          std::to_string(light) + "}}");
      for (int i = 0; i < 8; ++i) {
        c.AddJob("a" + std::to_string(i), "a", 1, "cpu: 100, memory: 1Gi");
        c.AddJob("b" + std::to_string(i), "b", 1, "cpu: 97, memory: 1Gi");
      }
      const int64_t a = Amount(c.Queue("a").deserved, "cpu");
      const int64_t b = Amount(c.Queue("b").deserved, "cpu");
      CHECK(a + b == 1'000'000);
      CHECK((heavy >= light ? a >= b - 1 : b > a));
    }
  }
}

TEST_CASE("c13: bad numbers hold back only those below them") {
  Case c;
  c.Load("c13-deserved-over-cap-and-parents");
  std::vector<std::string> refused;
  for (const Intake& intake : c.refused) {
    refused.push_back(intake.object);
  }
  CHECK(refused == std::vector<std::string>{"Queue/ouroboros"});
  c.AddCluster("m1", "cpu: '300', pods: '1000'");
  c.AddJob("x1", "team-x", 9, "cpu: 10");
  CHECK(Placed(c.Go()) == std::vector<std::string>{"x1@m1"});
  c.AddJob("x2", "team-x", 2, "cpu: 10");
  c.AddJob("s1", "solo", 5, "cpu: 10");
  c.AddJob("o1", "org", 1, "cpu: 1");
  CHECK(Placed(c.Go()) == std::vector<std::string>{"s1@m1"});

  const PendingJob x2 = c.Waiting("x2");
  CHECK(x2.verdict == Verdict::kQueueCapability);
  REQUIRE(x2.figures.size() == 1);
  CHECK(x2.figures[0].object == "Queue/org");
  CHECK(x2.figures[0].requested == 20'000);
  CHECK(x2.figures[0].used == 90'000);
  CHECK(x2.figures[0].limit == 100'000);
  CHECK(c.Waiting("o1").verdict == Verdict::kQueueNotLeaf);
  CHECK(c.Queue("org").guarantee.empty());
  CHECK(Amount(c.Queue("team-x").capability, "cpu") == 100'000);
  CHECK(Amount(c.Queue("team-y").capability, "cpu") == 60'000);
}

TEST_CASE("c13: deserved above capability is refused in a new queue, clamped in a stored one") {
  std::vector<Intake> made;
  std::vector<Intake> stored;
  std::istringstream nothing;
  ReadInput({std::string(CALDERA_TEST_DATA) + "/cases/c13-deserved-over-cap-and-parents.yaml"},
            nothing, [&](const Document& document) {
              made.push_back(TakeObject(document, Strictness::kNew, kNow));
              stored.push_back(TakeObject(document, Strictness::kStored, kNow));
            });
  const auto team_y = [](const std::vector<Intake>& intakes) {
    const auto it = std::find_if(intakes.begin(), intakes.end(), [](const Intake& intake) {
      return intake.object == "Queue/team-y";
    });
    REQUIRE(it != intakes.end());
    return *it;
  };
  CHECK_FALSE(team_y(made).errors.empty());
  CHECK(team_y(stored).errors.empty());
  CHECK_FALSE(team_y(stored).warnings.empty());
}

TEST_CASE("c15: jobs bound to one cluster do not count against a job for another") {
  Case c;
  c.Load("c15-priority-inversion-by-other-cluster");
  for (const std::string name : {"m1", "m2"}) {
    c.AddCluster(name, "cpu: '100', pods: '1000'");
  }
  for (const std::string value : {"10", "100"}) {
    c.AddText("{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: p" + value +
              "}, value: " + value + "}");
  }
  for (int i = 0; i < 1000; ++i) {
    c.AddJob("low-" + std::to_string(i), "q-low", 1, "cpu: 1",
             {"priorityClassName: p10,", "federation.caldera.sh/clusters: m1"});
  }
  c.AddJob("urgent", "q-high", 10, "cpu: 1",
           {"priorityClassName: p100,", "federation.caldera.sh/clusters: m2"});
  const std::vector<std::string> placed = Placed(c.Go());
  CHECK(placed.size() == 101);
  CHECK(std::count(placed.begin(), placed.end(), "urgent@m2") == 1);
  CHECK(std::count_if(placed.begin(), placed.end(),
                      [](const std::string& text) { return text.ends_with("@m1"); }) == 100);
  const std::vector<PendingJob> pending = ExplainPending(c.state);
  CHECK(pending.size() == 900);
  for (const PendingJob& job : pending) {
    CHECK(job.verdict == Verdict::kInsufficientResources);
    REQUIRE(job.clusters.size() == 2);
    CHECK(job.clusters[1].verdict == Verdict::kNoClusterMatches);
  }
}

}  // namespace
}  // namespace caldera
