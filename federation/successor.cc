#include "federation/successor.h"

#include <set>
#include <string>

#include "federation/time.h"

namespace caldera {

PendingJob ExplainSuccessor(const State& state, JobIndex earlier) {
  const JobEntry& entry = state.job(earlier);
  const Successor& successor = *state.SuccessorOf(earlier);
  std::string clusters;
  if (entry.charge.has_value()) {
    std::set<std::string> names;
    for (const Shard& shard : entry.charge->shards) {
      if (names.insert(shard.cluster).second) {
        clusters += (clusters.empty() ? "" : ", ") + shard.cluster;
      }
    }
  }
  PendingJob waits;
  waits.job = entry.key;
  waits.kind = state.spec(entry).kind;
  waits.queue = successor.queue;
  waits.verdict = Verdict::kNameConflict;
  waits.message = "an earlier job of this name (uid " + entry.uid +
                  ") still holds what it was granted in cluster " + clusters +
                  (successor.clear == Time() ? ": its Work there is being deleted"
                                             : ": its pods there are gone by " +
                                                   FormatTime(successor.clear) + " at the latest");
  return waits;
}

}  // namespace caldera
