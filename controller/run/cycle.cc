#include "controller/run/cycle.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "federation/planner.h"

namespace caldera {

namespace {

/// A Grow may take of one task what it does not need for another.
bool GivesBack(const Plan& plan) {
  return std::any_of(plan.actions.begin(), plan.actions.end(), [](const Action& action) {
    return action.action == ActionKind::kShrink || action.action == ActionKind::kGrow;
  });
}

}  // namespace

Result<Cycle> Cycle::Start(Ledger& ledger) {
  Cycle cycle;
  CALDERA_TRY(cycle.state_, ledger.Load());
  cycle.ledger_ = &ledger;
  return cycle;
}

void Cycle::Observe(std::vector<Change> changes) {
  for (const Change& change : changes) {
    state_.Apply(change);
  }
  observed_.insert(observed_.end(), std::make_move_iterator(changes.begin()),
                   std::make_move_iterator(changes.end()));
}

Result<CycleOutcome> Cycle::Decide() {
  if (stale_) {
    CALDERA_CHECK(Restore());
  }
  CycleOutcome outcome;
  outcome.first_intent = next_intent_;
  if (ledger_ != nullptr) {
    CALDERA_TRY(outcome.first_intent, ledger_->NextIntent());
  }
  outcome.plan = MakePlan(state_);
  // In place, since a copy of a large State costs more than the plan: a failure restores it.
  for (const Change& change : EffectOf(outcome.plan, outcome.first_intent)) {
    state_.Apply(change);
  }
  outcome.pending = ExplainPending(state_);
  SayRefused(outcome.pending);
  outcome.resizes = ExplainResizes(state_);
  outcome.again = GivesBack(outcome.plan);
  if (ledger_ != nullptr) {
    auto recorded = ledger_->Append(observed_, outcome.plan, state_, outcome.pending);
    if (!recorded.has_value()) {
      stale_ = !outcome.plan.Empty();
      // A failure to restore shows at the next Decide; the reason for all of it is this one.
      static_cast<void>(stale_ ? Restore() : Status());
      return tl::unexpected<Error>(std::move(recorded).error());
    }
    outcome.cycle = *recorded;
  }
  next_intent_ = outcome.first_intent + static_cast<int64_t>(outcome.plan.actions.size());
  outcome.observed = std::exchange(observed_, {});
  return outcome;
}

void Cycle::SayRefused(std::vector<PendingJob>& pending) const {
  const auto is_missing = [this](const std::string& name) {
    const auto known = state_.queues().find(name);
    return known == state_.queues().end() || !state_.queue(known->second).object.has_value();
  };
  for (PendingJob& job : pending) {
    const auto refused = refused_queues_.find(job.queue);
    if (job.verdict == Verdict::kQueueMissing && refused != refused_queues_.end() &&
        is_missing(job.queue)) {
      job.message = "Queue " + job.queue + " was refused: " + refused->second;
    }
  }
}

Status Cycle::Restore() {
  CALDERA_TRY(State state, ledger_->Load());
  for (const Change& change : observed_) {
    state.Apply(change);
  }
  state_ = std::move(state);
  stale_ = false;
  return {};
}

}  // namespace caldera
