#include "storage/writer_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

namespace caldera {

Result<WriterLock> WriterLock::Take(const std::string& ledger_path) {
  // Two names of one file must meet at one lock.
  std::error_code failed;
  const auto canonical = std::filesystem::weakly_canonical(ledger_path, failed);
  const std::string path = (failed ? ledger_path : canonical.string()) + ".lock";
  const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);  // NOLINT(*-vararg)
  if (fd < 0) {
    const std::string why = std::generic_category().message(errno);
    return Fail(ErrorCode::kInvalid,
                path + ": " + why + "; the ledger's directory must exist and " + "be writable");
  }
  WriterLock lock(fd);
  if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) {
      return Fail(
          ErrorCode::kConflict,
          ledger_path + ": another process is writing this ledger; there can be one writer");
    }
    return Fail(ErrorCode::kInvalid, path + ": " + std::generic_category().message(errno));
  }
  return lock;
}

WriterLock::WriterLock(WriterLock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

WriterLock& WriterLock::operator=(WriterLock&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

WriterLock::~WriterLock() {
  if (fd_ >= 0) {
    close(fd_);
  }
}

}  // namespace caldera
