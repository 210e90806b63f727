// A job of the reference planner, also one that is a HyperJob.
#include <algorithm>

#include "test/property/reference_state.h"

namespace caldera::property {

namespace {

/// The tasks from `first` to `end`, each with one part in `parts` of its pods.
Shard ShardOf(const Job& object, size_t first, size_t end, int32_t parts) {
  Shard shard;
  for (size_t t = first; t < end; ++t) {
    const Task& task = object.tasks[t];
    shard.tasks.push_back({task.name, task.replicas / parts, task.min_available / parts});
    AddTo(shard.requests, Times(task.request, task.replicas / parts));
  }
  std::erase_if(shard.requests, [](const auto& entry) { return entry.second == 0; });
  return shard;
}

/// All children of a HyperJob: one of each template that is divided, since all goes to one cluster.
std::vector<Shard> WholeChildren(const Job& object) {
  std::vector<Shard> children;
  size_t first = 0;
  for (const ReplicatedJob& job : object.replicated_jobs) {
    const size_t end = first + static_cast<size_t>(job.tasks);
    const int32_t count = job.divided ? std::min(job.replicas, 1) : job.replicas;
    for (int32_t c = 0; c < count; ++c) {
      Shard child = ShardOf(object, first, end, count);
      child.child = job.name + "-" + std::to_string(c);
      child.min_available = job.min_available;
      const bool floors = std::any_of(child.tasks.begin(), child.tasks.end(),
                                      [](const TaskGrant& task) { return task.min_available > 0; });
      if (job.divided && floors) {
        child.min_available = std::max(child.min_available, 1);
      }
      children.push_back(std::move(child));
    }
    first = end;
  }
  return children;
}

}  // namespace

ResourceList RefJob::Total() const {
  ResourceList total;
  for (const Task& task : object.tasks) {
    AddTo(total, Times(task.request, task.replicas));
  }
  if (charged_pods.has_value() && At(total, "pods") > 0) {
    total["pods"] = *charged_pods;
  }
  return total;
}

JobKey RefJob::MemberKey(const std::string& child) const {
  return {object.key.ns, object.key.name + (child.empty() ? "" : "-" + child)};
}

std::set<JobKey> RefJob::MemberKeys() const {
  if (object.kind == JobKind::kJob) {
    return {object.key};
  }
  constexpr int kMostParts = 16;  // More than a world has clusters.
  std::set<JobKey> keys;
  for (const ReplicatedJob& job : object.replicated_jobs) {
    for (int i = 0; i < (job.divided ? kMostParts : job.replicas); ++i) {
      keys.insert(MemberKey(job.name + "-" + std::to_string(i)));
    }
  }
  return keys;
}

bool RefJob::MayGoTo(const RefCluster& cluster) const {
  size_t first = 0;
  bool may = RefAllowed(cluster, object.clusters);
  for (const ReplicatedJob& job : object.replicated_jobs) {
    const size_t end = first + static_cast<size_t>(job.tasks);
    bool pods = false;
    for (size_t t = first; t < end; ++t) {
      pods = pods || object.tasks[t].replicas > 0;
    }
    may = may && (!pods || job.clusters.empty() ||
                  std::count(job.clusters.begin(), job.clusters.end(), cluster.object.name) > 0);
    first = end;
  }
  return may;
}

std::string RefJob::QueueName() const { return object.queue.empty() ? "default" : object.queue; }

ResourceList RefJob::Requested() const {
  ResourceList total = Total();
  std::erase_if(total, [](const auto& entry) { return entry.second <= 0; });
  return total;
}

std::vector<TaskReport> RefJob::Reports() const {
  const bool stale = object.reported < std::chrono::floor<std::chrono::seconds>(charge->at);
  return stale ? std::vector<TaskReport>() : object.reports;
}

std::vector<Shard> RefJob::WholeIn(const std::string& cluster) const {
  std::vector<Shard> shards;
  if (object.kind == JobKind::kHyperJob) {
    shards = WholeChildren(object);
  } else {
    shards = {ShardOf(object, 0, object.tasks.size(), 1)};
    shards.front().min_available = object.min_available;
  }
  for (Shard& shard : shards) {
    shard.cluster = cluster;
    shard.epoch = last_epoch + 1;
  }
  return shards;
}

}  // namespace caldera::property
