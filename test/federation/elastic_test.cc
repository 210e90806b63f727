#include "federation/elastic.h"

#include <doctest/doctest.h>

#include <chrono>

#include "federation/reservations.h"
#include "federation/round.h"
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

int64_t Demand(const Fed& fed, const std::string& queue) {
  const Round round(fed.state);
  return round.shares()[fed.state.queues().find(queue)->second]
      .demand[fed.state.resources().Find("nvidia.com/gpu")];
}

TEST_CASE("The demand of a job that never fits whole is the most of it that could") {
  Fed fed;
  fed.AddCluster("east", "nvidia.com/gpu=28 cpu=64").AddCluster("west", "nvidia.com/gpu=16 cpu=64");
  AddTrainer(fed, "n/t", 10, 2);
  CHECK(Demand(fed, "default") == 24);
  SUBCASE("within the capability") {
    fed.AddQueue("default", [](Queue& queue) { queue.capability = Amounts("nvidia.com/gpu=20"); });
    CHECK(Demand(fed, "default") == 16);
  }
  SUBCASE("within the tenant's part of a cluster") {
    fed.AddQuota("n", "nvidia.com/gpu=100", [](TenantQuota& quota) {
      quota.per_cluster["east"] = Amounts("nvidia.com/gpu=9");
    });
    CHECK(Demand(fed, "default") == 16);
  }
  SUBCASE("nothing where its floor never fits") {
    fed.AddQueue("default", [](Queue& queue) { queue.capability = Amounts("nvidia.com/gpu=15"); });
    CHECK(Demand(fed, "default") == 0);
  }
  SUBCASE("all of it where that fits") {
    fed.AddCluster("east", "nvidia.com/gpu=80 cpu=64");
    CHECK(Demand(fed, "default") == 80);
  }
}

TEST_CASE("Room is kept for the floor of a job that waits, and no more") {
  Fed fed;
  fed.AddCluster("east", "nvidia.com/gpu=32 cpu=64");
  fed.AddJob("n/runs", "default", 3, "nvidia.com/gpu=8 cpu=1",
             [](Job& job) { job.running_estimate = std::chrono::hours(1); });
  fed.Go();
  AddTrainer(fed, "n/t", 10, 2);  // All of it would never fit.
  fed.Go();
  REQUIRE(fed.state.reservations().size() == 1);
  CHECK(fed.state.reservations()[0].job == Key("n/t"));
  CHECK(fed.state.reservations()[0].cluster == "east");
  CHECK(fed.state.reservations()[0].at_floor);
  {
    const Round round(fed.state);
    const Reservations reservations(round);
    const ResourceIndex gpu = fed.state.resources().Find("nvidia.com/gpu");
    REQUIRE(reservations.bookings().size() == 1);
    const Reservations::Booking& booking = reservations.bookings()[0];
    CHECK(reservations.Asks(booking).total[gpu] == 16);
    CHECK(booking.start == fed.state.now() + std::chrono::hours(1));
    CHECK(booking.spare[gpu] == 16);
  }
  // One that leaves the floor free at that time may pass.
  fed.AddJob("n/small", "default", 1, "nvidia.com/gpu=8 cpu=1");
  const Plan plan = fed.Go();
  REQUIRE(plan.actions.size() == 1);
  CHECK(plan.actions[0].job == Key("n/small"));
  fed.Do(JobDelete{Key("n/runs"), "uid-n/runs"});
  fed.Go();
  CHECK(Held(fed, "n/t") == 3);
  CHECK(fed.state.reservations().empty());
}

TEST_CASE("Others make room for the floor of a job that never fits whole") {
  Fed fed;
  fed.AddCluster("east", "nvidia.com/gpu=32 cpu=64").AddQueue("a").AddQueue("b");
  for (const char* name : {"n/1", "n/2", "n/3", "n/4"}) {
    fed.AddJob(name, "a", 1, "nvidia.com/gpu=8 cpu=1");
  }
  fed.Go();
  fed.Do(ClockSet{fed.state.now() + std::chrono::minutes(20)});
  fed.AddJob("n/t", "b", 10, "nvidia.com/gpu=8 cpu=1", [](Job& job) {
    job.elastic = true;
    job.tasks[0].min_available = 2;
    job.min_available = 2;
  });
  const Plan plan = fed.Go();
  CHECK(plan.actions.size() == 2);
  for (const Action& action : plan.actions) {
    CHECK(action.action == ActionKind::kEvict);
    CHECK(action.beneficiary == Key("n/t"));
    fed.Do(Released{action.job, action.uid, 0});
  }
  REQUIRE(fed.state.reservations().size() == 1);
  CHECK(fed.state.reservations()[0].at_floor);
  const Plan placed = fed.Go();
  REQUIRE(placed.actions.size() == 1);
  CHECK(placed.actions[0].job == Key("n/t"));
  CHECK(placed.actions[0].reason ==
        "it is elastic: 8 of its pods wait for room; room was made for it in east");
  CHECK(Held(fed, "n/t") == 2);
}

TEST_CASE("A borrower that waits keeps no room from who deserves to evict for it") {
  Fed fed;
  fed.AddCluster("east", "cpu=8").AddQueue("a").AddQueue("b");
  fed.AddJob("n/runs", "a", 1, "cpu=4").AddJob("n/too", "a", 1, "cpu=3");
  fed.Go();
  fed.AddJob("n/borrows", "a", 1, "cpu=8");
  fed.Go();
  fed.Do(ClockSet{fed.state.now() + std::chrono::minutes(20)});
  fed.Go();
  REQUIRE(fed.state.reservations().size() == 1);
  CHECK(fed.state.reservations()[0].cluster == "east");
  fed.AddJob("n/deserves", "b", 1, "cpu=4");
  const Plan plan = fed.Go();
  REQUIRE(plan.actions.size() == 1);
  CHECK(plan.actions[0].action == ActionKind::kEvict);
  CHECK(plan.actions[0].beneficiary == Key("n/deserves"));
  REQUIRE(fed.state.reservations().size() == 1);
  CHECK(fed.state.reservations()[0].job == Key("n/deserves"));
}

TEST_CASE("One that never borrows has as many pods as its queue deserves") {
  Fed fed;
  fed.AddCluster("east", "nvidia.com/gpu=32 cpu=64").AddQueue("a").AddQueue("b");
  fed.AddJob("n/other", "b", 4, "nvidia.com/gpu=8 cpu=1");
  fed.AddJob("n/keeps", "a", 4, "nvidia.com/gpu=8 cpu=1", [](Job& job) {
    job.elastic = true;
    job.preemptible = false;
    job.tasks[0].min_available = 1;
    job.min_available = 1;
  });
  fed.Go();
  CHECK(Held(fed, "n/keeps") == 2);
}

}  // namespace
}  // namespace caldera
