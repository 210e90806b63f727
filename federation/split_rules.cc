#include "federation/split_rules.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "federation/shape.h"

namespace caldera {

namespace {

SplitMode ModeOf(const std::string& text) {
  if (text == "never") {
    return SplitMode::kNever;
  }
  return text == "allowed" ? SplitMode::kAllowed : SplitMode::kWhenNeeded;
}

SplitDistance DistanceOf(const std::string& text) {
  if (text == "cluster") {
    return SplitDistance::kCluster;
  }
  if (text == "zone") {
    return SplitDistance::kZone;
  }
  return text == "region" ? SplitDistance::kRegion : SplitDistance::kAny;
}

std::string Listed(const std::vector<std::string>& names) {
  std::string text;
  for (size_t i = 0; i < names.size(); ++i) {
    text += (i == 0 ? "" : i + 1 == names.size() ? " and " : ", ") + names[i];
  }
  return text;
}

/// The tasks that dependsOn ties together: the smallest position of each group, by position.
std::vector<size_t> Groups(const JobSpec& spec) {
  std::vector<size_t> group(spec.tasks.size());
  std::iota(group.begin(), group.end(), size_t{0});
  std::map<std::string, size_t> by_name;
  for (size_t t = 0; t < spec.tasks.size(); ++t) {
    by_name.emplace(spec.tasks[t].name, t);
  }
  for (size_t t = 0; t < spec.tasks.size(); ++t) {
    for (const std::string& name : spec.tasks[t].depends_on) {
      const auto other = by_name.find(name);
      if (other == by_name.end()) {
        continue;
      }
      const auto [low, high] = std::minmax(group[t], group[other->second]);
      std::replace(group.begin(), group.end(), size_t{high}, size_t{low});
    }
  }
  return group;
}

/// A child goes as a whole; what is divided is cut as a Job is, yet within its clusters.
std::vector<SplitBundle> BundlesOfChildren(const JobSpec& spec, const std::vector<size_t>& order,
                                           const std::vector<size_t>& group) {
  std::vector<SplitBundle> bundles;
  size_t end = 0;
  for (const ReplicatedJob& job : spec.replicated_jobs) {
    const size_t first = end;
    end += static_cast<size_t>(job.tasks);
    std::map<size_t, SplitBundle> own;
    for (size_t k = 0; k < order.size(); ++k) {
      const size_t t = order[k];
      if (t < first || t >= end) {
        continue;
      }
      const Task& task = spec.tasks[t];
      if (!job.divided) {
        own[first].parts.emplace_back(static_cast<uint32_t>(k), task.replicas / job.replicas);
        own[first].count = job.replicas;
      } else {
        own[group[t]].parts.emplace_back(static_cast<uint32_t>(k), task.replicas);
      }
    }
    for (auto& [key, bundle] : own) {
      if (job.divided && bundle.parts.size() == 1) {
        auto& [k, pods] = bundle.parts.front();
        const PartitionPolicy& partition = spec.tasks[order[k]].partition;
        const int32_t unit = partition.total > 0 ? std::max(partition.size, 1) : 1;
        bundle.single = pods == 1;
        bundle.count = pods / unit;
        pods = unit;
      }
      bundle.clusters = job.clusters;
      bundles.push_back(std::move(bundle));
    }
  }
  return bundles;
}

}  // namespace

std::string SplitUnsafeBy(const JobSpec& spec) {
  if (spec.ties.volumes) {
    return "its volumes are claims of one cluster";
  }
  if (spec.ties.min_success) {
    return "its minSuccess counts pods of all shards, and each cluster sees its own only";
  }
  if (spec.topology.mode == TopologyMode::kHard) {
    return "its networkTopology is hard: all its pods belong in one domain";
  }
  if (!spec.ties.plugins.empty() && spec.rendezvous.empty()) {
    const bool one = spec.ties.plugins.size() == 1;
    return std::string(one ? "plugin " : "plugins ") + Listed(spec.ties.plugins) +
           (one ? " connects" : " connect") +
           " pods of one cluster only, and annotation rendezvous names no address that all reach";
  }
  return "";
}

SplitRules SplitRulesOf(const JobSpec& spec, const std::vector<size_t>& order) {
  SplitRules rules;
  rules.mode = ModeOf(spec.split);
  if (rules.mode == SplitMode::kNever && spec.kind == JobKind::kJob) {
    return rules;
  }
  rules.max_clusters = spec.max_clusters;
  rules.min_shard = std::max(spec.min_shard, 1);
  rules.max_distance = DistanceOf(spec.max_distance);
  const std::vector<size_t> group = Groups(spec);
  if (spec.kind == JobKind::kHyperJob) {
    rules.bundles = BundlesOfChildren(spec, order, group);
    return rules;
  }
  rules.unsafe = SplitUnsafeBy(spec);
  std::map<size_t, SplitBundle> bundles;
  for (size_t k = 0; k < order.size(); ++k) {
    bundles[group[order[k]]].parts.emplace_back(static_cast<uint32_t>(k),
                                                spec.tasks[order[k]].replicas);
  }
  for (auto& [first, bundle] : bundles) {
    if (bundle.parts.size() > 1) {
      rules.bundles.push_back(std::move(bundle));
    }
  }
  if (rules.unsafe.empty() && !rules.bundles.empty() && bundles.size() == 1) {
    rules.unsafe = "dependsOn ties its tasks together, and a shard does not see another's";
  }
  return rules;
}

}  // namespace caldera
