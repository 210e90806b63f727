// Whom to evict so that a job that fits nowhere can be placed. Pure; one object a round.
// A victim is a placed job that
//   - may be evicted at all: preemptible, run for its min-runtime, not too often in 24 hours, not
//     on its way out already, in a cluster that is Ready;
//   - is of a reclaimable queue that exceeds its deserved, in a resource that both ask for, and so
//     does every queue above it below the common ancestor, before each eviction, while the
//     claimant's queue and those above it stay within theirs with the job (reclaim). What a partial
//     job has above its floor does not count there where it would go whole: or growth into idle
//     room would cost it the floor that its queue deserves. Or it is of the
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
// First those who may be granted a part of their pods (elastic.h) give of what they have above
// their floor, no more than is needed; they stay. The same rules hold for them, where a job in
// waves loses no work: it costs nothing, and needs no min-runtime. Clusters where that is enough
// come first; only where it is not, somebody goes besides or instead.
//   elastic  its charge falls with the plan, as the member then ends those pods
//   waves    its charge falls as pods end by themselves (resize.h). What is about to (IsDraining)
//            counts as its queue's no more, nobody asks that job for more, and the claimant's
//            reservation waits for it
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "federation/reservations.h"
#include "federation/round.h"

namespace caldera {

struct Claimant {
  ClassIndex job_class = kNoIndex;
  JobIndex job = kNoIndex;  ///< kNoIndex: one that nobody was ever evicted for.
  int32_t priority = 0;
  const MorePods* floor = nullptr;  ///< It asks for that; nullptr: for all its pods.
};

/// Fewer pods for a job that stays where it is.
struct Cut {
  JobIndex job = kNoIndex;
  std::vector<int32_t> counts;  ///< What it keeps at a time, by task of its spec.
};

/// Not both lists are empty, and no job is in both.
struct Ransom {
  size_t cluster = 0;             ///< Position in the views: where the claimant will go.
  std::vector<JobIndex> victims;  ///< They go; least lost work first.
  std::vector<Cut> cuts;          ///< Likewise.
};

class Preemption {
 public:
  /// Borrows the round.
  explicit Preemption(const Round& round);

  /// Nothing where no set of victims frees one whole placement. `views`: what is free now, nothing
  /// of it taken off for reservations.
  std::optional<Ransom> Find(const Claimant& claim, const std::vector<ClusterView>& views,
                             const Reservations& reservations);
  /// Find finds nothing for any job of that lane as things are now; false where it might.
  [[nodiscard]] bool IsHopeless(const Lane& lane);
  /// The same of those of one shape. `fits`: it may fit in what is free in some cluster.
  [[nodiscard]] bool IsHopeless(const Lane& lane, ShapeIndex shape,
                                const std::vector<ClusterView>& views, bool fits);
  /// Something else is decided about that placed job in this round.
  void Exclude(JobIndex job) { excluded_.insert(job); }
  /// The victims go and the claimant gets what it asks for, as far as later claims are concerned.
  void Commit(const Claimant& claim, const Ransom& ransom);
  /// Nobody can be evicted in this round: Find finds nothing for anybody.
  [[nodiscard]] bool HasNoCandidates() const { return nobody_; }
  /// A job of that queue was placed or is about to be, and holds so much.
  void Placed(QueueIndex queue, const ResourceVector& amounts);

 private:
  struct Candidate {
    JobIndex job = kNoIndex;
    QueueIndex queue = kNoIndex;
    int32_t priority = 0;
    Int128 lost_work = 0;
    ResourceVector total;
    std::vector<std::pair<ClusterIndex, ResourceVector>> parts;  ///< Of that, by cluster.
    std::vector<int32_t> counts{};  ///< What it keeps, of one that is cut; it goes whole if empty.
    ResourceVector above{};         ///< Of one that would go whole and could be cut: how far.
    [[nodiscard]] bool IsCut() const { return !counts.empty(); }
  };
  using Victims = std::vector<const Candidate*>;
  /// What the preemptible jobs of one queue with less than some priority hold, ripe or not,
  /// together and by cluster.
  struct Lower {
    ResourceVector total;
    std::vector<std::pair<ClusterIndex, ResourceVector>> in;
  };
  /// Who of one queue may give, with what they have; known once somebody asks for it.
  struct Pool {
    bool known = false;
    std::vector<Candidate> candidates;  ///< The cuts, then who goes whole; least lost work first.
    std::map<int32_t, Lower> lower;     ///< By priority.
  };
  /// One that has something in some cluster, with what decides first about it: there are many.
  struct Giver {
    const Candidate* who = nullptr;
    const ResourceVector* there = nullptr;  ///< What it has in that cluster.
    Int128 lost_work = 0;
    JobIndex job = kNoIndex;
    QueueIndex queue = kNoIndex;
    bool goes = false;
  };
  /// Who may have to give for a claim in one cluster, in the same order.
  struct Givers {
    std::vector<Giver> all;
    size_t cuts = 0;  ///< How many of them are cuts.
  };
  /// A ransom and what it costs: less is better.
  struct Offer {
    std::tuple<bool, Int128, size_t> cost;  ///< Whether anybody goes; lost work; how many give.
    Ransom ransom;
  };
  /// What is still missing for one placement: in the cluster, and under queues at their capability.
  struct Missing {
    ResourceVector room;
    std::vector<Limits::Shortage> capability;
  };

  // preemption_givers.cc: who could give at all, and for whom.
  void Start();
  void FindCuts();
  void MarkSize(JobIndex job);
  void Add(Pool& pool, Candidate candidate);
  const Pool& PoolOf(QueueIndex queue);
  const Lower& LowerIn(QueueIndex queue, int32_t priority);
  const ResourceVector* FreeIn(ClusterIndex cluster, const std::vector<ClusterView>& views);
  [[nodiscard]] bool GoesBefore(const Candidate& a, const Candidate& b) const;
  [[nodiscard]] bool MayStayWithin(QueueIndex n, const ShapeFacts& facts,
                                   const ResourceVector& relief) const;
  void FindGiving(const Claimant& claim);
  void GiveUnder(QueueIndex n, QueueIndex ancestor, const ShapeFacts& facts);
  void GiveOwn(QueueIndex queue, QueueIndex ancestor);
  void Give(QueueIndex queue, QueueIndex ancestor);
  void ListByCluster();
  [[nodiscard]] bool Precedes(const Giver& a, const Giver& b) const;
  [[nodiscard]] std::vector<Giver> Relieving(const std::vector<Limits::Shortage>& capability) const;
  [[nodiscard]] Givers GiversIn(const ClusterView& cluster,
                                const std::vector<Giver>& relieving) const;
  [[nodiscard]] Candidate CandidateOf(JobIndex index) const;
  [[nodiscard]] Candidate CutTo(JobIndex index, std::vector<int32_t> counts) const;
  [[nodiscard]] const ShapeFacts& Asks(const Claimant& claim) const;
  [[nodiscard]] Int128 LostWork(const JobEntry& job, const ResourceVector& total) const;
  [[nodiscard]] bool StaysWithin(const Claimant& claim, QueueIndex below,
                                 const Victims& victims) const;
  [[nodiscard]] bool Exceed(QueueIndex queue, const ShapeFacts& facts) const;
  [[nodiscard]] bool Gives(const Claimant& claim, QueueIndex queue) const;
  [[nodiscard]] bool Eligible(const Claimant& claim, const Candidate& candidate) const;
  [[nodiscard]] bool Exceeds(const Claimant& claim, const Candidate& candidate,
                             QueueIndex ancestor) const;
  [[nodiscard]] int64_t ShareOf(QueueIndex queue, const ShapeFacts& facts) const;
  [[nodiscard]] bool IsUnder(QueueIndex queue, QueueIndex ancestor) const;
  [[nodiscard]] bool Helps(const Candidate& candidate, const ResourceVector& there,
                           const Missing& missing) const;
  void Free(const Candidate& candidate, const ResourceVector& there, Missing& missing) const;
  [[nodiscard]] static bool Enough(const Missing& missing);
  [[nodiscard]] static const ResourceVector& AmountsThere(const Candidate& candidate,
                                                          const ClusterView& cluster);
  [[nodiscard]] bool Packs(const Claimant& claim, const ClusterView& cluster,
                           const Victims& victims) const;
  [[nodiscard]] std::vector<const Pod*> Leaving(const ClusterView& cluster,
                                                const Candidate& victim) const;
  [[nodiscard]] bool Suffices(const Claimant& claim, const ClusterView& cluster,
                              const Missing& missing, const Victims& victims) const;
  [[nodiscard]] std::optional<Offer> Best(const Claimant& claim, const ClusterView& cluster,
                                          const Missing& missing, const Givers& givers);
  Victims Choose(const Claimant& claim, const ClusterView& cluster, const Missing& missing,
                 const Givers& givers, size_t first);
  void Spare(const ClusterView& cluster, const Claimant& claim, const Missing& missing,
             Victims& victims) const;
  void Soften(const ClusterView& cluster, const Claimant& claim, const Missing& missing,
              const Givers& givers, Victims& victims) const;
  [[nodiscard]] std::vector<Candidate> Trim(const Claimant& claim, const ClusterView& cluster,
                                            const Missing& missing, const Victims& victims) const;
  void Move(const Candidate& candidate, bool out);

  const Round& round_;
  const State& state_;
  ResourceKinds kinds_;
  bool nobody_;           ///< Nobody can be evicted in this round, nor give a part.
  bool started_ = false;  ///< What follows is filled.
  std::vector<std::pair<QueueIndex, ResourceVector>> early_;  ///< Placed before it was.
  std::vector<Pool> pools_;                                   ///< By QueueIndex.
  std::vector<std::vector<Giver>> by_cluster_;  ///< By ClusterIndex: of all pools that are known.
  bool listed_ = false;                         ///< That is so.
  std::vector<QueueIndex> giving_;              ///< For the claim in question: by QueueIndex, the
                                                ///< common ancestor; kNoIndex: gives nothing.
  std::vector<uint32_t> view_of_;               ///< By ClusterIndex.
  ResourceVector smallest_;  ///< What every candidate that waits asks for at least.
  std::set<JobIndex> excluded_;
  std::vector<bool> gone_;            ///< By JobIndex.
  std::vector<ResourceVector> held_;  ///< By QueueIndex, descendants in it.
  std::vector<uint32_t> jobs_;        ///< By QueueIndex: its own placed jobs.
};

}  // namespace caldera
