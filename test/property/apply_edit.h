// What a user does who follows WouldFitIf: edits objects by the texts of an Edit, through the same
// parsers. Knows nothing of how the edits were found.
#pragma once

#include "federation/explain.h"
#include "federation/state.h"

namespace caldera::property {

/// False where the edit names no object or field that there is.
bool ApplyEdit(State& state, const Edit& edit);

}  // namespace caldera::property
