#include "federation/waves.h"

#include <doctest/doctest.h>

#include "federation/capacity.h"
#include "federation/codec.h"
#include "federation/elastic.h"
#include "federation/resize.h"
#include "test/federation/builders.h"

namespace caldera {
namespace {

using testing::Amounts;
using testing::Fed;
using testing::Key;
using testing::MakeTask;

constexpr const char* kPod = "nvidia.com/gpu=8 cpu=1";

/// `replicas` workers of 8 devices each, of which `floor` must start together.
void AddWaves(Fed& fed, std::string_view key, int32_t replicas, int32_t floor,
              const testing::Tweak<Job>& edit = {}) {
  fed.AddJob(key, "default", replicas, kPod, [&](Job& job) {
    job.tasks[0].min_available = floor;
    job.min_available = floor;
    if (edit) {
      edit(job);
    }
  });
}

const Shard& Held(const Fed& fed, std::string_view key) {
  const JobEntry& job = fed.At(key);
  REQUIRE(job.charge.has_value());
  return job.charge->shards.front();
}

int64_t Free(const Fed& fed, const std::string& cluster) {
  const std::vector<ClusterView> views = ViewClusters(fed.state);
  return FindView(views, cluster)->free[fed.state.resources().Find("nvidia.com/gpu")];
}

int64_t Charged(const Fed& fed) {
  const QueueIndex queue = fed.state.queues().find("default")->second;
  return fed.state.queue(queue).charged[fed.state.resources().Find("nvidia.com/gpu")];
}

void Report(Fed& fed, std::string_view key, int32_t running, int32_t finished) {
  Job job = fed.state.Object(fed.state.FindJob(Key(key)));
  job.reports = {{"worker", running, finished}};
  job.reported = fed.state.now();
  fed.Do(JobUpsert{job});
}

void Pass(Fed& fed, std::chrono::seconds time) { fed.Do(ClockSet{fed.state.now() + time}); }

TEST_CASE("Case c02: at a limit of 24 devices three of four pods run at once, then all") {
  Fed fed;
  fed.AddCluster("east", "nvidia.com/gpu=64 cpu=64");
  fed.AddQueue("default", [](Queue& queue) { queue.capability = Amounts("nvidia.com/gpu=24"); });
  fed.AddJob("n/t", "default", 3, kPod, [](Job& job) {
    job.tasks.insert(job.tasks.begin(), MakeTask("master", 1, kPod));
    job.min_available = 2;  // Below 1 + 3: the tasks' own do not count.
  });
  const Plan plan = fed.Go();
  REQUIRE(plan.actions.size() == 1);
  CHECK(plan.actions[0].reason ==
        "it can run in waves: 1 of its pods wait for others; east has most");
  const Shard& shard = Held(fed, "n/t");
  CHECK(shard.InWaves());
  CHECK(shard.Pods() == 4);
  CHECK(CountsOf(shard) == std::vector<int32_t>{1, 2});
  CHECK(shard.tasks[1].min_available == 3);
  CHECK(shard.min_available == 2);
  CHECK(shard.requests == Amounts("nvidia.com/gpu=24 cpu=3 pods=3"));
  CHECK(Charged(fed) == 24);
  CHECK(Free(fed, "east") == 40);
  CHECK(fed.Go().actions.empty());
  const auto waiting = ExplainResizes(fed.state);
  REQUIRE(waiting.size() == 1);
  CHECK(waiting[0].verdict == Verdict::kQueueCapability);
  fed.AddQueue("default", [](Queue& queue) { queue.capability = Amounts("nvidia.com/gpu=32"); });
  const Plan more = fed.Go();
  REQUIRE(more.actions.size() == 1);
  CHECK(more.actions[0].action == ActionKind::kGrow);
  CHECK(more.actions[0].reason ==
        "it runs in waves and cluster east has room; 0 of its pods still wait");
  CHECK(CountsOf(Held(fed, "n/t")) == std::vector<int32_t>{1, 3});
  CHECK(Held(fed, "n/t").InWaves());
  CHECK(Charged(fed) == 32);
  CHECK(fed.Go().actions.empty());
  CHECK(ExplainResizes(fed.state).empty());
}

TEST_CASE("What fits whole runs whole, and what must start together is never partial") {
  Fed fed;
  fed.AddCluster("east", "nvidia.com/gpu=24 cpu=64");
  AddWaves(fed, "n/whole", 3, 1);
  fed.Go();
  CHECK_FALSE(Held(fed, "n/whole").InWaves());
  fed.AddCluster("east", "nvidia.com/gpu=40 cpu=64");
  AddWaves(fed, "n/gang", 4, 4);
  AddWaves(fed, "n/large", 4, 3);
  AddWaves(fed, "n/parts", 4, 2, [](Job& job) { job.tasks[0].partition = {2, 2, 1, {}}; });
  CHECK(fed.Go().actions.empty());
}

TEST_CASE("In the rest of its round a job counts by its grant, not by all its replicas") {
  Fed fed;
  fed.AddCluster("east", "nvidia.com/gpu=80 cpu=64", [](Cluster& cluster) {
    cluster.allocated = Amounts("nvidia.com/gpu=56");  // Others' pods: 24 are left.
  });
  fed.AddCluster("west", "nvidia.com/gpu=64 cpu=64").AddQueue("other");
  AddWaves(fed, "n/waves", 10, 1, [](Job& job) { job.clusters.names = {"east"}; });
  // Its queue deserves half of 88 devices, and it would not run on borrowed ones.
  fed.AddJob("n/steady", "default", 2, kPod, [](Job& job) {
    job.clusters.names = {"west"};
    job.preemptible = false;
  });
  fed.AddJob("n/rival", "other", 10, kPod, [](Job& job) { job.clusters.names = {"east"}; });
  fed.Go();
  CHECK(Held(fed, "n/waves").PodsAtOnce() == 3);
  CHECK(fed.At("n/steady").charge.has_value());
}

TEST_CASE("Only what a capability holds can run in waves") {
  JobSpec spec;
  spec.tasks = {MakeTask("a", 4, "cpu=1")};
  spec.min_available = 2;
  CHECK(MayRunInWaves(spec));
  spec.tasks.push_back(MakeTask("b", 1, ""));
  CHECK_FALSE(MayRunInWaves(spec));  // Of `pods` alone there may be any number.
  spec.tasks[1].replicas = 0;
  CHECK(MayRunInWaves(spec));
  spec.kind = JobKind::kHyperJob;
  CHECK_FALSE(MayRunInWaves(spec));
}

TEST_CASE("Where pods differ in size, as many count as could run within the sum") {
  JobSpec spec;
  spec.tasks = {MakeTask("big", 2, "cpu=8"), MakeTask("small", 9, "cpu=1")};
  CHECK(GrantOf(spec, {1, 2}) == Amounts("cpu=10 pods=11"));
  CHECK(GrantOf(spec, {0, 0}).empty());
  spec.tasks[1].request = spec.tasks[0].request;
  CHECK(GrantOf(spec, {1, 2}) == Amounts("cpu=24 pods=3"));
}

TEST_CASE("Pods start in the room that others leave, first those that were granted") {
  JobSpec spec;
  spec.tasks = {MakeTask("a", 1, "cpu=1"), MakeTask("b", 5, "cpu=1")};
  Shard shard;
  shard.tasks = {{"a", 1, 1, 1}, {"b", 5, 1, 2}};
  shard.requests = GrantOf(spec, {1, 2});
  using Counts = std::vector<int64_t>;
  CHECK(PodsToStart(spec, shard, {{0, 0}, {0, 0}}) == Counts{1, 2});
  CHECK(PodsToStart(spec, shard, {{0, 0}, {2, 0}}) == Counts{1, 0});
  CHECK(PodsToStart(spec, shard, {{0, 1}, {2, 0}}) == Counts{0, 1});
  CHECK(PodsToStart(spec, shard, {{0, 1}, {0, 4}}) == Counts{0, 1});
  CHECK(PodsToStart(spec, shard, {{1, 0}, {3, 0}}) == Counts{0, 0});
}

TEST_CASE("The grant stays charged while pods come and go, and is counted once in its cluster") {
  Fed fed;
  fed.AddCluster("east", "nvidia.com/gpu=24 cpu=64");
  AddWaves(fed, "n/t", 6, 1);
  fed.Go();
  CHECK(Free(fed, "east") == 0);
  const auto show = [&](const char* allocated) {
    fed.AddCluster("east", "nvidia.com/gpu=24 cpu=64",
                   [&](Cluster& cluster) { cluster.allocated = Amounts(allocated); });
  };
  Pass(fed, std::chrono::seconds(90));
  Report(fed, "n/t", 3, 0);
  show("nvidia.com/gpu=24 cpu=3");
  CHECK(Free(fed, "east") == 0);
  Report(fed, "n/t", 2, 1);  // The next pod is about to start.
  show("nvidia.com/gpu=16 cpu=2");
  CHECK(Free(fed, "east") == 0);
  Report(fed, "n/t", 1, 5);  // Nobody comes any more.
  show("nvidia.com/gpu=8 cpu=1");
  CHECK(Free(fed, "east") == 16);
  CHECK(Charged(fed) == 24);
}

TEST_CASE("Edits keep the grant where they may; what they take back is charged until it ended") {
  Fed fed;
  fed.AddCluster("east", "nvidia.com/gpu=24 cpu=64");
  AddWaves(fed, "n/t", 5, 1);
  fed.Go();
  REQUIRE(Held(fed, "n/t").PodsAtOnce() == 3);
  const auto edit = [&](int32_t replicas, int32_t floor) {
    Job job = fed.state.Object(fed.state.FindJob(Key("n/t")));
    job.tasks[0].replicas = replicas;
    job.tasks[0].min_available = floor;
    job.min_available = floor;
    fed.Do(JobUpsert{job});
  };
  edit(7, 1);
  CHECK(fed.Go().actions.size() == 1);
  CHECK(Held(fed, "n/t").Pods() == 7);
  CHECK(Held(fed, "n/t").PodsAtOnce() == 3);
  CHECK(Charged(fed) == 24);
  edit(7, 4);  // Four do not fit: it waits as it is.
  CHECK(fed.Go().actions.empty());
  CHECK(Held(fed, "n/t").min_available == 1);
  Report(fed, "n/t", 3, 0);
  edit(2, 1);
  const Plan plan = fed.Go();
  REQUIRE(plan.actions.size() == 1);
  CHECK(plan.actions[0].action == ActionKind::kShrink);
  CHECK(Held(fed, "n/t").PodsAtOnce() == 2);
  CHECK(Charged(fed) == 24);
  CHECK(fed.state.NextTimed() > fed.state.now());
  Pass(fed, std::chrono::seconds(30));
  CHECK(fed.Go().actions.empty());  // Three run.
  Report(fed, "n/t", 2, 1);
  const Plan ended = fed.Go();
  REQUIRE(ended.actions.size() == 1);
  CHECK(ended.actions[0].reason == "pods that it has beyond its grant have ended");
  CHECK(Charged(fed) == 16);
  CHECK(fed.Go().actions.empty());
}

TEST_CASE("A placement says what runs at once, and State takes it over with its charge") {
  Shard shard;
  shard.cluster = "east";
  shard.tasks = {{"worker", 4, 1, 3}};
  shard.min_available = 1;
  const std::string text = EncodePlacement({shard});
  CHECK(text == R"([{"cluster":"east","epoch":1,"tasks":{"worker":{"replicas":4,"minAvailable":1,)"
                R"("atOnce":3}},"minAvailable":1}])");
  const auto read = DecodePlacement(text);
  REQUIRE(read.has_value());
  CHECK(*read == std::vector<Shard>{shard});
  Fed fed;
  fed.AddCluster("east", "nvidia.com/gpu=64 cpu=64");
  AddWaves(fed, "n/t", 4, 1, [&](Job& job) { job.placement = {shard}; });
  CHECK(Held(fed, "n/t").requests == Amounts("nvidia.com/gpu=24 cpu=3 pods=3"));
  const auto more = DecodePlacement(
      R"([{"cluster":"east","tasks":{"w":{"replicas":2,"minAvailable":1,"atOnce":3}}}])");
  REQUIRE_FALSE(more.has_value());
  CHECK(more.error().message.find("atOnce 3 is more than replicas 2") != std::string::npos);
}

TEST_CASE("Pods that their Queue holds back take no room, though a summary counts them pending") {
  Fed fed;
  fed.AddCluster("east", "nvidia.com/gpu=64 cpu=64");
  fed.AddQueue("default", [](Queue& queue) { queue.capability = Amounts("nvidia.com/gpu=24"); });
  AddWaves(fed, "n/t", 8, 2);
  fed.Go();
  fed.AddCluster("east", "nvidia.com/gpu=64 cpu=64", [](Cluster& cluster) {
    cluster.allocated = Amounts("nvidia.com/gpu=24 cpu=3");
    cluster.allocating = Amounts("nvidia.com/gpu=48 cpu=6");  // Five of them are ours.
  });
  Report(fed, "n/t", 3, 0);
  Pass(fed, std::chrono::seconds(60));
  CHECK(Free(fed, "east") == 64 - 24 - 8);
  fed.Do(JobDelete{Key("n/t"), "uid-n/t"});
  CHECK(Free(fed, "east") == 0);
}

}  // namespace
}  // namespace caldera
