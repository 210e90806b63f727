// Everything about a ledger file that can be checked from the file alone: SQLite's own integrity,
// foreign keys, the digest chain of the journal, checkpoints, balances recomputed from shards,
// queues, tenants, jobs and open shards compared with what the State of the last cycle holds, and
// decisions with the plans of the journal. Of what the journal does not say (messages, and shards
// that ended) and of bytes of the file that no record uses, damage may go unnoticed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "federation/result.h"
#include "storage/reader.h"

namespace caldera {

struct AuditReport {
  int64_t cycles = 0;
  int64_t checkpoints = 0;
  int64_t open_shards = 0;
  int64_t balances = 0;
  std::string digest;                 ///< Of the last cycle: the one number to keep elsewhere.
  std::vector<std::string> findings;  ///< What is wrong, in words; empty: all is well.
};

/// Errors are failures to open or lock; what is damaged, and what is wrong with the content is a
/// finding.
Result<AuditReport> Audit(const LedgerReader& reader);

}  // namespace caldera
