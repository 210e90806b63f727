#include "storage/ledger.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "federation/codec.h"
#include "storage/balances.h"
#include "storage/database.h"
#include "storage/job_fold.h"
#include "storage/journal.h"
#include "storage/object_fold.h"
#include "storage/schema.h"
#include "storage/writer_lock.h"

namespace caldera {
namespace {

int64_t Count(Time time) { return time.time_since_epoch().count(); }

bool OnlyClock(const std::vector<Change>& changes) {
  return std::all_of(changes.begin(), changes.end(),
                     [](const Change& change) { return std::holds_alternative<ClockSet>(change); });
}

bool HasClock(const std::vector<Change>& changes) {
  return std::any_of(changes.begin(), changes.end(),
                     [](const Change& change) { return std::holds_alternative<ClockSet>(change); });
}

/// Settings of the connection, before the first transaction.
Status Prepare(Database& database) {
  // FULL: an intent that was acknowledged survives a power cut, since a cluster is told next.
  CALDERA_CHECK(database.Execute("PRAGMA foreign_keys = ON"));
  CALDERA_CHECK(database.Execute("PRAGMA synchronous = FULL"));
  CALDERA_CHECK(database.Execute("PRAGMA journal_size_limit = 67108864"));
  // A busy cycle writes some hundred pages, many of them again and again (balances, indexes): with
  // SQLite's 1000 every few cycles would copy them into the file and wait for the disk twice.
  CALDERA_CHECK(database.Execute("PRAGMA wal_autocheckpoint = 4000"));
  // KiB. In SQLite's 2 MiB the journal's pages push out those of the balances and indexes.
  CALDERA_CHECK(database.Execute("PRAGMA cache_size = -16384"));
  CALDERA_TRY(const std::string mode, database.QueryText("PRAGMA journal_mode = WAL"));
  if (mode != "wal") {
    return Fail(ErrorCode::kInvalid, database.path() +
                                         ": the file system does not support SQLite's write-ahead "
                                         "log; put the ledger on a local disk");
  }
  return {};
}

Status QuickCheck(Database& database) {
  CALDERA_TRY(const std::string answer, database.QueryText("PRAGMA quick_check(1)"));
  if (answer != "ok") {
    return Fail(ErrorCode::kCorrupt, database.path() + ": the ledger is damaged: " + answer +
                                         "; restore a backup, or start a new ledger");
  }
  return {};
}

/// Leaves nothing beside a file that is no ledger of ours, not even a lock.
Status RefuseForeign(const std::string& path) {
  std::error_code failed;
  if (!std::filesystem::exists(path, failed) || std::filesystem::file_size(path, failed) == 0) {
    return {};
  }
  CALDERA_TRY(Database database, Database::Open(path, Database::Mode::kReadOnly, Millis(2'000)));
  const auto version = IdentifyLedger(database, SchemaVersion());
  const bool foreign = !version.has_value() && version.error().code == ErrorCode::kInvalid;
  return foreign ? Status(tl::unexpected<Error>(version.error())) : Status();
}

}  // namespace

class Ledger::Impl {
 public:
  Impl(WriterLock lock, Database db, LedgerOptions opts)
      : lock_(std::move(lock)), database(std::move(db)), options(opts) {}

  Status Open();
  Result<int64_t> Append(const std::vector<Change>& changes, const Plan& plan, const State& after,
                         const std::vector<PendingJob>& pending);

 private:
  /// What the journal has grown by since the last checkpoint.
  struct SinceCheckpoint {
    int64_t cycle = 0;
    Time time;
    int64_t checkpoint_bytes = 0;
    int64_t journal_bytes = 0;
  };
  Result<JournalEnd> PutJournal(const std::vector<Change>& changes, const Plan& plan, Time now,
                                SinceCheckpoint& since);
  Status PutCheckpoint(const JournalEnd& end, const State& after, SinceCheckpoint& since);
  Status ThinCheckpoints(Time now);
  Status ReadSinceCheckpoint();

  WriterLock lock_;

 public:
  Database database;
  LedgerOptions options;
  JournalEnd end;

 private:
  SinceCheckpoint since_;
  std::optional<Balances> balances_;
  std::optional<ObjectFold> objects_;
  std::optional<JobFold> jobs_;
  Statement put_journal_;
  Statement put_checkpoint_;
  Statement thin_checkpoints_;
};

Status Ledger::Impl::Open() {
  CALDERA_CHECK(IdentifyLedger(database, SchemaVersion()));
  CALDERA_CHECK(Prepare(database));
  CALDERA_CHECK(QuickCheck(database));
  CALDERA_CHECK(Migrate(database, Migrations()));
  CALDERA_TRY(end, ReadJournalEnd(database));
  CALDERA_CHECK(ReadSinceCheckpoint());
  CALDERA_TRY(balances_, Balances::Open(database));
  CALDERA_TRY(objects_, ObjectFold::Open(database));
  CALDERA_TRY(jobs_, JobFold::Open(database));
  CALDERA_TRY(put_journal_,
              database.Prepare("INSERT INTO journal(cycle, time, first_intent, change_count, "
                               "action_count, changes, plan, previous, digest) "
                               "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)"));
  CALDERA_TRY(put_checkpoint_,
              database.Prepare("INSERT INTO checkpoints(cycle, time, changes, digest) "
                               "VALUES (?1, ?2, ?3, ?4)"));
  CALDERA_TRY(thin_checkpoints_,
              database.Prepare("DELETE FROM checkpoints WHERE time < ?1 AND cycle NOT IN "
                               "(SELECT min(cycle) FROM checkpoints WHERE time < ?1 "
                               "GROUP BY time / ?2)"));
  return {};
}

Status Ledger::Impl::ReadSinceCheckpoint() {
  CALDERA_TRY(Statement newest,
              database.Prepare("SELECT cycle, time, length(changes) FROM checkpoints "
                               "ORDER BY cycle DESC LIMIT 1"));
  CALDERA_TRY(const bool found, newest.Step());
  if (found) {
    since_.cycle = newest.Integer(0);
    since_.time = Time(Millis(newest.Integer(1)));
    since_.checkpoint_bytes = newest.Integer(2);
    newest.Reset();
  } else {
    CALDERA_TRY(const int64_t first,
                database.QueryInteger("SELECT time FROM journal ORDER BY cycle LIMIT 1"));
    since_.time = Time(Millis(first));
  }
  CALDERA_TRY(since_.journal_bytes,
              database.QueryInteger("SELECT coalesce(sum(length(changes) + length(plan)), 0) "
                                    "FROM journal WHERE cycle > " +
                                    std::to_string(since_.cycle)));
  return {};
}

Result<int64_t> Ledger::Impl::Append(const std::vector<Change>& changes, const Plan& plan,
                                     const State& after, const std::vector<PendingJob>& pending) {
  if (OnlyClock(changes) && plan.Empty()) {
    CALDERA_TRY(Transaction transaction, Transaction::Begin(database));
    CALDERA_CHECK(jobs_->PutVerdicts(pending, after.now()));
    CALDERA_CHECK(transaction.Commit());
    return end.cycle;
  }
  CALDERA_CHECK(database.CheckInPlace());
  SinceCheckpoint since = since_;
  balances_->Drop();
  CALDERA_TRY(Transaction transaction, Transaction::Begin(database));
  CALDERA_TRY(JournalEnd next, PutJournal(changes, plan, after.now(), since));
  for (const Change& change : changes) {
    CALDERA_CHECK(objects_->Apply(change, after.now()));
  }
  CALDERA_CHECK(jobs_->Apply({next.cycle, end.next_intent, after}, changes, plan, *balances_));
  CALDERA_CHECK(balances_->Write());
  CALDERA_CHECK(jobs_->PutVerdicts(pending, after.now()));
  CALDERA_CHECK(PutCheckpoint(next, after, since));
  CALDERA_CHECK(transaction.Commit());
  balances_->Keep();
  end = std::move(next);
  since_ = since;
  return end.cycle;
}

Result<JournalEnd> Ledger::Impl::PutJournal(const std::vector<Change>& changes, const Plan& plan,
                                            Time now, SinceCheckpoint& since) {
  std::vector<std::string> lines;
  lines.reserve(changes.size() + 1);
  // Empty cycles are not written, so their clock may be missing here.
  if (!HasClock(changes) && now != end.time) {
    lines.push_back(EncodeChange(ClockSet{now}));
  }
  for (const Change& change : changes) {
    lines.push_back(EncodeChange(change));
  }
  const std::string plan_text = EncodePlan(plan);
  const auto actions = static_cast<int64_t>(plan.actions.size());
  JournalEnd next{end.cycle + 1, now, end.next_intent + actions,
                  CycleDigest(end.digest, {lines.begin(), lines.end()}, plan_text)};
  const std::string text = JoinLines(lines);
  CALDERA_CHECK(put_journal_.Run(next.cycle, Count(now), end.next_intent,
                                 static_cast<int64_t>(lines.size()), actions, text, plan_text,
                                 end.digest, next.digest));
  if (end.cycle == 0) {
    since.time = now;
  }
  since.journal_bytes += static_cast<int64_t>(text.size() + plan_text.size());
  return next;
}

Status Ledger::Impl::PutCheckpoint(const JournalEnd& next, const State& after,
                                   SinceCheckpoint& since) {
  const bool due = next.cycle - since.cycle >= options.checkpoint_cycles ||
                   next.time - since.time >= options.checkpoint_after;
  if (!due || since.journal_bytes < since.checkpoint_bytes / 4) {
    return {};
  }
  const std::string text = CheckpointText(after);
  CALDERA_CHECK(put_checkpoint_.Run(next.cycle, Count(next.time), text, Digest(text)));
  since = {next.cycle, next.time, static_cast<int64_t>(text.size()), 0};
  return ThinCheckpoints(next.time);
}

/// Keeps every checkpoint of the last hour, one an hour of the last day and one a day before that:
/// replay finds one near, and a large State is not stored without end.
Status Ledger::Impl::ThinCheckpoints(Time now) {
  constexpr int64_t kHour = 3'600'000;
  constexpr int64_t kDay = 24 * kHour;
  for (const auto& [age, span] : {std::pair{kHour, kHour}, std::pair{kDay, kDay}}) {
    CALDERA_CHECK(thin_checkpoints_.Run(Count(now) - age, span));
  }
  return {};
}

Result<Ledger> Ledger::Open(const std::string& path, const LedgerOptions& options) {
  if (path.empty() || std::filesystem::is_directory(path)) {
    return Fail(ErrorCode::kInvalid, "`" + path + "` is " +
                                         (path.empty() ? "no file name" : "a directory") +
                                         "; a ledger is one file");
  }
  std::error_code failed;
  if (std::filesystem::exists(path, failed) && !std::filesystem::is_regular_file(path, failed)) {
    return Fail(ErrorCode::kInvalid, path + ": this is no regular file; a ledger is one");
  }
  CALDERA_CHECK(RefuseForeign(path));
  CALDERA_TRY(WriterLock lock, WriterLock::Take(path));
  CALDERA_TRY(Database database,
              Database::Open(path, Database::Mode::kCreate, options.busy_timeout));
  auto impl = std::make_unique<Impl>(std::move(lock), std::move(database), options);
  CALDERA_CHECK(impl->Open());
  return Ledger(std::move(impl));
}

Ledger::Ledger(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Ledger::Ledger(Ledger&&) noexcept = default;
Ledger& Ledger::operator=(Ledger&&) noexcept = default;
Ledger::~Ledger() = default;

Result<State> Ledger::Load() const { return ReadState(impl_->database, impl_->end.cycle); }

Result<int64_t> Ledger::NextIntent() const { return impl_->end.next_intent; }

int64_t Ledger::LastCycle() const { return impl_->end.cycle; }

const std::string& Ledger::LastDigest() const { return impl_->end.digest; }

Result<int64_t> Ledger::Append(const std::vector<Change>& changes, const Plan& plan,
                               const State& after, const std::vector<PendingJob>& pending) {
  return impl_->Append(changes, plan, after, pending);
}

int64_t Ledger::WalBytes() const {
  std::error_code missing;
  const auto size = std::filesystem::file_size(impl_->database.path() + "-wal", missing);
  return missing ? 0 : static_cast<int64_t>(size);
}

Result<bool> Ledger::Checkpoint() {
  Database& database = impl_->database;
  database.SetBusyTimeout(Millis(0));
  auto blocked = database.QueryInteger("PRAGMA wal_checkpoint(TRUNCATE)");
  database.SetBusyTimeout(impl_->options.busy_timeout);
  return blocked.map([](int64_t busy) { return busy == 0; });
}

}  // namespace caldera
