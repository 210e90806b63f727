// Why a job waits that is not in State yet: its name is that of one that is gone and still holds
// something. Pure.
#pragma once

#include "federation/explain.h"
#include "federation/state.h"

namespace caldera {

/// Of the successor of `earlier`, which has one: verdict NameConflict, and what it waits for.
PendingJob ExplainSuccessor(const State& state, JobIndex earlier);

}  // namespace caldera
