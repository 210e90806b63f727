// Does with Works and Clusters what Karmada's controllers do, as a client of the Kubernetes API:
// manifests are created, updated and deleted in the members, what runs there is reported back,
// namespaces appear everywhere, Clusters show whether their member answers and what it has. For the
// sandbox and for real API servers without Karmada. Source of the contract: Karmada 1.19,
// pkg/controllers/{execution,status,namespace,cluster}, as measured against it; each line of it is
// a test (work_executor_test.cc). Left out: overrides, Pull members, unjoining, resourceModels,
// Events. One thread (the executor's).
#pragma once

#include <memory>
#include <string>

#include "controller/kube/client.h"
#include "controller/kube/executor.h"
#include "test/sandbox/work_member.h"

namespace caldera::sandbox {

struct WorkExecutorOptions {
  MemberOptions members;
  /// Of a Work that could not be applied or deleted: doubled each time.
  Millis first_retry{200};
  Millis longest_retry{15'000};
};

class WorkExecutor {
 public:
  /// `karmada` and `executor` must outlive this.
  WorkExecutor(HttpTransport& karmada, Executor& executor, WorkExecutorOptions options);
  WorkExecutor(const WorkExecutor&) = delete;
  WorkExecutor& operator=(const WorkExecutor&) = delete;
  ~WorkExecutor();

  /// The API of the member behind the Cluster `cluster`; it must outlive this. Before Start.
  void AddMember(const std::string& cluster, HttpTransport& member);
  void Start();

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;  // Shared with callbacks in flight, which find it stopped.
};

}  // namespace caldera::sandbox
