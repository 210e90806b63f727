#include "test/property/reference_queues.h"

#include <algorithm>
#include <set>

#include "federation/entitlement.h"
#include "federation/quotas.h"
#include "federation/split.h"

namespace caldera::property {

RefQueues::RefQueues(const RefState& state, const State& real) : state_(state), real_(real) {
  Link();
  for (const auto& [key, job] : state_.jobs) {
    for (const Shard& shard : job.charge ? job.charge->shards : std::vector<Shard>()) {
      Charge(job, shard.cluster, shard.requests);
    }
  }
  ShareOut();
}

void RefQueues::Link() {
  for (const auto& [name, queue] : state_.queues) {
    queues_[name];
  }
  for (const auto& [key, job] : state_.jobs) {
    queues_[job.QueueName()];  // Also names that no queue has: what they hold counts.
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

void RefQueues::Charge(const RefJob& job, const std::string& cluster, const ResourceList& amounts) {
  RefQueue& queue = queues_.at(job.QueueName());
  AddTo(queue.charged, amounts);
  AddTo(queue.by_tenant[job.object.key.ns], amounts);
  const auto it = state_.clusters.find(cluster);
  if (it != state_.clusters.end() && !it->second.lost) {
    AddTo(queue.held, amounts);
  }
}

ResourceList RefQueues::Total() const {
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

std::vector<std::string> RefQueues::Chain(const std::string& queue) const {
  std::vector<std::string> chain{queue};
  while (chain.back() != "root") {
    chain.push_back(queues_.at(chain.back()).parent);
  }
  return chain;
}

int64_t RefQueues::Capability(const std::string& queue, const std::string& resource) const {
  int64_t capability = kUnlimited;
  for (const std::string& name : Chain(queue)) {
    if (const auto it = state_.queues.find(name); it != state_.queues.end()) {
      capability = std::min(capability, LimitAt(it->second.capability, resource));
    }
  }
  return capability;
}

ResourceList RefQueues::HeldBelow(const std::string& queue) const {
  ResourceList held = queues_.at(queue).held;
  for (const std::string& child : queues_.at(queue).children) {
    AddTo(held, HeldBelow(child));
  }
  return held;
}

ResourceList RefQueues::ChargedBelow(const std::string& queue) const {
  ResourceList charged = queues_.at(queue).charged;
  for (const std::string& child : queues_.at(queue).children) {
    AddTo(charged, ChargedBelow(child));
  }
  return charged;
}

int64_t RefQueues::Hold(const std::string& queue, const std::string& resource) const {
  const RefQueue& facts = queues_.at(queue);
  int64_t hold = At(facts.held, resource);
  for (const std::string& child : facts.children) {
    hold = SaturatingAdd(hold, Hold(child, resource));
  }
  return std::max(hold, At(facts.guarantee, resource));
}

std::optional<int64_t> RefQueues::Priority(const RefJob& job) const {
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

bool RefQueues::IsCandidate(const RefJob& job) const {
  const Job& object = job.object;
  const RefQueue& queue = queues_.at(job.QueueName());
  const auto ns = state_.namespaces.find(object.key.ns);
  return !object.terminal && !job.charge && object.refused.empty() && !object.hold &&
         !object.suspended && !object.claimed_elsewhere && object.missing_references.empty() &&
         (object.kind == JobKind::kJob ||
          std::any_of(object.replicated_jobs.begin(), object.replicated_jobs.end(),
                      [](const ReplicatedJob& each) { return each.replicas > 0; })) &&
         Priority(job).has_value() &&
         (ns == state_.namespaces.end() || !ns->second.skip_auto_propagation) && queue.attached &&
         queue.open && queue.children.empty() && job.QueueName() != "root" &&
         object.topology.highest_tier_name.empty();
}

/// Within the tenant's quotas and the capability as if nothing were held.
bool RefQueues::FitsAlone(const RefJob& job) const {
  for (const auto& [resource, amount] : job.Requested()) {
    for (const TenantQuota& quota : state_.quotas) {
      if (quota.tenant == job.object.key.ns && amount > LimitAt(quota.overall, resource)) {
        return false;
      }
    }
    if (amount > Capability(job.QueueName(), resource)) {
      return false;
    }
  }
  return true;
}

bool RefQueues::CouldEverGo(const RefJob& job) const {
  if (!FitsAlone(job)) {
    return false;
  }
  if (FitsSome(job)) {
    return true;
  }
  const JobEntry& entry = real_.job(real_.FindJob(job.object.key));
  return CouldEverSplit(real_, ViewClusters(real_), entry.shape, FoldQuotas(real_)[entry.tenant]);
}

bool RefQueues::FitsSome(const RefJob& job) const {
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
      for (const auto& [resource, amount] : job.Requested()) {
        if (amount > LimitAt(part->second, resource)) {
          return false;
        }
      }
    }
    return !cluster.lost && job.MayGoTo(cluster) && RefFits(job.Requested(), cluster.allocatable) &&
           RefPacks(empty, job.object);
  });
}

std::vector<std::string> RefQueues::Resources() const {
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
  return {names.begin(), names.end()};
}

void RefQueues::ShareOut() {
  std::map<std::string, ResourceList> demand;
  for (const auto& [name, facts] : queues_) {
    demand[name] = facts.held;
  }
  for (const auto& [key, job] : state_.jobs) {
    if (!IsCandidate(job)) {
      continue;
    }
    if (CouldEverGo(job)) {
      AddTo(demand[job.QueueName()], job.Total());
      continue;
    }
    const std::vector<RefJob> parts = job.Parts();
    const auto most = std::find_if(parts.begin(), parts.end(), [&](const RefJob& part) {
      return FitsAlone(part) && FitsSome(part);
    });
    if (most != parts.end()) {
      AddTo(demand[job.QueueName()], most->Total());
    }
  }
  for (const std::string& resource : Resources()) {
    std::map<std::string, int64_t> amounts;
    for (const auto& [name, list] : demand) {
      amounts[name] = At(list, resource);
    }
    ShareResource(resource, amounts);
  }
}

void RefQueues::ShareResource(const std::string& resource,
                              const std::map<std::string, int64_t>& demand) {
  std::map<std::string, int64_t> guarantee;
  std::map<std::string, int64_t> want;
  const std::vector<std::string> bottom_up(top_down_.rbegin(), top_down_.rend());
  for (const std::string& name : bottom_up) {
    const RefQueue& facts = queues_.at(name);
    int64_t guaranteed_below = 0;
    int64_t wanted = demand.at(name);
    for (const std::string& child : facts.children) {
      guaranteed_below = SaturatingAdd(guaranteed_below, guarantee[child]);
      wanted = SaturatingAdd(wanted, std::max(guarantee[child], want[child]));
    }
    const int64_t capability = Capability(name, resource);
    const bool speaks = facts.attached && state_.queues.contains(name);
    const int64_t own = speaks ? At(state_.queues.at(name).guarantee, resource) : 0;
    const int64_t deserved =
        speaks ? LimitAt(state_.queues.at(name).deserved, resource) : kUnlimited;
    guarantee[name] = std::min(std::max(own, guaranteed_below), capability);
    want[name] = std::min({wanted, capability, deserved});
  }
  const int64_t all = std::min(At(Total(), resource), Capability("root", resource));
  guarantee["root"] = std::min(guarantee["root"], all);
  std::map<std::string, EntitlementShare> shares;
  shares["root"].deserved = std::min(all, std::max(guarantee["root"], want["root"]));
  shares["root"].within = shares["root"].deserved;
  for (const std::string& name : top_down_) {
    RefQueue& facts = queues_.at(name);
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

}  // namespace caldera::property
