#include "test/sandbox/member_life_jobs.h"

#include <algorithm>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "test/sandbox/cluster_summary.h"
#include "test/sandbox/member_life_counts.h"
#include "test/sandbox/member_life_policy.h"
#include "test/sandbox/member_life_status.h"
#include "test/sandbox/object_rules.h"
#include "test/sandbox/served_kinds.h"

namespace caldera::sandbox {
namespace {

constexpr Millis kUnseenWrite{5'000};  // For so long a write counts that no watch has shown.
constexpr Millis kRetryAfter{500};

std::string PhaseOf(const Value& status) { return TextAt(status, {"state", "phase"}); }

}  // namespace

class JobLife::Impl : public std::enable_shared_from_this<JobLife::Impl> {
 public:
  Impl(Client& client, Views views)
      : client_(client), executor_(client.executor()), views_(views) {}

  void Stop() { stopped_ = true; }

  void OnJob(const ObjectKey& key) { Look(key); }

  void OnPod(const Value* before, const Value* after) {
    const Value& pod = after == nullptr ? *before : *after;
    const ObjectKey key = KeyOf(pod);
    const PodFacts facts = ReadPodFacts(pod);
    if (facts.job_uid.empty()) {
      return;
    }
    const ObjectKey job{key.ns, LabelOf(pod, "volcano.sh/job-name")};
    std::set<ObjectKey>& pods = pods_of_[facts.job_uid];
    if (after == nullptr) {
      pods.erase(key);
    } else {
      pods.insert(key);
    }
    const auto found = records_.find(job);
    if (found != records_.end() && found->second.uid == facts.job_uid) {
      found->second.creating.erase(key.name);
      Notice(job, found->second, before, after);
      if (after == nullptr) {
        found->second.doomed.erase(UidOf(pod));
      }
    }
    Look(job);
  }

  void OnPodGroup(const Value& pod_group) {
    for (const Value& owner : ListAt(pod_group, {"metadata", "ownerReferences"})) {
      Look({KeyOf(pod_group).ns, TextAt(owner, {"name"})});
    }
  }

  void Request(const ObjectKey& job, const JobAction& action) {
    const auto found = records_.find(job);
    if (found != records_.end()) {
      found->second.requests.push_back(action);
      Look(job);
    }
  }

  [[nodiscard]] const MemberJob* Find(const ObjectKey& key) const {
    const auto found = records_.find(key);
    return found == records_.end() || !found->second.job ? nullptr : &*found->second.job;
  }

  [[nodiscard]] const std::set<ObjectKey>& PodsOf(const std::string& job_uid) const {
    static const std::set<ObjectKey> kNone;
    const auto found = pods_of_.find(job_uid);
    return found == pods_of_.end() ? kNone : found->second;
  }

 private:
  struct Record {
    std::string uid;
    int64_t generation = -1;
    std::optional<MemberJob> job;
    Value status;
    Value written_status;
    bool writing = false;
    bool posted = false;
    std::deque<JobAction> requests;
    std::map<std::string, Time> creating;  ///< Pods asked for and not seen yet, by name.
    std::set<std::string> doomed;          ///< Uids of pods that were deleted by us.
    Time group_created;
    /// Delayed actions by pod name.
    std::map<std::string, Executor::TimerId> delayed;
  };

  void Look(const ObjectKey& key) {
    Record& record = records_[key];
    if (record.posted) {
      return;
    }
    record.posted = true;
    executor_.Post([self = shared_from_this(), key] {
      const auto found = self->records_.find(key);
      if (!self->stopped_ && found != self->records_.end()) {
        found->second.posted = false;
        self->Turn(key, found->second);
      }
    });
  }

  void Turn(const ObjectKey& key, Record& record) {
    const Value* const object = views_.jobs->Find(key);
    if (object == nullptr) {
      Forget(key, record);
      return;
    }
    if (!views_.pods->Synced() || !views_.pod_groups->Synced() || IsDeleting(*object)) {
      return;
    }
    Adopt(record, *object);
    if (!record.job) {
      return;
    }
    do {
      JobAction action;
      if (!record.requests.empty()) {
        action = record.requests.front();
        record.requests.pop_front();
      }
      Execute(record, action);
    } while (!record.requests.empty());
    WriteStatus(key, record);
  }

  void Forget(const ObjectKey& key, Record& record) {
    for (const auto& [pod, timer] : record.delayed) {
      executor_.Cancel(timer);
    }
    if (const auto pods = pods_of_.find(record.uid);
        pods != pods_of_.end() && pods->second.empty()) {
      pods_of_.erase(pods);
    }
    records_.erase(key);
  }

  void Adopt(Record& record, const Value& object) {
    const std::string uid = UidOf(object);
    if (record.uid != uid) {
      record = Record();
      record.uid = uid;
      const Value* const there = object.Find("status");
      record.status = there != nullptr && there->IsMap() ? *there : Value(Value::Map{});
      record.written_status = record.status;
    }
    const int64_t generation = NumberAt(object, {"metadata", "generation"});
    if (record.generation != generation) {
      record.generation = generation;
      record.job = ReadMemberJob(object, executor_.Now());
    }
  }

  // ---- steps

  void Execute(Record& record, const JobAction& action) {
    const std::string phase = PhaseOf(record.status);
    const JobStep step = StepFor(phase, action.action);
    JobStatusChange change;
    change.phase = phase.empty() ? "Pending" : phase;
    if (step.work == JobStep::Work::kSync) {
      change.synced = Sync(record, change.counts);
      if (!change.synced) {
        change.counts = {};
      }
    } else {
      change.killed = true;
      change.version_bumped = Kill(record, step, action.target, change.counts);
    }
    change.retried = step.retry;
    const int64_t retries =
        NumberAt(record.status, {"retryCount"}) + (step.retry ? int64_t{1} : int64_t{0});
    const MemberJob& job = *record.job;
    change.next =
        !step.next.empty()
            ? step.next
            : PhaseAfter(change.phase, job.shape, change.counts,
                         NumberAt(record.status, {"minAvailable"}, job.shape.min_available),
                         retries);
    record.status = NextJobStatus(record.status, job, change, executor_.Now());
    if (PhaseOf(record.status) != phase) {
      record.requests.emplace_back();  // A phase may lead on at once.
    }
  }

  const Value* GroupOf(const Record& record) const {
    return views_.pod_groups->Find({record.job->job.key.ns, PodGroupName(record.job->object)});
  }

  // False: its pods do not start yet, since its PodGroup is not admitted.
  bool Sync(Record& record, JobCounts& counts) {
    EnsureGroup(record);
    const Value* const group = GroupOf(record);
    const std::string group_phase = group == nullptr ? "" : TextAt(*group, {"status", "phase"});
    counts = Count(record);
    if (group_phase.empty() || group_phase == "Pending") {
      return false;
    }
    const MemberJob& job = *record.job;
    std::set<ObjectKey> surplus = PodsOf(record.uid);
    for (size_t task = 0; task < job.job.tasks.size(); ++task) {
      const Task& wanted = job.job.tasks[task];
      const bool may_start = DependenciesMet(job, task, counts);
      for (int64_t index = 0; index < wanted.replicas; ++index) {
        const ObjectKey pod{job.job.key.ns, PodName(job.job.key.name, wanted.name, index)};
        if (surplus.erase(pod) == 0 && may_start) {
          CreatePod(record, task, index, pod);
        }
      }
    }
    for (const ObjectKey& pod : surplus) {
      Doom(record, pod);
    }
    return true;
  }

  JobCounts Count(const Record& record) const {
    return CountPods(*views_.pods, PodsOf(record.uid), record.doomed);
  }

  void EnsureGroup(Record& record) {
    const Value* const group = GroupOf(record);
    Value wanted = MakePodGroup(*record.job);
    const ObjectKey key = KeyOf(wanted);
    if (group == nullptr) {
      if (record.group_created + kUnseenWrite > executor_.Now()) {
        return;
      }
      record.group_created = executor_.Now();
      client_.Create(
          PodGroups(), key.ns, wanted,
          [self = shared_from_this(), job = record.job->job.key](const Result<Value>& created) {
            if (!created && created.error().code != ErrorCode::kConflict) {
              self->LookLater({job.ns, job.name});
            }
          });
      return;
    }
    record.group_created = Time();
    if (auto change = MergeDiff(*group->Find("spec"), *wanted.Find("spec"))) {
      client_.Patch({&PodGroups(), key.ns, key.name}, PatchKind::kMerge,
                    MakeMap({{"spec", *std::move(change)}}), "", [](const Result<Value>&) {});
    }
  }

  void CreatePod(Record& record, size_t task, int64_t index, const ObjectKey& key) {
    Time& asked = record.creating[key.name];
    if (asked + kUnseenWrite > executor_.Now()) {
      return;
    }
    asked = executor_.Now();
    client_.Create(resource::Pods(), key.ns, MakePod(*record.job, task, index, record.status),
                   [self = shared_from_this(), job = record.job->job.key,
                    pod = key.name](const Result<Value>& created) {
                     const auto found = self->records_.find({job.ns, job.name});
                     if (!created && found != self->records_.end()) {
                       found->second.creating.erase(pod);
                       self->LookLater({job.ns, job.name});
                     }
                   });
  }

  // Whether the version goes up: a whole Job was killed.
  bool Kill(Record& record, const JobStep& step, const PodTarget& target, JobCounts& counts) {
    const bool whole = step.work == JobStep::Work::kKillJob;
    const bool last = NumberAt(record.status, {"retryCount"}) >= record.job->shape.max_retry - 1;
    bool acted = !step.next.empty();
    for (const ObjectKey& key : PodsOf(record.uid)) {
      const Value* const pod = views_.pods->Find(key);
      if (pod == nullptr || (!whole && !InTarget(*pod, target))) {
        continue;
      }
      if (IsDeleting(*pod) || record.doomed.contains(UidOf(*pod))) {
        ++counts.terminating;
      } else if (!whole || !HasEnded(*pod) || (!step.keep_ended && !last)) {
        Doom(record, key);
        ++counts.terminating;
        acted = true;
      }
    }
    if (!whole) {
      return false;
    }
    if (const Value* const group = GroupOf(record); group != nullptr && !IsDeleting(*group)) {
      record.group_created = Time();
      client_.Delete({&PodGroups(), KeyOf(*group).ns, KeyOf(*group).name}, {UidOf(*group), "", ""},
                     [](const Status&) {});
      acted = true;
    }
    return acted;
  }

  void Doom(Record& record, const ObjectKey& key) {
    const Value* const pod = views_.pods->Find(key);
    if (pod == nullptr || IsDeleting(*pod) || !record.doomed.insert(UidOf(*pod)).second) {
      return;
    }
    client_.Delete({&resource::Pods(), key.ns, key.name}, {UidOf(*pod), "", "Background"},
                   [self = shared_from_this(), job = record.job->job.key,
                    uid = UidOf(*pod)](const Status& deleted) {
                     const auto found = self->records_.find({job.ns, job.name});
                     if (!deleted && deleted.error().code == ErrorCode::kUnavailable &&
                         found != self->records_.end()) {
                       found->second.doomed.erase(uid);
                       self->LookLater({job.ns, job.name});
                     }
                   });
  }

  // ---- events

  void Notice(const ObjectKey& job, Record& record, const Value* before, const Value* after) {
    const Value& pod = after == nullptr ? *before : *after;
    if (!record.job || ReadPodFacts(pod).version < NumberAt(record.status, {"version"})) {
      return;  // Of before the last restart.
    }
    PodEvent event = ReadPodEvent(before, after);
    if (event.event == "PodEvicted" && record.doomed.contains(UidOf(pod))) {
      return;
    }
    if (event.event == "PodRunning") {
      CancelDelayed(record, event.pod);
      event.event = "TaskFailed";
    } else if (event.event == "PodSucceeded") {
      event.event = "TaskCompleted";
    }
    const auto found = FindPolicy(record.job->object, event);
    if (event.event.empty() || !found || !Happened(record, event)) {
      return;
    }
    Obey(job, record, event, *found);
  }

  // What is said of a task depends on all its pods: looked at only where a policy asks.
  [[nodiscard]] bool Happened(const Record& record, const PodEvent& event) const {
    if (event.event != "TaskCompleted" && event.event != "TaskFailed") {
      return true;
    }
    const Value::List& tasks = ListAt(record.job->object, {"spec", "tasks"});
    const auto task = std::find_if(tasks.begin(), tasks.end(), [&](const Value& known) {
      return TextAt(known, {"name"}) == event.task;
    });
    if (task == tasks.end()) {
      return false;
    }
    if (event.event == "TaskCompleted") {
      JobCounts counts = Count(record);
      return counts.by_task[event.task]["Succeeded"] >= NumberAt(*task, {"replicas"});
    }
    const int64_t limit = NumberAt(*task, {"maxRetry"}, 3);
    return limit >= 0 && CountRestarts(*views_.pods, PodsOf(record.uid), event.task) >=
                             std::max<int64_t>(limit, 1);
  }

  void Obey(const ObjectKey& job, Record& record, const PodEvent& event,
            const PolicyAction& found) {
    if (found.timeout <= Millis(0)) {
      record.requests.push_back(found.action);
      return;
    }
    if (record.delayed.contains(event.pod)) {
      return;
    }
    record.delayed[event.pod] = executor_.PostAfter(
        found.timeout,
        [self = shared_from_this(), job, uid = record.uid, pod = event.pod, action = found.action] {
          const auto there = self->records_.find(job);
          if (!self->stopped_ && there != self->records_.end() && there->second.uid == uid) {
            there->second.delayed.erase(pod);
            self->Request(job, action);
          }
        });
  }

  void CancelDelayed(Record& record, const std::string& pod) {
    if (const auto found = record.delayed.find(pod); found != record.delayed.end()) {
      executor_.Cancel(found->second);
      record.delayed.erase(found);
    }
  }

  // ---- status

  void WriteStatus(const ObjectKey& key, Record& record) {
    const std::optional<Value> change = MergeDiff(record.written_status, record.status);
    if (record.writing || !change) {
      return;
    }
    record.writing = true;
    client_.Patch(
        {&resource::Jobs(), key.ns, key.name}, PatchKind::kMerge,
        MakeMap({{"metadata", MakeMap({{"uid", record.uid}})}, {"status", *change}}), "status",
        [self = shared_from_this(), key, uid = record.uid,
         tried = record.status](const Result<Value>& written) {
          const auto found = self->records_.find(key);
          if (self->stopped_ || found == self->records_.end() || found->second.uid != uid) {
            return;
          }
          found->second.writing = false;
          if (written) {
            found->second.written_status = tried;
            self->WriteStatus(key, found->second);
          } else if (written.error().code == ErrorCode::kUnavailable) {
            self->LookLater(key);
          }
        });
  }

  void LookLater(const ObjectKey& key) {
    executor_.PostAfter(kRetryAfter, [self = shared_from_this(), key] {
      if (!self->stopped_) {
        self->Look(key);
      }
    });
  }

  Client& client_;
  Executor& executor_;
  const Views views_;
  bool stopped_ = false;
  std::map<ObjectKey, Record> records_;
  std::map<std::string, std::set<ObjectKey>> pods_of_;  ///< By job uid.
};

JobLife::JobLife(Client& client, Views views) : impl_(std::make_shared<Impl>(client, views)) {}
JobLife::~JobLife() { impl_->Stop(); }
void JobLife::OnJob(const ObjectKey& key) { impl_->OnJob(key); }
void JobLife::OnPod(const Value* before, const Value* after) { impl_->OnPod(before, after); }
void JobLife::OnPodGroup(const Value& pod_group) { impl_->OnPodGroup(pod_group); }
void JobLife::Request(const ObjectKey& job, const JobAction& action) {
  impl_->Request(job, action);
}
const MemberJob* JobLife::Find(const ObjectKey& key) const { return impl_->Find(key); }
const std::set<ObjectKey>& JobLife::PodsOf(const std::string& job_uid) const {
  return impl_->PodsOf(job_uid);
}

}  // namespace caldera::sandbox
