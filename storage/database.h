// SQLite with owners: a connection, a prepared statement, a transaction; every return code becomes
// an Error. Used inside storage/ only. One thread per Database; a Statement and a Transaction must
// not outlive theirs. Codes: a full disk, a lock held by another and failing I/O are kUnavailable
// (the same call may succeed later); a file that is no database or is damaged is kCorrupt; a broken
// constraint or wrong SQL of ours is kInternal.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>

#include "federation/result.h"
#include "federation/time.h"

struct sqlite3;
struct sqlite3_stmt;

namespace caldera {

class Statement {
 public:
  /// Of no use until one that was prepared is moved in.
  Statement() = default;

  /// Binds `args` (integers, text, std::nullptr_t for NULL) from ?1 on and runs to the end; rows
  /// are dropped. Leaves the statement ready for the next call.
  template <typename... Args>
  Status Run(const Args&... args) {
    // `args` are references to const here: they live until this returns.
    Start(args...);
    return Finish();
  }
  /// Binds `args` and readies the statement for Step. Text is borrowed: it must live until the next
  /// Start, Run or Reset, so a temporary string is refused.
  template <typename... Args>
  void Start(Args&&... args) {
    static_assert(!(std::is_same_v<Args, std::string> || ...));
    Reset();
    int index = 0;
    (BindOne(++index, args), ...);
  }
  /// True: a row is there. False: no more rows, and the statement was reset.
  Result<bool> Step();
  void Reset();
  /// By position, 1-based; for statements that are not written in this program.
  void BindOne(int index, int64_t value);
  void BindOne(int index, int32_t value) { BindOne(index, int64_t{value}); }
  void BindOne(int index, bool value) { BindOne(index, int64_t{value ? 1 : 0}); }
  void BindOne(int index, std::string_view text);
  void BindOne(int index, const std::string& text) { BindOne(index, std::string_view(text)); }
  void BindOne(int index, const char* text) { BindOne(index, std::string_view(text)); }
  void BindOne(int index, std::nullptr_t);

  // Of the current row, 0-based.
  [[nodiscard]] int Columns() const;
  [[nodiscard]] std::string ColumnName(int column) const;
  [[nodiscard]] bool IsNull(int column) const;
  [[nodiscard]] bool IsInteger(int column) const;
  [[nodiscard]] int64_t Integer(int column) const;
  /// Borrowed until the next Step or Reset. Blobs are given as their bytes.
  [[nodiscard]] std::string_view TextView(int column) const;
  [[nodiscard]] std::string Text(int column) const { return std::string(TextView(column)); }

 private:
  friend class Database;
  struct Closer {
    void operator()(sqlite3_stmt* stmt) const;
  };
  explicit Statement(sqlite3_stmt* stmt) : stmt_(stmt) {}
  Status Finish();

  std::unique_ptr<sqlite3_stmt, Closer> stmt_;
  int bind_error_ = 0;
};

class Database {
 public:
  enum class Mode { kReadOnly, kReadWrite, kCreate };

  /// Opens `path` (a plain file name, never a URI). kCreate makes the file where it is missing.
  /// Errors: kNotFound (no such file), kInvalid (a directory, no permission).
  static Result<Database> Open(const std::string& path, Mode mode, Millis busy_timeout);

  /// Runs statements without parameters, one after another; rows are dropped.
  Status Execute(const std::string& sql);
  /// The first statement of `sql`; anything but white space and `;` behind it is kInvalid, as is
  /// text that is no SQL.
  Result<Statement> Prepare(std::string_view sql);
  /// First column of the first row of a query without parameters.
  Result<int64_t> QueryInteger(std::string_view sql);
  Result<std::string> QueryText(std::string_view sql);

  void SetBusyTimeout(Millis timeout);
  [[nodiscard]] int64_t LastInsertId() const;
  /// Rows that the last INSERT, UPDATE or DELETE touched.
  [[nodiscard]] int64_t ChangedRows() const;
  [[nodiscard]] bool InTransaction() const;
  [[nodiscard]] const std::string& path() const { return path_; }
  /// kUnavailable where the file at path() is no longer the one that was opened: what is written
  /// goes to a file that nobody will find again.
  Status CheckInPlace();

  /// From now on only statements that read tables are prepared: no writes, no ATTACH, no PRAGMA
  /// that changes anything.
  void AllowOnlyReading();
  /// Asked now and then while statements run: once it says true, they end with kUnavailable.
  void SetGiveUp(std::function<bool()> give_up);
  /// From now on a text or blob of more bytes is kInvalid.
  void LimitValues(int64_t bytes);

 private:
  struct Closer {
    void operator()(sqlite3* db) const;
  };
  Database(sqlite3* db, std::string path) : db_(db), path_(std::move(path)) {}

  std::unique_ptr<std::function<bool()>> give_up_;  // Where SQLite has it, wherever this moves.
  std::unique_ptr<sqlite3, Closer> db_;
  std::string path_;
};

/// BEGIN IMMEDIATE; rolled back when it ends without Commit.
class Transaction {
 public:
  static Result<Transaction> Begin(Database& database);
  Transaction(Transaction&& other) noexcept : database_(other.database_) {
    other.database_ = nullptr;
  }
  Transaction& operator=(Transaction&&) = delete;
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  ~Transaction();

  /// On an error everything was rolled back.
  Status Commit();

 private:
  explicit Transaction(Database& database) : database_(&database) {}
  Database* database_;
};

}  // namespace caldera
