// The ledger: what was decided, why, and what is owed, in one SQLite file. Record before act: if
// Append fails, nothing may be dispatched. One writer (one process, one thread); readers open the
// same file beside it (reader.h). Times come in records: the ledger has no clock. The tables are
// described in schema.cc.
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

struct LedgerOptions {
  /// How long a write waits for another process's lock on the file before it gives up.
  Millis busy_timeout{2'000};
  /// A checkpoint of State is due after so many cycles or so much time of the records, once the
  /// journal since the last one has grown to a quarter of it: a State that hardly changes is not
  /// written again and again.
  int64_t checkpoint_cycles = 1'000;
  Millis checkpoint_after{600'000};
};

class Ledger {
 public:
  /// Opens or creates the file for writing: takes the writer's place (`FILE.lock`, freed with the
  /// process), migrates forward, quick check. Errors: kConflict (another writer), kCorrupt,
  /// kInvalid (newer schema, no SQLite file, another program's file, no such directory),
  /// kUnavailable (disk full, busy).
  static Result<Ledger> Open(const std::string& path, const LedgerOptions& options = {});

  Ledger(Ledger&&) noexcept;
  Ledger& operator=(Ledger&&) noexcept;
  Ledger(const Ledger&) = delete;
  Ledger& operator=(const Ledger&) = delete;
  ~Ledger();

  /// The State as of the last cycle: checkpoint + journal.
  [[nodiscard]] Result<State> Load() const;
  /// The number that the next intent gets.
  [[nodiscard]] Result<int64_t> NextIntent() const;
  /// The last cycle's number and digest; 0 and empty before the first.
  [[nodiscard]] int64_t LastCycle() const;
  [[nodiscard]] const std::string& LastDigest() const;

  /// One cycle in one transaction: the journal (changes, plan with reasons, digest) and every table
  /// folded from it. `after` is the State with changes and plan applied; `pending` its verdicts (of
  /// the jobs that the caller looked at: the others keep theirs). Returns the cycle's number. Of
  /// an empty cycle (no changes but the clock, an empty plan) only the verdicts are written; it has
  /// the last number.
  /// On an error nothing was written and the Ledger can be used again: kUnavailable for a full disk
  /// or a busy file.
  Result<int64_t> Append(const std::vector<Change>& changes, const Plan& plan, const State& after,
                         const std::vector<PendingJob>& pending);

  /// Bytes of the write-ahead log beside the file. It grows while a reader keeps an old snapshot
  /// open; worth an alarm above some hundred megabytes.
  [[nodiscard]] int64_t WalBytes() const;
  /// Moves the write-ahead log into the file as far as readers let it, without waiting for them.
  /// True: none was in the way, and the log is empty.
  Result<bool> Checkpoint();

 private:
  class Impl;
  explicit Ledger(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace caldera
