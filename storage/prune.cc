#include "storage/prune.h"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "federation/codec.h"
#include "storage/balances.h"
#include "storage/database.h"
#include "storage/journal.h"
#include "storage/reader.h"
#include "storage/schema.h"

namespace caldera {
namespace {

/// What one transaction folds; the writer waits for it.
constexpr int64_t kShardsAStep = 2'000;

int64_t Count(Time time) { return time.time_since_epoch().count(); }

/// Rows of one table that may go; ?1 is the time. They are named by what stays, so that counting
/// them beforehand and deleting them after the tables before them comes to the same.
struct Removal {
  const char* table;
  const char* condition;
  int64_t PruneReport::*count;
};
constexpr const char* kOldShards = "until <= ?1";
constexpr std::array<Removal, 3> kRemovals = {{
    {"intents",
     "closed <= ?1 AND number NOT IN "
     "(SELECT intent FROM shards WHERE intent NOT NULL AND (until IS NULL OR until > ?1))",
     &PruneReport::intents},
    {"verdicts", "until <= ?1", &PruneReport::verdicts},
    {"jobs",
     "gone <= ?1 AND id NOT IN (SELECT job FROM shards WHERE until IS NULL OR until > ?1) AND "
     "id NOT IN (SELECT job FROM intents WHERE closed IS NULL OR closed > ?1 OR number IN "
     "(SELECT intent FROM shards WHERE until IS NULL OR until > ?1))",
     &PruneReport::jobs},
}};

Result<int64_t> CountRows(Database& database, const std::string& table,
                          const std::string& condition, int64_t value) {
  CALDERA_TRY(Statement count,
              database.Prepare("SELECT count(*) FROM " + table + " WHERE " + condition));
  count.Start(value);
  CALDERA_TRY(const bool row, count.Step());
  return row ? count.Integer(0) : 0;
}

Result<int64_t> DeleteRows(Database& database, const std::string& table,
                           const std::string& condition, int64_t value) {
  CALDERA_TRY(Statement remove, database.Prepare("DELETE FROM " + table + " WHERE " + condition));
  CALDERA_CHECK(remove.Run(value));
  return database.ChangedRows();
}

/// hour, queue, tenant, cluster, resource.
using HourKey = std::tuple<int64_t, std::string, std::string, std::string, std::string>;
using Hours = std::map<HourKey, Int128>;  ///< Amount-milliseconds.

/// Folds the oldest charges that ended by `before`; returns how many.
class ShardFold {
 public:
  static Result<ShardFold> Open(Database& database) {
    ShardFold fold(database);
    CALDERA_TRY(fold.rows_,
                database.Prepare("SELECT s.id, s.queue, s.tenant, s.cluster, s.since, s.until, "
                                 "r.key, r.value FROM (SELECT * FROM shards WHERE until <= ?1 "
                                 "ORDER BY until, id LIMIT ?2) AS s LEFT JOIN "
                                 "json_each(s.requests) AS r ORDER BY s.id"));
    CALDERA_TRY(fold.get_,
                database.Prepare("SELECT average, rest FROM usage_hours WHERE hour = ?1 AND "
                                 "queue = ?2 AND tenant = ?3 AND cluster = ?4 AND resource = ?5"));
    CALDERA_TRY(fold.put_, database.Prepare("INSERT OR REPLACE INTO usage_hours(hour, queue, "
                                            "tenant, cluster, resource, average, rest) VALUES "
                                            "(?1, ?2, ?3, ?4, ?5, ?6, ?7)"));
    CALDERA_TRY(fold.remove_, database.Prepare("DELETE FROM shards WHERE id = ?1"));
    return fold;
  }

  Result<int64_t> Step(int64_t before) {
    CALDERA_TRY(Transaction transaction, Transaction::Begin(*database_));
    Hours hours;
    CALDERA_TRY(const std::vector<int64_t> ids, Read(before, hours));
    CALDERA_CHECK(Write(hours));
    for (const int64_t id : ids) {
      CALDERA_CHECK(remove_.Run(id));
    }
    CALDERA_CHECK(transaction.Commit());
    return std::ssize(ids);
  }

 private:
  explicit ShardFold(Database& database) : database_(&database) {}

  Result<std::vector<int64_t>> Read(int64_t before, Hours& hours) {
    std::vector<int64_t> ids;
    rows_.Start(before, kShardsAStep);
    while (true) {
      CALDERA_TRY(const bool row, rows_.Step());
      if (!row) {
        return ids;
      }
      if (ids.empty() || ids.back() != rows_.Integer(0)) {
        ids.push_back(rows_.Integer(0));
      }
      if (!rows_.IsNull(6)) {
        CALDERA_CHECK(AddRow(hours));
      }
    }
  }

  Status AddRow(Hours& hours) const {
    const int64_t until = rows_.Integer(5);
    const Int128 amount = rows_.Integer(7);
    if (rows_.Integer(4) < 0) {
      return Fail(ErrorCode::kCorrupt, "row " + rows_.Text(0) + " of shards begins before 1970");
    }
    for (int64_t at = rows_.Integer(4); at < until;) {
      const int64_t hour = at - at % kUsageHour;
      const int64_t end = std::min(hour + kUsageHour, until);
      hours[{hour, rows_.Text(1), rows_.Text(2), rows_.Text(3), rows_.Text(6)}] +=
          amount * (end - at);
      at = end;
    }
    return {};
  }

  Status Write(const Hours& hours) {
    for (const auto& [key, used] : hours) {
      const auto& [hour, queue, tenant, cluster, resource] = key;
      get_.Start(hour, queue, tenant, cluster, resource);
      CALDERA_TRY(const bool found, get_.Step());
      Int128 sum = used;
      if (found) {
        sum += Int128{get_.Integer(0)} * kUsageHour + get_.Integer(1);
        get_.Reset();
      }
      CALDERA_CHECK(put_.Run(hour, queue, tenant, cluster, resource, Saturate(sum / kUsageHour),
                             static_cast<int64_t>(sum % kUsageHour)));
    }
    return {};
  }

  Database* database_;
  Statement rows_;
  Statement get_;
  Statement put_;
  Statement remove_;
};

/// The last cycle that may go: all up to it are older than `before`. 0: none.
Result<int64_t> LastOldCycle(Database& database, int64_t before) {
  CALDERA_TRY(Statement first,
              database.Prepare("SELECT coalesce(min(cycle), 1) - 1 FROM journal WHERE time >= ?1"));
  first.Start(before);
  CALDERA_TRY(const bool row, first.Step());
  CALDERA_TRY(const int64_t oldest,
              database.QueryInteger("SELECT coalesce(min(cycle), 0) FROM journal"));
  const int64_t last = row ? first.Integer(0) : 0;
  return last < oldest ? 0 : last;
}

/// The State after `cycle` as a checkpoint, for the cycles that stay.
Status PutCheckpoint(Database& database, int64_t cycle) {
  CALDERA_TRY(const int64_t there, CountRows(database, "checkpoints", "cycle = ?1", cycle));
  if (there > 0) {
    return {};
  }
  CALDERA_TRY(const State state, ReadState(database, cycle));
  const std::string text = CheckpointText(state);
  CALDERA_TRY(Statement put,
              database.Prepare("INSERT INTO checkpoints(cycle, time, changes, digest) "
                               "SELECT cycle, time, ?2, ?3 FROM journal WHERE cycle = ?1"));
  return put.Run(cycle, text, Digest(text));
}

/// Removes the journal up to `cycle`, of which there is or will be a checkpoint.
Status CutJournal(Database& database, int64_t cycle, PruneReport& report) {
  CALDERA_TRY(Transaction transaction, Transaction::Begin(database));
  CALDERA_CHECK(PutCheckpoint(database, cycle));
  CALDERA_TRY(const int64_t cycles, DeleteRows(database, "journal", "cycle <= ?1", cycle));
  CALDERA_TRY(const int64_t checkpoints, DeleteRows(database, "checkpoints", "cycle < ?1", cycle));
  CALDERA_CHECK(transaction.Commit());
  report.cycles += cycles;
  report.checkpoints += checkpoints;
  return {};
}

/// A checkpoint at a time: of an old ledger that is about a day's journal a transaction.
Status PruneJournal(Database& database, int64_t last, const std::function<void()>& between,
                    PruneReport& report) {
  CALDERA_TRY(Statement rows,
              database.Prepare("SELECT cycle FROM checkpoints WHERE cycle <= ?1 AND cycle >= "
                               "(SELECT min(cycle) FROM journal) ORDER BY cycle"));
  rows.Start(last);
  std::vector<int64_t> cuts;
  while (true) {
    CALDERA_TRY(const bool row, rows.Step());
    if (!row) {
      break;
    }
    cuts.push_back(rows.Integer(0));
  }
  if (cuts.empty() || cuts.back() != last) {
    cuts.push_back(last);
  }
  for (const int64_t cycle : cuts) {
    between();
    CALDERA_CHECK(CutJournal(database, cycle, report));
  }
  return {};
}

Status CountAll(Database& database, int64_t last, int64_t before, PruneReport& report) {
  CALDERA_TRY(report.shards, CountRows(database, "shards", kOldShards, before));
  for (const Removal& removal : kRemovals) {
    CALDERA_TRY(report.*removal.count,
                CountRows(database, removal.table, removal.condition, before));
  }
  if (last > 0) {
    CALDERA_TRY(report.cycles, CountRows(database, "journal", "cycle <= ?1", last));
    CALDERA_TRY(report.checkpoints, CountRows(database, "checkpoints", "cycle < ?1", last));
  }
  return {};
}

Status RemoveAll(Database& database, int64_t last, int64_t before,
                 const std::function<void()>& between, PruneReport& report) {
  CALDERA_TRY(ShardFold fold, ShardFold::Open(database));
  while (true) {
    CALDERA_TRY(const int64_t folded, fold.Step(before));
    report.shards += folded;
    between();
    if (folded < kShardsAStep) {
      break;
    }
  }
  {
    CALDERA_TRY(Transaction transaction, Transaction::Begin(database));
    for (const Removal& removal : kRemovals) {
      CALDERA_TRY(report.*removal.count,
                  DeleteRows(database, removal.table, removal.condition, before));
    }
    CALDERA_CHECK(transaction.Commit());
  }
  return last > 0 ? PruneJournal(database, last, between, report) : Status();
}

}  // namespace

Result<PruneReport> Prune(const std::string& path, const PruneOptions& options) {
  if (options.keep < Millis(0)) {
    return Fail(ErrorCode::kInvalid,
                "what is kept, " + FormatDuration(options.keep) + ", must be 0 or more");
  }
  // Says what is wrong with the file.
  CALDERA_TRY(const LedgerReader reader, LedgerReader::Open(path));
  CALDERA_TRY(const JournalEnd end, reader.End());
  PruneReport report;
  report.before = end.time - options.keep;
  const int64_t before = Count(report.before);
  const int64_t before_hour = before - ((before % kUsageHour) + kUsageHour) % kUsageHour;
  CALDERA_TRY(const int64_t last, LastOldCycle(reader.database(), before));
  if (options.dry_run) {
    CALDERA_TRY(const ReadTransaction view, ReadTransaction::Begin(reader.database()));
    CALDERA_CHECK(CountAll(reader.database(), last, before_hour, report));
  } else {
    // The conditions keep them, and to let SQLite check them would take an index of its own.
    CALDERA_TRY(Database database,
                Database::Open(path, Database::Mode::kReadWrite, options.busy_timeout));
    CALDERA_CHECK(database.Execute("PRAGMA synchronous = FULL"));
    CALDERA_CHECK(database.Execute("PRAGMA foreign_keys = OFF"));
    const std::function<void()> nothing = [] {};
    CALDERA_CHECK(RemoveAll(database, last, before_hour,
                            options.between ? options.between : nothing, report));
  }
  CALDERA_TRY(const int64_t oldest,
              reader.database().QueryInteger("SELECT coalesce(min(cycle), 0) FROM journal"));
  report.first_cycle = last > 0 ? last + 1 : oldest;
  return report;
}

}  // namespace caldera
