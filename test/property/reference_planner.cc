#include "test/property/reference_planner.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "federation/amounts.h"
#include "federation/shards.h"
#include "federation/split.h"

namespace caldera::property {

namespace {

State Folded(const std::vector<Change>& changes) {
  State state;
  for (const Change& change : changes) {
    state.Apply(change);
  }
  return state;
}

/// The job as if it had only the pods that it gets in one cluster.
RefJob PartIn(RefJob job, const std::string& cluster, const std::vector<Shard>& shards) {
  for (Task& task : job.object.tasks) {
    task.replicas = 0;
    for (const Shard& shard : shards) {
      for (const TaskGrant& grant : shard.tasks) {
        task.replicas += shard.cluster == cluster && grant.name == task.name ? grant.replicas : 0;
      }
    }
  }
  return job;
}

bool Older(const RefJob* a, const RefJob* b) {
  return std::tie(a->object.creation, a->object.uid, a->object.key) <
         std::tie(b->object.creation, b->object.uid, b->object.key);
}

}  // namespace

ReferencePlanner::ReferencePlanner(const std::vector<Change>& exported)
    : real_(Folded(exported)),
      views_(ViewClusters(real_)),
      state_(exported),
      queues_(state_, real_),
      order_(queues_) {
  for (const auto& [key, job] : state_.jobs) {
    for (const Shard& shard : job.charge ? job.charge->shards : std::vector<Shard>()) {
      AddTo(tenants_[job.object.key.ns], shard.requests);
      AddTo(tenants_in_[{job.object.key.ns, shard.cluster}], shard.requests);
    }
  }
}

bool ReferencePlanner::Within(const std::string& queue, const RefJob& job) const {
  const ResourceList held = order_.HeldBelow(queue);
  const bool idle =
      std::all_of(held.begin(), held.end(), [](const auto& entry) { return entry.second == 0; });
  if (idle) {
    return true;
  }
  const RefQueue& facts = order_.at(queue);
  const ResourceList requested = job.Requested();
  return std::all_of(requested.begin(), requested.end(), [&](const auto& entry) {
    const auto& [resource, amount] = entry;
    const ResourceList& limit = IsDevice(resource) ? facts.within : facts.deserved;
    return resource == "pods" || SaturatingAdd(At(held, resource), amount) <= At(limit, resource);
  });
}

/// Each tenant's oldest job of the highest priority speaks for it.
const RefJob* ReferencePlanner::BestInLeaf(const Jobs& jobs) const {
  std::map<std::string, const RefJob*> oldest;
  int64_t highest = std::numeric_limits<int64_t>::min();
  for (const RefJob* job : jobs) {
    highest = std::max(highest, *queues_.Priority(*job));
  }
  for (const RefJob* job : jobs) {
    if (*queues_.Priority(*job) == highest) {
      const RefJob*& speaker = oldest[job->object.key.ns];
      speaker = speaker == nullptr || Older(job, speaker) ? job : speaker;
    }
  }
  const RefJob* best = nullptr;
  for (const auto& [tenant, job] : oldest) {
    const int64_t share = TenantShare(*job);
    const int64_t least = best == nullptr ? 0 : TenantShare(*best);
    if (best == nullptr || share < least || (share == least && Older(job, best))) {
      best = job;
    }
  }
  return best;
}

const RefJob* ReferencePlanner::Best(const std::string& queue, const Jobs& jobs) const {
  const RefQueue& facts = order_.at(queue);
  if (facts.children.empty()) {
    Jobs own;
    std::copy_if(jobs.begin(), jobs.end(), std::back_inserter(own),
                 [&](const RefJob* job) { return job->QueueName() == queue; });
    return BestInLeaf(own);
  }
  const RefJob* best = nullptr;
  std::string best_child;
  const auto rank = [&](const std::string& child, const RefJob& job) {
    const Queue& object = state_.queues.at(child);
    return std::tuple(!Within(child, job), -int64_t{object.priority}, QueueShare(child, job),
                      object.creation, child);
  };
  for (const std::string& child : facts.children) {
    const RefJob* job = Best(child, jobs);
    if (job != nullptr && (best == nullptr || rank(child, *job) < rank(best_child, *best))) {
      best = job;
      best_child = child;
    }
  }
  return best;
}

// ------------------------------------------------------------------------------------ limits

bool ReferencePlanner::WithinQuota(const RefJob& job, const std::string& cluster) const {
  const auto overall = tenants_.find(job.object.key.ns);
  const auto here = tenants_in_.find({job.object.key.ns, cluster});
  for (const TenantQuota& quota : state_.quotas) {
    if (quota.tenant != job.object.key.ns) {
      continue;
    }
    for (const auto& [resource, amount] : job.Requested()) {
      const int64_t used = overall == tenants_.end() ? 0 : At(overall->second, resource);
      const int64_t used_here = here == tenants_in_.end() ? 0 : At(here->second, resource);
      const auto part = quota.per_cluster.find(cluster);
      if (used + amount > LimitAt(quota.overall, resource) ||
          (part != quota.per_cluster.end() &&
           used_here + amount > LimitAt(part->second, resource))) {
        return false;
      }
    }
  }
  return true;
}

bool ReferencePlanner::WithinLimits(const RefJob& job) {
  const ResourceList total = queues_.Total();
  for (const auto& [resource, amount] : job.Requested()) {
    for (const std::string& name : queues_.Chain(job.QueueName())) {
      const int64_t own = state_.queues.contains(name)
                              ? LimitAt(state_.queues.at(name).capability, resource)
                              : kUnlimited;
      if (At(queues_.ChargedBelow(name), resource) + amount > own && own != kUnlimited) {
        return false;
      }
    }
    // Guarantees: what the queues keep in all must still fit once the job is in.
    std::map<std::string, int64_t> before;
    for (const std::string& name : queues_.Chain(job.QueueName())) {
      before[name] = queues_.Hold(name, resource);
    }
    int64_t& held = queues_.at(job.QueueName()).held[resource];
    held += amount;
    bool fits = true;
    for (const std::string& name : queues_.Chain(job.QueueName())) {
      const int64_t limit = name == "root"
                                ? std::min(At(total, resource), queues_.Capability(name, resource))
                                : queues_.Capability(name, resource);
      const int64_t after = queues_.Hold(name, resource);
      const bool idle = after > At(queues_.HeldBelow(name), resource);
      fits = fits && (after <= before[name] || after <= limit || !idle);
    }
    held -= amount;
    if (!fits) {
      return false;
    }
  }
  return true;
}

// ----------------------------------------------------------------------------------- clusters

/// It backs off for the job, or pods of such a name are there.
bool ReferencePlanner::IsClosed(const RefJob& job, const RefCluster& cluster) const {
  const auto& backoffs = job.object.backoffs;
  return std::any_of(backoffs.begin(), backoffs.end(),
                     [&](const ClusterBackoff& backoff) {
                       return backoff.cluster == cluster.object.name && backoff.until > state_.now;
                     }) ||
         std::any_of(cluster.pods.begin(), cluster.pods.end(), [&](const Pod& pod) {
           return job.MemberKeys().contains({pod.ns, pod.job});
         });
}

std::string ReferencePlanner::BestCluster(const RefJob& job) const {
  const ResourceList requested = job.Requested();
  const bool devices = std::any_of(requested.begin(), requested.end(),
                                   [](const auto& entry) { return IsDevice(entry.first); });
  std::string best;
  std::tuple<Int128, Int128> best_left;
  std::tuple<size_t, int64_t, std::string> best_rest;
  const auto names = job.object.clusters.names;
  for (const auto& [name, cluster] : state_.clusters) {
    if (IsClosed(job, cluster) || !cluster.Offers() || !job.MayGoTo(cluster) ||
        !RefFits(requested, cluster.free) || !WithinQuota(job, name) ||
        !RefPacks(cluster.nodes, job.object)) {
      continue;
    }
    Int128 part = 0;
    Int128 whole = 1;
    for (const auto& [resource, amount] : requested) {
      if (resource == "pods" || (devices && !IsDevice(resource))) {
        continue;
      }
      const Int128 left = At(cluster.free, resource) - amount;
      const Int128 all = At(cluster.allocatable, resource);
      if (left * whole > part * all) {
        part = left;
        whole = all;
      }
    }
    const std::tuple rest(
        static_cast<size_t>(std::find(names.begin(), names.end(), name) - names.begin()),
        cluster.object.cost, name);
    const auto& [least_part, least_whole] = best_left;
    if (best.empty() || part * least_whole < least_part * whole ||
        (part * least_whole == least_part * whole && rest < best_rest)) {
      best = name;
      best_left = {part, whole};
      best_rest = rest;
    }
  }
  return best;
}

/// An action without shards where it is not split.
Action ReferencePlanner::Split(const RefJob& job) {
  Action action = Whole(job, "");
  action.shards.clear();
  const JobEntry& entry = real_.job(real_.FindJob(job.object.key));
  const Shape& shape = real_.shape(entry.shape);
  if (!MaySplit(shape) || (shape.split.mode != SplitMode::kAllowed && queues_.FitsSome(job))) {
    return action;
  }
  for (const TenantQuota& quota : state_.quotas) {
    for (const auto& [resource, amount] : job.Requested()) {
      if (quota.tenant == job.object.key.ns &&
          At(tenants_[quota.tenant], resource) + amount > LimitAt(quota.overall, resource)) {
        return action;
      }
    }
  }
  SplitSites sites;
  for (size_t c = 0; c < views_.size(); ++c) {
    const std::string& name = views_[c].name();
    const RefCluster& cluster = state_.clusters.at(name);
    if (!cluster.Offers() || !RefAllowed(cluster, job.object.clusters) || IsClosed(job, cluster)) {
      continue;
    }
    SplitSite site{c, &views_[c], views_[c].free,
                   views_[c].nodes.has_value() ? &*views_[c].nodes : nullptr};
    for (const TenantQuota& quota : state_.quotas) {
      const auto part = quota.per_cluster.find(name);
      if (quota.tenant != job.object.key.ns || part == quota.per_cluster.end()) {
        continue;
      }
      for (const auto& [resource, limit] : part->second) {
        const ResourceIndex r = real_.resources().Find(resource);
        const int64_t left = limit - At(tenants_in_[{job.object.key.ns, name}], resource);
        site.free.Set(r, std::min(site.free[r], left));
      }
    }
    sites.sites.push_back(std::move(site));
  }
  const std::vector<SplitPart> parts = SplitOver(real_, entry.shape, sites);
  if (!parts.empty()) {
    action.shards = SplitShards(real_, entry, parts, views_);
  }
  return action;
}

/// Charges one shard: `job` is the part of it.
void ReferencePlanner::Commit(const RefJob& job, const std::string& cluster) {
  for (ClusterView& view : views_) {
    if (view.name() == cluster) {
      std::vector<NodePool::Task> gang;
      for (const Task& task : job.object.tasks) {
        gang.push_back({&task.nodes, AmountsIn(real_, task.request), task.replicas});
        view.free.AddTimes(gang.back().request, -task.replicas);
      }
      if (view.nodes.has_value()) {
        // The pool remembers constraints by address, and these do not live long enough.
        for (NodePool::Task& task : gang) {
          task.nodes = &kept_.emplace_back(*task.nodes);
        }
        view.nodes->Pack(gang);
      }
    }
  }
  RefCluster& target = state_.clusters.at(cluster);
  Take(target.free, job.Total());
  if (!target.nodes.empty()) {
    RefPack(target.nodes, GangOfJob(job.object));
  }
  queues_.Charge(job, cluster, job.Total());
  AddTo(tenants_[job.object.key.ns], job.Total());
  AddTo(tenants_in_[{job.object.key.ns, cluster}], job.Total());
}

Action ReferencePlanner::Whole(const RefJob& job, const std::string& cluster) {
  const Job& object = job.object;
  const auto unchecked = [](const NetworkTopology& topology) {
    return topology.mode == TopologyMode::kSoft ||
           (topology.mode == TopologyMode::kHard && topology.highest_tier.has_value());
  };
  Action action;
  action.job = object.key;
  action.uid = object.uid;
  action.kind = object.kind;
  action.queue = job.QueueName();
  action.topology_unchecked = unchecked(object.topology);
  action.shards = job.WholeIn(cluster);
  return action;
}

/// The action that a placed job's edited counts ask for; its reason and rank are left out.
std::optional<Action> ReferencePlanner::Resize(const RefJob& job) {
  const Job& object = job.object;
  if (!job.charge || object.kind != JobKind::kJob || object.suspended || object.claimed_elsewhere ||
      job.charge->shards.size() != 1 ||
      job.charge->shards.front().tasks.size() != object.tasks.size()) {
    return std::nullopt;
  }
  const Shard& held = job.charge->shards.front();
  Action action = Whole(job, held.cluster);
  Shard& wanted = action.shards.front();
  wanted.epoch = held.epoch;
  action.action = ActionKind::kShrink;
  ResourceList charged;
  for (size_t t = 0; t < object.tasks.size(); ++t) {
    if (held.tasks[t].name != wanted.tasks[t].name) {
      return std::nullopt;
    }
    AddTo(charged, Times(object.tasks[t].request, held.tasks[t].replicas));
    if (wanted.tasks[t].replicas > held.tasks[t].replicas) {
      action.action = ActionKind::kGrow;
    }
  }
  const auto present = [](ResourceList list) {
    std::erase_if(list, [](const auto& entry) { return entry.second == 0; });
    return list;
  };
  wanted.requests = present(wanted.requests);
  const bool same = wanted.tasks == held.tasks && wanted.min_available == held.min_available;
  return same || present(charged) != present(held.requests) ? std::nullopt : std::optional(action);
}

/// `more`: the job as if only the pods that are added waited.
bool ReferencePlanner::CanGrow(const RefJob& more, const std::string& cluster) {
  const auto target = state_.clusters.find(cluster);
  return queues_.IsCandidate(more) && WithinLimits(more) && target != state_.clusters.end() &&
         target->second.Offers() && RefAllowed(target->second, more.object.clusters) &&
         RefFits(more.Requested(), target->second.free) && WithinQuota(more, cluster) &&
         RefPacks(target->second.nodes, more.object);
}

void ReferencePlanner::ResizePlaced(Plan& plan) {
  Jobs placed;
  for (const auto& [key, job] : state_.jobs) {
    if (Resize(job)) {
      placed.push_back(&job);
    }
  }
  std::sort(placed.begin(), placed.end(), Older);
  std::stable_sort(placed.begin(), placed.end(), [&](const RefJob* a, const RefJob* b) {
    const auto rank = [&](const RefJob& job) {
      const bool grows = Resize(job)->action == ActionKind::kGrow;
      return std::pair(grows, grows ? -queues_.Priority(job).value_or(0) : 0);
    };
    return rank(*a) < rank(*b);
  });
  for (const RefJob* job : placed) {
    const Action action = *Resize(*job);
    const Shard& held = job->charge->shards.front();
    RefJob more = *job;
    more.charge.reset();
    for (size_t t = 0; t < more.object.tasks.size(); ++t) {
      int32_t& replicas = more.object.tasks[t].replicas;
      replicas = std::max(replicas - held.tasks[t].replicas, 0);
    }
    if (action.action == ActionKind::kGrow) {
      if (LacksPods(*job) || !CanGrow(more, held.cluster)) {
        continue;
      }
      Commit(more, held.cluster);
    }
    plan.actions.push_back(action);
    plan.actions.back().rank = static_cast<int32_t>(plan.actions.size());
  }
}

void ReferencePlanner::SortByPriority(Jobs& jobs) const {
  std::sort(jobs.begin(), jobs.end(), Older);
  std::stable_sort(jobs.begin(), jobs.end(), [&](const RefJob* a, const RefJob* b) {
    return queues_.Priority(*a).value_or(0) > queues_.Priority(*b).value_or(0);
  });
}

Plan ReferencePlanner::Decide() {
  Jobs waiting;
  for (const auto& [key, job] : state_.jobs) {
    if (queues_.IsCandidate(job)) {
      waiting.push_back(&job);
    }
  }
  Plan plan{state_.now, {}};
  ResizePlaced(plan);
  // Whom a limit keeps back from the start does not compete.
  std::erase_if(waiting, [&](const RefJob* job) {
    return !IsFifo(job->QueueName()) && job->Parts().empty() &&
           !(WithinLimits(*job) && WithinQuota(*job, ""));
  });
  while (const RefJob* job = Best("root", waiting)) {
    const bool may_go = WithinLimits(*job);
    const std::string cluster = may_go ? BestCluster(*job) : "";
    std::erase(waiting, job);
    Action action = !cluster.empty() ? Whole(*job, cluster) : may_go ? Split(*job) : Action();
    if (const auto some = action.shards.empty() ? BestPart(*job) : std::nullopt) {
      const auto& [target, part] = *some;
      Commit(part, target);
      order_.Charge(part, target, part.Total());
      action = Whole(*job, target);
      action.shards = {job->PartOf(action.shards.front(), part)};
      plan.actions.push_back(std::move(action));
      plan.actions.back().rank = static_cast<int32_t>(plan.actions.size());
    } else if (!action.shards.empty()) {
      std::set<std::string> clusters;
      for (const Shard& shard : action.shards) {
        if (clusters.insert(shard.cluster).second) {
          const RefJob part = PartIn(*job, shard.cluster, action.shards);
          Commit(part, shard.cluster);
          order_.Charge(part, shard.cluster, part.Total());
        }
      }
      plan.actions.push_back(std::move(action));
      plan.actions.back().rank = static_cast<int32_t>(plan.actions.size());
    } else if (IsFifo(job->QueueName())) {
      std::erase_if(waiting, [&](const RefJob* j) { return j->QueueName() == job->QueueName(); });
    }
  }
  GrowPlaced(plan);
  return plan;
}

bool ReferencePlanner::IsFifo(const std::string& queue) const {
  return state_.queues.at(queue).dequeue_strategy == DequeueStrategy::kFifo;
}

std::vector<JobKey> ReferencePlanner::NeedlesslyWaiting() {
  std::map<std::string, Jobs> waiting;
  for (const auto& [key, job] : state_.jobs) {
    if (queues_.IsCandidate(job)) {
      waiting[job.QueueName()].push_back(&job);
    }
  }
  std::vector<JobKey> needless;
  for (auto& [queue, jobs] : waiting) {
    if (IsFifo(queue)) {
      jobs = {BestInLeaf(jobs)};  // It holds the others back.
    }
    for (const RefJob* job : jobs) {
      if (BestPart(*job) ||
          (WithinLimits(*job) && (!BestCluster(*job).empty() || !Split(*job).shards.empty()))) {
        needless.push_back(job->object.key);
      }
    }
  }
  return needless;
}

}  // namespace caldera::property
