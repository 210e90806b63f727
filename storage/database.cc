#include "storage/database.h"

#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

namespace caldera {
namespace {

ErrorCode CodeOf(int rc) {
  switch (rc & 0xff) {
    case SQLITE_FULL:
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_IOERR:
    case SQLITE_NOMEM:
    case SQLITE_PROTOCOL:
    case SQLITE_READONLY:
    case SQLITE_INTERRUPT:
      return ErrorCode::kUnavailable;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return ErrorCode::kCorrupt;
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_AUTH:
    case SQLITE_TOOBIG:
      return ErrorCode::kInvalid;
    default:
      return ErrorCode::kInternal;
  }
}

/// What a person can do about it, where SQLite's own words do not say.
std::string Advice(int rc) {
  if (rc == SQLITE_IOERR_SHMSIZE || rc == SQLITE_IOERR_WRITE) {
    return "; is there room left on the disk? Nothing of this was written";
  }
  switch (rc & 0xff) {
    case SQLITE_FULL:
      return "; the disk is full, nothing of this was written";
    case SQLITE_BUSY:
      return "; another process holds the file, nothing of this was written";
    case SQLITE_INTERRUPT:
      return "; it was given up, since it took too long";
    case SQLITE_CORRUPT:
      return "; the file is damaged: restore a backup, or start a new ledger";
    case SQLITE_READONLY:
      return "; the file and its directory must be writable";
    default:
      return "";
  }
}

tl::unexpected<Error> FailWith(sqlite3* db, int rc) {
  const char* name = db == nullptr ? nullptr : sqlite3_db_filename(db, "main");
  std::string message = name == nullptr || *name == '\0' ? "ledger" : name;
  message += ": ";
  message += db == nullptr ? sqlite3_errstr(rc) : sqlite3_errmsg(db);
  message += " (SQLite code " + std::to_string(rc) + ")" + Advice(rc);
  return Fail(CodeOf(rc), std::move(message));
}

bool OnlySpace(std::string_view text) {
  return text.find_first_not_of(" \t\r\n;") == std::string_view::npos;
}

/// The authorizer of AllowOnlyReading; SQLite says which parameters it has.
// NOLINTNEXTLINE(readability-function-size)
int Authorize(void* /*unused*/, int action, const char* first, const char* second,
              const char* /*database*/, const char* /*trigger*/) {
  switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_RECURSIVE:
      return SQLITE_OK;
    case SQLITE_FUNCTION:
      return std::string_view(second == nullptr ? "" : second) == "load_extension" ? SQLITE_DENY
                                                                                   : SQLITE_OK;
    case SQLITE_PRAGMA: {
      constexpr std::array<std::string_view, 9> kReading = {
          "table_info",  "table_list",   "table_xinfo",      "index_list",   "index_info",
          "index_xinfo", "user_version", "foreign_key_list", "function_list"};
      const std::string_view name = first == nullptr ? "" : first;
      for (const std::string_view allowed : kReading) {
        if (name == allowed && (name != "user_version" || second == nullptr)) {
          return SQLITE_OK;
        }
      }
      return SQLITE_DENY;
    }
    default:
      return SQLITE_DENY;
  }
}

}  // namespace

void Statement::Closer::operator()(sqlite3_stmt* stmt) const { sqlite3_finalize(stmt); }

void Statement::BindOne(int index, int64_t value) {
  const int rc = sqlite3_bind_int64(stmt_.get(), index, value);
  bind_error_ = bind_error_ == 0 ? rc : bind_error_;
}

void Statement::BindOne(int index, std::string_view text) {
  // A null pointer would bind NULL.
  const char* data = text.data() == nullptr ? "" : text.data();
  const int rc =
      sqlite3_bind_text64(stmt_.get(), index, data, text.size(), SQLITE_STATIC, SQLITE_UTF8);
  bind_error_ = bind_error_ == 0 ? rc : bind_error_;
}

void Statement::BindOne(int index, std::nullptr_t) {
  const int rc = sqlite3_bind_null(stmt_.get(), index);
  bind_error_ = bind_error_ == 0 ? rc : bind_error_;
}

Result<bool> Statement::Step() {
  sqlite3* db = sqlite3_db_handle(stmt_.get());
  if (bind_error_ != 0) {
    const int rc = std::exchange(bind_error_, 0);
    return FailWith(db, rc);
  }
  const int rc = sqlite3_step(stmt_.get());
  if (rc == SQLITE_ROW) {
    return true;
  }
  if (rc == SQLITE_DONE) {
    sqlite3_reset(stmt_.get());
    return false;
  }
  auto failure = FailWith(db, rc);
  sqlite3_reset(stmt_.get());
  return failure;
}

Status Statement::Finish() {
  while (true) {
    CALDERA_TRY(const bool row, Step());
    if (!row) {
      return {};
    }
  }
}

void Statement::Reset() {
  sqlite3_reset(stmt_.get());
  bind_error_ = 0;
}

int Statement::Columns() const { return sqlite3_column_count(stmt_.get()); }

std::string Statement::ColumnName(int column) const {
  const char* name = sqlite3_column_name(stmt_.get(), column);
  return name == nullptr ? "" : name;
}

bool Statement::IsNull(int column) const {
  return sqlite3_column_type(stmt_.get(), column) == SQLITE_NULL;
}

bool Statement::IsInteger(int column) const {
  return sqlite3_column_type(stmt_.get(), column) == SQLITE_INTEGER;
}

int64_t Statement::Integer(int column) const { return sqlite3_column_int64(stmt_.get(), column); }

std::string_view Statement::TextView(int column) const {
  // Through blob: for text these are the same bytes, and a blob is not taken for text.
  if (sqlite3_column_type(stmt_.get(), column) == SQLITE_BLOB) {
    const auto* bytes = static_cast<const char*>(sqlite3_column_blob(stmt_.get(), column));
    return {bytes == nullptr ? "" : bytes,
            static_cast<size_t>(sqlite3_column_bytes(stmt_.get(), column))};
  }
  const unsigned char* text = sqlite3_column_text(stmt_.get(), column);
  if (text == nullptr) {
    return "";
  }
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): SQLite's text is unsigned.
  return {reinterpret_cast<const char*>(text),
          static_cast<size_t>(sqlite3_column_bytes(stmt_.get(), column))};
}

void Database::Closer::operator()(sqlite3* db) const { sqlite3_close_v2(db); }

Result<Database> Database::Open(const std::string& path, Mode mode, Millis busy_timeout) {
  int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
  flags |= mode == Mode::kReadOnly ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE;
  flags |= mode == Mode::kCreate ? SQLITE_OPEN_CREATE : 0;
  sqlite3* raw = nullptr;
  const int rc = sqlite3_open_v2(path.c_str(), &raw, flags, nullptr);
  Database database(raw, path);
  if (rc != SQLITE_OK) {
    return FailWith(raw, rc);
  }
  // SQLite falls back to reading, and would say so only at the first write.
  if (mode != Mode::kReadOnly && sqlite3_db_readonly(raw, "main") == 1) {
    return Fail(ErrorCode::kInvalid, path + ": the file is read-only, and it is to be written");
  }
  database.SetBusyTimeout(busy_timeout);
  return database;
}

Status Database::Execute(const std::string& sql) {
  const int rc = sqlite3_exec(db_.get(), sql.c_str(), nullptr, nullptr, nullptr);
  if (rc != SQLITE_OK) {
    return FailWith(db_.get(), rc);
  }
  return {};
}

Result<Statement> Database::Prepare(std::string_view sql) {
  sqlite3_stmt* stmt = nullptr;
  const char* tail = nullptr;
  const int rc = sqlite3_prepare_v3(db_.get(), sql.data(), static_cast<int>(sql.size()),
                                    SQLITE_PREPARE_PERSISTENT, &stmt, &tail);
  if (rc != SQLITE_OK) {
    if (rc == SQLITE_ERROR) {
      return Fail(ErrorCode::kInvalid, sqlite3_errmsg(db_.get()));
    }
    return FailWith(db_.get(), rc);
  }
  Statement statement(stmt);
  if (stmt == nullptr) {
    return Fail(ErrorCode::kInvalid, "there is no SQL statement in the text");
  }
  if (!OnlySpace(sql.substr(static_cast<size_t>(tail - sql.data())))) {
    return Fail(ErrorCode::kInvalid, "more than one SQL statement; give one at a time");
  }
  return statement;
}

Result<int64_t> Database::QueryInteger(std::string_view sql) {
  CALDERA_TRY(Statement statement, Prepare(sql));
  CALDERA_TRY(const bool row, statement.Step());
  return row ? statement.Integer(0) : 0;
}

Result<std::string> Database::QueryText(std::string_view sql) {
  CALDERA_TRY(Statement statement, Prepare(sql));
  CALDERA_TRY(const bool row, statement.Step());
  return row ? statement.Text(0) : std::string();
}

void Database::SetBusyTimeout(Millis timeout) {
  sqlite3_busy_timeout(db_.get(), static_cast<int>(timeout.count()));
}

int64_t Database::LastInsertId() const { return sqlite3_last_insert_rowid(db_.get()); }

int64_t Database::ChangedRows() const { return sqlite3_changes64(db_.get()); }

bool Database::InTransaction() const { return sqlite3_get_autocommit(db_.get()) == 0; }

void Database::AllowOnlyReading() { sqlite3_set_authorizer(db_.get(), Authorize, nullptr); }

void Database::SetGiveUp(std::function<bool()> give_up) {
  constexpr int kSteps = 10'000;  // Of SQLite's machine, between two questions: well under 1 ms.
  give_up_ = std::make_unique<std::function<bool()>>(std::move(give_up));
  sqlite3_progress_handler(
      db_.get(), kSteps,
      [](void* function) { return (*static_cast<std::function<bool()>*>(function))() ? 1 : 0; },
      give_up_.get());
}

void Database::LimitValues(int64_t bytes) {
  sqlite3_limit(db_.get(), SQLITE_LIMIT_LENGTH,
                static_cast<int>(std::min<int64_t>(bytes, std::numeric_limits<int>::max())));
}

Status Database::CheckInPlace() {
  int moved = 0;
  const int rc = sqlite3_file_control(db_.get(), "main", SQLITE_FCNTL_HAS_MOVED, &moved);
  if (rc != SQLITE_OK) {
    return FailWith(db_.get(), rc);
  }
  if (moved != 0) {
    return Fail(ErrorCode::kUnavailable,
                path_ +
                    ": the file was moved, removed or replaced while it was in use: put it back, "
                    "or restart what writes it to go on with the one that is there now");
  }
  return {};
}

Result<Transaction> Transaction::Begin(Database& database) {
  CALDERA_CHECK(database.Execute("BEGIN IMMEDIATE"));
  return Transaction(database);
}

Transaction::~Transaction() {
  // SQLite may have rolled back by itself (a full disk); then there is nothing left to undo.
  if (database_ != nullptr && database_->InTransaction()) {
    static_cast<void>(database_->Execute("ROLLBACK"));
  }
}

Status Transaction::Commit() {
  Database* database = std::exchange(database_, nullptr);
  auto status = database->Execute("COMMIT");
  if (!status.has_value() && database->InTransaction()) {
    static_cast<void>(database->Execute("ROLLBACK"));
  }
  return status;
}

}  // namespace caldera
