#include "federation/object_key.h"

#include <variant>

#include "federation/codec_fields.h"

namespace caldera {

using Kind = ObjectKind;

ObjectKey KeyOf(const PriorityClassUpsert& upsert) {
  return {Kind::kPriorityClass, {upsert.priority_class.name}};
}
ObjectKey KeyOf(const NamespaceUpsert& upsert) { return {Kind::kNamespace, {upsert.ns.name}}; }
ObjectKey KeyOf(const QueueUpsert& upsert) { return {Kind::kQueue, {upsert.queue.name}}; }
ObjectKey KeyOf(const TenantQuotaUpsert& upsert) {
  return {Kind::kTenantQuota, {upsert.quota.tenant, upsert.quota.name}};
}
ObjectKey KeyOf(const ClusterUpsert& upsert) { return {Kind::kCluster, {upsert.cluster.name}}; }
ObjectKey KeyOf(const NodeUpsert& upsert) {
  return {Kind::kNode, {upsert.node.cluster, upsert.node.name}};
}
ObjectKey KeyOf(const HyperNodeUpsert& upsert) {
  return {Kind::kHyperNode, {upsert.hyper_node.cluster, upsert.hyper_node.name}};
}
ObjectKey KeyOf(const PodUpsert& upsert) {
  return {Kind::kPod, {upsert.pod.cluster, upsert.pod.ns, upsert.pod.name}};
}
ObjectKey KeyOf(const JobUpsert& upsert) {
  const bool hyper = upsert.job.kind == JobKind::kHyperJob;
  return {Kind::kJob, {upsert.job.key.ns, upsert.job.key.name, hyper ? "HyperJob" : "Job"}};
}

std::optional<ObjectKey> KeyOfChange(const Change& change) {
  return std::visit(
      []<class C>(const C& each) -> std::optional<ObjectKey> {
        if constexpr (IsUpsert<C>) {
          return KeyOf(each);
        } else {
          return std::nullopt;
        }
      },
      change);
}

Change DeletionOf(const ObjectKey& key, const std::string& job_uid) {
  const auto& [first, second, third] = key.parts;
  switch (key.kind) {
    case Kind::kPriorityClass:
      return PriorityClassDelete{first};
    case Kind::kNamespace:
      return NamespaceDelete{first};
    case Kind::kQueue:
      return QueueDelete{first};
    case Kind::kTenantQuota:
      return TenantQuotaDelete{first, second};
    case Kind::kCluster:
      return ClusterDelete{first};
    case Kind::kNode:
      return NodeDelete{first, second};
    case Kind::kHyperNode:
      return HyperNodeDelete{first, second};
    case Kind::kPod:
      return PodDelete{first, second, third};
    case Kind::kJob:
      break;
  }
  return JobDelete{{first, second}, job_uid};
}

bool SameChange(const Change& a, const Change& b) {
  return a.index() == b.index() &&
         std::visit([&b]<class C>(const C& left) { return codec::Same(left, std::get<C>(b)); }, a);
}

}  // namespace caldera
