// The life of the Works of all clusters: one Work at a time is brought into its member, again after
// an error, and its status is written when it changes. Used by the work executor. One thread (the
// executor's).
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "controller/kube/client.h"
#include "test/sandbox/mirror.h"
#include "test/sandbox/work_member.h"

namespace caldera::sandbox {

struct WorkSyncOptions {
  Millis first_retry{200};
  Millis longest_retry{15'000};
};

class WorkSync {
 public:
  /// The member of a cluster; nullptr: there is none here, its Works are left alone.
  using MemberFinder = std::function<WorkMember*(const std::string& cluster)>;

  /// `client` and `works` must outlive this.
  WorkSync(Client& client, const Mirror& works, MemberFinder find_member, WorkSyncOptions options);
  WorkSync(const WorkSync&) = delete;
  WorkSync& operator=(const WorkSync&) = delete;
  ~WorkSync();

  /// Looks at the Work soon; while it is being looked at, once more afterwards.
  void Look(const ObjectKey& work);
  /// Looks at every Work of a cluster, whatever backoff it is in.
  void LookAtCluster(const std::string& cluster);
  /// A member's object that names a Work is as it is; null: it is gone.
  void Report(const Value* before, const Value* after);

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace caldera::sandbox
