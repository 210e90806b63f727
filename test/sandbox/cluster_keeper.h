// Keeps the Cluster objects true: condition Ready and its taint, what the member has, and the
// execution namespace of each. Used by the work executor. One thread (the executor's).
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "controller/kube/client.h"
#include "test/sandbox/mirror.h"
#include "test/sandbox/work_member.h"

namespace caldera::sandbox {

class ClusterKeeper {
 public:
  /// `client` must outlive this.
  explicit ClusterKeeper(Client& client);
  ClusterKeeper(const ClusterKeeper&) = delete;
  ClusterKeeper& operator=(const ClusterKeeper&) = delete;
  ~ClusterKeeper();

  /// Brings the Cluster (as a mirror has it) up to what `member` is like. Writes only changes, one
  /// at a time; what came meanwhile is written with the next call.
  void Keep(const Value& cluster, const WorkMember& member);
  /// Creates `karmada-es-<cluster>` where it is missing.
  void EnsureNamespace(const std::string& cluster);

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace caldera::sandbox
