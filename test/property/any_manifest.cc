#include "test/property/any_manifest.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include "federation/children.h"
#include "federation/feasibility.h"
#include "federation/render.h"

namespace caldera::property {

namespace {

/// A task of a manifest; with a floor, partitions or a dependency now and then.
Value AnyTask(const std::string& name, const std::string& before, int pods) {
  int64_t replicas = OneIn(4) ? 1 : Pick(pods);
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

}  // namespace

Value AnySpec(int tasks, int pods) {
  Value::List list;
  int64_t all = 0;
  for (int t = 0, count = 1 + Pick(tasks); t < count; ++t) {
    list.push_back(AnyTask("t" + Count(t), t > 0 ? "t" + Count(t - 1) : "", pods));
    all += list.back().Find("replicas")->AsInteger();
  }
  Value spec = Map({{"queue", "q", {}}, {"tasks", std::move(list), {}}});
  if (OneIn(3)) {
    spec.Set("minAvailable", int64_t{Pick(static_cast<int>(all) + 1)});
  }
  return spec;
}

Intake TakeManifest(const Value& manifest) {
  Document document;
  document.file = "job.yaml";
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
    RC_ASSERT(job.key.name == MemberJobName(action.job.name, shard.child));
    RC_ASSERT(job.min_available == shard.min_available);
    RC_ASSERT(job.tasks.size() == shard.tasks.size());
    ResourceList requests;
    for (size_t t = 0; t < job.tasks.size(); ++t) {
      RC_ASSERT(MemberTask(shard.tasks[t].name) == job.tasks[t].name);
      RC_ASSERT(job.tasks[t].replicas == shard.tasks[t].replicas);
      RC_ASSERT(job.tasks[t].min_available == shard.tasks[t].min_available);
      AddTo(requests, Times(job.tasks[t].request, shard.tasks[t].AtOnce()));
    }
    std::erase_if(requests, [](const auto& entry) { return entry.second == 0; });
    // In waves, small pods may run in the place of large ones: more of them.
    if (shard.InWaves()) {
      requests["pods"] = shard.requests.at("pods");
    }
    RC_ASSERT(requests == shard.requests);
  }
}

std::vector<int64_t> SlotsOf(const State& state, const Round& round, const JobEntry& job,
                             int64_t pods, int64_t most) {
  std::vector<int64_t> slots;
  for (const ClusterView& cluster : round.clusters()) {
    NodePool::Task one = GangOf(state.shape(job.shape), state.facts(job.shape)).front();
    one.replicas = 1;
    ResourceVector free = cluster.free;
    std::optional<NodePool> nodes = cluster.nodes;
    int64_t count = 0;
    while (count < pods * most && one.request.FitsIn(free) && (!nodes || nodes->Pack({one}))) {
      free.Subtract(one.request);
      ++count;
    }
    slots.push_back(count / pods);
  }
  return slots;
}

size_t FewestFor(std::vector<int64_t> slots, int64_t wanted) {
  std::sort(slots.begin(), slots.end(), std::greater<>());
  size_t needed = 0;
  int64_t held = 0;
  while (held < wanted && needed < slots.size()) {
    held += slots[needed++];
  }
  return held < wanted ? 0 : needed;
}

}  // namespace caldera::property
