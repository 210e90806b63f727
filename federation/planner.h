// The decision: State in, Plan out. Pure: no clock, no I/O, no randomness, no threads; equal States
// give equal plans, whatever the order in which their Changes arrived.
#pragma once

#include "federation/plan.h"
#include "federation/state.h"

namespace caldera {

/// One round: placed jobs that were edited are resized (resize.h), then every candidate is
/// considered, best first, until nothing more fits. What grows counts in the order of the next
/// round. `state` is not
/// changed: apply EffectOf(plan) for that. The plan passes CheckPlan (asserted).
Plan MakePlan(const State& state);

}  // namespace caldera
