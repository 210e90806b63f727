// The status that Caldera writes on a parent Job and on a Queue, in Volcano's own shape, from what
// the members reported and what State knows. Pure; no clock: `now` comes in.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "controller/run/work_view.h"
#include "federation/document.h"
#include "federation/state.h"

namespace caldera {

struct ParentFacts {
  JobKind kind = JobKind::kJob;
  std::string name;           ///< Of the parent.
  int64_t generation = 0;     ///< Of the parent.
  std::string phase;          ///< The parent's own, as it is there (JobView::phase); empty: none.
  bool suspended = false;     ///< Aborted by a Command and not resumed.
  std::vector<Shard> shards;  ///< Of the charge; of the last placement where it is terminal.
  /// Those of the shards' epochs, in the order of `shards`; nullptr: not there yet.
  std::vector<const WorkView*> works;
  bool awaits_name = false;  ///< An earlier job of its name still holds something.
  bool works_left = false;   ///< Some Work of it is still there, of whatever epoch.
  Time now;
};

/// The whole status that should be there; nullopt: leave what is there. `own`: the phase is
/// Caldera's word and not the members' (Aborting, Aborted, Pending after a recall), so that a write
/// is due only where the phase differs. Rules (DESIGN 7): one shard's status is passed on; of
/// several: any Failed is Failed, all Completed is Completed, Running when all run or are done,
/// Pending otherwise; counters are summed. At completion, where the member drops the counters, what
/// was granted counts as succeeded. A job that waits and has no status gets none, unless it
/// waits for its name. That of a HyperJob: hyperjob_status.h.
struct ParentStatus {
  Value status;
  std::string phase;
  bool own = false;
};
std::optional<ParentStatus> MakeParentStatus(const ParentFacts& facts);

/// A shard's status with what the member drops at completion put back: what was granted counts as
/// succeeded.
Value ShardStatus(const Shard& shard, const WorkView& work);
/// The phase of a job from the phases of all its shards; an empty one is a shard of which nothing
/// is known yet.
std::string PhaseOfShards(const std::vector<std::string>& phases);
/// Counters of pods, in Volcano's order: they are summed over shards.
inline constexpr std::array<std::string_view, 6> kPodCounters = {
    "pending", "running", "succeeded", "failed", "terminating", "unknown"};

/// Volcano's QueueStatus: state, counts of jobs (pending: waiting; inqueue: placed and not yet
/// running; running; completed: finished ones that are still there) and `allocated`.
struct QueueCounts {
  int32_t pending = 0;
  int32_t inqueue = 0;
  int32_t running = 0;
  int32_t completed = 0;
  int32_t unknown = 0;
};
Value MakeQueueStatus(QueueState state, const QueueCounts& counts, const ResourceList& allocated);

/// A JSON patch of `/status` as a whole, for the status subresource, that holds only for this uid.
Value StatusPatch(const std::string& uid, const Value& status);

}  // namespace caldera
