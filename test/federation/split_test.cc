// Jobs over several clusters: when, where, and what each shard gets.
#include "federation/split.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "federation/explain.h"
#include "federation/invariants.h"
#include "test/federation/builders.h"

namespace caldera {
namespace {

using testing::Fed;
using testing::MakeTask;

/// `east 64, west 36`: the shards of the only action, pods of all tasks.
std::string Split(Fed& fed) {
  const Plan plan = MakePlan(fed.state);
  CHECK(CheckPlan(fed.state, plan).empty());
  std::string text;
  for (const Action& action : plan.actions) {
    text += text.empty() ? "" : " | ";
    for (const Shard& shard : action.shards) {
      int32_t pods = 0;
      for (const TaskGrant& task : shard.tasks) {
        pods += task.replicas;
      }
      text += (text.empty() || text.ends_with("| ") ? "" : ", ") + shard.cluster + " " +
              std::to_string(pods);
    }
  }
  return text;
}

/// `gpu 8/8 cpu 0/0`: replicas and floors of one shard's tasks.
std::string Tasks(const Shard& shard) {
  std::string text;
  for (const TaskGrant& task : shard.tasks) {
    text += (text.empty() ? "" : " ") + task.name + " " + std::to_string(task.replicas) + "/" +
            std::to_string(task.min_available);
  }
  return text;
}

PendingJob Why(Fed& fed, const std::string& job) {
  for (PendingJob& pending : ExplainPending(fed.state)) {
    if (pending.job == testing::Key(job)) {
      return pending;
    }
  }
  FAIL("it does not wait");
  return {};
}

testing::Tweak<Job> With(std::string Job::*field, const std::string& value) {
  return [=](Job& job) { job.*field = value; };
}

testing::Tweak<Cluster> At(const std::string& zone, const std::string& region,
                           const std::string& provider = "p") {
  return [=](Cluster& cluster) {
    if (!zone.empty()) {
      cluster.zones = {zone};
    }
    cluster.region = region;
    cluster.provider = provider;
  };
}

TEST_CASE("split: what one cluster could hold when empty waits for it unless it is allowed") {
  Fed fed;
  fed.AddQueue("q").AddCluster("east", "cpu=8").AddCluster("west", "cpu=4");
  fed.AddJob("n/first", "q", 5, "cpu=1");
  fed.Go();
  fed.AddJob("n/big", "q", 7, "cpu=1");
  CHECK(Split(fed).empty());
  CHECK(Why(fed, "n/big").verdict == Verdict::kInsufficientResources);
  fed.AddJob("n/eager", "q", 7, "cpu=1", With(&Job::split, "allowed"));
  CHECK(Split(fed) == "west 4, east 3");
}

TEST_CASE("split: what is larger than every cluster goes to the fewest that hold it") {
  Fed fed;
  fed.AddQueue("q").AddCluster("a", "cpu=30").AddCluster("b", "cpu=64").AddCluster("c", "cpu=60");
  fed.AddJob("n/big", "q", 90, "cpu=1");
  // b and a hold it; c beside b would leave more.
  CHECK(Split(fed) == "b 64, a 26");
  fed.Do(ClusterDelete{"a"});
  CHECK(Split(fed) == "b 64, c 26");
}

TEST_CASE("split: never means never") {
  Fed fed;
  fed.AddQueue("q").AddCluster("a", "cpu=64").AddCluster("b", "cpu=48");
  fed.AddJob("n/big", "q", 80, "cpu=1", With(&Job::split, "never"));
  CHECK(Split(fed).empty());
  const PendingJob why = Why(fed, "n/big");
  CHECK(why.verdict == Verdict::kInsufficientResources);
  CHECK(why.message.find("larger than every cluster") != std::string::npos);
}

TEST_CASE("split: nearest first") {
  Fed fed;
  fed.AddQueue("q")
      .AddCluster("a", "cpu=60", At("z1", "r1"))
      .AddCluster("b", "cpu=50", At("z2", "r1"))
      .AddCluster("c", "cpu=50", At("z2", "r1"))
      .AddCluster("d", "cpu=60", At("z9", "r9", "other"));
  const auto job = [](const std::string& distance, int32_t replicas) {
    return [=](Job& j) {
      j.max_distance = distance;
      j.tasks[0].replicas = j.tasks[0].min_available = j.min_available = replicas;
    };
  };
  SUBCASE("one zone before one region") {
    fed.AddJob("n/j", "q", 1, "cpu=1", job("any", 95));
    CHECK(Split(fed) == "b 50, c 45");
  }
  SUBCASE("one region where no zone has room") {
    fed.AddJob("n/j", "q", 1, "cpu=1", job("any", 105));
    CHECK(Split(fed) == "a 60, b 45");
  }
  SUBCASE("as far as it must") {
    fed.AddJob("n/j", "q", 1, "cpu=1", job("any", 120));
    CHECK(Split(fed) == "a 60, d 60");
  }
  SUBCASE("no further than it may") {
    fed.AddJob("n/j", "q", 1, "cpu=1", job("region", 120));
    CHECK(Split(fed) == "a 60, b 50, c 10");
  }
  SUBCASE("the zone has no room") {
    fed.AddJob("n/j", "q", 1, "cpu=1", job("zone", 105));
    CHECK(Split(fed).empty());
    const PendingJob why = Why(fed, "n/j");
    CHECK(why.verdict == Verdict::kInsufficientResources);
    CHECK(why.message.find("max-distance") != std::string::npos);
  }
  SUBCASE("max-distance cluster") {
    fed.AddJob("n/j", "q", 1, "cpu=1", job("cluster", 105));
    CHECK(Split(fed).empty());
    CHECK(Why(fed, "n/j").verdict == Verdict::kMaxClusters);
  }
}

TEST_CASE("split: max-clusters and min-shard") {
  Fed fed;
  fed.AddQueue("q").AddCluster("a", "cpu=40").AddCluster("b", "cpu=40").AddCluster("c", "cpu=40");
  SUBCASE("too many clusters") {
    fed.AddJob("n/j", "q", 100, "cpu=1", [](Job& job) { job.max_clusters = 2; });
    CHECK(Split(fed).empty());
    const PendingJob why = Why(fed, "n/j");
    CHECK(why.verdict == Verdict::kMaxClusters);
    REQUIRE(why.figures.size() == 1);
    CHECK(why.figures[0].requested == 3);
    CHECK(why.figures[0].limit == 2);
  }
  SUBCASE("as many as allowed") {
    fed.AddJob("n/j", "q", 100, "cpu=1", [](Job& job) { job.max_clusters = 3; });
    CHECK(Split(fed) == "a 40, b 40, c 20");
  }
  SUBCASE("each at least") {
    fed.AddJob("n/j", "q", 42, "cpu=1", [](Job& job) { job.min_shard = 10; });
    CHECK(Split(fed) == "a 32, b 10");
  }
  SUBCASE("less than two shards of that size") {
    fed.AddJob("n/j", "q", 42, "cpu=1", [](Job& job) { job.min_shard = 30; });
    CHECK(Split(fed).empty());
    CHECK(Why(fed, "n/j").message.find("min-shard") != std::string::npos);
  }
}

TEST_CASE("split: what ties a job to one cluster") {
  Fed fed;
  fed.AddQueue("q").AddCluster("a", "cpu=40").AddCluster("b", "cpu=40");
  std::string part;
  const auto add = [&](const testing::Tweak<Job>& edit) {
    fed.AddJob("n/j", "q", 60, "cpu=1", edit);
  };
  SUBCASE("plugins") {
    add([](Job& job) { job.ties.plugins = {"ssh", "svc"}; });
    part = "plugins ssh and svc";
  }
  SUBCASE("volumes") {
    add([](Job& job) { job.ties.volumes = true; });
    part = "volumes";
  }
  SUBCASE("minSuccess") {
    add([](Job& job) { job.ties.min_success = true; });
    part = "minSuccess";
  }
  SUBCASE("hard topology") {
    add([](Job& job) { job.topology.mode = TopologyMode::kHard; });
    part = "networkTopology";
  }
  SUBCASE("dependsOn between all tasks") {
    add([](Job& job) {
      job.tasks.push_back(MakeTask("after", 4, "cpu=1"));
      job.tasks.back().depends_on = {"worker"};
      job.min_available += 4;
    });
    part = "dependsOn";
  }
  CHECK(Split(fed).empty());
  const PendingJob why = Why(fed, "n/j");
  CHECK(why.verdict == Verdict::kSplitUnsafe);
  CHECK_MESSAGE(why.message.find(part) != std::string::npos, why.message);
}

TEST_CASE("split: plugins are no tie with a rendezvous") {
  Fed fed;
  fed.AddQueue("q").AddCluster("a", "cpu=40").AddCluster("b", "cpu=40");
  fed.AddJob("n/j", "q", 60, "cpu=1", [](Job& job) {
    job.ties.plugins = {"pytorch", "svc"};
    job.rendezvous = "meet.example.org:29500";
  });
  CHECK(Split(fed) == "a 40, b 20");
}

TEST_CASE("split: every shard has all tasks and single ones go with the largest") {
  Fed fed;
  fed.AddQueue("q").AddCluster("a", "cpu=40").AddCluster("b", "cpu=50");
  fed.AddJob("n/j", "q", 60, "cpu=1", [](Job& job) {
    job.tasks.insert(job.tasks.begin(), MakeTask("master", 1, "cpu=2"));
    job.tasks[1].min_available = 31;
    job.min_available = 32;
  });
  const Plan plan = fed.Go();
  REQUIRE(plan.actions.size() == 1);
  const std::vector<Shard>& shards = plan.actions[0].shards;
  REQUIRE(shards.size() == 2);
  CHECK(shards[0].cluster == "b");
  CHECK(Tasks(shards[0]) == "master 1/1 worker 48/25");
  CHECK(shards[0].min_available == 26);
  CHECK(Tasks(shards[1]) == "master 0/0 worker 12/6");
  CHECK(shards[1].min_available == 6);
  CHECK(shards[0].requests == testing::Amounts("cpu=50 pods=49"));
  CHECK(shards[1].requests == testing::Amounts("cpu=12 pods=12"));
}

TEST_CASE("split: a shard that says 0 would be read as saying nothing") {
  Fed fed;
  fed.AddQueue("q").AddCluster("a", "cpu=40").AddCluster("b", "cpu=40");
  fed.AddJob("n/j", "q", 60, "cpu=1", [](Job& job) { job.min_available = 1; });
  const Plan plan = fed.Go();
  REQUIRE(plan.actions.size() == 1);
  CHECK(plan.actions[0].shards[0].min_available == 1);
  CHECK(plan.actions[0].shards[1].min_available == 1);
}

TEST_CASE("split: partitions stay whole") {
  Fed fed;
  fed.AddQueue("q").AddCluster("a", "cpu=30").AddCluster("b", "cpu=30");
  fed.AddJob("n/j", "q", 48, "cpu=1", [](Job& job) {
    job.tasks[0].partition = {6, 8, 3, {}};
    job.tasks[0].min_available = job.min_available = 24;
  });
  const Plan plan = fed.Go();
  REQUIRE(plan.actions.size() == 1);
  const std::vector<Shard>& shards = plan.actions[0].shards;
  REQUIRE(shards.size() == 2);
  CHECK(Tasks(shards[0]) == "worker 24/16");
  CHECK(Tasks(shards[1]) == "worker 24/8");
}

TEST_CASE("split: tasks that depend on each other go together") {
  Fed fed;
  fed.AddQueue("q").AddCluster("a", "cpu=40").AddCluster("b", "cpu=40");
  fed.AddJob("n/j", "q", 50, "cpu=1", [](Job& job) {
    job.tasks.push_back(MakeTask("server", 3, "cpu=2"));
    job.tasks.push_back(MakeTask("client", 5, "cpu=1"));
    job.tasks.back().depends_on = {"server"};
    job.min_available += 8;
  });
  const Plan plan = fed.Go();
  REQUIRE(plan.actions.size() == 1);
  for (const Shard& shard : plan.actions[0].shards) {
    const bool with = shard.tasks[1].replicas > 0;
    CHECK(shard.tasks[1].replicas == (with ? 3 : 0));
    CHECK(shard.tasks[2].replicas == (with ? 5 : 0));
  }
}

TEST_CASE("split: what depends on a task of no pods is cut like any other") {
  Fed fed;
  fed.AddQueue("q").AddCluster("a", "cpu=40").AddCluster("b", "cpu=40");
  fed.AddJob("n/j", "q", 50, "cpu=1", [](Job& job) {
    job.tasks.push_back(MakeTask("server", 0, "cpu=2"));
    job.tasks.front().depends_on = {"server"};
  });
  CHECK(Split(fed) == "a 40, b 10");
}

TEST_CASE("split: each cluster holds its part in all resources") {
  Fed fed;
  fed.AddQueue("q");
  SUBCASE("devices here, cpus there") {
    fed.AddCluster("a", "cpu=16 nvidia.com/gpu=8").AddCluster("b", "cpu=100");
    fed.AddJob("n/j", "q", 8, "cpu=1 nvidia.com/gpu=1", [](Job& job) {
      job.tasks.push_back(MakeTask("loader", 9, "cpu=10"));
      job.min_available += 9;
    });
    CHECK(Split(fed) == "b 9, a 8");
  }
  SUBCASE("each kind where it has the advantage") {
    fed.AddCluster("a", "cpu=20 memory=10").AddCluster("b", "cpu=10 memory=20");
    fed.AddJob("n/j", "q", 10, "cpu=1 memory=2", [](Job& job) {
      job.tasks.push_back(MakeTask("other", 10, "cpu=2 memory=1"));
      job.min_available += 10;
    });
    CHECK(Split(fed) == "b 10, a 10");
  }
}

TEST_CASE("split: node by node where nodes are given") {
  Fed fed;
  fed.AddQueue("q").AddCluster("a", "").AddCluster("b", "");
  for (const char* const node : {"n1", "n2", "n3"}) {
    fed.AddNode("a", node, "cpu=5").AddNode("b", node, "cpu=5");
  }
  fed.AddJob("n/fits", "q", 9, "cpu=2");
  // Sums would take 7 in each; a node takes 2.
  CHECK(Split(fed) == "a 6, b 3");
  fed.Do(JobDelete{testing::Key("n/fits"), "uid-n/fits"});
  fed.AddJob("n/not", "q", 13, "cpu=2");
  CHECK(Split(fed).empty());
  const PendingJob why = Why(fed, "n/not");
  CHECK(why.verdict == Verdict::kInsufficientResources);
  REQUIRE(why.figures.size() == 1);
  CHECK(why.figures[0].limit == 12);
}

TEST_CASE("split: limits hold for the sum and assignments for each cluster") {
  Fed fed;
  fed.AddQueue("q", [](Queue& queue) { queue.capability = testing::Amounts("cpu=70"); })
      .AddCluster("a", "cpu=40")
      .AddCluster("b", "cpu=40");
  SUBCASE("capability") {
    fed.AddJob("n/j", "q", 71, "cpu=1");
    CHECK(Split(fed).empty());
    CHECK(Why(fed, "n/j").verdict == Verdict::kQueueCapability);
  }
  SUBCASE("quota") {
    fed.AddQuota("n", "cpu=60").AddJob("n/j", "q", 61, "cpu=1");
    CHECK(Split(fed).empty());
    CHECK(Why(fed, "n/j").verdict == Verdict::kTenantQuota);
  }
  SUBCASE("static assignment") {
    fed.AddQuota("n", "cpu=60",
                 [](TenantQuota& quota) { quota.per_cluster["a"] = testing::Amounts("cpu=15"); });
    fed.AddJob("n/j", "q", 50, "cpu=1");
    CHECK(Split(fed) == "b 40, a 10");
    fed.AddJob("n/k", "q", 56, "cpu=1");
    fed.Do(JobDelete{testing::Key("n/j"), "uid-n/j"});
    CHECK(Split(fed).empty());
  }
}

TEST_CASE("split: a cluster that backs off for the job takes no shard") {
  Fed fed;
  fed.AddQueue("q").AddCluster("a", "cpu=40").AddCluster("b", "cpu=40").AddCluster("c", "cpu=40");
  fed.AddJob("n/j", "q", 60, "cpu=1", [&](Job& job) {
    job.backoffs = {{"a", "StuckInMember", "", fed.state.now() + Millis(1)}};
  });
  CHECK(Split(fed) == "b 40, c 20");
}

TEST_CASE("split: of two gangs that could each take half one gets all") {
  for (const bool turned : {false, true}) {
    Fed fed;
    fed.AddQueue("q").AddCluster("m1", "").AddCluster("m2", "");
    for (int n = 0; n < 50; ++n) {
      fed.AddNode("m1", "n" + std::to_string(n), "cpu=1");
      fed.AddNode("m2", "n" + std::to_string(n), "cpu=1");
    }
    const auto add = [&](const char* name, const char* uid) {
      fed.AddJob(name, "q", 100, "cpu=1", [&](Job& job) {
        job.uid = uid;
        job.creation = testing::kStart;
      });
    };
    add(turned ? "n/g1" : "n/g2", turned ? "uaaa" : "ubbb");
    add(turned ? "n/g2" : "n/g1", turned ? "ubbb" : "uaaa");
    const Plan plan = fed.Go();
    REQUIRE(plan.actions.size() == 1);
    CHECK(plan.actions[0].job == testing::Key("n/g1"));
    CHECK(plan.actions[0].shards.size() == 2);
    CHECK(plan.actions[0].shards[0].tasks[0].replicas == 50);
    CHECK(Why(fed, "n/g2").verdict == Verdict::kInsufficientResources);
    fed.Do(Released{testing::Key("n/g1"), "uaaa", 1});
    fed.Do(JobDelete{testing::Key("n/g1"), "uaaa"});
    CHECK(fed.Go().actions.size() == 1);
  }
}

}  // namespace
}  // namespace caldera
