#include "federation/verdict.h"

namespace caldera {

std::string_view VerdictName(Verdict verdict) {
  switch (verdict) {
    case Verdict::kNone:
      return "None";
    case Verdict::kRefused:
      return "Refused";
    case Verdict::kClaimedElsewhere:
      return "ClaimedElsewhere";
    case Verdict::kHeld:
      return "Held";
    case Verdict::kSuspended:
      return "Suspended";
    case Verdict::kMissingReference:
      return "MissingReference";
    case Verdict::kNamespaceNotPropagated:
      return "NamespaceNotPropagated";
    case Verdict::kTooLarge:
      return "TooLarge";
    case Verdict::kQueueMissing:
      return "QueueMissing";
    case Verdict::kQueueClosed:
      return "QueueClosed";
    case Verdict::kQueueNotLeaf:
      return "QueueNotLeaf";
    case Verdict::kTenantQuota:
      return "TenantQuota";
    case Verdict::kQueueCapability:
      return "QueueCapability";
    case Verdict::kLargerThanFederation:
      return "LargerThanFederation";
    case Verdict::kNoClusterMatches:
      return "NoClusterMatches";
    case Verdict::kClusterNotReady:
      return "ClusterNotReady";
    case Verdict::kTopologyTier:
      return "TopologyTier";
    case Verdict::kAcceleratorUnavailable:
      return "AcceleratorUnavailable";
    case Verdict::kInsufficientResources:
      return "InsufficientResources";
    case Verdict::kMaxClusters:
      return "MaxClusters";
    case Verdict::kSplitUnsafe:
      return "SplitUnsafe";
    case Verdict::kNameConflict:
      return "NameConflict";
    case Verdict::kApplyFailed:
      return "ApplyFailed";
    case Verdict::kStuckInMember:
      return "StuckInMember";
    case Verdict::kBackoff:
      return "Backoff";
    case Verdict::kReserved:
      return "Reserved";
    case Verdict::kFairShare:
      return "FairShare";
    case Verdict::kFifo:
      return "Fifo";
    case Verdict::kBehindPriority:
      return "BehindPriority";
  }
  return "";
}

}  // namespace caldera
