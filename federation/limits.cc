#include "federation/limits.h"

#include <algorithm>
#include <limits>

namespace caldera {

namespace {

/// True where `amount` more does not pass the limit.
bool HasRoom(int64_t limit, int64_t used, int64_t amount) {
  return limit == kUnlimited || SaturatingAdd(used, amount) <= limit;
}

}  // namespace

Limits::Limits(const State& state, const QueueTree& tree, const std::vector<TenantLimits>& quotas,
               const std::vector<QueueShare>& shares, const ResourceVector& total)
    : state_(state),
      tree_(tree),
      quotas_(quotas),
      shares_(shares),
      total_(total),
      tenants_(quotas.size()),
      holds_(tree.size()),
      rooms_(tree.size()) {
  for (TenantIndex t = 0; t < quotas.size(); ++t) {
    tenants_[t].charged = state.tenant(t).charged.ToVector();
    const auto& charged_in = state.tenant(t).charged_in;
    for (const auto& [cluster, assigned] : quotas[t].in) {
      if (const auto it = charged_in.find(cluster); it != charged_in.end()) {
        tenants_[t].charged_in[cluster] = it->second.ToVector();
      }
    }
  }
  charged_.reserve(shares.size());
  for (const QueueShare& share : shares) {
    charged_.push_back(share.charged);
  }
  for (const QueueIndex i : tree.BottomUp()) {
    Hold& hold = holds_[i];
    hold.used = shares[i].held;
    hold.parts = hold.used;
    for (const QueueIndex child : tree.node(i).children) {
      hold.parts.Subtract(holds_[child].used);
      hold.parts.Add(holds_[child].hold);
    }
    for (ResourceIndex r = 0; r < state.resources().size(); ++r) {
      hold.hold.Set(r, std::max(hold.parts[r], shares[i].guarantee[r]));
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
  const ResourceLimits& quota = quotas_[tenant].overall;
  const ResourceVector& charged = tenants_[tenant].charged;
  for (const ResourceIndex r : facts.requested) {
    if (!HasRoom(quota[r], charged[r], facts.total[r])) {
      return Block{Verdict::kTenantQuota, kNoIndex,   tenant,  kNoIndex, r,
                   facts.total[r],        charged[r], quota[r]};
    }
  }
  return std::nullopt;
}

std::optional<Block> Limits::CheckCapability(QueueIndex queue, const ShapeFacts& facts) const {
  for (QueueIndex n = queue; n != kNoIndex; n = tree_.node(n).parent) {
    const ResourceLimits& capability = tree_.node(n).own;
    for (const ResourceIndex r : facts.requested) {
      if (!HasRoom(capability[r], charged_[n][r], facts.total[r])) {
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
      if (auto block = CheckGuarantee(n, r, facts.total[r], raise)) {
        return block;
      }
    }
  }
  return std::nullopt;
}

/// `raise`: what is added to the parts of its hold, and then what is added to the hold.
std::optional<Block> Limits::CheckGuarantee(QueueIndex n, ResourceIndex r, int64_t amount,
                                            int64_t& raise) const {
  const Hold& hold = holds_[n];
  const int64_t raised = std::max(SaturatingAdd(hold.parts[r], raise), shares_[n].guarantee[r]);
  raise = SaturatingSub(raised, hold.hold[r]);
  const int64_t capability = tree_.node(n).capability[r];
  const int64_t limit = n == tree_.root() ? std::min(total_[r], capability) : capability;
  // Where nothing is reserved idle, the clusters and the capabilities decide alone.
  const bool idle = raised > SaturatingAdd(hold.used[r], amount);
  if (raise > 0 && idle && limit != kUnlimited && raised > limit) {
    return Block{Verdict::kFairShare, n, kNoIndex, kNoIndex, r, raise, hold.hold[r], limit};
  }
  return std::nullopt;
}

bool Limits::Allows(QueueIndex queue, TenantIndex tenant, const ShapeFacts& facts) const {
  const ResourceLimits& quota = quotas_[tenant].overall;
  const ResourceVector& charged = tenants_[tenant].charged;
  const ResourceLimits& most = RoomIn(queue);
  return std::all_of(facts.requested.begin(), facts.requested.end(), [&](ResourceIndex r) {
    return facts.total[r] <= most[r] && HasRoom(quota[r], charged[r], facts.total[r]);
  });
}

const ResourceLimits& Limits::RoomIn(QueueIndex queue) const {
  Room& room = rooms_[queue];
  if (room.version != version_) {
    room.version = version_;
    for (ResourceIndex r = 0; r < state_.resources().size(); ++r) {
      room.most.Set(r, RoomIn(queue, r));
    }
  }
  return room.most;
}

/// CheckCapability and CheckGuarantees, solved for the amount: it first fills the idle guarantees
/// from the queue upwards, and what it fills them with raises no hold above.
int64_t Limits::RoomIn(QueueIndex queue, ResourceIndex r) const {
  Int128 room = kUnlimited;
  Int128 below = 0;  // What the idle guarantees below take in.
  for (QueueIndex n = queue; n != kNoIndex; n = tree_.node(n).parent) {
    const QueueNode& node = tree_.node(n);
    if (node.own[r] != kUnlimited) {
      room = std::min(room, Int128{node.own[r]} - charged_[n][r]);
    }
    const Hold& hold = holds_[n];
    const Int128 parts = hold.parts[r];
    const Int128 idle = Int128{hold.hold[r]} - parts;
    const int64_t limit =
        n == tree_.root() ? std::min(total_[r], node.capability[r]) : node.capability[r];
    if (limit != kUnlimited && parts - below > hold.used[r]) {
      room = std::min(room, std::max(below + idle, limit - parts + below));
    }
    below += idle;
  }
  constexpr Int128 kLeast = std::numeric_limits<int64_t>::min();
  return static_cast<int64_t>(std::max(room, kLeast));
}

std::optional<std::vector<Limits::Shortage>> Limits::Shortages(QueueIndex queue, TenantIndex tenant,
                                                               const ShapeFacts& facts) const {
  if (CheckQuota(tenant, facts).has_value()) {
    return std::nullopt;
  }
  std::vector<Shortage> shortages;
  for (QueueIndex n = queue; n != kNoIndex; n = tree_.node(n).parent) {
    const ResourceLimits& capability = tree_.node(n).own;
    for (const ResourceIndex r : facts.requested) {
      if (facts.total[r] > capability[r]) {
        return std::nullopt;
      }
      if (!HasRoom(capability[r], charged_[n][r], facts.total[r])) {
        shortages.push_back(
            {n, r, SaturatingSub(SaturatingAdd(charged_[n][r], facts.total[r]), capability[r])});
      }
    }
  }
  if (shortages.empty() && CheckGuarantees(queue, facts).has_value()) {
    return std::nullopt;
  }
  return shortages;
}

std::optional<Block> Limits::CheckCluster(TenantIndex tenant, ClusterIndex cluster,
                                          const ShapeFacts& facts) const {
  const auto quota = quotas_[tenant].in.find(cluster);
  if (quota == quotas_[tenant].in.end()) {
    return std::nullopt;
  }
  const auto charged = tenants_[tenant].charged_in.find(cluster);
  for (const ResourceIndex r : facts.requested) {
    const int64_t used = charged == tenants_[tenant].charged_in.end() ? 0 : charged->second[r];
    if (!HasRoom(quota->second[r], used, facts.total[r])) {
      return Block{Verdict::kTenantQuota, kNoIndex, tenant,          cluster, r,
                   facts.total[r],        used,     quota->second[r]};
    }
  }
  return std::nullopt;
}

void Limits::CapRoom(TenantIndex tenant, ClusterIndex cluster, ResourceVector& room) const {
  const auto quota = quotas_[tenant].in.find(cluster);
  if (quota == quotas_[tenant].in.end()) {
    return;
  }
  const auto charged = tenants_[tenant].charged_in.find(cluster);
  for (ResourceIndex r = 0; r < quota->second.size(); ++r) {
    if (quota->second[r] != kUnlimited) {
      const int64_t used = charged == tenants_[tenant].charged_in.end() ? 0 : charged->second[r];
      room.Set(r, std::min(room[r], SaturatingSub(quota->second[r], used)));
    }
  }
}

void Limits::Commit(QueueIndex queue, TenantIndex tenant, ClusterIndex cluster,
                    const ShapeFacts& facts) {
  ++version_;
  Tenant& t = tenants_[tenant];
  t.charged.Add(facts.total);
  if (quotas_[tenant].in.contains(cluster)) {
    t.charged_in[cluster].Add(facts.total);
  }
  for (QueueIndex n = queue; n != kNoIndex; n = tree_.node(n).parent) {
    charged_[n].Add(facts.total);
    holds_[n].used.Add(facts.total);
  }
  for (const ResourceIndex r : facts.requested) {
    RaiseHold(queue, r, facts.total[r]);
  }
}

void Limits::RaiseHold(QueueIndex queue, ResourceIndex r, int64_t amount) {
  int64_t raise = amount;
  for (QueueIndex n = queue; n != kNoIndex && raise > 0; n = tree_.node(n).parent) {
    Hold& hold = holds_[n];
    hold.parts.Set(r, SaturatingAdd(hold.parts[r], raise));
    const int64_t raised = std::max(hold.parts[r], shares_[n].guarantee[r]);
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
