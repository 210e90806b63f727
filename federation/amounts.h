// Lists of a State's objects as dense amounts. The State knows every name in its own objects, so
// nothing is lost.
#pragma once

#include <vector>

#include "federation/state.h"

namespace caldera {

ResourceVector AmountsIn(const State& state, const ResourceList& list);
ResourceLimits LimitsIn(const State& state, const ResourceList& list);
/// Of a cluster or a node: where `pods` is not said, it is unlimited; all else that is absent is 0.
ResourceVector CapacityIn(const State& state, const ResourceList& list);

/// What the rules of order and best fit ask about a resource.
struct ResourceKinds {
  explicit ResourceKinds(const ResourceCatalog& resources);
  ResourceIndex pods = ResourceCatalog::kNone;
  std::vector<bool> device;  ///< By ResourceIndex.
};

}  // namespace caldera
