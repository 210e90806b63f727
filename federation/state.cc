#include "federation/state.h"

#include <algorithm>

#include "federation/elastic.h"

namespace caldera {

namespace {

/// The index of `name`, with a new entry where it was not there.
template <typename Entry>
uint32_t IndexOf(State::ByName& names, std::vector<Entry>& entries, const std::string& name) {
  const auto [it, added] = names.try_emplace(name, static_cast<uint32_t>(entries.size()));
  if (added) {
    entries.emplace_back().name = name;
  }
  return it->second;
}

bool Implicit(std::string_view queue) { return queue == kRootQueue || queue == kDefaultQueue; }

/// How often shares are looked at anew while somebody waits and nothing happens.
constexpr Millis kUsageTick{60'000};
/// And who became ripe: each charged job does, at a time of its own.
constexpr Millis kRipeTick{10'000};
/// What is farther away is never.
constexpr Millis kNever{std::chrono::hours(24 * 36'500)};

Time NextTick(Time now, Millis tick) { return now - now.time_since_epoch() % tick + tick; }

/// The queue as Volcano's scheduler makes it where nobody did.
Queue ImplicitQueue(const std::string& name) {
  Queue queue;
  queue.name = name;
  queue.parent = name == kRootQueue ? "" : std::string(kRootQueue);
  queue.reclaimable = name != kRootQueue;
  return queue;
}

/// What time alone changes for who waits; `consider` leaves out what is past.
template <typename Consider>
void ConsiderWaiting(const State& state, const Consider& consider) {
  const Settings& settings = state.settings();
  for (const auto& [name, index] : state.queues()) {
    const auto& ripening = state.queue(index).ripening;
    const auto next = ripening.upper_bound({state.now(), kNoIndex});
    if (next != ripening.end() && next->first - state.now() < kNever) {
      consider(NextTick(next->first - Millis(1), kRipeTick));
    }
  }
  for (const Reservation& reservation : state.reservations()) {
    if (reservation.cluster.empty()) {
      consider(reservation.since + settings.reserve_after);
    } else if (reservation.free_since != Time()) {
      consider(reservation.free_since + settings.hold_after_free);
    }
  }
  for (const JobIndex job : state.waves()) {
    if (const Time shrunk = state.job(job).charge->shards.front().shrunk; shrunk != Time()) {
      consider(shrunk + settings.reserve_after);
    }
  }
}

}  // namespace

int64_t TenantEntry::Weight() const {
  int64_t weight = 1;
  for (const auto& [quota_name, quota] : quotas) {
    weight = std::max<int64_t>(weight, quota.weight);
  }
  return weight;
}

State::State() {
  for (const std::string_view name : {kRootQueue, kDefaultQueue}) {
    const QueueIndex index = QueueOf(std::string(name));
    queues_[index].object = ImplicitQueue(std::string(name));
  }
}

void State::Apply(const Change& change) {
  std::visit([this](const auto& c) { On(c); }, change);
}

void State::On(const ClockSet& change) {
  now_ = std::max(now_, change.now);
  while (!settling_.empty() && settling_.begin()->first <= now_) {
    const JobIndex job = settling_.begin()->second;
    TakeOffTop(job);
    PutOnTop(job);
  }
  while (!backing_off_.empty() && backing_off_.begin()->first <= now_) {
    const JobIndex job = backing_off_.begin()->second;
    Dequeue(job);
    Enqueue(job);
  }
}

Time State::NextTimed() const {
  Time next;
  const auto consider = [&](Time time) {
    if (time > now_ && (next == Time() || time < next)) {
      next = time;
    }
  };
  for (const auto* due : {&settling_, &backing_off_}) {
    if (!due->empty()) {
      consider(due->begin()->first);
    }
  }
  for (const JobIndex job : resizes_) {
    const auto& shards = jobs_[job].charge->shards;
    if (shards.size() == 1 && shards.front().shrunk != Time()) {
      consider(shards.front().shrunk + SeenAfter(*this));
      consider(shards.front().shrunk + kGrowAfterShrink);
      consider(shards.front().shrunk + settings_.reserve_after);
    }
  }
  if (candidates_ > 0) {
    // Usage, and with it who may take from whom, moves by itself.
    if (settings_.usage_half_life > Millis(0) && charged_jobs_ > 0) {
      consider(NextTick(now_, kUsageTick));
    }
    ConsiderWaiting(*this, consider);
  }
  for (const ClusterEntry& cluster : clusters_) {
    const auto& object = cluster.object;
    if (object.has_value() && !object->ready && !object->deleting &&
        object->ready_changed != Time()) {
      consider(object->ready_changed + settings_.cluster_lost_after + Millis(1));
    }
  }
  return next;
}

void State::On(const SettingsSet& change) {
  if (change.settings.usage_half_life != settings_.usage_half_life) {
    // What was used so far decayed by the old one.
    for (QueueEntry& queue : queues_) {
      for (auto& [tenant, usage] : queue.used_by) {
        usage.Anchor(now_, settings_.usage_half_life);
      }
    }
  }
  settings_ = change.settings;
  for (JobIndex job = 0; job < jobs_.size(); ++job) {
    if (jobs_[job].charge.has_value()) {
      TakeOffTop(job);
      PutOnTop(job);
      Unripen(job);
      Ripen(job);
    }
  }
}

void State::On(const QueueUpsert& change) {
  QueueEntry& entry = queues_[QueueOf(change.queue.name)];
  entry.object = change.queue;
  entry.declared = true;
  InternAll(change.queue.capability);
  InternAll(change.queue.guarantee);
  InternAll(change.queue.deserved);
}

void State::On(const QueueDelete& change) {
  const auto it = queue_names_.find(change.name);
  if (it == queue_names_.end()) {
    return;
  }
  QueueEntry& entry = queues_[it->second];
  entry.declared = false;
  entry.object.reset();
  if (Implicit(change.name)) {
    entry.object = ImplicitQueue(change.name);
  }
}

void State::On(const PriorityClassUpsert& change) {
  priorities_[PriorityOf(change.priority_class.name)].object = change.priority_class;
}

void State::On(const PriorityClassDelete& change) {
  if (const auto it = priority_names_.find(change.name); it != priority_names_.end()) {
    priorities_[it->second].object.reset();
  }
}

void State::On(const TenantQuotaUpsert& change) {
  TenantEntry& entry = tenants_[TenantOf(change.quota.tenant)];
  entry.quotas.insert_or_assign(change.quota.name, change.quota);
  InternAll(change.quota.overall);
  for (const auto& [cluster, limits] : change.quota.per_cluster) {
    ClusterOf(cluster);
    InternAll(limits);
  }
}

void State::On(const TenantQuotaDelete& change) {
  if (const auto it = tenant_names_.find(change.tenant); it != tenant_names_.end()) {
    tenants_[it->second].quotas.erase(change.name);
  }
}

void State::On(const NamespaceUpsert& change) {
  tenants_[TenantOf(change.ns.name)].object = change.ns;
}

void State::On(const NamespaceDelete& change) {
  if (const auto it = tenant_names_.find(change.name); it != tenant_names_.end()) {
    tenants_[it->second].object.reset();
  }
}

void State::On(const ClusterUpsert& change) {
  ClusterEntry& entry = clusters_[ClusterOf(change.cluster.name)];
  entry.object = change.cluster;
  InternAll(change.cluster.allocatable);
  InternAll(change.cluster.allocated);
  InternAll(change.cluster.allocating);
}

void State::On(const ClusterDelete& change) {
  if (const auto it = cluster_names_.find(change.name); it != cluster_names_.end()) {
    clusters_[it->second].object.reset();
  }
}

void State::On(const NodeUpsert& change) {
  clusters_[ClusterOf(change.node.cluster)].nodes.insert_or_assign(change.node.name, change.node);
  InternAll(change.node.allocatable);
}

void State::On(const NodeDelete& change) {
  if (const auto it = cluster_names_.find(change.cluster); it != cluster_names_.end()) {
    clusters_[it->second].nodes.erase(change.name);
  }
}

void State::On(const PodUpsert& change) {
  const Pod& pod = change.pod;
  const ClusterIndex cluster = ClusterOf(pod.cluster);
  Pod& seen = clusters_[cluster].pods[{pod.ns, pod.name}];  // Of no job where it is new.
  if (seen.job != pod.job) {
    CountPod(seen, cluster, -1);
    CountPod(pod, cluster, 1);
  }
  seen = pod;
  InternAll(pod.requests);
}

void State::On(const PodDelete& change) {
  const auto it = cluster_names_.find(change.cluster);
  if (it == cluster_names_.end()) {
    return;
  }
  auto& pods = clusters_[it->second].pods;
  if (const auto pod = pods.find({change.ns, change.name}); pod != pods.end()) {
    CountPod(pod->second, it->second, -1);
    pods.erase(pod);
  }
}

void State::On(const HyperNodeUpsert& change) {
  const HyperNode& node = change.hyper_node;
  clusters_[ClusterOf(node.cluster)].hyper_nodes.insert_or_assign(node.name, node);
}

void State::On(const HyperNodeDelete& change) {
  if (const auto it = cluster_names_.find(change.cluster); it != cluster_names_.end()) {
    clusters_[it->second].hyper_nodes.erase(change.name);
  }
}

QueueIndex State::QueueOf(const std::string& name) { return IndexOf(queue_names_, queues_, name); }
TenantIndex State::TenantOf(const std::string& name) {
  return IndexOf(tenant_names_, tenants_, name);
}
ClusterIndex State::ClusterOf(const std::string& name) {
  return IndexOf(cluster_names_, clusters_, name);
}
PriorityIndex State::PriorityOf(const std::string& name) {
  return IndexOf(priority_names_, priorities_, name);
}

void State::InternAll(const ResourceList& list) {
  for (const auto& [name, amount] : list) {
    resources_.Intern(name);
  }
}

}  // namespace caldera
