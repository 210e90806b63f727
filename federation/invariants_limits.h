// The half of CheckPlan that keeps books: what a plan uses of quotas, capabilities, clusters and of
// what guarantees reserve. Written apart from limits.h on purpose: a rule that planner and check
// shared could be broken in both. Never stricter than the planner: its complaints abort.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "federation/state.h"

namespace caldera {

class LimitCheck {
 public:
  explicit LimitCheck(const State& state);

  /// The queue and its ancestors up to the root; empty where the chain does not get there.
  const std::vector<QueueIndex>& Chain(QueueIndex queue);
  [[nodiscard]] bool IsLeaf(QueueIndex queue) const;

  /// Books one shard; the limits it breaks, in words.
  std::vector<std::string> Charge(const JobEntry& job, const Shard& shard);
  /// After all shards: the reserved room that was taken, in words.
  std::vector<std::string> Reserved();

 private:
  /// One of a tenant's quotas, in State's indexes.
  struct Quota {
    const std::string* name = nullptr;
    ResourceLimits overall;
    std::map<ClusterIndex, ResourceLimits> per_cluster;
  };

  const std::vector<Quota>& QuotasOf(TenantIndex tenant);
  bool AnyAssignment(TenantIndex tenant, ClusterIndex cluster);
  ResourceVector& Free(ClusterIndex cluster);
  ResourceVector& UsedByTenant(TenantIndex tenant);
  ResourceVector& UsedByTenantIn(TenantIndex tenant, ClusterIndex cluster);
  [[nodiscard]] bool CountsFor(ClusterIndex cluster) const;
  [[nodiscard]] ResourceVector Total() const;
  [[nodiscard]] int64_t GuaranteeOf(QueueIndex queue, ResourceIndex r) const;
  void CapGuarantees(QueueIndex queue, ResourceIndex r, int64_t room,
                     std::vector<int64_t>& guarantees) const;
  [[nodiscard]] int64_t HoldOf(QueueIndex queue, ResourceIndex r,
                               const std::vector<int64_t>& guarantees,
                               const std::vector<ResourceVector>& held) const;

  const State& state_;
  std::vector<std::vector<QueueIndex>> chains_;    ///< By QueueIndex, made when asked for.
  std::vector<std::vector<QueueIndex>> children_;  ///< By QueueIndex; detached ones at the root.
  std::vector<ResourceLimits> capabilities_;       ///< By QueueIndex, each its own.
  std::vector<ResourceVector> guarantees_;         ///< By QueueIndex, each its own.
  std::vector<bool> parents_;                      ///< Queues that another Queue names as parent.
  std::vector<ResourceVector> used_;               ///< By QueueIndex, descendants in it.
  std::vector<ResourceVector> held_before_;        ///< Own, on clusters that count.
  std::vector<ResourceVector> held_;
  ResourceVector charged_;  ///< By this plan.
  std::map<ClusterIndex, ResourceVector> free_;
  std::map<TenantIndex, std::vector<Quota>> quotas_;  ///< Those that were asked for.
  std::map<TenantIndex, ResourceVector> tenants_;
  std::map<std::pair<TenantIndex, ClusterIndex>, ResourceVector> tenants_in_;
};

}  // namespace caldera
