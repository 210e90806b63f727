// Placed jobs whose replicas or minAvailable were edited: what follows at once, what has to wait
// for room, and why. Same cluster, same epoch; only counts may change, as in Volcano: a job whose
// tasks or requests are others than those it was charged for keeps its charge. Pure.
//   fewer replicas  Shrink: at once; what it frees counts from the next round on
//   more replicas   Grow: the whole edit or nothing of it, within the tenant's quota, the queues'
//                   capabilities and guarantees, and the room in that cluster
// An edit that takes of one task and adds to another is a Grow that asks for what is added.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "federation/capacity.h"
#include "federation/explain.h"
#include "federation/plan.h"
#include "federation/round.h"
#include "federation/shape.h"
#include "federation/state.h"

namespace caldera {

/// What a job that is charged for `shards` would be charged for by its spec; nothing where that is
/// the same, or is no resize: no Job in one cluster, other tasks, other requests.
std::optional<Shard> Resized(const JobSpec& spec, const std::vector<Shard>& shards);

/// How many pods of each task a shard has.
std::vector<int32_t> CountsOf(const Shard& shard);

/// Pods that are added to a job in one cluster. Borrows the State.
struct MorePods {
  ShapeFacts facts;  ///< Only `total` and `requested`.
  std::vector<NodePool::Task> gang;
};
/// Those of `want` that are beyond `have`; both by task of the spec. What a task has too many is
/// not set against what another lacks.
MorePods PodsBeyond(const State& state, const JobSpec& spec, const std::vector<int32_t>& have,
                    const std::vector<int32_t>& want);

/// The pass: all that shrinks by creation, uid and key, then what grows, by priority first. Takes
/// what they use from `clusters` (the round's views) and the round's limits. Ranks are left 0.
std::vector<Action> ResizePlaced(Round& round, std::vector<ClusterView>& clusters);

/// A placed job whose edit waits.
struct WaitingResize {
  JobKey job;
  std::string uid;
  std::string queue;
  Shard wanted;  ///< What it would be charged for.
  Verdict verdict = Verdict::kNone;
  std::string message;
  std::vector<Figure> figures;
};

/// Every job of which an edit waits, in the order of the pass. `after` as for ExplainPending. Costs
/// nothing where State::resizes() is empty.
std::vector<WaitingResize> ExplainResizes(const State& after);

}  // namespace caldera
