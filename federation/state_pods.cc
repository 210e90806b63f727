// Pods of members by the Job that they are of: where they are left over, that job cannot go.
#include <algorithm>
#include <string>

#include "federation/children.h"
#include "federation/state.h"

namespace caldera {

/// Visits the clusters where pods of its own Jobs are, a cluster once for each of those.
template <typename Visit>
void State::VisitPods(const JobEntry& entry, Visit visit) const {
  const JobSpec& spec = specs_[entry.spec];
  const bool hyper = spec.kind == JobKind::kHyperJob;
  const std::string first = hyper ? entry.key.name + "-" : entry.key.name;
  for (auto it = pods_of_.lower_bound({entry.key.ns, first}); it != pods_of_.end(); ++it) {
    const JobKey& job = it->first;
    if (job.ns != entry.key.ns || (hyper ? !job.name.starts_with(first) : job.name != first)) {
      return;
    }
    if (!hyper || IsChildJob(spec, entry.key.name, job.name)) {
      for (const auto& [cluster, count] : it->second) {
        visit(cluster, count);
      }
    }
  }
}

void State::CountPod(const Pod& pod, ClusterIndex cluster, int64_t count) {
  if (pod.job.empty()) {
    return;
  }
  const JobKey key{pod.ns, pod.job};
  auto& clusters = pods_of_[key];
  const int64_t now = clusters[cluster] += count;
  if (now == 0) {
    clusters.erase(cluster);
  }
  if (clusters.empty()) {
    pods_of_.erase(key);
  }
  const bool changed = now == 0 || now == count;  // The last one went, or the first one came.
  if (changed) {
    RequeueOwner(key);
  }
}

int64_t State::PodsOf(const JobEntry& job, ClusterIndex cluster) const {
  int64_t pods = 0;
  VisitPods(job, [&](ClusterIndex where, int64_t count) { pods += where == cluster ? count : 0; });
  return pods;
}

int64_t State::PodsOfMemberJob(const JobKey& member_job, const std::string& cluster) const {
  const auto pods = pods_of_.find(member_job);
  const auto known = cluster_names_.find(cluster);
  if (pods == pods_of_.end() || known == cluster_names_.end()) {
    return 0;
  }
  const auto there = pods->second.find(known->second);
  return there == pods->second.end() ? 0 : there->second;
}

/// Whoever has a Job of that name in the members: where it may go has changed.
void State::RequeueOwner(const JobKey& member_job) {
  const auto requeue = [&](JobIndex index) {
    Dequeue(index);
    Enqueue(index);
  };
  if (const JobIndex job = FindJob(member_job, JobKind::kJob); job != kNoIndex) {
    requeue(job);
  }
  const std::string& name = member_job.name;
  for (size_t dash = name.find('-'); dash != std::string::npos; dash = name.find('-', dash + 1)) {
    const JobKey parent{member_job.ns, name.substr(0, dash)};
    const JobIndex job = FindJob(parent, JobKind::kHyperJob);
    if (job != kNoIndex && IsChildJob(specs_[jobs_[job].spec], parent.name, name)) {
      requeue(job);
    }
  }
}

/// The clusters that are refused to it now; notes when the first comes back.
std::vector<ClusterIndex> State::BlockedFor(JobEntry& entry) {
  std::vector<ClusterIndex> blocked;
  Time first;
  for (const ClusterBackoff& backoff : entry.rare().backoffs) {
    if (backoff.until > now_) {
      blocked.push_back(ClusterOf(backoff.cluster));
      first = first == Time() ? backoff.until : std::min(first, backoff.until);
    }
  }
  if (first != entry.rare().backs_off) {
    entry.EditRare([first](RareFacts& facts) { facts.backs_off = first; });
  }
  VisitPods(entry, [&](ClusterIndex cluster, int64_t /*count*/) { blocked.push_back(cluster); });
  std::sort(blocked.begin(), blocked.end());
  blocked.erase(std::unique(blocked.begin(), blocked.end()), blocked.end());
  return blocked;
}

}  // namespace caldera
