// What each cluster has, who uses it, and what is left: the summary, our own pods that it does not
// show yet, and the nodes where they are given. Derived from a State at its `now`.
//   free    = allocatable - allocated - max(allocating, on top)
//   foreign = max(0, allocated - (own charged - on top))
//   the federation's total = sum of (allocatable - foreign) over the clusters that are not lost
#pragma once

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include "federation/node_pool.h"
#include "federation/state.h"

namespace caldera {

struct ClusterView {
  const ClusterEntry* entry = nullptr;
  ClusterIndex index = kNoIndex;
  /// Going, or not Ready for so long (or nobody knows how long) that nobody is entitled to it.
  bool lost = false;
  ResourceVector allocatable;
  ResourceVector allocated;
  ResourceVector on_top;
  ResourceVector foreign;
  ResourceVector free;  ///< What it offers: nothing while it is not Ready.
  /// Its nodes with what is on them, where nodes are given.
  std::optional<NodePool> nodes;

  [[nodiscard]] const Cluster& object() const { return *entry->object; }
  [[nodiscard]] const std::string& name() const { return entry->name; }
  /// Ready and not going.
  [[nodiscard]] bool Offers() const { return object().ready && !object().deleting; }
};

/// The view of that cluster in a list of them, or nullptr.
template <typename Views>
auto* FindView(Views& views, std::string_view name) {
  const auto it = std::find_if(views.begin(), views.end(),
                               [&](const ClusterView& view) { return view.name() == name; });
  return it == views.end() ? nullptr : &*it;
}

/// What is free once the summary has caught up with our placements: until then what they hold may
/// be taken off twice.
ResourceVector FreeInTime(const State& state, const ClusterView& view);

/// Every cluster that is there, by name.
/// Of the summary's `allocating`, what may start as soon as it finds a node: without our pods that
/// a Queue of waves holds back.
ResourceVector Allocating(const State& state, const ClusterEntry& cluster);

std::vector<ClusterView> ViewClusters(const State& state);

/// Sum over the clusters that are not lost.
ResourceVector FederationTotal(const std::vector<ClusterView>& clusters);

}  // namespace caldera
