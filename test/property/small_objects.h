// Objects of which only the size matters, for properties that build their federations themselves.
#pragma once

#include <cstdint>
#include <string>

#include "federation/model.h"

namespace caldera::property {

inline const Time kNow = Time(Millis(1'000'000'000));

inline Cluster SomeCluster(const std::string& name, int64_t cpu) {
  Cluster cluster;
  cluster.name = name;
  cluster.ready = true;
  cluster.has_summary = true;
  cluster.allocatable = {{"cpu", cpu * 1000}, {"pods", 1000}};
  return cluster;
}

inline Job SomeJob(int number, const std::string& queue, int64_t cpu, Time creation) {
  Job job;
  job.key = {"t", "j" + std::to_string(number)};
  job.uid = "u" + std::to_string(number);
  job.creation = creation;
  job.queue = queue;
  Task task;
  task.name = "a";
  task.replicas = 1;
  task.min_available = 1;
  task.request = {{"cpu", cpu * 1000}, {"pods", 1}};
  job.tasks = {task};
  job.min_available = 1;
  job.split = "never";
  return job;
}

}  // namespace caldera::property
