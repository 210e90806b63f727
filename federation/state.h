// All entities of the federation in dense tables with indexes kept by Apply. One owner, one thread;
// copyable for what-if. A State is exactly the fold of the Changes applied to it: nothing in it
// depends on the order in which independent Changes came, and Export() rebuilds it.
//
// Indexes are handed out in order of first sight and used again: they are names for the inside.
// Whatever is seen outside goes by name, in the order of the maps below.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "federation/change.h"
#include "federation/hash_index.h"
#include "federation/lane_fifo.h"
#include "federation/rare.h"
#include "federation/shape.h"
#include "federation/tally.h"
#include "federation/usage.h"

namespace caldera {

using QueueIndex = uint32_t;
using TenantIndex = uint32_t;
using PriorityIndex = uint32_t;
using ClusterIndex = uint32_t;
using JobIndex = uint32_t;
using SpecIndex = uint32_t;
using ShapeIndex = uint32_t;
using ClassIndex = uint32_t;
using LaneIndex = uint32_t;
inline constexpr uint32_t kNoIndex = std::numeric_limits<uint32_t>::max();

inline constexpr std::string_view kRootQueue = "root";
inline constexpr std::string_view kDefaultQueue = "default";

/// A queue, or a name that jobs or charges refer to while no such queue is there.
struct QueueEntry {
  std::string name;
  std::optional<Queue> object;  ///< Always there for `root` and `default`.
  bool declared = false;        ///< Somebody made it; false: it exists by itself or not at all.
  Tally charged;                ///< What its own jobs hold; by name, whether it exists or not.
  std::map<TenantIndex, Tally> charged_by;  ///< Of that, by tenant; entries may be zero.
  std::map<TenantIndex, Usage> used_by;     ///< What they used lately.
  uint32_t charged_jobs = 0;
  /// Of them, the preemptible ones, by Charge::ripe.
  std::set<std::pair<Time, JobIndex>> ripening;
  /// What these hold, by cluster and PriorityClass.
  std::map<ClusterIndex, std::map<PriorityIndex, Tally>> preemptible_in;
};

/// A namespace with its quotas and what its jobs hold.
struct TenantEntry {
  std::string name;
  std::optional<Namespace> object;
  std::map<std::string, TenantQuota> quotas;
  Tally charged;
  std::map<ClusterIndex, Tally> charged_in;  ///< Entries may be zero.
  /// The largest weight of its quotas, 1 without.
  [[nodiscard]] int64_t Weight() const;
};

/// A PriorityClass, or a name that jobs refer to.
struct PriorityEntry {
  std::string name;
  std::optional<PriorityClass> object;
};

/// A cluster with its members, or a name that shards or members refer to.
struct ClusterEntry {
  std::string name;
  std::optional<Cluster> object;
  std::map<std::string, Node> nodes;
  std::map<std::pair<std::string, std::string>, Pod> pods;  ///< By namespace and name.
  std::map<std::string, HyperNode> hyper_nodes;
  Tally charged;  ///< By all shards here.
  Tally on_top;   ///< Of that, what the cluster's summary does not show yet.
  /// Pods of ours that a Queue of waves holds back: pending there, and not to start beside the
  /// rest.
  Tally held_back;
  std::set<JobIndex> jobs;  ///< Those with a shard here.
  /// Of them, those of which it is estimated when they end, by when.
  std::set<std::pair<Time, JobIndex>> ending;
};

/// What `evictions_a_day` counts in.
inline constexpr Millis kEvictionWindow{86'400'000};

/// A placed job on its way out.
struct Eviction {
  int64_t intent = 0;
  Time at;
  JobKey beneficiary;
  std::string beneficiary_uid;
};

/// What a job was granted, and since when.
struct Charge {
  /// One shard in State's indexes.
  struct Holding {
    ClusterIndex cluster = kNoIndex;
    ResourceVector requests;
    ResourceVector on_top;     ///< Of them, what ClusterEntry::on_top counts.
    ResourceVector held_back;  ///< What ClusterEntry::held_back counts.
  };
  int64_t intent = 0;  ///< 0: taken over from an observed placement.
  Time at;
  std::vector<Shard> shards;
  std::optional<Eviction> eviction;
  std::vector<Holding> held;  ///< By shard.
  Time settles;  ///< When its reported pods leave ClusterEntry::on_top; 0: they do not.
  Time ends;     ///< By its running estimate; 0: not known.
  Time ripe;     ///< When min-runtime and evictions_a_day let go of it; only where preemptible.
  /// As of which PriorityClass QueueEntry::preemptible_in counts it; nothing: it is not
  /// preemptible.
  std::optional<PriorityIndex> preemptible_as = std::nullopt;
};

/// Of a job, what those that wait mostly lack.
struct RareFacts {
  std::string refused;
  std::vector<std::string> missing_references;
  std::vector<ClusterBackoff> backoffs;
  std::vector<Shard> placement;  ///< As observed.
  std::vector<TaskReport> reports;
  Time reported;
  std::string checkpoint;
  std::vector<Eviction> evictions;  ///< As far as they may still count; oldest first.
  int64_t last_epoch = 0;           ///< The latest it was ever placed with.
  /// When the first of its backoffs ends that keep it from a cluster; 0: none does.
  Time backs_off;

  [[nodiscard]] bool Empty() const {
    return refused.empty() && missing_references.empty() && backoffs.empty() && placement.empty() &&
           reports.empty() && reported == Time() && checkpoint.empty() && evictions.empty() &&
           last_epoch == 0 && backs_off == Time();
  }
};

/// There may be a million of them: what few have is behind a pointer.
struct JobEntry {
  JobKey key;
  std::string uid;
  Time creation;
  SpecIndex spec = kNoIndex;
  QueueIndex queue = kNoIndex;
  TenantIndex tenant = kNoIndex;
  PriorityIndex priority = kNoIndex;  ///< kNoIndex: it names no PriorityClass.
  ShapeIndex shape = kNoIndex;
  ClassIndex job_class = kNoIndex;     ///< Where it waits, while it is a candidate.
  QueueIndex charge_queue = kNoIndex;  ///< Which queue it is charged to.
  bool names_queue : 1 = false;        ///< Else it is in `default`.
  bool hold : 1 = false;
  bool suspended : 1 = false;
  bool claimed_elsewhere : 1 = false;
  bool terminal : 1 = false;
  Rare<Charge> charge;

  [[nodiscard]] const RareFacts& rare() const {
    static const RareFacts kNone;
    return rare_.has_value() ? *rare_ : kNone;
  }
  /// `edit(facts)` changes them.
  template <typename Edit>
  void EditRare(const Edit& edit) {
    if (!rare_.has_value()) {
      rare_ = RareFacts();
    }
    edit(*rare_);
    if (rare_->Empty()) {
      rare_.reset();
    }
  }

  /// The reports are about what it holds: not left over from before it was placed there. Their time
  /// comes in whole seconds.
  [[nodiscard]] bool Reported() const {
    return charge.has_value() &&
           rare().reported >= std::chrono::floor<std::chrono::seconds>(charge->at);
  }
  /// How often in the 24 hours up to `now`.
  [[nodiscard]] int64_t EvictedLately(Time now) const {
    const std::vector<Eviction>& evictions = rare().evictions;
    return std::count_if(evictions.begin(), evictions.end(),
                         [&](const Eviction& past) { return now - past.at < kEvictionWindow; });
  }
  /// It was evicted for that job in the 24 hours up to `now`.
  [[nodiscard]] bool EvictedLatelyFor(const JobEntry& other, Time now) const {
    const std::vector<Eviction>& evictions = rare().evictions;
    return std::any_of(evictions.begin(), evictions.end(), [&](const Eviction& past) {
      return past.beneficiary == other.key && past.beneficiary_uid == other.uid &&
             now - past.at < kEvictionWindow;
    });
  }
  /// Since when it runs, as far as anybody knows; only where it is charged.
  [[nodiscard]] Time RunsSince() const {
    if (charge->at != Time()) {
      return charge->at;
    }
    return rare().reported != Time() ? rare().reported : creation;
  }
  [[nodiscard]] bool Evicting() const { return charge.has_value() && charge->eviction.has_value(); }
  /// Neither finished nor placed.
  [[nodiscard]] bool Pending() const { return !terminal && !charge.has_value(); }

 private:
  Rare<RareFacts> rare_;
};

/// Pending jobs that no pass can tell apart but by age. Only candidates: a job that has a reason of
/// its own to wait is in none.
struct JobClass {
  QueueIndex queue = kNoIndex;
  PriorityIndex priority = kNoIndex;
  TenantIndex tenant = kNoIndex;
  ShapeIndex shape = kNoIndex;
  bool preemptible = true;       ///< One that is not never borrows.
  Millis estimate{0};            ///< How long they run at most, rounded up; 0: not known.
  SpecIndex partial = kNoIndex;  ///< Of jobs that may get a part of it: all of one spec.
  /// Clusters that back off for these jobs, or where pods of such a name still are; sorted.
  std::vector<ClusterIndex> blocked;
  uint32_t jobs = 0;  ///< How many; 0: the slot is free.
  LaneIndex lane = kNoIndex;
  uint32_t position = 0;  ///< Among the classes of its lane.

  [[nodiscard]] bool IsBlocked(ClusterIndex cluster) const {
    return std::binary_search(blocked.begin(), blocked.end(), cluster);
  }
};

/// The candidates of one queue, PriorityClass and tenant: the order compares lanes, and in a lane
/// age. A round takes up a thousand lanes, not a hundred thousand classes.
struct Lane {
  QueueIndex queue = kNoIndex;
  PriorityIndex priority = kNoIndex;
  TenantIndex tenant = kNoIndex;
  LaneFifo waiting;                 ///< Empty: the slot is free.
  std::vector<ClassIndex> classes;  ///< In no order that may be seen.
  std::vector<ShapeIndex> shapes;   ///< Of each of them: a round passes over many by that alone.
  Tally asked;                      ///< By all of them together.
};

class State {
 public:
  using ByName = std::map<std::string, uint32_t, std::less<>>;

  State();

  /// The only way to change a State. Never fails: intake has refused bad objects, and what refers
  /// to something unknown waits for it (a job of a missing queue is kept, with verdict
  /// QueueMissing).
  void Apply(const Change& change);

  [[nodiscard]] Time now() const { return now_; }
  /// The earliest time at which a decision could change by the clock alone (a backoff ends, a
  /// reservation is due, a cluster is lost), or is looked at for that: usage each minute, whom
  /// others may take from (ripe) each 10 seconds. Zero: never. O(clusters + queues).
  [[nodiscard]] Time NextTimed() const;
  [[nodiscard]] const Settings& settings() const { return settings_; }
  [[nodiscard]] const ResourceCatalog& resources() const { return resources_; }

  // Every name ever seen, also of what is not (or no longer) there: look at the entry's object.
  [[nodiscard]] const ByName& queues() const { return queue_names_; }
  [[nodiscard]] const ByName& tenants() const { return tenant_names_; }
  [[nodiscard]] const ByName& clusters() const { return cluster_names_; }
  [[nodiscard]] const ByName& priorities() const { return priority_names_; }
  [[nodiscard]] const QueueEntry& queue(QueueIndex i) const { return queues_[i]; }
  [[nodiscard]] const TenantEntry& tenant(TenantIndex i) const { return tenants_[i]; }
  [[nodiscard]] const ClusterEntry& cluster(ClusterIndex i) const { return clusters_[i]; }
  [[nodiscard]] const PriorityEntry& priority(PriorityIndex i) const { return priorities_[i]; }

  /// Every job that is there, also terminal ones, by key and kind. O(jobs x log jobs).
  [[nodiscard]] std::vector<JobIndex> JobsByKey() const;
  /// The same, in no order that may be seen: `visit(index, entry)`.
  template <typename Visit>
  void VisitJobs(const Visit& visit) const {
    for (JobIndex i = 0; i < jobs_.size(); ++i) {
      if (jobs_[i].spec != kNoIndex) {
        visit(i, jobs_[i]);
      }
    }
  }
  [[nodiscard]] size_t job_count() const { return jobs_.size() - free_jobs_.size(); }
  [[nodiscard]] const JobEntry& job(JobIndex i) const { return jobs_[i]; }
  [[nodiscard]] const JobSpec& spec(const JobEntry& job) const { return specs_[job.spec]; }
  [[nodiscard]] const JobSpec& spec(SpecIndex index) const { return specs_[index]; }
  /// The Job of that key, else the HyperJob, else kNoIndex.
  [[nodiscard]] JobIndex FindJob(const JobKey& key) const;
  /// A Job and a HyperJob may have the same name. kNoIndex: there is none.
  [[nodiscard]] JobIndex FindJob(const JobKey& key, JobKind kind) const;
  /// That key with that uid, else kNoIndex.
  [[nodiscard]] JobIndex FindJob(const JobKey& key, const std::string& uid) const;
  /// The whole object as it was upserted last.
  [[nodiscard]] Job Object(JobIndex i) const;
  /// nullptr: it has none.
  [[nodiscard]] const Successor* SuccessorOf(JobIndex i) const;

  /// The charged jobs whose spec has other counts than what they hold (resize.h), in no order that
  /// may be seen.
  [[nodiscard]] const std::set<JobIndex>& resizes() const { return resizes_; }

  /// The charged jobs that run in waves in one cluster, in no order that may be seen.
  [[nodiscard]] const std::set<JobIndex>& waves() const { return waves_; }

  /// The jobs on their way out, in no order that may be seen.
  [[nodiscard]] const std::set<JobIndex>& evicting() const { return evicting_; }
  /// How many pods of Jobs of the names that it has in members are seen in that cluster, finished
  /// ones included.
  [[nodiscard]] int64_t PodsOf(const JobEntry& job, ClusterIndex cluster) const;
  /// The same of one Job, by its name in the member.
  [[nodiscard]] int64_t PodsOfMemberJob(const JobKey& member_job, const std::string& cluster) const;
  /// By job. Some may be of jobs that do not wait any more: the next plan drops them.
  [[nodiscard]] const std::vector<Reservation>& reservations() const { return reservations_; }
  /// What a queue's own jobs of each tenant used lately, at `now`.
  [[nodiscard]] std::map<TenantIndex, UsageVector> UsedIn(QueueIndex queue) const;

  /// By ClassIndex; slots with nobody waiting are free.
  [[nodiscard]] const std::vector<JobClass>& classes() const { return classes_; }
  /// Of that class, in a table of its own: a round asks for many, in no order.
  [[nodiscard]] ShapeIndex ClassShape(ClassIndex i) const { return class_shapes_[i]; }
  /// By LaneIndex; slots with nobody waiting are free.
  [[nodiscard]] const std::vector<Lane>& lanes() const { return lanes_; }
  [[nodiscard]] size_t candidates() const { return candidates_; }
  /// Of them, those that may get a part of what they ask for.
  [[nodiscard]] size_t partial_candidates() const { return partial_candidates_; }
  /// Of them, those of that shape.
  [[nodiscard]] size_t CandidatesOf(ShapeIndex shape) const { return shape_candidates_[shape]; }
  [[nodiscard]] const Shape& shape(ShapeIndex i) const { return shapes_[i]; }
  [[nodiscard]] const ShapeFacts& facts(ShapeIndex i) const { return facts_[i]; }
  /// One more than the largest ShapeIndex in use.
  [[nodiscard]] size_t shape_count() const { return shapes_.size(); }

  /// The Changes that rebuild this State from an empty one, in canonical order (by kind, then key):
  /// equal States export equal lists. Checkpoints and Relist use it.
  [[nodiscard]] std::vector<Change> Export() const;

 private:
  /// Of a shard in waves, what its reported pods leave to start.
  struct PodsInWaves {
    ResourceList to_start;
    ResourceList held_back;  ///< Beyond the grant: they start when others end.
  };

  // state.cc: all objects but jobs.
  void On(const ClockSet& change);
  void On(const SettingsSet& change);
  void On(const QueueUpsert& change);
  void On(const QueueDelete& change);
  void On(const PriorityClassUpsert& change);
  void On(const PriorityClassDelete& change);
  void On(const TenantQuotaUpsert& change);
  void On(const TenantQuotaDelete& change);
  void On(const NamespaceUpsert& change);
  void On(const NamespaceDelete& change);
  void On(const ClusterUpsert& change);
  void On(const ClusterDelete& change);
  void On(const NodeUpsert& change);
  void On(const NodeDelete& change);
  void On(const PodUpsert& change);
  void On(const PodDelete& change);
  void On(const HyperNodeUpsert& change);
  void On(const HyperNodeDelete& change);
  QueueIndex QueueOf(const std::string& name);
  TenantIndex TenantOf(const std::string& name);
  ClusterIndex ClusterOf(const std::string& name);
  PriorityIndex PriorityOf(const std::string& name);
  void InternAll(const ResourceList& list);

  // state_pods.cc: pods of our own jobs.
  template <typename Visit>
  void VisitPods(const JobEntry& entry, Visit visit) const;
  void CountPod(const Pod& pod, ClusterIndex cluster, int64_t count);
  void RequeueOwner(const JobKey& member_job);
  std::vector<ClusterIndex> BlockedFor(JobEntry& entry);

  // state_jobs.cc: jobs and what they hold.
  void On(const JobUpsert& change);
  void On(const JobDelete& change);
  void On(const Placed& change);
  void On(const Released& change);
  void On(const Evicted& change);
  void On(const ReservationsSet& change);
  void On(const UsageSet& change);
  void SettleUsage(QueueIndex queue, TenantIndex tenant);
  void ExportUsage(std::vector<Change>& changes) const;
  JobIndex AddJob(const Job& job);
  void RemoveJob(JobIndex index);
  void TakeSpec(JobEntry& entry, const Job& job);
  void DropSpec(JobEntry& entry);
  void AddCharge(JobIndex index, Charge charge);
  void DropCharge(JobIndex index);
  void PutOnTop(JobIndex index);
  void TakeOffTop(JobIndex index);
  [[nodiscard]] PodsInWaves InWavesOf(const JobEntry& entry, const Shard& shard) const;
  void Ripen(JobIndex index);
  void Unripen(JobIndex index);
  [[nodiscard]] std::vector<Shard> Complete(const JobEntry& entry, std::vector<Shard> shards) const;
  void ExportJob(JobIndex index, std::vector<Change>& changes) const;

  // state_classes.cc: where candidates wait.
  [[nodiscard]] auto Settle() const;
  void Enqueue(JobIndex index);
  void Dequeue(JobIndex index);
  ClassIndex ClassOf(JobClass job_class);
  void DropClass(ClassIndex index);
  LaneIndex LaneOf(const JobClass& job_class);
  void DropLane(LaneIndex index);

  Time now_;
  Settings settings_;
  ResourceCatalog resources_;

  ByName queue_names_;
  ByName tenant_names_;
  ByName cluster_names_;
  ByName priority_names_;
  std::vector<QueueEntry> queues_;
  std::vector<TenantEntry> tenants_;
  std::vector<ClusterEntry> clusters_;
  std::vector<PriorityEntry> priorities_;

  HashIndex job_keys_;
  std::vector<JobEntry> jobs_;
  std::vector<JobIndex> free_jobs_;
  std::map<JobIndex, Successor> successors_;  ///< Few ever have one.
  /// Charged jobs some of whose pods are on top only until a time.
  std::set<std::pair<Time, JobIndex>> settling_;
  /// Candidates that some cluster backs off for, by when the first of them ends.
  std::set<std::pair<Time, JobIndex>> backing_off_;
  std::map<JobKey, std::map<ClusterIndex, int64_t>> pods_of_;
  std::set<JobIndex> resizes_;
  std::set<JobIndex> waves_;
  std::set<JobIndex> evicting_;
  std::vector<Reservation> reservations_;
  size_t charged_jobs_ = 0;

  Pool<JobSpec> specs_;
  std::vector<ShapeIndex> spec_shapes_;  ///< By SpecIndex.
  Pool<Shape> shapes_;
  std::vector<ShapeFacts> facts_;           ///< By ShapeIndex.
  std::vector<uint32_t> shape_candidates_;  ///< By ShapeIndex.
  std::vector<JobClass> classes_;
  std::vector<ShapeIndex> class_shapes_;  ///< By ClassIndex.
  std::vector<ClassIndex> free_classes_;
  HashIndex class_keys_;
  std::vector<Lane> lanes_;
  std::vector<LaneIndex> free_lanes_;
  std::map<std::tuple<QueueIndex, PriorityIndex, TenantIndex>, LaneIndex> lane_keys_;
  size_t candidates_ = 0;
  size_t partial_candidates_ = 0;
};

}  // namespace caldera
