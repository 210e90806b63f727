// The objects of the federation as Caldera knows them after intake: plain values named as their API
// kinds and fields. They are what a Change carries and what the ledger's journal stores; State
// keeps its own dense form of them. No pointers, no ownership, any thread.
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "federation/resources.h"
#include "federation/time.h"

namespace caldera {

using Labels = std::map<std::string, std::string, std::less<>>;

// ---------------------------------------------------------------- queues, tenants, priorities

enum class QueueState { kOpen, kClosing, kClosed, kUnknown };
enum class DequeueStrategy { kTraverse, kFifo };

/// scheduling.volcano.sh/v1beta1 Queue.
struct Queue {
  std::string name;
  std::string uid;
  Time creation;
  std::string parent;  ///< `root` where it was empty; empty only for `root` itself.
  int32_t weight = 1;  ///< 1..65535.
  int32_t priority = 0;
  ResourceList capability;  ///< Absent key: unlimited; 0: none.
  ResourceList guarantee;   ///< spec.guarantee.resource.
  ResourceList deserved;    ///< Absent key: by weight alone.
  bool reclaimable = true;
  DequeueStrategy dequeue_strategy = DequeueStrategy::kTraverse;
  QueueState state = QueueState::kOpen;
};

/// scheduling.k8s.io/v1 PriorityClass.
struct PriorityClass {
  std::string name;
  int32_t value = 0;
  bool global_default = false;
  bool preempts = true;  ///< false: preemptionPolicy Never.
};

/// policy.karmada.io/v1alpha1 FederatedResourceQuota: one of the quotas of a tenant (a namespace).
/// Keys are normalised by intake: `requests.cpu` is stored as `cpu`, `count/pods` as `pods`.
struct TenantQuota {
  std::string tenant;  ///< metadata.namespace.
  std::string name;
  ResourceList overall;
  std::map<std::string, ResourceList> per_cluster;  ///< spec.staticAssignments by clusterName.
  int32_t weight = 1;  ///< Annotation federation.caldera.sh/weight: the tenant's share in a queue.
};

struct Namespace {
  std::string name;
  bool skip_auto_propagation = false;  ///< Label namespace.karmada.io/skip-auto-propagation=true.
};

// ------------------------------------------------------------------------ clusters and members

struct Taint {
  std::string key;
  std::string value;
  std::string effect;  ///< NoSchedule, PreferNoSchedule, NoExecute.
  friend bool operator==(const Taint&, const Taint&) = default;
};

/// As in a pod: `op` Exists or Equal; an empty key with Exists tolerates everything; an empty
/// effect matches every effect.
struct Toleration {
  std::string key;
  std::string op = "Equal";
  std::string value;
  std::string effect;
  friend auto operator<=>(const Toleration&, const Toleration&) = default;
};

/// One expression of a label selector or of a node affinity term.
struct LabelRequirement {
  std::string key;
  std::string op;  ///< In, NotIn, Exists, DoesNotExist, Gt, Lt.
  std::vector<std::string> values;
  friend auto operator<=>(const LabelRequirement&, const LabelRequirement&) = default;
};

/// cluster.karmada.io/v1alpha1 Cluster.
struct Cluster {
  std::string name;
  std::string uid;
  Labels labels;
  std::vector<Taint> taints;
  std::vector<std::string> zones;  ///< spec.zones, else spec.zone.
  std::string region;
  std::string provider;
  int64_t cost = 0;  ///< Annotation federation.caldera.sh/cost: a preference among equal choices.
  bool ready = false;
  Time ready_changed;  ///< lastTransitionTime of condition Ready; 0 where it is not known.
  bool deleting = false;
  bool apis_known = false;        ///< false: status.apiEnablements is absent, nothing is excluded.
  std::vector<std::string> apis;  ///< `batch.volcano.sh/v1alpha1/Job`.
  bool has_summary = false;       ///< status.resourceSummary is there.
  ResourceList allocatable;
  ResourceList allocated;   ///< Bound pods.
  ResourceList allocating;  ///< Pending pods without a node.
};

/// v1 Node of a member.
struct Node {
  std::string cluster;
  std::string name;
  Labels labels;
  std::vector<Taint> taints;
  bool unschedulable = false;
  bool ready = true;
  ResourceList allocatable;
};

/// v1 Pod of a member: only what is bound or ours.
struct Pod {
  std::string cluster;
  std::string ns;
  std::string name;
  std::string node;       ///< Empty while not bound.
  ResourceList requests;  ///< With `pods: 1`.
  bool terminal = false;  ///< Succeeded or Failed: it uses nothing.
  std::string job;        ///< Label volcano.sh/job-name; empty for a foreign pod.
  std::string task;       ///< Annotation or label volcano.sh/task-spec.
};

/// topology.volcano.sh/v1alpha1 HyperNode of a member. Read and kept; used from topology on.
struct HyperNodeMember {
  std::string type;  ///< Node or HyperNode.
  std::string exact;
  std::string regex;
  Labels match_labels;
  std::vector<LabelRequirement> match_expressions;
};
struct HyperNode {
  std::string cluster;
  std::string name;
  int32_t tier = 0;
  std::string tier_name;
  std::vector<HyperNodeMember> members;
};

// ---------------------------------------------------------------------------------- workloads

enum class TopologyMode { kNone, kHard, kSoft };
struct NetworkTopology {
  TopologyMode mode = TopologyMode::kNone;
  std::optional<int32_t> highest_tier;
  std::string highest_tier_name;
  friend auto operator<=>(const NetworkTopology&, const NetworkTopology&) = default;
};

struct PartitionPolicy {
  int32_t total = 0;  ///< totalPartitions; 0: the task is not partitioned.
  int32_t size = 0;
  int32_t minimum = 0;
  NetworkTopology topology;
  friend auto operator<=>(const PartitionPolicy&, const PartitionPolicy&) = default;
};

/// Which nodes a pod may use. Terms are ORed, the expressions in one are ANDed
/// (requiredDuringSchedulingIgnoredDuringExecution); fields are matchFields (metadata.name).
struct NodeConstraint {
  struct Term {
    std::vector<LabelRequirement> expressions;
    std::vector<LabelRequirement> fields;
    friend auto operator<=>(const Term&, const Term&) = default;
  };
  Labels selector;
  bool has_affinity = false;
  std::vector<Term> terms;
  std::vector<Toleration> tolerations;
  friend auto operator<=>(const NodeConstraint&, const NodeConstraint&) = default;
};

/// One task of a Job after defaults.
struct Task {
  std::string name;
  int32_t replicas = 0;
  int32_t min_available = 0;
  ResourceList request;  ///< Of one pod, by the rules of pod_request.h, with `pods: 1`.
  NodeConstraint nodes;
  PartitionPolicy partition;
  std::vector<std::string> depends_on;  ///< dependsOn.name: tasks that have to run before it.
  friend auto operator<=>(const Task&, const Task&) = default;
};

/// What ties the pods of a job to one cluster.
struct Ties {
  std::vector<std::string> plugins;  ///< By which they find each other (svc, mpi ...); sorted.
  bool volumes = false;              ///< They mount claims, which belong to one cluster.
  bool min_success = false;          ///< The end depends on a count that no shard has alone.
  friend bool operator==(const Ties&, const Ties&) = default;
};

/// Which clusters a job may use: annotations `clusters`, `cluster-selector`, `cluster-tolerations`.
struct ClusterConstraint {
  std::vector<std::string> names;  ///< In order of preference; empty: all.
  std::vector<LabelRequirement> selector;
  std::vector<Toleration> tolerations;
  friend auto operator<=>(const ClusterConstraint&, const ClusterConstraint&) = default;
};

struct JobKey {
  std::string ns;
  std::string name;
  friend auto operator<=>(const JobKey&, const JobKey&) = default;
  [[nodiscard]] std::string ToString() const { return ns + "/" + name; }
};

enum class JobKind { kJob, kHyperJob };

/// A template of a HyperJob and how many Jobs, its children, are made of it. Its tasks stand among
/// those of the Job as `<name>/<task>`, with the pods of all its children.
struct ReplicatedJob {
  std::string name;
  int32_t replicas = 1;
  int32_t tasks = 0;          ///< So many of Job::tasks, in order, are its own.
  int32_t min_available = 0;  ///< Pods of one child; where it is divided, of all of it.
  bool divided = false;       ///< splitPolicy auto: one child in each cluster that gets some of it.
  std::vector<std::string> clusters;  ///< clusterNames: it goes to no others; empty: to any.
  friend auto operator<=>(const ReplicatedJob&, const ReplicatedJob&) = default;
};

/// What one cluster was granted of one task.
struct TaskGrant {
  std::string name;
  int32_t replicas = 0;
  int32_t min_available = 0;
  std::optional<int32_t> at_once{};  ///< So many of them run at a time (waves.h); nothing: all.
  [[nodiscard]] int32_t AtOnce() const { return at_once.value_or(replicas); }
  friend bool operator==(const TaskGrant&, const TaskGrant&) = default;
};

/// No epoch is higher. Far beyond what counting one up with every placement reaches, so that one
/// that is read back from an object can always be counted on; a job that has it is placed no more.
inline constexpr int64_t kEpochMax = 1'000'000'000;

/// One (job, cluster) of a placement. Annotation `placement` on the parent is a list of these.
struct Shard {
  std::string cluster;
  int64_t epoch = 1;
  std::string child;  ///< `<replicatedJob>-<i>` of a HyperJob; empty for a Job.
  std::vector<TaskGrant> tasks;
  int32_t min_available = 0;
  /// What it is charged for: sum over its tasks at the granted replicas, or of what runs at once
  /// and of pods beyond that which have not ended yet (waves.h).
  ResourceList requests;
  Time grown{};   ///< When it got more pods last, of one in waves; 0: never in this epoch.
  Time shrunk{};  ///< When a plan took pods from it last to make room; 0: never in this epoch.
  [[nodiscard]] int64_t Pods() const {
    int64_t pods = 0;
    for (const TaskGrant& task : tasks) {
      pods += task.replicas;
    }
    return pods;
  }
  [[nodiscard]] int64_t PodsAtOnce() const {
    int64_t pods = 0;
    for (const TaskGrant& task : tasks) {
      pods += task.AtOnce();
    }
    return pods;
  }
  /// Its pods run in waves, in a member Queue of its own.
  [[nodiscard]] bool InWaves() const {
    return std::any_of(tasks.begin(), tasks.end(),
                       [](const TaskGrant& task) { return task.at_once.has_value(); });
  }
  friend bool operator==(const Shard&, const Shard&) = default;
};

/// What the member reported of one task's pods.
struct TaskReport {
  std::string task;
  int32_t running = 0;
  int32_t finished = 0;  ///< Succeeded and failed.
};

/// Of counts as they are reported, at least 0: more than fits, which no member has, is the most.
inline int32_t SumOfPods(int32_t a, int32_t b) {
  return static_cast<int32_t>(
      std::min<int64_t>(int64_t{a} + b, std::numeric_limits<int32_t>::max()));
}

/// A cluster that could not take a job, for a while: `reason` is a verdict's name
/// (MissingReference, NameConflict, ApplyFailed, StuckInMember, TooLarge; what else it may be
/// counts as Backoff). It is refused to that job before `until`, and no longer at it.
struct ClusterBackoff {
  std::string cluster;
  std::string reason;
  std::string message;
  Time until;
  friend bool operator==(const ClusterBackoff&, const ClusterBackoff&) = default;
};

/// A job that is there under the name of one that is gone and still holds something. It is a job of
/// State once that is given back.
struct Successor {
  std::string uid;
  std::string queue;  ///< As the object names it; empty: `default`.
  Time creation;
  /// When the pods of the earlier one are gone at the latest; 0: a Work of it is still there.
  Time clear;
  friend bool operator==(const Successor&, const Successor&) = default;
};

/// Room in one cluster that is kept for a job that waits.
struct Reservation {
  JobKey job;
  std::string uid;
  /// Empty: the job is at the head since `since`, and none is chosen yet.
  std::string cluster;
  Time since;
  /// Others are evicted for it: it is charged to its limits, and lasts for a while once they are
  /// gone.
  bool evicting = false;
  Time free_since;  ///< Of an evicting one: when the last of them was gone; 0: not yet.
  /// Of a job that may be granted a part of its pods: the least that it starts with is asked for,
  /// not all of it.
  bool at_floor = false;
  friend bool operator==(const Reservation&, const Reservation&) = default;
};

/// batch.volcano.sh/v1alpha1 Job, or training.volcano.sh/v1alpha1 HyperJob, after intake.
struct Job {
  JobKey key;
  std::string uid;  ///< metadata.uid; where it has none, derived from kind and key (offline).
  JobKind kind = JobKind::kJob;
  Time creation;
  std::string queue;
  std::string priority_class;
  int32_t min_available = 0;
  std::vector<Task> tasks;
  std::vector<ReplicatedJob> replicated_jobs;  ///< Of a HyperJob.
  NetworkTopology topology;
  ClusterConstraint clusters;
  std::optional<Millis> running_estimate;

  // Reasons not to be a candidate, as the object itself says them.
  std::string refused;     ///< Why intake refuses the object as it is now; empty: it does not.
  bool hold = false;       ///< Annotation `hold: "true"`.
  bool suspended = false;  ///< Aborting or Aborted by a Command.
  bool claimed_elsewhere = false;  ///< Karmada policy labels, or claimed-by somebody else.
  bool terminal = false;           ///< Completed, Failed, Terminated: it holds nothing.
  std::vector<std::string> missing_references;  ///< `Secret/team-a/token`; empty: all are there.
  std::vector<ClusterBackoff> backoffs;         ///< Also those that have ended; of any order.
  std::optional<Successor> successor;           ///< Of a job that is gone: who has its name now.

  // What is known of where it runs.
  std::vector<Shard> placement;  ///< Annotation `placement`, as observed; empty: none.
  std::vector<TaskReport> reports;
  Time reported;  ///< status.state.lastTransitionTime.

  // Checked at intake; used by later passes (split, share, recovery).
  Ties ties;
  std::string split = "when-needed";  ///< never, when-needed, allowed.
  std::string rendezvous;
  int32_t max_clusters = 0;          ///< 0: no limit.
  int32_t min_shard = 1;             ///< Pods.
  std::string max_distance = "any";  ///< cluster, zone, region, any.
  std::optional<Millis> min_runtime;
  bool preemptible = true;
  bool elastic = false;
  std::string checkpoint;
};

}  // namespace caldera
