#include "federation/round.h"

#include <algorithm>
#include <optional>
#include <set>

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

/// Quota and capability as if nothing were held.
bool FitsAlone(const ShapeFacts& facts, const ResourceLimits& quota,
               const ResourceLimits& capability) {
  return std::all_of(facts.requested.begin(), facts.requested.end(), [&](ResourceIndex r) {
    return facts.total[r] <= quota[r] && facts.total[r] <= capability[r];
  });
}

}  // namespace

Round::Round(const State& state)
    : state_(state),
      tree_(state),
      clusters_(ViewClusters(state)),
      quotas_(FoldQuotas(state)),
      entrants_(FindEntrants(state, tree_)),
      shares_(ShareOut(state, tree_, clusters_, FindDemand())),
      total_(FederationTotal(clusters_)),
      limits_(state, tree_, quotas_, shares_, total_) {}

/// Only what could ever go is a demand: an entitlement to more would be lost to everybody.
std::vector<ClassDemand> Round::FindDemand() const {
  std::vector<std::optional<bool>> by_shape(state_.shape_count());
  std::vector<ClassDemand> demand;
  for (const Contest::Entrant& entrant : entrants_) {
    const JobClass& job_class = state_.classes()[entrant.job_class];
    const TenantLimits& quotas = quotas_[job_class.tenant];
    if (!FitsAlone(state_.facts(job_class.shape), quotas.overall,
                   tree_.node(job_class.queue).capability)) {
      continue;
    }
    // Without static assignments, all tenants are alike.
    std::optional<bool> fits = quotas.in.empty() ? by_shape[job_class.shape] : std::nullopt;
    if (!fits.has_value()) {
      fits = CouldEverGo(state_, clusters_, job_class.shape, quotas);
    }
    if (quotas.in.empty()) {
      by_shape[job_class.shape] = fits;
    }
    if (*fits) {
      demand.push_back(
          {job_class.queue, job_class.shape, static_cast<int64_t>(job_class.waiting.size())});
    }
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

std::vector<JobIndex> WaitingOrder(const Round& round) {
  const std::set<JobIndex> nobody;
  Contest contest(round.state(), round.tree(), round.shares(), round.entrants(), nobody);
  std::vector<JobIndex> order;
  for (Head head = contest.Best(); head.Any(); head = contest.Best()) {
    order.push_back(head.job);
    contest.Took();
  }
  return order;
}

}  // namespace caldera
