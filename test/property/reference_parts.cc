// Parts of a job, for the reference planner: the rules of the headers of elastic.h and waves.h,
// written again from their words, a pod at a time.
#include <algorithm>

#include "test/property/reference_planner.h"
#include "test/property/reference_state.h"

namespace caldera::property {

namespace {

using Counts = std::vector<int32_t>;

int64_t Sum(const Counts& counts) {
  int64_t sum = 0;
  for (const int32_t count : counts) {
    sum += count;
  }
  return sum;
}

Counts AllOf(const Job& job) {
  Counts counts;
  for (const Task& task : job.tasks) {
    counts.push_back(task.replicas);
  }
  return counts;
}

Counts FloorsOf(const Job& job) {
  Counts counts;
  for (const Task& task : job.tasks) {
    counts.push_back(std::min(task.min_available, task.replicas));
  }
  return counts;
}

/// One pod more, of the first task that lacks one.
bool AddPod(const Job& job, Counts& counts) {
  for (size_t t = 0; t < counts.size(); ++t) {
    if (counts[t] < job.tasks[t].replicas) {
      ++counts[t];
      return true;
    }
  }
  return false;
}

Counts RefFloor(const Job& job) {
  Counts counts = FloorsOf(job);
  if (job.min_available > 0 && job.min_available < Sum(counts)) {
    counts.assign(counts.size(), 0);
  }
  const int64_t least = std::max<int64_t>(job.min_available, 1);
  while (Sum(counts) < least && AddPod(job, counts)) {
  }
  return counts;
}

bool RunsInWaves(const Job& job) {
  const int64_t gang = job.min_available > 0 ? job.min_available : Sum(FloorsOf(job));
  return gang < Sum(AllOf(job)) &&
         std::all_of(job.tasks.begin(), job.tasks.end(), [](const Task& task) {
           return task.replicas == 0 ||
                  std::any_of(task.request.begin(), task.request.end(), [](const auto& entry) {
                    return entry.first != "pods" && entry.second > 0;
                  });
         });
}

bool MayHaveParts(const Job& job) {
  const bool partitioned = std::any_of(job.tasks.begin(), job.tasks.end(), [&](const Task& task) {
    return task.partition.total > 0 && (job.elastic || task.replicas > 0);
  });
  return job.kind == JobKind::kJob && !partitioned && (job.elastic || RunsInWaves(job));
}

/// Its tasks do not all ask for the same.
bool IsMixed(const Job& job) {
  const Task* first = nullptr;
  for (const Task& task : job.tasks) {
    if (task.replicas > 0 && first != nullptr && task.request != first->request) {
      return true;
    }
    first = first == nullptr && task.replicas > 0 ? &task : first;
  }
  return false;
}

RefJob WithCounts(const RefJob& job, const Counts& counts) {
  RefJob part = job;
  for (size_t t = 0; t < counts.size(); ++t) {
    part.object.tasks[t].replicas = counts[t];
  }
  if (!job.object.elastic && IsMixed(job.object)) {
    part.charged_pods = Sum(AllOf(job.object));
  }
  return part;
}

}  // namespace

std::vector<RefJob> RefJob::Parts() const {
  if (!MayHaveParts(object)) {
    return {};
  }
  std::vector<RefJob> parts;
  Counts counts = RefFloor(object);
  do {
    parts.insert(parts.begin(), WithCounts(*this, counts));
  } while (AddPod(object, counts));
  return parts;
}

Shard RefJob::PartOf(Shard whole, const RefJob& part) const {
  whole.min_available = object.min_available;
  for (size_t t = 0; t < whole.tasks.size(); ++t) {
    const int32_t count = part.object.tasks[t].replicas;
    TaskGrant& grant = whole.tasks[t];
    if (object.elastic) {
      grant.replicas = count;
      grant.min_available = std::min(object.tasks[t].min_available, count);
    } else {
      grant.at_once = count;
    }
  }
  whole.requests = part.Requested();
  return whole;
}

/// The cluster that holds most of it, with that part.
std::optional<std::pair<std::string, RefJob>> ReferencePlanner::BestPart(const RefJob& job) {
  for (const RefJob& part : job.Parts()) {
    for (const auto& [name, cluster] : state_.clusters) {
      if (!IsClosed(job, cluster) && cluster.Offers() && RefAllowed(cluster, job.object.clusters) &&
          RefFits(part.Requested(), cluster.free) && RefPacks(cluster.nodes, part.object) &&
          WithinQuota(part, name) && WithinLimits(part)) {
        return std::pair(name, part);
      }
    }
  }
  return std::nullopt;
}

/// A placed job, one of those that are granted replicas, has fewer than it asks for.
bool ReferencePlanner::LacksPods(const RefJob& job) {
  const Job& object = job.object;
  if (!object.elastic || !MayHaveParts(object) || !Resize(job)) {
    return false;
  }
  const Shard& held = job.charge->shards.front();
  const Counts floor = RefFloor(object);
  bool lacks = false;
  for (size_t t = 0; t < object.tasks.size(); ++t) {
    const int32_t replicas = held.tasks[t].replicas;
    if (replicas < floor[t] || replicas > object.tasks[t].replicas) {
      return false;
    }
    lacks = lacks || replicas < object.tasks[t].replicas;
  }
  return lacks;
}

/// The last pass: as many pods more as their clusters hold.
void ReferencePlanner::GrowPlaced(Plan& plan) {
  Jobs growing;
  for (const auto& [key, job] : state_.jobs) {
    if (LacksPods(job)) {
      growing.push_back(&job);
    }
  }
  SortByPriority(growing);
  for (const RefJob* job : growing) {
    const Shard& held = job->charge->shards.front();
    Counts counts;
    for (const TaskGrant& grant : held.tasks) {
      counts.push_back(grant.replicas);
    }
    std::vector<Counts> larger;
    while (AddPod(job->object, counts)) {
      larger.insert(larger.begin(), counts);
    }
    for (const Counts& wanted : larger) {
      const RefJob all = WithCounts(*job, wanted);
      RefJob more = all;
      more.charge.reset();
      for (size_t t = 0; t < wanted.size(); ++t) {
        more.object.tasks[t].replicas = wanted[t] - held.tasks[t].replicas;
      }
      if (CanGrow(more, held.cluster)) {
        Commit(more, held.cluster);
        Action action = Whole(*job, held.cluster);
        action.action = ActionKind::kGrow;
        action.shards = {job->PartOf(held, all)};
        action.rank = static_cast<int32_t>(plan.actions.size()) + 1;
        plan.actions.push_back(std::move(action));
        break;
      }
    }
  }
}

}  // namespace caldera::property
