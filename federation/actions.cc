#include "federation/actions.h"

#include <utility>

#include "federation/gate.h"
#include "federation/shards.h"

namespace caldera {

namespace {

/// Names the claimant, and says why the victim may be asked.
void MakesRoom(const State& state, JobIndex claimant, const std::string& gives,
               const std::string& cluster, Action& action) {
  const JobEntry& by = state.job(claimant);
  action.beneficiary = by.key;
  action.beneficiary_uid = by.uid;
  const std::string& queue = state.queue(by.queue).name;
  action.reason =
      gives + "makes room in cluster " + cluster + " for " + by.key.ToString() +
      (action.queue == queue ? ", which has a higher priority"
                             : ": queue " + action.queue +
                                   " is above its deserved share and queue " + queue + " is not");
}

}  // namespace

Action ActionFor(const State& state, JobIndex index, ActionKind kind) {
  const JobEntry& job = state.job(index);
  Action action;
  action.job = job.key;
  action.uid = job.uid;
  action.kind = state.spec(job).kind;
  action.queue = state.queue(job.queue).name;
  action.action = kind;
  action.topology_unchecked =
      kind != ActionKind::kEvict && TopologyUnchecked(state.shape(job.shape));
  return action;
}

Action EvictionFor(const State& state, JobIndex victim, JobIndex claimant,
                   const std::string& cluster) {
  const JobEntry& job = state.job(victim);
  Action action = ActionFor(state, victim, ActionKind::kEvict);
  action.queue = state.queue(job.charge_queue).name;
  action.shards = job.charge->shards;
  MakesRoom(state, claimant, "", cluster, action);
  return action;
}

Action ShrinkFor(const State& state, const Cut& cut, JobIndex claimant,
                 const std::string& cluster) {
  const JobEntry& job = state.job(cut.job);
  Action action = ActionFor(state, cut.job, ActionKind::kShrink);
  action.queue = state.queue(job.charge_queue).name;
  action.shards = job.charge->shards;
  Shard& shard = action.shards.front();
  const int64_t before = shard.PodsAtOnce();
  ResourceList charged = shard.requests;
  SetCounts(state.spec(job), cut.counts, shard);
  if (shard.InWaves()) {
    shard.requests = std::move(charged);
  }
  shard.shrunk = state.now();
  MakesRoom(state, claimant,
            "gives " + std::to_string(before - shard.PodsAtOnce()) + " of its " +
                std::to_string(before) + " pods and ",
            cluster, action);
  return action;
}

}  // namespace caldera
