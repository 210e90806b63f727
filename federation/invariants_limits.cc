#include "federation/invariants_limits.h"

#include <algorithm>

#include "federation/amounts.h"
#include "federation/entitlement.h"

namespace caldera {

namespace {

/// The first resource that `added` asks for and of which `used` is above the limit, as a complaint.
void Complain(const State& state, const ResourceLimits& limits, const ResourceVector& used,
              const ResourceVector& added, std::vector<std::string>& broken) {
  for (ResourceIndex r = 0; r < added.size(); ++r) {
    if (added[r] > 0 && limits[r] != kUnlimited && used[r] > limits[r]) {
      broken.push_back(state.resources().Name(r) + " is " + std::to_string(used[r]) + " of " +
                       std::to_string(limits[r]));
    }
  }
}

template <typename... Parts>
void Prefix(std::vector<std::string>& broken, size_t from, const Parts&... what) {
  for (size_t k = from; k < broken.size(); ++k) {
    std::string prefix;
    (prefix.append(what), ...);
    broken[k] = prefix + ": " + broken[k];
  }
}

}  // namespace

LimitCheck::LimitCheck(const State& state)
    : state_(state),
      chains_(state.queues().size()),
      children_(state.queues().size()),
      capabilities_(state.queues().size()),
      guarantees_(state.queues().size()),
      parents_(state.queues().size(), false),
      used_(state.queues().size()),
      held_before_(state.queues().size()) {
  const QueueIndex root = state.queues().find(kRootQueue)->second;
  for (const auto& [name, queue] : state.queues()) {
    const std::vector<QueueIndex>& chain = Chain(queue);
    if (queue != root) {
      children_[chain.empty() ? root : chain[1]].push_back(queue);
    }
    if (chain.size() > 1) {
      parents_[chain[1]] = true;
    }
    if (const auto& object = state.queue(queue).object; object.has_value()) {
      capabilities_[queue] = LimitsIn(state, object->capability);
      guarantees_[queue] = AmountsIn(state, object->guarantee);
    }
    const ResourceVector charged = state.queue(queue).charged.ToVector();
    held_before_[queue] = charged;
    if (chain.empty()) {
      used_[queue].Add(charged);
      used_[root].Add(charged);
    }
    for (const QueueIndex above : chain) {
      used_[above].Add(charged);
    }
  }
  for (const auto& [name, cluster] : state.clusters()) {
    if (CountsFor(cluster)) {
      continue;
    }
    for (const JobIndex job : state.cluster(cluster).jobs) {
      for (const Shard& shard : state.job(job).charge->shards) {
        if (shard.cluster == name) {
          held_before_[state.job(job).charge_queue].Subtract(AmountsIn(state, shard.requests));
        }
      }
    }
  }
  held_ = held_before_;
}

const std::vector<QueueIndex>& LimitCheck::Chain(QueueIndex queue) {
  std::vector<QueueIndex>& chain = chains_[queue];
  if (!chain.empty()) {
    return chain;
  }
  QueueIndex at = queue;
  while (chain.size() <= state_.queues().size() && state_.queue(at).object.has_value()) {
    chain.push_back(at);
    if (state_.queue(at).name == kRootQueue) {
      return chain;
    }
    const std::string& parent = state_.queue(at).object->parent;
    const auto it = state_.queues().find(parent.empty() ? std::string(kRootQueue) : parent);
    if (it == state_.queues().end()) {
      break;
    }
    at = it->second;
  }
  chain.clear();
  return chain;
}

bool LimitCheck::IsLeaf(QueueIndex queue) const {
  return !parents_[queue] && state_.queue(queue).name != kRootQueue;
}

std::vector<std::string> LimitCheck::Charge(const JobEntry& job, const Shard& shard) {
  std::vector<std::string> broken;
  const ResourceVector requests = AmountsIn(state_, shard.requests);
  const ClusterIndex cluster = state_.clusters().find(shard.cluster)->second;
  // What it does not ask for may be overcommitted there.
  for (ResourceIndex r = 0; r < requests.size(); ++r) {
    if (requests[r] > 0 && requests[r] > Free(cluster)[r]) {
      broken.push_back("cluster " + shard.cluster + " has no room for its " +
                       state_.resources().Name(r));
    }
  }
  Free(cluster).Subtract(requests);
  UsedByTenant(job.tenant).Add(requests);
  if (AnyAssignment(job.tenant, cluster)) {
    UsedByTenantIn(job.tenant, cluster).Add(requests);
  }
  for (const Quota& quota : QuotasOf(job.tenant)) {
    size_t from = broken.size();
    Complain(state_, quota.overall, UsedByTenant(job.tenant), requests, broken);
    Prefix(broken, from, "quota ", *quota.name);
    const auto assigned = quota.per_cluster.find(cluster);
    if (assigned != quota.per_cluster.end()) {
      from = broken.size();
      Complain(state_, assigned->second, UsedByTenantIn(job.tenant, cluster), requests, broken);
      Prefix(broken, from, "quota ", *quota.name, " in ", shard.cluster);
    }
  }
  for (const QueueIndex queue : Chain(job.queue)) {
    const size_t from = broken.size();
    used_[queue].Add(requests);
    Complain(state_, capabilities_[queue], used_[queue], requests, broken);
    Prefix(broken, from, "capability of queue ", state_.queue(queue).name);
  }
  held_[job.queue].Add(requests);
  charged_.Add(requests);
  return broken;
}

const std::vector<LimitCheck::Quota>& LimitCheck::QuotasOf(TenantIndex tenant) {
  const auto [it, added] = quotas_.try_emplace(tenant);
  if (added) {
    for (const auto& [name, quota] : state_.tenant(tenant).quotas) {
      Quota& mine = it->second.emplace_back(Quota{&name, LimitsIn(state_, quota.overall), {}});
      for (const auto& [cluster, limits] : quota.per_cluster) {
        mine.per_cluster[state_.clusters().find(cluster)->second] = LimitsIn(state_, limits);
      }
    }
  }
  return it->second;
}

bool LimitCheck::AnyAssignment(TenantIndex tenant, ClusterIndex cluster) {
  const std::vector<Quota>& quotas = QuotasOf(tenant);
  return std::any_of(quotas.begin(), quotas.end(),
                     [&](const Quota& quota) { return quota.per_cluster.contains(cluster); });
}

ResourceVector& LimitCheck::Free(ClusterIndex cluster) {
  const auto [it, added] = free_.try_emplace(cluster);
  if (!added) {
    return it->second;
  }
  ResourceVector& free = it->second;
  const ClusterEntry& entry = state_.cluster(cluster);
  if (!entry.object->has_summary && !entry.nodes.empty()) {
    for (const auto& [name, node] : entry.nodes) {
      free.Add(CapacityIn(state_, node.allocatable));
    }
    for (const auto& [key, pod] : entry.pods) {
      if (!pod.node.empty() && !pod.terminal) {
        free.Subtract(AmountsIn(state_, pod.requests));
      }
    }
    return free;
  }
  free = CapacityIn(state_, entry.object->allocatable);
  const ResourceVector allocated = AmountsIn(state_, entry.object->allocated);
  const ResourceVector allocating = AmountsIn(state_, entry.object->allocating);
  for (ResourceIndex r = 0; r < state_.resources().size(); ++r) {
    const int64_t starting = SaturatingSub(allocating[r], entry.held_back[r]);
    const int64_t taken = SaturatingAdd(allocated[r], std::max(starting, entry.on_top[r]));
    free.Set(r, std::max<int64_t>(SaturatingSub(free[r], taken), 0));
  }
  return free;
}

ResourceVector& LimitCheck::UsedByTenant(TenantIndex tenant) {
  const auto [it, added] = tenants_.try_emplace(tenant);
  if (added) {
    it->second = state_.tenant(tenant).charged.ToVector();
  }
  return it->second;
}

ResourceVector& LimitCheck::UsedByTenantIn(TenantIndex tenant, ClusterIndex cluster) {
  const auto [it, added] = tenants_in_.try_emplace({tenant, cluster});
  const auto& charged = state_.tenant(tenant).charged_in;
  if (const auto known = charged.find(cluster); added && known != charged.end()) {
    it->second = known->second.ToVector();
  }
  return it->second;
}

bool LimitCheck::CountsFor(ClusterIndex cluster) const {
  const auto& object = state_.cluster(cluster).object;
  if (!object.has_value() || object->deleting) {
    return false;
  }
  return object->ready ||
         (object->ready_changed != Time() &&
          state_.now() - object->ready_changed <= state_.settings().cluster_lost_after);
}

ResourceVector LimitCheck::Total() const {
  ResourceVector total;
  for (const auto& [name, index] : state_.clusters()) {
    if (!CountsFor(index)) {
      continue;
    }
    const ClusterEntry& entry = state_.cluster(index);
    if (!entry.object->has_summary && !entry.nodes.empty()) {
      // An upper bound: foreign pods are not told from ours here.
      for (const auto& [node_name, node] : entry.nodes) {
        total.Add(CapacityIn(state_, node.allocatable));
      }
      continue;
    }
    const ResourceVector allocatable = CapacityIn(state_, entry.object->allocatable);
    const ResourceVector allocated = AmountsIn(state_, entry.object->allocated);
    for (ResourceIndex r = 0; r < state_.resources().size(); ++r) {
      const int64_t ours = std::max<int64_t>(entry.charged[r] - entry.on_top[r], 0);
      const int64_t foreign = std::max<int64_t>(allocated[r] - ours, 0);
      total.Set(
          r, SaturatingAdd(total[r], std::max<int64_t>(SaturatingSub(allocatable[r], foreign), 0)));
    }
  }
  return total;
}

int64_t LimitCheck::GuaranteeOf(QueueIndex queue, ResourceIndex r) const {
  int64_t below = 0;
  for (const QueueIndex child : children_[queue]) {
    below = SaturatingAdd(below, GuaranteeOf(child, r));
  }
  if (chains_[queue].empty()) {
    return 0;
  }
  int64_t guarantee = std::max(guarantees_[queue][r], below);
  for (const QueueIndex above : chains_[queue]) {
    guarantee = std::min(guarantee, capabilities_[above][r]);
  }
  return guarantee;
}

void LimitCheck::CapGuarantees(QueueIndex queue, ResourceIndex r, int64_t room,
                               std::vector<int64_t>& guarantees) const {
  std::vector<int64_t> wanted;
  wanted.reserve(children_[queue].size());
  for (const QueueIndex child : children_[queue]) {
    wanted.push_back(GuaranteeOf(child, r));
  }
  const std::vector<int64_t> given = ScaleDown(room, wanted);
  for (size_t c = 0; c < given.size(); ++c) {
    guarantees[children_[queue][c]] = given[c];
    CapGuarantees(children_[queue][c], r, given[c], guarantees);
  }
}

int64_t LimitCheck::HoldOf(QueueIndex queue, ResourceIndex r,
                           const std::vector<int64_t>& guarantees,
                           const std::vector<ResourceVector>& held) const {
  int64_t hold = held[queue][r];
  for (const QueueIndex child : children_[queue]) {
    hold = SaturatingAdd(hold, HoldOf(child, r, guarantees, held));
  }
  return std::max(hold, guarantees[queue]);
}

std::vector<std::string> LimitCheck::Reserved() {
  std::vector<std::string> broken;
  const QueueIndex root = state_.queues().find(kRootQueue)->second;
  const ResourceVector total = Total();
  for (ResourceIndex r = 0; r < state_.resources().size(); ++r) {
    if (charged_[r] == 0) {
      continue;  // No more is held than before.
    }
    const int64_t room = std::min(total[r], capabilities_[root][r]);
    std::vector<int64_t> guarantees(children_.size(), 0);
    guarantees[root] = std::min(GuaranteeOf(root, r), room);
    CapGuarantees(root, r, room, guarantees);
    const int64_t before = HoldOf(root, r, guarantees, held_before_);
    const int64_t after = HoldOf(root, r, guarantees, held_);
    int64_t used = 0;
    for (const ResourceVector& held : held_) {
      used = SaturatingAdd(used, held[r]);
    }
    // Where nothing is reserved idle, nobody's guarantee is taken.
    if (after > before && after > used && room != kUnlimited && after > room) {
      broken.push_back("what is used of " + state_.resources().Name(r) +
                       " and guaranteed to queues comes to " + std::to_string(after) + " of " +
                       std::to_string(room));
    }
  }
  return broken;
}

}  // namespace caldera
