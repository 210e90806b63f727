// Folds the Changes of queues and tenant quotas into their tables, inside the caller's transaction.
#pragma once

#include "federation/change.h"
#include "storage/database.h"

namespace caldera {

class ObjectFold {
 public:
  static Result<ObjectFold> Open(Database& database);

  /// Changes of other kinds are none of its business.
  Status Apply(const Change& change, Time now);

 private:
  ObjectFold() = default;
  Status On(const QueueUpsert& change, Time now);
  Status On(const QueueDelete& change, Time now);
  Status On(const TenantQuotaUpsert& change, Time now);
  Status On(const TenantQuotaDelete& change, Time now);
  Status PutLimits(const TenantQuota& quota, const std::string& cluster,
                   const ResourceList& limits);

  struct Statements;
  struct Deleter {
    void operator()(Statements* statements) const;
  };
  std::unique_ptr<Statements, Deleter> sql_;
};

}  // namespace caldera
