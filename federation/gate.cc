#include "federation/gate.h"

#include <algorithm>

#include "federation/children.h"

namespace caldera {

namespace {

constexpr std::string_view kSystemPrefix = "system-";
constexpr int32_t kClusterCritical = 2'000'000'000;
constexpr int32_t kNodeCritical = 2'000'001'000;

int32_t SystemValue(const std::string& name) {
  if (name == "system-cluster-critical") {
    return kClusterCritical;
  }
  return name == "system-node-critical" ? kNodeCritical : 0;
}

/// Of several global defaults the API server takes the one with the smallest value.
int32_t GlobalDefault(const State& state) {
  std::optional<int32_t> value;
  for (const auto& [name, index] : state.priorities()) {
    const auto& object = state.priority(index).object;
    if (object.has_value() && object->global_default) {
      value = std::min(value.value_or(object->value), object->value);
    }
  }
  return value.value_or(0);
}

/// The tier name that still has to be looked up in a tree, of the job or of a partitioned task.
const std::string* TierName(const Shape& shape) {
  if (!shape.topology.highest_tier_name.empty()) {
    return &shape.topology.highest_tier_name;
  }
  for (const ShapeTask& task : shape.tasks) {
    if (task.partition.total > 0 && !task.partition.topology.highest_tier_name.empty()) {
      return &task.partition.topology.highest_tier_name;
    }
  }
  return nullptr;
}

bool NamespaceStays(const State& state, TenantIndex tenant) {
  const auto& object = state.tenant(tenant).object;
  return object.has_value() && object->skip_auto_propagation;
}

/// What the job says itself.
Reason OwnGate(const State& state, const JobEntry& job) {
  if (!job.rare().refused.empty()) {
    return {Verdict::kRefused, job.rare().refused, {}};
  }
  if (job.claimed_elsewhere) {
    return {
        Verdict::kClaimedElsewhere, "another propagation policy or controller has claimed it", {}};
  }
  if (job.hold) {
    return {Verdict::kHeld, "annotation hold keeps it back", {}};
  }
  if (!HasChildren(state.spec(job))) {
    return {Verdict::kHeld, "it has no children: all its replicatedJobs have replicas 0", {}};
  }
  if (job.suspended) {
    return {Verdict::kSuspended, "it was aborted by a Command and not resumed", {}};
  }
  if (!job.rare().missing_references.empty()) {
    std::string names;
    for (const std::string& name : job.rare().missing_references) {
      names += (names.empty() ? "" : ", ") + name;
    }
    return {Verdict::kMissingReference, "it refers to what is not there: " + names, {}};
  }
  if (job.rare().last_epoch >= kEpochMax && !job.charge.has_value()) {
    return {Verdict::kRefused,
            "annotation placement once gave it epoch " + std::to_string(job.rare().last_epoch) +
                ", and there is none after " + std::to_string(kEpochMax) +
                ": delete it and create it again without that annotation",
            {}};
  }
  return {};
}

}  // namespace

std::optional<int32_t> PriorityValue(const State& state, PriorityIndex priority) {
  if (priority == kNoIndex) {
    return GlobalDefault(state);
  }
  const PriorityEntry& entry = state.priority(priority);
  if (entry.object.has_value()) {
    return entry.object->value;
  }
  if (entry.name.starts_with(kSystemPrefix)) {
    return SystemValue(entry.name);
  }
  return std::nullopt;
}

bool Preempts(const State& state, PriorityIndex priority) {
  if (priority == kNoIndex) {
    return true;
  }
  const auto& object = state.priority(priority).object;
  return !object.has_value() || object->preempts;
}

Verdict LaneGate(const State& state, const QueueTree& tree, const Lane& lane) {
  if (!PriorityValue(state, lane.priority).has_value()) {
    return Verdict::kMissingReference;
  }
  if (NamespaceStays(state, lane.tenant)) {
    return Verdict::kNamespaceNotPropagated;
  }
  return tree.Gate(lane.queue);
}

Verdict ShapeGate(const Shape& shape) {
  return TierName(shape) != nullptr ? Verdict::kTopologyTier : Verdict::kNone;
}

Verdict ClassGate(const State& state, const QueueTree& tree, const JobClass& job_class) {
  Lane lane;
  lane.queue = job_class.queue;
  lane.priority = job_class.priority;
  lane.tenant = job_class.tenant;
  const Verdict gate = LaneGate(state, tree, lane);
  return gate != Verdict::kNone ? gate : ShapeGate(state.shape(job_class.shape));
}

Reason JobGate(const State& state, const QueueTree& tree, JobIndex index) {
  const JobEntry& job = state.job(index);
  if (Reason own = OwnGate(state, job); own.verdict != Verdict::kNone) {
    return own;
  }
  JobClass as_class;
  as_class.queue = job.queue;
  as_class.priority = job.priority;
  as_class.tenant = job.tenant;
  as_class.shape = job.shape;
  switch (const Verdict gate = ClassGate(state, tree, as_class); gate) {
    case Verdict::kMissingReference:
      return {gate,
              "it refers to what is not there: PriorityClass/" + state.priority(job.priority).name,
              {}};
    case Verdict::kNamespaceNotPropagated:
      return {gate,
              "namespace " + job.key.ns +
                  " is not propagated to the clusters (label "
                  "namespace.karmada.io/skip-auto-propagation)",
              {}};
    case Verdict::kTopologyTier:
      return {gate,
              "highestTierName " + *TierName(state.shape(job.shape)) +
                  " has to be found in each cluster's HyperNodes, which is not done yet; "
                  "highestTierAllowed is taken",
              {}};
    case Verdict::kNone:
      return {};
    default:
      return tree.Explain(job.queue);
  }
}

bool TopologyUnchecked(const Shape& shape) {
  // Hard without a tier is one cluster, which a whole job has anyway.
  const auto unchecked = [](const NetworkTopology& topology) {
    return topology.mode == TopologyMode::kSoft ||
           (topology.mode == TopologyMode::kHard && topology.highest_tier.has_value());
  };
  return unchecked(shape.topology) ||
         std::any_of(shape.tasks.begin(), shape.tasks.end(), [&](const ShapeTask& task) {
           return task.partition.total > 0 && unchecked(task.partition.topology);
         });
}

}  // namespace caldera
