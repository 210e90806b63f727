// The writer's place at a ledger: an advisory lock on `FILE.lock` beside it. The kernel drops it
// with the process, so a killed writer leaves none behind; the empty side file stays. (A lock on
// the database itself would be lost whenever any descriptor of that file is closed.)
#pragma once

#include <string>

#include "federation/result.h"

namespace caldera {

class WriterLock {
 public:
  /// Errors: kConflict (another writer holds it), kInvalid (the side file cannot be made).
  static Result<WriterLock> Take(const std::string& ledger_path);

  WriterLock(WriterLock&& other) noexcept;
  WriterLock& operator=(WriterLock&& other) noexcept;
  WriterLock(const WriterLock&) = delete;
  WriterLock& operator=(const WriterLock&) = delete;
  ~WriterLock();

 private:
  explicit WriterLock(int fd) : fd_(fd) {}
  int fd_;
};

}  // namespace caldera
