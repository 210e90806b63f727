#include "storage/replay.h"

#include <doctest/doctest.h>

#include "storage/audit.h"
#include "test/storage/scene.h"

namespace caldera::testing {
namespace {

using std::chrono::hours;
using std::chrono::minutes;

LedgerOptions EveryCycles(int64_t cycles) {
  LedgerOptions options;
  options.checkpoint_cycles = cycles;
  return options;
}

/// `cycles` cycles in which jobs come, are placed and go.
void Live(Scene& scene, int cycles) {
  scene.fed.AddQueue("gold").AddQueue("silver").AddCluster("east", "cpu=8 pods=100");
  for (int i = 0; i < cycles; ++i) {
    const std::string name = "team-a/job-" + std::to_string(i);
    scene.fed.AddJob(name, i % 2 == 0 ? "gold" : "silver", 1 + i % 3, "cpu=1");
    if (i >= 3) {
      scene.Drop("team-a/job-" + std::to_string(i - 3));
    }
    scene.Tick(Millis(1000));
    scene.Record();
  }
}

/// A cycle in which a job waits, with what a cluster answers.
void Wait(Scene& scene) {
  scene.fed.AddJob("team-a/waits", "gold", 90, "cpu=1");
  PendingJob job;
  job.job = Key("team-a/waits");
  job.queue = "gold";
  job.verdict = Verdict::kInsufficientResources;
  job.clusters = ClusterVerdicts({{"east", Verdict::kInsufficientResources, "full", {}}});
  scene.Record({job});
}

/// Writes to the file behind the ledger's back.
void Tamper(const Scene& scene, const std::string& sql) {
  Database database = Must(Database::Open(scene.path, Database::Mode::kReadWrite, Millis(1000)));
  Must(database.Execute(sql));
}

TEST_CASE("every cycle is planned again to the same digest, with and without checkpoints") {
  for (const int64_t every : {int64_t{1}, int64_t{4}, int64_t{1000}}) {
    Scene scene(EveryCycles(every));
    Live(scene, 12);
    const LedgerReader reader = scene.Reader();
    for (int64_t cycle = 1; cycle <= 12; ++cycle) {
      const ReplayReport report = Must(Replay(reader, cycle));
      CHECK_MESSAGE(report.Same(), report.difference);
      CHECK(report.cycle == cycle);
      CHECK(report.actions == 1);
      CHECK(report.difference.empty());
    }
    CHECK(Exported(Must(scene.ledger->Load())) == Exported(scene.fed.state));
    CHECK(Must(Audit(reader)).findings.empty());
  }
}

TEST_CASE("a checkpoint is due by cycles or by time, once the journal has grown") {
  Scene by_cycles(EveryCycles(4));
  Live(by_cycles, 12);
  CHECK(by_cycles.Sql("SELECT cycle FROM checkpoints") == "4\n8\n12");

  Scene by_time;
  by_time.fed.AddQueue("gold");
  by_time.Record();
  for (int i = 0; i < 3; ++i) {
    by_time.Tick(minutes(9));
    by_time.fed.AddQueue("q" + std::to_string(i));
    by_time.Record();
  }
  CHECK(by_time.Sql("SELECT cycle FROM checkpoints") == "3");
}

TEST_CASE("checkpoints are thinned with their age and the State is still found") {
  Scene scene(EveryCycles(1));
  scene.fed.AddQueue("gold").AddCluster("east", "cpu=8 pods=100");
  for (int i = 0; i < 200; ++i) {
    scene.Tick(minutes(20));
    scene.fed.AddQueue("gold", [i](Queue& queue) { queue.weight = i + 1; });
    scene.fed.AddCluster("east", "cpu=8 pods=100");
    scene.Record();
  }
  const int64_t kept = std::stoll(scene.Sql("SELECT count(*) FROM checkpoints"));
  CHECK(kept > 24);
  CHECK(kept < 40);
  CHECK(scene.Sql("SELECT max(cycle) FROM checkpoints") == "200");
  CHECK(Must(Replay(scene.Reader(), 17)).Same());
  CHECK(Exported(Must(scene.ledger->Load())) == Exported(scene.fed.state));
}

TEST_CASE("cycles in which jobs give pods, and room is kept for a floor, are planned again") {
  Scene scene(EveryCycles(3));
  scene.fed.AddQueue("a").AddQueue("b").AddCluster("east", "cpu=8 pods=100");
  const auto partial = [&](const std::string& key, const std::string& queue, int32_t pods,
                           int32_t floor, bool elastic) {
    scene.fed.AddJob(key, queue, pods, "cpu=1", [&](Job& job) {
      job.tasks[0].min_available = floor;
      job.min_available = floor;
      job.elastic = elastic;
    });
  };
  std::string decided;
  const auto record = [&](Millis span) {
    scene.Tick(span);
    scene.Record();
    for (const Action& action : scene.plan.actions) {
      decided += std::string(ActionName(action.action)) + " " + action.job.name + ", ";
    }
  };
  partial("n/trainer", "a", 6, 4, true);
  partial("n/waves", "a", 9, 1, false);
  record(Millis(1000));
  partial("n/large", "b", 20, 3, true);  // All of it would never fit.
  record(minutes(20));
  record(minutes(1));
  record(minutes(1));
  CHECK(decided ==
        "Place trainer, Place waves, Shrink waves, Shrink trainer, Shrink waves, Place large, ");
  const LedgerReader reader = scene.Reader();
  for (int64_t cycle = 1; cycle <= 4; ++cycle) {
    const ReplayReport report = Must(Replay(reader, cycle));
    CHECK_MESSAGE(report.Same(), report.difference);
  }
  CHECK(Exported(Must(scene.ledger->Load())) == Exported(scene.fed.state));
  CHECK(Must(Audit(reader)).findings.empty());
}

TEST_CASE("replay finds what was changed in the journal, and so does the check") {
  Scene scene;
  Live(scene, 5);
  Tamper(scene,
         "UPDATE journal SET plan = replace(plan, '\"cluster\":\"east\"', '\"cluster\":\"west\"') "
         "WHERE cycle = 3");
  const ReplayReport report = Must(Replay(scene.Reader(), 3));
  // The digest is of the plan as it was decided, which replay decides again.
  CHECK(report.Same());
  const AuditReport audit = Must(Audit(scene.Reader()));
  REQUIRE(!audit.findings.empty());
  CHECK(audit.findings.front().find("cycle 3 was changed after it was written") !=
        std::string::npos);
}

TEST_CASE("replay says where the plans part") {
  Scene scene;
  scene.fed.AddQueue("gold").AddCluster("east", "cpu=8 pods=100");
  scene.fed.AddJob("team-a/train", "gold", 2, "cpu=2");
  State after = scene.fed.state;
  Plan plan = MakePlan(scene.fed.state);
  REQUIRE(plan.actions.size() == 1);
  plan.actions[0].reason = "because I say so";
  for (const Change& change : EffectOf(plan, 1)) {
    after.Apply(change);
  }
  Must(scene.ledger->Append(scene.fed.changes, plan, after, {}));
  const ReplayReport report = Must(Replay(scene.Reader(), 1));
  CHECK(!report.Same());
  CHECK(report.difference.find("action 1: recorded Place team-a/train") != std::string::npos);
  CHECK(report.difference.find("because I say so") != std::string::npos);
}

TEST_CASE("a cycle that is not there cannot be replayed") {
  Scene scene;
  const auto empty = Replay(scene.Reader(), 1);
  REQUIRE(!empty.has_value());
  CHECK(empty.error().code == ErrorCode::kNotFound);
  Live(scene, 2);
  const auto beyond = Replay(scene.Reader(), 3);
  REQUIRE(!beyond.has_value());
  CHECK(beyond.error().message.find("it has cycles 1 to 2") != std::string::npos);
  CHECK(!Replay(scene.Reader(), 0).has_value());
  CHECK(!Replay(scene.Reader(), -1).has_value());
}

TEST_CASE("the check finds balances, shards and checkpoints that do not agree") {
  struct Case {
    const char* sql;
    const char* finding;
  };
  const std::vector<Case> cases = {
      {"UPDATE charges SET amounts = json_set(amounts, '$.cpu', 1)", "its shards sum to {"},
      {"UPDATE charges SET amounts = json_remove(amounts, '$.pods')", "its shards sum to {"},
      {"DELETE FROM charges", "is missing, its shards sum to {"},
      {R"(INSERT INTO charges VALUES ('gold', 't', 'c', '{"cpu":0}'))", "sum to nothing"},
      {R"(UPDATE shards SET requests = '{"cpu":1}' WHERE until IS NULL)", "by the journal"},
      {"UPDATE shards SET until = since WHERE until IS NULL", "is missing, by the journal"},
      {"UPDATE checkpoints SET changes = changes || ' '", "does not match its digest"},
      {"DELETE FROM journal WHERE cycle = 4", "cycle 5 follows cycle 3"},
      {"UPDATE journal SET previous = 'x' WHERE cycle = 4", "does not continue from the digest"},
      {R"(UPDATE journal SET changes = '{"change":"ClockSet"}' WHERE cycle = 2)",
       "was changed after it was written"},
      {"UPDATE shards SET tasks = '{}' WHERE until IS NULL", "by the journal"},
      {"UPDATE shards SET min_available = 9 WHERE until IS NULL", "by the journal"},
      {"UPDATE queues SET weight = 9 WHERE name = 'gold'", "queues: the row [\"gold\""},
      {"DELETE FROM queues WHERE name = 'silver'", "which is missing"},
      {"UPDATE tenant_limits SET amount = amount + 1", "tenant_limits: the row [\"team-a\""},
      {"UPDATE tenants SET weight = 7", "tenants: the row [\"team-a\""},
      {"UPDATE jobs SET min_available = 9 WHERE gone IS NULL", "jobs: the row [\"team-a\""},
      {"UPDATE jobs SET state = 'finished' WHERE gone IS NULL", "jobs: by the journal"},
      {"UPDATE intents SET reason = reason || '.' WHERE number = 2", "intents: decision 2 is not"},
      {"UPDATE intents SET shards = '[]' WHERE number = 3", "intents: decision 3 is not"},
      {"UPDATE cluster_verdicts SET clusters = '[]'", "cluster_verdicts: row 1 does not match"},
      {"PRAGMA foreign_keys = OFF; DELETE FROM jobs WHERE id = 1", "refers to a row of jobs"},
  };
  for (const Case& test : cases) {
    Scene scene(EveryCycles(3));
    scene.fed.AddQuota("team-a", "cpu=100");
    Live(scene, 5);
    Wait(scene);
    REQUIRE(Must(Audit(scene.Reader())).findings.empty());
    Tamper(scene, test.sql);
    const AuditReport report = Must(Audit(scene.Reader()));
    std::string all;
    for (const std::string& finding : report.findings) {
      all += finding + "\n";
    }
    CHECK_MESSAGE(all.find(test.finding) != std::string::npos, test.sql, ": ", all);
  }
}

}  // namespace
}  // namespace caldera::testing
