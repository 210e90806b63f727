#include "federation/resize.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "federation/amounts.h"
#include "federation/elastic.h"
#include "federation/feasibility.h"
#include "federation/gate.h"

namespace caldera {

namespace {

const Shard& Held(const JobEntry& job) { return job.charge->shards.front(); }

/// Whether some task gets more pods.
bool Grows(const Shard& held, const Shard& wanted) {
  for (size_t t = 0; t < wanted.tasks.size(); ++t) {
    if (wanted.tasks[t].replicas > held.tasks[t].replicas) {
      return true;
    }
  }
  return false;
}

/// What an edit asks for beyond what is held; what it gives back is not set against it.
MorePods GrowthOf(const State& state, const JobEntry& job, const Shard& wanted) {
  return PodsBeyond(state, state.spec(job), CountsOf(Held(job)), CountsOf(wanted));
}

/// One that is on its way out, or that others look after, is left as it is.
bool MayResize(const JobEntry& job) { return !job.suspended && !job.claimed_elsewhere; }

struct Wish {
  JobIndex job = kNoIndex;
  Shard wanted;
  bool grows = false;
  int64_t priority = 0;
};

std::vector<Wish> Wishes(const State& state) {
  std::vector<Wish> wishes;
  for (const JobIndex index : state.resizes()) {
    const JobEntry& job = state.job(index);
    std::optional<Shard> wanted = Resized(state.spec(job), job.charge->shards);
    if (wanted && MayResize(job)) {
      const bool grows = Grows(Held(job), *wanted);
      const int64_t priority = PriorityValue(state, job.priority).value_or(0);
      wishes.push_back({index, *std::move(wanted), grows, grows ? priority : 0});
    }
  }
  std::sort(wishes.begin(), wishes.end(), [&](const Wish& a, const Wish& b) {
    const JobEntry& x = state.job(a.job);
    const JobEntry& y = state.job(b.job);
    return std::tie(a.grows, b.priority, x.creation, x.uid, x.key) <
           std::tie(b.grows, a.priority, y.creation, y.uid, y.key);
  });
  return wishes;
}

/// In the words of Room(), for what is added.
Reason Shortage(const State& state, const ClusterView& cluster, const MorePods& growth) {
  Reason reason{Verdict::kInsufficientResources, "", {}};
  for (const ResourceIndex r : growth.facts.requested) {
    const int64_t requested = growth.facts.total[r];
    if (requested > cluster.free[r]) {
      const std::string& name = state.resources().Name(r);
      const int64_t all = cluster.allocatable[r];
      reason.figures.push_back(
          {"Cluster/" + cluster.name(), name, requested, SaturatingSub(all, cluster.free[r]), all});
      if (reason.message.empty()) {
        reason.message = "cluster " + cluster.name() +
                         " has no room now: " + FormatAmount(name, requested) + " more " + name +
                         " asked, " + FormatAmount(name, cluster.free[r]) + " of " +
                         FormatAmount(name, all) + " free";
      }
    }
  }
  if (!reason.figures.empty() || !cluster.nodes.has_value()) {
    return reason.figures.empty() ? Reason() : reason;
  }
  NodePool nodes = *cluster.nodes;
  if (nodes.Pack(growth.gang)) {
    return {};
  }
  const int64_t slots = nodes.PackMost(growth.gang);
  int64_t pods = 0;
  for (const NodePool::Task& task : growth.gang) {
    pods += task.replicas;
  }
  reason.figures.push_back({"Cluster/" + cluster.name(), "", pods, 0, slots});
  reason.message = "the nodes of cluster " + cluster.name() + " hold " + std::to_string(slots) +
                   " of " + std::to_string(pods) + " more such pods, node by node";
  return reason;
}

/// kNone where nothing is in the way of it.
Reason CannotGrow(const Round& round, const ClusterView* cluster, JobIndex index,
                  const MorePods& growth) {
  const State& state = round.state();
  const JobEntry& job = state.job(index);
  if (Reason gate = JobGate(state, round.tree(), index); gate.verdict != Verdict::kNone) {
    return gate;
  }
  if (const auto block = round.limits().Check(job.queue, job.tenant, growth.facts)) {
    return round.limits().Explain(*block);
  }
  const std::string& name = Held(job).cluster;
  if (cluster == nullptr) {
    return {Verdict::kClusterNotReady, "cluster " + name + " is not there", {}};
  }
  if (Reason reason = Admits(*cluster, state.spec(job).clusters);
      reason.verdict != Verdict::kNone) {
    reason.message = "cluster " + name + ": " + reason.message;
    return reason;
  }
  if (const auto block = round.limits().CheckCluster(job.tenant, cluster->index, growth.facts)) {
    return round.limits().Explain(*block);
  }
  return Shortage(state, *cluster, growth);
}

/// "worker 2 -> 4, minAvailable 2 -> 4".
std::string Edited(const Shard& held, const Shard& wanted) {
  std::string text;
  const auto add = [&](const std::string& what, int64_t from, int64_t to) {
    if (from != to) {
      text += (text.empty() ? "" : ", ") + what + " " + std::to_string(from) + " -> " +
              std::to_string(to);
    }
  };
  for (size_t t = 0; t < wanted.tasks.size(); ++t) {
    const std::string& name = wanted.tasks[t].name;
    add("replicas of " + name, held.tasks[t].replicas, wanted.tasks[t].replicas);
    add("minAvailable of " + name, held.tasks[t].min_available, wanted.tasks[t].min_available);
  }
  add("minAvailable", held.min_available, wanted.min_available);
  return text;
}

Action ToAction(const State& state, const Wish& wish) {
  const JobEntry& job = state.job(wish.job);
  Action action;
  action.job = job.key;
  action.uid = job.uid;
  action.queue = state.queue(job.queue).name;
  action.action = wish.grows ? ActionKind::kGrow : ActionKind::kShrink;
  action.topology_unchecked = TopologyUnchecked(state.shape(job.shape));
  action.shards.push_back(wish.wanted);
  action.reason = "the job was edited: " + Edited(Held(job), wish.wanted) +
                  (wish.grows ? "; cluster " + wish.wanted.cluster + " has room" : "");
  return action;
}

}  // namespace

std::vector<int32_t> CountsOf(const Shard& shard) {
  std::vector<int32_t> counts;
  counts.reserve(shard.tasks.size());
  for (const TaskGrant& grant : shard.tasks) {
    counts.push_back(grant.replicas);
  }
  return counts;
}

MorePods PodsBeyond(const State& state, const JobSpec& spec, const std::vector<int32_t>& have,
                    const std::vector<int32_t>& want) {
  MorePods pods;
  ResourceList more;
  for (size_t t = 0; t < want.size(); ++t) {
    const Task& task = spec.tasks[t];
    if (const int64_t added = int64_t{want[t]} - have[t]; added > 0) {
      pods.gang.push_back({&task.nodes, AmountsIn(state, task.request), added});
      AddTo(more, Times(task.request, added));
    }
  }
  pods.facts.total = AmountsIn(state, more);
  for (const auto& [name, amount] : more) {
    if (amount > 0) {
      pods.facts.requested.push_back(state.resources().Find(name));
    }
  }
  return pods;
}

std::optional<Shard> Resized(const JobSpec& spec, const std::vector<Shard>& shards) {
  if (spec.kind != JobKind::kJob || shards.size() != 1 || !shards.front().child.empty() ||
      shards.front().tasks.size() != spec.tasks.size()) {
    return std::nullopt;
  }
  const Shard& held = shards.front();
  // First what most jobs end with, since every placement comes through here.
  const bool same = held.min_available == spec.min_available &&
                    std::equal(spec.tasks.begin(), spec.tasks.end(), held.tasks.begin(),
                               [](const Task& task, const TaskGrant& grant) {
                                 return task.replicas == grant.replicas &&
                                        task.min_available == grant.min_available;
                               });
  if (same) {
    return std::nullopt;
  }
  Shard wanted = held;
  wanted.min_available = spec.min_available;
  wanted.requests.clear();
  ResourceList charged;
  for (size_t t = 0; t < spec.tasks.size(); ++t) {
    const Task& task = spec.tasks[t];
    if (task.name != held.tasks[t].name) {
      return std::nullopt;
    }
    wanted.tasks[t] = {task.name, task.replicas, task.min_available};
    AddTo(charged, Times(task.request, std::max(held.tasks[t].replicas, 0)));
    AddTo(wanted.requests, Times(task.request, task.replicas));
  }
  const auto present = [](ResourceList list) {
    std::erase_if(list, [](const auto& entry) { return entry.second == 0; });
    return list;
  };
  wanted.requests = present(std::move(wanted.requests));
  return present(std::move(charged)) == present(held.requests) ? std::optional(std::move(wanted))
                                                               : std::nullopt;
}

std::vector<Action> ResizePlaced(Round& round, std::vector<ClusterView>& clusters) {
  const State& state = round.state();
  std::vector<Action> actions;
  for (const Wish& wish : Wishes(state)) {
    if (wish.grows) {
      const JobEntry& job = state.job(wish.job);
      if (GrowsElastically(state.spec(job), Held(job))) {
        continue;  // In a pass of its own, after those who wait.
      }
      const MorePods growth = GrowthOf(state, job, wish.wanted);
      ClusterView* cluster = FindView(clusters, wish.wanted.cluster);
      if (CannotGrow(round, cluster, wish.job, growth).verdict != Verdict::kNone) {
        continue;
      }
      if (cluster->nodes.has_value()) {
        cluster->nodes->Pack(growth.gang);
      }
      cluster->free.Subtract(growth.facts.total);
      round.limits().Commit(job.queue, job.tenant, cluster->index, growth.facts);
    }
    actions.push_back(ToAction(state, wish));
  }
  return actions;
}

std::vector<WaitingResize> ExplainResizes(const State& after) {
  std::vector<WaitingResize> waiting;
  if (after.resizes().empty()) {
    return waiting;
  }
  const Round round(after);
  for (Wish& wish : Wishes(after)) {
    const JobEntry& job = after.job(wish.job);
    Reason reason;
    if (wish.grows) {
      reason = CannotGrow(round, FindView(round.clusters(), wish.wanted.cluster), wish.job,
                          GrowthOf(after, job, wish.wanted));
    }
    if (reason.verdict == Verdict::kNone) {
      reason.message = "nothing is in the way: the next round resizes it";
    }
    waiting.push_back({job.key, job.uid, after.queue(job.queue).name, std::move(wish.wanted),
                       reason.verdict, std::move(reason.message), std::move(reason.figures)});
  }
  return waiting;
}

}  // namespace caldera
