#include "federation/invariants_grants.h"

#include <algorithm>
#include <set>

#include "federation/amounts.h"

namespace caldera {

namespace {

/// Of the pods that run at once.
ResourceList RequestsOf(const JobSpec& spec, const Shard& shard) {
  ResourceList requests;
  for (const TaskGrant& grant : shard.tasks) {
    for (const Task& task : spec.tasks) {
      if (task.name == grant.name) {
        AddTo(requests, Times(task.request, grant.AtOnce()));
      }
    }
  }
  std::erase_if(requests, [](const auto& entry) { return entry.second == 0; });
  return requests;
}

/// Most jobs have one task: no list is made for them.
bool IsTimes(const ResourceList& sums, const ResourceList& request, int32_t replicas) {
  auto sum = sums.begin();
  for (const auto& [resource, amount] : request) {
    const int64_t all = SaturatingMul(amount, replicas);
    if (all == 0) {
      continue;
    }
    if (sum == sums.end() || sum->first != resource || sum->second != all) {
      return false;
    }
    ++sum;
  }
  return sum == sums.end();
}

bool IsWithin(const ResourceList& list, const ResourceList& other) {
  return std::all_of(list.begin(), list.end(), [&](const auto& entry) {
    const auto found = other.find(entry.first);
    return found != other.end() && entry.second <= found->second;
  });
}

/// Pods of different sizes: small ones may run in the place of large ones.
bool AreUnlike(const JobSpec& spec) {
  std::set<ResourceList> sizes;
  for (const Task& task : spec.tasks) {
    if (task.replicas > 0) {
      sizes.insert(task.request);
    }
  }
  return sizes.size() > 1;
}

class WavesCheck {
 public:
  std::vector<std::string> Run(const JobSpec& spec, const JobEntry& job, const Action& action) {
    const Shard& shard = action.shards.front();
    Expect(action.shards.size() == 1 && spec.kind == JobKind::kJob, "waves are for one shard");
    CheckCounts(spec, shard);
    ResourceList requests = RequestsOf(spec, shard);
    if (AreUnlike(spec)) {
      requests["pods"] = shard.Pods();
    }
    ResourceList most = requests;
    if (job.charge.has_value()) {
      for (const auto& [name, amount] : job.charge->shards.front().requests) {
        most[name] = std::max(most[name], amount);
      }
    }
    Expect(IsWithin(requests, shard.requests), "it is charged for less than its pods ask for");
    Expect(IsWithin(shard.requests, most), "it is charged for more than its pods ask for");
    return std::move(broken_);
  }

 private:
  void CheckCounts(const JobSpec& spec, const Shard& shard) {
    int64_t at_once = 0;
    int64_t floors = 0;
    int64_t smallest = 0;
    for (size_t t = 0; t < std::min(spec.tasks.size(), shard.tasks.size()); ++t) {
      const Task& task = spec.tasks[t];
      const TaskGrant& grant = shard.tasks[t];
      Expect(grant.AtOnce() >= 0 && grant.AtOnce() <= grant.replicas,
             "of " + task.name + " runs at once what it does not have");
      Expect(task.partition.total == 0, "partitions of " + task.name + " would run in waves");
      at_once += grant.AtOnce();
      const int32_t floor = std::min(task.min_available, task.replicas);
      floors += floor;
      smallest += std::min(grant.AtOnce(), floor);
    }
    const bool each = spec.min_available <= 0 || spec.min_available >= floors;
    Expect(at_once >= std::min<int64_t>(spec.min_available, shard.Pods()) &&
               (!each || smallest == floors),
           "fewer pods run at once than must start together");
  }

  void Expect(bool holds, const std::string& what) {
    if (!holds) {
      broken_.push_back(what);
    }
  }

  std::vector<std::string> broken_;
};

}  // namespace

std::vector<std::string> BrokenInCut(const JobSpec& spec, const Shard& held, const Shard& wanted,
                                     Time now) {
  std::vector<std::string> broken;
  bool fewer = false;
  bool more = false;
  for (size_t t = 0; t < std::min(held.tasks.size(), wanted.tasks.size()); ++t) {
    fewer = fewer || wanted.tasks[t].AtOnce() < held.tasks[t].AtOnce();
    more = more || wanted.tasks[t].AtOnce() > held.tasks[t].AtOnce();
  }
  if (!fewer || more) {
    broken.emplace_back("it makes room and keeps what it has");
  }
  if (!held.InWaves() && !spec.elastic) {
    broken.emplace_back("it does not say that it can be shrunk");
  }
  if (wanted.shrunk != now) {
    broken.emplace_back("it is not said when it was shrunk");
  }
  if (held.InWaves() &&
      (wanted.requests != held.requests ||
       !std::equal(held.tasks.begin(), held.tasks.end(), wanted.tasks.begin(), wanted.tasks.end(),
                   [](const auto& a, const auto& b) { return a.replicas == b.replicas; }))) {
    broken.emplace_back("pods in waves that are to end are charged until they have");
  }
  return broken;
}

bool MayGrowAgain(const JobSpec& spec, const Shard& held, Time now) {
  if (held.shrunk == Time() || now >= held.shrunk + std::chrono::minutes(5)) {
    return true;
  }
  // Somebody edited it since.
  for (size_t t = 0; t < std::min(spec.tasks.size(), held.tasks.size()); ++t) {
    const Task& task = spec.tasks[t];
    const TaskGrant& grant = held.tasks[t];
    if (task.replicas < grant.replicas || task.min_available > grant.AtOnce() ||
        (held.InWaves() &&
         (task.replicas != grant.replicas || task.min_available != grant.min_available))) {
      return true;
    }
  }
  return spec.min_available != held.min_available;
}

bool AsksForItsPods(const JobSpec& spec, const Shard& shard) {
  if (spec.tasks.size() == 1 && shard.tasks.size() == 1 &&
      shard.tasks[0].name == spec.tasks[0].name) {
    return IsTimes(shard.requests, spec.tasks[0].request, shard.tasks[0].replicas);
  }
  return RequestsOf(spec, shard) == shard.requests;
}

std::vector<std::string> BrokenInWaves(const JobSpec& spec, const JobEntry& job,
                                       const Action& action) {
  return WavesCheck().Run(spec, job, action);
}

}  // namespace caldera
