// Why a job is no candidate at all, before any limit or cluster is looked at: what it says itself,
// what it refers to, its namespace, its queue. Typed, in the order of DESIGN 9.
#pragma once

#include <optional>

#include "federation/queue_tree.h"
#include "federation/reason.h"
#include "federation/state.h"

namespace caldera {

/// The value of the PriorityClass a job names, else of the global default, else 0. Nothing where
/// the class is not there, unless it is one of the system's own.
std::optional<int32_t> PriorityValue(const State& state, PriorityIndex priority);

/// False where jobs of that PriorityClass evict nobody (preemptionPolicy Never).
bool Preempts(const State& state, PriorityIndex priority);

/// What holds for every job of a class alike (or for none): references, namespace, queue, topology.
Verdict ClassGate(const State& state, const QueueTree& tree, const JobClass& job_class);
/// The two parts of it: what the lane says, and then what the shape says.
Verdict LaneGate(const State& state, const QueueTree& tree, const Lane& lane);
Verdict ShapeGate(const Shape& shape);

/// Everything that keeps this pending job from being a candidate; kNone for a candidate.
Reason JobGate(const State& state, const QueueTree& tree, JobIndex job);

/// A domain below the cluster is asked for, by the job or by a partitioned task, that nobody here
/// checks: the member decides.
bool TopologyUnchecked(const Shape& shape);

}  // namespace caldera
