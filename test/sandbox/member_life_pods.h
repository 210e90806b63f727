// The kubelets of a member: a pod that is bound runs, ends after its time, and goes when it is
// deleted. How long and how: annotations on the pod, its template or its Job:
//   sandbox.caldera.sh/duration: 5s      how long each run takes; absent: what the options say
//   sandbox.caldera.sh/exit-code: "3"    each run ends with it; absent: 0
//   sandbox.caldera.sh/fail-index: "1"   of the pods of a task only that one fails
//   sandbox.caldera.sh/fail-times: "2"   only so many runs fail (restarts of a container, or of the
//                                        Job, count), the next one succeeds
//   sandbox.caldera.sh/termination: 2s   from its deletion until it is gone; absent: at once
// A container that fails is started again where restartPolicy says so. One thread (the executor's).
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "controller/kube/client.h"
#include "test/sandbox/tree.h"

namespace caldera::sandbox {

class PodLife {
 public:
  /// `client` must outlive this. `duration` is that of pods that say none; nullopt: they run until
  /// they are deleted.
  PodLife(Client& client, std::optional<Millis> duration);
  PodLife(const PodLife&) = delete;
  PodLife& operator=(const PodLife&) = delete;
  ~PodLife();

  /// The pod is as it is; null: it is gone.
  void OnPod(const ObjectKey& key, const Value* pod);

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace caldera::sandbox
