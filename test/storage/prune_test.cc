#include "storage/prune.h"

#include <doctest/doctest.h>

#include <set>

#include "storage/audit.h"
#include "storage/queries.h"
#include "storage/replay.h"
#include "test/storage/scene.h"

namespace caldera::testing {
namespace {

using std::chrono::hours;
using std::chrono::minutes;

constexpr int64_t kHourMs = 3'600'000;

void MustBeSound(const Scene& scene) {
  const AuditReport report = Must(Audit(scene.Reader()));
  for (const std::string& finding : report.findings) {
    FAIL_CHECK(finding);
  }
}

/// A job every 50 minutes, each for 170: charges that lie across hours, some of them over three.
void Live(Scene& scene, int jobs) {
  scene.fed.AddQueue("gold").AddQueue("silver");
  scene.fed.AddCluster("east", "cpu=8 memory=64Gi pods=100");
  for (int i = 0; i < jobs; ++i) {
    const std::string tenant = i % 3 == 0 ? "team-a" : "team-b";
    scene.fed.AddJob(tenant + "/job-" + std::to_string(i), i % 2 == 0 ? "gold" : "silver",
                     1 + i % 3, i % 5 == 0 ? "cpu=700m memory=333" : "cpu=1");
    scene.Record();
    scene.Tick(minutes(20));
    if (i >= 3) {
      const std::string old = (i - 3) % 3 == 0 ? "team-a" : "team-b";
      scene.Drop(old + "/job-" + std::to_string(i - 3));
    }
    scene.Record();
    scene.Tick(minutes(30));
  }
}

/// A row each of name, resource, hours, average and amountMilliseconds; `now` is not kept for the
/// past.
using Totals = std::vector<std::string>;

Totals Usage(const Scene& scene, const std::string& by, Millis window, Time until) {
  Totals totals;
  for (const auto& row : Must(ListUsage(scene.Reader(), UsageQuery{by, window, until})).rows) {
    std::string text;
    for (const size_t column : {0U, 1U, 2U, 3U, 5U}) {
      text += std::get<std::string>(row[column]) + "|";
    }
    totals.push_back(text);
  }
  return totals;
}

/// Totals over windows of many kinds, all of whole hours.
std::vector<Totals> AllUsage(const Scene& scene, Time now) {
  std::vector<Totals> all;
  const Time hour = now - Millis(now.time_since_epoch().count() % kHourMs) + hours(1);
  for (const std::string by : {"queue", "tenant", "cluster"}) {
    for (int back = 0; back < 40; back += 3) {
      for (const int window : {1, 2, 7, 24, 1000}) {
        all.push_back(Usage(scene, by, hours(window), hour - hours(back)));
      }
    }
  }
  return all;
}

Millis Hours(int count) { return hours(count); }

PruneOptions Keep(Millis span, bool dry_run = false) {
  PruneOptions options;
  options.keep = span;
  options.dry_run = dry_run;
  return options;
}

TEST_CASE("what was pruned is still in the totals, and a dry run tells what goes") {
  Scene scene;
  Live(scene, 40);
  const Time now = scene.fed.state.now();
  const std::vector<Totals> before = AllUsage(scene, now);
  const std::string shards = scene.Sql("SELECT count(*) FROM shards");

  const PruneReport dry = Must(Prune(scene.path, Keep(Hours(10), true)));
  CHECK(scene.Sql("SELECT count(*) FROM shards") == shards);
  CHECK(scene.Sql("SELECT count(*) FROM usage_hours") == "0");
  const PruneReport report = Must(Prune(scene.path, Keep(Hours(10))));
  CHECK(report.cycles > 20);
  CHECK(report.shards > 20);
  CHECK(report.intents >= report.shards);  // An eviction is an intent without shards of its own.
  CHECK(report.jobs == report.shards);
  for (const auto count : {&PruneReport::cycles, &PruneReport::checkpoints, &PruneReport::shards,
                           &PruneReport::intents, &PruneReport::verdicts, &PruneReport::jobs,
                           &PruneReport::first_cycle}) {
    CHECK(dry.*count == report.*count);
  }
  CHECK(scene.Sql("SELECT count(*) FROM usage_hours") != "0");
  CHECK(AllUsage(scene, now) == before);
  MustBeSound(scene);

  // Again, for more: hours that have been folded to are added to.
  const PruneReport more = Must(Prune(scene.path, Keep(Hours(2))));
  CHECK(more.shards > 0);
  CHECK(AllUsage(scene, now) == before);
  const PruneReport all = Must(Prune(scene.path, Keep(Hours(0))));
  CHECK(all.shards > 0);
  CHECK(AllUsage(scene, now) == before);
  CHECK(Must(Prune(scene.path, Keep(Hours(0)))).shards == 0);
  MustBeSound(scene);
}

TEST_CASE("cycles that stay replay, those that went say so") {
  for (const int64_t every : {int64_t{1}, int64_t{7}, int64_t{1000}}) {
    LedgerOptions options;
    options.checkpoint_cycles = every;
    options.checkpoint_after = hours(10'000);
    Scene scene(options);
    Live(scene, 20);
    const std::vector<std::string> state = Exported(scene.fed.state);
    const int64_t last = scene.ledger->LastCycle();
    const PruneReport report = Must(Prune(scene.path, Keep(Hours(5))));
    REQUIRE(report.first_cycle > 10);
    REQUIRE(report.first_cycle < last);
    CHECK(report.cycles == report.first_cycle - 1);
    const LedgerReader reader = scene.Reader();
    for (int64_t cycle = report.first_cycle; cycle <= last; ++cycle) {
      const ReplayReport replay = Must(Replay(reader, cycle));
      CHECK_MESSAGE(replay.Same(), replay.difference);
    }
    for (const int64_t cycle : {int64_t{1}, report.first_cycle - 1}) {
      const auto gone = Replay(reader, cycle);
      REQUIRE(!gone.has_value());
      CHECK(gone.error().code == ErrorCode::kNotFound);
      CHECK(gone.error().message == "cycle " + std::to_string(cycle) +
                                        " was pruned: the journal begins with cycle " +
                                        std::to_string(report.first_cycle));
    }
    CHECK(scene.Sql("SELECT min(cycle) FROM checkpoints") ==
          std::to_string(report.first_cycle - 1));
    MustBeSound(scene);
    // The writer that has it open goes on, and so does one that opens it.
    scene.fed.AddJob("team-a/next", "gold", 1, "cpu=1");
    CHECK(scene.Record() == last + 1);
    scene.Open();
    CHECK(Exported(Must(scene.ledger->Load())) == Exported(scene.fed.state));
    CHECK(Exported(scene.fed.state) != state);
    MustBeSound(scene);
  }
}

TEST_CASE("all may go but the last cycle, what is charged and the jobs that are there") {
  Scene scene;
  scene.fed.AddQueue("gold").AddCluster("east", "cpu=8 pods=100");
  scene.fed.AddJob("team-a/old", "gold", 1, "cpu=1").AddJob("team-a/done", "gold", 1, "cpu=1");
  scene.fed.AddJob("team-a/gone", "gold", 1, "cpu=1");
  scene.Record();
  scene.Tick(hours(30));
  scene.Again("team-a/done", [](Job& job) { job.terminal = true; });
  scene.Drop("team-a/gone");
  scene.Record();
  scene.Tick(hours(24 * 200));
  scene.fed.AddQueue("silver");
  scene.Record();
  CHECK(Must(Prune(scene.path, {})).first_cycle == 3);
  CHECK(scene.Sql("SELECT name, state FROM jobs ORDER BY name") == "done|finished\nold|running");
  CHECK(scene.Sql("SELECT count(*) FROM shards") == "1");
  CHECK(scene.Sql("SELECT outcome FROM intents") == "open");
  CHECK(scene.Sql("SELECT sum(average * 3600000 + rest) FROM usage_hours WHERE resource = 'cpu'") ==
        std::to_string(60 * kHourMs * 1000));
  MustBeSound(scene);
  CHECK(Exported(Must(scene.ledger->Load())) == Exported(scene.fed.state));
  // Nothing is known of what was charged at a moment of those hours.
  const Time past = scene.fed.state.now() - hours(24 * 200 + 10);
  const Listing then = Must(ListUsage(scene.Reader(), UsageQuery{"queue", hours(1), past}));
  REQUIRE(then.rows.size() == 2);
  CHECK(std::holds_alternative<std::monostate>(then.rows[0][4]));
  const Listing now = Must(ListUsage(scene.Reader(), UsageQuery{}));
  REQUIRE(now.rows.size() == 2);
  CHECK(std::get<std::string>(now.rows[0][4]) == "1");
}

TEST_CASE("the writer may write between the steps") {
  Scene scene;
  Live(scene, 20);
  int turns = 0;
  PruneOptions options = Keep(Hours(3));
  options.between = [&] {
    scene.fed.AddQueue("between-" + std::to_string(turns));
    ++turns;
    scene.Record();
  };
  const PruneReport report = Must(Prune(scene.path, options));
  CHECK(turns >= 2);
  CHECK(report.first_cycle > 1);
  CHECK(Exported(Must(scene.ledger->Load())) == Exported(scene.fed.state));
  MustBeSound(scene);
}

TEST_CASE("a prune that cannot be done says why and does nothing") {
  const TempDir folder;
  CHECK(Prune(folder.File("none.db"), {}).error().code == ErrorCode::kNotFound);
  Scene scene;
  CHECK(Must(Prune(scene.path, {})).first_cycle == 0);
  Live(scene, 10);
  CHECK(Prune(scene.path, Keep(Millis(-1))).error().code == ErrorCode::kInvalid);
  Database other = Must(Database::Open(scene.path, Database::Mode::kReadWrite, Millis(0)));
  const Transaction held = Must(Transaction::Begin(other));
  PruneOptions options = Keep(Hours(1));
  options.busy_timeout = Millis(0);
  const auto busy = Prune(scene.path, options);
  REQUIRE(!busy.has_value());
  CHECK(busy.error().code == ErrorCode::kUnavailable);
}

TEST_CASE("a journal without its beginning, and without the checkpoint for it, is a finding") {
  LedgerOptions options;
  options.checkpoint_after = hours(10'000);
  Scene scene(options);
  Live(scene, 3);
  Database other = Must(Database::Open(scene.path, Database::Mode::kReadWrite, Millis(0)));
  Must(other.Execute("DELETE FROM journal WHERE cycle < 3"));
  const AuditReport report = Must(Audit(scene.Reader()));
  REQUIRE(!report.findings.empty());
  CHECK(report.findings.front() ==
        "journal: it begins with cycle 3, and there is no checkpoint of the cycle before it");
}

}  // namespace
}  // namespace caldera::testing
