// What tenants used in queues lately: kept where what they hold changes, read at `now`.
#include "federation/state.h"

namespace caldera {

/// After charges changed. Of changes that come to nothing (a report, say) the anchor does not move.
void State::SettleUsage(QueueIndex queue, TenantIndex tenant) {
  if (queue == kNoIndex) {
    return;
  }
  QueueEntry& entry = queues_[queue];
  entry.used_by[tenant].Hold(now_, settings_.usage_half_life, entry.charged_by[tenant].ToVector());
}

void State::On(const UsageSet& change) {
  const ResourceVector whole = ToVector(resources_, change.whole);
  const ResourceVector part = ToVector(resources_, change.part);
  Usage& usage = queues_[QueueOf(change.queue)].used_by[TenantOf(change.tenant)];
  usage.Restore({change.anchor, whole, part});
}

std::map<TenantIndex, UsageVector> State::UsedIn(QueueIndex queue) const {
  std::map<TenantIndex, UsageVector> used;
  for (const auto& [tenant, usage] : queues_[queue].used_by) {
    used.emplace(tenant, usage.At(now_, settings_.usage_half_life));
  }
  return used;
}

void State::ExportUsage(std::vector<Change>& changes) const {
  for (const auto& [queue, index] : queue_names_) {
    for (const auto& [tenant, tenant_index] : tenant_names_) {
      const auto it = queues_[index].used_by.find(tenant_index);
      if (it == queues_[index].used_by.end() || it->second.IsZero()) {
        continue;
      }
      const Usage::Stored stored = it->second.Store();
      changes.emplace_back(UsageSet{queue, tenant, stored.anchor, ToList(resources_, stored.whole),
                                    ToList(resources_, stored.part)});
    }
  }
}

}  // namespace caldera
