#include "federation/shape.h"

#include <algorithm>
#include <functional>

namespace caldera {

namespace {

class Hasher {
 public:
  void Mix(uint64_t value) {
    value_ ^= value + 0x9e3779b97f4a7c15U + (value_ << 6U) + (value_ >> 2U);
  }
  void Mix(const std::string& text) { Mix(std::hash<std::string>()(text)); }
  void Mix(const ResourceList& list) {
    for (const auto& [name, amount] : list) {
      Mix(name);
      Mix(static_cast<uint64_t>(amount));
    }
  }
  [[nodiscard]] size_t value() const { return value_; }

 private:
  size_t value_ = 0;
};

}  // namespace

JobSpec SpecOf(const Job& job) {
  return {job.kind,         job.queue,       job.priority_class, job.min_available,
          job.tasks,        job.topology,    job.clusters,       job.running_estimate,
          job.split,        job.rendezvous,  job.max_clusters,   job.min_shard,
          job.max_distance, job.min_runtime, job.preemptible,    job.elastic};
}

Job ToJob(const JobSpec& spec) {
  Job job;
  job.kind = spec.kind;
  job.queue = spec.queue;
  job.priority_class = spec.priority_class;
  job.min_available = spec.min_available;
  job.tasks = spec.tasks;
  job.topology = spec.topology;
  job.clusters = spec.clusters;
  job.running_estimate = spec.running_estimate;
  job.split = spec.split;
  job.rendezvous = spec.rendezvous;
  job.max_clusters = spec.max_clusters;
  job.min_shard = spec.min_shard;
  job.max_distance = spec.max_distance;
  job.min_runtime = spec.min_runtime;
  job.preemptible = spec.preemptible;
  job.elastic = spec.elastic;
  return job;
}

// The fields in which specs commonly differ; equality settles the rest.
size_t HashOf(const JobSpec& spec) {
  Hasher hasher;
  hasher.Mix(spec.queue);
  hasher.Mix(spec.priority_class);
  for (const Task& task : spec.tasks) {
    hasher.Mix(static_cast<uint64_t>(task.replicas));
    hasher.Mix(task.request);
  }
  for (const std::string& name : spec.clusters.names) {
    hasher.Mix(name);
  }
  return hasher.value();
}

Shape ShapeOf(const JobSpec& spec) {
  Shape shape;
  for (const Task& task : spec.tasks) {
    if (task.replicas > 0) {
      shape.tasks.push_back({task.request, task.replicas, task.nodes, task.partition});
    }
  }
  std::sort(shape.tasks.begin(), shape.tasks.end());
  shape.topology = spec.topology;
  shape.clusters = spec.clusters;
  return shape;
}

size_t HashOf(const Shape& shape) {
  Hasher hasher;
  for (const ShapeTask& task : shape.tasks) {
    hasher.Mix(static_cast<uint64_t>(task.replicas));
    hasher.Mix(task.request);
  }
  for (const std::string& name : shape.clusters.names) {
    hasher.Mix(name);
  }
  return hasher.value();
}

ShapeFacts FactsOf(const Shape& shape, ResourceCatalog& resources) {
  ShapeFacts facts;
  ResourceList total;
  facts.requests.reserve(shape.tasks.size());
  for (const ShapeTask& task : shape.tasks) {
    facts.requests.push_back(ToVector(resources, task.request));
    AddTo(total, Times(task.request, task.replicas));
  }
  facts.total = ToVector(resources, total);
  for (const auto& [name, amount] : total) {
    if (amount > 0) {
      facts.requested.push_back(resources.Find(name));
      facts.devices = facts.devices || IsDevice(name);
    }
  }
  return facts;
}

}  // namespace caldera
