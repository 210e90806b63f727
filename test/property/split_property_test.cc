// Splitting, over random jobs as intake takes them: what each shard is by itself, and what all
// shards are together.
#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "federation/codec.h"
#include "federation/feasibility.h"
#include "federation/intake.h"
#include "federation/invariants.h"
#include "federation/planner.h"
#include "federation/render.h"
#include "federation/round.h"

namespace caldera::property {
namespace {

int Pick(int count) { return *rc::gen::resize(100, rc::gen::inRange(0, count)); }
bool OneIn(int chances) { return Pick(chances) == chances - 1; }

Value Map(Value::Map members) { return {std::move(members)}; }
std::string Count(int64_t n) { return std::to_string(n); }

/// A task of a manifest; with a floor, partitions or a dependency now and then.
Value AnyTask(const std::string& name, const std::string& before) {
  int64_t replicas = OneIn(4) ? 1 : Pick(14);
  Value task{Value::Map{}};
  task.Set("name", name);
  if (OneIn(4)) {
    const int64_t partitions = 1 + Pick(5);
    const int64_t size = 1 + Pick(4);
    replicas = partitions * size;
    Value policy = Map({{"totalPartitions", partitions, {}}, {"partitionSize", size, {}}});
    if (OneIn(2)) {
      policy.Set("minPartitions", int64_t{1 + Pick(static_cast<int>(partitions))});
    }
    task.Set("partitionPolicy", std::move(policy));
  } else if (OneIn(3)) {
    task.Set("minAvailable", int64_t{Pick(static_cast<int>(replicas) + 1)});
  }
  task.Set("replicas", replicas);
  if (!before.empty() && OneIn(5)) {
    task.Set("dependsOn", Map({{"name", Value::List{Value(before)}, {}}}));
  }
  Value requests = Map({{"cpu", Count(1 + Pick(3)), {}}});
  if (OneIn(3)) {
    requests.Set("nvidia.com/gpu", Count(1 + Pick(2)));
  }
  const Value container = Map({{"name", "c", {}},
                               {"image", "i", {}},
                               {"resources", Map({{"requests", requests, {}}}), {}}});
  task.Set("template",
           Map({{"spec",
                 Map({{"restartPolicy", "Never", {}}, {"containers", Value::List{container}, {}}}),
                 {}}}));
  return task;
}

Value AnyManifest() {
  Value::List tasks;
  const int count = 1 + Pick(3);
  int64_t pods = 0;
  for (int t = 0; t < count; ++t) {
    tasks.push_back(AnyTask("t" + Count(t), t > 0 ? "t" + Count(t - 1) : ""));
    pods += tasks.back().Find("replicas")->AsInteger();
  }
  Value spec = Map({{"queue", "q", {}}, {"tasks", std::move(tasks), {}}});
  if (OneIn(3)) {
    spec.Set("minAvailable", int64_t{Pick(static_cast<int>(pods) + 1)});
  }
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
              {"spec", std::move(spec), {}}});
}

Intake TakeManifest(const Value& manifest) {
  Document document;
  document.file = "job.yaml";
  document.root = manifest;
  return TakeObject(document, Strictness::kNew, Time(Millis(1)));
}

/// Clusters of which several may hold what none holds alone.
State AnyFleet() {
  State state;
  state.Apply(ClockSet{Time(Millis(1'000'000))});
  Queue queue;
  queue.name = "q";
  queue.parent = "root";
  state.Apply(QueueUpsert{queue});
  for (int c = 2 + Pick(4); c > 0; --c) {
    Cluster cluster;
    cluster.name = "c" + Count(c);
    cluster.ready = true;
    cluster.provider = OneIn(3) ? "p" : "";
    cluster.region = OneIn(2) ? "r" : "s";
    cluster.zones = {OneIn(2) ? "z" : "y"};
    const bool nodes = OneIn(3);
    cluster.has_summary = !nodes;
    cluster.allocatable = {{"cpu", 1000 * int64_t{4 + Pick(20)}}, {"nvidia.com/gpu", Pick(12)}};
    if (!nodes && OneIn(3)) {
      cluster.allocated = {{"cpu", 1000 * int64_t{Pick(8)}}};
    }
    state.Apply(ClusterUpsert{cluster});
    for (int n = nodes ? 1 + Pick(4) : 0; n > 0; --n) {
      Node node;
      node.cluster = cluster.name;
      node.name = "n" + Count(n);
      node.allocatable = {{"cpu", 1000 * int64_t{2 + Pick(6)}}, {"nvidia.com/gpu", Pick(4)}};
      state.Apply(NodeUpsert{node});
    }
  }
  return state;
}

/// Volcano takes the shard's Job as it is, and changes nothing that is granted.
void CheckAdmission(const Value& defaulted, const Action& action) {
  for (size_t s = 0; s < action.shards.size(); ++s) {
    ShardContext context;
    context.job_uid = "u";
    context.index = static_cast<int32_t>(s);
    context.all_shards = action.shards;
    const Value shard = *RenderShardJob(defaulted, context);
    const Intake intake = TakeManifest(shard);
    if (!intake.errors.empty()) {
      RC_FAIL(intake.errors.front().field + ": " + intake.errors.front().message);
    }
    const Job& job = std::get<JobUpsert>(*intake.change).job;
    RC_ASSERT(job.min_available == action.shards[s].min_available);
    RC_ASSERT(job.tasks.size() == action.shards[s].tasks.size());
    for (size_t t = 0; t < job.tasks.size(); ++t) {
      RC_ASSERT(job.tasks[t].replicas == action.shards[s].tasks[t].replicas);
      RC_ASSERT(job.tasks[t].min_available == action.shards[s].tasks[t].min_available);
    }
  }
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
    // How many of the pods each cluster holds, asked one by one.
    std::vector<int64_t> slots;
    bool alone = false;
    for (const ClusterView& cluster : round.clusters()) {
      NodePool::Task one = GangOf(state.shape(entry.shape), state.facts(entry.shape)).front();
      one.replicas = 1;
      ResourceVector free = cluster.free;
      std::optional<NodePool> nodes = cluster.nodes;
      int64_t count = 0;
      while (count < replicas && one.request.FitsIn(free) && (!nodes || nodes->Pack({one}))) {
        free.Subtract(one.request);
        ++count;
      }
      slots.push_back(count);
      alone = alone || FitsEmpty(state, cluster, entry.shape);
    }
    RC_PRE(!alone);
    std::sort(slots.rbegin(), slots.rend());
    size_t needed = 0;
    int64_t held = 0;
    while (held < replicas && needed < slots.size()) {
      held += slots[needed++];
    }
    const Plan plan = MakePlan(state);
    const size_t shards = plan.actions.empty() ? 0 : plan.actions.front().shards.size();
    RC_TAG(shards);
    RC_ASSERT(shards == (held < replicas ? 0 : needed));
  }));
}

}  // namespace
}  // namespace caldera::property
