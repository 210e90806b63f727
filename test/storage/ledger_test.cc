#include "storage/ledger.h"

#include <doctest/doctest.h>

#include <limits>

#include "storage/audit.h"
#include "test/storage/scene.h"

namespace caldera::testing {
namespace {

PendingJob Waits(std::string_view key, Verdict verdict, const std::string& message) {
  PendingJob job;
  job.job = Key(key);
  job.queue = "gold";
  job.verdict = verdict;
  job.message = message;
  return job;
}

void MustBeSound(const Scene& scene) {
  const AuditReport report = Must(Audit(scene.Reader()));
  for (const std::string& finding : report.findings) {
    FAIL_CHECK(finding);
  }
}

TEST_CASE("a new ledger is empty and counts from one") {
  Scene scene;
  CHECK(Must(scene.ledger->NextIntent()) == 1);
  CHECK(scene.ledger->LastCycle() == 0);
  CHECK(Exported(Must(scene.ledger->Load())) == Exported(State()));
  MustBeSound(scene);
}

TEST_CASE("what was recorded is loaded again and goes on where it ended") {
  Scene scene;
  scene.fed.AddQueue("gold").AddCluster("east", "cpu=8 pods=100");
  scene.fed.AddJob("team-a/train", "gold", 2, "cpu=2").AddJob("team-a/wide", "gold", 4, "cpu=2");
  CHECK(scene.Record() == 1);
  REQUIRE(scene.plan.actions.size() == 1);
  const std::string digest = scene.ledger->LastDigest();
  scene.Open();
  CHECK(Exported(Must(scene.ledger->Load())) == Exported(scene.fed.state));
  CHECK(scene.ledger->LastCycle() == 1);
  CHECK(scene.ledger->LastDigest() == digest);
  CHECK(Must(scene.ledger->NextIntent()) == 2);
  scene.Tick(Millis(1000));
  scene.Drop("team-a/train");
  CHECK(scene.Record() == 2);
  CHECK(Exported(Must(scene.ledger->Load())) == Exported(scene.fed.state));
  CHECK(scene.Sql("SELECT previous FROM journal WHERE cycle = 2") == digest);
  MustBeSound(scene);
}

TEST_CASE("a placement is an intent, a charge and a balance") {
  Scene scene;
  scene.fed.AddQueue("gold").AddCluster("east", "cpu=8 pods=100");
  scene.fed.AddJob("team-a/train", "gold", 2, "cpu=1500m");
  scene.Record();
  CHECK(scene.Sql("SELECT namespace, name, kind, queue, state, verdict FROM jobs") ==
        "team-a|train|Job|gold|running|");
  CHECK(scene.Sql("SELECT number, cycle, queue, action, outcome FROM intents") ==
        "1|1|gold|Place|open");
  CHECK(scene.Sql("SELECT intent, queue, tenant, cluster, epoch, tasks, min_available, requests "
                  "FROM shards WHERE until IS NULL") ==
        "1|gold|team-a|east|1|{\"worker\":{\"replicas\":2,\"minAvailable\":2}}|2|"
        "{\"cpu\":3000,\"pods\":2}");
  CHECK(scene.Sql("SELECT * FROM balances") ==
        "gold|team-a|east|cpu|3000\ngold|team-a|east|pods|2");
  MustBeSound(scene);
}

TEST_CASE("balances return to nothing when all is done, however it ended") {
  Scene scene;
  scene.fed.AddQueue("gold").AddQueue("silver").AddCluster("east", "cpu=80 pods=100");
  scene.fed.AddJob("team-a/done", "gold", 2, "cpu=2").AddJob("team-b/gone", "silver", 1, "cpu=3");
  scene.fed.AddJob("team-b/freed", "silver", 1, "cpu=5");
  scene.Record();
  CHECK(scene.Sql("SELECT sum(amount) FROM balances WHERE resource = 'cpu'") == "12000");
  scene.Tick(Millis(60'000));
  scene.Again("team-a/done", [](Job& job) { job.terminal = true; });
  scene.Drop("team-b/gone");
  scene.fed.Do(Released{Key("team-b/freed"), "uid-team-b/freed", 1});
  scene.Again("team-b/freed", [](Job& job) { job.hold = true; });
  scene.Record();
  CHECK(scene.Sql("SELECT count(*) FROM balances") == "0");
  CHECK(scene.Sql("SELECT count(*) FROM shards WHERE until IS NULL") == "0");
  CHECK(scene.Sql("SELECT name, state, gone IS NOT NULL FROM jobs ORDER BY name") ==
        "done|finished|0\nfreed|pending|0\ngone|released|1");
  CHECK(scene.Sql("SELECT DISTINCT outcome FROM intents") == "released");
  CHECK(scene.Sql("SELECT sum(amount * (until - since)) FROM usage WHERE resource = 'cpu'") ==
        "720000000");
  MustBeSound(scene);
}

TEST_CASE("amounts at the end of int64 saturate and still return to nothing") {
  Scene scene;
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  const auto huge = [](Job& job) {
    job.tasks[0].request["memory"] = kMost;
    job.placement = {{"east", 1, "", {{"worker", 3, 3}}, 3, {}}};
  };
  scene.fed.AddQueue("gold").AddCluster("east", "cpu=8 pods=100");
  scene.fed.AddJob("team-a/a", "gold", 3, "cpu=1", huge)
      .AddJob("team-a/b", "gold", 3, "cpu=1", huge);
  scene.Record();
  CHECK(scene.Sql("SELECT amount FROM balances WHERE resource = 'memory'") ==
        std::to_string(kMost));
  scene.Drop("team-a/a");
  scene.Record();
  CHECK(scene.Sql("SELECT amount FROM balances WHERE resource = 'memory'") ==
        std::to_string(kMost));
  scene.Drop("team-a/b");
  scene.Record();
  CHECK(scene.Sql("SELECT count(*) FROM balances") == "0");
  MustBeSound(scene);
}

TEST_CASE("a job made again under its name is another job, unless its uid is the same") {
  Scene scene;
  scene.fed.AddQueue("gold").AddCluster("east", "cpu=8 pods=100");
  scene.fed.AddJob("team-a/train", "gold", 2, "cpu=2");
  scene.Record();
  scene.Tick(Millis(1000));
  scene.fed.AddJob("team-a/train", "gold", 1, "cpu=1", [](Job& job) { job.uid = "second"; });
  scene.Record();
  CHECK(scene.Sql("SELECT uid, state FROM jobs ORDER BY id") ==
        "uid-team-a/train|released\nsecond|running");
  CHECK(scene.Sql("SELECT amount FROM balances WHERE resource = 'cpu'") == "1000");
  scene.fed.Do(JobDelete{Key("team-a/train"), "second"});
  scene.Record();
  scene.Tick(Millis(1000));
  scene.fed.AddJob("team-a/train", "gold", 1, "cpu=1", [](Job& job) { job.uid = "second"; });
  scene.Record();
  CHECK(scene.Sql("SELECT uid, state, gone IS NULL FROM jobs ORDER BY id") ==
        "uid-team-a/train|released|0\nsecond|running|1");
  MustBeSound(scene);
}

TEST_CASE("two jobs may carry one uid, and a Job and a HyperJob one name") {
  Scene scene;
  scene.fed.AddQueue("gold").AddCluster("east", "cpu=8 pods=100");
  scene.fed.AddJob("team-a/a", "gold", 1, "cpu=1", [](Job& job) { job.uid = "copied"; });
  scene.fed.AddJob("team-a/b", "gold", 1, "cpu=1", [](Job& job) { job.uid = "copied"; });
  scene.fed.AddJob("team-a/b", "gold", 1, "cpu=1", [](Job& job) {
    job.kind = JobKind::kHyperJob;
    job.uid = "hyper";
  });
  scene.Record();
  CHECK(scene.Sql("SELECT name, kind, state FROM jobs ORDER BY name, kind") ==
        "a|Job|running\nb|HyperJob|pending\nb|Job|running");
  MustBeSound(scene);
}

TEST_CASE("a job that changes its queue is charged to each for its time") {
  Scene scene;
  scene.fed.AddQueue("gold").AddQueue("silver").AddCluster("east", "cpu=8 pods=100");
  scene.fed.AddJob("team-a/train", "gold", 2, "cpu=2");
  scene.Record();
  scene.Tick(Millis(10'000));
  scene.Again("team-a/train", [](Job& job) { job.queue = "silver"; });
  scene.Record();
  scene.Tick(Millis(5'000));
  scene.Drop("team-a/train");
  scene.Record();
  CHECK(scene.Sql("SELECT queue, sum(amount * (until - since)) FROM usage WHERE resource = 'cpu' "
                  "GROUP BY queue") == "gold|40000000\nsilver|20000000");
  CHECK(scene.Sql("SELECT count(DISTINCT placed) FROM shards") == "1");
  MustBeSound(scene);
}

TEST_CASE("a resize is an intent, and is charged from then on at the same place") {
  Scene scene;
  scene.fed.AddQueue("gold").AddCluster("east", "cpu=8 pods=100");
  scene.fed.AddJob("team-a/train", "gold", 2, "cpu=2");
  scene.Record();
  const auto scale = [&scene](int32_t replicas) {
    scene.Tick(Millis(10'000));
    scene.Again("team-a/train", [replicas](Job& job) {
      job.tasks[0].replicas = replicas;
      job.tasks[0].min_available = replicas;
      job.min_available = replicas;
    });
    scene.Record();
    MustBeSound(scene);
    return scene.Sql("SELECT amount FROM balances WHERE resource = 'cpu'");
  };
  CHECK(scale(3) == "6000");
  CHECK(scale(9) == "6000");  // No room: it waits.
  CHECK(scale(1) == "2000");
  CHECK(scene.Sql("SELECT number, action, outcome FROM intents ORDER BY number") ==
        "1|Place|superseded\n2|Grow|superseded\n3|Shrink|open");
  CHECK(scene.Sql("SELECT intent, epoch, tasks, min_available FROM shards WHERE until IS NULL") ==
        "3|1|{\"worker\":{\"replicas\":1,\"minAvailable\":1}}|1");
  CHECK(scene.Sql("SELECT count(DISTINCT placed) FROM shards") == "1");
  CHECK(Exported(Must(scene.ledger->Load())) == Exported(scene.fed.state));
  scene.Tick(Millis(10'000));
  scene.Drop("team-a/train");
  scene.Record();
  CHECK(scene.Sql("SELECT count(*) FROM balances") == "0");
  CHECK(scene.Sql("SELECT DISTINCT outcome FROM intents WHERE closed IS NULL") == "");
  CHECK(scene.Sql("SELECT sum(amount * (until - since)) FROM usage WHERE resource = 'cpu'") ==
        "180000000");
  MustBeSound(scene);
}

TEST_CASE("an intent is observed when the object says so") {
  Scene scene;
  scene.fed.AddQueue("gold").AddCluster("east", "cpu=8 pods=100");
  scene.fed.AddJob("team-a/train", "gold", 2, "cpu=2");
  scene.Record();
  const std::vector<Shard> placed = scene.plan.actions.front().shards;
  scene.Again("team-a/train", [&placed](Job& job) { job.placement = placed; });
  scene.Record();
  CHECK(scene.Sql("SELECT outcome, closed FROM intents") == "observed|");
  MustBeSound(scene);
}

TEST_CASE("a placement that was only observed is charged without an intent") {
  Scene scene;
  scene.fed.AddQueue("gold").AddCluster("east", "cpu=8 pods=100");
  scene.fed.AddJob("team-a/train", "gold", 2, "cpu=2", [](Job& job) {
    job.placement = {{"east", 3, "", {{"worker", 2, 2}}, 2, {}}};
  });
  scene.Record();
  CHECK(scene.Sql("SELECT epoch, intent IS NULL, placed = since FROM shards") == "3|1|1");
  CHECK(scene.Sql("SELECT count(*) FROM intents") == "0");
  MustBeSound(scene);
}

TEST_CASE("an empty cycle writes nothing, and its clock is not lost") {
  Scene scene;
  scene.fed.AddQueue("gold");
  CHECK(scene.Record() == 1);
  scene.Tick(Millis(5'000));
  CHECK(scene.Record() == 1);
  CHECK(scene.Sql("SELECT count(*) FROM journal") == "1");
  scene.fed.AddQueue("silver");
  CHECK(scene.Record() == 2);
  CHECK(Must(scene.ledger->Load()).now() == scene.fed.state.now());
  MustBeSound(scene);
}

TEST_CASE("what time alone tells those who wait is kept") {
  Scene scene;
  scene.fed.AddQueue("gold").AddCluster("east", "cpu=2 pods=100");
  scene.fed.AddJob("team-a/wide", "gold", 4, "cpu=2");
  scene.Record({Waits("team-a/wide", Verdict::kBackoff, "for a while")});
  scene.Tick(Millis(5'000));
  scene.Record({Waits("team-a/wide", Verdict::kInsufficientResources, "6 short")});
  CHECK(scene.Sql("SELECT verdict, message FROM jobs") == "InsufficientResources|6 short");
  CHECK(scene.Sql("SELECT count(*) FROM journal") == "1");
  MustBeSound(scene);
}

TEST_CASE("a cluster that is kept from some time on is so in a replay") {
  Scene scene;
  scene.fed.AddQueue("gold").AddCluster("east", "cpu=8 pods=100");
  scene.fed.AddJob("team-a/runs", "gold", 6, "cpu=1");
  scene.Record();
  scene.fed.AddJob("team-a/wide", "gold", 8, "cpu=1");
  scene.Record();
  for (int minutes = 0; minutes < 15; ++minutes) {  // It is at the head for ten.
    scene.Tick(Millis(60'000));
    scene.Record();
  }
  const auto& kept = scene.fed.state.reservations();
  REQUIRE(kept.size() == 1);
  REQUIRE(kept.front().cluster == "east");
  CHECK(kept.front().since < scene.fed.state.now());
  CHECK(Must(scene.ledger->Load()).reservations() == kept);
  scene.fed.AddQueue("other");
  scene.Record();
  MustBeSound(scene);
}

TEST_CASE("verdicts are kept with the time since when they hold") {
  Scene scene;
  scene.fed.AddQueue("gold").AddCluster("east", "cpu=2 pods=100");
  scene.fed.AddJob("team-a/wide", "gold", 4, "cpu=2");
  const auto start = scene.fed.state.now();
  scene.Record({Waits("team-a/wide", Verdict::kInsufficientResources, "6 short")});
  scene.Tick(Millis(1000));
  scene.fed.AddQueue("other");
  scene.Record({Waits("team-a/wide", Verdict::kInsufficientResources, "5 short")});
  CHECK(scene.Sql("SELECT verdict, message, since FROM jobs") ==
        "InsufficientResources|5 short|" + std::to_string(start.time_since_epoch().count()));
  scene.Tick(Millis(1000));
  scene.fed.AddQueue("third");
  scene.Record({Waits("team-a/wide", Verdict::kTenantQuota, "over")});
  const auto third = std::to_string((start + Millis(2000)).time_since_epoch().count());
  CHECK(scene.Sql("SELECT verdict, since FROM jobs") == "TenantQuota|" + third);
  CHECK(scene.Sql("SELECT verdict, message, until FROM verdicts") ==
        "InsufficientResources|5 short|" + third);
  scene.Tick(Millis(1000));
  scene.fed.AddCluster("west", "cpu=20 pods=100");
  scene.Record();
  CHECK(scene.Sql("SELECT state, verdict FROM jobs") == "running|");
  CHECK(scene.Sql("SELECT verdict FROM verdicts ORDER BY since") ==
        "InsufficientResources\nTenantQuota");
  MustBeSound(scene);
}

TEST_CASE("queues and quotas are what their last change said") {
  Scene scene;
  scene.fed.AddQueue("gold", [](Queue& queue) {
    queue.weight = 3;
    queue.capability = Amounts("cpu=8 nvidia.com/gpu=0");
  });
  scene.fed.AddQuota("team-a", "cpu=10",
                     [](TenantQuota& quota) { quota.per_cluster["east"] = Amounts("cpu=4"); });
  scene.Record();
  CHECK(scene.Sql("SELECT name, weight, state, capability, gone FROM queues") ==
        "gold|3|Open|{\"cpu\":8000,\"nvidia.com/gpu\":0}|");
  CHECK(scene.Sql("SELECT cluster, resource, amount FROM tenant_limits ORDER BY cluster") ==
        "|cpu|10000\neast|cpu|4000");
  scene.fed.AddQuota("team-a", "cpu=6");
  scene.fed.Do(QueueDelete{"gold"});
  scene.Record();
  CHECK(scene.Sql("SELECT cluster, resource, amount FROM tenant_limits") == "|cpu|6000");
  CHECK(scene.Sql("SELECT gone IS NOT NULL FROM queues") == "1");
  scene.fed.Do(TenantQuotaDelete{"team-a", "quota"});
  scene.fed.AddQueue("gold");
  scene.Record();
  CHECK(scene.Sql("SELECT (SELECT count(*) FROM tenants), (SELECT count(*) FROM tenant_limits)") ==
        "0|0");
  CHECK(scene.Sql("SELECT gone IS NULL, weight FROM queues") == "1|1");
}

}  // namespace
}  // namespace caldera::testing
