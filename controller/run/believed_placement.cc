#include "controller/run/believed_placement.h"

#include <algorithm>
#include <limits>

#include "federation/excerpt.h"
#include "federation/render.h"

namespace caldera {
namespace {

// The rules of annotation `placement`.
bool GoesTogether(const Shard& shard) {
  return shard.Pods() > 0 && shard.Pods() <= std::numeric_limits<int32_t>::max() &&
         shard.min_available <= shard.Pods() &&
         std::all_of(shard.tasks.begin(), shard.tasks.end(),
                     [](const TaskGrant& task) { return task.min_available <= task.replicas; });
}

}  // namespace

const WorkView* FindWorkOf(const WorksOfJob& works, const std::string& uid, const Shard& shard) {
  const auto it = works.find({ExecutionNamespace(shard.cluster), WorkName(uid, shard.child)});
  return it == works.end() || it->second.epoch != shard.epoch ? nullptr : &it->second;
}

std::vector<Shard> PlacementOf(const WorksOfJob& works) {
  int64_t epoch = 0;
  for (const auto& [key, work] : works) {
    epoch = std::max(epoch, work.epoch);
  }
  std::vector<std::pair<int64_t, Shard>> shards;
  int64_t count = 1;
  for (const auto& [key, work] : works) {
    if (work.epoch == epoch && !work.deleting) {
      Shard shard{work.cluster, work.epoch, work.child, work.grants, work.min_available, {}};
      if (GoesTogether(shard)) {
        shards.emplace_back(work.index, std::move(shard));
      }
      count = std::max(count, work.shards);
    }
  }
  if (static_cast<int64_t>(shards.size()) != count) {
    return {};
  }
  std::sort(shards.begin(), shards.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<Shard> placement;
  placement.reserve(shards.size());
  for (auto& [index, shard] : shards) {
    placement.push_back(std::move(shard));
  }
  return placement;
}

std::string WhyNotBelieved(const std::vector<Shard>& annotation, const std::string& uid,
                           const WorksOfJob& works, const std::set<std::string>* clusters) {
  for (const Shard& shard : annotation) {
    if (FindWorkOf(works, uid, shard) != nullptr) {
      continue;
    }
    const std::string cluster = Excerpt(shard.cluster);
    if (clusters == nullptr) {
      return "names cluster " + cluster + " and epoch " + std::to_string(shard.epoch) +
             ", of which there is no Work";
    }
    if (!clusters->contains(shard.cluster)) {
      return "names cluster " + cluster + ", which is not there";
    }
  }
  return {};
}

}  // namespace caldera
