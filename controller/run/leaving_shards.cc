#include "controller/run/leaving_shards.h"

#include <algorithm>
#include <utility>

namespace caldera {
namespace {

// What the watch showed and what the member says differ for a moment, or the member was not
// reached.
constexpr Millis kAskAgain{2'000};
// Its end is seen sooner; this is for a member that does not answer then.
constexpr Millis kLookAgain{30'000};

}  // namespace

void LeavingShards::Add(const std::string& uid, MemberJob job, Time until, bool had_pods) {
  const bool has_pods = state_.PodsOfMemberJob(job.key, job.cluster) > 0;
  shards_[uid].push_back(
      {++last_number_, std::move(job), until, had_pods || has_pods, false, Time()});
}

Time LeavingShards::Until(const std::string& uid) const {
  Time until;
  if (const auto job = shards_.find(uid); job != shards_.end()) {
    for (const Leaving& shard : job->second) {
      until = std::max(until, shard.until);
    }
  }
  return until;
}

bool LeavingShards::IsSeenRunning(const MemberJob& job) const {
  const auto known = state_.clusters().find(job.cluster);
  if (known == state_.clusters().end()) {
    return false;
  }
  const ClusterEntry& cluster = state_.cluster(known->second);
  if (!cluster.object.has_value() || !cluster.object->ready) {
    return false;  // What is known of its pods may be long past.
  }
  for (auto it = cluster.pods.lower_bound({job.key.ns, ""});
       it != cluster.pods.end() && it->first.first == job.key.ns; ++it) {
    const Pod& pod = it->second;
    if (pod.job == job.key.name && !pod.node.empty() && !pod.terminal) {
      return true;
    }
  }
  return false;
}

std::vector<std::pair<Time, std::string>> LeavingShards::Extend(Time now) {
  std::vector<std::pair<Time, std::string>> extended;
  for (auto& [uid, shards] : shards_) {
    for (Leaving& shard : shards) {
      if (shard.until <= now && IsSeenRunning(shard.job)) {
        shard.until = now + kLookAgain;
        extended.emplace_back(shard.until, uid);
      }
    }
  }
  return extended;
}

std::vector<PodCheck> LeavingShards::TakeChecks(Time now) {
  std::vector<PodCheck> checks;
  for (auto& [uid, shards] : shards_) {
    std::erase_if(shards, [&](const Leaving& shard) { return shard.until <= now; });
    for (Leaving& shard : shards) {
      const bool has_pods = state_.PodsOfMemberJob(shard.job.key, shard.job.cluster) > 0;
      shard.had_pods = shard.had_pods || has_pods;
      if (shard.had_pods && !has_pods && !shard.asked && shard.not_before <= now) {
        shard.asked = true;
        checks.push_back({uid, shard.number, shard.job});
      }
    }
  }
  std::erase_if(shards_, [](const auto& job) { return job.second.empty(); });
  return checks;
}

std::optional<std::string> LeavingShards::Answer(const PodCheck& check, bool gone, Time now) {
  const auto job = shards_.find(check.job_uid);
  if (job == shards_.end()) {
    return std::nullopt;
  }
  const auto shard = std::find_if(job->second.begin(), job->second.end(),
                                  [&](const Leaving& each) { return each.number == check.number; });
  if (shard == job->second.end()) {
    return std::nullopt;
  }
  if (!gone) {
    shard->asked = false;
    shard->not_before = now + kAskAgain;
    return std::nullopt;
  }
  job->second.erase(shard);
  if (job->second.empty()) {
    shards_.erase(job);
  }
  return check.job_uid;
}

Time LeavingShards::NextDue() const {
  Time next;
  for (const auto& [uid, shards] : shards_) {
    for (const Leaving& shard : shards) {
      if (!shard.asked && shard.not_before != Time() &&
          state_.PodsOfMemberJob(shard.job.key, shard.job.cluster) == 0) {
        next = next == Time() ? shard.not_before : std::min(next, shard.not_before);
      }
    }
  }
  return next;
}

}  // namespace caldera
