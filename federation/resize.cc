#include "federation/resize.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

#include "federation/actions.h"
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
    if (wanted.tasks[t].replicas > held.tasks[t].replicas ||
        wanted.tasks[t].AtOnce() > held.tasks[t].AtOnce()) {
      return true;
    }
  }
  return false;
}

/// What an edit asks for beyond what is held; what it gives back is not set against it.
MorePods GrowthOf(const State& state, const JobEntry& job, const Shard& wanted) {
  return PodsBeyond(state, state.spec(job), CountsOf(Held(job)), CountsOf(wanted),
                    Held(job).InWaves());
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
  if (GrowsElastically(state.spec(job), Held(job)) && !MayGrowNow(state, job)) {
    return {Verdict::kBackoff,
            "room was taken from it for others at " + FormatTime(Held(job).shrunk) +
                ": it does not grow within 5 minutes of that, nor while pods beyond its grant run",
            {}};
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

bool IsInWavesUnedited(const State& state, const JobEntry& job) {
  return Held(job).InWaves() && !IsEdited(state.spec(job), Held(job));
}

/// How many pods of each task run, as far as anybody has seen.
std::vector<int64_t> Running(const State& state, const JobEntry& job) {
  std::map<std::string_view, int64_t> bound;  // By task.
  const auto& pods = state.cluster(state.clusters().at(Held(job).cluster)).pods;
  for (auto it = pods.lower_bound({job.key.ns, ""});
       it != pods.end() && it->first.first == job.key.ns; ++it) {
    const Pod& pod = it->second;
    if (pod.job == job.key.name && !pod.node.empty() && !pod.terminal) {
      ++bound[pod.task];
    }
  }
  std::vector<int64_t> running;
  for (const Task& task : state.spec(job).tasks) {
    int64_t seen = bound[task.name];
    for (const TaskReport& report : job.rare().reports) {
      seen =
          std::max<int64_t>(seen, report.task == task.name && job.Reported() ? report.running : 0);
    }
    running.push_back(seen);
  }
  return running;
}

/// Pods beyond a lowered grant that have ended are not charged any more.
std::optional<Action> Settle(const State& state, JobIndex index) {
  const JobEntry& job = state.job(index);
  const JobSpec& spec = state.spec(job);
  const Shard& held = Held(job);
  const ResourceList grant = GrantOf(spec, CountsOf(held));
  if (held.requests == grant || state.now() < held.shrunk + SeenAfter(state)) {
    return std::nullopt;
  }
  ResourceList used;
  const std::vector<int64_t> running = Running(state, job);
  for (size_t t = 0; t < running.size(); ++t) {
    AddTo(used, Times(spec.tasks[t].request, running[t]));
  }
  ResourceList left = grant;
  for (const auto& [name, amount] : used) {
    const auto charged = held.requests.find(name);
    left[name] = std::max(left[name],
                          std::min(amount, charged == held.requests.end() ? 0 : charged->second));
  }
  std::erase_if(left, [](const auto& entry) { return entry.second == 0; });
  if (left == held.requests) {
    return std::nullopt;
  }
  Action action = ActionFor(state, index, ActionKind::kShrink);
  action.shards.push_back(held);
  action.shards.front().requests = std::move(left);
  action.reason = "pods that it has beyond its grant have ended";
  return action;
}

Action ToAction(const State& state, const Wish& wish) {
  const JobEntry& job = state.job(wish.job);
  Action action = ActionFor(state, wish.job, wish.grows ? ActionKind::kGrow : ActionKind::kShrink);
  action.shards.push_back(wish.wanted);
  Shard& wanted = action.shards.front();
  if (wanted.InWaves() && wanted.requests != GrantOf(state.spec(job), CountsOf(wanted))) {
    wanted.shrunk = state.now();
  }
  action.reason = "the job was edited: " + Edited(Held(job), wish.wanted) +
                  (wish.grows ? "; cluster " + wish.wanted.cluster + " has room" : "");
  return action;
}

}  // namespace

MorePods PodsBeyond(const State& state, const JobSpec& spec, const std::vector<int32_t>& have,
                    const std::vector<int32_t>& want, bool waves) {
  MorePods pods;
  ResourceList more;
  std::vector<std::pair<const Task*, int64_t>> added;
  for (size_t t = 0; t < want.size(); ++t) {
    if (const int64_t extra = int64_t{want[t]} - have[t]; extra > 0) {
      added.emplace_back(&spec.tasks[t], extra);
      AddTo(more, Times(spec.tasks[t].request, extra));
    }
  }
  // As the tasks of a Shape, so that those of one size are packed as they are in a whole job.
  std::sort(added.begin(), added.end(), [](const auto& a, const auto& b) {
    return std::tie(a.first->request, a.second, a.first->nodes) <
           std::tie(b.first->request, b.second, b.first->nodes);
  });
  for (const auto& [task, count] : added) {
    pods.gang.push_back({&task->nodes, AmountsIn(state, task->request), count});
  }
  if (waves) {
    more = GrantOf(spec, want);
    for (const auto& [name, amount] : GrantOf(spec, have)) {
      more[name] = std::max<int64_t>(SaturatingSub(more[name], amount), 0);
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

namespace {

/// Each of `list` is in `other`; `pods`, which depend on more than the grant, are left out.
bool IsWithin(const ResourceList& list, const ResourceList& other) {
  return std::all_of(list.begin(), list.end(), [&](const auto& entry) {
    const auto found = other.find(entry.first);
    return entry.first == "pods" || (found != other.end() && entry.second <= found->second);
  });
}

ResourceList Larger(ResourceList list, const ResourceList& other) {
  for (const auto& [name, amount] : other) {
    list[name] = std::max(list[name], amount);
  }
  return list;
}

/// Of a shard in waves. An edit keeps the grant as far as it may; without one it is to become all
/// replicas, or, where it is all, what is charged beyond it is to go.
std::optional<Shard> ResizedInWaves(const JobSpec& spec, const Shard& held) {
  for (size_t t = 0; t < spec.tasks.size(); ++t) {
    if (spec.tasks[t].name != held.tasks[t].name || spec.tasks[t].partition.total > 0) {
      return std::nullopt;
    }
  }
  const ResourceList grant = GrantOf(spec, CountsOf(held));
  const bool settled = IsWithin(held.requests, grant);
  if (!IsWithin(grant, held.requests) || (!settled && held.shrunk == Time())) {
    return std::nullopt;  // Its pods ask for something else by now.
  }
  const bool edited = IsEdited(spec, held);
  const std::vector<int32_t> floor = FloorOf(spec);
  Shard wanted = held;
  std::vector<int32_t> counts;
  bool missing = false;
  for (size_t t = 0; t < spec.tasks.size(); ++t) {
    const Task& task = spec.tasks[t];
    missing = missing || held.tasks[t].AtOnce() < task.replicas;
    counts.push_back(edited ? std::max(std::min(held.tasks[t].AtOnce(), task.replicas), floor[t])
                            : task.replicas);
    wanted.tasks[t] = {task.name, task.replicas, task.min_available, counts.back()};
  }
  if (!edited && !missing && settled) {
    return std::nullopt;
  }
  wanted.min_available = spec.min_available;
  wanted.requests = GrantOf(spec, counts);
  if (edited) {
    // What it takes back ends by itself.
    wanted.requests = Larger(std::move(wanted.requests), held.requests);
  }
  return wanted;
}

}  // namespace

bool IsEdited(const JobSpec& spec, const Shard& held) {
  if (held.InWaves() && !ReachesFloor(spec, CountsOf(held))) {
    return true;  // A placement that no plan made.
  }
  return held.min_available != spec.min_available ||
         !std::equal(spec.tasks.begin(), spec.tasks.end(), held.tasks.begin(), held.tasks.end(),
                     [](const Task& task, const TaskGrant& grant) {
                       return task.replicas == grant.replicas &&
                              task.min_available == grant.min_available;
                     });
}

std::optional<Shard> Resized(const JobSpec& spec, const std::vector<Shard>& shards) {
  if (spec.kind != JobKind::kJob || shards.size() != 1 || !shards.front().child.empty() ||
      shards.front().tasks.size() != spec.tasks.size()) {
    return std::nullopt;
  }
  const Shard& held = shards.front();
  if (held.InWaves()) {
    return ResizedInWaves(spec, held);
  }
  // First what most jobs end with, since every placement comes through here.
  if (!IsEdited(spec, held)) {
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
    const JobEntry& job = state.job(wish.job);
    if (IsInWavesUnedited(state, job)) {
      if (auto settled = Settle(state, wish.job)) {
        actions.push_back(*std::move(settled));
      }
      continue;  // It grows after those who wait, as elastic ones do.
    }
    if (wish.grows) {
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
    if (IsInWavesUnedited(after, job) && !wish.grows) {
      continue;  // It has all that it asked for.
    }
    Reason reason;
    if (wish.grows) {
      reason = CannotGrow(round, FindView(round.clusters(), wish.wanted.cluster), wish.job,
                          GrowthOf(after, job, wish.wanted));
    }
    if (reason.verdict == Verdict::kNone) {
      reason.message = "nothing is in the way: the next round resizes it";
    }
    const bool growth = wish.grows && GrowsElastically(after.spec(job), Held(job));
    waiting.push_back({job.key, job.uid, after.queue(job.queue).name, std::move(wish.wanted),
                       growth, reason.verdict, std::move(reason.message),
                       std::move(reason.figures)});
  }
  return waiting;
}

}  // namespace caldera
