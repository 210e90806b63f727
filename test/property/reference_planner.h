// The planner again, naively: every step scans all jobs with the documented comparator (order.h)
// and tries all clusters (placement.h), from what Export() says. Small inputs must get the same
// plan from both.
#pragma once

#include <string>
#include <vector>

#include "test/property/reference_state.h"

namespace caldera::property {

struct RefChoice {
  JobKey job;
  std::string cluster;
  friend bool operator==(const RefChoice&, const RefChoice&) = default;
};

class ReferencePlanner {
 public:
  explicit ReferencePlanner(const std::vector<Change>& exported);

  /// What MakePlan should decide, in its order.
  std::vector<RefChoice> Plan();
  /// The jobs that wait although limits, guarantees and a cluster would take them now; those that a
  /// fifo queue holds back are left out. Empty after a plan was applied.
  std::vector<JobKey> NeedlesslyWaiting();

 private:
  struct QueueFacts {
    std::string parent;
    std::vector<std::string> children;
    bool attached = false;
    bool open = true;  ///< It and all above.
    ResourceList guarantee;
    ResourceList deserved;
    ResourceList within;
    ResourceList held;     ///< Its own jobs', on clusters that are not lost.
    ResourceList charged;  ///< Its own jobs'.
    std::map<std::string, ResourceList> by_tenant;
  };
  using Jobs = std::vector<const RefJob*>;

  void LinkQueues();
  void AddCharges();
  void ShareOut();
  void ShareResource(const std::string& resource, const std::map<std::string, int64_t>& demand);
  [[nodiscard]] ResourceList Total() const;
  [[nodiscard]] int64_t Capability(const std::string& queue, const std::string& resource) const;
  [[nodiscard]] ResourceList HeldBelow(const std::string& queue) const;
  [[nodiscard]] ResourceList ChargedBelow(const std::string& queue) const;
  [[nodiscard]] int64_t Hold(const std::string& queue, const std::string& resource) const;
  [[nodiscard]] std::vector<std::string> Chain(const std::string& queue) const;

  [[nodiscard]] std::optional<int64_t> Priority(const RefJob& job) const;
  [[nodiscard]] bool IsCandidate(const RefJob& job) const;
  [[nodiscard]] bool CouldEverGo(const RefJob& job) const;
  [[nodiscard]] const RefJob* Best(const std::string& queue, const Jobs& jobs) const;
  [[nodiscard]] const RefJob* BestInLeaf(const Jobs& jobs) const;
  [[nodiscard]] bool Within(const std::string& queue, const RefJob& job) const;
  [[nodiscard]] int64_t QueueShare(const std::string& queue, const RefJob& job) const;
  [[nodiscard]] int64_t TenantShare(const RefJob& job) const;

  [[nodiscard]] bool WithinQuota(const RefJob& job, const std::string& cluster) const;
  [[nodiscard]] bool WithinLimits(const RefJob& job);
  [[nodiscard]] std::string BestCluster(const RefJob& job) const;
  void Commit(const RefJob& job, const std::string& cluster);
  void Charge(const RefJob& job, const std::string& cluster, const ResourceList& amounts);

  RefState state_;
  std::map<std::string, QueueFacts> queues_;
  std::vector<std::string> top_down_;
  std::map<std::string, ResourceList> tenants_;
  std::map<std::pair<std::string, std::string>, ResourceList> tenants_in_;
  std::vector<std::string> resources_;
};

}  // namespace caldera::property
