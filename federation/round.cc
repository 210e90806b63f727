#include "federation/round.h"

#include <algorithm>
#include <set>

#include "federation/elastic.h"
#include "federation/feasibility.h"
#include "federation/gate.h"

namespace caldera {

namespace {

std::vector<Contest::Entrant> FindEntrants(const State& state, const QueueTree& tree) {
  std::vector<Contest::Entrant> entrants;
  for (LaneIndex i = 0; i < state.lanes().size(); ++i) {
    const Lane& lane = state.lanes()[i];
    if (!lane.waiting.empty() && LaneGate(state, tree, lane) == Verdict::kNone) {
      entrants.push_back({i, *PriorityValue(state, lane.priority)});
    }
  }
  return entrants;
}

/// No shape with candidates asks for more of anything.
ShapeFacts LargestAsked(const State& state) {
  ShapeFacts largest;
  for (ShapeIndex s = 0; s < state.shape_count(); ++s) {
    if (state.CandidatesOf(s) > 0) {
      const ResourceVector& total = state.facts(s).total;
      for (ResourceIndex r = 0; r < total.size(); ++r) {
        largest.total.Set(r, std::max(largest.total[r], total[r]));
      }
    }
  }
  for (ResourceIndex r = 0; r < largest.total.size(); ++r) {
    if (largest.total[r] > 0) {
      largest.requested.push_back(r);
    }
  }
  return largest;
}

/// Quota and capability as if nothing were held.
bool FitsAlone(const ResourceVector& total, const ResourceLimits& quota,
               const ResourceLimits& capability) {
  for (ResourceIndex r = 0; r < total.size(); ++r) {
    if (total[r] > 0 && (total[r] > quota[r] || total[r] > capability[r])) {
      return false;
    }
  }
  return true;
}

/// Which shapes of candidates could ever go, where no static assignments are in the way.
class Goers {
 public:
  /// Borrows all of them. `largest`: what no candidate asks for more than.
  Goers(const State& state, const std::vector<ClusterView>& clusters, const ResourceVector& largest)
      : state_(state), clusters_(clusters), largest_(largest), goes_(state.shape_count(), false) {
    const TenantLimits unassigned;
    for (ShapeIndex s = 0; s < goes_.size(); ++s) {
      if (state.CandidatesOf(s) == 0) {
        continue;
      }
      goes_[s] = Goes(s, unassigned);
      all_go_ = all_go_ && goes_[s];
    }
  }

  /// What those of the lane ask for that could ever go: all their pods, or of those that may be
  /// partial the most of them that could.
  [[nodiscard]] ResourceVector Demand(const Lane& lane, const TenantLimits& quotas,
                                      const ResourceLimits& capability) const {
    if (all_go_ && quotas.in.empty() && FitsAlone(largest_, quotas.overall, capability)) {
      return lane.asked.ToVector();
    }
    ResourceVector demand;
    for (const ClassIndex c : lane.classes) {
      const JobClass& job_class = state_.classes()[c];
      const ResourceVector& total = state_.facts(job_class.shape).total;
      if (FitsAlone(total, quotas.overall, capability) &&
          (quotas.in.empty() ? goes_[job_class.shape] : Goes(job_class.shape, quotas))) {
        demand.AddTimes(total, job_class.jobs);
      } else if (job_class.partial != kNoIndex &&
                 ShapeGate(state_.shape(job_class.shape)) == Verdict::kNone) {
        const JobSpec& spec = state_.spec(job_class.partial);
        demand.AddTimes(MostEver(state_, clusters_, spec, quotas, capability), job_class.jobs);
      }
    }
    return demand;
  }

 private:
  [[nodiscard]] bool Goes(ShapeIndex shape, const TenantLimits& quotas) const {
    return ShapeGate(state_.shape(shape)) == Verdict::kNone &&
           CouldEverGo(state_, clusters_, shape, quotas);
  }

  const State& state_;
  const std::vector<ClusterView>& clusters_;
  const ResourceVector& largest_;
  std::vector<bool> goes_;  ///< By ShapeIndex.
  bool all_go_ = true;      ///< Then nobody asks class by class where largest_ is within limits.
};

}  // namespace

Round::Round(const State& state)
    : state_(state),
      tree_(state),
      clusters_(ViewClusters(state)),
      quotas_(FoldQuotas(state)),
      entrants_(FindEntrants(state, tree_)),
      largest_(LargestAsked(state)),
      shares_(ShareOut(state, tree_, clusters_, FindDemand())),
      total_(FederationTotal(clusters_)),
      limits_(state, tree_, quotas_, shares_, total_) {}

/// Only what could ever go is a demand: an entitlement to more would be lost to everybody.
std::vector<ResourceVector> Round::FindDemand() const {
  const Goers goers(state_, clusters_, largest_.total);
  std::vector<ResourceVector> demand(tree_.size());
  for (const Contest::Entrant& entrant : entrants_) {
    const Lane& lane = state_.lanes()[entrant.lane];
    demand[lane.queue].Add(
        goers.Demand(lane, quotas_[lane.tenant], tree_.node(lane.queue).capability));
  }
  return demand;
}

bool StaysWithin(const Round& round, QueueIndex queue, const ShapeFacts& facts) {
  const ResourceKinds kinds(round.state().resources());
  for (QueueIndex n = queue; n != round.tree().root(); n = round.tree().node(n).parent) {
    if (!IsWithin(round.shares()[n], round.shares()[n].held, facts, kinds)) {
      return false;
    }
  }
  return true;
}

std::optional<Block> FindBorrowing(const Round& round, QueueIndex queue, const ShapeFacts& facts) {
  const ResourceKinds kinds(round.state().resources());
  for (QueueIndex n = queue; n != round.tree().root(); n = round.tree().node(n).parent) {
    const QueueShare& share = round.shares()[n];
    for (const ResourceIndex r : facts.requested) {
      const int64_t limit = kinds.device[r] ? share.within[r] : share.deserved[r];
      if (r != kinds.pods && SaturatingAdd(share.held[r], facts.total[r]) > limit) {
        return Block{Verdict::kFairShare, n,    kNoIndex, kNoIndex, r, facts.total[r],
                     share.held[r],       limit};
      }
    }
  }
  return std::nullopt;
}

std::vector<JobIndex> WaitingOrder(const Round& round) {
  const std::set<JobIndex> nobody;
  Contest contest(round.state(), round.tree(), round.shares(), {round.entrants(), {}}, nobody);
  std::vector<JobIndex> order;
  for (Head head = contest.Best(); head.Any(); head = contest.Best()) {
    order.push_back(head.job);
    contest.Took(round.state().facts(round.state().classes()[head.job_class].shape).total);
  }
  return order;
}

}  // namespace caldera
