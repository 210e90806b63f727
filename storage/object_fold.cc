#include "storage/object_fold.h"

#include <type_traits>
#include <variant>

#include "federation/queue_state.h"
#include "storage/json_text.h"

namespace caldera {

struct ObjectFold::Statements {
  Statement put_queue;
  Statement drop_queue;
  Statement put_tenant;
  Statement drop_tenant;
  Statement clear_limits;
  Statement put_limit;
};

void ObjectFold::Deleter::operator()(Statements* statements) const { delete statements; }

Result<ObjectFold> ObjectFold::Open(Database& database) {
  CALDERA_TRY(
      Statement put_queue,
      database.Prepare("INSERT OR REPLACE INTO queues(name, uid, parent, weight, priority, state, "
                       "reclaimable, dequeue_strategy, capability, guarantee, deserved, created, "
                       "updated) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)"));
  CALDERA_TRY(Statement drop_queue, database.Prepare("UPDATE queues SET gone = ?2, updated = ?2 "
                                                     "WHERE name = ?1 AND gone IS NULL"));
  CALDERA_TRY(Statement put_tenant,
              database.Prepare("INSERT INTO tenants(tenant, quota, weight, updated) "
                               "VALUES (?1, ?2, ?3, ?4) "
                               "ON CONFLICT DO UPDATE SET weight = ?3, updated = ?4"));
  CALDERA_TRY(Statement drop_tenant,
              database.Prepare("DELETE FROM tenants WHERE tenant = ?1 AND quota = ?2"));
  CALDERA_TRY(Statement clear_limits,
              database.Prepare("DELETE FROM tenant_limits WHERE tenant = ?1 AND quota = ?2"));
  CALDERA_TRY(
      Statement put_limit,
      database.Prepare("INSERT INTO tenant_limits(tenant, quota, cluster, resource, amount) "
                       "VALUES (?1, ?2, ?3, ?4, ?5)"));
  ObjectFold fold;
  fold.sql_.reset(new Statements{std::move(put_queue), std::move(drop_queue), std::move(put_tenant),
                                 std::move(drop_tenant), std::move(clear_limits),
                                 std::move(put_limit)});
  return fold;
}

Status ObjectFold::Apply(const Change& change, Time now) {
  return std::visit(
      [this, now](const auto& fields) -> Status {
        using Fields = std::decay_t<decltype(fields)>;
        if constexpr (std::is_same_v<Fields, QueueUpsert> || std::is_same_v<Fields, QueueDelete> ||
                      std::is_same_v<Fields, TenantQuotaUpsert> ||
                      std::is_same_v<Fields, TenantQuotaDelete>) {
          return On(fields, now);
        } else {
          return {};
        }
      },
      change);
}

Status ObjectFold::On(const QueueUpsert& change, Time now) {
  const Queue& queue = change.queue;
  return sql_->put_queue.Run(queue.name, queue.uid, queue.parent, queue.weight, queue.priority,
                             QueueStateName(queue.state), queue.reclaimable,
                             queue.dequeue_strategy == DequeueStrategy::kFifo ? "fifo" : "traverse",
                             AmountsText(queue.capability), AmountsText(queue.guarantee),
                             AmountsText(queue.deserved), queue.creation.time_since_epoch().count(),
                             now.time_since_epoch().count());
}

Status ObjectFold::On(const QueueDelete& change, Time now) {
  return sql_->drop_queue.Run(change.name, now.time_since_epoch().count());
}

Status ObjectFold::On(const TenantQuotaUpsert& change, Time now) {
  const TenantQuota& quota = change.quota;
  CALDERA_CHECK(
      sql_->put_tenant.Run(quota.tenant, quota.name, quota.weight, now.time_since_epoch().count()));
  CALDERA_CHECK(sql_->clear_limits.Run(quota.tenant, quota.name));
  CALDERA_CHECK(PutLimits(quota, "", quota.overall));
  for (const auto& [cluster, limits] : quota.per_cluster) {
    CALDERA_CHECK(PutLimits(quota, cluster, limits));
  }
  return {};
}

Status ObjectFold::On(const TenantQuotaDelete& change, Time /*now*/) {
  return sql_->drop_tenant.Run(change.tenant, change.name);
}

Status ObjectFold::PutLimits(const TenantQuota& quota, const std::string& cluster,
                             const ResourceList& limits) {
  for (const auto& [resource, amount] : limits) {
    CALDERA_CHECK(sql_->put_limit.Run(quota.tenant, quota.name, cluster, resource, amount));
  }
  return {};
}

}  // namespace caldera
