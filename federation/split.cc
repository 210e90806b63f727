#include "federation/split.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "federation/feasibility.h"
#include "federation/split_search.h"

namespace caldera {

bool MaySplit(const Shape& shape) {
  const SplitRules& rules = shape.split;
  if (rules.mode == SplitMode::kNever || !rules.unsafe.empty() || rules.max_clusters == 1 ||
      rules.max_distance == SplitDistance::kCluster) {
    return false;
  }
  auto parts = static_cast<int64_t>(rules.bundles.size());
  int64_t alone = 0;
  std::vector<bool> bundled(shape.tasks.size(), false);
  for (const SplitBundle& bundle : rules.bundles) {
    parts += bundle.count - 1;
    for (const auto& [task, pods] : bundle.parts) {
      bundled[task] = true;
    }
  }
  for (size_t t = 0; t < shape.tasks.size(); ++t) {
    const ShapeTask& task = shape.tasks[t];
    if (bundled[t]) {
      continue;
    }
    (task.replicas == 1 ? alone : parts) +=
        task.partition.total > 0 ? task.partition.total : task.replicas;
  }
  return (parts == 0 ? alone : parts) > 1;
}

SplitSites SitesNow(const State& state, const JobClass& job_class,
                    const std::vector<ClusterView>& clusters, const Limits& limits) {
  SplitSites sites;
  const ClusterConstraint& constraint = state.shape(job_class.shape).clusters;
  for (size_t c = 0; c < clusters.size(); ++c) {
    const ClusterView& view = clusters[c];
    if (!IsAdmitted(view, constraint) || job_class.IsBlocked(view.index)) {
      continue;
    }
    SplitSite site{c, &view, view.free, view.nodes.has_value() ? &*view.nodes : nullptr};
    limits.CapRoom(job_class.tenant, view.index, site.free);
    sites.sites.push_back(std::move(site));
  }
  return sites;
}

SplitSites SitesEmpty(const State& state, const std::vector<ClusterView>& clusters,
                      ShapeIndex shape, const TenantLimits& quotas) {
  SplitSites sites;
  for (size_t c = 0; c < clusters.size(); ++c) {
    const ClusterView& view = clusters[c];
    if (view.lost || !IsAllowed(view, state.shape(shape).clusters)) {
      continue;
    }
    SplitSite site{c, &view, view.allocatable, nullptr};
    if (const auto quota = quotas.in.find(view.index); quota != quotas.in.end()) {
      for (ResourceIndex r = 0; r < quota->second.size(); ++r) {
        site.free.Set(r, std::min(site.free[r], quota->second[r]));
      }
    }
    if (view.nodes.has_value()) {
      site.nodes = &sites.empty_nodes.emplace_back(state, *view.entry);
    }
    sites.sites.push_back(std::move(site));
  }
  return sites;
}

std::vector<SplitPart> SplitOver(const State& state, ShapeIndex shape, const SplitSites& sites) {
  return FindSplit(state, shape, state.shape(shape).split, sites);
}

Reason WhyNoSplit(const State& state, ShapeIndex shape, const SplitSites& sites) {
  const SplitRules& rules = state.shape(shape).split;
  SplitRules without = rules;
  without.max_clusters = 0;
  if (rules.max_clusters > 0) {
    const size_t needed = FindSplit(state, shape, without, sites).size();
    if (needed > 0) {
      const auto allowed = std::to_string(rules.max_clusters);
      return {
          Verdict::kMaxClusters,
          "it needs " + std::to_string(needed) + " clusters, and max-clusters allows " + allowed,
          {{"Job", "", static_cast<int64_t>(needed), 0, rules.max_clusters}}};
    }
  }
  without.max_distance = SplitDistance::kAny;
  const bool near =
      rules.max_distance != SplitDistance::kAny && !FindSplit(state, shape, without, sites).empty();
  without.min_shard = 1;
  const bool small =
      !near && rules.min_shard > 1 && !FindSplit(state, shape, without, sites).empty();
  int64_t pods = 0;
  for (const ShapeTask& task : state.shape(shape).tasks) {
    pods += task.replicas;
  }
  const int64_t room = std::min(PodsWithRoom(state, shape, sites), pods - 1);
  const std::string rest = std::to_string(room) + " of its " + std::to_string(pods) + " pods";
  Reason reason{Verdict::kInsufficientResources, "", {{"Federation", "", pods, 0, room}}};
  if (near) {
    reason.message = "no clusters of one " +
                     std::string(rules.max_distance == SplitDistance::kZone ? "zone" : "region") +
                     " have room for it together, and max-distance allows none further apart";
  } else if (small) {
    reason.message = "no clusters have room for it in shards of at least " +
                     std::to_string(rules.min_shard) + " pods (min-shard)";
  } else {
    reason.message = "split over all clusters that may take it, " + rest + " find room now";
  }
  return reason;
}

bool CouldEverSplit(const State& state, const std::vector<ClusterView>& clusters, ShapeIndex shape,
                    const TenantLimits& quotas) {
  return MaySplit(state.shape(shape)) &&
         !SplitOver(state, shape, SitesEmpty(state, clusters, shape, quotas)).empty();
}

ShapeFacts FactsOfPart(const State& state, ShapeIndex shape, const std::vector<int32_t>& replicas) {
  const ShapeFacts& facts = state.facts(shape);
  ShapeFacts part;
  part.requests = facts.requests;
  part.devices = facts.devices;
  for (size_t t = 0; t < replicas.size(); ++t) {
    part.total.AddTimes(facts.requests[t], replicas[t]);
  }
  for (const ResourceIndex r : facts.requested) {
    if (part.total[r] > 0) {
      part.requested.push_back(r);
    }
  }
  return part;
}

std::vector<NodePool::Task> GangOfPart(const State& state, ShapeIndex shape,
                                       const std::vector<int32_t>& replicas) {
  std::vector<NodePool::Task> gang = GangOf(state.shape(shape), state.facts(shape));
  for (size_t t = 0; t < gang.size(); ++t) {
    gang[t].replicas = replicas[t];
  }
  return gang;
}

}  // namespace caldera
