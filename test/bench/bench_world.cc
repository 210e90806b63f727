#include "test/bench/bench_world.h"

#include <algorithm>
#include <chrono>
#include <set>
#include <string>
#include <utility>

#include "federation/planner.h"

namespace caldera::bench {
namespace {

const Time kStart = Time(std::chrono::hours(24 * 365 * 50));
constexpr int64_t kGi = int64_t{1} << 30U;

/// A mix of the bits of `x` (SplitMix64's), for choices that depend on a number alone.
uint64_t Mix(uint64_t x) {
  x += 0x9E3779B97F4A7C15ULL;
  x = (x ^ (x >> 30U)) * 0xBF58476D1CE4E5B9ULL;
  x = (x ^ (x >> 27U)) * 0x94D049BB133111EBULL;
  return x ^ (x >> 31U);
}
int Below(uint64_t x, int n) { return static_cast<int>(Mix(x) % static_cast<uint64_t>(n)); }

std::string Name(const char* stem, int64_t i) { return stem + std::to_string(i); }

/// root -> every hundredth -> every tenth -> leaves.
std::string ParentOf(int queue) {
  if (queue % 100 == 0) {
    return std::string(kRootQueue);
  }
  return Name("q", queue % 10 == 0 ? queue / 100 * 100 : queue / 10 * 10);
}
bool IsLeaf(int queue) { return queue % 10 != 0; }

ResourceList Amounts(int64_t cores) {
  return {{"cpu", cores * 1000},
          {"memory", cores * 4 * kGi},
          {"pods", cores},
          {"nvidia.com/gpu", cores / 8},
          {"ephemeral-storage", cores * 20 * kGi},
          {"rdma/hca_shared", cores / 4},
          {"hugepages-2Mi", cores * kGi / 4},
          {"example.com/licence", cores / 16}};
}

Task TaskOf(int shape) {
  const auto salt = static_cast<uint64_t>(shape) * 16 + 7;
  Task task;
  task.name = "worker";
  task.replicas = 1 + Below(salt, 8);
  task.min_available = task.replicas;
  const int64_t cores = 1 + Below(salt + 1, 8);
  task.request = {{"cpu", cores * 1000 + int64_t{10} * (shape % 100)},
                  {"memory", cores * (2 + Below(salt + 2, 3)) * kGi},
                  {"pods", 1},
                  {"ephemeral-storage", cores * 10 * kGi}};
  if (Below(salt + 3, 4) == 0) {
    task.request["nvidia.com/gpu"] = 1;
    task.request["rdma/hca_shared"] = 1;
  }
  if (Below(salt + 4, 8) == 0) {
    task.request["hugepages-2Mi"] = kGi / 4;
  }
  if (Below(salt + 5, 16) == 0) {
    task.request["example.com/licence"] = 1;
  }
  return task;
}

void AddQueues(const WorldSize& size, State& state) {
  for (int i = 0; i < size.queues; ++i) {
    QueueUpsert upsert;
    upsert.queue.name = Name("q", i);
    upsert.queue.parent = ParentOf(i);
    upsert.queue.creation = kStart;
    upsert.queue.weight = 1 + Below(static_cast<uint64_t>(i), 7);
    upsert.queue.priority = i % 50 == 3 ? 10 : 0;
    if (IsLeaf(i) && i % 20 == 1) {
      upsert.queue.capability = Amounts(2000 + 10 * (i % 100));
    }
    if (IsLeaf(i) && i % 25 == 4) {
      upsert.queue.guarantee = {{"cpu", 16'000}, {"memory", 64 * kGi}};
    }
    state.Apply(upsert);
  }
}

}  // namespace

State EmptyWorld(const WorldSize& size) {
  State state;
  state.Apply(ClockSet{kStart + std::chrono::hours(24 * 30)});
  for (const int value : {0, 100}) {
    state.Apply(PriorityClassUpsert{{Name("p", value), value, false, true}});
  }
  AddQueues(size, state);
  for (int c = 0; c < size.clusters; ++c) {
    ClusterUpsert upsert;
    upsert.cluster.name = Name("member-", c);
    upsert.cluster.ready = true;
    upsert.cluster.ready_changed = kStart;
    upsert.cluster.has_summary = true;
    upsert.cluster.allocatable = Amounts(3000 << static_cast<unsigned>(c % 3));
    upsert.cluster.allocated = Amounts(100);
    state.Apply(upsert);
  }
  for (int t = 0; t < size.queues; t += 10) {
    TenantQuotaUpsert upsert;
    upsert.quota.tenant = Name("team-", t / 10);
    upsert.quota.name = "quota";
    upsert.quota.overall = Amounts(20'000);
    state.Apply(upsert);
  }
  return state;
}

Job WorldJob(const WorldSize& size, int64_t i) {
  const auto number = static_cast<uint64_t>(i);
  int queue = Below(3 * number, size.queues);
  queue += IsLeaf(queue) ? 0 : 1;
  Job job;
  job.key = {Name("team-", queue / 10), Name("job-", i)};
  job.uid = std::to_string(i);
  job.creation = kStart + Millis(i);
  job.queue = Name("q", queue);
  job.priority_class = Below(3 * number + 1, 10) == 0 ? "p100" : "p0";
  job.tasks.push_back(TaskOf(Below(3 * number + 2, size.shapes)));
  job.min_available = job.tasks[0].replicas;
  return job;
}

State World(const WorldSize& size) {
  State state = EmptyWorld(size);
  for (int64_t i = 0; i < size.pending; ++i) {
    state.Apply(JobUpsert{WorldJob(size, i)});
  }
  return state;
}

void TakeEffect(State& state, const Plan& plan, int64_t& next_intent) {
  for (const Change& change : EffectOf(plan, next_intent)) {
    state.Apply(change);
  }
  next_intent += static_cast<int64_t>(plan.actions.size());
}

int64_t Fill(State& state, int64_t& next_intent) {
  int64_t placed = 0;
  for (Plan plan = MakePlan(state); !plan.actions.empty(); plan = MakePlan(state)) {
    TakeEffect(state, plan, next_intent);
    placed += static_cast<int64_t>(plan.actions.size());
  }
  return placed;
}

int64_t Ripen(State& state, int64_t& next_intent) {
  state.Apply(ClockSet{state.now() + state.settings().min_runtime + std::chrono::minutes(1)});
  int64_t evicted = 0;
  for (Plan plan = MakePlan(state); !plan.actions.empty(); plan = MakePlan(state)) {
    TakeEffect(state, plan, next_intent);
    const std::set<JobIndex> leaving = state.evicting();
    for (const JobIndex job : leaving) {
      state.Apply(Released{state.job(job).key, state.job(job).uid, 0});
    }
    evicted += static_cast<int64_t>(leaving.size());
  }
  return evicted;
}

}  // namespace caldera::bench
