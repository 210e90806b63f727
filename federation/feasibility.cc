#include "federation/feasibility.h"

#include <algorithm>

#include "federation/split.h"

namespace caldera {

namespace {

constexpr std::string_view kJobApi = "batch.volcano.sh/v1alpha1/Job";

bool ServesJobs(const Cluster& cluster) {
  return !cluster.apis_known ||
         std::find(cluster.apis.begin(), cluster.apis.end(), kJobApi) != cluster.apis.end();
}

bool Named(const Cluster& cluster, const ClusterConstraint& constraint) {
  return constraint.names.empty() || std::find(constraint.names.begin(), constraint.names.end(),
                                               cluster.name) != constraint.names.end();
}

bool Selected(const Cluster& cluster, const ClusterConstraint& constraint) {
  return std::all_of(constraint.selector.begin(), constraint.selector.end(),
                     [&](const LabelRequirement& r) { return Matches(r, cluster.labels); });
}

const Taint* FirstUntolerated(const Cluster& cluster, const ClusterConstraint& constraint) {
  const auto it =
      std::find_if(cluster.taints.begin(), cluster.taints.end(),
                   [&](const Taint& taint) { return !Tolerates(constraint.tolerations, {taint}); });
  return it == cluster.taints.end() ? nullptr : &*it;
}

/// The clusterNames of its children that do not name the cluster; nullptr: none.
const std::vector<std::string>* NamesWithout(const Shape& shape, const std::string& cluster) {
  const auto it = std::find_if(
      shape.split.bundles.begin(), shape.split.bundles.end(), [&](const SplitBundle& bundle) {
        const std::vector<std::string>& names = bundle.clusters;
        return !names.empty() && std::find(names.begin(), names.end(), cluster) == names.end();
      });
  return it == shape.split.bundles.end() ? nullptr : &it->clusters;
}

}  // namespace

bool IsAllowed(const ClusterView& cluster, const ClusterConstraint& constraint) {
  const Cluster& object = cluster.object();
  return Named(object, constraint) && Selected(object, constraint) && ServesJobs(object) &&
         Tolerates(constraint.tolerations, object.taints);
}

bool IsAdmitted(const ClusterView& cluster, const ClusterConstraint& constraint) {
  return cluster.Offers() && IsAllowed(cluster, constraint);
}

Reason Admits(const ClusterView& cluster, const ClusterConstraint& constraint) {
  const Cluster& object = cluster.object();
  if (!Named(object, constraint)) {
    return {Verdict::kNoClusterMatches, "the job's clusters annotation does not name it", {}};
  }
  if (!Selected(object, constraint)) {
    return {Verdict::kNoClusterMatches, "the job's cluster-selector does not match its labels", {}};
  }
  if (!ServesJobs(object)) {
    return {Verdict::kNoClusterMatches, "it does not serve " + std::string(kJobApi), {}};
  }
  if (const Taint* taint = FirstUntolerated(object, constraint); taint != nullptr) {
    return {Verdict::kNoClusterMatches,
            "the job's cluster-tolerations do not tolerate its taint " + taint->key +
                (taint->value.empty() ? "" : "=" + taint->value) + ":" + taint->effect,
            {}};
  }
  if (object.deleting) {
    return {Verdict::kClusterNotReady, "it is being deleted", {}};
  }
  if (!object.ready) {
    return {Verdict::kClusterNotReady, "it is not Ready", {}};
  }
  return {};
}

bool IsAllowed(const ClusterView& cluster, const Shape& shape) {
  return IsAllowed(cluster, shape.clusters) && NamesWithout(shape, cluster.name()) == nullptr;
}

bool IsAdmitted(const ClusterView& cluster, const Shape& shape) {
  return cluster.Offers() && IsAllowed(cluster, shape);
}

Reason Admits(const ClusterView& cluster, const Shape& shape) {
  Reason reason = Admits(cluster, shape.clusters);
  const std::vector<std::string>* names = NamesWithout(shape, cluster.name());
  if (reason.verdict == Verdict::kNone && names != nullptr) {
    std::string listed;
    for (const std::string& name : *names) {
      listed += (listed.empty() ? "" : ", ") + name;
    }
    reason = {Verdict::kNoClusterMatches,
              "not all of its children may go there: clusterNames of a replicatedJob are " + listed,
              {}};
  }
  return reason;
}

bool FitsNow(const ClusterView& cluster, const Shape& shape, const ShapeFacts& facts) {
  if (!facts.total.FitsIn(cluster.free)) {
    return false;
  }
  if (!cluster.nodes.has_value()) {
    return true;
  }
  NodePool nodes = *cluster.nodes;
  return nodes.Pack(GangOf(shape, facts));
}

bool FitsEmpty(const State& state, const ClusterView& cluster, ShapeIndex shape) {
  const ShapeFacts& facts = state.facts(shape);
  if (!facts.total.FitsIn(cluster.allocatable)) {
    return false;
  }
  if (!cluster.nodes.has_value()) {
    return true;
  }
  NodePool nodes(state, *cluster.entry);
  return nodes.Pack(GangOf(state.shape(shape), facts));
}

Reason Room(const State& state, const ClusterView& cluster, ShapeIndex shape) {
  const ShapeFacts& facts = state.facts(shape);
  Reason reason{Verdict::kInsufficientResources, "", {}};
  for (const ResourceIndex r : facts.requested) {
    const int64_t requested = facts.total[r];
    if (requested > cluster.free[r]) {
      const int64_t all = cluster.Offers() ? cluster.allocatable[r] : 0;
      const std::string& name = state.resources().Name(r);
      reason.figures.push_back(
          {"Cluster/" + cluster.name(), name, requested, SaturatingSub(all, cluster.free[r]), all});
      if (reason.message.empty()) {
        reason.message = FormatAmount(name, requested) + " " + name + " asked, " +
                         FormatAmount(name, cluster.free[r]) + " of " + FormatAmount(name, all) +
                         " free" + (requested > all ? ": larger than the cluster" : "");
      }
    }
  }
  if (!reason.figures.empty()) {
    return reason;
  }
  if (FitsNow(cluster, state.shape(shape), facts)) {
    return {};
  }
  NodePool nodes = *cluster.nodes;
  const std::vector<NodePool::Task> gang = GangOf(state.shape(shape), facts);
  const int64_t slots = nodes.PackMost(gang);
  int64_t pods = 0;
  for (const NodePool::Task& task : gang) {
    pods += task.replicas;
  }
  reason.figures.push_back({"Cluster/" + cluster.name(), "", pods, 0, slots});
  reason.message = "its nodes hold " + std::to_string(slots) + " of " + std::to_string(pods) +
                   " such pods, node by node";
  return reason;
}

const ClusterBackoff* LiveBackoff(const JobEntry& job, std::string_view cluster, Time now) {
  const ClusterBackoff* last = nullptr;
  for (const ClusterBackoff& backoff : job.rare().backoffs) {
    if (backoff.cluster == cluster && backoff.until > now &&
        (last == nullptr || backoff.until > last->until)) {
      last = &backoff;
    }
  }
  return last;
}

Verdict VerdictOf(const ClusterBackoff& backoff) {
  for (const Verdict verdict :
       {Verdict::kMissingReference, Verdict::kNameConflict, Verdict::kApplyFailed,
        Verdict::kStuckInMember, Verdict::kTooLarge}) {
    if (backoff.reason == VerdictName(verdict)) {
      return verdict;
    }
  }
  return Verdict::kBackoff;
}

/// New pods would have the names of those.
Reason PodsLeft(const State& state, const JobEntry& job, std::string_view cluster) {
  const auto it = state.clusters().find(cluster);
  const int64_t left = it == state.clusters().end() ? 0 : state.PodsOf(job, it->second);
  if (left == 0) {
    return {};
  }
  return {Verdict::kBackoff,
          "pods of a job of that name are still there: " + std::to_string(left),
          {{"Cluster/" + std::string(cluster), "", left, 0, 0}}};
}

Reason BacksOff(const State& state, const JobEntry& job, std::string_view cluster) {
  const ClusterBackoff* backoff = LiveBackoff(job, cluster, state.now());
  if (backoff == nullptr) {
    return PodsLeft(state, job, cluster);
  }
  int64_t pods = 0;
  for (const Task& task : state.spec(job).tasks) {
    pods += task.replicas;
  }
  const std::string& why = backoff->message.empty() ? backoff->reason : backoff->message;
  const Verdict verdict = VerdictOf(*backoff);
  // What is missing is looked for all the while.
  const std::string when = verdict == Verdict::kMissingReference
                               ? "it is looked for again and again"
                               : "not tried again before " + FormatTime(backoff->until);
  Reason reason{verdict, why + (why.empty() ? "" : "; ") + when, {}};
  if (pods > 0) {
    reason.figures.push_back({"Cluster/" + std::string(cluster), "", pods, 0, 0});
  }
  return reason;
}

bool CouldEverFit(const State& state, const std::vector<ClusterView>& clusters, ShapeIndex shape,
                  const TenantLimits& quotas) {
  const ShapeFacts& facts = state.facts(shape);
  const auto assigned = [&](const ClusterView& cluster) {
    const auto quota = quotas.in.find(cluster.index);
    return quota == quotas.in.end() ||
           std::all_of(facts.requested.begin(), facts.requested.end(),
                       [&](ResourceIndex r) { return facts.total[r] <= quota->second[r]; });
  };
  return std::any_of(clusters.begin(), clusters.end(), [&](const ClusterView& cluster) {
    return !cluster.lost && IsAllowed(cluster, state.shape(shape)) && assigned(cluster) &&
           FitsEmpty(state, cluster, shape);
  });
}

bool CouldEverGo(const State& state, const std::vector<ClusterView>& clusters, ShapeIndex shape,
                 const TenantLimits& quotas) {
  return CouldEverFit(state, clusters, shape, quotas) ||
         CouldEverSplit(state, clusters, shape, quotas);
}

}  // namespace caldera
