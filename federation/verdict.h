// Why a job waits: one typed verdict, per cluster where it applies, with the figures. An open set:
// consumers must take names they do not know.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace caldera {

/// In the order in which they win where several hold (DESIGN 9): the job itself, its references,
/// its queue, its tenant, its queue's limits, the clusters, the order.
enum class Verdict : uint8_t {
  kNone,  ///< It does not wait.
  kRefused,
  kClaimedElsewhere,
  kHeld,
  kSuspended,
  kMissingReference,
  kNamespaceNotPropagated,
  kTooLarge,
  kQueueMissing,
  kQueueClosed,
  kQueueNotLeaf,
  kTenantQuota,
  kQueueCapability,
  kLargerThanFederation,
  kNoClusterMatches,
  kClusterNotReady,
  kTopologyTier,
  kAcceleratorUnavailable,
  kInsufficientResources,
  kMaxClusters,
  kSplitUnsafe,
  kNameConflict,
  kApplyFailed,
  kStuckInMember,
  kBackoff,
  kReserved,
  kFairShare,
  kFifo,
  kBehindPriority,
};

/// `InsufficientResources`: the name in API, SQL, CLI and docs.
std::string_view VerdictName(Verdict verdict);

/// One number behind a verdict, in the resource's unit (resources.h). `used` does not include
/// `requested`; the verdict holds because used + requested > limit.
struct Figure {
  std::string object;    ///< `Queue/gold`, `Tenant/team-a`, `Cluster/east`, `Node/east/n1`.
  std::string resource;  ///< Empty for figures that are no resource (counts).
  int64_t requested = 0;
  int64_t used = 0;
  int64_t limit = 0;
};

}  // namespace caldera
