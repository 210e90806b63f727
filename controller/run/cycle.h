// Observe, decide, record: the loop that the live controller and `plan --ledger` share. What is
// observed goes into State at once; Decide plans, records what was observed and decided in one
// ledger transaction, and only then lets the plan take effect. Fails closed: where the ledger
// cannot be written the plan did not happen, State is as it was observed, and the next Decide
// records it all. One thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "federation/explain.h"
#include "federation/plan.h"
#include "federation/resize.h"
#include "federation/result.h"
#include "federation/state.h"
#include "storage/ledger.h"

namespace caldera {

struct CycleOutcome {
  int64_t cycle = 0;             ///< The ledger's number; 0 without a ledger.
  int64_t first_intent = 1;      ///< The number of the first action's intent.
  Plan plan;                     ///< To be dispatched now: it is recorded.
  std::vector<Change> observed;  ///< What was recorded with it.
  std::vector<PendingJob> pending;
  std::vector<WaitingResize> resizes;  ///< Edits of placed jobs that wait.
  /// A resize gave back what counts only from the next round on: decide once more, also where
  /// nothing is observed. Comes to an end by itself: what was resized is as its spec says.
  bool again = false;
};

class Cycle {
 public:
  /// Goes on from the ledger's last State; `ledger` must outlive this.
  static Result<Cycle> Start(Ledger& ledger);
  /// From an empty State, and nothing is recorded (a dry run).
  Cycle() = default;

  /// What was observed and not yet recorded is in it; what a failed Decide decided is not.
  [[nodiscard]] const State& state() const { return state_; }

  void Observe(std::vector<Change> changes);
  /// The Queues that are there but were refused, with why: State does not have them, and their jobs
  /// are told so. Holds until the next call.
  void SetRefusedQueues(std::map<std::string, std::string> why) {
    refused_queues_ = std::move(why);
  }

  /// Errors: the ledger's. After one, nothing may be dispatched; try again (with a backoff where
  /// Retryable says so) once there is reason to.
  Result<CycleOutcome> Decide();

 private:
  /// Back to what the ledger has, plus what was observed since.
  Status Restore();
  void SayRefused(std::vector<PendingJob>& pending) const;

  Ledger* ledger_ = nullptr;
  State state_;
  std::map<std::string, std::string> refused_queues_;
  std::vector<Change> observed_;  ///< Since the last cycle that was recorded.
  int64_t next_intent_ = 1;       ///< Without a ledger.
  bool stale_ = false;            ///< state_ holds a plan that was not recorded.
};

}  // namespace caldera
