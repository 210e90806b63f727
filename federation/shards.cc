#include "federation/shards.h"

#include <algorithm>

#include "federation/assert.h"
#include "federation/children.h"
#include "federation/divide.h"
#include "federation/waves.h"

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

/// What its pods ask for, by its replicas; its tasks are those of the job from `first` on.
void SetRequests(const JobSpec& spec, Shard& shard, size_t first = 0) {
  shard.requests.clear();
  for (size_t t = 0; t < shard.tasks.size(); ++t) {
    AddTo(shard.requests, Times(spec.tasks[first + t].request, shard.tasks[t].replicas));
  }
  std::erase_if(shard.requests, [](const auto& entry) { return entry.second == 0; });
}

/// Pods of a HyperJob in one cluster, by task of the spec.
struct Place {
  std::string cluster;
  std::vector<int32_t> pods;
};

/// The minAvailable of a task over shards with so many of its pods.
std::vector<int64_t> DivideFloor(const Task& task, const std::vector<int32_t>& replicas) {
  const bool partitions = task.partition.total > 0 && task.partition.minimum > 0;
  return DivideFloor(task.min_available, replicas,
                     partitions ? std::max(task.partition.size, 1) : 1);
}

/// The children of one template, whose tasks begin at `first`.
class Children {
 public:
  Children(const JobSpec& spec, const ReplicatedJob& job, size_t first,
           const std::vector<Place>& places)
      : spec_(spec), job_(job), first_(first), places_(places) {}

  std::vector<Shard> Make() {
    if (job_.replicas > 0) {
      job_.divided ? Divide() : Distribute();
    }
    for (Shard& child : children_) {
      SetRequests(spec_, child, first_);
    }
    return std::move(children_);
  }

 private:
  [[nodiscard]] size_t End() const { return first_ + static_cast<size_t>(job_.tasks); }

  void Add(const Place& place) {
    Shard& child = children_.emplace_back();
    child.cluster = place.cluster;
    child.child = ChildName(job_, static_cast<int64_t>(children_.size()) - 1);
    child.min_available = job_.min_available;
  }

  /// Whole children, as many in each place as the pods there are.
  void Distribute() {
    size_t t = first_;
    while (t < End() && spec_.tasks[t].replicas == 0) {
      ++t;
    }
    CALDERA_ASSERT(t < End());  // Intake refuses a template of no pods.
    for (const Place& place : places_) {
      const int32_t count = place.pods[t] / (spec_.tasks[t].replicas / job_.replicas);
      for (int32_t i = 0; i < count; ++i) {
        Add(place);
        for (size_t own = first_; own < End(); ++own) {
          const Task& task = spec_.tasks[own];
          children_.back().tasks.push_back(
              {task.name, task.replicas / job_.replicas, task.min_available / job_.replicas});
        }
      }
    }
  }

  /// One for each place that has pods of it.
  void Divide() {
    std::vector<const Place*> places;
    for (const Place& place : places_) {
      if (std::any_of(place.pods.begin() + static_cast<std::ptrdiff_t>(first_),
                      place.pods.begin() + static_cast<std::ptrdiff_t>(End()),
                      [](int32_t pods) { return pods > 0; })) {
        places.push_back(&place);
      }
    }
    for (const Place* place : places) {
      Add(*place);
    }
    for (size_t t = first_; t < End(); ++t) {
      std::vector<int32_t> replicas;
      replicas.reserve(places.size());
      for (const Place* place : places) {
        replicas.push_back(place->pods[t]);
      }
      const std::vector<int64_t> floors = DivideFloor(spec_.tasks[t], replicas);
      for (size_t s = 0; s < children_.size(); ++s) {
        children_[s].tasks.push_back(
            {spec_.tasks[t].name, replicas[s], static_cast<int32_t>(floors[s])});
      }
    }
    DivideMinAvailable(job_.min_available, children_);
  }

  const JobSpec& spec_;
  const ReplicatedJob& job_;
  const size_t first_;
  const std::vector<Place>& places_;
  std::vector<Shard> children_;
};

/// All children of a HyperJob, template by template.
std::vector<Shard> ChildShards(const JobSpec& spec, int64_t epoch,
                               const std::vector<Place>& places) {
  std::vector<Shard> shards;
  size_t first = 0;
  for (const ReplicatedJob& job : spec.replicated_jobs) {
    for (Shard& child : Children(spec, job, first, places).Make()) {
      child.epoch = epoch;
      shards.push_back(std::move(child));
    }
    first += static_cast<size_t>(job.tasks);
  }
  return shards;
}

}  // namespace

void SetCounts(const JobSpec& spec, const std::vector<int32_t>& counts, Shard& shard) {
  const bool waves = shard.InWaves() || !spec.elastic;
  shard.min_available = spec.min_available;
  for (size_t t = 0; t < counts.size(); ++t) {
    TaskGrant& task = shard.tasks[t];
    if (!waves) {
      task.replicas = counts[t];
      // Where the job's floor is below those of its tasks, Volcano leaves them out of account, but
      // takes none above the replicas.
      task.min_available = std::min(spec.tasks[t].min_available, counts[t]);
    } else {
      task.at_once = counts[t];
    }
  }
  if (!waves) {
    SetRequests(spec, shard);
  } else {
    shard.requests = GrantOf(spec, counts);
  }
}

std::vector<Shard> WholeShards(const State& state, const JobEntry& job,
                               const std::string& cluster) {
  const JobSpec& spec = state.spec(job);
  if (spec.kind == JobKind::kHyperJob) {
    Place place{cluster, {}};
    for (const Task& task : spec.tasks) {
      place.pods.push_back(task.replicas);
    }
    return ChildShards(spec, job.rare().last_epoch + 1, {place});
  }
  Shard shard;
  shard.cluster = cluster;
  shard.epoch = job.rare().last_epoch + 1;
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
  const std::vector<size_t> order = ShapeOrder(spec);
  if (spec.kind == JobKind::kHyperJob) {
    std::vector<Place> places;
    for (const SplitPart& part : parts) {
      Place& place = places.emplace_back();
      place.cluster = clusters[part.cluster].name();
      place.pods.assign(spec.tasks.size(), 0);
      for (size_t k = 0; k < order.size(); ++k) {
        place.pods[order[k]] = part.replicas[k];
      }
    }
    return ChildShards(spec, job.rare().last_epoch + 1, places);
  }
  std::vector<Shard> shards(parts.size());
  for (size_t s = 0; s < parts.size(); ++s) {
    shards[s].cluster = clusters[parts[s].cluster].name();
    shards[s].epoch = job.rare().last_epoch + 1;
    for (const Task& task : spec.tasks) {
      shards[s].tasks.push_back({task.name, 0, 0});
    }
  }
  for (size_t k = 0; k < order.size(); ++k) {
    const Task& task = spec.tasks[order[k]];
    std::vector<int32_t> replicas;
    replicas.reserve(parts.size());
    for (const SplitPart& part : parts) {
      replicas.push_back(part.replicas[k]);
    }
    const std::vector<int64_t> floors = DivideFloor(task, replicas);
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
