#include "federation/elastic.h"

#include <doctest/doctest.h>

#include "test/federation/builders.h"

namespace caldera {
namespace {

using testing::Amounts;
using testing::Fed;
using testing::Key;

/// `replicas` workers of 8 devices each, of which one must run.
void AddTrainer(Fed& fed, std::string_view key, int32_t replicas, int32_t floor = 1) {
  fed.AddJob(key, "default", replicas, "nvidia.com/gpu=8 cpu=1", [&](Job& job) {
    job.elastic = true;
    job.split = "never";
    job.tasks[0].min_available = floor;
    job.min_available = floor;
  });
}

int32_t Held(const Fed& fed, std::string_view key) {
  const JobEntry& job = fed.At(key);
  return job.charge.has_value() ? job.charge->shards.front().tasks[0].replicas : 0;
}

TEST_CASE("The floor is the tasks' and further pods in their order up to the job's") {
  JobSpec spec;
  spec.tasks = {testing::MakeTask("a", 2, "cpu=1"), testing::MakeTask("b", 5, "cpu=1")};
  spec.tasks[0].min_available = 1;
  spec.tasks[1].min_available = 1;
  spec.min_available = 2;
  CHECK(FloorOf(spec) == std::vector<int32_t>{1, 1});
  spec.min_available = 4;
  CHECK(FloorOf(spec) == std::vector<int32_t>{2, 2});
  spec.min_available = 0;
  spec.tasks[0].min_available = 0;
  spec.tasks[1].min_available = 0;
  CHECK(FloorOf(spec) == std::vector<int32_t>{1, 0});
  CHECK(MissingIn(spec, {1, 0}) == 6);
}

TEST_CASE("An elastic job takes what there is and grows into what gets free") {
  Fed fed;
  fed.AddCluster("east", "nvidia.com/gpu=24 cpu=64").AddCluster("west", "nvidia.com/gpu=16 cpu=64");
  AddTrainer(fed, "n/t", 4);
  const Plan plan = fed.Go();
  REQUIRE(plan.actions.size() == 1);
  CHECK(plan.actions[0].action == ActionKind::kPlace);
  CHECK(plan.actions[0].shards[0].cluster == "east");
  CHECK(plan.actions[0].reason == "it is elastic: 1 of its pods wait for room; east has most");
  CHECK(Held(fed, "n/t") == 3);
  CHECK(fed.At("n/t").charge->shards[0].min_available == 1);
  CHECK(fed.state.cluster(fed.state.clusters().find("east")->second).charged.IsZero() == false);
  CHECK(fed.Go().actions.empty());
  fed.AddCluster("east", "nvidia.com/gpu=32 cpu=64");
  const Plan more = fed.Go();
  REQUIRE(more.actions.size() == 1);
  CHECK(more.actions[0].action == ActionKind::kGrow);
  CHECK(Held(fed, "n/t") == 4);
  CHECK(fed.Go().actions.empty());
}

TEST_CASE("Case c02: of four pods at a limit of 24 devices three run, and the fourth later") {
  Fed fed;
  fed.AddCluster("east", "nvidia.com/gpu=64 cpu=64");
  fed.AddQueue("default", [](Queue& queue) { queue.capability = Amounts("nvidia.com/gpu=24"); });
  AddTrainer(fed, "n/t", 4, 2);
  fed.Go();
  CHECK(Held(fed, "n/t") == 3);
  fed.AddQueue("default", [](Queue& queue) { queue.capability = Amounts("nvidia.com/gpu=40"); });
  fed.Go();
  CHECK(Held(fed, "n/t") == 4);
}

TEST_CASE("Below its floor it waits and others come before its growth") {
  Fed fed;
  fed.AddCluster("east", "nvidia.com/gpu=8 cpu=64");
  AddTrainer(fed, "n/t", 4, 2);
  CHECK(fed.Go().actions.empty());
  fed.AddCluster("east", "nvidia.com/gpu=16 cpu=64");
  fed.Go();
  CHECK(Held(fed, "n/t") == 2);
  fed.AddCluster("east", "nvidia.com/gpu=24 cpu=64");
  fed.AddJob("n/other", "default", 1, "nvidia.com/gpu=8 cpu=1");
  const Plan plan = fed.Go();
  REQUIRE(plan.actions.size() == 1);
  CHECK(plan.actions[0].job == Key("n/other"));
}

TEST_CASE(
    "Where the job's floor is below its tasks' they do not count, and no task asks for more") {
  Fed fed;
  fed.AddCluster("east", "nvidia.com/gpu=24 cpu=64");
  fed.AddJob("n/t", "default", 4, "nvidia.com/gpu=8 cpu=1", [](Job& job) {
    job.elastic = true;
    job.min_available = 2;
  });
  fed.Go();
  CHECK(Held(fed, "n/t") == 3);
  CHECK(fed.At("n/t").charge->shards[0].tasks[0].min_available == 3);
  CHECK(fed.At("n/t").charge->shards[0].min_available == 2);
}

}  // namespace
}  // namespace caldera
