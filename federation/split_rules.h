// Whether a job may run in several clusters at once, and what of it stays together. A part of its
// Shape: jobs of one shape are split alike. Values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace caldera {

struct JobSpec;

enum class SplitMode : uint8_t {
  kNever,
  kWhenNeeded,  ///< Only what no cluster that may take it could hold even when empty.
  kAllowed,     ///< Also what none can hold now.
};
/// How far apart the clusters of one job may be: what they have in common.
enum class SplitDistance : uint8_t { kCluster, kZone, kRegion, kAny };

/// Pods that go to one cluster together.
struct SplitBundle {
  int32_t count = 1;                                ///< So many bundles of that kind.
  std::vector<std::pair<uint32_t, int32_t>> parts;  ///< Task of the Shape, pods of it.
  std::vector<std::string> clusters;                ///< It goes to no others; empty: to any.
  bool single = false;                              ///< Goes where most pods go.
  friend bool operator==(const SplitBundle&, const SplitBundle&) = default;
};

struct SplitRules {
  SplitMode mode = SplitMode::kWhenNeeded;
  std::string unsafe;        ///< Why it must not be split, as "its volumes ..."; empty: it may.
  int32_t max_clusters = 0;  ///< 0: no limit.
  int32_t min_shard = 1;     ///< Pods.
  SplitDistance max_distance = SplitDistance::kAny;
  /// Tasks that depend on each other, and all of a HyperJob; all other tasks are cut between any
  /// two pods or partitions.
  std::vector<SplitBundle> bundles;
  friend bool operator==(const SplitRules&, const SplitRules&) = default;
};

/// Why pods of such a job must not be in several clusters; empty: they may.
std::string SplitUnsafeBy(const JobSpec& spec);

/// `order`: by task of the Shape, its position in the spec.
SplitRules SplitRulesOf(const JobSpec& spec, const std::vector<size_t>& order);

}  // namespace caldera
