// HyperJobs over random fleets: every child stands on its own, all together are the HyperJob, and
// of whole equal children none is overlooked.
#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <map>
#include <optional>
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

Value AnyTask(const std::string& name, const std::string& before) {
  int64_t replicas = OneIn(4) ? 1 : Pick(6);
  Value task{Value::Map{}};
  task.Set("name", name);
  if (OneIn(5)) {
    const int64_t partitions = 1 + Pick(3);
    const int64_t size = 1 + Pick(3);
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

Value AnyTemplate(const std::string& name) {
  Value::List tasks;
  const int count = 1 + Pick(2);
  int64_t pods = 0;
  for (int t = 0; t < count; ++t) {
    tasks.push_back(AnyTask("t" + Count(t), t > 0 ? "t" + Count(t - 1) : ""));
    pods += tasks.back().Find("replicas")->AsInteger();
  }
  Value spec = Map({{"queue", "q", {}}, {"tasks", std::move(tasks), {}}});
  if (OneIn(3)) {
    spec.Set("minAvailable", int64_t{Pick(static_cast<int>(pods) + 1)});
  }
  Value job = Map({{"name", name, {}}, {"templateSpec", std::move(spec), {}}});
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

Intake TakeManifest(const Value& manifest) {
  Document document;
  document.file = "hyperjob.yaml";
  document.root = manifest;
  return TakeObject(document, Strictness::kNew, Time(Millis(1)));
}

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
    cluster.region = OneIn(2) ? "r" : "s";
    cluster.zones = {OneIn(2) ? "z" : "y"};
    const bool nodes = OneIn(3);
    cluster.has_summary = !nodes;
    cluster.allocatable = {{"cpu", 1000 * int64_t{4 + Pick(20)}}, {"nvidia.com/gpu", Pick(12)}};
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

std::string Text(const State& state) {
  std::string text;
  for (const Change& change : state.Export()) {
    text += EncodeChange(change) + "\n";
  }
  return text;
}

/// The intake takes each child's Job as it is, and changes nothing that is granted.
void CheckAdmission(const Value& defaulted, const Action& action) {
  for (size_t s = 0; s < action.shards.size(); ++s) {
    const Shard& shard = action.shards[s];
    ShardContext context;
    context.job_uid = "u";
    context.index = static_cast<int32_t>(s);
    context.all_shards = action.shards;
    const Intake intake = TakeManifest(*RenderShardJob(defaulted, context));
    if (!intake.errors.empty()) {
      RC_FAIL(shard.child + ": " + intake.errors.front().field + ": " +
              intake.errors.front().message);
    }
    const Job& job = std::get<JobUpsert>(*intake.change).job;
    RC_ASSERT(job.key.name == "h-" + shard.child);
    RC_ASSERT(job.min_available == shard.min_available);
    RC_ASSERT(job.tasks.size() == shard.tasks.size());
    ResourceList requests;
    for (size_t t = 0; t < job.tasks.size(); ++t) {
      RC_ASSERT(shard.tasks[t].name.ends_with("/" + job.tasks[t].name));
      RC_ASSERT(job.tasks[t].replicas == shard.tasks[t].replicas);
      RC_ASSERT(job.tasks[t].min_available == shard.tasks[t].min_available);
      AddTo(requests, Times(job.tasks[t].request, job.tasks[t].replicas));
    }
    std::erase_if(requests, [](const auto& entry) { return entry.second == 0; });
    RC_ASSERT(requests == shard.requests);
  }
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
    std::vector<int64_t> slots;
    for (const ClusterView& cluster : round.clusters()) {
      NodePool::Task one = GangOf(state.shape(entry.shape), state.facts(entry.shape)).front();
      const auto pods = one.replicas / replicas;
      one.replicas = 1;
      ResourceVector free = cluster.free;
      std::optional<NodePool> nodes = cluster.nodes;
      int64_t count = 0;
      while (count < pods * replicas && one.request.FitsIn(free) &&
             (!nodes || nodes->Pack({one}))) {
        free.Subtract(one.request);
        ++count;
      }
      slots.push_back(count / pods);
    }
    std::sort(slots.rbegin(), slots.rend());
    size_t needed = 0;
    int64_t held = 0;
    while (held < replicas && needed < slots.size()) {
      held += slots[needed++];
    }
    const Plan plan = MakePlan(state);
    std::set<std::string> clusters;
    for (const Action& action : plan.actions) {
      for (const Shard& shard : action.shards) {
        clusters.insert(shard.cluster);
      }
    }
    RC_TAG(clusters.size());
    RC_ASSERT(clusters.size() == (held < replicas ? 0 : needed));
  }));
}

}  // namespace
}  // namespace caldera::property
