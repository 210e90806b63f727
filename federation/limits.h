// What is never exceeded: a tenant's quotas, overall and per cluster, the capability of each queue
// on the chain to the root; and what is never taken: room that other queues' guarantees reserve,
// used or not. Built from a State, then kept up to date by Commit within one round. In a round,
// limits only get tighter: what is refused once stays refused.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "federation/queue_tree.h"
#include "federation/quotas.h"
#include "federation/reason.h"
#include "federation/shares.h"
#include "federation/state.h"

namespace caldera {

/// The first limit that a job would pass, as numbers; Limits::Explain puts it into words.
struct Block {
  Verdict verdict = Verdict::kNone;  ///< TenantQuota, QueueCapability or FairShare.
  QueueIndex queue = kNoIndex;       ///< The queue whose limit it is; not for TenantQuota.
  TenantIndex tenant = kNoIndex;     ///< For TenantQuota.
  ClusterIndex cluster = kNoIndex;   ///< For a static assignment.
  ResourceIndex resource = 0;
  int64_t requested = 0;
  int64_t used = 0;
  int64_t limit = 0;
};

class Limits {
 public:
  /// Borrows all of them.
  Limits(const State& state, const QueueTree& tree, const std::vector<TenantLimits>& quotas,
         const std::vector<QueueShare>& shares, const ResourceVector& total);

  /// The first limit in the way of such a job anywhere: quota, capability, then guarantees.
  [[nodiscard]] std::optional<Block> Check(QueueIndex queue, TenantIndex tenant,
                                           const ShapeFacts& facts) const;
  /// Check() finds nothing: some comparisons, where the room of the queue is known already.
  [[nodiscard]] bool Allows(QueueIndex queue, TenantIndex tenant, const ShapeFacts& facts) const;
  /// The tenant's static assignment in one cluster.
  [[nodiscard]] std::optional<Block> CheckCluster(TenantIndex tenant, ClusterIndex cluster,
                                                  const ShapeFacts& facts) const;

  /// Cuts `room` to what the tenant's static assignment in that cluster leaves.
  void CapRoom(TenantIndex tenant, ClusterIndex cluster, ResourceVector& room) const;
  /// A queue at its capability: how much more of a resource it would have to have free.
  struct Shortage {
    QueueIndex queue = kNoIndex;
    ResourceIndex resource = 0;
    int64_t amount = 0;
  };
  /// What keeps such a job from being taken and evictions could relieve; empty where nothing is in
  /// its way, nothing where a quota or a guarantee is.
  [[nodiscard]] std::optional<std::vector<Shortage>> Shortages(QueueIndex queue, TenantIndex tenant,
                                                               const ShapeFacts& facts) const;

  void Commit(QueueIndex queue, TenantIndex tenant, ClusterIndex cluster, const ShapeFacts& facts);

  [[nodiscard]] Reason Explain(const Block& block) const;

 private:
  struct Tenant {
    ResourceVector charged;
    std::map<ClusterIndex, ResourceVector> charged_in;  ///< Where there is an assignment.
  };
  /// What a queue reserves: its guarantee or what it holds, whichever is more, level by level.
  struct Hold {
    ResourceVector used;   ///< What it holds, its descendants in it.
    ResourceVector parts;  ///< What its own jobs hold, and its children's holds.
    ResourceVector hold;
  };
  /// The largest request that capabilities and guarantees allow, as of one version.
  struct Room {
    uint64_t version = 0;
    ResourceLimits most;
  };

  [[nodiscard]] std::optional<Block> CheckQuota(TenantIndex tenant, const ShapeFacts& facts) const;
  [[nodiscard]] std::optional<Block> CheckCapability(QueueIndex queue,
                                                     const ShapeFacts& facts) const;
  [[nodiscard]] std::optional<Block> CheckGuarantees(QueueIndex queue,
                                                     const ShapeFacts& facts) const;
  [[nodiscard]] std::optional<Block> CheckGuarantee(QueueIndex n, ResourceIndex r, int64_t amount,
                                                    int64_t& raise) const;
  void RaiseHold(QueueIndex queue, ResourceIndex r, int64_t amount);
  [[nodiscard]] const ResourceLimits& RoomIn(QueueIndex queue) const;
  [[nodiscard]] int64_t RoomIn(QueueIndex queue, ResourceIndex r) const;

  const State& state_;
  const QueueTree& tree_;
  const std::vector<TenantLimits>& quotas_;
  const std::vector<QueueShare>& shares_;
  const ResourceVector& total_;
  std::vector<Tenant> tenants_;          ///< By TenantIndex.
  std::vector<ResourceVector> charged_;  ///< By QueueIndex, descendants in it.
  std::vector<Hold> holds_;              ///< By QueueIndex.
  uint64_t version_ = 1;                 ///< Counts the commits.
  mutable std::vector<Room> rooms_;      ///< By QueueIndex; what is asked again is kept.
};

}  // namespace caldera
