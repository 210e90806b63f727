#include "controller/run/dispatcher_look.h"

#include <algorithm>
#include <utility>

#include "controller/run/dispatcher_patches.h"
#include "controller/run/dispatcher_status.h"
#include "controller/run/parent_status.h"
#include "federation/codec.h"

namespace caldera {
namespace {

// More writes than any job needs at a time, of each of its shards and beside them: where they do
// not bring what is closer to what should be, somebody else undoes them, and a backoff is due.
constexpr size_t kMostSteps = 200;
constexpr size_t kMostStepsAShard = 6;

// A Work that is on its way out is waited for by its watch; this is for a watch that lost it.
constexpr Millis kLookForGone{30'000};

bool IsFirst(const Charge& charge) {
  return std::all_of(charge.shards.begin(), charge.shards.end(),
                     [](const Shard& shard) { return shard.epoch == 1; });
}

}  // namespace

std::string SummaryOf(const Charge& charge) {
  std::string text;
  for (const Shard& shard : charge.shards) {
    text += (text.empty() ? "" : ", ") + (shard.child.empty() ? "" : shard.child + ": ") +
            std::to_string(shard.Pods()) + " pods in cluster " + shard.cluster + " (epoch " +
            std::to_string(shard.epoch) +
            (shard.InWaves() ? ", " + std::to_string(shard.PodsAtOnce()) + " at a time)" : ")");
  }
  return text;
}

JobLook::JobLook(const DispatchContext& context, std::string uid, JobMemory& memory,
                 Handlers handlers)
    : context_(context), uid_(std::move(uid)), memory_(memory), handlers_(std::move(handlers)) {}

void JobLook::Step() {
  seen_ =
      See(uid_, context_.state, context_.observer, memory_, {Now(), context_.options.unseen_write});
  if (seen_.parent != nullptr) {
    target_ = TargetOf(seen_.parent->key, uid_, seen_.parent->kind);
  }
  const bool charged = seen_.entry != nullptr && seen_.entry->charge.has_value();
  intent_ = charged ? charge().intent : 0;
  unsent_ = charged && seen_.works.empty() &&
            std::all_of(charge().shards.begin(), charge().shards.end(),
                        [this](const Shard& shard) { return shard.epoch > memory_.sent_epoch; });
  if (++steps_ > kMostSteps + kMostStepsAShard * (charged ? charge().shards.size() : 0)) {
    Fail({ErrorCode::kUnavailable, "what is written does not stay: somebody else changes it"});
    return;
  }
  switch (AimOf(seen_, memory_)) {
    case Aim::kLeave:
      if (!AwaitName()) {
        Finish();
      }
      return;
    case Aim::kGone:
      context_.events.NotWaiting(uid_);
      if (!DeleteWhere([](const SeenWork& /*work*/) { return true; })) {
        Finish();
      }
      return;
    case Aim::kNone:
      StepNone();
      return;
    case Aim::kPlaced:
      StepPlaced();
      return;
    case Aim::kEnded:
      StepEnded();
      return;
  }
}

void JobLook::StepNone() {
  if (DeleteWhere([](const SeenWork& /*work*/) { return true; })) {
    return;
  }
  if (seen_.entry->claimed_elsewhere) {
    Finish();
    return;
  }
  if (!seen_.claimed || !seen_.placement.empty()) {
    PatchParent(seen_.placement.empty() ? std::nullopt : std::optional<std::string>(""));
    return;
  }
  // While it is charged, what is missing is what it is recalled for.
  const bool held = seen_.entry->charge.has_value();
  if (WriteStatus() || (!held && (RecheckReferences() || RecheckClaims()))) {
    return;
  }
  Finish();
}

void JobLook::StepPlaced() {
  const std::vector<Shard>& shards = charge().shards;
  std::set<std::string> wanted;  // By uid.
  bool complete = true;
  bool blocked = false;
  for (const Shard& shard : shards) {
    if (const SeenWork* const work = FindWork(seen_, uid_, shard); work != nullptr) {
      wanted.insert(work->uid);
    } else {
      complete = false;
      blocked = blocked || NameIsTaken(seen_, uid_, shard);
    }
  }
  if (DeleteWhere([&](const SeenWork& work) { return !wanted.contains(work.uid); })) {
    return;
  }
  const std::string text = EncodePlacement(shards);
  if (!seen_.claimed || seen_.placement != text) {
    PatchParent(text);
    return;
  }
  if (!complete && !blocked) {
    Send();
    return;
  }
  if (blocked) {
    Again(Now() + kLookForGone);
  } else {
    // One Event a job on its way to Running: of a job that waited it was Queued, and its
    // placement says the rest.
    const bool told = context_.events.NotWaiting(uid_) && IsFirst(charge());
    if (std::exchange(created_, false) && !told) {
      Say(EventType::kNormal, "Placed", SummaryOf(charge()), EventRepeat::kOnce);
    }
    // Shards of a split job were made suspended, so that all start together.
    if (SuspendWhere([](const SeenWork& work) { return !work.deleting; }, false) || Resize() ||
        CheckApplied() || CheckScheduled()) {
      return;
    }
  }
  if (!WriteStatus()) {
    Finish();
  }
}

void JobLook::StepEnded() {
  const std::vector<Shard> shards = ShardsOf(seen_);
  // What has not ended of a job that has: a shard beside one that failed, or one of an earlier
  // epoch.
  const auto ended = [&](const SeenWork& work) {
    return work.view == nullptr || IsTerminalPhase(work.view->phase);
  };
  if (DeleteWhere([&](const SeenWork& work) { return !ended(work); }) ||
      SuspendWhere(ended, true)) {
    return;
  }
  context_.events.NotWaiting(uid_);
  if (WriteStatus()) {
    return;
  }
  if (!seen_.parent->ttl.has_value()) {
    Finish();
    return;
  }
  Time since;
  for (const SeenWork& work : seen_.works) {
    since = std::max(since, work.view == nullptr ? Time() : work.view->phase_since);
  }
  if (since == Time()) {
    memory_.ended = memory_.ended == Time() ? Now() : memory_.ended;
    since = memory_.ended;
  }
  if (since + *seen_.parent->ttl <= Now()) {
    DeleteParent();
  } else {
    Again(since + *seen_.parent->ttl);
    Finish();
  }
}

bool JobLook::DeleteWhere(const std::function<bool(const SeenWork&)>& unwanted) {
  for (const SeenWork& work : seen_.works) {
    if (work.deleting || !unwanted(work)) {
      continue;
    }
    if (work.leaves) {
      HoldObject(work);
    } else {
      DeleteWork({work.ns, work.name}, work.uid);
    }
    return true;
  }
  return false;
}

// So that its Job goes with it.
void JobLook::HoldObject(const SeenWork& work) {
  const WorkKey key(work.ns, work.name);
  context_.client.Patch(
      {&resource::Works(), key.first, key.second}, PatchKind::kMerge,
      HoldPatch(work.uid, work.view->other_finalizers), "",
      OnObject([this, key](Result<Value> patched) {
        const bool gone = !patched && (patched.error().code == ErrorCode::kNotFound ||
                                       patched.error().code == ErrorCode::kConflict);
        if (!patched && !gone) {
          Fail(patched.error().Within("hold the object of Work " + key.first + "/" + key.second));
        } else if (gone) {
          Again(Now() + context_.options.first_backoff);
          Finish();
        } else {
          RememberWork(key, *patched);
          Step();
        }
      }));
}

void JobLook::DeleteWork(const WorkKey& key, const std::string& uid) {
  DeleteOptions options;
  options.uid = uid;
  context_.client.Delete(
      {&resource::Works(), key.first, key.second}, options,
      OnDone([this, key, uid](const Status& done) {
        // Of a conflict, the uid is the cause: that Work is gone.
        if (!done && done.error().code != ErrorCode::kNotFound &&
            done.error().code != ErrorCode::kConflict) {
          Fail(done.error().Within("delete Work " + key.first + "/" + key.second));
          return;
        }
        memory_.deleted[uid] = Now();
        if (const auto made = memory_.works.find(key);
            made != memory_.works.end() && made->second.uid == uid) {
          memory_.works.erase(made);
        }
        Step();
      }));
}

void JobLook::PatchParent(const std::optional<std::string>& placement) {
  const Value patch = ParentPatch(uid_, placement);
  context_.client.Patch(
      ParentRef(seen_.parent->key, seen_.parent->kind), PatchKind::kMerge, patch, "",
      OnObject([this, text = placement.value_or(seen_.placement)](Result<Value> job) {
        if (!job) {
          Fail(job.error().Within("claim " + ParentName()));
          return;
        }
        memory_.placement = JobMemory::Placement{text, Now()};
        parent_ = *std::move(job);
        intake_.reset();
        Step();
      }));
}

void JobLook::DeleteParent() {
  DeleteOptions options;
  options.uid = uid_;
  context_.client.Delete(ParentRef(seen_.parent->key, seen_.parent->kind), options,
                         OnDone([this](const Status& done) {
                           if (done || done.error().code == ErrorCode::kNotFound) {
                             Finish();
                           } else {
                             Fail(done.error().Within("delete finished " + ParentName()));
                           }
                         }));
}

bool JobLook::SuspendWhere(const std::function<bool(const SeenWork&)>& chosen, bool suspend) {
  for (const SeenWork& work : seen_.works) {
    if (work.deleting || work.suspended == suspend || !chosen(work)) {
      continue;
    }
    const WorkKey key(work.ns, work.name);
    context_.client.Patch(
        {&resource::Works(), key.first, key.second}, PatchKind::kMerge,
        SuspendPatch(work.uid, suspend), "", OnObject([this, key](Result<Value> patched) {
          if (!patched) {
            Fail(patched.error().Within("suspend or release Work " + key.first + "/" + key.second));
            return;
          }
          RememberWork(key, *patched);
          Step();
        }));
    return true;
  }
  return false;
}

bool JobLook::WriteStatus() {
  auto decision =
      std::make_shared<StatusDecision>(DecideStatus(seen_, uid_, memory_, context_.options, Now()));
  if (decision->again != Time()) {
    Again(decision->again);
  }
  if (!decision->write) {
    return false;
  }
  if (decision->ends) {
    // Before the status: a restart in between says it again, which is no second Event.
    const bool failed = decision->phase != "Completed";
    Say(failed ? EventType::kWarning : EventType::kNormal, decision->phase,
        "the job is " + decision->phase, EventRepeat::kOnce);
  }
  context_.client.Patch(ParentRef(seen_.parent->key, seen_.parent->kind), PatchKind::kJson,
                        StatusPatch(uid_, *decision->write), "status",
                        OnObject([this, decision](const Result<Value>& patched) {
                          if (!patched) {
                            Fail(patched.error().Within("status of " + ParentName()));
                            return;
                          }
                          RememberStatus(*decision, memory_, Now());
                          Step();
                        }));
  return true;
}

void JobLook::Say(EventType type, std::string reason, std::string message, EventRepeat repeat) {
  context_.events.Record(target_, {type, std::move(reason), std::move(message), repeat});
}

std::string JobLook::ParentName() const {
  return target_.kind + " " + target_.ns + "/" + target_.name;
}

void JobLook::Learnt() {
  if (context_.options.on_learnt) {
    context_.options.on_learnt();
  }
}

void JobLook::Again(Time at) { again_ = again_ == Time() ? at : std::min(again_, at); }

Millis JobLook::Postpone(JobMemory::Recheck& recheck) const {
  const Millis longest = context_.options.longest_recheck;
  Millis wait = context_.options.reference_recheck;
  for (int i = 0; i < recheck.times && wait < longest; ++i) {
    wait *= 2;
  }
  wait = std::min(wait, longest);
  ++recheck.times;
  recheck.at = Now() + wait;
  return wait;
}

void JobLook::PublishUses() {
  Carriers::Uses uses;
  for (const SeenWork& work : seen_.works) {
    for (const std::string& use : work.uses) {
      uses.emplace(WorkKey(work.ns, CarrierNameOfUse(use)), use);
    }
  }
  context_.carriers.SetUses(uid_, uses);
}

void JobLook::Finish() {
  PublishUses();
  stopped_ = true;
  handlers_.done({std::nullopt, again_});
}

// What was brought for a shard that could not be made stays for the next try.
void JobLook::Fail(Error error) {
  stopped_ = true;
  handlers_.done({std::move(error), again_});
}

Client::ObjectHandler JobLook::OnObject(std::function<void(Result<Value>)> then) {
  return [self = shared_from_this(), then = std::move(then)](Result<Value> object) {
    if (!self->stopped_) {
      then(std::move(object));
    }
  };
}

Client::DoneHandler JobLook::OnDone(std::function<void(Status)> then) {
  return [self = shared_from_this(), then = std::move(then)](Status done) {
    if (!self->stopped_) {
      then(std::move(done));
    }
  };
}

}  // namespace caldera
