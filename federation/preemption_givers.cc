// Who could give at all, queue by queue, and for whom: a claim looks at the queues that it may take
// from, not at everybody who runs.
#include <algorithm>
#include <tuple>
#include <utility>

#include "federation/amounts.h"
#include "federation/elastic.h"
#include "federation/gate.h"
#include "federation/preemption.h"

namespace caldera {

namespace {

bool AllReady(const State& state, const JobEntry& job) {
  return std::all_of(job.charge->held.begin(), job.charge->held.end(), [&](const auto& holding) {
    const auto& object = state.cluster(holding.cluster).object;
    return object.has_value() && object->ready && !object->deleting;
  });
}

/// Somebody may take something from it, and its pods can be reached.
bool MayGive(const State& state, const JobEntry& job) {
  return !job.Evicting() && !job.suspended && !job.claimed_elsewhere && AllReady(state, job);
}

bool AnyRipe(const State& state) {
  if (state.settings().evictions_a_day == 0) {
    return false;
  }
  return std::any_of(state.queues().begin(), state.queues().end(), [&](const auto& named) {
    const auto& ripening = state.queue(named.second).ripening;
    return !ripening.empty() && ripening.begin()->first <= state.now();
  });
}

/// What every shape with candidates asks for at least, without pods.
ResourceVector SmallestOf(const State& state, ResourceIndex pods) {
  ResourceVector smallest;
  for (ResourceIndex r = 0; r < state.resources().size(); ++r) {
    smallest.Set(r, r == pods ? 0 : kUnlimited);
    for (ShapeIndex s = 0; s < state.shape_count(); ++s) {
      if (state.CandidatesOf(s) > 0) {
        smallest.Set(r, std::min(smallest[r], state.facts(s).total[r]));
      }
    }
  }
  return smallest;
}

}  // namespace

Preemption::Preemption(const Round& round)
    : round_(round),
      state_(round.state()),
      kinds_(round.state().resources()),
      nobody_(state_.waves().empty() && !AnyRipe(state_)) {}

void Preemption::Start() {
  if (started_) {
    return;
  }
  started_ = true;
  pools_.resize(round_.shares().size());
  for (const QueueShare& share : round_.shares()) {
    held_.push_back(share.held);
    jobs_.push_back(state_.queue(static_cast<QueueIndex>(jobs_.size())).charged_jobs);
  }
  for (const auto& [queue, amounts] : early_) {
    Placed(queue, amounts);
  }
  for (const JobIndex job : state_.evicting()) {
    Move(CandidateOf(job), true);
  }
  FindCuts();
  smallest_ = SmallestOf(state_, kinds_.pods);
}

/// Of the jobs in waves: it does not matter for how long they have run.
void Preemption::FindCuts() {
  for (const JobIndex job : state_.waves()) {
    const JobEntry& entry = state_.job(job);
    if (entry.Evicting()) {
      continue;
    }
    if (IsDraining(state_, entry)) {
      Candidate drains = CandidateOf(job);
      drains.counts = CountsOf(entry.charge->shards.front());
      drains.total.Subtract(AmountsIn(state_, GrantOf(state_.spec(entry), drains.counts)));
      Move(drains, true);
      continue;
    }
    if (excluded_.contains(job) || !state_.spec(entry).preemptible || !MayGive(state_, entry)) {
      continue;
    }
    if (const auto floor = FloorBelow(state_, entry)) {
      Add(pools_[entry.charge_queue], CutTo(job, *floor));
    }
  }
}

const Preemption::Pool& Preemption::PoolOf(QueueIndex queue) {
  Pool& pool = pools_[queue];
  if (pool.known) {
    return pool;
  }
  pool.known = true;
  for (const auto& [ripe, job] : state_.queue(queue).ripening) {
    if (ripe > state_.now()) {
      break;
    }
    const JobEntry& entry = state_.job(job);
    if (excluded_.contains(job) || !MayGive(state_, entry) || IsDraining(state_, entry)) {
      continue;
    }
    Candidate candidate = CandidateOf(job);
    candidate.lost_work = LostWork(entry, candidate.total);
    if (const auto floor = FloorBelow(state_, entry)) {
      Candidate cut = CutTo(job, *floor);
      candidate.above = cut.total;
      if (!state_.waves().contains(job)) {
        Add(pool, std::move(cut));
      }
    }
    Add(pool, std::move(candidate));
  }
  std::sort(pool.candidates.begin(), pool.candidates.end(),
            [&](const Candidate& a, const Candidate& b) { return GoesBefore(a, b); });
  return pool;
}

void Preemption::Add(Pool& pool, Candidate candidate) {
  MarkSize(candidate.job);
  candidate.priority = PriorityValue(state_, state_.job(candidate.job).priority).value_or(0);
  pool.candidates.push_back(std::move(candidate));
}

bool Preemption::GoesBefore(const Candidate& a, const Candidate& b) const {
  const JobEntry& x = state_.job(a.job);
  const JobEntry& y = state_.job(b.job);
  const bool a_goes = !a.IsCut();
  const bool b_goes = !b.IsCut();
  return std::tie(a_goes, a.lost_work, a.priority, y.creation, y.uid, y.key) <
         std::tie(b_goes, b.lost_work, b.priority, x.creation, x.uid, x.key);
}

void Preemption::MarkSize(JobIndex job) {
  gone_.resize(std::max<size_t>(gone_.size(), size_t{job} + 1), false);
}

const Preemption::Lower& Preemption::LowerIn(QueueIndex queue, int32_t priority) {
  const auto [it, added] = pools_[queue].lower.try_emplace(priority);
  Lower& lower = it->second;
  if (!added) {
    return lower;
  }
  for (const auto& [cluster, by_priority] : state_.queue(queue).preemptible_in) {
    ResourceVector there;
    for (const auto& [as, held] : by_priority) {
      if (PriorityValue(state_, as).value_or(0) < priority) {
        there.Add(held.ToVector());
      }
    }
    if (!there.IsZero()) {
      lower.total.Add(there);
      lower.in.emplace_back(cluster, there);
    }
  }
  return lower;
}

/// At that one of the claimant's queues, even if all of lower priority of its own went.
bool Preemption::MayStayWithin(QueueIndex n, const ShapeFacts& facts,
                               const ResourceVector& relief) const {
  return std::all_of(facts.requested.begin(), facts.requested.end(), [&](ResourceIndex r) {
    const int64_t more = SaturatingSub(facts.total[r], relief[r]);
    return r == kinds_.pods || more <= 0 ||
           SaturatingAdd(held_[n][r], more) <= round_.shares()[n].deserved[r];
  });
}

bool Preemption::IsHopeless(const Lane& lane) {
  if (nobody_ || !Preempts(state_, lane.priority)) {
    return true;
  }
  Start();
  const int32_t priority = PriorityValue(state_, lane.priority).value_or(0);
  if (!LowerIn(lane.queue, priority).in.empty()) {
    return false;
  }
  const ResourceVector& deserved = round_.shares()[lane.queue].deserved;
  for (ResourceIndex r = 0; r < smallest_.size(); ++r) {
    if (smallest_[r] > 0 && SaturatingAdd(held_[lane.queue][r], smallest_[r]) > deserved[r]) {
      return true;
    }
  }
  return false;
}

bool Preemption::IsHopeless(const Lane& lane, ShapeIndex shape,
                            const std::vector<ClusterView>& views, bool fits) {
  if (IsHopeless(lane)) {
    return true;
  }
  const ShapeFacts& facts = state_.facts(shape);
  const Lower& lower = LowerIn(lane.queue, PriorityValue(state_, lane.priority).value_or(0));
  if (MayStayWithin(lane.queue, facts, lower.total) || (fits && !lower.in.empty())) {
    return false;
  }
  return std::none_of(lower.in.begin(), lower.in.end(), [&](const auto& there) {
    const ResourceVector* free = FreeIn(there.first, views);
    return free != nullptr &&
           std::all_of(facts.requested.begin(), facts.requested.end(), [&](ResourceIndex r) {
             return facts.total[r] <= SaturatingAdd((*free)[r], there.second[r]);
           });
  });
}

/// nullptr: the cluster is not there.
const ResourceVector* Preemption::FreeIn(ClusterIndex cluster,
                                         const std::vector<ClusterView>& views) {
  if (view_of_.empty()) {
    view_of_.assign(state_.clusters().size(), kNoIndex);
    for (size_t c = 0; c < views.size(); ++c) {
      view_of_[views[c].index] = static_cast<uint32_t>(c);
    }
  }
  return view_of_[cluster] == kNoIndex ? nullptr : &views[view_of_[cluster]].free;
}

/// The queues of which some might go for it, its own among them.
void Preemption::FindGiving(const Claimant& claim) {
  const QueueTree& tree = round_.tree();
  const ShapeFacts& facts = Asks(claim);
  const QueueIndex queue = state_.classes()[claim.job_class].queue;
  const Lower& lower = LowerIn(queue, claim.priority);
  giving_.assign(pools_.size(), kNoIndex);
  if (!lower.in.empty()) {
    Give(queue, queue);
  }
  for (QueueIndex n = queue; n != tree.root() && MayStayWithin(n, facts, lower.total);
       n = tree.node(n).parent) {
    const QueueIndex parent = tree.node(n).parent;
    GiveOwn(parent, parent);  // What it has from when it had no children.
    for (const QueueIndex sibling : tree.node(parent).children) {
      if (sibling != n) {
        GiveUnder(sibling, parent, facts);
      }
    }
  }
}

/// It exceeds what it deserves of something that is asked for.
bool Preemption::Exceed(QueueIndex queue, const ShapeFacts& facts) const {
  return std::any_of(facts.requested.begin(), facts.requested.end(), [&](ResourceIndex r) {
    return r != kinds_.pods && held_[queue][r] > round_.shares()[queue].deserved[r];
  });
}

/// Those that exceed what they deserve, and so does each above them.
void Preemption::GiveUnder(QueueIndex n, QueueIndex ancestor, const ShapeFacts& facts) {
  if (!Exceed(n, facts)) {
    return;
  }
  GiveOwn(n, ancestor);
  for (const QueueIndex child : round_.tree().node(n).children) {
    GiveUnder(child, ancestor, facts);
  }
}

void Preemption::GiveOwn(QueueIndex queue, QueueIndex ancestor) {
  const QueueNode& node = round_.tree().node(queue);
  if (node.attached && node.object().reclaimable) {
    Give(queue, ancestor);
  }
}

void Preemption::Give(QueueIndex queue, QueueIndex ancestor) {
  giving_[queue] = ancestor;
  listed_ = listed_ && pools_[queue].known;
  PoolOf(queue);
}

void Preemption::ListByCluster() {
  if (listed_) {
    return;
  }
  listed_ = true;
  by_cluster_.assign(state_.clusters().size(), {});
  for (const Pool& pool : pools_) {
    for (const Candidate& each : pool.candidates) {
      for (const auto& [cluster, amounts] : each.parts) {
        by_cluster_[cluster].push_back(
            {&each, &amounts, each.lost_work, each.job, each.queue, !each.IsCut()});
      }
    }
  }
  for (std::vector<Giver>& there : by_cluster_) {
    std::sort(there.begin(), there.end(),
              [&](const Giver& a, const Giver& b) { return Precedes(a, b); });
  }
}

/// As GoesBefore.
bool Preemption::Precedes(const Giver& a, const Giver& b) const {
  return a.goes != b.goes             ? b.goes
         : a.lost_work != b.lost_work ? a.lost_work < b.lost_work
                                      : GoesBefore(*a.who, *b.who);
}

/// Those whose queue is below a capability that is in the way: they help wherever they are.
std::vector<Preemption::Giver> Preemption::Relieving(
    const std::vector<Limits::Shortage>& capability) const {
  static const ResourceVector kNothing;
  std::vector<Giver> relieving;
  for (QueueIndex queue = 0; !capability.empty() && queue < giving_.size(); ++queue) {
    if (giving_[queue] == kNoIndex) {
      continue;
    }
    for (const Candidate& each : pools_[queue].candidates) {
      const bool relieves =
          std::any_of(capability.begin(), capability.end(), [&](const Limits::Shortage& lack) {
            return each.total[lack.resource] > 0 && IsUnder(queue, lack.queue);
          });
      if (relieves) {
        relieving.push_back({&each, &kNothing, each.lost_work, each.job, queue, !each.IsCut()});
      }
    }
  }
  return relieving;
}

Preemption::Givers Preemption::GiversIn(const ClusterView& cluster,
                                        const std::vector<Giver>& relieving) const {
  Givers givers;
  for (const Giver& each : by_cluster_[cluster.index]) {
    if (giving_[each.queue] != kNoIndex) {
      givers.all.push_back(each);
    }
  }
  for (const Giver& each : relieving) {
    if (AmountsThere(*each.who, cluster).IsZero()) {
      givers.all.push_back(each);
    }
  }
  if (!relieving.empty()) {
    std::sort(givers.all.begin(), givers.all.end(),
              [&](const Giver& a, const Giver& b) { return Precedes(a, b); });
  }
  givers.cuts = static_cast<size_t>(std::count_if(givers.all.begin(), givers.all.end(),
                                                  [](const Giver& each) { return !each.goes; }));
  return givers;
}

}  // namespace caldera
