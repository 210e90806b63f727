// Internal to split: the search for the set of clusters.
#pragma once

#include <cstdint>
#include <vector>

#include "federation/split.h"

namespace caldera {

/// SplitOver by other rules than the shape's own.
std::vector<SplitPart> FindSplit(const State& state, ShapeIndex shape, const SplitRules& rules,
                                 const SplitSites& sites);

/// Pods of the job that the clusters hold, each filled on its own.
int64_t PodsWithRoom(const State& state, ShapeIndex shape, const SplitSites& sites);

}  // namespace caldera
