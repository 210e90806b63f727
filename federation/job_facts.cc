#include "federation/job_facts.h"

#include <algorithm>
#include <numeric>

namespace caldera {
namespace {

// Positions of the tasks, higher priority first, else as listed.
std::vector<size_t> ByPriority(const Job& job, const std::vector<int32_t>& priorities) {
  std::vector<size_t> order(job.tasks.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const auto priority = [&](size_t i) { return i < priorities.size() ? priorities[i] : 0; };
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return priority(a) > priority(b); });
  return order;
}

// Takes up to `wanted` pods of a task into `sum`, no more than are left to count.
void Count(const Task& task, int64_t wanted, int64_t& left, ResourceList& sum) {
  const int64_t pods = std::min(wanted, left);
  if (pods > 0) {
    AddTo(sum, Times(task.request, pods));
    left -= pods;
  }
}

ResourceList FloorResources(const Job& job, const std::vector<int32_t>& priorities) {
  int64_t task_floors = 0;
  for (const Task& task : job.tasks) {
    task_floors += task.min_available;
  }
  ResourceList sum;
  int64_t left = job.min_available;
  const std::vector<size_t> order = ByPriority(job, priorities);
  const bool first_come = job.min_available < task_floors;
  for (const size_t i : order) {
    Count(job.tasks[i], first_come ? job.tasks[i].replicas : job.tasks[i].min_available, left, sum);
  }
  for (const size_t i : order) {
    Count(job.tasks[i], first_come ? 0 : job.tasks[i].replicas - job.tasks[i].min_available, left,
          sum);
  }
  return sum;
}

}  // namespace

JobFacts MakeJobFacts(const Job& job, const std::vector<int32_t>& priorities) {
  JobFacts facts;
  facts.min_member = job.min_available;
  facts.topology = job.topology;
  for (const Task& task : job.tasks) {
    facts.min_task_member[task.name] = task.min_available;
    facts.per_pod[task.name] = task.request;
    AddTo(facts.full, Times(task.request, task.replicas));
    if (task.partition.total > 0) {
      facts.sub_groups.push_back(
          {task.name, task.partition.size, task.partition.minimum, task.partition.topology});
    }
  }
  facts.minimum = FloorResources(job, priorities);
  facts.min_resources = facts.minimum;
  return facts;
}

}  // namespace caldera
