// All that one round of planning looks at, derived from a State in the order in which it depends on
// each other: the queue tree, the clusters, who may take part, the shares, the limits. The planner
// starts from it; report and explain read the same figures from it.
#pragma once

#include <optional>
#include <vector>

#include "federation/capacity.h"
#include "federation/limits.h"
#include "federation/order.h"
#include "federation/queue_tree.h"
#include "federation/shares.h"
#include "federation/state.h"

namespace caldera {

class Round {
 public:
  /// Borrows the State, which must not change meanwhile.
  explicit Round(const State& state);
  Round(const Round&) = delete;
  Round& operator=(const Round&) = delete;
  Round(Round&&) = delete;
  Round& operator=(Round&&) = delete;
  ~Round() = default;

  [[nodiscard]] const State& state() const { return state_; }
  [[nodiscard]] const QueueTree& tree() const { return tree_; }
  [[nodiscard]] const std::vector<ClusterView>& clusters() const { return clusters_; }
  [[nodiscard]] const std::vector<TenantLimits>& quotas() const { return quotas_; }
  /// The lanes that take part, but for jobs whose shape keeps them from it.
  [[nodiscard]] const std::vector<Contest::Entrant>& entrants() const { return entrants_; }
  /// No shape with candidates asks for more of anything.
  [[nodiscard]] const ShapeFacts& largest() const { return largest_; }
  [[nodiscard]] const std::vector<QueueShare>& shares() const { return shares_; }
  /// What the clusters that are not lost have together, foreign use taken off.
  [[nodiscard]] const ResourceVector& total() const { return total_; }
  [[nodiscard]] const Limits& limits() const { return limits_; }
  [[nodiscard]] Limits& limits() { return limits_; }

 private:
  [[nodiscard]] std::vector<ResourceVector> FindDemand() const;

  const State& state_;
  QueueTree tree_;
  std::vector<ClusterView> clusters_;
  std::vector<TenantLimits> quotas_;
  std::vector<Contest::Entrant> entrants_;
  ShapeFacts largest_;
  std::vector<QueueShare> shares_;
  ResourceVector total_;
  Limits limits_;
};

/// With such a job, its queue and all above it stay within what they deserve; a queue that holds
/// nothing does with any first job.
bool StaysWithin(const Round& round, QueueIndex queue, const ShapeFacts& facts);

/// The first resource of which its queue, or one above it, would hold more than it deserves with
/// such a job; nothing where it would borrow nothing. What keeps back a job that never borrows.
std::optional<Block> FindBorrowing(const Round& round, QueueIndex queue, const ShapeFacts& facts);

/// The candidates that wait, best first: who is next if room appears, each counted as placed for
/// those behind it. Jobs that are no candidates are not in it.
std::vector<JobIndex> WaitingOrder(const Round& round);

}  // namespace caldera
