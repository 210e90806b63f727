#include "federation/elastic.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "federation/amounts.h"
#include "federation/feasibility.h"
#include "federation/gate.h"
#include "federation/shards.h"

namespace caldera {

namespace {

bool Fits(const ClusterView& cluster, const MorePods& pods) {
  if (!pods.facts.total.FitsIn(cluster.free)) {
    return false;
  }
  if (!cluster.nodes.has_value()) {
    return true;
  }
  NodePool nodes = *cluster.nodes;
  return nodes.Pack(pods.gang);
}

bool Allowed(const Round& round, const JobEntry& job, ClusterIndex cluster, const MorePods& pods) {
  return !round.limits().Check(job.queue, job.tenant, pods.facts).has_value() &&
         !round.limits().CheckCluster(job.tenant, cluster, pods.facts).has_value();
}

/// `extra` pods more, in the order of the tasks.
std::vector<int32_t> Widened(const JobSpec& spec, std::vector<int32_t> counts, int32_t extra) {
  std::vector<int32_t> all;
  all.reserve(counts.size());
  for (const Task& task : spec.tasks) {
    all.push_back(task.replicas);
  }
  return Between(std::move(counts), all, extra);
}

/// Of a job that waits: the pods of its floor and `extra` more.
MorePods PodsWith(const State& state, const JobSpec& spec, const std::vector<int32_t>& floor,
                  int32_t extra) {
  const std::vector<int32_t> nothing(floor.size(), 0);
  return PodsBeyond(state, spec, nothing, Widened(spec, floor, extra), !spec.elastic);
}

}  // namespace

bool MayBePartial(const JobSpec& spec) {
  if (!spec.elastic) {
    return MayRunInWaves(spec);
  }
  return spec.kind == JobKind::kJob &&
         std::all_of(spec.tasks.begin(), spec.tasks.end(),
                     [](const Task& task) { return task.partition.total == 0; });
}

std::vector<int32_t> FloorOf(const JobSpec& spec) {
  std::vector<int32_t> counts;
  int64_t pods = 0;
  for (const Task& task : spec.tasks) {
    counts.push_back(std::min(task.min_available, task.replicas));
    pods += counts.back();
  }
  if (spec.min_available > 0 && spec.min_available < pods) {
    counts.assign(counts.size(), 0);
    pods = 0;
  }
  for (size_t t = 0; t < counts.size() && pods < spec.min_available; ++t) {
    const int64_t more =
        std::min<int64_t>(spec.tasks[t].replicas - counts[t], spec.min_available - pods);
    counts[t] += static_cast<int32_t>(more);
    pods += more;
  }
  if (pods == 0) {
    // A job of no pods is none.
    const auto first = std::find_if(spec.tasks.begin(), spec.tasks.end(),
                                    [](const Task& task) { return task.replicas > 0; });
    if (first != spec.tasks.end()) {
      counts[static_cast<size_t>(first - spec.tasks.begin())] = 1;
    }
  }
  return counts;
}

bool ReachesFloor(const JobSpec& spec, const std::vector<int32_t>& counts) {
  const std::vector<int32_t> floor = FloorOf(spec);
  return std::equal(counts.begin(), counts.end(), floor.begin(), floor.end(),
                    [](int32_t count, int32_t least) { return count >= least; });
}

int32_t MissingIn(const JobSpec& spec, const std::vector<int32_t>& held) {
  int32_t missing = 0;
  for (size_t t = 0; t < held.size(); ++t) {
    missing += spec.tasks[t].replicas - held[t];
  }
  return missing;
}

std::vector<int32_t> Between(std::vector<int32_t> low, const std::vector<int32_t>& high,
                             int32_t extra) {
  for (size_t t = 0; t < low.size(); ++t) {
    const int32_t more = std::min(extra, high[t] - low[t]);
    extra -= more;
    low[t] += more;
  }
  return low;
}

std::optional<std::vector<int32_t>> FloorBelow(const State& state, const JobEntry& job) {
  const JobSpec& spec = state.spec(job);
  if (job.charge->shards.size() != 1) {
    return std::nullopt;
  }
  const Shard& held = job.charge->shards.front();
  if (!(held.InWaves() || spec.elastic) || !MayBePartial(spec) || !HasTasksOf(spec, held) ||
      (held.InWaves() && IsEdited(spec, held))) {
    return std::nullopt;
  }
  const std::vector<int32_t> counts = CountsOf(held);
  for (size_t t = 0; t < counts.size(); ++t) {
    if (counts[t] > spec.tasks[t].replicas) {
      return std::nullopt;
    }
  }
  std::vector<int32_t> floor = FloorOf(spec);
  Shard same = held;
  SetCounts(spec, counts, same);
  const bool above = ReachesFloor(spec, counts) && counts != floor;
  return above && same.requests == held.requests ? std::optional(std::move(floor)) : std::nullopt;
}

bool IsDraining(const State& state, const JobEntry& job) {
  const Shard& held = job.charge->shards.front();
  return job.charge->shards.size() == 1 && held.InWaves() && held.shrunk != Time() &&
         state.now() < held.shrunk + state.settings().reserve_after &&
         HasTasksOf(state.spec(job), held) &&
         held.requests != GrantOf(state.spec(job), CountsOf(held));
}

std::optional<MorePods> FloorPods(const State& state, const JobEntry& job) {
  const JobSpec& spec = state.spec(job);
  if (!MayBePartial(spec)) {
    return std::nullopt;
  }
  return PodsWith(state, spec, FloorOf(spec), 0);
}

bool FitsEmpty(const State& state, const ClusterView& cluster, const MorePods& pods) {
  if (!pods.facts.total.FitsIn(cluster.allocatable)) {
    return false;
  }
  if (!cluster.nodes.has_value()) {
    return true;
  }
  NodePool nodes(state, *cluster.entry);
  return nodes.Pack(pods.gang);
}

ResourceVector MostEver(const State& state, const std::vector<ClusterView>& clusters,
                        const JobSpec& spec, const TenantLimits& quotas,
                        const ResourceLimits& capability) {
  const std::vector<int32_t> floor = FloorOf(spec);
  const auto pods_with = [&](int32_t extra) { return PodsWith(state, spec, floor, extra); };
  const auto within = [](const ResourceVector& total, const ResourceLimits& limits) {
    for (ResourceIndex r = 0; r < total.size(); ++r) {
      if (total[r] > 0 && total[r] > limits[r]) {
        return false;
      }
    }
    return true;
  };
  int32_t most = -1;
  for (const ClusterView& cluster : clusters) {
    const auto assigned = quotas.in.find(cluster.index);
    const auto holds = [&](int32_t extra) {
      const MorePods pods = pods_with(extra);
      const ResourceVector& total = pods.facts.total;
      return within(total, quotas.overall) && within(total, capability) &&
             (assigned == quotas.in.end() || within(total, assigned->second)) &&
             FitsEmpty(state, cluster, pods);
    };
    if (!cluster.lost && IsAllowed(cluster, spec.clusters) && holds(std::max(most, 0))) {
      most = LargestOf(std::max(most, 0), MissingIn(spec, floor), holds);
    }
  }
  return most < 0 ? ResourceVector() : pods_with(most).facts.total;
}

std::optional<PartialSite> FindPartial(const Round& round, const PartialSearch& search,
                                       const std::vector<ClusterView>& views,
                                       const Reservations& reservations) {
  const State& state = round.state();
  const Head& head = search.head;
  const JobEntry& job = state.job(head.job);
  const JobSpec& spec = state.spec(job);
  const JobClass& job_class = state.classes()[head.job_class];
  const std::vector<int32_t> floor = FloorOf(spec);
  const int32_t missing = MissingIn(spec, floor);
  const auto pods_with = [&](int32_t extra) { return PodsWith(state, spec, floor, extra); };
  std::optional<PartialSite> best;
  const ShapeFacts least = pods_with(0).facts;
  if (round.limits().Check(job.queue, job.tenant, least) || !search.may_hold(least)) {
    return best;
  }
  const bool within = head.within || StaysWithin(round, job.queue, least);
  int32_t most = -1;
  for (size_t c = 0; c < views.size(); ++c) {
    const ClusterView& cluster = views[c];
    const auto holds = [&](int32_t extra) {
      const MorePods pods = pods_with(extra);
      return search.may_hold(pods.facts) && Allowed(round, job, cluster.index, pods) &&
             Fits(cluster, pods);
    };
    if (search.only.value_or(c) != c || !IsAdmitted(cluster, spec.clusters) ||
        job_class.IsBlocked(cluster.index) ||
        !reservations.MayTake(cluster, c, head.job_class, within) || !holds(0)) {
      continue;
    }
    // All of it did not fit anywhere.
    const int32_t extra = LargestOf(0, missing, holds);
    if (extra > most) {
      most = extra;
      best = PartialSite{c, Widened(spec, floor, extra), pods_with(extra)};
    }
  }
  return best;
}

Millis SeenAfter(const State& state) { return 2 * state.settings().summary_period; }

bool GrowsElastically(const JobSpec& spec, const Shard& held) {
  if (held.InWaves()) {
    return !IsEdited(spec, held) && MissingIn(spec, CountsOf(held)) > 0;
  }
  if (!spec.elastic || !MayBePartial(spec) || spec.tasks.size() != held.tasks.size() ||
      !ReachesFloor(spec, CountsOf(held))) {
    return false;
  }
  for (size_t t = 0; t < spec.tasks.size(); ++t) {
    if (spec.tasks[t].name != held.tasks[t].name ||
        spec.tasks[t].replicas < held.tasks[t].replicas) {
      return false;
    }
  }
  return MissingIn(spec, CountsOf(held)) > 0;
}

bool MayGrowNow(const State& state, const JobEntry& job) {
  const Shard& held = job.charge->shards.front();
  if (held.shrunk == Time()) {
    return true;
  }
  return state.now() >= held.shrunk + kGrowAfterShrink &&
         (!held.InWaves() || held.requests == GrantOf(state.spec(job), CountsOf(held)));
}

std::vector<JobIndex> GrowingJobs(const State& state) {
  std::vector<JobIndex> jobs;
  for (const JobIndex index : state.resizes()) {
    const JobEntry& job = state.job(index);
    if (!job.suspended && !job.claimed_elsewhere && job.charge->shards.size() == 1 &&
        GrowsElastically(state.spec(job), job.charge->shards.front()) && MayGrowNow(state, job)) {
      jobs.push_back(index);
    }
  }
  std::sort(jobs.begin(), jobs.end(), [&](JobIndex a, JobIndex b) {
    const JobEntry& x = state.job(a);
    const JobEntry& y = state.job(b);
    const int64_t of_a = PriorityValue(state, x.priority).value_or(0);
    const int64_t of_b = PriorityValue(state, y.priority).value_or(0);
    return std::tie(of_b, x.creation, x.uid, x.key) < std::tie(of_a, y.creation, y.uid, y.key);
  });
  return jobs;
}

std::optional<PartialSite> FindGrowth(const Round& round, JobIndex index,
                                      const std::vector<ClusterView>& views,
                                      const Reservations& reservations) {
  const State& state = round.state();
  const JobEntry& job = state.job(index);
  const JobSpec& spec = state.spec(job);
  const Shard& held = job.charge->shards.front();
  const ClusterView* view = FindView(views, held.cluster);
  if (view == nullptr || !IsAdmitted(*view, spec.clusters) ||
      JobGate(state, round.tree(), index).verdict != Verdict::kNone) {
    return std::nullopt;
  }
  const auto cluster = static_cast<size_t>(view - views.data());
  if (reservations.Booked(cluster)) {
    return std::nullopt;
  }
  const std::vector<int32_t> counts = CountsOf(held);
  const auto pods_with = [&](int32_t extra) {
    return PodsBeyond(state, spec, counts, Widened(spec, counts, extra), held.InWaves());
  };
  const int32_t more = LargestOf(0, MissingIn(spec, counts), [&](int32_t extra) {
    const MorePods pods = pods_with(extra);
    return Allowed(round, job, view->index, pods) && Fits(*view, pods);
  });
  if (more == 0) {
    return std::nullopt;
  }
  return PartialSite{cluster, Widened(spec, counts, more), pods_with(more)};
}

}  // namespace caldera
