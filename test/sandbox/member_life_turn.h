// One look of the member's scheduler at everything: which PodGroups are admitted, which pods go
// where, and what PodGroups and Queues say of it. Reads the mirrors, writes nothing. Source:
// volcano pkg/scheduler (actions enqueue and allocate, gang, proportion's capability). One thread.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "test/sandbox/member_life_jobs.h"
#include "test/sandbox/member_life_queues.h"
#include "test/sandbox/member_life_scheduler.h"

namespace caldera::sandbox {

struct MemberViews {
  const Mirror* queues = nullptr;
  const Mirror* nodes = nullptr;
  const Mirror* hyper_nodes = nullptr;
  const Mirror* priorities = nullptr;
  const Mirror* jobs = nullptr;
  const Mirror* pod_groups = nullptr;
  const Mirror* pods = nullptr;
};

class MemberTurn {
 public:
  using Assumed = std::map<ObjectKey, std::string>;  ///< Nodes by pod.

  /// All must outlive this.
  MemberTurn(const MemberViews& views, const JobLife& jobs, const Assumed& assumed, Time now);

  /// Once: what to bind.
  std::vector<Binding> Decide();
  /// Afterwards: the statuses as they should be.
  [[nodiscard]] const std::map<ObjectKey, Value>& group_statuses() const { return group_statuses_; }
  [[nodiscard]] const std::map<std::string, QueueLoad>& queue_statuses() const {
    return queue_loads_;
  }

 private:
  /// A Job with a PodGroup.
  struct Entry {
    ObjectKey group;
    const MemberJob* job = nullptr;
    std::string phase;
    int64_t priority = 0;
    Gang gang;
    int64_t running = 0;
    int64_t succeeded = 0;
    int64_t failed = 0;
    bool short_of_room = false;
  };

  void ReadNodes();
  void ReadPods();
  void ReadQueues();
  void ReadJobs();
  void ReadGang(Entry& entry) const;
  [[nodiscard]] int64_t PriorityOf(const MemberJob& job) const;
  [[nodiscard]] std::string NodeOf(const ObjectKey& key, const Value& pod) const;
  bool Admit(const Entry& entry);
  void Report(const Entry& entry);

  const MemberViews views_;
  const JobLife& jobs_;
  const Assumed& assumed_;
  const Time now_;
  std::map<std::string, NodeRoom> rooms_;
  ResourceList total_;
  ResourceList used_;
  ResourceList inqueue_;  ///< What admitted gangs may still take.
  std::map<std::string, QueueRoom> queues_;
  std::map<std::string, ResourceList> queue_inqueue_;
  std::vector<Entry> entries_;
  std::map<ObjectKey, Value> group_statuses_;
  std::map<std::string, QueueLoad> queue_loads_;
};

}  // namespace caldera::sandbox
