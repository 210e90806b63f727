// Internal to the dispatcher: whether a parent's status is to be written now. Pure.
#pragma once

#include <optional>
#include <string>

#include "controller/run/dispatcher.h"
#include "controller/run/dispatcher_memory.h"
#include "federation/document.h"

namespace caldera {

struct StatusDecision {
  std::optional<Value> write;  ///< The whole status.
  std::string phase;
  bool ends = false;  ///< The phase is terminal and the parent did not have it.
  Time again;         ///< Nothing now, but look again then; zero: no need.
};
/// Phases are written at once, but Pending only once it has stood for pending_after; counters alone
/// come no closer than status_interval. `memory` keeps since when Pending has stood.
StatusDecision DecideStatus(const SeenJob& job, const std::string& uid, JobMemory& memory,
                            const DispatcherOptions& options, Time now);
/// To be called when the decision's write has succeeded.
void RememberStatus(const StatusDecision& decision, JobMemory& memory, Time now);

/// The shards that a job has, or had when it ended: of its charge, else of its placement, else one
/// for each Work that is there.
std::vector<Shard> ShardsOf(const SeenJob& job);

}  // namespace caldera
