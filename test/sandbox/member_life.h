// Runs Jobs in a member cluster as Volcano and its kubelets would, as a client of the Kubernetes
// API: PodGroups are admitted, pods created, placed as gangs, run for their time and end; phases,
// policies, Commands and Queues follow. For the sandbox and for real API servers without Volcano.
// Contract: DESIGN and volcano's own controllers, as member_life_test.cc has it line by line. Left
// out: preemption and reclaim, what plugins add to pods, PersistentVolumeClaims, shares between
// member queues. One thread (the executor's).
#pragma once

#include <memory>
#include <optional>

#include "controller/kube/client.h"
#include "test/sandbox/api_server.h"

namespace caldera::sandbox {

struct MemberLifeOptions {
  /// How long pods run that do not say (member_life_pods.h); nullopt: until they are deleted.
  std::optional<Millis> duration;
  /// Off: somebody else (kwok) writes the status of bound pods and removes deleted ones.
  bool kubelets = true;
  /// From a change until the scheduler looks, so that it sees changes together.
  Millis schedule_after{20};
};

class MemberLife {
 public:
  /// `member` and `executor` must outlive this.
  MemberLife(HttpTransport& member, Executor& executor, MemberLifeOptions options);
  MemberLife(const MemberLife&) = delete;
  MemberLife& operator=(const MemberLife&) = delete;
  ~MemberLife();

  void Start();

  /// What Volcano's admission webhooks would do at the member's ApiServer: Jobs get their defaults
  /// and are refused where Volcano would, for want of an Open queue too; an update may change the
  /// few fields that Volcano lets it. It must not be called when this is gone.
  [[nodiscard]] ApiServer::Admission Admission() const;

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace caldera::sandbox
