#include "federation/preemption.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "federation/amounts.h"
#include "federation/elastic.h"
#include "federation/gate.h"
#include "federation/share.h"

namespace caldera {

/// Where it is and what it holds.
Preemption::Candidate Preemption::CandidateOf(JobIndex index) const {
  const JobEntry& job = state_.job(index);
  Candidate candidate{index, job.charge_queue, 0, 0, {}, {}, {}, {}};
  for (const Charge::Holding& holding : job.charge->held) {
    candidate.total.Add(holding.requests);
    const auto part = std::find_if(candidate.parts.begin(), candidate.parts.end(),
                                   [&](const auto& each) { return each.first == holding.cluster; });
    if (part == candidate.parts.end()) {
      candidate.parts.emplace_back(holding.cluster, holding.requests);
    } else {
      part->second.Add(holding.requests);
    }
  }
  return candidate;
}

Int128 Preemption::LostWork(const JobEntry& job, const ResourceVector& total) const {
  int64_t part = 0;
  for (ResourceIndex r = 0; r < total.size(); ++r) {
    if (r != kinds_.pods && total[r] > 0) {
      part = std::max(part, Share(total[r], round_.total()[r]));
    }
  }
  // A part is at most 2^63, and no job runs for longer than 2^62 ms.
  return Int128{part} * std::max<int64_t>((state_.now() - job.RunsSince()).count(), 0);
}

bool Preemption::IsUnder(QueueIndex queue, QueueIndex ancestor) const {
  for (QueueIndex n = queue; n != kNoIndex; n = round_.tree().node(n).parent) {
    if (n == ancestor) {
      return true;
    }
  }
  return false;
}

const ShapeFacts& Preemption::Asks(const Claimant& claim) const {
  return claim.floor != nullptr ? claim.floor->facts
                                : state_.facts(state_.classes()[claim.job_class].shape);
}

/// With the job and without the victims, its queue and each above it below `ancestor` hold no more
/// than before or no more than their deserved.
bool Preemption::StaysWithin(const Claimant& claim, QueueIndex ancestor,
                             const Victims& victims) const {
  const QueueIndex queue = state_.classes()[claim.job_class].queue;
  const ShapeFacts& facts = Asks(claim);
  for (QueueIndex n = queue; n != ancestor; n = round_.tree().node(n).parent) {
    for (const ResourceIndex r : facts.requested) {
      int64_t more = facts.total[r];
      for (const Candidate* victim : victims) {
        more = SaturatingSub(more, IsUnder(victim->queue, n) ? victim->total[r] : 0);
      }
      if (r != kinds_.pods && more > 0 &&
          SaturatingAdd(held_[n][r], more) > round_.shares()[n].deserved[r]) {
        return false;
      }
    }
  }
  return true;
}

bool Preemption::Exceeds(const Claimant& claim, const Candidate& candidate,
                         QueueIndex ancestor) const {
  const ShapeFacts& facts = Asks(claim);
  for (QueueIndex n = candidate.queue; n != ancestor; n = round_.tree().node(n).parent) {
    const bool exceeds =
        std::any_of(facts.requested.begin(), facts.requested.end(), [&](ResourceIndex r) {
          return r != kinds_.pods && candidate.total[r] > 0 &&
                 SaturatingSub(held_[n][r], candidate.above[r]) > round_.shares()[n].deserved[r];
        });
    if (!exceeds) {
      return false;
    }
  }
  return true;
}

int64_t Preemption::ShareOf(QueueIndex queue, const ShapeFacts& facts) const {
  return DominantShare(round_.shares()[queue], held_[queue], facts, kinds_, UsageWeight(state_));
}

/// Some of that queue may still have to give, which is its own or exceeds what it deserves.
bool Preemption::Gives(const Claimant& claim, QueueIndex queue) const {
  const ShapeFacts& facts = Asks(claim);
  for (QueueIndex n = queue; n != giving_[queue]; n = round_.tree().node(n).parent) {
    if (!Exceed(n, facts)) {
      return false;
    }
  }
  return true;
}

/// One who is not gone, of a queue that gives.
bool Preemption::Eligible(const Claimant& claim, const Candidate& candidate) const {
  const QueueIndex queue = state_.classes()[claim.job_class].queue;
  if (candidate.queue == queue) {
    return candidate.priority < claim.priority;
  }
  if (claim.job != kNoIndex &&
      state_.job(claim.job).EvictedLatelyFor(state_.job(candidate.job), state_.now())) {
    return false;
  }
  const QueueIndex ancestor = giving_[candidate.queue];
  if (!Exceeds(claim, candidate, ancestor) || !StaysWithin(claim, ancestor, {})) {
    return false;
  }
  const ShapeFacts& facts = Asks(claim);
  return jobs_[candidate.queue] > 1 || ShareOf(candidate.queue, facts) > ShareOf(queue, facts);
}

/// All that it has there.
const ResourceVector& Preemption::AmountsThere(const Candidate& candidate,
                                               const ClusterView& cluster) {
  static const ResourceVector kNothing;
  for (const auto& [index, amounts] : candidate.parts) {
    if (index == cluster.index) {
      return amounts;
    }
  }
  return kNothing;
}

bool Preemption::Helps(const Candidate& candidate, const ResourceVector& there,
                       const Missing& missing) const {
  for (ResourceIndex r = 0; r < missing.room.size(); ++r) {
    if (missing.room[r] > 0 && there[r] > 0) {
      return true;
    }
  }
  return std::any_of(missing.capability.begin(), missing.capability.end(), [&](const auto& lack) {
    return lack.amount > 0 && candidate.total[lack.resource] > 0 &&
           IsUnder(candidate.queue, lack.queue);
  });
}

void Preemption::Free(const Candidate& candidate, const ResourceVector& there,
                      Missing& missing) const {
  for (ResourceIndex r = 0; r < missing.room.size(); ++r) {
    missing.room.Set(r, SaturatingSub(missing.room[r], there[r]));
  }
  for (Limits::Shortage& lack : missing.capability) {
    if (IsUnder(candidate.queue, lack.queue)) {
      lack.amount = SaturatingSub(lack.amount, candidate.total[lack.resource]);
    }
  }
}

bool Preemption::Enough(const Missing& missing) {
  for (ResourceIndex r = 0; r < missing.room.size(); ++r) {
    if (missing.room[r] > 0) {
      return false;
    }
  }
  return std::all_of(missing.capability.begin(), missing.capability.end(),
                     [](const auto& lack) { return lack.amount <= 0; });
}

bool Preemption::Suffices(const Claimant& claim, const ClusterView& cluster, const Missing& missing,
                          const Victims& victims) const {
  Missing left = missing;
  for (const Candidate* victim : victims) {
    Free(*victim, AmountsThere(*victim, cluster), left);
  }
  return Enough(left) && Packs(claim, cluster, victims);
}

/// Node by node, with the victims' bound pods off their nodes; true where no nodes are given.
bool Preemption::Packs(const Claimant& claim, const ClusterView& cluster,
                       const Victims& victims) const {
  if (!cluster.nodes.has_value()) {
    return true;
  }
  NodePool nodes = *cluster.nodes;
  for (const Candidate* victim : victims) {
    for (const Pod* pod : Leaving(cluster, *victim)) {
      nodes.Give(pod->node, AmountsIn(state_, pod->requests));
    }
  }
  if (claim.floor != nullptr) {
    return nodes.Pack(claim.floor->gang);
  }
  const ShapeIndex shape = state_.classes()[claim.job_class].shape;
  return nodes.Pack(GangOf(state_.shape(shape), state_.facts(shape)));
}

/// From the giver `first` on, best first until it is enough, those before it last; then those that
/// turned out not to be needed stay. Nothing where it is not enough.
Preemption::Victims Preemption::Choose(const Claimant& claim, const ClusterView& cluster,
                                       const Missing& missing, const Givers& givers, size_t first) {
  Victims victims;
  Missing left = missing;
  bool enough = false;
  for (size_t k = 0; k < givers.all.size() && !enough; ++k) {
    const Giver& giver = givers.all[(first + k) % givers.all.size()];
    if (gone_[giver.job] || !Gives(claim, giver.queue)) {
      continue;
    }
    const Candidate& candidate = *giver.who;
    const bool helps = Enough(left) ? !giver.there->IsZero() : Helps(candidate, *giver.there, left);
    if (!helps || !Eligible(claim, candidate)) {
      continue;
    }
    victims.push_back(&candidate);
    Free(candidate, *giver.there, left);
    Move(candidate, true);
    enough = Enough(left) && Packs(claim, cluster, victims);
  }
  for (const Candidate* victim : victims) {
    Move(*victim, false);
  }
  if (!enough) {
    return {};
  }
  std::sort(victims.begin(), victims.end(),
            [&](const Candidate* a, const Candidate* b) { return GoesBefore(*a, *b); });
  Spare(cluster, claim, missing, victims);
  return victims;
}

/// Those that cost most first: whoever is not needed stays.
void Preemption::Spare(const ClusterView& cluster, const Claimant& claim, const Missing& missing,
                       Victims& victims) const {
  for (size_t k = victims.size(); k-- > 0 && victims.size() > 1;) {
    Victims without = victims;
    without.erase(without.begin() + static_cast<std::ptrdiff_t>(k));
    if (Suffices(claim, cluster, missing, without)) {
      victims = std::move(without);
    }
  }
}

/// Out of its queues' holdings, or back.
void Preemption::Move(const Candidate& candidate, bool out) {
  MarkSize(candidate.job);
  for (QueueIndex n = candidate.queue; n != kNoIndex; n = round_.tree().node(n).parent) {
    if (out) {
      held_[n].Subtract(candidate.total);
    } else {
      held_[n].Add(candidate.total);
    }
  }
  if (!candidate.IsCut()) {
    jobs_[candidate.queue] += out ? -1U : 1U;
  }
  gone_[candidate.job] = out;
}

std::optional<Ransom> Preemption::Find(const Claimant& claim, const std::vector<ClusterView>& views,
                                       const Reservations& reservations) {
  const JobClass& job_class = state_.classes()[claim.job_class];
  const ShapeFacts& facts = Asks(claim);
  if (nobody_ || !Preempts(state_, job_class.priority)) {
    return std::nullopt;
  }
  const auto shortages = round_.limits().Shortages(job_class.queue, job_class.tenant, facts);
  if (!shortages.has_value()) {
    return std::nullopt;
  }
  Start();
  FindGiving(claim);
  ListByCluster();
  const std::vector<Giver> relieving = Relieving(*shortages);
  const bool within = StaysWithin(claim, round_.tree().root(), {});
  std::optional<Offer> best;
  for (size_t c = 0; c < views.size(); ++c) {
    const ClusterView& cluster = views[c];
    if (!reservations.IsOpen(job_class, c, within, claim.floor)) {
      continue;
    }
    const Givers givers = GiversIn(cluster, relieving);
    if (givers.all.empty()) {
      continue;
    }
    Missing missing{{}, *shortages};
    for (const ResourceIndex r : facts.requested) {
      missing.room.Set(r, SaturatingSub(facts.total[r], cluster.free[r]));
    }
    std::optional<Offer> offer = Best(claim, cluster, missing, givers);
    if (offer.has_value() && (!best || offer->cost < best->cost)) {
      best = std::move(offer);
      best->ransom.cluster = c;
    }
  }
  return best.has_value() ? std::optional(std::move(best->ransom)) : std::nullopt;
}

void Preemption::Commit(const Claimant& claim, const Ransom& ransom) {
  for (const JobIndex victim : ransom.victims) {
    Move(CandidateOf(victim), true);
  }
  for (const Cut& cut : ransom.cuts) {
    Move(CutTo(cut.job, cut.counts), true);
  }
  Placed(state_.classes()[claim.job_class].queue, Asks(claim).total);
}

void Preemption::Placed(QueueIndex queue, const ResourceVector& amounts) {
  if (!started_) {
    early_.emplace_back(queue, amounts);
    return;
  }
  for (QueueIndex n = queue; n != kNoIndex; n = round_.tree().node(n).parent) {
    held_[n].Add(amounts);
  }
}

}  // namespace caldera
