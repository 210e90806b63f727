// Internal to split: filling a given set of clusters with all of a job, or not. Borrows all it is
// given. Values, no State.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "federation/node_pool.h"
#include "federation/shape.h"

namespace caldera {

struct SplitSite;

/// What is never cut: a pod, a partition, tasks that depend on each other.
struct SplitKind {
  int64_t count = 0;
  std::vector<std::pair<uint32_t, int32_t>> parts;  ///< Task of the Shape, pods of it in one.
  int64_t pods = 0;                                 ///< In one.
  ResourceVector request;                           ///< Of one.
  bool single = false;                              ///< Goes where most pods go.
  std::vector<std::string> clusters;                ///< It goes to no others; empty: to any.

  [[nodiscard]] bool MayGoTo(const std::string& cluster) const {
    return clusters.empty() ||
           std::find(clusters.begin(), clusters.end(), cluster) != clusters.end();
  }
};
std::vector<SplitKind> SplitKindsOf(const Shape& shape, const ShapeFacts& facts);

/// The room left in one cluster while it is filled.
class SplitRoom {
 public:
  /// `tasks`: those of the shape.
  SplitRoom(const SplitSite& site, const std::vector<NodePool::Task>& tasks);
  /// Takes up to `most`; how many there was room for.
  int64_t Take(const SplitKind& kind, int64_t most);
  /// Without the nodes: never less than Take would take.
  [[nodiscard]] int64_t Bound(const SplitKind& kind, int64_t most) const;
  [[nodiscard]] const ResourceVector& free() const { return free_; }

 private:
  int64_t TakeOnNodes(const SplitKind& kind, int64_t most);

  const std::string* cluster_;
  const std::vector<NodePool::Task>* tasks_;
  ResourceVector free_;
  std::optional<NodePool> nodes_;
};

/// How many of each kind each cluster gets.
using SplitCounts = std::vector<std::vector<int64_t>>;  ///< By site, then kind.

struct SplitOrder {
  enum class Way : uint8_t {
    kAdvantage,  ///< Each kind first where it has more room than the others have.
    kInTurn,
    kBackwards,
    kEvenly,  ///< In proportion to the room.
  };
  Way way = Way::kAdvantage;
  size_t home = 0;  ///< Where single kinds go.
};

/// Everything into exactly these sites, each of which gets `min_shard` pods or more.
std::optional<SplitCounts> FillSites(const std::vector<SplitKind>& kinds,
                                     const std::vector<NodePool::Task>& tasks,
                                     const std::vector<const SplitSite*>& sites, int64_t min_shard,
                                     SplitOrder order);

}  // namespace caldera
