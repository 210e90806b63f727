// Actions in the making: what the passes of a round have in common. Pure.
#pragma once

#include <string>

#include "federation/plan.h"
#include "federation/preemption.h"
#include "federation/state.h"

namespace caldera {

/// An action about that job, without shards, reason and rank.
Action ActionFor(const State& state, JobIndex job, ActionKind kind);

/// The victim goes so that the claimant can have that cluster's room.
Action EvictionFor(const State& state, JobIndex victim, JobIndex claimant,
                   const std::string& cluster);
/// It stays and keeps no more than the cut says. Of one in waves what it gives is charged until
/// those pods have ended.
Action ShrinkFor(const State& state, const Cut& cut, JobIndex claimant, const std::string& cluster);

}  // namespace caldera
