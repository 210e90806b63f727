#include "federation/planner.h"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <set>
#include <tuple>
#include <utility>

#include "federation/actions.h"
#include "federation/assert.h"
#include "federation/elastic.h"
#include "federation/gate.h"
#include "federation/invariants.h"
#include "federation/order.h"
#include "federation/placement.h"
#include "federation/possible.h"
#include "federation/preemption.h"
#include "federation/reservations.h"
#include "federation/resize.h"
#include "federation/round.h"
#include "federation/shards.h"

namespace caldera {

namespace {

/// "31%" of a part, rounded down.
std::string Percent(const Part& part) {
  return std::to_string(static_cast<int64_t>(Int128{part.amount} * 100 / part.whole)) + "%";
}

std::string WhyThere(const State& state, const ClusterView& cluster, const Site& site) {
  if (site.rivals == 1) {
    return cluster.name() + " is the only cluster with room";
  }
  std::string why =
      cluster.name() + " is the best of " + std::to_string(site.rivals) + " clusters with room";
  if (site.left.resource != ResourceCatalog::kNone) {
    why += " (" + Percent(site.left) + " of its " + state.resources().Name(site.left.resource) +
           " stays free)";
  }
  return why;
}

/// "no cluster holds it alone; 64 pods in east, 36 in west".
std::string WhySplit(const std::vector<Shard>& shards) {
  std::vector<std::pair<std::string, int64_t>> pods;
  for (const Shard& shard : shards) {
    const auto at = std::find_if(pods.begin(), pods.end(),
                                 [&](const auto& each) { return each.first == shard.cluster; });
    (at == pods.end() ? pods.emplace_back(shard.cluster, 0) : *at).second += shard.Pods();
  }
  std::string why;
  for (const auto& [cluster, count] : pods) {
    why += (why.empty() ? "no cluster holds it alone; " : ", ") + std::to_string(count) +
           (why.empty() ? " pods in " : " in ") + cluster;
  }
  return why;
}

/// The passes of one round over the same room.
class Passes {
 public:
  explicit Passes(Round& round)
      : round_(round),
        state_(round.state()),
        reservations_(round),
        preemption_(round),
        possible_(round, reservations_, preemption_) {}

  Plan Run() {
    std::vector<ClusterView> clusters = round_.clusters();
    actions_ = ResizePlaced(round_, clusters);
    for (const Action& action : actions_) {
      Touched(state_.FindJob(action.job, action.uid));
    }
    Placement placement(state_, round_.quotas(), std::move(clusters));
    PlaceBeneficiaries(placement);
    PlaceInOrder(placement);
    GrowElastic(placement);
    for (size_t k = 0; k < actions_.size(); ++k) {
      actions_[k].rank = static_cast<int32_t>(k) + 1;
    }
    return {state_.now(), std::move(actions_), reservations_.Changed()};
  }

 private:
  /// Those for whom others were evicted, before anybody else: they take what was freed for them, or
  /// are charged for it while it is not free yet.
  void PlaceBeneficiaries(Placement& placement) {
    for (const Reservations::Booking& booking : Beneficiaries()) {
      const JobEntry& job = state_.job(booking.job);
      const ShapeFacts& facts = reservations_.Asks(booking);
      const ClusterView& cluster = placement.clusters()[booking.cluster];
      const bool may_go = !round_.limits().Check(job.queue, job.tenant, facts) &&
                          !round_.limits().CheckCluster(job.tenant, cluster.index, facts);
      if (booking.floor.has_value() && TryPart(placement, AtFloor(booking))) {
        settled_.insert(booking.job);
      } else if (!booking.floor.has_value() && may_go &&
                 placement.PlaceAt(booking.cluster, job.shape)) {
        settled_.insert(booking.job);
        Place(booking.job, WholeShards(state_, job, cluster.name()), "room was made for it there");
        Charge(placement, booking.job, booking.cluster, facts);
      } else if (booking.awaits) {
        settled_.insert(booking.job);
        round_.limits().Commit(job.queue, job.tenant, cluster.index, facts);
        preemption_.Placed(job.queue, facts.total);
      }
    }
  }

  /// There, and no more than room was made for: with more its queue might exceed its deserved, and
  /// others would take turns at evicting. The rest comes as growth.
  [[nodiscard]] PartialSearch AtFloor(const Reservations::Booking& booking) const {
    const auto at_floor = [floor = booking.floor->facts.total](const ShapeFacts& facts) {
      return facts.total.FitsIn(floor);
    };
    return {{state_.job(booking.job).job_class, booking.job, booking.within},
            at_floor,
            booking.cluster};
  }

  /// Longest waiting first.
  [[nodiscard]] std::vector<Reservations::Booking> Beneficiaries() const {
    std::vector<Reservations::Booking> evicting;
    for (const Reservations::Booking& booking : reservations_.bookings()) {
      if (booking.reservation.evicting) {
        evicting.push_back(booking);
      }
    }
    std::sort(evicting.begin(), evicting.end(), [](const auto& a, const auto& b) {
      return std::tie(a.reservation.since, a.reservation.job, a.reservation.uid) <
             std::tie(b.reservation.since, b.reservation.job, b.reservation.uid);
    });
    return evicting;
  }

  /// Best first, until nobody is left who could go.
  void PlaceInOrder(Placement& placement) {
    Contest contest(state_, round_.tree(), round_.shares(), FindField(placement), settled_);
    constexpr size_t kDropsAQuestion = 64;
    size_t drops = 0;
    bool first_seen = false;
    for (Head head = contest.Best(); head.Any(); head = contest.Best()) {
      const JobClass& job_class = state_.classes()[head.job_class];
      const bool allowed =
          round_.limits().Allows(job_class.queue, job_class.tenant, state_.facts(job_class.shape));
      if (const ResourceVector* took = Try(placement, contest, head, allowed)) {
        contest.Took(*took);
        drops = 0;
      } else {
        contest.Drop([&](LaneIndex lane, ClassIndex c) { return IsDoomed(placement, lane, c); });
        // Asked at the first drop, the second, the fourth, and then not too often; and where it is
        // not for the first that waits any more.
        const bool due = ++drops % kDropsAQuestion == 0 || std::has_single_bit(drops) ||
                         first_seen != reservations_.HasSeenFirst();
        first_seen = reservations_.HasSeenFirst();
        if (due && AllHopeless(contest, placement)) {
          return;
        }
      }
    }
  }

  /// Without those whom a limit keeps back from the start, as limits only get tighter: how a queue
  /// stands is a matter of those of its jobs that may go. In fifo queues they compete, and stop it.
  [[nodiscard]] Contest::Field FindField(const Placement& placement) {
    Contest::Field field;
    for (const Contest::Entrant& entrant : round_.entrants()) {
      const Lane& lane = state_.lanes()[entrant.lane];
      if (round_.limits().Allows(lane.queue, lane.tenant, round_.largest()) || IsFifo(lane.queue) ||
          BarIn(lane, placement, field.out) < lane.classes.size()) {
        field.entrants.push_back(entrant);
      }
    }
    return field;
  }

  /// How many of its classes are kept back.
  size_t BarIn(const Lane& lane, const Placement& placement, std::vector<bool>& out) {
    out.resize(state_.classes().size(), false);
    size_t count = 0;
    for (size_t k = 0; k < lane.classes.size(); ++k) {
      const ShapeIndex shape = lane.shapes[k];
      if (!round_.limits().Allows(lane.queue, lane.tenant, state_.facts(shape)) &&
          MayOnlyBeWhole(placement, lane, lane.classes[k], shape)) {
        out[lane.classes[k]] = true;
        ++count;
      }
    }
    return count;
  }

  [[nodiscard]] bool IsFifo(QueueIndex queue) const {
    return round_.tree().node(queue).object().dequeue_strategy == DequeueStrategy::kFifo;
  }

  /// What the job has from now on or will have, nullptr where it still waits. Of one that may be
  /// partial its floor will do, where others make room or room is kept. `allowed`: all of it is
  /// within its limits.
  const ResourceVector* Try(Placement& placement, const Contest& contest, const Head& head,
                            bool allowed) {
    const JobClass& job_class = state_.classes()[head.job_class];
    const bool partial = MayBeInPart(head.job_class);
    const bool may_borrow = job_class.preemptible || contest.BorrowsNothing();
    if (!may_borrow && !partial) {
      return nullptr;
    }
    const auto may_hold = [&](const ShapeFacts& facts) {
      return job_class.preemptible || contest.BorrowsNothing(facts);
    };
    if (may_borrow && allowed && TryPlace(placement, head)) {
      return &state_.facts(job_class.shape).total;
    }
    if (partial && TryPart(placement, {head, may_hold, {}})) {
      return &part_;
    }
    if (reservations_.IsBeneficiary(head.job)) {
      return nullptr;  // A cluster's summary may show for a while who has left already.
    }
    const auto floor = partial ? FloorPods(state_, state_.job(head.job)) : std::nullopt;
    if ((may_borrow && TryEvict(placement, head, nullptr)) ||
        (floor.has_value() && may_hold(floor->facts) && TryEvict(placement, head, &*floor))) {
      return &part_;
    }
    if ((may_borrow && allowed) || floor.has_value()) {
      reservations_.Blocked(head.job, head.within, placement.clusters());
    }
    return nullptr;
  }

  /// If such a job were the best now, it would not be placed and nothing would change.
  [[nodiscard]] bool IsDoomed(const Placement& placement, LaneIndex lane, ClassIndex c) {
    const Lane& in = state_.lanes()[lane];
    const ShapeIndex shape = state_.ClassShape(c);
    return MayOnlyBeWhole(placement, in, c, shape) &&
           ((reservations_.HasSeenFirst() && !placement.Alive(shape, in.tenant)) ||
            !round_.limits().Allows(in.queue, in.tenant, state_.facts(shape)));
  }

  /// Neither a part of it could be placed, nor would anybody make room for it.
  [[nodiscard]] bool MayOnlyBeWhole(const Placement& placement, const Lane& in, ClassIndex c,
                                    ShapeIndex shape) {
    return !MayBeInPart(c) && preemption_.IsHopeless(in, shape, placement.clusters(),
                                                     placement.Alive(shape, in.tenant));
  }

  /// Without a look at the class where there are none such: there are many.
  [[nodiscard]] bool MayBeInPart(ClassIndex c) const {
    return state_.partial_candidates() > 0 && state_.classes()[c].partial != kNoIndex &&
           !no_part_.contains(c);
  }

  /// None of those that still wait is placed, whatever else happens in this round.
  [[nodiscard]] bool AllHopeless(const Contest& contest, Placement& placement) {
    return state_.partial_candidates() == 0 &&
           !possible_.Any(contest, placement, {actions_.size(), reservations_.HasSeenFirst()});
  }

  /// One that is within its limits.
  bool TryPlace(Placement& placement, const Head& head) {
    const JobClass& job_class = state_.classes()[head.job_class];
    const ShapeFacts& facts = state_.facts(job_class.shape);
    if (!placement.Alive(job_class.shape, job_class.tenant)) {
      return false;
    }
    const auto why = [&] {
      return "queue " + state_.queue(job_class.queue).name +
             (head.within ? " stays within its deserved share; "
                          : " borrows what others leave idle; ");
    };
    if (const auto site = placement.Place(head, round_.limits(), reservations_)) {
      const ClusterView& cluster = placement.clusters()[site->cluster];
      Place(head.job, WholeShards(state_, state_.job(head.job), cluster.name()),
            why() + WhyThere(state_, cluster, *site));
      Charge(placement, head.job, site->cluster, facts);
    } else if (const auto parts = placement.Split(job_class, round_.limits(), reservations_);
               !parts.empty()) {
      PlaceParts(placement, head, parts, why());
    } else {
      return false;
    }
    return true;
  }

  void PlaceParts(const Placement& placement, const Head& head, const std::vector<SplitPart>& parts,
                  const std::string& why) {
    const JobClass& job_class = state_.classes()[head.job_class];
    std::vector<Shard> shards =
        SplitShards(state_, state_.job(head.job), parts, placement.clusters());
    const std::string split = WhySplit(shards);
    Place(head.job, std::move(shards), why + split);
    for (const SplitPart& part : parts) {
      Charge(placement, head.job, part.cluster,
             FactsOfPart(state_, job_class.shape, part.replicas));
    }
  }

  /// As much of a job that may be partial as fits somewhere.
  bool TryPart(Placement& placement, const PartialSearch& search) {
    const Head& head = search.head;
    const JobEntry& job = state_.job(head.job);
    const JobSpec& spec = state_.spec(job);
    const auto site = FindPartial(round_, search, placement.clusters(), reservations_);
    if (!site.has_value()) {
      if (!search.only.has_value()) {
        // Room and limits only shrink in a round, and all jobs of the class are of one spec.
        no_part_.insert(head.job_class);
      }
      return false;
    }
    placement.TakePart(site->cluster, site->pods.facts.total, site->pods.gang);
    const ClusterView& cluster = placement.clusters()[site->cluster];
    std::vector<Shard> shards = WholeShards(state_, job, cluster.name());
    SetCounts(spec, site->counts, shards.front());
    const std::string missing = std::to_string(MissingIn(spec, site->counts));
    Place(head.job, std::move(shards),
          (spec.elastic ? "it is elastic: " + missing + " of its pods wait for room; "
                        : "it can run in waves: " + missing + " of its pods wait for others; ") +
              (search.only.has_value() ? "room was made for it in " + cluster.name()
                                       : cluster.name() + " has most"));
    Charge(placement, head.job, site->cluster, site->pods.facts);
    part_ = site->pods.facts.total;
    return true;
  }

  /// Last, and outside of what is kept for others.
  void GrowElastic(Placement& placement) {
    for (const JobIndex index : GrowingJobs(state_)) {
      if (touched_.contains(index)) {
        continue;
      }
      const auto growth = FindGrowth(round_, index, placement.clusters(), reservations_);
      if (!growth.has_value()) {
        continue;
      }
      const JobEntry& job = state_.job(index);
      placement.TakePart(growth->cluster, growth->pods.facts.total, growth->pods.gang);
      round_.limits().Commit(job.queue, job.tenant, placement.clusters()[growth->cluster].index,
                             growth->pods.facts);
      Action action = ActionFor(state_, index, ActionKind::kGrow);
      action.shards = job.charge->shards;
      SetCounts(state_.spec(job), growth->counts, action.shards.front());
      if (action.shards.front().InWaves()) {
        action.shards.front().grown = state_.now();
      }
      const int32_t missing = MissingIn(state_.spec(job), growth->counts);
      action.reason =
          std::string(action.shards.front().InWaves() ? "it runs in waves" : "it is elastic") +
          " and cluster " + action.shards.front().cluster + " has room; " +
          std::to_string(missing) + " of its pods still wait";
      actions_.push_back(std::move(action));
    }
  }

  /// Others make room for it; `floor`: for so much of it, else for all. It will have part_.
  bool TryEvict(const Placement& placement, const Head& head, const MorePods* floor) {
    const JobClass& job_class = state_.classes()[head.job_class];
    const Claimant claim{head.job_class, head.job,
                         PriorityValue(state_, job_class.priority).value_or(0), floor};
    const auto ransom = preemption_.Find(claim, placement.clusters(), reservations_);
    if (!ransom.has_value()) {
      return false;
    }
    const ShapeFacts& facts = floor != nullptr ? floor->facts : state_.facts(job_class.shape);
    const ClusterView& cluster = placement.clusters()[ransom->cluster];
    for (const JobIndex victim : ransom->victims) {
      Touched(victim);
      actions_.push_back(EvictionFor(state_, victim, head.job, cluster.name()));
    }
    for (const Cut& cut : ransom->cuts) {
      Touched(cut.job);
      actions_.push_back(ShrinkFor(state_, cut, head.job, cluster.name()));
    }
    preemption_.Commit(claim, *ransom);
    reservations_.AddEvicting(head.job, ransom->cluster, floor != nullptr);
    round_.limits().Commit(job_class.queue, job_class.tenant, cluster.index, facts);
    part_ = facts.total;
    return true;
  }

  void Place(JobIndex index, std::vector<Shard> shards, std::string why) {
    Action action = ActionFor(state_, index, ActionKind::kPlace);
    action.shards = std::move(shards);
    action.reason = std::move(why);
    actions_.push_back(std::move(action));
  }

  /// What a placed job has there, to its limits; room that was kept for it is used up.
  void Charge(const Placement& placement, JobIndex index, size_t cluster, const ShapeFacts& facts) {
    const JobEntry& job = state_.job(index);
    round_.limits().Commit(job.queue, job.tenant, placement.clusters()[cluster].index, facts);
    reservations_.Took(cluster, index, job.job_class, facts.total);
    preemption_.Placed(job.queue, facts.total);
  }

  /// There is an action about that placed job: nothing else is decided about it in this round.
  void Touched(JobIndex job) {
    touched_.insert(job);
    preemption_.Exclude(job);
  }

  Round& round_;
  const State& state_;
  Reservations reservations_;
  Preemption preemption_;
  Possible possible_;
  std::set<JobIndex> settled_;    ///< Beneficiaries: the contest is not about them.
  std::set<JobIndex> touched_;    ///< Placed jobs about which there is an action.
  std::set<ClassIndex> no_part_;  ///< Their floor fits nowhere.
  ResourceVector part_;           ///< What the job has, or will have, that was last dealt with so.
  std::vector<Action> actions_;
};

void AssertSound(const State& state, const Plan& plan) {
  const std::vector<std::string> broken = CheckPlan(state, plan);
  for (const std::string& rule : broken) {
    std::fprintf(stderr, "%s\n", rule.c_str());
  }
  CALDERA_ASSERT(broken.empty());
}

}  // namespace

Plan MakePlan(const State& state) {
  Round round(state);
  Plan plan = Passes(round).Run();
  AssertSound(state, plan);
  return plan;
}

}  // namespace caldera
