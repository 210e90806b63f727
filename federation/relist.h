// From "everything that is there now" to the Changes that bring State up to it: upserts for what is
// new or differs, deletes for what is absent. Used by every `plan --ledger` run and, live, after a
// relist.
#pragma once

#include <vector>

#include "federation/change.h"
#include "federation/state.h"

namespace caldera {

/// `observed` holds upserts only (any kinds, any order, each key once). The result starts with
/// ClockSet{now}; then deletes, then upserts, in canonical order. What a job holds in `state`
/// survives an observation without a placement as long as the job (same uid) is there and not
/// terminal. A creation time that equals `now` stands for none: a known object keeps its own.
/// Objects of kinds listed in `observed` or not: every kind is compared, absence means deletion.
std::vector<Change> Relist(const State& state, Time now, const std::vector<Change>& observed);

}  // namespace caldera
