#include "test/property/world_children.h"

#include <algorithm>
#include <utility>

#include "test/property/draws.h"

namespace caldera::property {

namespace {

/// A template, with its tasks.
void AddTemplate(const std::string& name, const std::function<Task(const std::string&)>& any_task,
                 Job& job) {
  ReplicatedJob replicated;
  replicated.name = name;
  replicated.replicas = OneIn(8) ? 0 : 1 + Pick(3);
  replicated.divided = OneIn(2);
  if (OneIn(4)) {
    replicated.clusters = {ClusterName(Pick(kClusters)), "c2"};
  }
  replicated.tasks = 1 + Pick(2);
  for (int t = 0; t < replicated.tasks; ++t) {
    Task task = any_task(name + (t == 0 ? "/a" : "/b"));
    if (t == 0 && task.replicas == 0) {
      task.replicas = 1;  // A template of no pods is refused.
    }
    replicated.min_available += task.min_available * (replicated.divided ? replicated.replicas : 1);
    job.min_available += task.min_available * replicated.replicas;
    task.replicas *= replicated.replicas;
    task.min_available *= replicated.replicas;
    task.partition.total *= replicated.replicas;
    task.partition.minimum *= replicated.replicas;
    job.tasks.push_back(std::move(task));
  }
  job.replicated_jobs.push_back(std::move(replicated));
}

}  // namespace

Job AnyHyperJob(Job job, const std::function<Task(const std::string&)>& any_task) {
  job.kind = JobKind::kHyperJob;
  job.tasks.clear();
  job.min_available = 0;
  job.topology = {};
  job.ties = {};
  job.split = OneOf({"allowed", "allowed", "when-needed", "never"});
  for (int t = 1 + Pick(2); t > 0; --t) {
    AddTemplate("r" + std::to_string(t), any_task, job);
  }
  for (TaskReport& report : job.reports) {
    report.task = "r1/a";
  }
  return job;
}

std::vector<Shard> AnyChildren(const Job& job, int64_t epoch) {
  std::vector<Shard> shards;
  size_t first = 0;
  for (const ReplicatedJob& replicated : job.replicated_jobs) {
    const size_t end = first + static_cast<size_t>(replicated.tasks);
    const int32_t count =
        replicated.divided ? std::min(replicated.replicas, 1) : replicated.replicas;
    for (int32_t c = 0; c < count; ++c) {
      Shard& shard = shards.emplace_back();
      shard.cluster = ClusterName(Pick(kClusters));
      shard.epoch = epoch;
      shard.child = replicated.name + "-" + std::to_string(c);
      for (size_t t = first; t < end; ++t) {
        const int32_t replicas = job.tasks[t].replicas / count;
        shard.tasks.push_back({job.tasks[t].name, replicas, replicas});
        shard.min_available += replicas;
      }
    }
    first = end;
  }
  return shards;
}

}  // namespace caldera::property
