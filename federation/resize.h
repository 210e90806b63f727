// Placed jobs whose replicas or minAvailable were edited: what follows at once, what has to wait
// for room, and why. Same cluster, same epoch; only counts may change, as in Volcano: a job whose
// tasks or requests are others than those it was charged for keeps its charge. Pure.
//   fewer replicas  Shrink: at once; what it frees counts from the next round on
//   more replicas   Grow: the whole edit or nothing of it, within the tenant's quota, the queues'
//                   capabilities and guarantees, and the room in that cluster
// An edit that takes of one task and adds to another is a Grow that asks for what is added.
// A job in waves keeps its grant where an edit allows it. What was taken from it stays charged
// until those pods have ended: then a Shrink says so.
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
#include "federation/waves.h"

namespace caldera {

/// What a job that is charged for `shards` would be charged for by its spec; nothing where that is
/// the same, or is no resize: no Job in one cluster, other tasks, other requests.
std::optional<Shard> Resized(const JobSpec& spec, const std::vector<Shard>& shards);

/// The spec has other counts than the shard, whose tasks are the same, or a shard in waves fewer
/// than must start together.
bool IsEdited(const JobSpec& spec, const Shard& held);

/// Pods that are added to a job in one cluster. Borrows the State.
struct MorePods {
  ShapeFacts facts;  ///< Only `total` and `requested`.
  std::vector<NodePool::Task> gang;
};
/// Those of `want` that are beyond `have`; both by task of the spec. What a task has too many is
/// not set against what another lacks. `waves`: they are grants of waves (GrantOf).
MorePods PodsBeyond(const State& state, const JobSpec& spec, const std::vector<int32_t>& have,
                    const std::vector<int32_t>& want, bool waves);

/// The pass: all that shrinks by creation, uid and key, then what grows, by priority first. Takes
/// what they use from `clusters` (the round's views) and the round's limits. Ranks are left 0.
std::vector<Action> ResizePlaced(Round& round, std::vector<ClusterView>& clusters);

/// A placed job whose edit waits.
struct WaitingResize {
  JobKey job;
  std::string uid;
  std::string queue;
  Shard wanted;         ///< What it would be charged for.
  bool growth = false;  ///< Nobody edited it: it runs with a part of its pods so far.
  Verdict verdict = Verdict::kNone;
  std::string message;
  std::vector<Figure> figures;
};

/// Every job of which an edit waits, in the order of the pass. `after` as for ExplainPending. Costs
/// nothing where State::resizes() is empty.
std::vector<WaitingResize> ExplainResizes(const State& after);

}  // namespace caldera
