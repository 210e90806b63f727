#include "federation/limits.h"

#include <algorithm>

#include "federation/amounts.h"

namespace caldera {

namespace {

ResourceLimits OverallQuota(const State& state, TenantIndex tenant) {
  ResourceLimits limits;
  for (const auto& [name, quota] : state.tenant(tenant).quotas) {
    limits.Tighten(LimitsIn(state, quota.overall));
  }
  return limits;
}

std::map<ClusterIndex, ResourceLimits> ClusterQuotas(const State& state, TenantIndex tenant) {
  std::map<ClusterIndex, ResourceLimits> limits;
  for (const auto& [name, quota] : state.tenant(tenant).quotas) {
    for (const auto& [cluster, list] : quota.per_cluster) {
      limits[state.clusters().find(cluster)->second].Tighten(LimitsIn(state, list));
    }
  }
  return limits;
}

/// True where `amount` more does not pass the limit.
bool Allows(int64_t limit, int64_t used, int64_t amount) {
  return limit == kUnlimited || SaturatingAdd(used, amount) <= limit;
}

}  // namespace

Limits::Limits(const State& state, const QueueTree& tree, const std::vector<QueueShare>& shares,
               const ResourceVector& total)
    : state_(state), tree_(tree), shares_(shares), total_(total), holds_(tree.size()) {
  for (TenantIndex t = 0; t < state.tenants().size(); ++t) {
    Tenant& tenant = tenants_.emplace_back();
    tenant.quota = OverallQuota(state, t);
    tenant.charged = state.tenant(t).charged.ToVector();
    tenant.quota_in = ClusterQuotas(state, t);
    for (const auto& [cluster, quota] : tenant.quota_in) {
      const auto it = state.tenant(t).charged_in.find(cluster);
      if (it != state.tenant(t).charged_in.end()) {
        tenant.charged_in[cluster] = it->second.ToVector();
      }
    }
  }
  charged_.reserve(shares.size());
  for (const QueueShare& share : shares) {
    charged_.push_back(share.charged);
  }
  const auto& order = tree.TopDown();
  for (auto it = order.rbegin(); it != order.rend(); ++it) {
    Hold& hold = holds_[*it];
    hold.own = shares[*it].held;
    for (const QueueIndex child : tree.node(*it).children) {
      hold.own.Subtract(shares[child].held);
      hold.below.Add(holds_[child].hold);
    }
    hold.hold = hold.own;
    hold.hold.Add(hold.below);
    for (ResourceIndex r = 0; r < state.resources().size(); ++r) {
      hold.hold.Set(r, std::max(hold.hold[r], shares[*it].guarantee[r]));
    }
  }
}

std::optional<Block> Limits::Check(QueueIndex queue, TenantIndex tenant,
                                   const ShapeFacts& facts) const {
  if (auto block = CheckQuota(tenant, facts)) {
    return block;
  }
  if (auto block = CheckCapability(queue, facts)) {
    return block;
  }
  return CheckGuarantees(queue, facts);
}

std::optional<Block> Limits::CheckQuota(TenantIndex tenant, const ShapeFacts& facts) const {
  const Tenant& t = tenants_[tenant];
  for (const ResourceIndex r : facts.requested) {
    if (!Allows(t.quota[r], t.charged[r], facts.total[r])) {
      return Block{Verdict::kTenantQuota, kNoIndex,     tenant,    kNoIndex, r,
                   facts.total[r],        t.charged[r], t.quota[r]};
    }
  }
  return std::nullopt;
}

std::optional<Block> Limits::CheckCapability(QueueIndex queue, const ShapeFacts& facts) const {
  for (QueueIndex n = queue; n != kNoIndex; n = tree_.node(n).parent) {
    const ResourceLimits& capability = tree_.node(n).own;
    for (const ResourceIndex r : facts.requested) {
      if (!Allows(capability[r], charged_[n][r], facts.total[r])) {
        return Block{Verdict::kQueueCapability,
                     n,
                     kNoIndex,
                     kNoIndex,
                     r,
                     facts.total[r],
                     charged_[n][r],
                     capability[r]};
      }
    }
  }
  return std::nullopt;
}

std::optional<Block> Limits::CheckGuarantees(QueueIndex queue, const ShapeFacts& facts) const {
  for (const ResourceIndex r : facts.requested) {
    // What the job adds to the hold of each level; it ends where a guarantee has room for it.
    int64_t raise = facts.total[r];
    for (QueueIndex n = queue; n != kNoIndex && raise > 0; n = tree_.node(n).parent) {
      const Hold& hold = holds_[n];
      const int64_t used = SaturatingAdd(hold.own[r], hold.below[r]);
      const int64_t raised = std::max(SaturatingAdd(used, raise), shares_[n].guarantee[r]);
      raise = SaturatingSub(raised, hold.hold[r]);
      const int64_t capability = tree_.node(n).capability[r];
      const int64_t limit = n == tree_.root() ? std::min(total_[r], capability) : capability;
      if (raise > 0 && limit != kUnlimited && raised > limit) {
        return Block{Verdict::kFairShare, n, kNoIndex, kNoIndex, r, raise, hold.hold[r], limit};
      }
    }
  }
  return std::nullopt;
}

std::optional<Block> Limits::CheckCluster(TenantIndex tenant, ClusterIndex cluster,
                                          const ShapeFacts& facts) const {
  const Tenant& t = tenants_[tenant];
  const auto quota = t.quota_in.find(cluster);
  if (quota == t.quota_in.end()) {
    return std::nullopt;
  }
  const auto it = t.charged_in.find(cluster);
  for (const ResourceIndex r : facts.requested) {
    const int64_t used = it == t.charged_in.end() ? 0 : it->second[r];
    if (!Allows(quota->second[r], used, facts.total[r])) {
      return Block{Verdict::kTenantQuota, kNoIndex, tenant,          cluster, r,
                   facts.total[r],        used,     quota->second[r]};
    }
  }
  return std::nullopt;
}

bool Limits::FitsAlone(const State& state, const QueueTree& tree, const JobClass& job_class) {
  const ResourceLimits quota = OverallQuota(state, job_class.tenant);
  const ResourceLimits& capability = tree.node(job_class.queue).capability;
  const ShapeFacts& facts = state.facts(job_class.shape);
  return std::all_of(facts.requested.begin(), facts.requested.end(), [&](ResourceIndex r) {
    return facts.total[r] <= quota[r] && facts.total[r] <= capability[r];
  });
}

void Limits::Commit(QueueIndex queue, TenantIndex tenant, ClusterIndex cluster,
                    const ShapeFacts& facts) {
  Tenant& t = tenants_[tenant];
  t.charged.Add(facts.total);
  if (t.quota_in.contains(cluster)) {
    t.charged_in[cluster].Add(facts.total);
  }
  for (QueueIndex n = queue; n != kNoIndex; n = tree_.node(n).parent) {
    charged_[n].Add(facts.total);
  }
  for (const ResourceIndex r : facts.requested) {
    RaiseHold(queue, r, facts.total[r]);
  }
}

void Limits::RaiseHold(QueueIndex queue, ResourceIndex r, int64_t amount) {
  int64_t raise = amount;
  for (QueueIndex n = queue; n != kNoIndex && raise > 0; n = tree_.node(n).parent) {
    Hold& hold = holds_[n];
    ResourceVector& part = n == queue ? hold.own : hold.below;
    part.Set(r, SaturatingAdd(part[r], raise));
    const int64_t raised =
        std::max(SaturatingAdd(hold.own[r], hold.below[r]), shares_[n].guarantee[r]);
    raise = SaturatingSub(raised, hold.hold[r]);
    hold.hold.Set(r, raised);
  }
}

Reason Limits::Explain(const Block& block) const {
  const std::string& resource = state_.resources().Name(block.resource);
  const auto amount = [&](int64_t value) { return FormatAmount(resource, value); };
  std::string object;
  std::string limit;
  if (block.verdict == Verdict::kTenantQuota) {
    object = "Tenant/" + state_.tenant(block.tenant).name;
    limit = "the quota of tenant " + state_.tenant(block.tenant).name;
    if (block.cluster != kNoIndex) {
      limit += " in cluster " + state_.cluster(block.cluster).name;
    }
  } else {
    const std::string& queue = tree_.node(block.queue).entry->name;
    object = "Queue/" + queue;
    limit = "the capability of queue " + queue;
    if (block.verdict == Verdict::kFairShare) {
      limit =
          block.queue == tree_.root() ? "what the federation has" : "what queue " + queue + " has";
    }
  }
  const std::string use =
      block.verdict == Verdict::kFairShare ? " used or guaranteed to other queues" : " used";
  return {block.verdict,
          amount(block.requested) + " " + resource + " asked, " + amount(block.used) + use +
              ", limit " + amount(block.limit) + ": " + limit,
          {{object, resource, block.requested, block.used, block.limit}}};
}

}  // namespace caldera
