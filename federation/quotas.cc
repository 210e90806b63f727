#include "federation/quotas.h"

#include "federation/amounts.h"

namespace caldera {

std::vector<TenantLimits> FoldQuotas(const State& state) {
  std::vector<TenantLimits> tenants(state.tenants().size());
  for (TenantIndex t = 0; t < tenants.size(); ++t) {
    for (const auto& [name, quota] : state.tenant(t).quotas) {
      tenants[t].overall.Tighten(LimitsIn(state, quota.overall));
      for (const auto& [cluster, list] : quota.per_cluster) {
        tenants[t].in[state.clusters().find(cluster)->second].Tighten(LimitsIn(state, list));
      }
    }
  }
  return tenants;
}

}  // namespace caldera
