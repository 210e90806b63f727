// What must hold of every plan, over random small federations. A failure prints the seed and the
// smallest world that still fails; RC_PARAMS="reproduce=..." runs it again.
#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "federation/codec.h"
#include "federation/explain.h"
#include "federation/invariants.h"
#include "federation/planner.h"
#include "federation/report.h"
#include "federation/round.h"
#include "test/property/reference_planner.h"
#include "test/property/world.h"

namespace caldera::property {
namespace {

State After(State state, const Plan& plan, int64_t first_intent = 100) {
  for (const Change& change : EffectOf(plan, first_intent)) {
    state.Apply(change);
  }
  return state;
}

/// Round after round until there is nothing to do: what is given back counts from the next on, and
/// who was placed in part may be asked to give.
State Settled(State state) {
  for (int64_t intent = 100;; intent += 100) {
    RC_ASSERT(intent < 10'000);
    const Plan plan = MakePlan(state);
    if (plan.actions.empty()) {
      return state;
    }
    state = After(std::move(state), plan, intent);
  }
}

TEST_CASE("property: every plan passes CheckPlan") {
  CHECK(rc::check("CheckPlan(plan) is empty", [] {
    const State state = AnyWorld().Build();
    const std::vector<std::string> broken = CheckPlan(state, MakePlan(state));
    RC_ASSERT(broken.empty());
  }));
}

TEST_CASE("property: the naive planner decides the same") {
  CHECK(rc::check("reference plan has the digest of the plan", [] {
    // It knows of no waves but those that it starts itself.
    const State state = AnyWorld({.waves = false}).Build();
    Plan plan = MakePlan(state);
    for (Action& action : plan.actions) {
      action.reason.clear();
    }
    plan.reservations.reset();  // Of the next round's business: it does not know them.
    RC_TAG(plan.actions.size());
    const Plan expected = ReferencePlanner(state.Export()).Decide();
    if (Digest(Show(plan)) != Digest(Show(expected))) {
      RC_FAIL("expected: " + Show(expected) + "\nplan: " + Show(plan) + "\n" +
              Show(state.Export()));
    }
  }));
}

bool IsBeyond(const ResourceVector& held, const ResourceVector& room) {
  for (ResourceIndex r = 0; r < held.size(); ++r) {
    if (held[r] > room[r]) {
      return true;
    }
  }
  return false;
}

/// The jobs hold more than the federation or a cluster has, since clusters shrank under them. Then
/// a guarantee that keeps others out early in a round may be used up later in it; they go in the
/// next.
bool Overcommitted(const State& state) {
  const Round round(state);
  return IsBeyond(round.shares()[round.tree().root()].held, round.total()) ||
         std::any_of(round.clusters().begin(), round.clusters().end(), [](const ClusterView& view) {
           return IsBeyond(view.entry->charged.ToVector(), view.allocatable);
         });
}

TEST_CASE("property: nobody waits who could go") {
  CHECK(rc::check("no candidate fits its limits and a cluster after the plan", [] {
    const State after = Settled(AnyWorld().Build());
    // Pods that a summary shows as pending may be ours: a round counts both, the next one not.
    const bool allocating =
        std::any_of(after.clusters().begin(), after.clusters().end(), [&](const auto& cluster) {
          const auto& object = after.cluster(cluster.second).object;
          return object && !object->allocating.empty();
        });
    RC_PRE(!allocating);
    RC_PRE(!Overcommitted(after));
    for (const JobKey& job : ReferencePlanner(after.Export()).NeedlesslyWaiting()) {
      RC_FAIL(job.ToString() + " waits\n" + Show(after.Export()));
    }
  }));
}

TEST_CASE("property: the order of the changes changes nothing") {
  CHECK(rc::check("same export and plan", [] {
    World world = AnyWorld();
    const State state = world.Build();
    std::mt19937 random(*rc::gen::arbitrary<uint32_t>());
    std::shuffle(world.objects.begin(), world.objects.end(), random);
    // What happened when is no independent change.
    std::stable_partition(world.objects.begin(), world.objects.end(), [](const Change& change) {
      return std::holds_alternative<ClockSet>(change);
    });
    std::shuffle(world.placed.begin(), world.placed.end(), random);
    const State other = world.Build();
    RC_ASSERT(Show(state.Export()) == Show(other.Export()));
    RC_ASSERT(Show(MakePlan(state)) == Show(MakePlan(other)));
  }));
}

TEST_CASE("property: an export builds the same State again") {
  CHECK(rc::check("apply(export) == state", [] {
    const State before = AnyWorld().Build();
    const State state = After(before, MakePlan(before));
    State again;
    for (const Change& change : state.Export()) {
      again.Apply(change);
    }
    RC_ASSERT(Show(again.Export()) == Show(state.Export()));
    RC_ASSERT(Show(MakePlan(again)) == Show(MakePlan(state)));
  }));
}

/// All that can be seen of a State.
std::string Seen(const State& state) {
  std::string text = Show(state.Export()) + Show(MakePlan(state));
  const Report report = MakeReport(state);
  const auto list = [&](const ResourceList& amounts) {
    for (const auto& [resource, amount] : amounts) {
      text += " " + resource + "=" + std::to_string(amount);
    }
    text += ";";
  };
  for (const QueueReport& queue : report.queues) {
    text += queue.queue;
    list(queue.capability);
    list(queue.guarantee);
    list(queue.demand);
    list(queue.deserved);
    list(queue.allocated);
    text += std::to_string(queue.share_milli) + "\n";
  }
  for (const TenantReport& tenant : report.tenants) {
    text += tenant.tenant;
    list(tenant.overall.quota);
    list(tenant.overall.used);
    text += "\n";
  }
  for (const ClusterReport& cluster : report.clusters) {
    text += cluster.cluster;
    list(cluster.allocatable);
    list(cluster.on_top);
    list(cluster.free);
    text += "\n";
  }
  for (const PendingJob& job : ExplainPending(state)) {
    text += std::to_string(job.rank) + " " + job.job.ToString() + " " +
            std::string(VerdictName(job.verdict)) + " " + job.message + "\n";
    for (const ClusterVerdict& cluster : job.clusters) {
      text += "  " + cluster.cluster + " " + cluster.message + "\n";
    }
  }
  return text;
}

TEST_CASE("property: a State that went through many changes is the one built at once") {
  CHECK(rc::check("incremental == rebuilt", [] {
    State state = AnyWorld().Build();
    const int changes = *rc::gen::inRange(0, 40);
    for (int i = 0; i < changes; ++i) {
      switch (*rc::gen::resize(100, rc::gen::inRange(0, 8))) {
        case 0:
          state = After(state, MakePlan(state));
          break;
        case 1:
        case 2:
          state.Apply(AnyDelete());
          break;
        default:
          state.Apply(AnyUpsert());
      }
    }
    State again;
    for (const Change& change : state.Export()) {
      again.Apply(change);
    }
    RC_ASSERT(Seen(again) == Seen(state));
  }));
}

TEST_CASE("property: charges are conserved and come back to nothing") {
  CHECK(rc::check("sum of charges == report; released == 0", [] {
    const State before = AnyWorld().Build();
    State state = After(before, MakePlan(before));
    std::map<std::string, ResourceList> queues;
    std::map<std::string, ResourceList> tenants;
    for (const RunningReport& job : MakeReport(state).running) {
      for (const Shard& shard : job.shards) {
        AddTo(queues[job.queue], shard.requests);
        AddTo(tenants[job.job.ns], shard.requests);
      }
    }
    const auto by_value = [](ResourceList list) {
      std::erase_if(list, [](const auto& entry) { return entry.second == 0; });
      return list;
    };
    const Report report = MakeReport(state);
    for (const TenantReport& tenant : report.tenants) {
      RC_ASSERT(by_value(tenant.overall.used) == by_value(tenants[tenant.tenant]));
    }
    ResourceList all;
    for (const auto& [name, amounts] : queues) {
      AddTo(all, amounts);
    }
    for (const QueueReport& queue : report.queues) {
      const bool leaf =
          std::none_of(report.queues.begin(), report.queues.end(),
                       [&](const QueueReport& child) { return child.parent == queue.queue; });
      if (leaf) {
        RC_ASSERT(by_value(queue.allocated) == by_value(queues[queue.queue]));
      }
      if (queue.queue == "root") {
        RC_ASSERT(by_value(queue.allocated) == by_value(all));
      }
    }
    for (const JobIndex index : state.JobsByKey()) {
      const JobEntry job = state.job(index);
      state.Apply(Released{job.key, job.uid, 0});
    }
    const Report released = MakeReport(state);
    RC_ASSERT(released.running.empty());
    for (const QueueReport& queue : released.queues) {
      RC_ASSERT(by_value(queue.allocated).empty());
    }
    for (const TenantReport& tenant : released.tenants) {
      RC_ASSERT(by_value(tenant.overall.used).empty());
    }
    for (const ClusterReport& cluster : released.clusters) {
      RC_ASSERT(by_value(cluster.on_top).empty());
    }
  }));
}

}  // namespace
}  // namespace caldera::property
