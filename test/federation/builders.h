// Small federations for tests: each call says only what the test is about. Jobs are created a
// second apart, in the order of the calls.
#pragma once

#include <doctest/doctest.h>

#include <functional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "federation/plan.h"
#include "federation/planner.h"
#include "federation/quantity.h"
#include "federation/resources.h"
#include "federation/state.h"

namespace caldera::testing {

/// `cpu=8 memory=16Gi nvidia.com/gpu=4`.
inline ResourceList Amounts(std::string_view text) {
  ResourceList list;
  std::istringstream words{std::string(text)};
  for (std::string word; words >> word;) {
    const size_t equals = word.find('=');
    REQUIRE(equals != std::string::npos);
    const std::string name = word.substr(0, equals);
    const auto quantity = Quantity::Parse(word.substr(equals + 1));
    REQUIRE(quantity.has_value());
    list[name] = RequestAmount(name, *quantity);
  }
  return list;
}

/// `ns/name`.
inline JobKey Key(std::string_view text) {
  const size_t slash = text.find('/');
  REQUIRE(slash != std::string_view::npos);
  return {std::string(text.substr(0, slash)), std::string(text.substr(slash + 1))};
}

inline const Time kStart = Time(std::chrono::hours(24 * 365 * 50));

template <typename T>
using Tweak = std::function<void(T&)>;

/// One task of `replicas` pods.
inline Task MakeTask(const std::string& name, int32_t replicas, std::string_view request) {
  Task task;
  task.name = name;
  task.replicas = replicas;
  task.min_available = replicas;
  task.request = Amounts(request);
  task.request["pods"] = 1;
  return task;
}

class Fed {
 public:
  Fed() { Do(ClockSet{kStart + std::chrono::hours(24)}); }

  Fed& Do(Change change) {
    state.Apply(change);
    changes.push_back(std::move(change));
    return *this;
  }
  Fed& AddQueue(const std::string& name, const Tweak<Queue>& edit = {}) {
    Queue queue;
    queue.name = name;
    queue.parent = name == kRootQueue ? "" : std::string(kRootQueue);
    queue.creation = kStart;
    return Upsert<QueueUpsert>(std::move(queue), edit);
  }
  Fed& AddCluster(const std::string& name, std::string_view allocatable,
                  const Tweak<Cluster>& edit = {}) {
    Cluster cluster;
    cluster.name = name;
    cluster.ready = true;
    cluster.ready_changed = kStart;
    cluster.has_summary = !allocatable.empty();
    cluster.allocatable = Amounts(allocatable);
    return Upsert<ClusterUpsert>(std::move(cluster), edit);
  }
  Fed& AddNode(const std::string& cluster, const std::string& name, std::string_view allocatable,
               const Tweak<Node>& edit = {}) {
    Node node;
    node.cluster = cluster;
    node.name = name;
    node.allocatable = Amounts(allocatable);
    return Upsert<NodeUpsert>(std::move(node), edit);
  }
  /// A job of one task, `worker`.
  Fed& AddJob(std::string_view key, const std::string& queue, int32_t replicas,
              std::string_view request, const Tweak<Job>& edit = {}) {
    Job job;
    job.key = Key(key);
    job.uid = "uid-" + job.key.ToString();
    job.creation = kStart + std::chrono::seconds(++jobs_);
    job.queue = queue;
    job.tasks.push_back(MakeTask("worker", replicas, request));
    job.min_available = replicas;
    return Upsert<JobUpsert>(std::move(job), edit);
  }
  Fed& AddQuota(const std::string& tenant, std::string_view overall,
                const Tweak<TenantQuota>& edit = {}) {
    TenantQuota quota;
    quota.tenant = tenant;
    quota.name = "quota";
    quota.overall = Amounts(overall);
    return Upsert<TenantQuotaUpsert>(std::move(quota), edit);
  }
  Fed& AddPriorityClass(const std::string& name, int32_t value,
                        const Tweak<PriorityClass>& edit = {}) {
    PriorityClass priority;
    priority.name = name;
    priority.value = value;
    return Upsert<PriorityClassUpsert>(std::move(priority), edit);
  }

  /// Plans, and applies the plan. Returns it.
  Plan Go() {
    Plan plan = MakePlan(state);
    for (const Change& change : EffectOf(plan, next_intent_)) {
      Do(change);
    }
    next_intent_ += static_cast<int64_t>(plan.actions.size());
    return plan;
  }

  [[nodiscard]] const JobEntry& At(std::string_view key) const {
    const JobIndex job = state.FindJob(Key(key));
    REQUIRE(job != kNoIndex);
    return state.job(job);
  }

  State state;
  std::vector<Change> changes;

 private:
  template <typename UpsertChange, typename Object>
  Fed& Upsert(Object object, const Tweak<Object>& edit) {
    if (edit) {
      edit(object);
    }
    return Do(UpsertChange{std::move(object)});
  }

  int64_t jobs_ = 0;
  int64_t next_intent_ = 1;
};

/// `ns/name@cluster`, in the order of the plan.
inline std::vector<std::string> Placements(const Plan& plan) {
  std::vector<std::string> list;
  for (const Action& action : plan.actions) {
    for (const Shard& shard : action.shards) {
      list.push_back(action.job.ToString() + "@" + shard.cluster);
    }
  }
  return list;
}

using Names = std::vector<std::string>;

}  // namespace caldera::testing
