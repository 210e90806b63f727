// The job controller of a member: PodGroup, pods, phases, policies and status of each Job, as
// Volcano's does it. Level-triggered: a look compares what is there with what should be, and
// writes. Left out: what plugins and volumes add to pods. One thread (the executor's).
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>

#include "controller/kube/client.h"
#include "test/sandbox/member_life_objects.h"
#include "test/sandbox/mirror.h"

namespace caldera::sandbox {

class JobLife {
 public:
  struct Views {
    const Mirror* jobs = nullptr;
    const Mirror* pods = nullptr;
    const Mirror* pod_groups = nullptr;
  };

  /// `client` and `views` must outlive this.
  JobLife(Client& client, Views views);
  JobLife(const JobLife&) = delete;
  JobLife& operator=(const JobLife&) = delete;
  ~JobLife();

  void OnJob(const ObjectKey& key);
  void OnPod(const Value* before, const Value* after);
  void OnPodGroup(const Value& pod_group);
  /// What a Command asks for.
  void Request(const ObjectKey& job, const JobAction& action);

  /// nullptr: there is no such Job (or it cannot be read).
  [[nodiscard]] const MemberJob* Find(const ObjectKey& key) const;
  /// Pods of a Job by their keys.
  [[nodiscard]] const std::set<ObjectKey>& PodsOf(const std::string& job_uid) const;

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace caldera::sandbox
