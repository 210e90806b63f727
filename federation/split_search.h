// Internal to split: the search for the set of clusters.
#pragma once

#include <cstdint>
#include <vector>

#include "federation/split.h"
#include "federation/split_fill.h"

namespace caldera {

/// SplitOver by other rules than the shape's own.
std::vector<SplitPart> FindSplit(const State& state, ShapeIndex shape, const SplitRules& rules,
                                 const SplitSites& sites);

/// Pods of the job that the clusters hold, each filled on its own.
int64_t PodsWithRoom(const State& state, ShapeIndex shape, const SplitSites& sites);

/// What finds no room where the sites are filled one after the other with all that may go there.
struct Roomless {
  SplitKind kind;
  int64_t missing = 0;               ///< So many of that kind.
  std::vector<ResourceVector> left;  ///< What is free then, by site.
};
std::vector<Roomless> WithoutRoom(const State& state, ShapeIndex shape, const SplitSites& sites);

}  // namespace caldera
