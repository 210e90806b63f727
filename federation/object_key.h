// Which object a Change is about: what Relist and the live observer keep objects by. The order of
// kinds is the one in which upserts are applied: what is referred to comes before what refers to
// it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>

#include "federation/change.h"

namespace caldera {

enum class ObjectKind : uint8_t {
  kPriorityClass,
  kNamespace,
  kQueue,
  kTenantQuota,
  kCluster,
  kNode,
  kHyperNode,
  kPod,
  kJob,
};

struct ObjectKey {
  ObjectKind kind = ObjectKind::kPriorityClass;
  /// What names it, from the outside in: cluster or namespace, then name. A job's last part is its
  /// kind, since a Job and a HyperJob may share a name.
  std::array<std::string, 3> parts;
  friend bool operator<(const ObjectKey& a, const ObjectKey& b) {
    return std::tie(a.kind, a.parts) < std::tie(b.kind, b.parts);
  }
};

ObjectKey KeyOf(const PriorityClassUpsert& upsert);
ObjectKey KeyOf(const NamespaceUpsert& upsert);
ObjectKey KeyOf(const QueueUpsert& upsert);
ObjectKey KeyOf(const TenantQuotaUpsert& upsert);
ObjectKey KeyOf(const ClusterUpsert& upsert);
ObjectKey KeyOf(const NodeUpsert& upsert);
ObjectKey KeyOf(const HyperNodeUpsert& upsert);
ObjectKey KeyOf(const PodUpsert& upsert);
ObjectKey KeyOf(const JobUpsert& upsert);

template <class C>
concept IsUpsert = requires(const C& change) {
  KeyOf(change);
};

/// nullopt where it is no upsert.
std::optional<ObjectKey> KeyOfChange(const Change& change);

/// Of a job also its uid is needed.
Change DeletionOf(const ObjectKey& key, const std::string& job_uid = "");

/// They are of one kind and say the same.
bool SameChange(const Change& a, const Change& b);

}  // namespace caldera
