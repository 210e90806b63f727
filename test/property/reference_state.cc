#include "test/property/reference_state.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "federation/decay.h"
#include "federation/share.h"
#include "federation/usage.h"

namespace caldera::property {

namespace {

bool HasTasksOf(const Job& job, const Shard& shard) {
  bool same = job.tasks.size() == shard.tasks.size();
  for (size_t t = 0; same && t < job.tasks.size(); ++t) {
    same = job.tasks[t].name == shard.tasks[t].name;
  }
  return same;
}

ResourceList RequestsOf(const Job& job, const Shard& shard) {
  ResourceList sum;
  for (const TaskGrant& grant : shard.tasks) {
    for (const Task& task : job.tasks) {
      if (task.name == grant.name) {
        AddTo(sum, Times(task.request, grant.AtOnce()));
      }
    }
  }
  if (shard.InWaves()) {
    // Of pods that differ, small ones may run in the place of large ones.
    std::set<ResourceList> sizes;
    int64_t pods = 0;
    for (const Task& task : job.tasks) {
      pods += task.replicas;
      if (task.replicas > 0) {
        sizes.insert(task.request);
      }
    }
    if (HasTasksOf(job, shard) && sizes.size() > 1 && shard.PodsAtOnce() > 0) {
      sum["pods"] = pods;
    }
    std::erase_if(sum, [](const auto& entry) { return entry.second == 0; });
  }
  return sum;
}

void Complete(const Job& job, std::vector<Shard>& shards) {
  for (Shard& shard : shards) {
    if (shard.requests.empty()) {
      shard.requests = RequestsOf(job, shard);
    }
  }
}

/// Pods of a shard in waves that may still start, by task, one after the other: those granted, then
/// the others. `running` and `finished` by task.
std::vector<int64_t> Starts(const Job& job, const Shard& shard, const std::vector<int64_t>& running,
                            const std::vector<int64_t>& finished) {
  ResourceList room = shard.requests;
  for (size_t t = 0; t < job.tasks.size(); ++t) {
    Take(room, Times(job.tasks[t].request, running[t]));
  }
  std::vector<int64_t> starts(job.tasks.size(), 0);
  for (const bool granted : {true, false}) {
    for (size_t t = 0; t < job.tasks.size(); ++t) {
      const TaskGrant& grant = shard.tasks[t];
      const ResourceList& request = job.tasks[t].request;
      const auto fits = [&] {
        return std::all_of(request.begin(), request.end(), [&](const auto& entry) {
          return entry.second <= 0 || entry.second <= At(room, entry.first);
        });
      };
      while (running[t] + finished[t] + starts[t] < grant.replicas &&
             (!granted || running[t] + starts[t] < grant.AtOnce()) && fits()) {
        ++starts[t];
        Take(room, request);
      }
    }
  }
  return starts;
}

int64_t Latest(const std::vector<Shard>& shards) {
  int64_t epoch = 0;
  for (const Shard& shard : shards) {
    epoch = std::max(epoch, shard.epoch);
  }
  return epoch;
}

/// The job that a Change is about; nullptr: there is none.
RefJob* FindJob(RefState& state, const JobKey& key, const std::string& uid) {
  for (const JobKind kind : {JobKind::kJob, JobKind::kHyperJob}) {
    const auto it = state.jobs.find({key, kind});
    if (it != state.jobs.end() && it->second.object.uid == uid) {
      return &it->second;
    }
  }
  return nullptr;
}

/// Pods of that grant that the member reported running or finished.
int64_t Reported(const RefJob& job, const TaskGrant& grant) {
  int64_t reported = 0;
  for (const TaskReport& report : job.Reports()) {
    reported += report.task == grant.name ? report.running + report.finished : 0;
  }
  int64_t granted = 0;
  for (const Shard& shard : job.charge->shards) {
    for (const TaskGrant& other : shard.tasks) {
      granted += other.name == grant.name ? other.replicas : 0;
    }
  }
  if (job.charge->shards.size() > 1 && reported < granted) {
    return 0;
  }
  return std::min<int64_t>(reported, grant.replicas);
}

/// Pods that run and that ended, by task.
std::pair<std::vector<int64_t>, std::vector<int64_t>> ReportedInWaves(const RefJob& job,
                                                                      const Shard& shard) {
  std::vector<int64_t> running(shard.tasks.size(), 0);
  std::vector<int64_t> finished(shard.tasks.size(), 0);
  for (size_t t = 0; t < shard.tasks.size(); ++t) {
    for (const TaskReport& report : job.Reports()) {
      if (report.task == shard.tasks[t].name) {
        running[t] = report.running;
        finished[t] = report.finished;
      }
    }
  }
  return {running, finished};
}

/// What the shard uses that the cluster's summary does not show yet.
ResourceList OnTop(const RefState& state, const RefJob& job, const Shard& shard) {
  ResourceList amounts = shard.requests;
  if (shard.InWaves() && HasTasksOf(job.object, shard)) {
    const Time begun = std::max(job.charge->at, shard.grown);
    if (job.Reports().empty() ||
        (state.now < job.object.reported + 2 * state.settings.summary_period &&
         state.now < begun + 6 * state.settings.summary_period)) {
      return amounts;
    }
    const auto [running, finished] = ReportedInWaves(job, shard);
    const std::vector<int64_t> starts = Starts(job.object, shard, running, finished);
    amounts.clear();
    for (size_t t = 0; t < starts.size(); ++t) {
      AddTo(amounts, Times(job.object.tasks[t].request, starts[t]));
    }
    return amounts;
  }
  if (state.now < job.object.reported + 2 * state.settings.summary_period) {
    return amounts;
  }
  for (const TaskGrant& grant : shard.tasks) {
    for (const Task& task : job.object.tasks) {
      if (task.name == grant.name) {
        Take(amounts, Times(task.request, Reported(job, grant)));
      }
    }
  }
  for (auto& [resource, amount] : amounts) {
    amount = std::max<int64_t>(amount, 0);
  }
  return amounts;
}

/// The jobs with a shard in that cluster, oldest intent first.
std::vector<const RefJob*> OldestIn(const RefState& state, const std::string& cluster) {
  std::vector<const RefJob*> jobs;
  for (const auto& [key, job] : state.jobs) {
    const bool here =
        job.charge && std::any_of(job.charge->shards.begin(), job.charge->shards.end(),
                                  [&](const Shard& shard) { return shard.cluster == cluster; });
    if (here) {
      jobs.push_back(&job);
    }
  }
  std::sort(jobs.begin(), jobs.end(), [](const RefJob* a, const RefJob* b) {
    return std::tie(a->charge->intent, a->object.key, a->object.uid) <
           std::tie(b->charge->intent, b->object.key, b->object.uid);
  });
  return jobs;
}

/// Bound pods, then what our shards here still have to put, oldest intent first. Returns what the
/// bound pods use and what is not bound yet.
std::pair<ResourceList, ResourceList> FillNodes(const RefState& state, RefCluster& cluster) {
  std::map<std::tuple<JobKey, std::string>, std::pair<int64_t, int64_t>> bound;
  ResourceList used;
  for (const Pod& pod : cluster.pods) {
    if (pod.node.empty()) {
      continue;
    }
    if (!pod.job.empty()) {
      auto& [running, finished] = bound[{JobKey{pod.ns, pod.job}, pod.task}];
      ++(pod.terminal ? finished : running);
    }
    if (!pod.terminal) {
      if (const auto it = cluster.nodes.find(pod.node); it != cluster.nodes.end()) {
        Take(it->second.free, pod.requests);
      }
      AddTo(used, pod.requests);
    }
  }
  ResourceList unbound;
  for (const RefJob* job : OldestIn(state, cluster.object.name)) {
    std::vector<RefGangTask> gang;
    for (const Shard& shard : job->charge->shards) {
      std::vector<int64_t> runs;
      std::vector<int64_t> ended;
      for (const TaskGrant& grant : shard.tasks) {
        const std::string name = grant.name.substr(grant.name.find('/') + 1);
        const auto [running, finished] = bound[{job->MemberKey(shard.child), name}];
        int64_t reported = 0;
        for (const TaskReport& report : job->Reports()) {
          const bool tells = report.task == grant.name && job->charge->shards.size() == 1;
          reported = tells ? report.finished : reported;
        }
        runs.push_back(running);
        ended.push_back(std::max<int64_t>(finished, reported));
      }
      const bool waves = shard.InWaves() && HasTasksOf(job->object, shard);
      const std::vector<int64_t> starts =
          waves ? Starts(job->object, shard, runs, ended) : std::vector<int64_t>();
      for (size_t g = 0; g < shard.tasks.size(); ++g) {
        const TaskGrant& grant = shard.tasks[g];
        for (const Task& task : job->object.tasks) {
          if (shard.cluster != cluster.object.name || task.name != grant.name) {
            continue;
          }
          const int64_t open = waves ? starts[g] : grant.replicas - runs[g] - ended[g];
          if (open > 0) {
            gang.push_back({&task.nodes, task.request, open});
            AddTo(unbound, Times(task.request, open));
          }
        }
      }
    }
    if (!RefPack(cluster.nodes, gang)) {
      for (const RefGangTask& task : gang) {
        RefFill(cluster.nodes, task);
      }
    }
  }
  return {used, unbound};
}

/// Pods that the cluster's waves leave pending: beyond those that run, ended or may start.
ResourceList HeldBack(const RefState& state, const std::string& cluster) {
  ResourceList held_back;
  for (const auto& [key, job] : state.jobs) {
    for (const Shard& shard : job.charge ? job.charge->shards : std::vector<Shard>()) {
      if (shard.cluster != cluster || !shard.InWaves() || !HasTasksOf(job.object, shard) ||
          job.Reports().empty()) {
        continue;
      }
      const auto [running, finished] = ReportedInWaves(job, shard);
      const std::vector<int64_t> starts = Starts(job.object, shard, running, finished);
      for (size_t t = 0; t < starts.size(); ++t) {
        const int64_t rest = shard.tasks[t].replicas - running[t] - finished[t] - starts[t];
        AddTo(held_back, Times(job.object.tasks[t].request, std::max<int64_t>(rest, 0)));
      }
    }
  }
  return held_back;
}

void View(const RefState& state, RefCluster& cluster) {
  const Cluster& object = cluster.object;
  cluster.lost =
      object.deleting ||
      (!object.ready && (object.ready_changed == Time() ||
                         state.now - object.ready_changed > state.settings.cluster_lost_after));
  cluster.allocatable = RefCapacity(object.allocatable);
  ResourceList allocated = object.allocated;
  ResourceList on_top;
  ResourceList charged;
  for (const auto& [key, job] : state.jobs) {
    for (const Shard& shard : job.charge ? job.charge->shards : std::vector<Shard>()) {
      if (shard.cluster == object.name) {
        AddTo(on_top, OnTop(state, job, shard));
        AddTo(charged, shard.requests);
      }
    }
  }
  ResourceList taken = object.allocating;
  Take(taken, HeldBack(state, object.name));
  for (const auto& [resource, amount] : on_top) {
    taken[resource] = std::max(taken[resource], amount);
  }
  if (!cluster.nodes.empty()) {
    const auto [used, unbound] = FillNodes(state, cluster);
    if (!object.has_summary) {
      cluster.allocatable = SumOfNodes(cluster.nodes);
      allocated = used;
      on_top = unbound;
      taken = unbound;
    }
  }
  for (const auto& [resource, amount] : allocated) {
    const int64_t own = std::max<int64_t>(At(charged, resource) - At(on_top, resource), 0);
    cluster.foreign[resource] = std::max<int64_t>(amount - own, 0);
  }
  for (const auto& [resource, amount] : cluster.allocatable) {
    const int64_t out = At(taken, resource) + At(allocated, resource);
    cluster.free[resource] =
        cluster.Offers() ? std::max<int64_t>(SaturatingSub(amount, out), 0) : 0;
  }
}

}  // namespace

int64_t At(const ResourceList& list, const std::string& resource) {
  const auto it = list.find(resource);
  return it == list.end() ? 0 : it->second;
}
int64_t LimitAt(const ResourceList& list, const std::string& resource) {
  const auto it = list.find(resource);
  return it == list.end() ? kUnlimited : it->second;
}
int64_t CapacityAt(const ResourceList& list, const std::string& resource) {
  return resource == "pods" ? LimitAt(list, resource) : At(list, resource);
}
void Take(ResourceList& from, const ResourceList& amounts) {
  for (const auto& [resource, amount] : amounts) {
    from[resource] = SaturatingSub(At(from, resource), amount);
  }
}

bool RefAllowed(const RefCluster& cluster, const ClusterConstraint& constraint) {
  const Cluster& object = cluster.object;
  bool allowed = constraint.names.empty() ||
                 std::count(constraint.names.begin(), constraint.names.end(), object.name) > 0;
  for (const LabelRequirement& requirement : constraint.selector) {
    allowed = allowed && RefMatches(requirement, object.labels);
  }
  const bool serves = !object.apis_known || std::count(object.apis.begin(), object.apis.end(),
                                                       "batch.volcano.sh/v1alpha1/Job") > 0;
  return allowed && serves && RefTolerates(constraint.tolerations, object.taints);
}

bool RefFits(const ResourceList& total, const ResourceList& room) {
  return std::all_of(total.begin(), total.end(),
                     [&](const auto& entry) { return entry.second <= At(room, entry.first); });
}

RefUsage RefState::UsedBy(const std::string& queue, const std::string& tenant) const {
  RefUsage used;
  if (settings.usage_half_life <= Millis(0)) {
    return used;
  }
  for (const UsageSet& anchor : anchors) {
    if (anchor.queue != queue || anchor.tenant != tenant) {
      continue;
    }
    ResourceList held;
    for (const auto& [key, job] : jobs) {
      if (job.charge.has_value() && job.QueueName() == queue && key.first.ns == tenant) {
        for (const Shard& shard : job.charge->shards) {
          AddTo(held, shard.requests);
        }
      }
    }
    const Time cell = now - now.time_since_epoch() % kUsageGrid;
    const Int128 factor = DecayFactor(cell - anchor.anchor, settings.usage_half_life);
    ResourceList names = anchor.whole;
    AddTo(names, anchor.part);
    AddTo(names, held);
    for (const auto& [resource, amount] : names) {
      const Int128 now_held = Int128{At(held, resource)} * kUsageOne;
      const Int128 then =
          Int128{At(anchor.whole, resource)} * kUsageOne + At(anchor.part, resource);
      used[resource] = now_held + (then - now_held) * factor / kDecayOne;
    }
  }
  return used;
}

Int128 RefState::Blend(int64_t held, Int128 used) const {
  const int64_t weight = settings.usage_half_life > Millis(0) ? settings.usage_weight : 0;
  return Int128{held} * kUsageOne * (1000 - weight) + used * weight;
}

RefState::RefState(const std::vector<Change>& exported) {
  Queue root;
  root.name = "root";
  Queue fallback;
  fallback.name = "default";
  fallback.parent = "root";
  queues = {{"root", root}, {"default", fallback}};
  for (const Change& change : exported) {
    if (const auto* clock = std::get_if<ClockSet>(&change)) {
      now = clock->now;
    } else if (const auto* set = std::get_if<SettingsSet>(&change)) {
      settings = set->settings;
    } else if (const auto* queue = std::get_if<QueueUpsert>(&change)) {
      queues.insert_or_assign(queue->queue.name, queue->queue);
    } else if (const auto* priority = std::get_if<PriorityClassUpsert>(&change)) {
      priorities[priority->priority_class.name] = priority->priority_class;
    } else if (const auto* ns = std::get_if<NamespaceUpsert>(&change)) {
      namespaces[ns->ns.name] = ns->ns;
    } else if (const auto* quota = std::get_if<TenantQuotaUpsert>(&change)) {
      quotas.push_back(quota->quota);
    } else if (const auto* cluster = std::get_if<ClusterUpsert>(&change)) {
      clusters[cluster->cluster.name].object = cluster->cluster;
    } else if (const auto* node = std::get_if<NodeUpsert>(&change)) {
      clusters[node->node.cluster].nodes[node->node.name] = {node->node,
                                                             RefCapacity(node->node.allocatable)};
    } else if (const auto* pod = std::get_if<PodUpsert>(&change)) {
      clusters[pod->pod.cluster].pods.push_back(pod->pod);
    } else if (const auto* upsert = std::get_if<JobUpsert>(&change)) {
      RefJob& job = jobs[{upsert->job.key, upsert->job.kind}];
      job.object = upsert->job;
      job.last_epoch = Latest(upsert->job.placement);
      if (job.last_epoch > 0 && !upsert->job.terminal) {
        job.charge = Placed{upsert->job.key, upsert->job.uid, 0, Time(), upsert->job.placement};
        Complete(job.object, job.charge->shards);
      }
    } else if (const auto* usage = std::get_if<UsageSet>(&change)) {
      anchors.push_back(*usage);
    } else if (const auto* released = std::get_if<Released>(&change)) {
      RefJob& job = *FindJob(*this, released->key, released->uid);
      job.charge.reset();
      job.last_epoch = std::max(job.last_epoch, released->epoch);
    } else if (const auto* placed = std::get_if<Placed>(&change)) {
      RefJob& job = *FindJob(*this, placed->key, placed->uid);
      job.charge = *placed;
      Complete(job.object, job.charge->shards);
      job.last_epoch = std::max(job.last_epoch, Latest(placed->shards));
    }
  }
  // A node of a cluster that is not there belongs to nobody.
  std::erase_if(clusters, [](const auto& cluster) { return cluster.second.object.name.empty(); });
  for (auto& [name, cluster] : clusters) {
    View(*this, cluster);
  }
}

}  // namespace caldera::property
