// The one list of fields of every struct that a Change or a Plan is made of: name in the canonical
// text and member, in the order in which they are written. codec.cc encodes, decodes and compares
// by these lists; the property tests make random values by them. A field that is missing here would
// be lost in the journal: it does not compile. Names are never reused for another meaning: ledgers
// outlive builds.
#pragma once

#include <array>
#include <concepts>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "federation/change.h"
#include "federation/model.h"
#include "federation/plan.h"

namespace caldera::codec {

template <class T, class M>
struct Entry {
  std::string_view name;
  M T::*member;
};
template <class T, class M>
constexpr Entry<T, M> F(std::string_view name, M T::*member) {
  return {name, member};
}

// ------------------------------------------------------------------------------- enum names

template <class E>
using EnumName = std::pair<E, std::string_view>;

constexpr auto NamesOf(const QueueState*) {
  using enum QueueState;
  return std::array{EnumName<QueueState>{kOpen, "Open"}, EnumName<QueueState>{kClosing, "Closing"},
                    EnumName<QueueState>{kClosed, "Closed"},
                    EnumName<QueueState>{kUnknown, "Unknown"}};
}
constexpr auto NamesOf(const DequeueStrategy*) {
  using enum DequeueStrategy;
  return std::array{EnumName<DequeueStrategy>{kTraverse, "traverse"},
                    EnumName<DequeueStrategy>{kFifo, "fifo"}};
}
constexpr auto NamesOf(const TopologyMode*) {
  using enum TopologyMode;
  return std::array{EnumName<TopologyMode>{kNone, "none"}, EnumName<TopologyMode>{kHard, "hard"},
                    EnumName<TopologyMode>{kSoft, "soft"}};
}
constexpr auto NamesOf(const JobKind*) {
  using enum JobKind;
  return std::array{EnumName<JobKind>{kJob, "Job"}, EnumName<JobKind>{kHyperJob, "HyperJob"}};
}
constexpr auto NamesOf(const ActionKind*) {
  using enum ActionKind;
  return std::array{EnumName<ActionKind>{kPlace, "Place"}, EnumName<ActionKind>{kGrow, "Grow"},
                    EnumName<ActionKind>{kShrink, "Shrink"}, EnumName<ActionKind>{kEvict, "Evict"}};
}
template <class T>
concept HasNames = requires {
  NamesOf(static_cast<const T*>(nullptr));
};

// ------------------------------------------------------------------------------------- model

constexpr auto FieldsOf(const Queue*) {
  return std::tuple{F("name", &Queue::name),
                    F("uid", &Queue::uid),
                    F("creation", &Queue::creation),
                    F("parent", &Queue::parent),
                    F("weight", &Queue::weight),
                    F("priority", &Queue::priority),
                    F("capability", &Queue::capability),
                    F("guarantee", &Queue::guarantee),
                    F("deserved", &Queue::deserved),
                    F("reclaimable", &Queue::reclaimable),
                    F("dequeueStrategy", &Queue::dequeue_strategy),
                    F("state", &Queue::state)};
}
constexpr auto FieldsOf(const PriorityClass*) {
  return std::tuple{F("name", &PriorityClass::name), F("value", &PriorityClass::value),
                    F("globalDefault", &PriorityClass::global_default),
                    F("preempts", &PriorityClass::preempts)};
}
constexpr auto FieldsOf(const TenantQuota*) {
  return std::tuple{F("tenant", &TenantQuota::tenant), F("name", &TenantQuota::name),
                    F("overall", &TenantQuota::overall), F("perCluster", &TenantQuota::per_cluster),
                    F("weight", &TenantQuota::weight)};
}
constexpr auto FieldsOf(const Namespace*) {
  return std::tuple{F("name", &Namespace::name),
                    F("skipAutoPropagation", &Namespace::skip_auto_propagation)};
}
constexpr auto FieldsOf(const Taint*) {
  return std::tuple{F("key", &Taint::key), F("value", &Taint::value), F("effect", &Taint::effect)};
}
constexpr auto FieldsOf(const Toleration*) {
  return std::tuple{F("key", &Toleration::key), F("op", &Toleration::op),
                    F("value", &Toleration::value), F("effect", &Toleration::effect)};
}
constexpr auto FieldsOf(const LabelRequirement*) {
  return std::tuple{F("key", &LabelRequirement::key), F("op", &LabelRequirement::op),
                    F("values", &LabelRequirement::values)};
}
constexpr auto FieldsOf(const Cluster*) {
  return std::tuple{F("name", &Cluster::name),
                    F("uid", &Cluster::uid),
                    F("labels", &Cluster::labels),
                    F("taints", &Cluster::taints),
                    F("zones", &Cluster::zones),
                    F("region", &Cluster::region),
                    F("provider", &Cluster::provider),
                    F("cost", &Cluster::cost),
                    F("ready", &Cluster::ready),
                    F("readyChanged", &Cluster::ready_changed),
                    F("deleting", &Cluster::deleting),
                    F("apisKnown", &Cluster::apis_known),
                    F("apis", &Cluster::apis),
                    F("hasSummary", &Cluster::has_summary),
                    F("allocatable", &Cluster::allocatable),
                    F("allocated", &Cluster::allocated),
                    F("allocating", &Cluster::allocating)};
}
constexpr auto FieldsOf(const Node*) {
  return std::tuple{F("cluster", &Node::cluster),
                    F("name", &Node::name),
                    F("labels", &Node::labels),
                    F("taints", &Node::taints),
                    F("unschedulable", &Node::unschedulable),
                    F("ready", &Node::ready),
                    F("allocatable", &Node::allocatable)};
}
constexpr auto FieldsOf(const Pod*) {
  return std::tuple{F("cluster", &Pod::cluster),   F("namespace", &Pod::ns),
                    F("name", &Pod::name),         F("node", &Pod::node),
                    F("requests", &Pod::requests), F("terminal", &Pod::terminal),
                    F("job", &Pod::job),           F("task", &Pod::task)};
}
constexpr auto FieldsOf(const HyperNodeMember*) {
  return std::tuple{F("type", &HyperNodeMember::type), F("exact", &HyperNodeMember::exact),
                    F("regex", &HyperNodeMember::regex),
                    F("matchLabels", &HyperNodeMember::match_labels),
                    F("matchExpressions", &HyperNodeMember::match_expressions)};
}
constexpr auto FieldsOf(const HyperNode*) {
  return std::tuple{F("cluster", &HyperNode::cluster), F("name", &HyperNode::name),
                    F("tier", &HyperNode::tier), F("tierName", &HyperNode::tier_name),
                    F("members", &HyperNode::members)};
}
constexpr auto FieldsOf(const NetworkTopology*) {
  return std::tuple{F("mode", &NetworkTopology::mode),
                    F("highestTier", &NetworkTopology::highest_tier),
                    F("highestTierName", &NetworkTopology::highest_tier_name)};
}
constexpr auto FieldsOf(const PartitionPolicy*) {
  return std::tuple{F("total", &PartitionPolicy::total), F("size", &PartitionPolicy::size),
                    F("minimum", &PartitionPolicy::minimum),
                    F("topology", &PartitionPolicy::topology)};
}
constexpr auto FieldsOf(const NodeConstraint::Term*) {
  return std::tuple{F("expressions", &NodeConstraint::Term::expressions),
                    F("fields", &NodeConstraint::Term::fields)};
}
constexpr auto FieldsOf(const NodeConstraint*) {
  return std::tuple{
      F("selector", &NodeConstraint::selector), F("hasAffinity", &NodeConstraint::has_affinity),
      F("terms", &NodeConstraint::terms), F("tolerations", &NodeConstraint::tolerations)};
}
constexpr auto FieldsOf(const Task*) {
  return std::tuple{F("name", &Task::name),
                    F("replicas", &Task::replicas),
                    F("minAvailable", &Task::min_available),
                    F("request", &Task::request),
                    F("nodes", &Task::nodes),
                    F("partition", &Task::partition),
                    F("dependsOn", &Task::depends_on)};
}
constexpr auto FieldsOf(const Ties*) {
  return std::tuple{F("plugins", &Ties::plugins), F("volumes", &Ties::volumes),
                    F("minSuccess", &Ties::min_success)};
}
constexpr auto FieldsOf(const ClusterConstraint*) {
  return std::tuple{F("names", &ClusterConstraint::names),
                    F("selector", &ClusterConstraint::selector),
                    F("tolerations", &ClusterConstraint::tolerations)};
}
constexpr auto FieldsOf(const JobKey*) {
  return std::tuple{F("namespace", &JobKey::ns), F("name", &JobKey::name)};
}
constexpr auto FieldsOf(const TaskGrant*) {
  return std::tuple{F("name", &TaskGrant::name), F("replicas", &TaskGrant::replicas),
                    F("minAvailable", &TaskGrant::min_available), F("atOnce", &TaskGrant::at_once)};
}
constexpr auto FieldsOf(const Shard*) {
  return std::tuple{F("cluster", &Shard::cluster),
                    F("epoch", &Shard::epoch),
                    F("child", &Shard::child),
                    F("tasks", &Shard::tasks),
                    F("minAvailable", &Shard::min_available),
                    F("requests", &Shard::requests),
                    F("grown", &Shard::grown),
                    F("shrunk", &Shard::shrunk)};
}
constexpr auto FieldsOf(const TaskReport*) {
  return std::tuple{F("task", &TaskReport::task), F("running", &TaskReport::running),
                    F("finished", &TaskReport::finished)};
}
constexpr auto FieldsOf(const ClusterBackoff*) {
  return std::tuple{F("cluster", &ClusterBackoff::cluster), F("reason", &ClusterBackoff::reason),
                    F("message", &ClusterBackoff::message), F("until", &ClusterBackoff::until)};
}
constexpr auto FieldsOf(const Successor*) {
  return std::tuple{F("uid", &Successor::uid), F("queue", &Successor::queue),
                    F("creation", &Successor::creation), F("clear", &Successor::clear)};
}
constexpr auto FieldsOf(const ReplicatedJob*) {
  return std::tuple{
      F("name", &ReplicatedJob::name),       F("replicas", &ReplicatedJob::replicas),
      F("tasks", &ReplicatedJob::tasks),     F("minAvailable", &ReplicatedJob::min_available),
      F("divided", &ReplicatedJob::divided), F("clusters", &ReplicatedJob::clusters)};
}
constexpr auto FieldsOf(const Job*) {
  return std::tuple{F("key", &Job::key),
                    F("uid", &Job::uid),
                    F("kind", &Job::kind),
                    F("creation", &Job::creation),
                    F("queue", &Job::queue),
                    F("priorityClass", &Job::priority_class),
                    F("minAvailable", &Job::min_available),
                    F("tasks", &Job::tasks),
                    F("replicatedJobs", &Job::replicated_jobs),
                    F("topology", &Job::topology),
                    F("clusters", &Job::clusters),
                    F("runningEstimate", &Job::running_estimate),
                    F("refused", &Job::refused),
                    F("hold", &Job::hold),
                    F("suspended", &Job::suspended),
                    F("claimedElsewhere", &Job::claimed_elsewhere),
                    F("terminal", &Job::terminal),
                    F("missingReferences", &Job::missing_references),
                    F("backoffs", &Job::backoffs),
                    F("successor", &Job::successor),
                    F("placement", &Job::placement),
                    F("reports", &Job::reports),
                    F("reported", &Job::reported),
                    F("ties", &Job::ties),
                    F("split", &Job::split),
                    F("rendezvous", &Job::rendezvous),
                    F("maxClusters", &Job::max_clusters),
                    F("minShard", &Job::min_shard),
                    F("maxDistance", &Job::max_distance),
                    F("minRuntime", &Job::min_runtime),
                    F("preemptible", &Job::preemptible),
                    F("elastic", &Job::elastic),
                    F("checkpoint", &Job::checkpoint)};
}

// ----------------------------------------------------------------------------------- changes

constexpr auto FieldsOf(const Settings*) {
  return std::tuple{F("summaryPeriod", &Settings::summary_period),
                    F("clusterLostAfter", &Settings::cluster_lost_after),
                    F("usageHalfLife", &Settings::usage_half_life),
                    F("usageWeight", &Settings::usage_weight),
                    F("minRuntime", &Settings::min_runtime),
                    F("evictionsADay", &Settings::evictions_a_day),
                    F("reserveAfter", &Settings::reserve_after),
                    F("holdAfterFree", &Settings::hold_after_free)};
}
constexpr auto FieldsOf(const ClockSet*) { return std::tuple{F("now", &ClockSet::now)}; }
constexpr auto FieldsOf(const SettingsSet*) {
  return std::tuple{F("settings", &SettingsSet::settings)};
}
constexpr auto FieldsOf(const QueueUpsert*) { return std::tuple{F("queue", &QueueUpsert::queue)}; }
constexpr auto FieldsOf(const QueueDelete*) { return std::tuple{F("name", &QueueDelete::name)}; }
constexpr auto FieldsOf(const PriorityClassUpsert*) {
  return std::tuple{F("priorityClass", &PriorityClassUpsert::priority_class)};
}
constexpr auto FieldsOf(const PriorityClassDelete*) {
  return std::tuple{F("name", &PriorityClassDelete::name)};
}
constexpr auto FieldsOf(const TenantQuotaUpsert*) {
  return std::tuple{F("quota", &TenantQuotaUpsert::quota)};
}
constexpr auto FieldsOf(const TenantQuotaDelete*) {
  return std::tuple{F("tenant", &TenantQuotaDelete::tenant), F("name", &TenantQuotaDelete::name)};
}
constexpr auto FieldsOf(const NamespaceUpsert*) {
  return std::tuple{F("namespace", &NamespaceUpsert::ns)};
}
constexpr auto FieldsOf(const NamespaceDelete*) {
  return std::tuple{F("name", &NamespaceDelete::name)};
}
constexpr auto FieldsOf(const ClusterUpsert*) {
  return std::tuple{F("cluster", &ClusterUpsert::cluster)};
}
constexpr auto FieldsOf(const ClusterDelete*) {
  return std::tuple{F("name", &ClusterDelete::name)};
}
constexpr auto FieldsOf(const NodeUpsert*) { return std::tuple{F("node", &NodeUpsert::node)}; }
constexpr auto FieldsOf(const NodeDelete*) {
  return std::tuple{F("cluster", &NodeDelete::cluster), F("name", &NodeDelete::name)};
}
constexpr auto FieldsOf(const PodUpsert*) { return std::tuple{F("pod", &PodUpsert::pod)}; }
constexpr auto FieldsOf(const PodDelete*) {
  return std::tuple{F("cluster", &PodDelete::cluster), F("namespace", &PodDelete::ns),
                    F("name", &PodDelete::name)};
}
constexpr auto FieldsOf(const HyperNodeUpsert*) {
  return std::tuple{F("hyperNode", &HyperNodeUpsert::hyper_node)};
}
constexpr auto FieldsOf(const HyperNodeDelete*) {
  return std::tuple{F("cluster", &HyperNodeDelete::cluster), F("name", &HyperNodeDelete::name)};
}
constexpr auto FieldsOf(const JobUpsert*) { return std::tuple{F("job", &JobUpsert::job)}; }
constexpr auto FieldsOf(const JobDelete*) {
  return std::tuple{F("key", &JobDelete::key), F("uid", &JobDelete::uid)};
}
constexpr auto FieldsOf(const Placed*) {
  return std::tuple{F("key", &Placed::key), F("uid", &Placed::uid), F("intent", &Placed::intent),
                    F("at", &Placed::at), F("shards", &Placed::shards)};
}
constexpr auto FieldsOf(const Released*) {
  return std::tuple{F("key", &Released::key), F("uid", &Released::uid),
                    F("epoch", &Released::epoch)};
}
constexpr auto FieldsOf(const Evicted*) {
  return std::tuple{F("key", &Evicted::key),
                    F("uid", &Evicted::uid),
                    F("intent", &Evicted::intent),
                    F("at", &Evicted::at),
                    F("beneficiary", &Evicted::beneficiary),
                    F("beneficiaryUid", &Evicted::beneficiary_uid)};
}
constexpr auto FieldsOf(const Reservation*) {
  return std::tuple{F("job", &Reservation::job),           F("uid", &Reservation::uid),
                    F("cluster", &Reservation::cluster),   F("since", &Reservation::since),
                    F("evicting", &Reservation::evicting), F("freeSince", &Reservation::free_since),
                    F("atFloor", &Reservation::at_floor)};
}
constexpr auto FieldsOf(const ReservationsSet*) {
  return std::tuple{F("reservations", &ReservationsSet::reservations)};
}
constexpr auto FieldsOf(const UsageSet*) {
  return std::tuple{F("queue", &UsageSet::queue), F("tenant", &UsageSet::tenant),
                    F("anchor", &UsageSet::anchor), F("whole", &UsageSet::whole),
                    F("part", &UsageSet::part)};
}

/// The value of key `change`, in the order of the variant's alternatives.
inline constexpr std::array<std::string_view, 25> kChangeNames = {"ClockSet",
                                                                  "SettingsSet",
                                                                  "QueueUpsert",
                                                                  "QueueDelete",
                                                                  "PriorityClassUpsert",
                                                                  "PriorityClassDelete",
                                                                  "TenantQuotaUpsert",
                                                                  "TenantQuotaDelete",
                                                                  "NamespaceUpsert",
                                                                  "NamespaceDelete",
                                                                  "ClusterUpsert",
                                                                  "ClusterDelete",
                                                                  "NodeUpsert",
                                                                  "NodeDelete",
                                                                  "PodUpsert",
                                                                  "PodDelete",
                                                                  "HyperNodeUpsert",
                                                                  "HyperNodeDelete",
                                                                  "JobUpsert",
                                                                  "JobDelete",
                                                                  "Placed",
                                                                  "Released",
                                                                  "Evicted",
                                                                  "ReservationsSet",
                                                                  "UsageSet"};
static_assert(kChangeNames.size() == std::variant_size_v<Change>);

// -------------------------------------------------------------------------------------- plan

constexpr auto FieldsOf(const Action*) {
  return std::tuple{F("rank", &Action::rank),
                    F("job", &Action::job),
                    F("uid", &Action::uid),
                    F("kind", &Action::kind),
                    F("queue", &Action::queue),
                    F("action", &Action::action),
                    F("topologyUnchecked", &Action::topology_unchecked),
                    F("shards", &Action::shards),
                    F("beneficiary", &Action::beneficiary),
                    F("beneficiaryUid", &Action::beneficiary_uid),
                    F("reason", &Action::reason)};
}
constexpr auto FieldsOf(const Plan*) {
  return std::tuple{F("now", &Plan::now), F("actions", &Plan::actions),
                    F("reservations", &Plan::reservations)};
}

// --------------------------------------------------------------------------- shapes of fields

template <class T>
concept HasFields = requires {
  FieldsOf(static_cast<const T*>(nullptr));
};
template <class T>
inline constexpr bool kIsVector = false;
template <class T>
inline constexpr bool kIsVector<std::vector<T>> = true;
template <class T>
inline constexpr bool kIsMap = false;
template <class K, class V, class C>
inline constexpr bool kIsMap<std::map<K, V, C>> = true;
template <class T>
inline constexpr bool kIsOptional = false;
template <class T>
inline constexpr bool kIsOptional<std::optional<T>> = true;

/// Stands for a value of any member, to count the members of an aggregate.
struct AnyMember {
  // NOLINTBEGIN(google-explicit-constructor): converting is what it is for.
  template <class T>
  requires(!kIsOptional<T>) operator T() const;
  // NOLINTEND(google-explicit-constructor)
};
template <class T, size_t... kIndex>
consteval bool HasMembers(std::index_sequence<kIndex...> /*as many*/) {
  return requires { T{(static_cast<void>(kIndex), AnyMember{})...}; };
}
template <class T, size_t kCount = 0>
consteval size_t CountMembers() {
  if constexpr (HasMembers<T>(std::make_index_sequence<kCount + 1>())) {
    return CountMembers<T, kCount + 1>();
  } else {
    return kCount;
  }
}

/// Calls fn(entry) for each field of T, in order.
template <class T, class Fn>
constexpr void ForEachField(Fn&& fn) {
  static_assert(
      CountMembers<T>() == std::tuple_size_v<decltype(FieldsOf(static_cast<const T*>(nullptr)))>,
      "a member of T is missing in FieldsOf");
  std::apply([&fn](const auto&... entry) { (fn(entry), ...); },
             FieldsOf(static_cast<const T*>(nullptr)));
}

/// Deep equality by the field lists.
template <class T>
bool Same(const T& a, const T& b) {
  if constexpr (HasFields<T>) {
    bool same = true;
    ForEachField<T>(
        [&](const auto& entry) { same = same && Same(a.*(entry.member), b.*(entry.member)); });
    return same;
  } else if constexpr (kIsVector<T>) {
    if (a.size() != b.size()) {
      return false;
    }
    for (size_t i = 0; i < a.size(); ++i) {
      if (!Same(a[i], b[i])) {
        return false;
      }
    }
    return true;
  } else {
    return a == b;
  }
}

}  // namespace caldera::codec
