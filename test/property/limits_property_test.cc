// Limits hold in every plan: added up by name from what the State says before and after, apart from
// the planner, from CheckPlan and from the reference planner.
#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "federation/planner.h"
#include "federation/round.h"
#include "test/property/reference_state.h"
#include "test/property/world.h"

namespace caldera::property {
namespace {

/// By `queue NAME`, `tenant NAME`, `tenant NAME in CLUSTER`.
using Sums = std::map<std::string, ResourceList>;

std::set<std::string> QueueAndAbove(const RefState& state, const std::string& queue) {
  std::set<std::string> names;
  std::string at = queue;
  while (at != "root" && names.insert(at).second) {
    const auto it = state.queues.find(at);
    at = it == state.queues.end() || it->second.parent.empty() ? "root" : it->second.parent;
  }
  names.insert("root");
  return names;
}

Sums SumsOf(const RefState& state) {
  Sums sums;
  for (const auto& [key, job] : state.jobs) {
    for (const Shard& shard : job.charge ? job.charge->shards : std::vector<Shard>()) {
      for (const std::string& queue : QueueAndAbove(state, job.QueueName())) {
        AddTo(sums["queue " + queue], shard.requests);
      }
      AddTo(sums["tenant " + key.first.ns], shard.requests);
      AddTo(sums["tenant " + key.first.ns + " in " + shard.cluster], shard.requests);
    }
  }
  return sums;
}

/// What was over a limit before may stay so, and get no worse.
void Holds(const std::string& name, const ResourceList& limits, Sums& before, Sums& after) {
  for (const auto& [resource, limit] : limits) {
    const int64_t was = At(before[name], resource);
    const int64_t is = At(after[name], resource);
    if (is > was && is > limit) {
      RC_FAIL(name + " has " + std::to_string(is) + " " + resource + ", limit " +
              std::to_string(limit));
    }
  }
}

/// What one shard of an action asks of its cluster: of a resize, which has one, the pods that are
/// added.
ResourceList Added(const RefJob& job, const Shard& shard) {
  ResourceList added;
  if (shard.InWaves() && job.charge) {
    // The sum of what runs at once: pods of one size take the place of others.
    for (const auto& [resource, amount] : shard.requests) {
      const int64_t more = amount - At(job.charge->shards.front().requests, resource);
      added[resource] = std::max<int64_t>(more, 0);
    }
    return added;
  }
  for (size_t t = 0; t < shard.tasks.size(); ++t) {
    const TaskGrant& grant = shard.tasks[t];
    const int32_t held = job.charge ? job.charge->shards.front().tasks[t].AtOnce() : 0;
    for (const Task& task : job.object.tasks) {
      if (task.name == grant.name && grant.AtOnce() > held) {
        AddTo(added, Times(task.request, int64_t{grant.AtOnce()} - held));
      }
    }
  }
  return added;
}

TEST_CASE("property: limits hold in every plan") {
  CHECK(rc::check("queues, tenants and clusters", [] {
    const State state = AnyWorld().Build();
    const Plan plan = MakePlan(state);
    State next = state;
    for (const Change& change : EffectOf(plan, 100)) {
      next.Apply(change);
    }
    RC_TAG(plan.actions.size());
    const RefState old(state.Export());
    Sums before = SumsOf(old);
    Sums after = SumsOf(RefState(next.Export()));
    for (const auto& [name, queue] : old.queues) {
      Holds("queue " + name, queue.capability, before, after);
    }
    for (const TenantQuota& quota : old.quotas) {
      const std::string tenant = "tenant " + quota.tenant;
      Holds(tenant, quota.overall, before, after);
      for (const auto& [cluster, limits] : quota.per_cluster) {
        Holds(tenant + " in " + cluster, limits, before, after);
      }
    }
    Sums placed;
    for (const Action& action : plan.actions) {
      if (action.action == ActionKind::kShrink) {
        continue;
      }
      for (const Shard& shard : action.shards) {
        RC_ASSERT(old.clusters.at(shard.cluster).Offers());
        AddTo(placed[shard.cluster], Added(old.jobs.at({action.job, action.kind}), shard));
      }
    }
    for (const auto& [cluster, amounts] : placed) {
      if (!RefFits(amounts, old.clusters.at(cluster).free)) {
        RC_FAIL("no room in " + cluster + "\n" + Show(state.Export()) + Show(plan));
      }
    }
  }));
}

TEST_CASE("property: what the limits allow at a glance is what they do not refuse") {
  CHECK(rc::check("before and after what is allowed is taken", [] {
    const State state = AnyWorld().Build();
    Round round(state);
    Limits& limits = round.limits();
    for (int pass = 0; pass < 2; ++pass) {
      for (const JobClass& job_class : state.classes()) {
        if (job_class.jobs == 0) {
          continue;
        }
        const ShapeFacts& facts = state.facts(job_class.shape);
        const bool allows = limits.Allows(job_class.queue, job_class.tenant, facts);
        RC_ASSERT(allows == !limits.Check(job_class.queue, job_class.tenant, facts).has_value());
        if (allows) {
          limits.Commit(job_class.queue, job_class.tenant, kNoIndex, facts);
        }
      }
    }
  }));
}

}  // namespace
}  // namespace caldera::property
