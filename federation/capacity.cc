#include "federation/capacity.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "federation/amounts.h"
#include "federation/children.h"
#include "federation/waves.h"

namespace caldera {

namespace {

bool Lost(const State& state, const Cluster& cluster) {
  if (cluster.deleting) {
    return true;
  }
  return !cluster.ready &&
         (cluster.ready_changed == Time() ||
          state.now() - cluster.ready_changed > state.settings().cluster_lost_after);
}

ResourceVector Difference(const ResourceVector& a, const ResourceVector& b) {
  ResourceVector difference;
  for (ResourceIndex r = 0; r < std::max(a.size(), b.size()); ++r) {
    if (const int64_t amount = std::max<int64_t>(SaturatingSub(a[r], b[r]), 0); amount != 0) {
      difference.Set(r, amount);
    }
  }
  return difference;
}

ResourceVector Larger(const ResourceVector& a, const ResourceVector& b) {
  ResourceVector larger;
  for (ResourceIndex r = 0; r < std::max(a.size(), b.size()); ++r) {
    larger.Set(r, std::max(a[r], b[r]));
  }
  return larger;
}

/// Our pods of a job's task that are bound here, as the member's pods say.
struct Bound {
  int64_t running = 0;
  int64_t finished = 0;
};
using BoundPods = std::map<std::tuple<JobKey, std::string>, Bound>;

/// Puts the bound pods onto their nodes, and adds up what they use.
BoundPods PlaceBound(const State& state, ClusterView& view, ResourceVector& used) {
  BoundPods bound;
  for (const auto& [key, pod] : view.entry->pods) {
    if (pod.node.empty()) {
      continue;
    }
    if (!pod.job.empty()) {
      Bound& count = bound[{{pod.ns, pod.job}, pod.task}];
      ++(pod.terminal ? count.finished : count.running);
    }
    if (!pod.terminal) {
      const ResourceVector requests = AmountsIn(state, pod.requests);
      view.nodes->Take(pod.node, requests);
      used.Add(requests);
    }
  }
  return bound;
}

/// What is reported counts the job as a whole: of a split one it does not say where.
int64_t Finished(const JobEntry& job, const std::string& task) {
  if (!job.Reported() || job.charge->shards.size() > 1) {
    return 0;
  }
  for (const TaskReport& report : job.rare().reports) {
    if (report.task == task) {
      return report.finished;
    }
  }
  return 0;
}

/// What our shards here still have to put onto the nodes, in the order in which they were placed,
/// so that the nodes fill up as they did when that was decided.
ResourceVector PlaceUnbound(const State& state, ClusterView& view, const BoundPods& bound) {
  std::vector<JobIndex> jobs(view.entry->jobs.begin(), view.entry->jobs.end());
  std::sort(jobs.begin(), jobs.end(), [&](JobIndex a, JobIndex b) {
    const JobEntry& x = state.job(a);
    const JobEntry& y = state.job(b);
    return std::tie(x.charge->intent, x.key, x.uid) < std::tie(y.charge->intent, y.key, y.uid);
  });
  ResourceVector unbound;
  for (const JobIndex index : jobs) {
    const JobEntry& job = state.job(index);
    std::vector<NodePool::Task> gang;
    const auto add = [&](const Task& task, int64_t pods) {
      gang.push_back({&task.nodes, AmountsIn(state, task.request), pods});
      unbound.AddTimes(gang.back().request, pods);
    };
    for (const Shard& shard : job.charge->shards) {
      if (shard.cluster != view.name()) {
        continue;
      }
      const auto seen_of = [&](const TaskGrant& grant) {
        const auto it = bound.find({{job.key.ns, MemberJobName(job.key.name, shard.child)},
                                    std::string(MemberTask(grant.name))});
        const Bound seen = it == bound.end() ? Bound() : it->second;
        return SeenPods{seen.running, std::max<int64_t>(seen.finished, Finished(job, grant.name))};
      };
      const JobSpec& spec = state.spec(job);
      if (shard.InWaves() && HasTasksOf(spec, shard)) {
        std::vector<SeenPods> seen;
        for (const TaskGrant& grant : shard.tasks) {
          seen.push_back(seen_of(grant));
        }
        const std::vector<int64_t> start = PodsToStart(spec, shard, seen);
        for (size_t t = 0; t < start.size(); ++t) {
          if (start[t] > 0) {
            add(spec.tasks[t], start[t]);
          }
        }
        continue;
      }
      for (const TaskGrant& grant : shard.tasks) {
        const auto& tasks = spec.tasks;
        const auto task = std::find_if(tasks.begin(), tasks.end(),
                                       [&](const Task& t) { return t.name == grant.name; });
        const SeenPods seen = seen_of(grant);
        const int64_t open = grant.replicas - seen.running - seen.finished;
        if (task != tasks.end() && open > 0) {
          add(*task, open);
        }
      }
    }
    if (!view.nodes->Pack(gang)) {
      for (const NodePool::Task& task : gang) {
        view.nodes->PackSome(task);
      }
    }
  }
  return unbound;
}

ClusterView View(const State& state, ClusterIndex index) {
  ClusterView view;
  view.entry = &state.cluster(index);
  view.index = index;
  const Cluster& cluster = view.object();
  view.lost = Lost(state, cluster);
  view.allocatable = CapacityIn(state, cluster.allocatable);
  view.allocated = AmountsIn(state, cluster.allocated);
  view.on_top = view.entry->on_top.ToVector();
  ResourceVector taken = Larger(Allocating(state, *view.entry), view.on_top);
  if (!view.entry->nodes.empty()) {
    view.nodes.emplace(state, *view.entry);
    ResourceVector used;
    const BoundPods bound = PlaceBound(state, view, used);
    const ResourceVector unbound = PlaceUnbound(state, view, bound);
    if (!cluster.has_summary) {
      view.allocatable = view.nodes->allocatable();
      view.allocated = used;
      view.on_top = unbound;
      taken = unbound;
    }
  }
  view.foreign =
      Difference(view.allocated, Difference(view.entry->charged.ToVector(), view.on_top));
  if (view.Offers()) {
    taken.Add(view.allocated);
    view.free = Difference(view.allocatable, taken);
  }
  return view;
}

}  // namespace

ResourceVector Allocating(const State& state, const ClusterEntry& cluster) {
  return Difference(AmountsIn(state, cluster.object->allocating), cluster.held_back.ToVector());
}

ResourceVector FreeInTime(const State& state, const ClusterView& view) {
  if (!view.object().has_summary) {
    return view.free;
  }
  ResourceVector seen = view.allocated;
  seen.Add(Allocating(state, *view.entry));
  return Difference(view.allocatable, Larger(seen, view.entry->charged.ToVector()));
}

std::vector<ClusterView> ViewClusters(const State& state) {
  std::vector<ClusterView> views;
  for (const auto& [name, index] : state.clusters()) {
    if (state.cluster(index).object.has_value()) {
      views.push_back(View(state, index));
    }
  }
  return views;
}

ResourceVector FederationTotal(const std::vector<ClusterView>& clusters) {
  ResourceVector total;
  for (const ClusterView& cluster : clusters) {
    if (!cluster.lost) {
      total.Add(Difference(cluster.allocatable, cluster.foreign));
    }
  }
  return total;
}

}  // namespace caldera
