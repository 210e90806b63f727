// A ledger opened for reading only, beside a live writer or after one. Reading takes no lock that
// holds up the writer; keep it short all the same, since the write-ahead log cannot shrink below
// the oldest reader. One thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "federation/result.h"
#include "federation/state.h"
#include "storage/database.h"
#include "storage/journal.h"

namespace caldera {

/// What a question may cost, where others wait. Statements of SQL end when `give_up` says true
/// (kUnavailable); more rows or bytes than these are kInvalid, in RunSql.
struct ReadLimits {
  std::function<bool()> give_up;  ///< Unset: never.
  int64_t rows = 0;               ///< 0: no limit.
  int64_t bytes = 0;              ///< 0: no limit.
};

class LedgerReader {
 public:
  /// Errors: kNotFound (no such file), kInvalid (no ledger, another schema version, a file or
  /// directory without the permissions that reading needs), kCorrupt, kUnavailable.
  static Result<LedgerReader> Open(const std::string& path, const ReadLimits& limits = {});

  /// The State as of the last cycle.
  [[nodiscard]] Result<State> Load() const;
  /// Time and number of the last cycle.
  [[nodiscard]] Result<JournalEnd> End() const;

  /// For queries.cc and its like: the connection, read-only.
  [[nodiscard]] Database& database() const { return *database_; }

 private:
  explicit LedgerReader(Database database)
      : database_(std::make_unique<Database>(std::move(database))) {}
  std::unique_ptr<Database> database_;
};

/// One consistent view for several queries, ended with this object. Not nested.
class ReadTransaction {
 public:
  static Result<ReadTransaction> Begin(Database& database);
  ReadTransaction(ReadTransaction&& other) noexcept;
  ReadTransaction& operator=(ReadTransaction&&) = delete;
  ReadTransaction(const ReadTransaction&) = delete;
  ReadTransaction& operator=(const ReadTransaction&) = delete;
  ~ReadTransaction();

 private:
  explicit ReadTransaction(Database& database) : database_(&database) {}
  Database* database_;
};

}  // namespace caldera
