#include "federation/waves.h"

#include <algorithm>

namespace caldera {

namespace {

constexpr std::string_view kPods = "pods";

/// Some amount that a capability can hold.
bool AsksForSomething(const Task& task) {
  return std::any_of(task.request.begin(), task.request.end(),
                     [](const auto& entry) { return entry.first != kPods && entry.second > 0; });
}

/// Pods of that request that fit in `room`, at most `most`.
int64_t HowMany(const ResourceList& request, const ResourceList& room, int64_t most) {
  int64_t count = std::max<int64_t>(most, 0);
  for (const auto& [name, amount] : request) {
    if (amount > 0) {
      const auto left = room.find(name);
      count = std::min(count, left == room.end() ? 0 : std::max<int64_t>(left->second, 0) / amount);
    }
  }
  return count;
}

}  // namespace

bool MayRunInWaves(const JobSpec& spec) {
  if (spec.kind != JobKind::kJob) {
    return false;
  }
  int64_t pods = 0;
  int64_t floors = 0;
  for (const Task& task : spec.tasks) {
    pods += task.replicas;
    floors += task.min_available;
  }
  const int64_t gang = spec.min_available > 0 ? spec.min_available : floors;
  return gang < pods && std::all_of(spec.tasks.begin(), spec.tasks.end(), [](const Task& task) {
           return task.replicas == 0 || (task.partition.total == 0 && AsksForSomething(task));
         });
}

bool HasTasksOf(const JobSpec& spec, const Shard& shard) {
  return std::equal(
      spec.tasks.begin(), spec.tasks.end(), shard.tasks.begin(), shard.tasks.end(),
      [](const Task& task, const TaskGrant& grant) { return task.name == grant.name; });
}

ResourceList GrantOf(const JobSpec& spec, const std::vector<int32_t>& at_once) {
  ResourceList grant;
  int64_t now = 0;
  int64_t all = 0;
  const Task* first = nullptr;
  bool alike = true;
  for (size_t t = 0; t < at_once.size(); ++t) {
    const Task& task = spec.tasks[t];
    AddTo(grant, Times(task.request, std::max(at_once[t], 0)));
    now += at_once[t];
    if (task.replicas > 0) {
      all += task.replicas;
      first = first == nullptr ? &task : first;
      alike = alike && task.request == first->request;
    }
  }
  if (const auto pods = grant.find(kPods); pods != grant.end() && !alike && now > 0) {
    pods->second = all;
  }
  std::erase_if(grant, [](const auto& entry) { return entry.second <= 0; });
  return grant;
}

std::vector<int32_t> CountsOf(const Shard& shard) {
  std::vector<int32_t> counts;
  counts.reserve(shard.tasks.size());
  for (const TaskGrant& grant : shard.tasks) {
    counts.push_back(grant.AtOnce());
  }
  return counts;
}

std::vector<int64_t> PodsToStart(const JobSpec& spec, const Shard& shard,
                                 const std::vector<SeenPods>& seen) {
  ResourceList room = shard.requests;
  const auto take = [&](const Task& task, int64_t pods) {
    for (const auto& [name, amount] : Times(task.request, pods)) {
      room[name] = SaturatingSub(room[name], amount);
    }
  };
  for (size_t t = 0; t < seen.size(); ++t) {
    take(spec.tasks[t], seen[t].running);
  }
  std::vector<int64_t> start(seen.size(), 0);
  const auto add = [&](size_t t, int64_t most) {
    const Task& task = spec.tasks[t];
    const int64_t left = shard.tasks[t].replicas - seen[t].running - seen[t].finished - start[t];
    const int64_t more = HowMany(task.request, room, std::min(most, left));
    take(task, more);
    start[t] += more;
  };
  for (size_t t = 0; t < seen.size(); ++t) {
    add(t, shard.tasks[t].AtOnce() - seen[t].running);
  }
  for (size_t t = 0; t < seen.size(); ++t) {
    add(t, shard.tasks[t].replicas);
  }
  return start;
}

}  // namespace caldera
