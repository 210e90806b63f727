#include "federation/placement.h"

#include <algorithm>
#include <utility>

#include "federation/assert.h"
#include "federation/feasibility.h"

namespace caldera {

Placement::Placement(const State& state, const std::vector<TenantLimits>& quotas,
                     std::vector<ClusterView> clusters)
    : state_(state),
      quotas_(quotas),
      clusters_(std::move(clusters)),
      versions_(clusters_.size(), 1),
      options_(state.shape_count()),
      kinds_(state.resources()),
      any_assignments_(std::any_of(quotas.begin(), quotas.end(),
                                   [](const TenantLimits& each) { return !each.in.empty(); })) {}

bool Placement::Alive(ShapeIndex shape, TenantIndex tenant) const {
  const Options& options = options_[shape];
  if (!options.known || !options.open.empty()) {
    return true;
  }
  return options.may_split && !options.split_failed &&
         (options.ever_fits != true || HasAssignments(tenant) ||
          state_.shape(shape).split.mode == SplitMode::kAllowed);
}

Reservations::Openness Placement::MayFit(ShapeIndex shape, const Reservations& reservations) {
  using Openness = Reservations::Openness;
  const Options& options = OptionsOf(shape);
  Openness most = Openness::kNo;
  if (options.may_split && !options.split_failed) {
    most = NeedsSplit(shape)  ? Openness::kYes
           : any_assignments_ ? Openness::kByClass
                              : Openness::kNo;
  }
  for (const Option& option : options.open) {
    most = std::max(most, reservations.OpenFor(clusters_[option.cluster], option.cluster, shape));
    if (most == Openness::kYes) {
      break;
    }
  }
  return most;
}

bool Placement::MayFit(ClassIndex job_class, ShapeIndex shape, const Reservations& reservations) {
  const Options& options = OptionsOf(shape);
  if (options.may_split && !options.split_failed && SplitIsDue(state_.classes()[job_class])) {
    return true;
  }
  return std::any_of(options.open.begin(), options.open.end(), [&](const Option& option) {
    return reservations.MayTake(clusters_[option.cluster], option.cluster, job_class, true);
  });
}

/// Up to date with what is free.
Placement::Options& Placement::OptionsOf(ShapeIndex shape) {
  Options& options = options_[shape];
  if (!options.known) {
    List(shape, options);
  }
  Refresh(shape, options);
  return options;
}

bool Placement::HasAssignments(TenantIndex tenant) const { return !quotas_[tenant].in.empty(); }

std::vector<SplitPart> Placement::Split(const JobClass& job_class, const Limits& limits,
                                        const Reservations& reservations) {
  const ShapeIndex shape = job_class.shape;
  Options& options = options_[shape];
  if (!options.may_split || options.split_failed || !SplitIsDue(job_class)) {
    return {};
  }
  SplitSites sites = SitesNow(state_, job_class, clusters_, limits);
  const size_t kept = std::erase_if(
      sites.sites, [&](const SplitSite& site) { return reservations.Booked(site.cluster); });
  std::vector<SplitPart> parts = SplitOver(state_, shape, sites);
  if (parts.empty()) {
    options.split_failed =
        kept == 0 && job_class.blocked.empty() && !HasAssignments(job_class.tenant);
  }
  for (const SplitPart& part : parts) {
    TakePart(part.cluster, FactsOfPart(state_, shape, part.replicas).total,
             GangOfPart(state_, shape, part.replicas));
  }
  return parts;
}

/// Unless splitting is allowed anyway, only what no cluster could ever hold is split.
bool Placement::SplitIsDue(const JobClass& job_class) {
  if (state_.shape(job_class.shape).split.mode != SplitMode::kAllowed &&
      HasAssignments(job_class.tenant)) {
    return !CouldEverFit(state_, clusters_, job_class.shape, quotas_[job_class.tenant]);
  }
  return NeedsSplit(job_class.shape);
}

/// The same for tenants without static assignments.
bool Placement::NeedsSplit(ShapeIndex shape) {
  if (state_.shape(shape).split.mode == SplitMode::kAllowed) {
    return true;
  }
  Options& options = options_[shape];
  if (!options.ever_fits.has_value()) {
    options.ever_fits = CouldEverFit(state_, clusters_, shape, TenantLimits());
  }
  return !*options.ever_fits;
}

bool Placement::PlaceAt(size_t cluster, ShapeIndex shape) {
  return state_.facts(shape).total.FitsIn(clusters_[cluster].free) && Take(cluster, shape);
}

void Placement::TakePart(size_t cluster, const ResourceVector& total,
                         const std::vector<NodePool::Task>& gang) {
  ClusterView& view = clusters_[cluster];
  if (view.nodes.has_value()) {
    const bool packed = view.nodes->Pack(gang);
    CALDERA_ASSERT(packed);
  }
  view.free.Subtract(total);
  ++versions_[cluster];
}

std::optional<Site> Placement::Place(const Head& head, const Limits& limits,
                                     const Reservations& reservations) {
  const JobClass& job_class = state_.classes()[head.job_class];
  const ShapeIndex shape = job_class.shape;
  Options& options = OptionsOf(shape);
  const ShapeFacts& facts = state_.facts(shape);
  // Node by node is checked last and only for the best: it is what costs.
  for (;;) {
    const Option* best = nullptr;
    size_t rivals = 0;
    for (const Option& option : options.open) {
      const ClusterIndex cluster = clusters_[option.cluster].index;
      if (job_class.IsBlocked(cluster) ||
          limits.CheckCluster(job_class.tenant, cluster, facts).has_value() ||
          !reservations.MayTake(clusters_[option.cluster], option.cluster, head.job_class,
                                head.within)) {
        continue;
      }
      ++rivals;
      if (best == nullptr || Before(option, *best)) {
        best = &option;
      }
    }
    if (best == nullptr) {
      return std::nullopt;
    }
    if (Take(best->cluster, shape)) {
      return Site{best->cluster, best->left, rivals};
    }
    options.open.erase(options.open.begin() + (best - options.open.data()));
  }
}

void Placement::List(ShapeIndex shape, Options& options) {
  options.known = true;
  options.may_split = MaySplit(state_.shape(shape));
  const ClusterConstraint& constraint = state_.shape(shape).clusters;
  for (size_t c = 0; c < clusters_.size(); ++c) {
    if (IsAdmitted(clusters_[c], state_.shape(shape))) {
      const auto& names = constraint.names;
      const auto preference = std::find(names.begin(), names.end(), clusters_[c].name());
      options.open.push_back({c, static_cast<size_t>(preference - names.begin()), 0, Part()});
    }
  }
}

void Placement::Refresh(ShapeIndex shape, Options& options) {
  const ShapeFacts& facts = state_.facts(shape);
  const auto too_small = [&](Option& option) {
    if (option.version == versions_[option.cluster]) {
      return false;
    }
    const ClusterView& cluster = clusters_[option.cluster];
    if (!facts.total.FitsIn(cluster.free)) {
      return true;
    }
    option.version = versions_[option.cluster];
    option.left = Left(cluster, facts);
    return false;
  };
  options.open.erase(std::remove_if(options.open.begin(), options.open.end(), too_small),
                     options.open.end());
}

bool Placement::Before(const Option& a, const Option& b) const {
  if (a.left < b.left || b.left < a.left) {
    return a.left < b.left;
  }
  if (a.preference != b.preference) {
    return a.preference < b.preference;
  }
  // The views are sorted by name.
  return std::pair(clusters_[a.cluster].object().cost, a.cluster) <
         std::pair(clusters_[b.cluster].object().cost, b.cluster);
}

Part Placement::Left(const ClusterView& cluster, const ShapeFacts& facts) const {
  Part largest{-1, 1, ResourceCatalog::kNone};
  for (const ResourceIndex r : facts.requested) {
    if (r == kinds_.pods || (facts.devices && !kinds_.device[r])) {
      continue;
    }
    const Part left{cluster.free[r] - facts.total[r], cluster.allocatable[r], r};
    if (largest < left) {
      largest = left;
    }
  }
  return largest.resource == ResourceCatalog::kNone ? Part() : largest;
}

/// Node by node where nodes are given; false, and nothing is taken, where that is not enough.
bool Placement::Take(size_t position, ShapeIndex shape) {
  ClusterView& cluster = clusters_[position];
  const ShapeFacts& facts = state_.facts(shape);
  if (cluster.nodes.has_value() && !cluster.nodes->Pack(GangOf(state_.shape(shape), facts))) {
    return false;
  }
  cluster.free.Subtract(facts.total);
  ++versions_[position];
  return true;
}

}  // namespace caldera
