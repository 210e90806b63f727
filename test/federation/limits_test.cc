#include "federation/limits.h"

#include "federation/round.h"
#include "test/federation/builders.h"

namespace caldera {
namespace {

using testing::Amounts;
using testing::Fed;
using testing::Key;
using testing::Names;
using testing::Placements;
using testing::Tweak;

/// Why this waiting job may not go, by its limits alone.
Reason Why(const Fed& fed, std::string_view key) {
  const Round round(fed.state);
  const JobEntry& job = fed.At(key);
  const auto block = round.limits().Check(job.queue, job.tenant, fed.state.facts(job.shape));
  return block ? round.limits().Explain(*block) : Reason();
}

TEST_CASE("limits: devices by name and 0 is none and absent is unlimited - case c09") {
  Fed fed;
  fed.AddQueue("share", [](Queue& q) {
    q.capability = Amounts(
        "volcano.sh/vgpu-number=4 volcano.sh/vgpu-memory=24000 volcano.sh/vgpu-cores=100 "
        "nvidia.com/mig-1g.10gb=0");
  });
  fed.AddCluster("m1",
                 "cpu=64 memory=256Gi pods=110 volcano.sh/vgpu-number=40 "
                 "volcano.sh/vgpu-memory=160000 volcano.sh/vgpu-cores=400 "
                 "nvidia.com/mig-1g.10gb=7 nvidia.com/gpu=4");
  fed.AddJob("n/infer-a", "share", 3,
             "volcano.sh/vgpu-number=1 volcano.sh/vgpu-memory=8000 volcano.sh/vgpu-cores=30");
  fed.AddJob("n/infer-b", "share", 1, "volcano.sh/vgpu-number=1 volcano.sh/vgpu-memory=1");
  fed.AddJob("n/mig-c", "share", 1, "nvidia.com/mig-1g.10gb=1");
  fed.AddJob("n/gpu-d", "share", 1, "nvidia.com/gpu=1");
  CHECK(Placements(fed.Go()) == Names{"n/infer-a@m1", "n/gpu-d@m1"});
  const Reason mig = Why(fed, "n/mig-c");
  CHECK(mig.verdict == Verdict::kQueueCapability);
  CHECK(mig.message ==
        "1 nvidia.com/mig-1g.10gb asked, 0 used, limit 0: the capability of queue share");
  const Reason memory = Why(fed, "n/infer-b");
  REQUIRE(memory.figures.size() == 1);
  CHECK(memory.figures[0].object == "Queue/share");
  CHECK(memory.figures[0].resource == "volcano.sh/vgpu-memory");
  CHECK(memory.figures[0].requested == 1);
  CHECK(memory.figures[0].used == 24000);
  CHECK(memory.figures[0].limit == 24000);
}

TEST_CASE("limits: the chain to the root holds - case c13") {
  Fed fed;
  fed.AddCluster("m1", "cpu=300");
  fed.AddQueue("org", [](Queue& q) { q.capability = Amounts("cpu=100"); });
  fed.AddQueue("team-x", [](Queue& q) {
    q.parent = "org";
    q.deserved = Amounts("cpu=150");
    q.capability = Amounts("cpu=200");
  });
  fed.AddQueue("solo");
  fed.AddJob("n/x1", "team-x", 9, "cpu=10").AddJob("n/x2", "team-x", 2, "cpu=10");
  fed.AddJob("n/s1", "solo", 5, "cpu=10").AddJob("n/o1", "org", 1, "cpu=1");
  const Names placed = Placements(fed.Go());
  CHECK(placed.size() == 2);
  CHECK(!fed.At("n/x1").Pending());
  CHECK(!fed.At("n/s1").Pending());
  CHECK(Why(fed, "n/x2").message ==
        "20 cpu asked, 90 used, limit 100: the capability of queue org");
}

TEST_CASE("limits: of several quotas the smallest binds") {
  Fed fed;
  fed.AddCluster("east", "cpu=100");
  fed.AddQuota("n", "cpu=10").AddQuota("n", "cpu=5", [](TenantQuota& q) { q.name = "tight"; });
  fed.AddJob("n/a", "default", 3, "cpu=1").AddJob("n/b", "default", 3, "cpu=1");
  fed.AddJob("other/c", "default", 30, "cpu=1");
  CHECK(Placements(fed.Go()) == Names{"n/a@east", "other/c@east"});
  CHECK(Why(fed, "n/b").message == "3 cpu asked, 3 used, limit 5: the quota of tenant n");
  fed.Do(TenantQuotaDelete{"n", "tight"});
  CHECK(Placements(fed.Go()) == Names{"n/b@east"});
}

TEST_CASE("limits: a quota binds only what a job asks for") {
  Fed fed;
  fed.AddCluster("east", "cpu=100 nvidia.com/gpu=4")
      .AddJob("n/a", "default", 1, "nvidia.com/gpu=2");
  fed.Go();
  fed.AddQuota("n", "nvidia.com/gpu=1");  // Lowered below what is used.
  fed.AddJob("n/cpu", "default", 1, "cpu=1").AddJob("n/gpu", "default", 1, "nvidia.com/gpu=1");
  CHECK(Placements(fed.Go()) == Names{"n/cpu@east"});
}

TEST_CASE("limits: static assignments steer to other clusters and are counted there alone") {
  Fed fed;
  fed.AddCluster("a", "cpu=10").AddCluster("b", "cpu=20");
  fed.AddQuota("n", "", [](TenantQuota& q) { q.per_cluster = {{"a", Amounts("cpu=4")}}; });
  fed.AddJob("n/1", "default", 3, "cpu=1").AddJob("n/2", "default", 3, "cpu=1");
  fed.AddJob("other/3", "default", 5, "cpu=1");
  CHECK(Placements(fed.Go()) == Names{"n/1@a", "other/3@a", "n/2@b"});
  const Round round(fed.state);
  const JobEntry& job = fed.At("n/1");
  const ClusterIndex a = fed.state.clusters().find("a")->second;
  const auto block = round.limits().CheckCluster(job.tenant, a, fed.state.facts(job.shape));
  REQUIRE(block.has_value());
  CHECK(round.limits().Explain(*block).message ==
        "3 cpu asked, 3 used, limit 4: the quota of tenant n in cluster a");
}

Tweak<Queue> Guaranteed(const char* amounts) {
  return [=](Queue& q) { q.guarantee = Amounts(amounts); };
}

TEST_CASE("limits: a guarantee is kept free while it is idle") {
  Fed fed;
  fed.AddCluster("east", "cpu=10").AddQueue("vip", Guaranteed("cpu=4")).AddQueue("any");
  for (int i = 0; i < 10; ++i) {
    fed.AddJob("n/a" + std::to_string(i), "any", 1, "cpu=1");
  }
  CHECK(fed.Go().actions.size() == 6);
  const Reason why = Why(fed, "n/a6");
  CHECK(why.verdict == Verdict::kFairShare);
  CHECK(why.message ==
        "1 cpu asked, 10 used or guaranteed to other queues, limit 10: what the federation has");
  fed.AddJob("n/v", "vip", 4, "cpu=1");
  CHECK(Placements(fed.Go()) == Names{"n/v@east"});
}

TEST_CASE("limits: a queue may use its guarantee and then what nobody reserves") {
  Fed fed;
  fed.AddCluster("east", "cpu=10");
  fed.AddQueue("a", Guaranteed("cpu=4")).AddQueue("b", Guaranteed("cpu=4"));
  for (int i = 0; i < 10; ++i) {
    fed.AddJob("n/a" + std::to_string(i), "a", 1, "cpu=1");
  }
  CHECK(fed.Go().actions.size() == 6);
}

TEST_CASE("limits: inside a parent's capability the children's guarantees are kept too") {
  Fed fed;
  fed.AddCluster("east", "cpu=100");
  fed.AddQueue("org", [](Queue& q) { q.capability = Amounts("cpu=10"); });
  fed.AddQueue("x", [](Queue& q) {
    q.parent = "org";
    q.guarantee = Amounts("cpu=7");
  });
  fed.AddQueue("y", [](Queue& q) { q.parent = "org"; });
  fed.AddJob("n/y1", "y", 3, "cpu=1").AddJob("n/y2", "y", 1, "cpu=1");
  CHECK(Placements(fed.Go()) == Names{"n/y1@east"});
  CHECK(Why(fed, "n/y2").verdict == Verdict::kFairShare);
  CHECK(Why(fed, "n/y2").message ==
        "1 cpu asked, 10 used or guaranteed to other queues, limit 10: what queue org has");
}

TEST_CASE("limits: where nothing is reserved idle the clusters decide alone") {
  // The finished pods stay charged and use nothing; that takes no guarantee from anybody.
  Fed fed;
  fed.AddCluster("east", "cpu=10", [](Cluster& c) { c.allocated = Amounts("cpu=1"); });
  fed.AddJob("n/a", "default", 10, "cpu=1", [](Job& j) {
    j.placement = {{"east", 1, "", {{"worker", 10, 10}}, 10, {}}};
    j.reports = {{"worker", 1, 9}};
  });
  fed.AddJob("n/b", "default", 9, "cpu=1");
  CHECK(Placements(fed.Go()) == Names{"n/b@east"});
}

}  // namespace
}  // namespace caldera
