// Internal to Audit: tables that are folded from the journal, against the journal.
#pragma once

#include <string>
#include <vector>

#include "federation/result.h"
#include "federation/state.h"
#include "storage/database.h"

namespace caldera {

/// Queues, tenants, their limits and jobs, against a new fold of `state`, that of the last cycle.
/// Texts that were said once (verdicts, messages) and times of the fold are left out.
Status CheckObjects(Database& database, const State& state, std::vector<std::string>& findings);

/// Each decision of the journal's plans against its row, and the answers of clusters against their
/// digests.
Status CheckDecisions(Database& database, std::vector<std::string>& findings);

}  // namespace caldera
