#include "federation/planner.h"

#include <cstdio>
#include <utility>

#include "federation/assert.h"
#include "federation/gate.h"
#include "federation/invariants.h"
#include "federation/order.h"
#include "federation/placement.h"
#include "federation/resize.h"
#include "federation/round.h"

namespace caldera {

namespace {

/// "31%" of a part, rounded down.
std::string Percent(const Part& part) {
  return std::to_string(static_cast<int64_t>(Int128{part.amount} * 100 / part.whole)) + "%";
}

std::string WhyThere(const State& state, const ClusterView& cluster, const Site& site) {
  if (site.rivals == 1) {
    return cluster.name() + " is the only cluster with room";
  }
  std::string why =
      cluster.name() + " is the best of " + std::to_string(site.rivals) + " clusters with room";
  if (site.left.resource != ResourceCatalog::kNone) {
    why += " (" + Percent(site.left) + " of its " + state.resources().Name(site.left.resource) +
           " stays free)";
  }
  return why;
}

/// The whole job, at full replicas, in one cluster.
Shard WholeShard(const State& state, const JobEntry& job, const ClusterView& cluster) {
  const JobSpec& spec = state.spec(job);
  Shard shard;
  shard.cluster = cluster.name();
  shard.epoch = job.last_epoch + 1;
  for (const Task& task : spec.tasks) {
    shard.tasks.push_back({task.name, task.replicas, task.min_available});
  }
  shard.min_available = spec.min_available;
  shard.requests = ToList(state.resources(), state.facts(job.shape).total);
  return shard;
}

Action PlaceWhole(const State& state, const Head& head, const ClusterView& cluster,
                  const Site& site) {
  const JobEntry& job = state.job(head.job);
  Action action;
  action.job = job.key;
  action.uid = job.uid;
  action.queue = state.queue(job.queue).name;
  action.topology_unchecked = TopologyUnchecked(state.shape(job.shape));
  action.shards.push_back(WholeShard(state, job, cluster));
  action.reason =
      "queue " + action.queue +
      (head.within ? " stays within its deserved share" : " borrows what others leave idle") +
      "; " + WhyThere(state, cluster, site);
  return action;
}

/// Best first, until nobody is left who could go. `clusters`: the round's, less what this plan has
/// taken already.
void PlaceInOrder(Round& round, std::vector<ClusterView> clusters, std::vector<Action>& actions) {
  const State& state = round.state();
  Contest contest(state, round.tree(), round.shares(), round.entrants());
  Placement placement(state, std::move(clusters));
  for (Head head = contest.Best(); head.Any(); head = contest.Best()) {
    const JobClass& job_class = state.classes()[head.job_class];
    const ShapeFacts& facts = state.facts(job_class.shape);
    const bool may_go = placement.Alive(job_class.shape) &&
                        !round.limits().Check(job_class.queue, job_class.tenant, facts);
    const auto site = may_go ? placement.Place(job_class, round.limits()) : std::nullopt;
    if (!site.has_value()) {
      contest.Drop();
      continue;
    }
    const ClusterView& cluster = placement.clusters()[site->cluster];
    actions.push_back(PlaceWhole(state, head, cluster, *site));
    round.limits().Commit(job_class.queue, job_class.tenant, cluster.index, facts);
    contest.Took();
  }
}

void AssertSound(const State& state, const Plan& plan) {
  const std::vector<std::string> broken = CheckPlan(state, plan);
  for (const std::string& rule : broken) {
    std::fprintf(stderr, "%s\n", rule.c_str());
  }
  CALDERA_ASSERT(broken.empty());
}

}  // namespace

Plan MakePlan(const State& state) {
  Round round(state);
  std::vector<ClusterView> clusters = round.clusters();
  Plan plan{state.now(), ResizePlaced(round, clusters)};
  PlaceInOrder(round, std::move(clusters), plan.actions);
  for (size_t k = 0; k < plan.actions.size(); ++k) {
    plan.actions[k].rank = static_cast<int32_t>(k) + 1;
  }
  AssertSound(state, plan);
  return plan;
}

}  // namespace caldera
