#include "federation/shards.h"

#include <algorithm>

#include "federation/divide.h"

namespace caldera {

namespace {

/// `floor` of a task over its shards, in units of `unit` pods.
std::vector<int64_t> DivideFloor(int64_t floor, const std::vector<int32_t>& replicas,
                                 int64_t unit) {
  std::vector<Claim> claims;
  claims.reserve(replicas.size());
  for (const int32_t count : replicas) {
    claims.push_back({count / unit, count / unit});
  }
  std::vector<int64_t> floors = DivideByWeight(floor / unit, claims);
  for (int64_t& each : floors) {
    each *= unit;
  }
  return floors;
}

/// The job's minAvailable over the shards, whose tasks' floors are there already.
void DivideMinAvailable(int32_t min_available, std::vector<Shard>& shards) {
  int64_t all_floors = 0;
  std::vector<int64_t> floors;
  std::vector<int64_t> pods;
  for (const Shard& shard : shards) {
    floors.push_back(0);
    pods.push_back(shard.Pods());
    for (const TaskGrant& task : shard.tasks) {
      floors.back() += task.min_available;
    }
    all_floors += floors.back();
  }
  // Below the sum of its tasks' floors, Volcano leaves those out of account.
  const bool counts = min_available >= all_floors;
  int64_t left = min_available;
  std::vector<Claim> claims;
  for (size_t s = 0; s < shards.size(); ++s) {
    const int64_t least = counts ? floors[s] : std::min<int64_t>(floors[s], 1);
    shards[s].min_available = static_cast<int32_t>(least);
    left -= least;
    claims.push_back({pods[s] - least, pods[s] - least});
  }
  const std::vector<int64_t> more = DivideByWeight(std::max<int64_t>(left, 0), claims);
  for (size_t s = 0; s < shards.size(); ++s) {
    shards[s].min_available += static_cast<int32_t>(more[s]);
  }
}

/// What its pods ask for, by its replicas.
void SetRequests(const JobSpec& spec, Shard& shard) {
  shard.requests.clear();
  for (size_t t = 0; t < spec.tasks.size(); ++t) {
    AddTo(shard.requests, Times(spec.tasks[t].request, shard.tasks[t].replicas));
  }
  std::erase_if(shard.requests, [](const auto& entry) { return entry.second == 0; });
}

}  // namespace

void SetReplicas(const JobSpec& spec, const std::vector<int32_t>& replicas, Shard& shard) {
  for (size_t t = 0; t < replicas.size(); ++t) {
    shard.tasks[t].replicas = replicas[t];
  }
  shard.min_available = spec.min_available;
  SetRequests(spec, shard);
}

std::vector<Shard> WholeShards(const State& state, const JobEntry& job,
                               const std::string& cluster) {
  const JobSpec& spec = state.spec(job);
  Shard shard;
  shard.cluster = cluster;
  shard.epoch = job.last_epoch + 1;
  for (const Task& task : spec.tasks) {
    shard.tasks.push_back({task.name, task.replicas, task.min_available});
  }
  shard.min_available = spec.min_available;
  shard.requests = ToList(state.resources(), state.facts(job.shape).total);
  return {shard};
}

std::vector<Shard> SplitShards(const State& state, const JobEntry& job,
                               const std::vector<SplitPart>& parts,
                               const std::vector<ClusterView>& clusters) {
  const JobSpec& spec = state.spec(job);
  std::vector<Shard> shards(parts.size());
  for (size_t s = 0; s < parts.size(); ++s) {
    shards[s].cluster = clusters[parts[s].cluster].name();
    shards[s].epoch = job.last_epoch + 1;
    for (const Task& task : spec.tasks) {
      shards[s].tasks.push_back({task.name, 0, 0});
    }
  }
  const std::vector<size_t> order = ShapeOrder(spec);
  for (size_t k = 0; k < order.size(); ++k) {
    const Task& task = spec.tasks[order[k]];
    std::vector<int32_t> replicas;
    replicas.reserve(parts.size());
    for (const SplitPart& part : parts) {
      replicas.push_back(part.replicas[k]);
    }
    const bool partitions = task.partition.total > 0 && task.partition.minimum > 0;
    const int64_t unit = partitions ? std::max(task.partition.size, 1) : 1;
    const std::vector<int64_t> floors = DivideFloor(task.min_available, replicas, unit);
    for (size_t s = 0; s < parts.size(); ++s) {
      shards[s].tasks[order[k]].replicas = replicas[s];
      shards[s].tasks[order[k]].min_available = static_cast<int32_t>(floors[s]);
    }
  }
  DivideMinAvailable(spec.min_available, shards);
  for (Shard& shard : shards) {
    SetRequests(spec, shard);
  }
  return shards;
}

}  // namespace caldera
