// From objects as the API servers show them to Changes for State. Pure steps without I/O: what the
// reflectors report goes in, Changes and the jobs that the dispatcher should look at come out. It
// also keeps what an object alone does not say: what our Works report of a job, which Commands were
// obeyed, when what a job held may be given back. One thread (the executor's).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "controller/run/work_view.h"
#include "federation/change.h"
#include "federation/document.h"
#include "federation/state.h"

namespace caldera {

struct ObserverOptions {
  /// Namespaces and queues that opted in; empty: all.
  std::set<std::string> namespaces;
  std::set<std::string> queues;
  /// Ready is believed after it has stood for so long, both ways (on top of Karmada's own delay).
  Millis ready_debounce{10'000};
  /// On top of the longest grace period, from a Work's end to the release of what it was charged.
  Millis release_margin{10'000};
};

/// An object that was refused (or a Command that was: then the object is the Command's target):
/// shown as an Event on it and counted. Said once, and again when the message changes. An object of
/// a member is named `<cluster>/<name>`.
struct RefusedObject {
  std::string kind;
  std::string ns;
  std::string name;
  std::string uid;
  std::string message;
};

/// A Command that was taken into State (or refused) and is to be deleted at the API, by uid, once
/// it is recorded. One that is seen again, since it was not deleted, is handed out again.
struct ObeyedCommand {
  std::string ns;
  std::string name;
  std::string uid;
};

/// A Job as it is in a member.
struct MemberJob {
  std::string cluster;
  JobKey key;
};

/// A question to a member: is any pod of that Job left? Its Work is gone, and so are the pods of it
/// that were seen. Only an answer to a request that was made after the check was handed out counts.
struct PodCheck {
  std::string job_uid;  ///< Of the parent.
  uint64_t number = 0;  ///< Which leaving shard of it is meant.
  MemberJob job;
};

/// A charged job that one of its clusters could not take (its backoff was set after it was placed
/// there): like one that is suspended it is to have no Works, until it was released and is placed
/// anew.
bool IsRecalled(const JobEntry& job);

class Observer {
 public:
  /// `state` is the cycle's State (what is recorded), read only; it must outlive this.
  Observer(const State& state, ObserverOptions options);

  // What reflectors report. `now` is the time of the step.
  /// Queue, Job, HyperJob, PriorityClass, FederatedResourceQuota, Cluster, Namespace; apiVersion
  /// and kind must be in it. Delete also takes `Command` and `Work`.
  void Upsert(Value&& object, Time now);
  void Delete(const std::string& kind, const std::string& ns, const std::string& name,
              const std::string& uid, Time now);
  /// Node, Pod, HyperNode of a member. A cluster whose members are no longer watched is forgotten.
  void UpsertMember(const std::string& cluster, Value&& object, Time now);
  void DeleteMember(const std::string& cluster, const std::string& kind, const std::string& ns,
                    const std::string& name);
  void ForgetMembers(const std::string& cluster);
  void UpsertWork(const Value& work, Time now);
  void DeleteWork(const std::string& ns, const std::string& name, const std::string& uid, Time now);
  void UpsertCommand(const Value& command, Time now);

  /// What the dispatcher learnt: references that are not there (empty: all are), a cluster that
  /// cannot take the job until `until`.
  void SetMissingReferences(const std::string& job_uid, std::vector<std::string> missing, Time now);
  /// Of what the job is charged for no Work was sent, nor will be: once it is recalled it is given
  /// back without the margin for one that may be on its way. What an earlier process may have sent
  /// is waited for all the same.
  void SetNothingSent(const std::string& job_uid);
  /// Replaces an earlier one for the same cluster.
  void SetBackoff(const std::string& job_uid, ClusterBackoff backoff, Time now);

  /// Once everything is listed for the first time: the Changes that bring State up to what is
  /// there.
  std::vector<Change> TakeRelist(Time now);
  /// Afterwards: the Changes since the last call, ClockSet first; empty where nothing changed. They
  /// must be applied to the State before the next call of anything here.
  std::vector<Change> TakeChanges(Time now);
  /// Jobs whose Works, parent or status may need a write.
  std::set<std::string> TakeDirtyJobs();  ///< By uid.
  /// Works that carry something else than a shard and were shown or went; by namespace and name.
  std::set<std::pair<std::string, std::string>> TakeDirtyCarriers();
  /// Queues whose status may need a write, by name.
  std::set<std::string> TakeDirtyQueues();
  std::vector<RefusedObject> TakeRefused();
  /// The Queues that are refused as they are now, with why.
  [[nodiscard]] std::map<std::string, std::string> RefusedQueues() const;
  std::vector<ObeyedCommand> TakeObeyed();
  /// When TakeChanges should be called even if nothing is reported (a debounce ends, a charge may
  /// be given back); a zero Time: never.
  [[nodiscard]] Time NextDue() const;

  /// Members to be asked, now that the Changes taken last are in State; each is handed out once
  /// until it is answered.
  std::vector<PodCheck> TakePodChecks(Time now);
  /// `gone`: the member has no pod of that Job, finished ones included. False too where it could
  /// not be asked: the check is handed out again a little later.
  void AnswerPodCheck(const PodCheck& check, bool gone, Time now);

  // What is known of a job and of its Works, for the dispatcher.
  /// The parent, while it is there; nullptr: it is gone (or was never there, or did not opt in),
  /// and so must be its Works.
  [[nodiscard]] const JobView* FindJob(const std::string& uid) const;
  /// Every job that has a parent, a Work or a charge, by uid.
  [[nodiscard]] std::vector<std::string> JobUids() const;
  /// The Works of its shards, in the order of their namespaces.
  [[nodiscard]] std::vector<const WorkView*> WorksOf(const std::string& job_uid) const;
  /// Works of ours that carry what jobs refer to, or a member's Queue; by namespace and name.
  [[nodiscard]] const std::map<std::pair<std::string, std::string>, WorkView>& OtherWorks() const;
  /// nullptr: there is no such object (`root` and `default` may exist without one).
  [[nodiscard]] const QueueView* FindQueue(const std::string& name) const;

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace caldera
