// The planner again, naively: every step scans all jobs with the documented comparator (order.h)
// and tries all clusters (placement.h), from what Export() says. Small inputs must get the same
// plan from both.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "federation/capacity.h"
#include "federation/plan.h"
#include "federation/state.h"
#include "test/property/reference_queues.h"
#include "test/property/reference_state.h"

namespace caldera::property {

class ReferencePlanner {
 public:
  explicit ReferencePlanner(const std::vector<Change>& exported);

  ReferencePlanner(const ReferencePlanner&) = delete;
  ReferencePlanner& operator=(const ReferencePlanner&) = delete;
  ~ReferencePlanner() = default;

  /// What MakePlan should decide, but for the reasons, which are left empty.
  Plan Decide();
  /// The jobs that wait although limits, guarantees and a cluster would take them now; those that
  /// the head of a fifo queue holds back are left out. Empty after a plan was applied.
  std::vector<JobKey> NeedlesslyWaiting();

 private:
  using Jobs = std::vector<const RefJob*>;

  [[nodiscard]] const RefJob* Best(const std::string& queue, const Jobs& jobs) const;
  [[nodiscard]] const RefJob* BestInLeaf(const Jobs& jobs) const;
  [[nodiscard]] bool Within(const std::string& queue, const RefJob& job) const;
  [[nodiscard]] int64_t QueueShare(const std::string& queue, const RefJob& job) const;
  [[nodiscard]] RefUsage UsedBelow(const std::string& queue) const;
  [[nodiscard]] int64_t TenantShare(const RefJob& job) const;

  [[nodiscard]] bool WithinQuota(const RefJob& job, const std::string& cluster) const;
  [[nodiscard]] bool WithinLimits(const RefJob& job);
  [[nodiscard]] bool IsClosed(const RefJob& job, const RefCluster& cluster) const;
  [[nodiscard]] std::string BestCluster(const RefJob& job) const;
  [[nodiscard]] bool IsFifo(const std::string& queue) const;
  [[nodiscard]] static Action Whole(const RefJob& job, const std::string& cluster);
  [[nodiscard]] Action Split(const RefJob& job);
  void Commit(const RefJob& job, const std::string& cluster);

  [[nodiscard]] static std::optional<Action> Resize(const RefJob& job);
  [[nodiscard]] bool CanGrow(const RefJob& more, const std::string& cluster);
  void ResizePlaced(Plan& plan);
  void SortByPriority(Jobs& jobs) const;

  // Parts of jobs, in reference_parts.cc.
  [[nodiscard]] std::optional<std::pair<std::string, RefJob>> BestPart(const RefJob& job);
  [[nodiscard]] static bool LacksPods(const RefJob& job);
  void GrowPlaced(Plan& plan);

  /// The room as the planner sees it, kept up to date by Commit: what is split over which clusters
  /// is SplitOver's word, which has properties of its own.
  State real_;
  std::vector<ClusterView> views_;
  std::deque<NodeConstraint> kept_;

  RefState state_;
  RefQueues queues_;
  RefQueues order_;  ///< Without what grew in this round: that counts in the order of the next.
  std::map<std::string, ResourceList> tenants_;
  std::map<std::pair<std::string, std::string>, ResourceList> tenants_in_;
};

}  // namespace caldera::property
