// Audit by doing it again: the State before a cycle from the nearest checkpoint and the journal,
// the cycle's changes applied, planned again, and compared with what was recorded.
#pragma once

#include <cstdint>
#include <string>

#include "federation/result.h"
#include "storage/reader.h"

namespace caldera {

struct ReplayReport {
  int64_t cycle = 0;
  Time time;
  int64_t changes = 0;
  int64_t actions = 0;   ///< As recorded.
  std::string recorded;  ///< Digests.
  std::string replayed;
  /// Where the plans part, in words; empty when the digests agree.
  std::string difference;
  [[nodiscard]] bool Same() const { return recorded == replayed; }
};

/// Errors: kNotFound (no such cycle, or its past was pruned), kCorrupt.
Result<ReplayReport> Replay(const LedgerReader& reader, int64_t cycle);

}  // namespace caldera
