// Retention: takes out of a ledger file what is older than asked for, and keeps what it amounted
// to. Charges that ended are folded to usage by the hour (`usage_hours`), so that totals stay; the
// journal goes up to a checkpoint, so that every later cycle still replays; decisions, verdicts and
// jobs go once nothing that stays refers to them. May run beside the ledger's writer: each step is
// a short transaction that leaves a sound ledger, and what the writer keeps in memory is not
// touched.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "federation/result.h"
#include "federation/time.h"

namespace caldera {

struct PruneOptions {
  /// Before the time of the last cycle. Charges are folded by whole hours, so they may stay up to
  /// an hour longer.
  Millis keep{90LL * 24 * 3'600'000};
  bool dry_run = false;  ///< Only counts.
  /// How long a step waits for another process's lock on the file before it gives up.
  Millis busy_timeout{5'000};
  /// Called between steps, where nothing is locked: time for the writer. May be unset.
  std::function<void()> between;
};

/// Rows that went, or that would go.
struct PruneReport {
  Time before;              ///< What is older than this may go.
  int64_t first_cycle = 0;  ///< The journal begins here, afterwards; 0: it is empty.
  int64_t cycles = 0;
  int64_t checkpoints = 0;
  int64_t shards = 0;  ///< Charges, now in usage_hours.
  int64_t intents = 0;
  int64_t verdicts = 0;
  int64_t jobs = 0;
};

/// Errors: kNotFound and kInvalid as LedgerReader::Open, kInvalid also for `keep` below 0;
/// kUnavailable (disk full, busy): steps that were done are done, run it again.
Result<PruneReport> Prune(const std::string& path, const PruneOptions& options);

}  // namespace caldera
