#include "test/property/reference_planner.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "federation/entitlement.h"
#include "federation/share.h"

namespace caldera::property {

namespace {

/// The resources that a job asks for, with its totals.
ResourceList Requested(const RefJob& job) {
  ResourceList total = job.Total();
  std::erase_if(total, [](const auto& entry) { return entry.second <= 0; });
  return total;
}

bool FitsIn(const ResourceList& total, const ResourceList& room) {
  return std::all_of(total.begin(), total.end(),
                     [&](const auto& entry) { return entry.second <= At(room, entry.first); });
}

bool Older(const RefJob* a, const RefJob* b) {
  return std::tie(a->object.creation, a->object.uid, a->object.key) <
         std::tie(b->object.creation, b->object.uid, b->object.key);
}

std::string QueueOf(const RefJob& job) {
  return job.object.queue.empty() ? "default" : job.object.queue;
}

bool Packs(const std::map<std::string, RefNode>& nodes, const RefJob& job) {
  std::map<std::string, RefNode> trial = nodes;
  return nodes.empty() || RefPack(trial, GangOfJob(job.object));
}

}  // namespace

ReferencePlanner::ReferencePlanner(const std::vector<Change>& exported) : state_(exported) {
  std::set<std::string> names;
  const auto note = [&](const ResourceList& list) {
    for (const auto& [resource, amount] : list) {
      names.insert(resource);
    }
  };
  for (const auto& [name, queue] : state_.queues) {
    note(queue.capability);
    note(queue.guarantee);
    note(queue.deserved);
  }
  for (const auto& [name, cluster] : state_.clusters) {
    note(cluster.allocatable);
  }
  for (const auto& [key, job] : state_.jobs) {
    note(job.Total());
    for (const Shard& shard : job.charge ? job.charge->shards : std::vector<Shard>()) {
      note(shard.requests);
    }
  }
  resources_.assign(names.begin(), names.end());
  LinkQueues();
  AddCharges();
  ShareOut();
}

void ReferencePlanner::LinkQueues() {
  for (const auto& [name, queue] : state_.queues) {
    queues_[name];
  }
  for (const auto& [key, job] : state_.jobs) {
    queues_[QueueOf(job)];  // Also names that no queue has: what they hold counts.
  }
  const auto parent_of = [&](const std::string& name) -> std::string {
    const auto it = state_.queues.find(name);
    return it == state_.queues.end() ? "" : it->second.parent.empty() ? "root" : it->second.parent;
  };
  for (auto& [name, facts] : queues_) {
    if (name == "root") {
      facts.attached = true;
      continue;
    }
    std::string at = name;
    for (size_t steps = 0; steps <= queues_.size() && at != "root" && !at.empty(); ++steps) {
      at = parent_of(at);
    }
    facts.attached = at == "root";
    facts.parent = facts.attached ? parent_of(name) : "root";
  }
  for (auto& [name, facts] : queues_) {
    if (name != "root") {
      queues_[facts.parent].children.push_back(name);
    }
    for (std::string at = name; facts.attached; at = queues_.at(at).parent) {
      facts.open = facts.open && state_.queues.at(at).state == QueueState::kOpen;
      if (at == "root") {
        break;
      }
    }
  }
  top_down_ = {"root"};
  for (size_t i = 0; i < top_down_.size(); ++i) {
    for (const std::string& child : queues_.at(top_down_[i]).children) {
      top_down_.push_back(child);
    }
  }
}

void ReferencePlanner::Charge(const RefJob& job, const std::string& cluster,
                              const ResourceList& amounts) {
  QueueFacts& queue = queues_.at(QueueOf(job));
  AddTo(queue.charged, amounts);
  AddTo(queue.by_tenant[job.object.key.ns], amounts);
  AddTo(tenants_[job.object.key.ns], amounts);
  AddTo(tenants_in_[{job.object.key.ns, cluster}], amounts);
  const auto it = state_.clusters.find(cluster);
  if (it != state_.clusters.end() && !it->second.lost) {
    AddTo(queue.held, amounts);
  }
}

void ReferencePlanner::AddCharges() {
  for (const auto& [key, job] : state_.jobs) {
    for (const Shard& shard : job.charge ? job.charge->shards : std::vector<Shard>()) {
      Charge(job, shard.cluster, shard.requests);
    }
  }
}

ResourceList ReferencePlanner::Total() const {
  ResourceList total;
  for (const auto& [name, cluster] : state_.clusters) {
    if (cluster.lost) {
      continue;
    }
    for (const auto& [resource, amount] : cluster.allocatable) {
      const int64_t ours =
          std::max<int64_t>(SaturatingSub(amount, At(cluster.foreign, resource)), 0);
      total[resource] = SaturatingAdd(At(total, resource), ours);
    }
  }
  return total;
}

std::vector<std::string> ReferencePlanner::Chain(const std::string& queue) const {
  std::vector<std::string> chain{queue};
  while (chain.back() != "root") {
    chain.push_back(queues_.at(chain.back()).parent);
  }
  return chain;
}

int64_t ReferencePlanner::Capability(const std::string& queue, const std::string& resource) const {
  int64_t capability = kUnlimited;
  for (const std::string& name : Chain(queue)) {
    if (const auto it = state_.queues.find(name); it != state_.queues.end()) {
      capability = std::min(capability, LimitAt(it->second.capability, resource));
    }
  }
  return capability;
}

ResourceList ReferencePlanner::HeldBelow(const std::string& queue) const {
  ResourceList held = queues_.at(queue).held;
  for (const std::string& child : queues_.at(queue).children) {
    AddTo(held, HeldBelow(child));
  }
  return held;
}

ResourceList ReferencePlanner::ChargedBelow(const std::string& queue) const {
  ResourceList charged = queues_.at(queue).charged;
  for (const std::string& child : queues_.at(queue).children) {
    AddTo(charged, ChargedBelow(child));
  }
  return charged;
}

/// What a queue keeps from others: what is held in it or its guarantee, level by level.
int64_t ReferencePlanner::Hold(const std::string& queue, const std::string& resource) const {
  const QueueFacts& facts = queues_.at(queue);
  int64_t hold = At(facts.held, resource);
  for (const std::string& child : facts.children) {
    hold = SaturatingAdd(hold, Hold(child, resource));
  }
  return std::max(hold, At(facts.guarantee, resource));
}

// ------------------------------------------------------------------------------- entitlement

void ReferencePlanner::ShareOut() {
  std::map<std::string, ResourceList> demand;
  for (const auto& [name, facts] : queues_) {
    demand[name] = facts.held;
  }
  for (const auto& [key, job] : state_.jobs) {
    if (IsCandidate(job) && CouldEverGo(job)) {
      AddTo(demand[QueueOf(job)], job.Total());
    }
  }
  for (const std::string& resource : resources_) {
    std::map<std::string, int64_t> amounts;
    for (const auto& [name, list] : demand) {
      amounts[name] = At(list, resource);
    }
    ShareResource(resource, amounts);
  }
}

void ReferencePlanner::ShareResource(const std::string& resource,
                                     const std::map<std::string, int64_t>& demand) {
  std::map<std::string, int64_t> guarantee;
  std::map<std::string, int64_t> want;
  for (auto it = top_down_.rbegin(); it != top_down_.rend(); ++it) {
    const QueueFacts& facts = queues_.at(*it);
    int64_t guaranteed_below = 0;
    int64_t wanted = demand.at(*it);
    for (const std::string& child : facts.children) {
      guaranteed_below = SaturatingAdd(guaranteed_below, guarantee[child]);
      wanted = SaturatingAdd(wanted, std::max(guarantee[child], want[child]));
    }
    const int64_t capability = Capability(*it, resource);
    const bool speaks = facts.attached && state_.queues.contains(*it);
    const int64_t own = speaks ? At(state_.queues.at(*it).guarantee, resource) : 0;
    const int64_t deserved =
        speaks ? LimitAt(state_.queues.at(*it).deserved, resource) : kUnlimited;
    guarantee[*it] = std::min(std::max(own, guaranteed_below), capability);
    want[*it] = std::min({wanted, capability, deserved});
  }
  const int64_t all = std::min(At(Total(), resource), Capability("root", resource));
  guarantee["root"] = std::min(guarantee["root"], all);
  std::map<std::string, EntitlementShare> shares;
  shares["root"].deserved = std::min(all, std::max(guarantee["root"], want["root"]));
  shares["root"].within = shares["root"].deserved;
  for (const std::string& name : top_down_) {
    QueueFacts& facts = queues_.at(name);
    std::vector<int64_t> guarantees;
    for (const std::string& child : facts.children) {
      guarantees.push_back(guarantee[child]);
    }
    guarantees = ScaleDown(name == "root" ? all : guarantee[name], guarantees);
    std::vector<EntitlementInput> inputs;
    for (size_t i = 0; i < facts.children.size(); ++i) {
      const std::string& child = facts.children[i];
      guarantee[child] = guarantees[i];
      const bool attached = queues_.at(child).attached;
      inputs.push_back({attached ? state_.queues.at(child).weight : 1, guarantees[i], want[child]});
    }
    const std::vector<EntitlementShare> parts = Entitle(shares[name].deserved, inputs);
    for (size_t i = 0; i < parts.size(); ++i) {
      shares[facts.children[i]] = parts[i];
    }
    facts.guarantee[resource] = guarantee[name];
    facts.deserved[resource] = shares[name].deserved;
    facts.within[resource] = shares[name].within;
  }
}

// ------------------------------------------------------------------------------------- order

std::optional<int64_t> ReferencePlanner::Priority(const RefJob& job) const {
  if (const auto it = state_.priorities.find(job.object.priority_class);
      it != state_.priorities.end()) {
    return it->second.value;
  }
  if (!job.object.priority_class.empty()) {
    return std::nullopt;
  }
  std::optional<int64_t> fallback;
  for (const auto& [name, priority] : state_.priorities) {
    if (priority.global_default && (!fallback || priority.value < *fallback)) {
      fallback = priority.value;
    }
  }
  return fallback.value_or(0);
}

bool ReferencePlanner::IsCandidate(const RefJob& job) const {
  const Job& object = job.object;
  const QueueFacts& queue = queues_.at(QueueOf(job));
  const auto ns = state_.namespaces.find(object.key.ns);
  return !object.terminal && !job.charge && !object.hold && !object.suspended &&
         !object.claimed_elsewhere && object.missing_references.empty() &&
         object.kind == JobKind::kJob && Priority(job).has_value() &&
         (ns == state_.namespaces.end() || !ns->second.skip_auto_propagation) && queue.attached &&
         queue.open && queue.children.empty() && QueueOf(job) != "root" &&
         object.topology.highest_tier_name.empty();
}

bool ReferencePlanner::CouldEverGo(const RefJob& job) const {
  for (const auto& [resource, amount] : Requested(job)) {
    for (const TenantQuota& quota : state_.quotas) {
      if (quota.tenant == job.object.key.ns && amount > LimitAt(quota.overall, resource)) {
        return false;
      }
    }
    if (amount > Capability(QueueOf(job), resource)) {
      return false;
    }
  }
  return std::any_of(state_.clusters.begin(), state_.clusters.end(), [&](const auto& entry) {
    const RefCluster& cluster = entry.second;
    std::map<std::string, RefNode> empty = cluster.nodes;
    for (auto& [name, node] : empty) {
      node.free = node.object.allocatable;
      node.free.try_emplace("pods", kUnlimited);
    }
    for (const TenantQuota& quota : state_.quotas) {
      const auto part = quota.per_cluster.find(entry.first);
      if (quota.tenant != job.object.key.ns || part == quota.per_cluster.end()) {
        continue;
      }
      for (const auto& [resource, amount] : Requested(job)) {
        if (amount > LimitAt(part->second, resource)) {
          return false;
        }
      }
    }
    return !cluster.lost && RefAllowed(cluster, job.object.clusters) &&
           FitsIn(Requested(job), cluster.allocatable) && Packs(empty, job);
  });
}

bool ReferencePlanner::Within(const std::string& queue, const RefJob& job) const {
  const ResourceList held = HeldBelow(queue);
  const bool idle =
      std::all_of(held.begin(), held.end(), [](const auto& entry) { return entry.second == 0; });
  if (idle) {
    return true;
  }
  const QueueFacts& facts = queues_.at(queue);
  const ResourceList requested = Requested(job);
  return std::all_of(requested.begin(), requested.end(), [&](const auto& entry) {
    const auto& [resource, amount] = entry;
    const ResourceList& limit = IsDevice(resource) ? facts.within : facts.deserved;
    return resource == "pods" || SaturatingAdd(At(held, resource), amount) <= At(limit, resource);
  });
}

int64_t ReferencePlanner::QueueShare(const std::string& queue, const RefJob& job) const {
  const ResourceList held = HeldBelow(queue);
  int64_t share = 0;
  for (const auto& [resource, amount] : Requested(job)) {
    if (resource != "pods") {
      share = std::max(share, Share(At(held, resource), At(queues_.at(queue).deserved, resource)));
    }
  }
  return share;
}

int64_t ReferencePlanner::TenantShare(const RefJob& job) const {
  const QueueFacts& queue = queues_.at(QueueOf(job));
  const auto it = queue.by_tenant.find(job.object.key.ns);
  if (it == queue.by_tenant.end()) {
    return 0;
  }
  int64_t weight = 1;
  for (const TenantQuota& quota : state_.quotas) {
    weight = quota.tenant == job.object.key.ns ? std::max<int64_t>(weight, quota.weight) : weight;
  }
  int64_t share = 0;
  for (const auto& [resource, amount] : Requested(job)) {
    if (resource != "pods") {
      share = std::max(share, Share(At(it->second, resource), At(queue.held, resource), weight));
    }
  }
  return share;
}

/// Each tenant's oldest job of the highest priority speaks for it.
const RefJob* ReferencePlanner::BestInLeaf(const Jobs& jobs) const {
  std::map<std::string, const RefJob*> oldest;
  int64_t highest = std::numeric_limits<int64_t>::min();
  for (const RefJob* job : jobs) {
    highest = std::max(highest, *Priority(*job));
  }
  for (const RefJob* job : jobs) {
    if (*Priority(*job) == highest) {
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
  const QueueFacts& facts = queues_.at(queue);
  if (facts.children.empty()) {
    Jobs own;
    std::copy_if(jobs.begin(), jobs.end(), std::back_inserter(own),
                 [&](const RefJob* job) { return QueueOf(*job) == queue; });
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
    for (const auto& [resource, amount] : Requested(job)) {
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
  const ResourceList total = Total();
  for (const auto& [resource, amount] : Requested(job)) {
    for (const std::string& name : Chain(QueueOf(job))) {
      const int64_t own = state_.queues.contains(name)
                              ? LimitAt(state_.queues.at(name).capability, resource)
                              : kUnlimited;
      if (At(ChargedBelow(name), resource) + amount > own && own != kUnlimited) {
        return false;
      }
    }
    // Guarantees: what the queues keep in all must still fit once the job is in.
    std::map<std::string, int64_t> before;
    for (const std::string& name : Chain(QueueOf(job))) {
      before[name] = Hold(name, resource);
    }
    int64_t& held = queues_.at(QueueOf(job)).held[resource];
    held += amount;
    bool fits = true;
    for (const std::string& name : Chain(QueueOf(job))) {
      const int64_t limit = name == "root"
                                ? std::min(At(total, resource), Capability(name, resource))
                                : Capability(name, resource);
      const int64_t after = Hold(name, resource);
      const bool idle = after > At(HeldBelow(name), resource);
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

std::string ReferencePlanner::BestCluster(const RefJob& job) const {
  const ResourceList requested = Requested(job);
  const bool devices = std::any_of(requested.begin(), requested.end(),
                                   [](const auto& entry) { return IsDevice(entry.first); });
  std::string best;
  std::tuple<Int128, Int128> best_left;
  std::tuple<size_t, int64_t, std::string> best_rest;
  const auto names = job.object.clusters.names;
  for (const auto& [name, cluster] : state_.clusters) {
    if (!cluster.Offers() || !RefAllowed(cluster, job.object.clusters) ||
        !FitsIn(requested, cluster.free) || !WithinQuota(job, name) || !Packs(cluster.nodes, job)) {
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

void ReferencePlanner::Commit(const RefJob& job, const std::string& cluster) {
  RefCluster& target = state_.clusters.at(cluster);
  Take(target.free, job.Total());
  if (!target.nodes.empty()) {
    RefPack(target.nodes, GangOfJob(job.object));
  }
  Charge(job, cluster, job.Total());
}

std::vector<RefChoice> ReferencePlanner::Plan() {
  Jobs waiting;
  for (const auto& [key, job] : state_.jobs) {
    if (IsCandidate(job)) {
      waiting.push_back(&job);
    }
  }
  std::vector<RefChoice> plan;
  while (const RefJob* job = Best("root", waiting)) {
    const std::string cluster = WithinLimits(*job) ? BestCluster(*job) : "";
    std::erase(waiting, job);
    if (!cluster.empty()) {
      plan.push_back({job->object.key, cluster});
      Commit(*job, cluster);
    } else if (state_.queues.at(QueueOf(*job)).dequeue_strategy == DequeueStrategy::kFifo) {
      std::erase_if(waiting, [&](const RefJob* j) { return QueueOf(*j) == QueueOf(*job); });
    }
  }
  return plan;
}

std::vector<JobKey> ReferencePlanner::NeedlesslyWaiting() {
  std::vector<JobKey> needless;
  for (const auto& [key, job] : state_.jobs) {
    if (IsCandidate(job) &&
        state_.queues.at(QueueOf(job)).dequeue_strategy != DequeueStrategy::kFifo &&
        WithinLimits(job) && !BestCluster(job).empty()) {
      needless.push_back(job.object.key);
    }
  }
  return needless;
}

}  // namespace caldera::property
