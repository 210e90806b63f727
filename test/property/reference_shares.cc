// The shares by which queues and tenants are ordered, by the words of order.h.
#include <algorithm>

#include "federation/share.h"
#include "test/property/reference_planner.h"

namespace caldera::property {

RefUsage ReferencePlanner::UsedBelow(const std::string& queue) const {
  RefUsage used;
  for (const UsageSet& anchor : state_.anchors) {
    if (anchor.queue == queue) {
      for (const auto& [resource, amount] : state_.UsedBy(queue, anchor.tenant)) {
        used[resource] += amount;
      }
    }
  }
  for (const std::string& child : queues_.at(queue).children) {
    for (const auto& [resource, amount] : UsedBelow(child)) {
      used[resource] += amount;
    }
  }
  return used;
}

int64_t ReferencePlanner::QueueShare(const std::string& queue, const RefJob& job) const {
  const ResourceList held = order_.HeldBelow(queue);
  RefUsage used = UsedBelow(queue);
  int64_t share = 0;
  for (const auto& [resource, amount] : job.Requested()) {
    if (resource != "pods") {
      const Int128 blend = state_.Blend(At(held, resource), used[resource]);
      share = std::max(share, BlendShare(blend, At(order_.at(queue).deserved, resource)));
    }
  }
  return share;
}

int64_t ReferencePlanner::TenantShare(const RefJob& job) const {
  const RefQueue& queue = order_.at(job.QueueName());
  const auto it = queue.by_tenant.find(job.object.key.ns);
  const ResourceList held = it == queue.by_tenant.end() ? ResourceList() : it->second;
  RefUsage used = state_.UsedBy(job.QueueName(), job.object.key.ns);
  RefUsage used_by_all = UsedBelow(job.QueueName());
  int64_t weight = 1;
  for (const TenantQuota& quota : state_.quotas) {
    weight = quota.tenant == job.object.key.ns ? std::max<int64_t>(weight, quota.weight) : weight;
  }
  int64_t share = 0;
  for (const auto& [resource, amount] : job.Requested()) {
    if (resource != "pods") {
      const Int128 whole = state_.Blend(At(queue.held, resource), used_by_all[resource]);
      const Int128 part = state_.Blend(At(held, resource), used[resource]);
      share = std::max(share, BlendShare(part, whole, weight));
    }
  }
  return share;
}

}  // namespace caldera::property
