#include "controller/run/observer.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "controller/run/observer_intake.h"
#include "controller/run/observer_jobs.h"
#include "controller/run/observer_objects.h"
#include "federation/excerpt.h"
#include "federation/intake.h"
#include "federation/relist.h"
#include "federation/value_at.h"

namespace caldera {
namespace {

/// A Command may be seen before its target, since each kind has a watch of its own.
constexpr Millis kTargetWait{30'000};

bool IsJobKind(const std::string& kind) { return kind == "Job" || kind == "HyperJob"; }

JobKind JobKindOf(const std::string& kind) {
  return kind == "HyperJob" ? JobKind::kHyperJob : JobKind::kJob;
}

}  // namespace

class Observer::Impl {
 public:
  Impl(const State& state, ObserverOptions options)
      : state_(state),
        options_(std::move(options)),
        jobs_(state, options_),
        objects_(state, options_) {}

  void Upsert(Value&& object, Time now) {
    RefusedObject who = WhoIs(object);
    if (who.name.empty() || who.uid.empty()) {
      Refuse(std::move(who), "has no name or no uid");
      return;
    }
    if (IsJobKind(who.kind)) {
      std::optional<std::string> refused = jobs_.Upsert(std::move(object), now);
      Settle(std::move(who), std::move(refused));
      return;
    }
    const auto key = KeyOfObject(who.kind, who.ns, who.name);
    if (!key.has_value()) {
      Refuse(std::move(who), "is of a kind that Caldera does not read");
      return;
    }
    if (who.kind == "Queue") {
      objects_.See(ReadQueueView(object));
    }
    Taken taken = TakeStored(std::move(object), now);
    if (taken.change.has_value()) {
      objects_.Upsert(*std::move(taken.change), now);
      Settle(std::move(who), std::nullopt);
    } else {
      objects_.Refuse(*key, now);
      Settle(std::move(who), std::move(taken.message));
    }
  }

  void Delete(const std::string& kind, const std::string& ns, const std::string& name,
              const std::string& uid, Time now) {
    refusals_.erase({kind, ns, name});
    if (kind == "Work") {
      jobs_.DeleteWork(ns, name, uid, now);
    } else if (kind == "Command") {
      seen_commands_.erase(uid);
      std::erase_if(commands_, [&](const Waiting& each) { return each.command.uid == uid; });
    } else if (IsJobKind(kind)) {
      jobs_.Delete({ns, name}, JobKindOf(kind), uid);
    } else if (const auto key = KeyOfObject(kind, ns, name); key.has_value()) {
      if (kind == "Queue") {
        objects_.ForgetQueue(name);
      }
      objects_.Delete(*key);
    }
  }

  void UpsertMember(const std::string& cluster, Value&& object, Time now) {
    SetCluster(object, cluster);
    RefusedObject who = WhoIs(object);
    const auto key = MemberKeyOf(cluster, who.kind, who.ns, who.name);
    who.name = cluster + "/" + who.name;
    if (!key.has_value()) {
      Refuse(std::move(who), "is of a kind that Caldera does not read in a member");
      return;
    }
    Taken taken = TakeStored(std::move(object), now);
    if (!taken.change.has_value()) {
      objects_.Refuse(*key, now);
      Settle(std::move(who), std::move(taken.message));
      return;
    }
    const auto* const pod = std::get_if<PodUpsert>(&*taken.change);
    if (pod != nullptr && !IsNeeded(pod->pod)) {
      objects_.Delete(*key);
    } else {
      objects_.Upsert(*std::move(taken.change), now);
    }
    Settle(std::move(who), std::nullopt);
  }

  void DeleteMember(const std::string& cluster, const std::string& kind, const std::string& ns,
                    const std::string& name) {
    refusals_.erase({kind, ns, cluster + "/" + name});
    if (const auto key = MemberKeyOf(cluster, kind, ns, name); key.has_value()) {
      objects_.Delete(*key);
    }
  }

  void UpsertWork(const Value& object, Time now) {
    Result<WorkView> work = ReadWork(object);
    RefusedObject who = WhoIs(object);
    who.kind = "Work";
    if (work.has_value()) {
      jobs_.UpsertWork(*std::move(work), now);
      Settle(std::move(who), std::nullopt);
    } else if (TextAt(object, {"metadata", "labels", "app.kubernetes.io/managed-by"}) ==
               "caldera") {
      // What was known of it stays: what it holds is not given back for a slip.
      jobs_.SpoilWork(who.ns, who.name);
      Settle(std::move(who), std::move(work).error().message);
    }
  }

  void UpsertCommand(const Value& object, Time now) {
    const Result<CommandView> command = ReadCommand(object);
    if (!command.has_value()) {
      RefusedObject who = WhoIs(object);
      who.kind = "Command";
      if (!who.name.empty() && !who.uid.empty()) {
        obeyed_.push_back({who.ns, who.name, who.uid});
      }
      Refuse(std::move(who), command.error().message);
      return;
    }
    if (const auto [it, added] = seen_commands_.emplace(command->uid, false); !added) {
      if (it->second) {  // Done, yet still there.
        obeyed_.push_back({command->ns, command->name, command->uid});
      }
      return;
    }
    commands_.push_back({*command, now + kTargetWait, false});
    std::sort(commands_.begin(), commands_.end(),
              [](const Waiting& a, const Waiting& b) { return Earlier(a.command, b.command); });
  }

  std::vector<Change> TakeRelist(Time now) {
    ObeyAll(now);
    std::vector<Change> observed;
    objects_.List(now, observed);
    jobs_.List(now, observed);
    TakeDoubts();
    CheckCycles(observed);
    listed_ = true;
    after_list_ = true;
    return Relist(state_, now, observed);
  }

  std::vector<Change> TakeChanges(Time now) {
    if (!listed_) {
      return {};
    }
    if (std::exchange(after_list_, false)) {
      jobs_.AfterList();
    }
    ObeyAll(now);
    std::vector<Change> changes;
    objects_.Take(now, changes);
    CheckCycles(changes);
    jobs_.Take(now, changes);
    TakeDoubts();
    const Time timed = state_.NextTimed();
    if (!changes.empty() || (timed != Time() && timed <= now)) {
      changes.insert(changes.begin(), ClockSet{now});
    }
    return changes;
  }

  [[nodiscard]] Time NextDue() const {
    Time next;
    const auto consider = [&](Time time) {
      if (time != Time()) {
        next = next == Time() ? time : std::min(next, time);
      }
    };
    if (!listed_) {
      return next;
    }
    consider(jobs_.NextDue());
    consider(objects_.NextDue());
    consider(state_.NextTimed());
    if (after_list_) {
      consider(state_.now());
    }
    for (const Waiting& each : commands_) {
      consider(DueOf(each));
    }
    return next;
  }

  std::vector<RefusedObject> TakeRefused() { return std::exchange(refused_, {}); }
  [[nodiscard]] std::map<std::string, std::string> RefusedQueues() const {
    std::map<std::string, std::string> why;
    for (const auto& [key, refusal] : refusals_) {
      if (key[0] == "Queue") {
        why.emplace(key[2], refusal.message);
      }
    }
    return why;
  }
  std::vector<ObeyedCommand> TakeObeyed() { return std::exchange(obeyed_, {}); }
  JobBook& jobs() { return jobs_; }
  ObjectBook& objects() { return objects_; }

 private:
  struct Waiting {
    CommandView command;
    Time until;            ///< Then its target will not come any more.
    bool not_yet = false;  ///< Its target is there, but has to give back what it held first.
  };

  static RefusedObject WhoIs(const Value& object) {
    return {TextAt(object, {"kind"}),
            TextAt(object, {"metadata", "namespace"}),
            TextAt(object, {"metadata", "name"}),
            TextAt(object, {"metadata", "uid"}),
            {}};
  }

  void Refuse(RefusedObject who, std::string message) {
    who.message = std::move(message);
    refused_.push_back(std::move(who));
  }

  void TakeDoubts() {
    for (RefusedObject& doubt : jobs_.TakeDoubts()) {
      refused_.push_back(std::move(doubt));
    }
  }

  /// Says a refusal once.
  void Settle(RefusedObject who, std::optional<std::string> message) {
    const std::array<std::string, 3> key{who.kind, who.ns, who.name};
    if (!message.has_value()) {
      refusals_.erase(key);
      return;
    }
    RefusedObject& said = refusals_[key];
    if (said.uid != who.uid || said.message != *message) {
      said = who;
      said.message = *message;
      Refuse(std::move(who), *std::move(message));
    }
  }

  void ObeyAll(Time now) {
    std::vector<Waiting> waiting;
    for (Waiting& each : std::exchange(commands_, {})) {
      if (!Obey(each, now)) {
        waiting.push_back(std::move(each));
        continue;
      }
      seen_commands_[each.command.uid] = true;
      obeyed_.push_back({each.command.ns, each.command.name, each.command.uid});
    }
    commands_ = std::move(waiting);
  }

  /// False where it has to wait.
  bool Obey(Waiting& waiting, Time now) {
    const CommandView& command = waiting.command;
    const bool for_job =
        command.action == CommandAction::kAbortJob || command.action == CommandAction::kResumeJob;
    if (command.action == CommandAction::kOther) {
      Refuse(command, "is not known here: AbortJob, ResumeJob, OpenQueue and CloseQueue are");
      return true;
    }
    if (for_job ? !IsJobKind(command.target_kind) : command.target_kind != "Queue") {
      Refuse(command, for_job ? "is for a Job or HyperJob" : "is for a Queue");
      return true;
    }
    std::string why;
    JobBook::Answer answer = JobBook::Answer::kObeyed;
    if (for_job) {
      answer = jobs_.Obey(command.action, command.target_uid, why);
    } else if (!objects_.IsThere(command.target_name, command.target_uid)) {
      answer = JobBook::Answer::kNoTarget;
    } else if (command.target_name == kRootQueue && command.action == CommandAction::kCloseQueue) {
      answer = JobBook::Answer::kRefused;
      why = "the root queue cannot be closed";
    } else {
      objects_.Command(command.target_name, command.action);
    }
    waiting.not_yet = answer == JobBook::Answer::kNotYet;
    if (answer == JobBook::Answer::kNoTarget && now >= waiting.until) {
      why = "there is no such " + command.target_kind;
      answer = JobBook::Answer::kRefused;
    }
    if (answer == JobBook::Answer::kRefused) {
      Refuse(command, "is not obeyed: " + why);
    }
    return answer == JobBook::Answer::kObeyed || answer == JobBook::Answer::kRefused;
  }

  void Refuse(const CommandView& command, const std::string& why) {
    const bool namespaced = IsJobKind(command.target_kind);
    Refuse({command.target_kind,
            namespaced ? command.ns : "",
            command.target_name,
            command.target_uid,
            {}},
           "Command " + Excerpt(command.ns) + "/" + Excerpt(command.name) + " with action " +
               Excerpt(command.action_text) + " " + why);
  }

  [[nodiscard]] Time DueOf(const Waiting& waiting) const {
    if (!waiting.not_yet) {
      return waiting.until;
    }
    return jobs_.CanResume(waiting.command.target_uid) ? state_.now() : Time();
  }

  /// State keeps a queue whose parents lead in a circle, and its jobs wait; here it is said.
  void CheckCycles(const std::vector<Change>& changes) {
    static const Document kNoDocument;
    const bool any = std::any_of(changes.begin(), changes.end(), [](const Change& change) {
      return std::holds_alternative<QueueUpsert>(change);
    });
    if (!any) {
      return;
    }
    std::map<std::string, Queue> queues;
    for (const auto& [name, index] : state_.queues()) {
      if (listed_ && state_.queue(index).declared) {
        queues.emplace(name, *state_.queue(index).object);
      }
    }
    for (const Change& change : changes) {
      if (const auto* const upsert = std::get_if<QueueUpsert>(&change); upsert != nullptr) {
        queues.insert_or_assign(upsert->queue.name, upsert->queue);
      } else if (const auto* const gone = std::get_if<QueueDelete>(&change); gone != nullptr) {
        queues.erase(gone->name);
      }
    }
    std::vector<QueueSource> sources;
    sources.reserve(queues.size());
    for (auto& [name, queue] : queues) {
      sources.push_back({std::move(queue), &kNoDocument});
    }
    const QueueTreeIssues issues = CheckQueueTree(sources, Strictness::kStored);
    std::set<std::string> cyclic;
    for (size_t i = 0; i < issues.refused.size(); ++i) {
      const Queue& queue = sources[issues.refused[i]].queue;
      cyclic.insert(queue.name);
      if (!cyclic_.contains(queue.name)) {
        Refuse({"Queue", "", queue.name, queue.uid, {}},
               "spec.parent (" + queue.parent + ") " + issues.errors[i].message);
      }
    }
    cyclic_ = std::move(cyclic);
  }

  const State& state_;
  const ObserverOptions options_;
  JobBook jobs_;
  ObjectBook objects_;
  bool listed_ = false;
  bool after_list_ = false;
  std::vector<Waiting> commands_;
  std::map<std::string, bool> seen_commands_;  ///< By uid; true: done.
  std::set<std::string> cyclic_;
  std::map<std::array<std::string, 3>, RefusedObject> refusals_;  ///< By kind, namespace, name.
  std::vector<RefusedObject> refused_;
  std::vector<ObeyedCommand> obeyed_;
};

Observer::Observer(const State& state, ObserverOptions options)
    : impl_(std::make_shared<Impl>(state, std::move(options))) {}

void Observer::Upsert(Value&& object, Time now) { impl_->Upsert(std::move(object), now); }

void Observer::Delete(const std::string& kind, const std::string& ns, const std::string& name,
                      const std::string& uid, Time now) {
  impl_->Delete(kind, ns, name, uid, now);
}

void Observer::UpsertMember(const std::string& cluster, Value&& object, Time now) {
  impl_->UpsertMember(cluster, std::move(object), now);
}

void Observer::DeleteMember(const std::string& cluster, const std::string& kind,
                            const std::string& ns, const std::string& name) {
  impl_->DeleteMember(cluster, kind, ns, name);
}

void Observer::ForgetMembers(const std::string& cluster) {
  impl_->objects().ForgetMembers(cluster);
}

void Observer::UpsertWork(const Value& work, Time now) { impl_->UpsertWork(work, now); }

void Observer::DeleteWork(const std::string& ns, const std::string& name, const std::string& uid,
                          Time now) {
  impl_->Delete("Work", ns, name, uid, now);
}

void Observer::UpsertCommand(const Value& command, Time now) { impl_->UpsertCommand(command, now); }

void Observer::SetMissingReferences(const std::string& job_uid, std::vector<std::string> missing,
                                    Time /*now*/) {
  impl_->jobs().SetMissingReferences(job_uid, std::move(missing));
}

void Observer::SetNothingSent(const std::string& job_uid) { impl_->jobs().SetNothingSent(job_uid); }

void Observer::SetBackoff(const std::string& job_uid, ClusterBackoff backoff, Time /*now*/) {
  impl_->jobs().SetBackoff(job_uid, std::move(backoff));
}

std::vector<Change> Observer::TakeRelist(Time now) { return impl_->TakeRelist(now); }
std::vector<Change> Observer::TakeChanges(Time now) { return impl_->TakeChanges(now); }
std::set<std::string> Observer::TakeDirtyJobs() { return impl_->jobs().TakeDirty(); }
std::set<std::pair<std::string, std::string>> Observer::TakeDirtyCarriers() {
  return impl_->jobs().TakeDirtyCarriers();
}
std::set<std::string> Observer::TakeDirtyQueues() { return impl_->objects().TakeDirtyQueues(); }
std::vector<RefusedObject> Observer::TakeRefused() { return impl_->TakeRefused(); }

std::map<std::string, std::string> Observer::RefusedQueues() const {
  return impl_->RefusedQueues();
}
std::vector<ObeyedCommand> Observer::TakeObeyed() { return impl_->TakeObeyed(); }
std::vector<PodCheck> Observer::TakePodChecks(Time now) { return impl_->jobs().TakeChecks(now); }

void Observer::AnswerPodCheck(const PodCheck& check, bool gone, Time now) {
  impl_->jobs().AnswerCheck(check, gone, now);
}

Time Observer::NextDue() const { return impl_->NextDue(); }

const JobView* Observer::FindJob(const std::string& uid) const { return impl_->jobs().Find(uid); }

std::vector<std::string> Observer::JobUids() const { return impl_->jobs().Uids(); }

std::vector<const WorkView*> Observer::WorksOf(const std::string& job_uid) const {
  return impl_->jobs().WorksOf(job_uid);
}

const std::map<std::pair<std::string, std::string>, WorkView>& Observer::OtherWorks() const {
  return impl_->jobs().OtherWorks();
}

const QueueView* Observer::FindQueue(const std::string& name) const {
  return impl_->objects().FindQueue(name);
}

}  // namespace caldera
