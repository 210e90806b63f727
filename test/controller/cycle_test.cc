#include "controller/run/cycle.h"

#include <doctest/doctest.h>

#include "federation/relist.h"
#include "storage/audit.h"
#include "test/storage/scene.h"

namespace caldera::testing {
namespace {

Ledger OpenQuick(const std::string& path) {
  LedgerOptions options;
  options.busy_timeout = Millis(10);
  return Must(Ledger::Open(path, options));
}

/// What a listing would show: two jobs of which one fits.
std::vector<Change> Listing(int32_t replicas = 2) {
  Fed fed;
  fed.changes.clear();
  fed.AddQueue("gold").AddCluster("east", "cpu=4 pods=100");
  fed.AddJob("team-a/train", "gold", replicas, "cpu=2").AddJob("team-a/later", "gold", 1, "cpu=2");
  return fed.changes;
}

std::vector<Change> Without(std::vector<Change> listing, std::string_view key) {
  std::erase_if(listing, [key](const Change& change) {
    const auto* job = std::get_if<JobUpsert>(&change);
    return job != nullptr && job->job.key == Key(key);
  });
  return listing;
}

TEST_CASE("a cycle without a ledger plans and numbers its intents") {
  Cycle cycle;
  cycle.Observe(Relist(cycle.state(), kStart, Listing()));
  const CycleOutcome first = Must(cycle.Decide());
  CHECK(first.cycle == 0);
  CHECK(first.first_intent == 1);
  REQUIRE(first.plan.actions.size() == 1);
  CHECK(first.plan.actions[0].job == Key("team-a/train"));
  REQUIRE(first.pending.size() == 1);
  CHECK(first.pending[0].job == Key("team-a/later"));
  cycle.Observe(Relist(cycle.state(), kStart, Without(Listing(), "team-a/train")));
  const CycleOutcome second = Must(cycle.Decide());
  CHECK(second.first_intent == 2);
  REQUIRE(second.plan.actions.size() == 1);
  CHECK(second.plan.actions[0].job == Key("team-a/later"));
}

TEST_CASE(
    "a job of a queue that was refused is told why, one of a queue that is not there is not") {
  Cycle cycle;
  std::vector<Change> listing = Listing();
  std::erase_if(listing,
                [](const Change& change) { return std::holds_alternative<QueueUpsert>(change); });
  cycle.Observe(Relist(cycle.state(), kStart, listing));
  cycle.SetRefusedQueues({{"gold", "spec.weight = -5: must be more"}, {"other", "no"}});
  const CycleOutcome outcome = Must(cycle.Decide());
  REQUIRE(outcome.pending.size() == 2);
  for (const PendingJob& job : outcome.pending) {
    CHECK(job.verdict == Verdict::kQueueMissing);
    CHECK(job.message == "Queue gold was refused: spec.weight = -5: must be more");
  }
  cycle.SetRefusedQueues({{"other", "no"}});
  cycle.Observe({ClockSet{kStart + Millis(1)}});
  CHECK(Must(cycle.Decide()).pending.at(0).message == "there is no Queue gold");
}

TEST_CASE("each run is a relist that goes on from the ledger") {
  const TempDir directory;
  const std::string path = directory.File("ledger.db");
  const std::vector<std::vector<Change>> listings = {
      Listing(), Listing(), Without(Listing(), "team-a/train"), {}};
  const std::vector<size_t> placed = {1, 0, 1, 0};
  for (size_t run = 0; run < listings.size(); ++run) {
    Ledger ledger = OpenQuick(path);
    Cycle cycle = Must(Cycle::Start(ledger));
    cycle.Observe(Relist(cycle.state(), kStart + std::chrono::minutes(run), listings[run]));
    CHECK(Must(cycle.Decide()).plan.actions.size() == placed[run]);
  }
  const LedgerReader reader = Must(LedgerReader::Open(path));
  CHECK(Must(Audit(reader)).findings.empty());
  CHECK(Must(reader.database().QueryInteger("SELECT count(*) FROM balances")) == 0);
  CHECK(Must(reader.database().QueryInteger("SELECT count(*) FROM intents")) == 2);
}

TEST_CASE("a plan that cannot be recorded did not happen, and nothing observed is lost") {
  const TempDir directory;
  const std::string path = directory.File("ledger.db");
  Ledger ledger = OpenQuick(path);
  Cycle cycle = Must(Cycle::Start(ledger));
  Database other = Must(Database::Open(path, Database::Mode::kReadWrite, Millis(0)));
  Must(other.Execute("BEGIN IMMEDIATE"));
  cycle.Observe(Relist(cycle.state(), kStart, Listing()));
  const std::vector<std::string> observed = Exported(cycle.state());
  for (int attempt = 0; attempt < 2; ++attempt) {
    const auto failed = cycle.Decide();
    REQUIRE(!failed.has_value());
    CHECK(Retryable(failed.error().code));
    CHECK(Exported(cycle.state()) == observed);
  }
  // More is seen while nothing can be written.
  cycle.Observe(Relist(cycle.state(), kStart, Without(Listing(), "team-a/train")));
  CHECK(!cycle.Decide().has_value());
  Must(other.Execute("COMMIT"));
  const CycleOutcome outcome = Must(cycle.Decide());
  CHECK(outcome.cycle == 1);
  CHECK(outcome.first_intent == 1);
  REQUIRE(outcome.plan.actions.size() == 1);
  CHECK(outcome.plan.actions[0].job == Key("team-a/later"));
  CHECK(Exported(Must(ledger.Load())) == Exported(cycle.state()));
  CHECK(Must(Audit(Must(LedgerReader::Open(path)))).findings.empty());
}

TEST_CASE("what a shrink gives back is decided on at once, in a cycle of its own") {
  const TempDir directory;
  Ledger ledger = OpenQuick(directory.File("ledger.db"));
  Cycle cycle = Must(Cycle::Start(ledger));
  cycle.Observe(Relist(cycle.state(), kStart, Listing()));
  CHECK_FALSE(Must(cycle.Decide()).again);
  cycle.Observe(Relist(cycle.state(), kStart, Listing(3)));
  const CycleOutcome waits = Must(cycle.Decide());
  CHECK(waits.plan.actions.empty());
  CHECK_FALSE(waits.again);
  REQUIRE(waits.resizes.size() == 1);
  CHECK(waits.resizes[0].job == Key("team-a/train"));
  CHECK(waits.resizes[0].verdict == Verdict::kInsufficientResources);
  cycle.Observe(Relist(cycle.state(), kStart, Listing(1)));
  const CycleOutcome shrunk = Must(cycle.Decide());
  REQUIRE(shrunk.plan.actions.size() == 1);
  CHECK(shrunk.plan.actions[0].action == ActionKind::kShrink);
  CHECK(shrunk.resizes.empty());
  CHECK(shrunk.again);
  const CycleOutcome placed = Must(cycle.Decide());
  CHECK(placed.cycle == shrunk.cycle + 1);
  REQUIRE(placed.plan.actions.size() == 1);
  CHECK(placed.plan.actions[0].job == Key("team-a/later"));
  CHECK_FALSE(placed.again);
  CHECK(Must(cycle.Decide()).cycle == placed.cycle);
}

TEST_CASE("where nothing changed nothing is decided or written") {
  const TempDir directory;
  Ledger ledger = OpenQuick(directory.File("ledger.db"));
  Cycle cycle = Must(Cycle::Start(ledger));
  cycle.Observe(Relist(cycle.state(), kStart, Listing()));
  CHECK(Must(cycle.Decide()).cycle == 1);
  cycle.Observe(Relist(cycle.state(), kStart + std::chrono::minutes(1), Listing()));
  const CycleOutcome outcome = Must(cycle.Decide());
  CHECK(outcome.cycle == 1);
  CHECK(outcome.plan.actions.empty());
  CHECK(outcome.pending.size() == 1);
}

}  // namespace
}  // namespace caldera::testing
