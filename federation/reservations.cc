#include "federation/reservations.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "federation/amounts.h"
#include "federation/elastic.h"
#include "federation/feasibility.h"
#include "federation/gate.h"
#include "federation/order.h"
#include "federation/share.h"

namespace caldera {

namespace {

/// Of the jobs in that cluster, those of which it is known when they end, first ones first. Who
/// should have ended may do so at any time, and so may who is on its way out.
std::vector<std::pair<Time, JobIndex>> EndsIn(const State& state, const ClusterEntry& cluster) {
  std::vector<std::pair<Time, JobIndex>> ends;
  for (const JobIndex job : state.evicting()) {
    if (cluster.jobs.contains(job)) {
      ends.emplace_back(state.now(), job);
    }
  }
  for (const auto& [end, job] : cluster.ending) {
    if (!state.job(job).Evicting()) {
      ends.emplace_back(std::max(state.now(), end), job);
    }
  }
  return ends;
}

bool HasVictims(const State& state, const Reservation& reservation) {
  return std::any_of(state.evicting().begin(), state.evicting().end(), [&](JobIndex job) {
    const Eviction& eviction = *state.job(job).charge->eviction;
    return eviction.beneficiary == reservation.job && eviction.beneficiary_uid == reservation.uid;
  });
}

/// Jobs in waves gave room there for it, and some of those pods are still to end.
bool HasDraining(const State& state, const Reservation& reservation) {
  return std::any_of(state.waves().begin(), state.waves().end(), [&](JobIndex index) {
    const JobEntry& job = state.job(index);
    const Shard& shard = job.charge->shards.front();
    return shard.cluster == reservation.cluster && shard.shrunk >= reservation.since &&
           IsDraining(state, job);
  });
}

}  // namespace

Reservations::Reservations(const Round& round) : round_(round), state_(round.state()) {
  for (const Reservation& reservation : state_.reservations()) {
    if (std::optional<Booking> booking = Renew(reservation)) {
      bookings_.push_back(*std::move(booking));
    }
  }
}

const ShapeFacts& Reservations::Facts(ClassIndex job_class) const {
  return state_.facts(state_.classes()[job_class].shape);
}

const ShapeFacts& Reservations::Asks(const Booking& booking) const {
  return booking.floor.has_value() ? booking.floor->facts
                                   : state_.facts(state_.job(booking.job).shape);
}

const MorePods* Reservations::FloorIn(const Booking& booking) {
  return booking.floor.has_value() ? &*booking.floor : nullptr;
}

/// Ready, allowed, and large enough.
bool Reservations::CouldHold(const JobClass& job_class, const ClusterView& view,
                             const MorePods* floor) const {
  return IsAdmitted(view, state_.shape(job_class.shape)) && !job_class.IsBlocked(view.index) &&
         (floor != nullptr ? caldera::FitsEmpty(state_, view, *floor)
                           : caldera::FitsEmpty(state_, view, job_class.shape));
}

/// The holder borrows, and a job of another queue that does not wants the room.
bool Reservations::Yields(const Booking& booking, QueueIndex queue, bool within) const {
  return !booking.reservation.evicting && !booking.within && within &&
         queue != state_.job(booking.job).queue;
}

bool Reservations::IsOpen(const JobClass& job_class, size_t cluster, bool within,
                          const MorePods* floor) const {
  const Booking* booking = At(cluster);
  if (booking != nullptr && !Yields(*booking, job_class.queue, within)) {
    return false;
  }
  const ClusterView& view = round_.clusters()[cluster];
  const ShapeFacts& facts = floor != nullptr ? floor->facts : state_.facts(job_class.shape);
  return CouldHold(job_class, view, floor) &&
         !round_.limits().CheckCluster(job_class.tenant, view.index, facts);
}

/// A new one; its cluster is chosen later.
Reservations::Booking Reservations::For(JobIndex job, bool at_floor) const {
  Booking booking;
  if (at_floor) {
    booking.floor = FloorPods(state_, state_.job(job));
  }
  booking.reservation.at_floor = booking.floor.has_value();
  booking.job = job;
  booking.reservation.job = state_.job(job).key;
  booking.reservation.uid = state_.job(job).uid;
  booking.reservation.since = state_.now();
  return booking;
}

void Reservations::Pin(Booking& booking, size_t cluster) const {
  booking.pinned = true;
  booking.cluster = cluster;
  booking.reservation.cluster = round_.clusters()[cluster].name();
}

std::optional<Reservations::Booking> Reservations::Renew(const Reservation& reservation) const {
  Booking booking;
  booking.reservation = reservation;
  booking.job = state_.FindJob(reservation.job, reservation.uid);
  if (booking.job == kNoIndex || state_.job(booking.job).job_class == kNoIndex) {
    return std::nullopt;
  }
  const JobClass& job_class = state_.classes()[state_.job(booking.job).job_class];
  if (reservation.at_floor) {
    booking.floor = FloorPods(state_, state_.job(booking.job));
  }
  const ShapeFacts& facts = Asks(booking);
  if (ClassGate(state_, round_.tree(), job_class) != Verdict::kNone) {
    return std::nullopt;
  }
  if (reservation.cluster.empty()) {
    return booking;
  }
  const ClusterView* view = FindView(round_.clusters(), reservation.cluster);
  if (view == nullptr || !CouldHold(job_class, *view, FloorIn(booking))) {
    return std::nullopt;
  }
  booking.cluster = static_cast<size_t>(view - round_.clusters().data());
  booking.pinned = true;
  booking.within = StaysWithin(round_, job_class.queue, facts);
  if (!reservation.evicting) {
    // Without the victims of an eviction, whoever is at its limits is not allowed any more.
    if (round_.limits().Check(job_class.queue, job_class.tenant, facts).has_value()) {
      return std::nullopt;
    }
    FindStart(booking, *view);
    return booking;
  }
  booking.awaits = HasVictims(state_, reservation) || HasDraining(state_, reservation);
  if (booking.awaits) {
    return booking;
  }
  Time& free_since = booking.reservation.free_since;
  free_since = free_since == Time() ? state_.now() : free_since;
  const bool over = state_.now() >= free_since + state_.settings().hold_after_free;
  return over ? std::nullopt : std::optional(booking);
}

/// The first time at which enough has ended.
void Reservations::FindStart(Booking& booking, const ClusterView& view) const {
  const ShapeFacts& facts = Asks(booking);
  const std::vector<std::pair<Time, JobIndex>> ends = EndsIn(state_, *view.entry);
  ResourceVector free = FreeInTime(state_, view);
  for (size_t k = 0;; ++k) {
    // What ends at one time is free at once.
    const bool more = k < ends.size() && k > 0 && ends[k].first == ends[k - 1].first;
    // Where it would fit now by the sums, the nodes are in the way.
    if (!more && k > 0 && facts.total.FitsIn(free)) {
      booking.start = ends[k - 1].first;
      booking.spare = free;
      booking.spare.Subtract(facts.total);
      return;
    }
    if (k == ends.size()) {
      return;
    }
    for (const Charge::Holding& holding : state_.job(ends[k].second).charge->held) {
      if (holding.cluster == view.index) {
        free.Add(holding.requests);
      }
    }
  }
}

const Reservations::Booking* Reservations::At(size_t cluster) const {
  const auto it = std::find_if(bookings_.begin(), bookings_.end(), [&](const Booking& booking) {
    return booking.pinned && booking.cluster == cluster;
  });
  return it == bookings_.end() ? nullptr : &*it;
}

bool Reservations::IsBeneficiary(JobIndex job) const {
  return std::any_of(bookings_.begin(), bookings_.end(), [&](const Booking& booking) {
    return booking.job == job && booking.reservation.evicting;
  });
}

bool Reservations::EndsBefore(ClassIndex job_class, Time start) const {
  const Millis estimate = state_.classes()[job_class].estimate;
  return estimate > Millis(0) && state_.now() + estimate <= start;
}

bool Reservations::MayTake(const ClusterView& view, size_t cluster, ClassIndex job_class,
                           bool within) const {
  const Booking* booking = At(cluster);
  if (booking == nullptr || state_.job(booking->job).job_class == job_class) {
    return true;
  }
  if (Yields(*booking, state_.classes()[job_class].queue, within)) {
    return true;
  }
  return (booking->start.has_value() && EndsBefore(job_class, *booking->start)) ||
         Spares(*booking, view, Facts(job_class));
}

/// What such a job takes there now is not what is kept for the holder.
bool Reservations::Spares(const Booking& booking, const ClusterView& view,
                          const ShapeFacts& facts) const {
  if (booking.start.has_value()) {
    return facts.total.FitsIn(booking.spare);
  }
  const ShapeFacts& holder = Asks(booking);
  return std::all_of(facts.requested.begin(), facts.requested.end(), [&](ResourceIndex r) {
    const int64_t kept = std::min(view.free[r], holder.total[r]);
    return facts.total[r] <= view.free[r] - kept;
  });
}

Reservations::Openness Reservations::OpenFor(const ClusterView& view, size_t cluster,
                                             ShapeIndex shape) const {
  const Booking* booking = At(cluster);
  if (booking == nullptr || Spares(*booking, view, state_.facts(shape))) {
    return Openness::kYes;
  }
  const bool yields = !booking->reservation.evicting && !booking->within;
  const bool same = state_.job(booking->job).shape == shape;
  return yields || same || booking->start.has_value() ? Openness::kByClass : Openness::kNo;
}

void Reservations::Took(size_t cluster, JobIndex job, ClassIndex job_class,
                        const ResourceVector& amounts) {
  for (Booking& booking : bookings_) {
    if (booking.pinned && booking.cluster == cluster && booking.start.has_value() &&
        !EndsBefore(job_class, *booking.start)) {
      booking.spare.Subtract(amounts);
    }
  }
  std::erase_if(bookings_, [&](const Booking& booking) {
    const bool consumed = booking.pinned && booking.cluster == cluster &&
                          state_.job(booking.job).job_class == job_class;
    return consumed || booking.job == job;
  });
}

void Reservations::AddEvicting(JobIndex job, size_t cluster, bool at_floor) {
  std::erase_if(bookings_, [&](const Booking& booking) {
    return booking.job == job || (booking.pinned && booking.cluster == cluster);
  });
  Booking booking = For(job, at_floor);
  Pin(booking, cluster);
  booking.reservation.evicting = true;
  booking.within = true;
  booking.awaits = true;
  bookings_.push_back(std::move(booking));
}

/// The cluster where it can start first by what is known.
std::optional<Reservations::Booking> Reservations::Earliest(
    const Booking& asked, const std::vector<ClusterView>& views) const {
  const JobClass& job_class = state_.classes()[state_.job(asked.job).job_class];
  std::optional<Booking> first;
  for (size_t c = 0; c < views.size(); ++c) {
    if (!IsOpen(job_class, c, asked.within, FloorIn(asked))) {
      continue;
    }
    Booking booking = asked;
    Pin(booking, c);
    FindStart(booking, views[c]);
    if (booking.start.has_value() && (!first || *booking.start < *first->start)) {
      first = std::move(booking);
    }
  }
  return first;
}

/// The cluster of which it lacks the smallest part.
std::optional<size_t> Reservations::Closest(const Booking& asked,
                                            const std::vector<ClusterView>& views) const {
  const JobClass& job_class = state_.classes()[state_.job(asked.job).job_class];
  const ShapeFacts& facts = Asks(asked);
  std::optional<size_t> closest;
  int64_t least = 0;
  for (size_t c = 0; c < views.size(); ++c) {
    if (!IsOpen(job_class, c, asked.within, FloorIn(asked))) {
      continue;
    }
    int64_t lacks = 0;
    for (const ResourceIndex r : facts.requested) {
      lacks = std::max(lacks, Share(SaturatingSub(facts.total[r], views[c].free[r]),
                                    std::max<int64_t>(views[c].allocatable[r], 1)));
    }
    if (!closest || lacks < least) {
      closest = c;
      least = lacks;
    }
  }
  return closest;
}

void Reservations::Blocked(JobIndex job, bool within, const std::vector<ClusterView>& views) {
  const JobEntry& entry = state_.job(job);
  if (first_seen_) {
    return;
  }
  const bool may_be_partial = state_.classes()[entry.job_class].partial != kNoIndex;
  if (!may_be_partial &&
      round_.limits().Check(entry.queue, entry.tenant, state_.facts(entry.shape)).has_value()) {
    return;
  }
  Booking asked = For(job, may_be_partial);
  asked.within = within || (may_be_partial && StaysWithin(round_, entry.queue, Asks(asked)));
  if (may_be_partial && round_.limits().Check(entry.queue, entry.tenant, Asks(asked)).has_value()) {
    return;
  }
  const auto mine = std::find_if(bookings_.begin(), bookings_.end(),
                                 [&](const Booking& booking) { return booking.job == job; });
  if (mine != bookings_.end() && mine->pinned) {
    first_seen_ = true;
    return;
  }
  const std::optional<size_t> closest = Closest(asked, views);
  if (!closest.has_value()) {
    return;
  }
  first_seen_ = true;
  std::optional<Booking> booking = Earliest(asked, views);
  if (!booking.has_value()) {
    booking = asked;
    Time& since = booking->reservation.since;
    since = mine == bookings_.end() ? since : mine->reservation.since;
    if (state_.now() - since >= state_.settings().reserve_after) {
      Pin(*booking, *closest);
    }
  }
  std::erase_if(bookings_, [&](const Booking& b) {
    return !b.pinned || (booking->pinned && b.cluster == booking->cluster);
  });
  bookings_.push_back(*std::move(booking));
}

std::optional<std::vector<Reservation>> Reservations::Changed() const {
  std::vector<Reservation> now;
  for (const Booking& booking : bookings_) {
    // Whoever was not the first to wait in this round is not at the head any more.
    if (booking.pinned || first_seen_) {
      now.push_back(booking.reservation);
    }
  }
  std::sort(now.begin(), now.end(), [](const Reservation& a, const Reservation& b) {
    return std::tie(a.job, a.uid) < std::tie(b.job, b.uid);
  });
  return now == state_.reservations() ? std::nullopt : std::optional(std::move(now));
}

}  // namespace caldera
