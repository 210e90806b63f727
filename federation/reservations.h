// Room that is kept for jobs that wait, so that nobody starves behind smaller ones: at most one
// reservation a cluster. Two kinds:
//   evicting   Others were evicted or shrunk for the job. What is free in the cluster is its own up
//              to what it asks for, until it is placed or for hold_after_free once the last victim
//              is gone. For pods of jobs in waves that are to end it waits as long as IsDraining
//              says.
//   head       The first job in the order that is allowed and does not fit. Where it can start
//              first by the running estimates of the jobs there, that is its start; later jobs may
//              pass that end before it by their estimate, or that leave enough at it. Where no
//              start is known, the job that was first for reserve_after gets the cluster of which
//              it lacks least, and what frees there accrues to it.
// Kept until the job is placed or is not allowed any more. A borrower's yields to candidates of
// other queues within deserved. A job that may be granted a part of its pods (elastic.h) waits for
// room for its floor. All jobs of the holder's class may use its room, the oldest first:
// they are alike. A job that fits in no cluster when empty gets none. Pure; one object a round.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "federation/resize.h"
#include "federation/round.h"

namespace caldera {

class Reservations {
 public:
  /// Those of the State that still hold. Borrows the round.
  explicit Reservations(const Round& round);

  struct Booking {
    Reservation reservation;
    JobIndex job = kNoIndex;
    size_t cluster = 0;  ///< Position in the views; nothing is kept without `pinned`.
    bool pinned = false;
    bool within = false;  ///< The holder stays within what its queue deserves.
    bool awaits = false;  ///< Some of its victims' pods are still there.
    std::optional<Time> start;
    ResourceVector spare;  ///< What is left at `start` once the holder has started.
    /// What it asks for, where that is its floor.
    std::optional<MorePods> floor;
  };
  /// What the holder asks for.
  [[nodiscard]] const ShapeFacts& Asks(const Booking& booking) const;
  [[nodiscard]] const std::vector<Booking>& bookings() const { return bookings_; }
  /// The one of that cluster, or nullptr.
  [[nodiscard]] const Booking* At(size_t cluster) const;
  [[nodiscard]] bool Booked(size_t cluster) const { return At(cluster) != nullptr; }

  /// Others were evicted for that job, and what they left is still kept for it.
  [[nodiscard]] bool IsBeneficiary(JobIndex job) const;

  /// Jobs of that class could be kept room there: it is Ready, allowed, large enough, within the
  /// tenant's static assignment, and kept for nobody, or for a borrower that yields to them.
  /// `within`: with such a job its queue stays within what it deserves. `floor`: they ask for that,
  /// not for all.
  [[nodiscard]] bool IsOpen(const JobClass& job_class, size_t cluster, bool within,
                            const MorePods* floor) const;

  /// A job of that class may use what is free in that cluster. `within`: it stays within what its
  /// queue deserves.
  [[nodiscard]] bool MayTake(const ClusterView& view, size_t cluster, ClassIndex job_class,
                             bool within) const;
  enum class Openness : uint8_t { kNo, kByClass, kYes };
  /// What MayTake says for all jobs of that shape, where it says the same for all of them; as long
  /// as no reservation changes, kNo stays so in a round.
  [[nodiscard]] Openness OpenFor(const ClusterView& view, size_t cluster, ShapeIndex shape) const;
  /// It was placed there, and has so much of that cluster.
  void Took(size_t cluster, JobIndex job, ClassIndex job_class, const ResourceVector& amounts);
  /// Others are evicted there for that job.
  void AddEvicting(JobIndex job, size_t cluster, bool at_floor);
  /// That job does not fit; the first such job that is within its limits gets a reservation.
  /// `views`: what is free now.
  void Blocked(JobIndex job, bool within, const std::vector<ClusterView>& views);
  /// There was such a job: Blocked does nothing any more.
  [[nodiscard]] bool HasSeenFirst() const { return first_seen_; }

  /// All that there are now, by job; nothing where they are as they were.
  [[nodiscard]] std::optional<std::vector<Reservation>> Changed() const;

 private:
  [[nodiscard]] std::optional<Booking> Renew(const Reservation& reservation) const;
  void FindStart(Booking& booking, const ClusterView& view) const;
  [[nodiscard]] bool CouldHold(const JobClass& job_class, const ClusterView& view,
                               const MorePods* floor) const;
  [[nodiscard]] bool Yields(const Booking& booking, QueueIndex queue, bool within) const;
  [[nodiscard]] static const MorePods* FloorIn(const Booking& booking);
  [[nodiscard]] Booking For(JobIndex job, bool at_floor) const;
  void Pin(Booking& booking, size_t cluster) const;
  [[nodiscard]] std::optional<Booking> Earliest(const Booking& asked,
                                                const std::vector<ClusterView>& views) const;
  [[nodiscard]] std::optional<size_t> Closest(const Booking& asked,
                                              const std::vector<ClusterView>& views) const;
  [[nodiscard]] const ShapeFacts& Facts(ClassIndex job_class) const;
  [[nodiscard]] bool EndsBefore(ClassIndex job_class, Time start) const;
  [[nodiscard]] bool Spares(const Booking& booking, const ClusterView& view,
                            const ShapeFacts& facts) const;

  const Round& round_;
  const State& state_;
  std::vector<Booking> bookings_;
  bool first_seen_ = false;
};

}  // namespace caldera
