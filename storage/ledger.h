// The ledger: what was decided, why, and what is owed, in one SQLite file. Record before act: if
// Append fails, nothing may be dispatched. One writer (one process, one thread); readers open the
// same file beside it. Times come in records: the ledger has no clock.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "federation/change.h"
#include "federation/explain.h"
#include "federation/plan.h"
#include "federation/result.h"
#include "federation/state.h"

namespace caldera {

class Ledger {
 public:
  /// Opens or creates the file for writing: migrates forward, quick check, takes the writer's
  /// place. Errors: kConflict (another writer), kCorrupt, kInvalid (newer schema, no SQLite file,
  /// no such directory), kUnavailable (disk full, busy).
  static Result<Ledger> Open(const std::string& path);

  Ledger(Ledger&&) noexcept;
  Ledger& operator=(Ledger&&) noexcept;
  Ledger(const Ledger&) = delete;
  Ledger& operator=(const Ledger&) = delete;
  ~Ledger();

  /// The State as of the last cycle: checkpoint + journal.
  [[nodiscard]] Result<State> Load() const;
  /// The number that the next intent gets.
  [[nodiscard]] Result<int64_t> NextIntent() const;

  /// One cycle in one transaction: the journal (changes, plan with reasons, digest) and every table
  /// folded from it. `after` is the State with changes and plan applied; `pending` its verdicts.
  /// Returns the cycle's number. An empty cycle (no changes but the clock, no actions) writes
  /// nothing and returns the last number. On an error nothing was written and the Ledger can be
  /// used again: kUnavailable for a full disk or a busy file.
  Result<int64_t> Append(const std::vector<Change>& changes, const Plan& plan, const State& after,
                         const std::vector<PendingJob>& pending);

 private:
  class Impl;
  explicit Ledger(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace caldera
