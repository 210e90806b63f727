// Which clusters can hold what. A shape against a cluster: may it go there at all, would it ever
// fit, does it fit now; with the reason where it does not. Nothing here knows queues or tenants.
#pragma once

#include <string_view>
#include <vector>

#include "federation/capacity.h"
#include "federation/quotas.h"
#include "federation/reason.h"
#include "federation/state.h"

namespace caldera {

/// kNone, or why this cluster is none for such jobs whatever is free: NoClusterMatches (names,
/// selector, taints, API), ClusterNotReady.
Reason Admits(const ClusterView& cluster, const ClusterConstraint& constraint);
/// Admits() without words.
bool IsAdmitted(const ClusterView& cluster, const ClusterConstraint& constraint);
/// Of that, the part that does not pass by itself: false where only Ready is in the way.
bool IsAllowed(const ClusterView& cluster, const ClusterConstraint& constraint);

/// The same of a job of that shape as a whole: of a HyperJob, each child may go there.
Reason Admits(const ClusterView& cluster, const Shape& shape);
bool IsAdmitted(const ClusterView& cluster, const Shape& shape);
bool IsAllowed(const ClusterView& cluster, const Shape& shape);

/// The whole gang fits into what is free now: the summary's sums, and node by node where nodes are
/// given.
bool FitsNow(const ClusterView& cluster, const Shape& shape, const ShapeFacts& facts);
/// It would fit if the cluster were empty.
bool FitsEmpty(const State& state, const ClusterView& cluster, ShapeIndex shape);
/// kNone where FitsNow, else InsufficientResources with the figures that are short.
Reason Room(const State& state, const ClusterView& cluster, ShapeIndex shape);

/// The backoff that keeps a job out of that cluster at `now`, the one that ends last; nullptr:
/// none.
const ClusterBackoff* LiveBackoff(const JobEntry& job, std::string_view cluster, Time now);
/// Its verdict: the one that its reason names, else Backoff.
Verdict VerdictOf(const ClusterBackoff& backoff);
/// kNone, or the backoff that keeps this job out of the cluster now, with its figures: of the job's
/// pods, it takes none. Backoff too while pods of a job of that name are there, left over from an
/// earlier placement or somebody else's: the new ones could not be made.
Reason BacksOff(const State& state, const JobEntry& job, std::string_view cluster);

/// Some cluster that is not lost allows it, could hold it when empty, and is not ruled out by the
/// tenant's static assignment there.
bool CouldEverFit(const State& state, const std::vector<ClusterView>& clusters, ShapeIndex shape,
                  const TenantLimits& quotas);
/// That, or it could be split over such clusters.
bool CouldEverGo(const State& state, const std::vector<ClusterView>& clusters, ShapeIndex shape,
                 const TenantLimits& quotas);

}  // namespace caldera
