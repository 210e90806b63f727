// Splitting, over random jobs as intake takes them: what each shard is by itself, and what all
// shards are together.
#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <string>
#include <vector>

#include "federation/feasibility.h"
#include "federation/intake.h"
#include "federation/invariants.h"
#include "federation/planner.h"
#include "federation/round.h"
#include "test/property/any_manifest.h"

namespace caldera::property {
namespace {

Value AnyManifest() {
  Value annotations{Value::Map{}};
  const auto annotate = [&](const std::string& name, const std::string& value) {
    annotations.Set(std::string(kAnnotationPrefix) + name, value);
  };
  if (OneIn(3)) {
    annotate("split", "allowed");
  }
  if (OneIn(3)) {
    annotate("min-shard", Count(1 + Pick(6)));
  }
  if (OneIn(3)) {
    annotate("max-clusters", Count(1 + Pick(4)));
  }
  if (OneIn(4)) {
    annotate("max-distance", OneIn(2) ? "zone" : "region");
  }
  return Map({{"apiVersion", "batch.volcano.sh/v1alpha1", {}},
              {"kind", "Job", {}},
              {"metadata",
               Map({{"name", "j", {}}, {"namespace", "n", {}}, {"annotations", annotations, {}}}),
               {}},
              {"spec", AnySpec(3, 14), {}}});
}

TEST_CASE("property: every shard of a split job stands on its own and all are the job") {
  CHECK(rc::check("sums, admission, rules; one cluster where one can", [] {
    State state = AnyFleet();
    const Value manifest = AnyManifest();
    const Intake intake = TakeManifest(manifest);
    RC_PRE(intake.errors.empty());
    state.Apply(*intake.change);
    const Job& job = std::get<JobUpsert>(*intake.change).job;
    const Plan plan = MakePlan(state);
    const std::vector<std::string> broken = CheckPlan(state, plan);
    RC_ASSERT(broken.empty());
    const size_t shards = plan.actions.empty() ? 0 : plan.actions.front().shards.size();
    RC_TAG(shards);
    if (shards > 0) {
      CheckAdmission(intake.defaulted, plan.actions.front());
    }
    if (shards < 2) {
      return;
    }
    const Round round(state);
    const JobEntry& entry = state.job(state.FindJob(job.key));
    for (const ClusterView& cluster : round.clusters()) {
      RC_ASSERT(job.split == "allowed" || !FitsEmpty(state, cluster, entry.shape));
      RC_ASSERT(!FitsNow(cluster, state.shape(entry.shape), state.facts(entry.shape)));
    }
    // Single pods are in the first shard, and that is as large as any where one can be both.
    for (size_t t = 0; t < job.tasks.size(); ++t) {
      const bool tied = !job.tasks[t].depends_on.empty() ||
                        std::any_of(job.tasks.begin(), job.tasks.end(), [&](const Task& other) {
                          return std::count(other.depends_on.begin(), other.depends_on.end(),
                                            job.tasks[t].name) > 0;
                        });
      const bool others = std::any_of(job.tasks.begin(), job.tasks.end(),
                                      [](const Task& other) { return other.replicas > 1; });
      if (job.tasks[t].replicas == 1 && !tied && others) {
        RC_ASSERT(plan.actions.front().shards.front().tasks[t].replicas == 1);
      }
    }
  }));
}

TEST_CASE("property: of a job of equal pods the fewest clusters are taken and none is overlooked") {
  CHECK(rc::check("one kind of pods: exact", [] {
    State state = AnyFleet();
    const int replicas = 2 + Pick(40);
    Value manifest = AnyManifest();
    Value task = manifest.At({"spec", "tasks"})->AsList().front();
    task.Erase("partitionPolicy");
    task.Erase("minAvailable");
    task.Set("replicas", int64_t{replicas});
    manifest.Find("spec")->Set("tasks", Value::List{task});
    manifest.Find("spec")->Erase("minAvailable");
    manifest.Find("metadata")->Set("annotations", Value::Map{});
    const Intake intake = TakeManifest(manifest);
    RC_PRE(intake.errors.empty());
    state.Apply(*intake.change);
    const Round round(state);
    const JobEntry& entry = state.job(state.FindJob({"n", "j"}));
    const bool alone = std::any_of(
        round.clusters().begin(), round.clusters().end(),
        [&](const ClusterView& cluster) { return FitsEmpty(state, cluster, entry.shape); });
    RC_PRE(!alone);
    const Plan plan = MakePlan(state);
    const size_t shards = plan.actions.empty() ? 0 : plan.actions.front().shards.size();
    RC_TAG(shards);
    RC_ASSERT(shards == FewestFor(SlotsOf(state, round, entry, 1, replicas), replicas));
  }));
}

}  // namespace
}  // namespace caldera::property
