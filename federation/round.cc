#include "federation/round.h"

#include "federation/feasibility.h"
#include "federation/gate.h"

namespace caldera {

namespace {

std::vector<Contest::Entrant> FindEntrants(const State& state, const QueueTree& tree) {
  std::vector<Contest::Entrant> entrants;
  for (ClassIndex c = 0; c < state.classes().size(); ++c) {
    const JobClass& job_class = state.classes()[c];
    if (!job_class.waiting.empty() && ClassGate(state, tree, job_class) == Verdict::kNone) {
      entrants.push_back({c, *PriorityValue(state, job_class.priority)});
    }
  }
  return entrants;
}

/// Only what could ever go is a demand: an entitlement to more would be lost to everybody.
std::vector<ClassDemand> FindDemand(const State& state, const QueueTree& tree,
                                    const std::vector<ClusterView>& clusters,
                                    const std::vector<Contest::Entrant>& entrants) {
  enum class Known : uint8_t { kNo, kFits, kNever };
  std::vector<Known> fits(state.shape_count(), Known::kNo);
  std::vector<ClassDemand> demand;
  for (const Contest::Entrant& entrant : entrants) {
    const JobClass& job_class = state.classes()[entrant.job_class];
    Known& known = fits[job_class.shape];
    if (known == Known::kNo) {
      known = CouldEverFit(state, clusters, job_class.shape) ? Known::kFits : Known::kNever;
    }
    if (known == Known::kFits && Limits::FitsAlone(state, tree, job_class)) {
      demand.push_back(
          {job_class.queue, job_class.shape, static_cast<int64_t>(job_class.waiting.size())});
    }
  }
  return demand;
}

}  // namespace

Round::Round(const State& state)
    : state_(state),
      tree_(state),
      clusters_(ViewClusters(state)),
      entrants_(FindEntrants(state, tree_)),
      shares_(ShareOut(state, tree_, clusters_, FindDemand(state, tree_, clusters_, entrants_))),
      total_(FederationTotal(clusters_)),
      limits_(state, tree_, shares_, total_) {}

std::vector<JobIndex> WaitingOrder(const Round& round) {
  Contest contest(round.state(), round.tree(), round.shares(), round.entrants());
  std::vector<JobIndex> order;
  for (Head head = contest.Best(); head.Any(); head = contest.Best()) {
    order.push_back(head.job);
    contest.Took();
  }
  return order;
}

}  // namespace caldera
