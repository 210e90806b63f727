#include "storage/backup.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>

namespace caldera {
namespace {

tl::unexpected<Error> FailWithErrno(const std::string& path, ErrorCode code) {
  return Fail(code, path + ": " + std::generic_category().message(errno));
}

Status SyncToDisk(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);  // NOLINT(*-vararg)
  if (fd < 0) {
    return FailWithErrno(path, ErrorCode::kUnavailable);
  }
  const bool synced = fsync(fd) == 0;
  auto status = synced ? Status() : Status(FailWithErrno(path, ErrorCode::kUnavailable));
  close(fd);
  return status;
}

/// Removes the temporary copy unless it got its name.
struct Cleanup {
  explicit Cleanup(std::string file) : path(std::move(file)) {}
  Cleanup(const Cleanup&) = delete;
  Cleanup& operator=(const Cleanup&) = delete;
  Cleanup(Cleanup&&) = delete;
  Cleanup& operator=(Cleanup&&) = delete;
  ~Cleanup() { unlink(path.c_str()); }
  std::string path;
};

/// What must not be replaced even when it is asked for: devices and the like, and the files that
/// SQLite and the writer's lock keep beside the ledger.
Status CheckPlace(const std::string& ledger, const std::string& target) {
  namespace fs = std::filesystem;
  std::error_code failed;
  if (fs::exists(target, failed) && !fs::is_regular_file(target, failed)) {
    return Fail(ErrorCode::kInvalid, target + ": this is no regular file; name another one");
  }
  for (const char* const suffix : {"-wal", "-shm", "-journal", ".lock"}) {
    if (fs::weakly_canonical(target, failed) ==
        fs::weakly_canonical(ledger, failed).string() + suffix) {
      return Fail(ErrorCode::kInvalid,
                  target + ": this file is a part of the ledger; name another");
    }
  }
  // SQLite would read such a log into the copy, as changes that it does not have yet.
  const std::string log = target + "-wal";
  if (fs::exists(log, failed) && fs::file_size(log, failed) != 0) {
    return Fail(ErrorCode::kConflict,
                log +
                    ": holds changes of another ledger that was at this place; move it away, or "
                    "name another file for the backup");
  }
  return {};
}

}  // namespace

Status Backup(const LedgerReader& reader, const std::string& target, bool overwrite) {
  namespace fs = std::filesystem;
  std::error_code failed;
  if (target.empty() || fs::is_directory(target, failed)) {
    return Fail(ErrorCode::kInvalid, "`" + target + "` is no file name for a backup");
  }
  if (fs::equivalent(reader.database().path(), target, failed)) {
    return Fail(ErrorCode::kInvalid, target + ": this is the ledger itself; name another file");
  }
  CALDERA_CHECK(CheckPlace(reader.database().path(), target));
  if (!overwrite && fs::exists(fs::symlink_status(target, failed))) {
    return Fail(ErrorCode::kConflict,
                target + ": the file exists; name another one, or force it to be replaced");
  }
  const fs::path parent = fs::path(target).parent_path();
  const std::string folder = parent.empty() ? "." : parent.string();
  if (!fs::is_directory(folder, failed)) {
    return Fail(ErrorCode::kInvalid, folder + ": there is no such directory for the backup");
  }
  const Cleanup temporary(target + ".tmp-" + std::to_string(getpid()));
  unlink(temporary.path.c_str());
  CALDERA_TRY(Statement vacuum, reader.database().Prepare("VACUUM INTO ?1"));
  CALDERA_CHECK(vacuum.Run(temporary.path));
  CALDERA_CHECK(SyncToDisk(temporary.path));
  // link() refuses an existing name, so nothing that appeared in the meantime is lost.
  const bool named = overwrite ? rename(temporary.path.c_str(), target.c_str()) == 0
                               : link(temporary.path.c_str(), target.c_str()) == 0;
  if (!named) {
    return FailWithErrno(target, errno == EEXIST ? ErrorCode::kConflict : ErrorCode::kInvalid);
  }
  return SyncToDisk(folder);
}

}  // namespace caldera
