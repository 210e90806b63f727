// What would let a job that goes to several clusters find room there: of a HyperJob, children whose
// clusterNames are not the same ones, so that no cluster could ever take it alone.
#include <algorithm>
#include <tuple>

#include "federation/amounts.h"
#include "federation/feasibility.h"
#include "federation/remedy.h"
#include "federation/share.h"

namespace caldera {

namespace {

int64_t MissingOf(const Roomless& part, ResourceIndex r, const ResourceVector& left) {
  const int64_t asked = SaturatingMul(part.kind.request[r], part.missing);
  return asked == 0 ? 0 : std::max<int64_t>(SaturatingSub(asked, left[r]), 0);
}

}  // namespace

std::vector<Knob> Remedy::ForParts() {
  const Shape& shape = after_.shape(entry_.shape);
  if (entry_.job_class == kNoIndex || !MaySplit(shape)) {
    return {};
  }
  const Round& round = explainer_.round();
  const SplitSites sites =
      SitesNow(after_, after_.classes()[entry_.job_class], round.clusters(), round.limits());
  std::vector<Knob> knobs;
  for (const Roomless& part : WithoutRoom(after_, entry_.shape, sites)) {
    const std::vector<Knob> more = ForPart(part, sites);
    knobs.insert(knobs.end(), more.begin(), more.end());
  }
  return knobs;
}

/// In the cluster where least is missing; else in one that takes nothing now.
std::vector<Knob> Remedy::ForPart(const Roomless& part, const SplitSites& sites) {
  std::vector<std::tuple<int64_t, size_t>> order;
  for (size_t s = 0; s < sites.sites.size(); ++s) {
    const ClusterView& view = *sites.sites[s].view;
    if (!part.kind.MayGoTo(view.name())) {
      continue;
    }
    int64_t worst = 0;
    for (ResourceIndex r = 0; r < part.kind.request.size(); ++r) {
      const int64_t missing = MissingOf(part, r, part.left[s]);
      worst = std::max(worst, Share(missing, std::max<int64_t>(view.allocatable[r], 1)));
    }
    order.emplace_back(worst, s);
  }
  std::sort(order.begin(), order.end());
  for (const auto& [worst, s] : order) {
    std::vector<Knob> knobs = ForPartIn(sites.sites[s], part, part.left[s]);
    if (!knobs.empty()) {
      return knobs;
    }
  }
  const JobClass& job_class = after_.classes()[entry_.job_class];
  for (const ClusterView& view : explainer_.round().clusters()) {
    if (!part.kind.MayGoTo(view.name())) {
      continue;
    }
    const Reason reason = Admits(view, after_.shape(entry_.shape).clusters);
    const bool blocked = reason.verdict == Verdict::kNone && job_class.IsBlocked(view.index);
    std::vector<Knob> knobs = ForCluster(view, blocked ? Verdict::kBackoff : reason.verdict);
    if (!knobs.empty()) {
      return knobs;
    }
  }
  return {};
}

/// More of what is short there: of the tenant's static assignment, of the sums, or on a node.
std::vector<Knob> Remedy::ForPartIn(const SplitSite& site, const Roomless& part,
                                    const ResourceVector& left) {
  const ClusterView& view = *site.view;
  const TenantLimits& quotas = explainer_.round().quotas()[entry_.tenant];
  std::vector<Knob> knobs;
  for (ResourceIndex r = 0; r < part.kind.request.size(); ++r) {
    const int64_t missing = MissingOf(part, r, left);
    if (missing == 0) {
      continue;
    }
    const int64_t withheld = SaturatingSub(view.free[r], site.free[r]);
    if (withheld > 0) {
      knobs.push_back(UpTo(RaiseClusterQuota(before_, entry_.tenant, view.index, r),
                           SaturatingAdd(quotas.in.at(view.index)[r], missing)));
    }
    if (missing > withheld && view.object().has_summary) {
      knobs.push_back(UpTo(AddCapacity(before_, view.index, r),
                           SaturatingAdd(view.allocatable[r], SaturatingSub(missing, withheld))));
    }
  }
  if (!knobs.empty()) {
    return knobs;
  }
  std::vector<NodePool::Task> gang;
  const std::vector<NodePool::Task> tasks =
      GangOf(after_.shape(entry_.shape), after_.facts(entry_.shape));
  for (const auto& [task, pods] : part.kind.parts) {
    gang.push_back(tasks[task]);
    gang.back().replicas = SaturatingMul(part.missing, pods);
  }
  return ForSlots(view, gang);
}

}  // namespace caldera
