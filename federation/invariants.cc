#include "federation/invariants.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "federation/children.h"
#include "federation/invariants_grants.h"
#include "federation/invariants_limits.h"
#include "federation/node_pool.h"

namespace caldera {

namespace {

/// Holds every rule against one plan, action by action.
class Checker {
 public:
  explicit Checker(const State& state) : state_(state) {}

  std::vector<std::string> Run(const Plan& plan) {
    for (size_t k = 0; k < plan.actions.size(); ++k) {
      const Action& action = plan.actions[k];
      job_ = &action.job;
      Expect(action.rank == static_cast<int32_t>(k) + 1, "its rank is not its position");
      CheckAction(action);
    }
    job_ = nullptr;
    if (limits_.has_value()) {
      for (const std::string& broken : limits_->Reserved()) {
        Expect(false, broken);
      }
    }
    return std::move(broken_);
  }

 private:
  /// The rule in parts: they are put together only where it is broken.
  template <typename... Parts>
  void Expect(bool holds, const Parts&... rule) {
    if (!holds) {
      std::string& broken = broken_.emplace_back(job_ == nullptr ? "the plan" : job_->ToString());
      broken += ": ";
      (broken.append(rule), ...);
    }
  }

  void CheckEvict(const JobEntry& job, const Action& action) {
    if (!job.charge.has_value() || job.Evicting()) {
      Expect(false, "it holds nothing that it could be evicted from");
      return;
    }
    Expect(action.shards == job.charge->shards, "it is evicted from other shards than it holds");
    CheckMakesRoom(job, action, true);
  }

  /// What holds for whoever is evicted or shrunk for another.
  void CheckMakesRoom(const JobEntry& job, const Action& action, bool loses_work) {
    const JobSpec& spec = state_.spec(job);
    Expect(spec.preemptible, "it is not preemptible");
    const Millis least = spec.min_runtime.value_or(state_.settings().min_runtime);
    Expect(!loses_work || state_.now() - job.charge->at >= least,
           "it has not run for its min-runtime");
    const auto lately = std::count_if(
        job.rare().evictions.begin(), job.rare().evictions.end(),
        [&](const Eviction& past) { return state_.now() - past.at < std::chrono::hours(24); });
    Expect(!loses_work || lately < state_.settings().evictions_a_day,
           "it was evicted too often in a day");
    const JobIndex by = state_.FindJob(action.beneficiary, action.beneficiary_uid);
    if (by == kNoIndex || !state_.job(by).Pending()) {
      Expect(false, "who it makes room for does not wait");
      return;
    }
    const JobEntry& claimant = state_.job(by);
    const auto& object = state_.queue(job.charge_queue).object;
    Expect(job.charge_queue == claimant.queue || (object.has_value() && object->reclaimable),
           "its queue is not reclaimable");
    Expect(job.charge_queue == claimant.queue ||
               std::none_of(claimant.rare().evictions.begin(), claimant.rare().evictions.end(),
                            [&](const Eviction& past) {
                              return past.beneficiary == job.key &&
                                     past.beneficiary_uid == job.uid &&
                                     state_.now() - past.at < std::chrono::hours(24);
                            }),
           "who it makes room for made room for it in the last day");
  }

  void CheckAction(const Action& action) {
    const JobIndex index = state_.FindJob(action.job, action.kind);
    if (index == kNoIndex || state_.job(index).uid != action.uid) {
      Expect(false, "there is no such job");
      return;
    }
    const JobEntry& job = state_.job(index);
    placed_.resize(std::max<size_t>(placed_.size(), size_t{index} + 1), false);
    Expect(!placed_[index], "it is placed twice");
    placed_[index] = true;
    if (action.action == ActionKind::kEvict) {
      CheckEvict(job, action);
      return;
    }
    if (action.action != ActionKind::kPlace) {
      CheckResize(job, action);
      return;
    }
    Expect(!job.terminal && !job.charge.has_value(), "it is not pending");
    CheckCandidate(job);
    CheckQueue(job);
    CheckSums(job, action);
    if (state_.spec(job).kind == JobKind::kHyperJob) {
      CheckChildren(job, action.shards);
    } else if (action.shards.size() > 1) {
      CheckSplit(job, action.shards);
    }
    for (const Shard& shard : action.shards) {
      for (const ClusterBackoff& backoff : job.rare().backoffs) {
        Expect(backoff.cluster != shard.cluster || backoff.until <= state_.now(), "cluster ",
               shard.cluster, " backs off for it");
      }
      const auto there = state_.clusters().find(shard.cluster);
      Expect(there == state_.clusters().end() || state_.PodsOf(job, there->second) == 0,
             "pods of it are still in cluster ", shard.cluster);
      if (CheckCluster(state_.spec(job).clusters, shard)) {
        for (const std::string& broken : Limits().Charge(job, shard)) {
          Expect(false, broken);
        }
      }
    }
  }

  /// Same place, the spec's counts; what is more is charged like a placement.
  void CheckResize(const JobEntry& job, const Action& action) {
    if (!job.charge.has_value() || job.charge->shards.size() != 1 || action.shards.size() != 1) {
      Expect(false, "it does not run in one cluster");
      return;
    }
    const Shard& held = job.charge->shards.front();
    const Shard& wanted = action.shards.front();
    Expect(std::tie(held.cluster, held.epoch, held.child) ==
               std::tie(wanted.cluster, wanted.epoch, wanted.child),
           "its place is another");
    Expect(!job.suspended && !job.claimed_elsewhere, "it is held back");
    CheckSums(job, action);
    const JobSpec& spec = state_.spec(job);
    if (!action.beneficiary.name.empty()) {
      Expect(action.action == ActionKind::kShrink && !job.Evicting(),
             "only who stays and shrinks makes room so");
      CheckMakesRoom(job, action, !held.InWaves());
      for (const std::string& broken : BrokenInCut(spec, held, wanted, state_.now())) {
        Expect(false, broken);
      }
    }
    Expect(action.action != ActionKind::kGrow || MayGrowAgain(spec, held, state_.now()),
           "it grows too soon after it was shrunk");
    Shard more;
    more.cluster = wanted.cluster;
    for (const TaskGrant& grant : wanted.tasks) {
      const auto before = std::find_if(held.tasks.begin(), held.tasks.end(),
                                       [&](const TaskGrant& t) { return t.name == grant.name; });
      if (before == held.tasks.end()) {
        Expect(false, "task ", grant.name, " is a new one");
        return;
      }
      for (const Task& task : spec.tasks) {
        if (task.name == grant.name && grant.replicas > before->replicas) {
          AddTo(more.requests, Times(task.request, int64_t{grant.replicas} - before->replicas));
          more.tasks.push_back(grant);
        } else if (task.name == grant.name && grant.AtOnce() > before->AtOnce()) {
          more.tasks.push_back(grant);
        }
      }
    }
    Expect(held.InWaves() == wanted.InWaves(), "its pods run in waves from the start or never");
    if (wanted.InWaves()) {
      more.requests = wanted.requests;
      for (const auto& [name, amount] : held.requests) {
        more.requests[name] = std::max<int64_t>(more.requests[name] - amount, 0);
      }
    }
    Expect(more.tasks.empty() == (action.action == ActionKind::kShrink),
           "it is not the action for its counts");
    if (more.tasks.empty()) {
      return;
    }
    CheckCandidate(job);
    CheckQueue(job);
    if (CheckCluster(spec.clusters, more)) {
      for (const std::string& broken : Limits().Charge(job, more)) {
        Expect(false, broken);
      }
    }
  }

  void CheckCandidate(const JobEntry& job) {
    const JobSpec& spec = state_.spec(job);
    Expect(job.rare().refused.empty(), "it is refused");
    Expect(!job.hold && !job.suspended && !job.claimed_elsewhere, "it is held back");
    Expect(job.rare().missing_references.empty(), "it refers to what is not there");
    Expect(HasChildren(spec), "it has no children");
    const auto tenant = state_.tenants().find(job.key.ns);
    const auto& ns = state_.tenant(tenant->second).object;
    Expect(!ns.has_value() || !ns->skip_auto_propagation, "its namespace is not propagated");
    if (job.priority != kNoIndex) {
      const PriorityEntry& priority = state_.priority(job.priority);
      Expect(priority.object.has_value() || priority.name.rfind("system-", 0) == 0,
             "its PriorityClass is not there");
    }
  }

  void CheckQueue(const JobEntry& job) {
    const std::vector<QueueIndex>& chain = Limits().Chain(job.queue);
    Expect(!chain.empty(), "its queue does not lead to the root");
    Expect(Limits().IsLeaf(job.queue), "its queue is no leaf");
    for (const QueueIndex queue : chain) {
      Expect(state_.queue(queue).object->state == QueueState::kOpen, "queue ",
             state_.queue(queue).name, " is not Open");
    }
  }

  void CheckSums(const JobEntry& job, const Action& action) {
    const JobSpec& spec = state_.spec(job);
    std::map<std::string_view, int64_t> granted;
    for (const Shard& shard : action.shards) {
      Expect((shard.epoch > job.rare().last_epoch && shard.epoch <= kEpochMax) ||
                 action.action != ActionKind::kPlace,
             "its epoch is not a new one");
      for (const TaskGrant& grant : shard.tasks) {
        granted[grant.name] += grant.replicas;
      }
      if (!shard.InWaves()) {
        Expect(AsksForItsPods(spec, shard), "its requests are not those of its pods");
      } else {
        for (const std::string& broken : BrokenInWaves(spec, job, action)) {
          Expect(false, broken);
        }
      }
    }
    int64_t pods = 0;
    int64_t all = 0;
    int64_t floors = 0;
    for (const Task& task : spec.tasks) {
      pods += granted[task.name];
      all += task.replicas;
      floors += std::min(task.min_available, task.replicas);
    }
    const bool each = spec.min_available <= 0 || spec.min_available >= floors;
    for (const Task& task : spec.tasks) {
      const bool partial = spec.elastic && (!each || granted[task.name] >= task.min_available) &&
                           granted[task.name] < task.replicas;
      Expect(partial || granted[task.name] == task.replicas, "the replicas of ", task.name,
             " do not add up");
    }
    Expect(pods >= std::min<int64_t>(spec.min_available, all),
           "it has fewer pods than must start together");
  }

  /// Several shards: as many, as large and as near as the job says, each with all tasks, and the
  /// floors of the gang divided exactly.
  void CheckSplit(const JobEntry& job, const std::vector<Shard>& shards) {
    const JobSpec& spec = state_.spec(job);
    Expect(spec.split != "never" && spec.max_distance != "cluster", "it must not be split");
    Expect(!spec.ties.volumes && !spec.ties.min_success &&
               spec.topology.mode != TopologyMode::kHard &&
               (spec.ties.plugins.empty() || !spec.rendezvous.empty()),
           "to split it is unsafe");
    Expect(spec.max_clusters == 0 || shards.size() <= static_cast<size_t>(spec.max_clusters),
           "it is in more clusters than max-clusters allows");
    CheckDistance(spec.max_distance, CheckDivision(spec, shards));
  }

  /// Shards with all tasks of the spec, one a cluster; the clusters.
  std::set<std::string> CheckDivision(const JobSpec& spec, const std::vector<Shard>& shards) {
    std::set<std::string> clusters;
    std::map<std::string, int64_t> floors;
    int64_t floor = 0;
    int64_t shards_with_floor = 0;
    for (const Shard& shard : shards) {
      Expect(clusters.insert(shard.cluster).second, "two shards are in ", shard.cluster);
      const int64_t needed = CheckShard(spec, shard, floors);
      floor += shard.min_available;
      shards_with_floor += needed > 0 ? 1 : 0;
    }
    int64_t floors_sum = 0;
    for (const Task& task : spec.tasks) {
      Expect(floors[task.name] == task.min_available, "the minAvailable of ", task.name,
             " does not add up");
      floors_sum += task.min_available;
    }
    Expect(floor == std::max<int64_t>(spec.min_available,
                                      floors_sum > spec.min_available ? shards_with_floor : 0),
           "its minAvailable does not add up");
    return clusters;
  }

  /// All children of a HyperJob, template by template: whole ones as they are, the others divided
  /// like a Job; in as many, as large and as near clusters as it says.
  void CheckChildren(const JobEntry& job, const std::vector<Shard>& shards) {
    const JobSpec& spec = state_.spec(job);
    auto next = shards.begin();
    size_t first = 0;
    for (const ReplicatedJob& each : spec.replicated_jobs) {
      JobSpec part;
      part.min_available = each.min_available;
      part.min_shard = 0;  // That is about all children of a cluster together.
      const auto tasks = spec.tasks.begin() + static_cast<std::ptrdiff_t>(first);
      part.tasks.assign(tasks, tasks + each.tasks);
      first += static_cast<size_t>(each.tasks);
      std::vector<Shard> children;
      for (; next != shards.end() && next->child == ChildName(each, std::ssize(children)); ++next) {
        children.push_back(*next);
        Expect(each.clusters.empty() || std::find(each.clusters.begin(), each.clusters.end(),
                                                  next->cluster) != each.clusters.end(),
               "clusterNames of ", each.name, " do not name ", next->cluster);
      }
      if (each.divided && each.replicas > 0) {
        Expect(!children.empty(), each.name, " has no child");
        CheckDivision(part, children);
      } else {
        Expect(std::ssize(children) == each.replicas, "children of ", each.name, " are missing");
        CheckWholeChildren(part, each, children);
      }
    }
    Expect(next == shards.end(), "it has a child too many");
    CheckSpread(spec, shards);
  }

  void CheckWholeChildren(const JobSpec& part, const ReplicatedJob& job,
                          const std::vector<Shard>& children) {
    for (const Shard& child : children) {
      Expect(child.min_available == job.min_available && child.tasks.size() == part.tasks.size(),
             "child ", child.child, " is not as its template");
      for (size_t t = 0; t < std::min(child.tasks.size(), part.tasks.size()); ++t) {
        const Task& task = part.tasks[t];
        Expect(child.tasks[t] == TaskGrant{task.name, task.replicas / job.replicas,
                                           task.min_available / job.replicas},
               "task ", task.name, " of child ", child.child, " is not as in its template");
      }
    }
  }

  void CheckSpread(const JobSpec& spec, const std::vector<Shard>& shards) {
    std::map<std::string, int64_t> pods;
    std::set<std::string> clusters;
    for (const Shard& shard : shards) {
      pods[shard.cluster] += shard.Pods();
      clusters.insert(shard.cluster);
    }
    if (clusters.size() < 2) {
      return;
    }
    Expect(spec.split != "never" && spec.max_distance != "cluster", "it must not be split");
    Expect(spec.max_clusters == 0 || clusters.size() <= static_cast<size_t>(spec.max_clusters),
           "it is in more clusters than max-clusters allows");
    for (const auto& [cluster, count] : pods) {
      Expect(count >= spec.min_shard, "its part in ", cluster, " is below min-shard");
    }
    CheckDistance(spec.max_distance, clusters);
  }

  /// A task of no pods is not waited for.
  static bool WaitsForPods(const JobSpec& spec, const Task& task) {
    return std::any_of(spec.tasks.begin(), spec.tasks.end(), [&task](const Task& other) {
      return other.replicas > 0 && std::find(task.depends_on.begin(), task.depends_on.end(),
                                             other.name) != task.depends_on.end();
    });
  }

  /// What its tasks need together.
  int64_t CheckShard(const JobSpec& spec, const Shard& shard,
                     std::map<std::string, int64_t>& floors) {
    int64_t pods = 0;
    int64_t needed = 0;
    Expect(shard.tasks.size() == spec.tasks.size(), "a shard has other tasks");
    for (size_t t = 0; t < std::min(shard.tasks.size(), spec.tasks.size()); ++t) {
      const TaskGrant& grant = shard.tasks[t];
      const Task& task = spec.tasks[t];
      Expect(grant.name == task.name, "a shard has other tasks");
      Expect(grant.min_available <= grant.replicas, "a shard needs more pods than it has");
      Expect(task.partition.total == 0 || grant.replicas % task.partition.size == 0,
             "a partition of ", task.name, " is cut");
      Expect(!WaitsForPods(spec, task) || grant.replicas == 0 || grant.replicas == task.replicas,
             "task ", task.name, " is cut from what it depends on");
      floors[grant.name] += grant.min_available;
      pods += grant.replicas;
      needed += grant.min_available;
    }
    Expect(pods >= spec.min_shard, "the shard in ", shard.cluster, " is below min-shard");
    Expect(shard.min_available <= pods, "a shard needs more pods than it has");
    Expect(shard.min_available > 0 || needed == 0, "a shard says nothing of what it needs");
    return needed;
  }

  void CheckDistance(const std::string& most, const std::set<std::string>& names) {
    if (most == "any") {
      return;
    }
    std::vector<std::set<std::string>> places;
    for (const std::string& name : names) {
      const auto it = state_.clusters().find(name);
      if (it == state_.clusters().end() || !state_.cluster(it->second).object.has_value()) {
        return;  // Said elsewhere.
      }
      const Cluster& cluster = *state_.cluster(it->second).object;
      std::set<std::string>& place = places.emplace_back();
      const std::string region = cluster.provider + "/" + cluster.region;
      if (most == "region" && !cluster.region.empty()) {
        place.insert(region);
      }
      for (const std::string& zone : cluster.zones) {
        std::string here = region;
        here += "/";
        here += zone;
        place.insert(std::move(here));
      }
    }
    const auto shared = [&](const std::string& place) {
      return std::all_of(places.begin(), places.end(),
                         [&](const auto& other) { return other.contains(place); });
    };
    Expect(std::any_of(places.front().begin(), places.front().end(), shared),
           "its clusters are further apart than ", most);
  }

  bool CheckCluster(const ClusterConstraint& wanted, const Shard& shard) {
    const std::string& name = shard.cluster;
    const auto it = state_.clusters().find(name);
    if (it == state_.clusters().end() || !state_.cluster(it->second).object.has_value()) {
      Expect(false, "there is no cluster ", name);
      return false;
    }
    const Cluster& cluster = *state_.cluster(it->second).object;
    Expect(cluster.ready && !cluster.deleting, "cluster ", name, " is not Ready");
    Expect(wanted.names.empty() ||
               std::find(wanted.names.begin(), wanted.names.end(), name) != wanted.names.end(),
           "it does not name cluster ", name);
    for (const LabelRequirement& requirement : wanted.selector) {
      Expect(Matches(requirement, cluster.labels), "it does not select cluster ", name);
    }
    Expect(Tolerates(wanted.tolerations, cluster.taints), "cluster ", name, " is tainted");
    return true;
  }

  LimitCheck& Limits() { return limits_.has_value() ? *limits_ : limits_.emplace(state_); }

  const State& state_;
  std::optional<LimitCheck> limits_;  ///< Once something is asked for.
  const JobKey* job_ = nullptr;       ///< Whom the rules are about; nullptr: the plan.
  std::vector<bool> placed_;          ///< By JobIndex.
  std::vector<std::string> broken_;
};

}  // namespace

std::vector<std::string> CheckPlan(const State& state, const Plan& plan) {
  if (plan.actions.empty()) {
    return {};
  }
  return Checker(state).Run(plan);
}

}  // namespace caldera
