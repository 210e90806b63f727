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
#include "federation/shards.h"

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

/// "it is split: 64 pods in east, 36 in west".
std::string WhySplit(const std::vector<Shard>& shards) {
  std::string why;
  for (const Shard& shard : shards) {
    int64_t pods = 0;
    for (const TaskGrant& task : shard.tasks) {
      pods += task.replicas;
    }
    why += (why.empty() ? "no cluster holds it alone; " : ", ") + std::to_string(pods) +
           (why.empty() ? " pods in " : " in ") + shard.cluster;
  }
  return why;
}

Action Place(const State& state, const Head& head, std::vector<Shard> shards,
             const std::string& why_there) {
  const JobEntry& job = state.job(head.job);
  Action action;
  action.job = job.key;
  action.uid = job.uid;
  action.queue = state.queue(job.queue).name;
  action.topology_unchecked = TopologyUnchecked(state.shape(job.shape));
  action.shards = std::move(shards);
  action.reason =
      "queue " + action.queue +
      (head.within ? " stays within its deserved share" : " borrows what others leave idle") +
      "; " + why_there;
  return action;
}

/// Best first, until nobody is left who could go. `clusters`: the round's, less what this plan has
/// taken already.
void PlaceInOrder(Round& round, std::vector<ClusterView> clusters, std::vector<Action>& actions) {
  const State& state = round.state();
  Contest contest(state, round.tree(), round.shares(), round.entrants());
  Placement placement(state, round.quotas(), std::move(clusters));
  for (Head head = contest.Best(); head.Any(); head = contest.Best()) {
    const JobClass& job_class = state.classes()[head.job_class];
    const ShapeFacts& facts = state.facts(job_class.shape);
    const bool may_go = placement.Alive(job_class) &&
                        !round.limits().Check(job_class.queue, job_class.tenant, facts);
    const auto site = may_go ? placement.Place(job_class, round.limits()) : std::nullopt;
    if (site.has_value()) {
      const ClusterView& cluster = placement.clusters()[site->cluster];
      actions.push_back(Place(state, head, WholeShards(state, state.job(head.job), cluster.name()),
                              WhyThere(state, cluster, *site)));
      round.limits().Commit(job_class.queue, job_class.tenant, cluster.index, facts);
      contest.Took();
      continue;
    }
    const std::vector<SplitPart> parts =
        may_go ? placement.Split(job_class, round.limits()) : std::vector<SplitPart>();
    if (parts.empty()) {
      contest.Drop();
      continue;
    }
    std::vector<Shard> shards =
        SplitShards(state, state.job(head.job), parts, placement.clusters());
    const std::string why = WhySplit(shards);
    actions.push_back(Place(state, head, std::move(shards), why));
    for (const SplitPart& part : parts) {
      round.limits().Commit(job_class.queue, job_class.tenant,
                            placement.clusters()[part.cluster].index,
                            FactsOfPart(state, job_class.shape, part.replicas));
    }
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
