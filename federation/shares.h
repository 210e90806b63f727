// What each queue asks for, is guaranteed, deserves and holds: the entitlement of entitlement.h
// run over the whole queue tree, resource by resource, from the root down. Derived from a State.
#pragma once

#include <map>
#include <vector>

#include "federation/amounts.h"
#include "federation/capacity.h"
#include "federation/queue_tree.h"
#include "federation/state.h"

namespace caldera {

/// Amounts of one queue, its descendants' in them.
struct QueueShare {
  ResourceVector demand;     ///< Pending candidates that could ever fit, and what is held.
  ResourceVector guarantee;  ///< At least the children's; scaled where the federation is smaller.
  ResourceVector deserved;
  ResourceVector within;   ///< Deserved as the order tests it: a part of a device counts whole.
  ResourceVector held;     ///< Charged on clusters that are not lost.
  ResourceVector charged;  ///< Charged anywhere: what limits count.
  UsageVector used;        ///< What it used lately; empty where no usage counts.
  /// Of that, its own jobs' by tenant.
  std::map<TenantIndex, UsageVector> used_by;
};

/// The largest of ((1 - h) held + h used) / deserved over what such a job asks for, `pods` apart;
/// `usage_weight` is h.
int64_t DominantShare(const QueueShare& share, const ResourceVector& held, const ShapeFacts& facts,
                      const ResourceKinds& kinds, int32_t usage_weight);

/// Of that, the part of one resource.
int64_t ShareIn(const QueueShare& share, int64_t held, ResourceIndex r, int32_t usage_weight);

/// How much of a share is usage, in thousandths: none without a half-life.
int32_t UsageWeight(const State& state);

/// By QueueIndex. `pending`: by QueueIndex too, what its own candidates that could ever go ask for.
std::vector<QueueShare> ShareOut(const State& state, const QueueTree& tree,
                                 const std::vector<ClusterView>& clusters,
                                 const std::vector<ResourceVector>& pending);

}  // namespace caldera
