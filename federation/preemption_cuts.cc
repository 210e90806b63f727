// Victims that stay and give a part of their pods: what they could give, and as little of it as is
// enough.
#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "federation/amounts.h"
#include "federation/children.h"
#include "federation/elastic.h"
#include "federation/preemption.h"
#include "federation/shards.h"

namespace caldera {

/// That job as one that gives all but so many pods.
Preemption::Candidate Preemption::CutTo(JobIndex index, std::vector<int32_t> counts) const {
  const JobEntry& job = state_.job(index);
  const Shard& held = job.charge->shards.front();
  Shard kept = held;
  SetCounts(state_.spec(job), counts, kept);
  Candidate cut{index, job.charge_queue, 0, 0, AmountsIn(state_, held.requests), {}, {}, {}};
  cut.total.Subtract(AmountsIn(state_, kept.requests));
  cut.parts.emplace_back(job.charge->held.front().cluster, cut.total);
  cut.counts = std::move(counts);
  // What ends by itself has done its work.
  cut.lost_work = held.InWaves() ? 0 : LostWork(job, cut.total);
  return cut;
}

/// The victim's bound pods there that go: all, or of one that is cut those with the highest indexes
/// of each task, beyond what it keeps. Which ones end first in waves nobody knows.
std::vector<const Pod*> Preemption::Leaving(const ClusterView& cluster,
                                            const Candidate& victim) const {
  const JobEntry& job = state_.job(victim.job);
  std::set<std::string> names;
  for (const Shard& shard : job.charge->shards) {
    if (shard.cluster == cluster.name()) {
      names.insert(MemberJobName(job.key.name, shard.child));
    }
  }
  const auto& pods = cluster.entry->pods;
  std::vector<const Pod*> leaving;
  for (auto it = pods.lower_bound({job.key.ns, ""});
       it != pods.end() && it->first.first == job.key.ns; ++it) {
    const Pod& pod = it->second;
    if (!pod.node.empty() && !pod.terminal && names.contains(pod.job)) {
      leaving.push_back(&pod);
    }
  }
  if (!victim.IsCut()) {
    return leaving;
  }
  // Of two names of a task's pods the longer one has the higher index.
  std::sort(leaving.begin(), leaving.end(), [](const Pod* a, const Pod* b) {
    return std::pair(a->name.size(), a->name) < std::pair(b->name.size(), b->name);
  });
  const std::vector<Task>& tasks = state_.spec(job).tasks;
  std::vector<int32_t> kept = victim.counts;
  std::erase_if(leaving, [&](const Pod* pod) {
    for (size_t t = 0; t < tasks.size(); ++t) {
      if (tasks[t].name == pod->task) {
        return kept[t]-- > 0;
      }
    }
    return true;
  });
  return leaving;
}

/// Whoever would go whole, and could give enough and stay, stays; those that cost most first.
void Preemption::Soften(const ClusterView& cluster, const Claimant& claim, const Missing& missing,
                        const Givers& givers, Victims& victims) const {
  const auto end = givers.all.begin() + static_cast<std::ptrdiff_t>(givers.cuts);
  for (size_t k = victims.size(); k-- > 0;) {
    const JobIndex job = victims[k]->job;
    const auto cut =
        std::find_if(givers.all.begin(), end, [job](const Giver& each) { return each.job == job; });
    if (cut == end) {
      continue;
    }
    const Candidate* whole = std::exchange(victims[k], cut->who);
    if (!Suffices(claim, cluster, missing, victims) ||
        !StaysWithin(claim, round_.tree().root(), victims)) {
      victims[k] = whole;
    }
  }
}

/// The victims, of which those that are cut give as little as is enough, most of it those that cost
/// least.
std::vector<Preemption::Candidate> Preemption::Trim(const Claimant& claim,
                                                    const ClusterView& cluster,
                                                    const Missing& missing,
                                                    const Victims& victims) const {
  std::vector<Candidate> trimmed;
  Victims all;
  trimmed.reserve(victims.size());
  for (const Candidate* victim : victims) {
    all.push_back(&trimmed.emplace_back(*victim));
  }
  for (size_t k = trimmed.size(); k-- > 0;) {
    if (!trimmed[k].IsCut()) {
      continue;
    }
    const JobIndex job = trimmed[k].job;
    const std::vector<int32_t> floor = trimmed[k].counts;
    const std::vector<int32_t> held = CountsOf(state_.job(job).charge->shards.front());
    int32_t above = 0;
    for (size_t t = 0; t < floor.size(); ++t) {
      above += held[t] - floor[t];
    }
    const auto keep = [&](int32_t extra) { trimmed[k] = CutTo(job, Between(floor, held, extra)); };
    keep(LargestOf(0, above - 1, [&](int32_t extra) {
      keep(extra);
      return Suffices(claim, cluster, missing, all) &&
             StaysWithin(claim, round_.tree().root(), all);
    }));
  }
  return trimmed;
}

/// What costs least in that cluster; its position is left open.
std::optional<Preemption::Offer> Preemption::Best(const Claimant& claim, const ClusterView& cluster,
                                                  const Missing& missing, const Givers& givers) {
  Victims victims = Choose(claim, cluster, missing, givers, 0);
  const auto serves = [&] {
    return !victims.empty() && StaysWithin(claim, round_.tree().root(), victims);
  };
  if (!serves() && givers.cuts > 0) {
    // Some of those that could give have to go, and others give besides.
    victims = Choose(claim, cluster, missing, givers, givers.cuts);
    Soften(cluster, claim, missing, givers, victims);
  }
  if (!serves()) {
    return std::nullopt;
  }
  Offer offer;
  Int128 lost = 0;
  for (Candidate& victim : Trim(claim, cluster, missing, victims)) {
    lost += victim.lost_work;
    if (victim.IsCut()) {
      offer.ransom.cuts.push_back({victim.job, std::move(victim.counts)});
    } else {
      offer.ransom.victims.push_back(victim.job);
    }
  }
  offer.cost = {!offer.ransom.victims.empty(), lost, victims.size()};
  return offer;
}

}  // namespace caldera
