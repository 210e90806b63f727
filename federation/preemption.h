// Whom to evict so that a job that fits nowhere can be placed. Pure; one object a round.
// A victim is a placed job that
//   - may be evicted at all: preemptible, run for its min-runtime, not too often in 24 hours, not
//     on its way out already, in a cluster that is Ready;
//   - is of a reclaimable queue that exceeds its deserved, in a resource that both ask for, and so
//     does every queue above it below the common ancestor, before each eviction, while the
//     claimant's queue and those above it stay within theirs with the job (reclaim); or is of the
//     claimant's own queue and of lower priority (preemption);
//   - if it is its queue's only job: of a queue whose share is larger than the claimant's.
// Above its deserved no queue of the claimant holds more afterwards than before: nobody is evicted
// for borrowers, and who preempts in a queue that borrows takes as much from it.
// Who was evicted for a job takes nothing back from it for 24 hours: what a victim leaves beyond
// what was asked for may be borrowed, and then the claimant's queue exceeds its deserved. Otherwise
// the deserved is the same on both sides, whole devices on neither. A PriorityClass with
// preemptionPolicy Never evicts nobody. Nobody is evicted to relieve a tenant's quota, or for room
// that a guarantee keeps idle.
// Chosen is the cluster where least work is lost, and there the victims with least, as many as one
// whole placement takes; work lost is the time since the start times the job's largest part of the
// federation. A job in several clusters goes whole and counts whole.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "federation/reservations.h"
#include "federation/round.h"

namespace caldera {

struct Claimant {
  ClassIndex job_class = kNoIndex;
  JobIndex job = kNoIndex;
  int32_t priority = 0;
};

struct Ransom {
  size_t cluster = 0;             ///< Position in the views: where the claimant will go.
  std::vector<JobIndex> victims;  ///< Least lost work first; never empty.
};

class Preemption {
 public:
  /// Borrows the round.
  explicit Preemption(const Round& round);

  /// Nothing where no set of victims frees one whole placement. `views`: what is free now, nothing
  /// of it taken off for reservations.
  std::optional<Ransom> Find(const Claimant& claim, const std::vector<ClusterView>& views,
                             const Reservations& reservations);
  /// The victims go and the claimant gets what it asks for, as far as later claims are concerned.
  void Commit(const Claimant& claim, const Ransom& ransom);
  /// Nobody can be evicted in this round: Find finds nothing for anybody.
  [[nodiscard]] bool HasNoCandidates() const;
  /// A job of that queue was placed.
  void Placed(QueueIndex queue, ShapeIndex shape);

 private:
  struct Candidate {
    JobIndex job = kNoIndex;
    QueueIndex queue = kNoIndex;
    int32_t priority = 0;
    Int128 lost_work = 0;
    ResourceVector total;
    std::vector<std::pair<ClusterIndex, ResourceVector>> parts;  ///< Of that, by cluster.
  };
  /// What is still missing for one placement: in the cluster, and under queues at their capability.
  struct Missing {
    ResourceVector room;
    std::vector<Limits::Shortage> capability;
  };

  void FindCandidates();
  void MarkSize(JobIndex job);
  [[nodiscard]] Candidate CandidateOf(JobIndex index) const;
  [[nodiscard]] bool MayClaim(const Claimant& claim) const;
  [[nodiscard]] Int128 LostWork(const JobEntry& job, const ResourceVector& total) const;
  [[nodiscard]] bool StaysWithin(const Claimant& claim, QueueIndex below,
                                 const std::vector<const Candidate*>& victims) const;
  [[nodiscard]] bool Eligible(const Claimant& claim, const Candidate& candidate) const;
  [[nodiscard]] bool Exceeds(const Claimant& claim, const Candidate& candidate,
                             QueueIndex ancestor) const;
  [[nodiscard]] int64_t ShareOf(QueueIndex queue, const ShapeFacts& facts) const;
  [[nodiscard]] QueueIndex CommonAncestor(QueueIndex a, QueueIndex b) const;
  [[nodiscard]] bool IsUnder(QueueIndex queue, QueueIndex ancestor) const;
  [[nodiscard]] bool Helps(const Candidate& candidate, const ResourceVector& there,
                           const Missing& missing) const;
  void Free(const Candidate& candidate, const ResourceVector& there, Missing& missing) const;
  [[nodiscard]] static bool Enough(const Missing& missing);
  [[nodiscard]] static const ResourceVector& AmountsThere(const Candidate& candidate,
                                                          const ClusterView& cluster);
  [[nodiscard]] bool Packs(const Claimant& claim, const ClusterView& cluster,
                           const std::vector<const Candidate*>& victims) const;
  std::vector<const Candidate*> Choose(const Claimant& claim, const ClusterView& cluster,
                                       const Missing& missing);
  void Spare(const ClusterView& cluster, const Claimant& claim, const Missing& missing,
             std::vector<const Candidate*>& victims) const;
  void Move(const Candidate& candidate, bool out);

  const Round& round_;
  const State& state_;
  ResourceKinds kinds_;
  bool known_ = false;
  std::vector<std::pair<QueueIndex, ShapeIndex>> early_;  ///< Placed before it was known.
  std::vector<Candidate> candidates_;                     ///< Least lost work first.
  std::map<QueueIndex, int32_t> lowest_;  ///< The least priority of candidates, by queue.
  std::vector<bool> gone_;                ///< By JobIndex.
  std::vector<ResourceVector> held_;      ///< By QueueIndex, descendants in it.
  std::vector<uint32_t> jobs_;            ///< By QueueIndex: its own placed jobs.
};

}  // namespace caldera
