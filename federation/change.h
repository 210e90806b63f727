// Every way in which State can change, as values: what informers send, what the clock says, what a
// plan decided. The journal stores them; replay applies them again. A State is exactly the fold of
// its Changes.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "federation/model.h"

namespace caldera {

/// Time passes; only forwards (an earlier `now` is ignored).
struct ClockSet {
  Time now;
};

/// Knobs of the decision itself, so that a replay decides with the same ones.
struct Settings {
  /// How often Karmada refreshes a Cluster's resourceSummary; pods reported Running count on top of
  /// the summary for two of these.
  Millis summary_period{10'000};
  /// A cluster that is not Ready for longer leaves the federation's total, with the shards on it.
  Millis cluster_lost_after{300'000};
  /// Half-life of the usage that the order looks at (usage.h); 0: only what is held counts.
  Millis usage_half_life{86'400'000};
  /// How much of a share is usage, the rest is what is held; in thousandths.
  int32_t usage_weight = 500;
  /// A job that says nothing itself is no victim before it has run for so long.
  Millis min_runtime{600'000};
  /// How often a job may be evicted in 24 hours.
  int32_t evictions_a_day = 3;
  /// A job without a known start gets a reservation after so long at the head.
  Millis reserve_after{600'000};
  /// How long room that evictions made is kept for whom they were made.
  Millis hold_after_free{300'000};
  friend bool operator==(const Settings&, const Settings&) = default;
};
struct SettingsSet {
  Settings settings;
};

// An upsert replaces the whole object of that key; deleting what is not there does nothing.
struct QueueUpsert {
  Queue queue;
};
struct QueueDelete {
  std::string name;
};
struct PriorityClassUpsert {
  PriorityClass priority_class;
};
struct PriorityClassDelete {
  std::string name;
};
struct TenantQuotaUpsert {
  TenantQuota quota;
};
struct TenantQuotaDelete {
  std::string tenant;
  std::string name;
};
struct NamespaceUpsert {
  Namespace ns;
};
struct NamespaceDelete {
  std::string name;
};
struct ClusterUpsert {
  Cluster cluster;
};
struct ClusterDelete {
  std::string name;
};
struct NodeUpsert {
  Node node;
};
struct NodeDelete {
  std::string cluster;
  std::string name;
};
struct PodUpsert {
  Pod pod;
};
struct PodDelete {
  std::string cluster;
  std::string ns;
  std::string name;
};
struct HyperNodeUpsert {
  HyperNode hyper_node;
};
struct HyperNodeDelete {
  std::string cluster;
  std::string name;
};
/// A job of the same key with another uid is another job: the old one is deleted first, and what it
/// held is released.
struct JobUpsert {
  Job job;
};
/// By key and uid: a delete of an earlier uid does not touch a job made again under the same name.
struct JobDelete {
  JobKey key;
  std::string uid;
};

/// A plan's decision took effect in the ledger: the job is charged for these shards from now on.
struct Placed {
  JobKey key;
  std::string uid;
  int64_t intent = 0;  ///< Sequence number of the ledger's intent; later is larger.
  Time at;
  std::vector<Shard> shards;
};
/// What the job held is released (its shards are terminal or known to be gone).
struct Released {
  JobKey key;
  std::string uid;
  /// The latest epoch that the job is known to have had, beside those that State saw itself; a
  /// checkpoint needs it, so that a job placed again gets a later one. 0: nothing to add.
  int64_t epoch = 0;
};

/// A plan's decision took effect: the job is on its way out of its shards and stays charged for
/// them until Released. Of a job that holds nothing, it says that it was evicted then.
struct Evicted {
  JobKey key;
  std::string uid;
  int64_t intent = 0;
  Time at;
  JobKey beneficiary;  ///< Who may use what it frees.
  std::string beneficiary_uid;
};
/// All reservations there are, as a plan left them; by job.
struct ReservationsSet {
  std::vector<Reservation> reservations;
};
/// Of a checkpoint: what a tenant's jobs used in a queue up to `anchor` (usage.h).
struct UsageSet {
  std::string queue;
  std::string tenant;
  Time anchor;
  ResourceList whole;
  ResourceList part;  ///< In 1 / 2^16.
};

using Change =
    std::variant<ClockSet, SettingsSet, QueueUpsert, QueueDelete, PriorityClassUpsert,
                 PriorityClassDelete, TenantQuotaUpsert, TenantQuotaDelete, NamespaceUpsert,
                 NamespaceDelete, ClusterUpsert, ClusterDelete, NodeUpsert, NodeDelete, PodUpsert,
                 PodDelete, HyperNodeUpsert, HyperNodeDelete, JobUpsert, JobDelete, Placed,
                 Released, Evicted, ReservationsSet, UsageSet>;

}  // namespace caldera
