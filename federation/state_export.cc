// The Changes that rebuild a State, in canonical order.
#include <algorithm>

#include "federation/state.h"

namespace caldera {

namespace {

void ExportMembers(const ClusterEntry& cluster, std::vector<Change>& changes) {
  for (const auto& [name, node] : cluster.nodes) {
    changes.emplace_back(NodeUpsert{node});
  }
  for (const auto& [key, pod] : cluster.pods) {
    changes.emplace_back(PodUpsert{pod});
  }
  for (const auto& [name, hyper_node] : cluster.hyper_nodes) {
    changes.emplace_back(HyperNodeUpsert{hyper_node});
  }
}

}  // namespace

Job State::Object(JobIndex i) const {
  const JobEntry& entry = jobs_[i];
  Job job = ToJob(specs_[entry.spec]);
  job.key = entry.key;
  job.uid = entry.uid;
  job.queue = entry.names_queue ? queues_[entry.queue].name : "";
  job.priority_class = entry.priority == kNoIndex ? "" : priorities_[entry.priority].name;
  job.creation = entry.creation;
  job.refused = entry.rare().refused;
  job.hold = entry.hold;
  job.suspended = entry.suspended;
  job.claimed_elsewhere = entry.claimed_elsewhere;
  job.terminal = entry.terminal;
  job.missing_references = entry.rare().missing_references;
  job.backoffs = entry.rare().backoffs;
  job.placement = entry.rare().placement;
  job.reports = entry.rare().reports;
  job.reported = entry.rare().reported;
  job.checkpoint = entry.rare().checkpoint;
  if (const Successor* const successor = SuccessorOf(i); successor != nullptr) {
    job.successor = *successor;
  }
  return job;
}

const Successor* State::SuccessorOf(JobIndex i) const {
  const auto found = successors_.find(i);
  return found == successors_.end() ? nullptr : &found->second;
}

std::vector<Change> State::Export() const {
  std::vector<Change> changes;
  changes.emplace_back(ClockSet{now_});
  changes.emplace_back(SettingsSet{settings_});
  for (const auto& [name, index] : queue_names_) {
    if (queues_[index].declared) {
      changes.emplace_back(QueueUpsert{*queues_[index].object});
    }
  }
  for (const auto& [name, index] : priority_names_) {
    if (priorities_[index].object.has_value()) {
      changes.emplace_back(PriorityClassUpsert{*priorities_[index].object});
    }
  }
  for (const auto& [name, index] : tenant_names_) {
    if (tenants_[index].object.has_value()) {
      changes.emplace_back(NamespaceUpsert{*tenants_[index].object});
    }
    for (const auto& [quota_name, quota] : tenants_[index].quotas) {
      changes.emplace_back(TenantQuotaUpsert{quota});
    }
  }
  for (const auto& [name, index] : cluster_names_) {
    if (clusters_[index].object.has_value()) {
      changes.emplace_back(ClusterUpsert{*clusters_[index].object});
    }
    ExportMembers(clusters_[index], changes);
  }
  for (const JobIndex index : JobsByKey()) {
    ExportJob(index, changes);
  }
  ExportUsage(changes);
  if (!reservations_.empty()) {
    changes.emplace_back(ReservationsSet{reservations_});
  }
  return changes;
}

void State::ExportJob(JobIndex index, std::vector<Change>& changes) const {
  const JobEntry& entry = jobs_[index];
  changes.emplace_back(JobUpsert{Object(index)});
  int64_t implied = 0;
  for (const Shard& shard : entry.rare().placement) {
    implied = std::max(implied, shard.epoch);
  }
  if (entry.charge.has_value()) {
    for (const Shard& shard : entry.charge->shards) {
      implied = std::max(implied, shard.epoch);
    }
  }
  // Undoes what the upsert takes over from the observed placement, and carries the last epoch.
  const bool taken_over = !entry.rare().placement.empty() && !entry.charge.has_value();
  if (taken_over || entry.rare().last_epoch > implied) {
    changes.emplace_back(Released{entry.key, entry.uid, entry.rare().last_epoch});
  }
  const auto say = [&](const Eviction& eviction) {
    changes.emplace_back(Evicted{entry.key, entry.uid, eviction.intent, eviction.at,
                                 eviction.beneficiary, eviction.beneficiary_uid});
  };
  // Those before the one that goes on; said of a job that holds nothing yet, or is placed after it.
  const size_t past = entry.rare().evictions.size() - (entry.Evicting() ? 1 : 0);
  std::for_each_n(entry.rare().evictions.begin(), past, say);
  if (entry.charge.has_value()) {
    const Charge& charge = *entry.charge;
    changes.emplace_back(Placed{entry.key, entry.uid, charge.intent, charge.at, charge.shards});
  }
  if (entry.Evicting()) {
    say(*entry.charge->eviction);
  }
}

}  // namespace caldera
