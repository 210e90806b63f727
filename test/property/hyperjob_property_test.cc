// HyperJobs over random fleets: every child stands on its own, all together are the HyperJob, and
// of whole equal children none is overlooked.
#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <map>
#include <set>
#include <string>

#include "federation/codec.h"
#include "federation/intake.h"
#include "federation/invariants.h"
#include "federation/planner.h"
#include "federation/round.h"
#include "test/property/any_manifest.h"

namespace caldera::property {
namespace {

Value AnyTemplate(const std::string& name) {
  Value job = Map({{"name", name, {}}, {"templateSpec", AnySpec(2, 6), {}}});
  job.Set("replicas", int64_t{OneIn(8) ? 0 : 1 + Pick(3)});
  if (OneIn(2)) {
    job.Set("splitPolicy", Map({{"mode", OneIn(4) ? "static" : "auto", {}}}));
  }
  if (OneIn(4)) {
    job.Set("clusterNames", Value::List{Value("c1"), Value("c3")});
  }
  return job;
}

Value HyperJob(Value::List templates, Value annotations) {
  return Map({{"apiVersion", "training.volcano.sh/v1alpha1", {}},
              {"kind", "HyperJob", {}},
              {"metadata",
               Map({{"name", "h", {}},
                    {"namespace", "n", {}},
                    {"annotations", std::move(annotations), {}}}),
               {}},
              {"spec", Map({{"replicatedJobs", std::move(templates), {}}}), {}}});
}

Value AnyManifest() {
  Value::List templates;
  const int count = 1 + Pick(3);
  templates.reserve(static_cast<size_t>(count));
  for (int t = 0; t < count; ++t) {
    templates.push_back(AnyTemplate("r" + Count(t)));
  }
  Value annotations{Value::Map{}};
  const auto annotate = [&](const std::string& name, const std::string& value) {
    annotations.Set(std::string(kAnnotationPrefix) + name, value);
  };
  if (OneIn(4)) {
    annotate("split", OneIn(2) ? "never" : "when-needed");
  }
  if (OneIn(4)) {
    annotate("min-shard", Count(1 + Pick(4)));
  }
  if (OneIn(4)) {
    annotate("max-clusters", Count(1 + Pick(3)));
  }
  if (OneIn(5)) {
    annotate("max-distance", OneIn(2) ? "zone" : "region");
  }
  return HyperJob(std::move(templates), std::move(annotations));
}

std::string Text(const State& state) {
  std::string text;
  for (const Change& change : state.Export()) {
    text += EncodeChange(change) + "\n";
  }
  return text;
}

TEST_CASE("property: the children of a HyperJob stand on their own and are all of it") {
  CHECK(rc::check("sums, admission, rules", [] {
    State state = AnyFleet();
    const Intake intake = TakeManifest(AnyManifest());
    RC_PRE(intake.errors.empty());
    state.Apply(*intake.change);
    const Job& job = std::get<JobUpsert>(*intake.change).job;
    const Plan plan = MakePlan(state);
    RC_ASSERT(CheckPlan(state, plan).empty());
    RC_TAG(plan.actions.empty() ? 0 : plan.actions.front().shards.size());
    if (plan.actions.empty()) {
      return;
    }
    const Action& action = plan.actions.front();
    CheckAdmission(intake.defaulted, action);
    std::map<std::string, int64_t> granted;
    for (const Shard& shard : action.shards) {
      for (const TaskGrant& grant : shard.tasks) {
        granted[grant.name] += grant.replicas;
      }
    }
    for (const Task& task : job.tasks) {
      RC_ASSERT(granted[task.name] == task.replicas);
    }
    const auto read = DecodePlacement(EncodePlacement(action.shards));
    RC_ASSERT(read.has_value());
    for (const Change& change : EffectOf(plan, 1)) {
      state.Apply(change);
    }
    RC_ASSERT(MakePlan(state).actions.empty());
    State again;
    for (const Change& change : state.Export()) {
      again.Apply(change);
    }
    RC_ASSERT(Text(again) == Text(state));
  }));
}

TEST_CASE(
    "property: of equal whole children none is overlooked and the fewest clusters are taken") {
  CHECK(rc::check("one static template: exact", [] {
    State state = AnyFleet();
    const int replicas = 2 + Pick(8);
    Value job = AnyTemplate("r");
    Value task = job.At({"templateSpec", "tasks"})->AsList().front();
    task.Erase("partitionPolicy");
    task.Erase("minAvailable");
    task.Set("replicas", int64_t{1 + Pick(3)});
    job.Find("templateSpec")->Set("tasks", Value::List{task});
    job.Find("templateSpec")->Erase("minAvailable");
    job.Erase("splitPolicy");
    job.Erase("clusterNames");
    job.Set("replicas", int64_t{replicas});
    const Intake intake = TakeManifest(HyperJob({job}, Value(Value::Map{})));
    RC_PRE(intake.errors.empty());
    state.Apply(*intake.change);
    const Round round(state);
    const JobEntry& entry = state.job(state.FindJob({"n", "h"}));
    const int64_t pods = state.spec(entry).tasks.front().replicas / replicas;
    const Plan plan = MakePlan(state);
    std::set<std::string> clusters;
    for (const Action& action : plan.actions) {
      for (const Shard& shard : action.shards) {
        clusters.insert(shard.cluster);
      }
    }
    RC_TAG(clusters.size());
    RC_ASSERT(clusters.size() == FewestFor(SlotsOf(state, round, entry, pods, replicas), replicas));
  }));
}

}  // namespace
}  // namespace caldera::property
