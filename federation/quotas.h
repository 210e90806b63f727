// A tenant's quotas folded into one: of several, the smallest holds per resource. Derived.
#pragma once

#include <map>
#include <vector>

#include "federation/state.h"

namespace caldera {

struct TenantLimits {
  ResourceLimits overall;
  std::map<ClusterIndex, ResourceLimits> in;  ///< Static assignments.
};

/// By TenantIndex.
std::vector<TenantLimits> FoldQuotas(const State& state);

}  // namespace caldera
