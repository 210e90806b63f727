#include "federation/shape.h"

#include <algorithm>
#include <functional>
#include <tuple>

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
  return {job.kind,
          job.min_available,
          job.tasks,
          job.replicated_jobs,
          job.topology,
          job.clusters,
          job.running_estimate,
          job.ties,
          job.split,
          job.rendezvous,
          job.max_clusters,
          job.min_shard,
          job.max_distance,
          job.min_runtime,
          job.preemptible,
          job.elastic};
}

Job ToJob(const JobSpec& spec) {
  Job job;
  job.kind = spec.kind;
  job.min_available = spec.min_available;
  job.tasks = spec.tasks;
  job.replicated_jobs = spec.replicated_jobs;
  job.topology = spec.topology;
  job.clusters = spec.clusters;
  job.running_estimate = spec.running_estimate;
  job.ties = spec.ties;
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
  for (const Task& task : spec.tasks) {
    hasher.Mix(static_cast<uint64_t>(task.replicas));
    hasher.Mix(task.request);
  }
  for (const std::string& name : spec.clusters.names) {
    hasher.Mix(name);
  }
  return hasher.value();
}

std::vector<size_t> ShapeOrder(const JobSpec& spec) {
  std::vector<size_t> order;
  for (size_t t = 0; t < spec.tasks.size(); ++t) {
    if (spec.tasks[t].replicas > 0) {
      order.push_back(t);
    }
  }
  const auto key = [&](size_t t) {
    const Task& task = spec.tasks[t];
    return std::tie(task.request, task.replicas, task.nodes, task.partition);
  };
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return key(a) < key(b); });
  return order;
}

Shape ShapeOf(const JobSpec& spec) {
  Shape shape;
  const std::vector<size_t> order = ShapeOrder(spec);
  for (const size_t t : order) {
    const Task& task = spec.tasks[t];
    shape.tasks.push_back({task.request, task.replicas, task.nodes, task.partition});
  }
  shape.topology = spec.topology;
  shape.clusters = spec.clusters;
  shape.split = SplitRulesOf(spec, order);
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
