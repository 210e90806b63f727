// bench_ledger OUT.json FOLDER [--smoke]: how much of what the disk and SQLite allow the ledger
// keeps: intents a second in cycles of 100, synchronous=FULL, over the bare insertion of the same
// rows into the same tables in as many transactions, the best of five of each. FOLDER must lie on
// the disk that matters; the files of a run before are replaced.
#include <sqlite3.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "federation/planner.h"
#include "storage/ledger.h"
#include "test/bench/arguments.h"
#include "test/bench/bench_world.h"
#include "test/bench/report.h"

namespace caldera::bench {
namespace {

constexpr int kBatch = 100;

struct CloseDatabase {
  void operator()(sqlite3* db) const { sqlite3_close(db); }
};
struct FinishStatement {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Connection = std::unique_ptr<sqlite3, CloseDatabase>;
using Prepared = std::unique_ptr<sqlite3_stmt, FinishStatement>;
struct FreeValue {
  void operator()(sqlite3_value* value) const { sqlite3_value_free(value); }
};
using Row = std::vector<std::unique_ptr<sqlite3_value, FreeValue>>;

[[noreturn]] void Die(const std::string& what) {
  std::fprintf(stderr, "bench_ledger: %s\n", what.c_str());
  std::_Exit(1);
}

Connection OpenFile(const std::string& path) {
  sqlite3* db = nullptr;
  if (sqlite3_open(path.c_str(), &db) != SQLITE_OK) {
    Die("cannot open " + path);
  }
  return Connection(db);
}

void Execute(const Connection& db, const std::string& sql) {
  if (sqlite3_exec(db.get(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) {
    Die(std::string(sqlite3_errmsg(db.get())) + ": " + sql);
  }
}

Prepared Prepare(const Connection& db, const std::string& sql) {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(db.get(), sql.c_str(), -1, &statement, nullptr) != SQLITE_OK) {
    Die(std::string(sqlite3_errmsg(db.get())) + ": " + sql);
  }
  return Prepared(statement);
}

std::vector<Row> RowsOf(const Connection& db, const std::string& sql) {
  std::vector<Row> rows;
  const Prepared statement = Prepare(db, sql);
  while (sqlite3_step(statement.get()) == SQLITE_ROW) {
    Row row;
    for (int c = 0; c < sqlite3_column_count(statement.get()); ++c) {
      row.emplace_back(sqlite3_value_dup(sqlite3_column_value(statement.get(), c)));
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

std::string Text(const Row& row, size_t column) {
  return reinterpret_cast<const char*>(sqlite3_value_text(row[column].get()));
}

void RemoveLedger(const std::string& path) {
  for (const char* suffix : {"", "-wal", "-shm", ".lock"}) {
    std::filesystem::remove(path + suffix);
  }
}

/// Seconds that the ledger takes for `cycles` cycles, each with 100 jobs that come and are placed.
double RecordAll(const std::string& path, int cycles) {
  WorldSize size;
  size.queues = 1000;
  size.clusters = 50;
  size.pending = int64_t{cycles} * kBatch;
  State state = EmptyWorld(size);
  auto ledger = Ledger::Open(path);
  if (!ledger.has_value()) {
    Die(ledger.error().message);
  }
  if (!ledger->Append(state.Export(), {state.now(), {}}, state, {}).has_value()) {
    Die("the first cycle cannot be recorded");
  }
  double seconds = 0;
  int64_t intent = 1;
  for (int64_t job = 0; job < size.pending; job += kBatch) {
    std::vector<Change> changes;
    for (int64_t i = job; i < job + kBatch; ++i) {
      changes.emplace_back(JobUpsert{WorldJob(size, i)});
      state.Apply(changes.back());
    }
    const Plan plan = MakePlan(state);
    if (plan.actions.size() != kBatch) {
      Die("a batch was not placed as a whole");
    }
    for (const Change& change : EffectOf(plan, intent)) {
      state.Apply(change);
    }
    intent += kBatch;
    const auto start = Clock::now();
    const auto recorded = ledger->Append(changes, plan, state, {});
    seconds += SecondsSince(start);
    if (!recorded.has_value()) {
      Die(recorded.error().message);
    }
  }
  return seconds;
}

/// The same rows into empty tables like the ledger's, a hundredth part of each table a transaction.
double InsertAll(const std::string& source, const std::string& target, int cycles) {
  const Connection from = OpenFile(source);
  const Connection to = OpenFile(target);
  Execute(to, "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA foreign_keys=OFF");
  struct Table {
    Prepared insert;
    std::vector<Row> rows;
  };
  std::vector<Table> tables;
  for (const Row& object :
       RowsOf(from,
              "SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE "
              "'sqlite_%' AND type IN ('table', 'index') ORDER BY type DESC, rowid")) {
    Execute(to, Text(object, 2));
    if (Text(object, 0) != "table") {
      continue;
    }
    std::vector<Row> rows = RowsOf(from, "SELECT * FROM " + Text(object, 1));
    if (rows.empty() || Text(object, 1) == "checkpoints") {
      continue;
    }
    std::string marks = "?";
    for (size_t c = 1; c < rows.front().size(); ++c) {
      marks += ", ?";
    }
    tables.push_back({Prepare(to, "INSERT INTO " + Text(object, 1) + " VALUES (" + marks + ")"),
                      std::move(rows)});
  }
  const Prepared begin = Prepare(to, "BEGIN IMMEDIATE");
  const Prepared commit = Prepare(to, "COMMIT");
  const auto step = [&](const Prepared& statement) {
    if (sqlite3_step(statement.get()) != SQLITE_DONE) {
      Die(sqlite3_errmsg(to.get()));
    }
    sqlite3_reset(statement.get());
  };
  const auto start = Clock::now();
  for (size_t cycle = 0; cycle < static_cast<size_t>(cycles); ++cycle) {
    step(begin);
    for (const Table& table : tables) {
      const size_t count = table.rows.size();
      const auto all = static_cast<size_t>(cycles);
      for (size_t r = count * cycle / all; r < count * (cycle + 1) / all; ++r) {
        for (size_t c = 0; c < table.rows[r].size(); ++c) {
          sqlite3_bind_value(table.insert.get(), static_cast<int>(c) + 1, table.rows[r][c].get());
        }
        step(table.insert);
      }
    }
    step(commit);
  }
  return SecondsSince(start);
}

}  // namespace
}  // namespace caldera::bench

int main(int argc, char** argv) {
  using namespace caldera::bench;
  const auto arguments = ReadArguments(argc, argv, 2, 2, SmallRun::kSmoke);
  if (!arguments.has_value()) {
    std::fputs("usage: bench_ledger OUT.json FOLDER [--smoke]\n", stderr);
    return 2;
  }
  const int cycles = arguments->smoke ? 3 : 100;
  const std::filesystem::path folder(arguments->words[1]);
  std::filesystem::create_directories(folder);
  double ledger = 1e9;
  double bare = 1e9;
  for (int run = 0; run < (arguments->smoke ? 1 : 5); ++run) {
    const std::string name = (folder / ("ledger" + std::to_string(run) + ".db")).string();
    const std::string copy = (folder / ("bare" + std::to_string(run) + ".db")).string();
    RemoveLedger(name);
    RemoveLedger(copy);
    ledger = std::min(ledger, RecordAll(name, cycles));
    bare = std::min(bare, InsertAll(name, copy, cycles));
  }
  const double intents = double{kBatch} * cycles;
  const std::vector<Measure> measures{{"ledger_intents", intents / ledger, "1/s"},
                                      {"ledger_bare", intents / bare, "1/s"},
                                      {"ledger_share", 100 * bare / ledger, "%"}};
  return Report(arguments->words[0], measures) ? 0 : 1;
}
