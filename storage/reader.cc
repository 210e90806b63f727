#include "storage/reader.h"

#include <unistd.h>

#include <filesystem>
#include <system_error>
#include <utility>

#include "storage/schema.h"

namespace caldera {
namespace {

/// Reading a file in WAL mode needs the shared-memory file beside it, which may have to be made.
Status ExplainAccess(const std::string& path, const Error& error) {
  if (access(path.c_str(), R_OK) != 0) {
    return Fail(ErrorCode::kInvalid, path + ": no permission to read the ledger");
  }
  const std::string folder = std::filesystem::path(path).parent_path().string();
  if (access(folder.empty() ? "." : folder.c_str(), W_OK) != 0) {
    return Fail(ErrorCode::kInvalid,
                path + ": the ledger's directory is read-only, and reading shares memory with a " +
                    "writer through a file in it; make a copy with `ledger backup` where it may " +
                    "be written, and read that");
  }
  return tl::unexpected<Error>(error);
}

}  // namespace

Result<LedgerReader> LedgerReader::Open(const std::string& path, const ReadLimits& limits) {
  std::error_code failed;
  if (path.empty() || std::filesystem::is_directory(path, failed)) {
    return Fail(ErrorCode::kInvalid, "`" + path + "` is " +
                                         (path.empty() ? "no file name" : "a directory") +
                                         "; a ledger is one file");
  }
  if (!std::filesystem::exists(path, failed)) {
    return Fail(ErrorCode::kNotFound, path + ": there is no such ledger");
  }
  if (!std::filesystem::is_regular_file(path, failed)) {
    return Fail(ErrorCode::kInvalid, path + ": this is no regular file; a ledger is one");
  }
  auto database = Database::Open(path, Database::Mode::kReadOnly, Millis(5'000));
  if (!database.has_value()) {
    CALDERA_CHECK(ExplainAccess(path, database.error()));
  }
  if (limits.give_up) {
    database->SetGiveUp(limits.give_up);
  }
  auto version = IdentifyLedger(*database, SchemaVersion());
  if (!version.has_value()) {
    const bool corrupt = version.error().code == ErrorCode::kCorrupt;
    if (version.error().code != ErrorCode::kInvalid && !corrupt) {
      CALDERA_CHECK(ExplainAccess(path, version.error()));
    }
    // SQLITE_CANTOPEN is kInvalid, and names no reason.
    if (version.error().message.find("unable to open") != std::string::npos) {
      CALDERA_CHECK(ExplainAccess(path, version.error()));
    }
    return tl::unexpected<Error>(version.error());
  }
  if (*version == 0) {
    return Fail(ErrorCode::kInvalid, path + ": the file is empty, there is no ledger in it yet");
  }
  if (*version < SchemaVersion()) {
    return Fail(ErrorCode::kInvalid,
                path + ": the ledger has the older schema version " + std::to_string(*version) +
                    "; its next writer brings it to version " + std::to_string(SchemaVersion()));
  }
  return LedgerReader(*std::move(database));
}

Result<State> LedgerReader::Load() const {
  CALDERA_TRY(const ReadTransaction view, ReadTransaction::Begin(*database_));
  CALDERA_TRY(const JournalEnd end, ReadJournalEnd(*database_));
  return ReadState(*database_, end.cycle);
}

Result<JournalEnd> LedgerReader::End() const { return ReadJournalEnd(*database_); }

Result<ReadTransaction> ReadTransaction::Begin(Database& database) {
  CALDERA_CHECK(database.Execute("BEGIN"));
  return ReadTransaction(database);
}

ReadTransaction::ReadTransaction(ReadTransaction&& other) noexcept
    : database_(std::exchange(other.database_, nullptr)) {}

ReadTransaction::~ReadTransaction() {
  if (database_ != nullptr && database_->InTransaction()) {
    static_cast<void>(database_->Execute("COMMIT"));
  }
}

}  // namespace caldera
