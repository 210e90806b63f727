#include "test/sandbox/work_sync.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "test/sandbox/object_rules.h"
#include "test/sandbox/work_manifest.h"

namespace caldera::sandbox {
namespace {

Value WithoutFinalizer(const Value& work) {
  Value::List kept;
  for (const Value& finalizer : ListAt(work, {"metadata", "finalizers"})) {
    if (!(finalizer == Value(std::string(kExecutionFinalizer)))) {
      kept.push_back(finalizer);
    }
  }
  return kept;
}

bool HasFinalizer(const Value& work) {
  const Value::List& finalizers = ListAt(work, {"metadata", "finalizers"});
  return std::any_of(finalizers.begin(), finalizers.end(), [](const Value& finalizer) {
    return finalizer == Value(std::string(kExecutionFinalizer));
  });
}

}  // namespace

class WorkSync::Impl : public std::enable_shared_from_this<WorkSync::Impl> {
 public:
  Impl(Client& client, const Mirror& works, MemberFinder find_member, WorkSyncOptions options)
      : client_(client),
        works_(works),
        find_member_(std::move(find_member)),
        options_(options),
        executor_(client.executor()) {}

  void Stop() { stopped_ = true; }

  void Look(const ObjectKey& key) {
    State& state = states_[key];
    state.again = true;
    if (!state.busy && !state.posted) {
      state.posted = true;
      executor_.Post([self = shared_from_this(), key] {
        if (!self->stopped_) {
          self->states_[key].posted = false;
          self->Begin(key);
        }
      });
    }
  }

  void LookAtCluster(const std::string& cluster) {
    const std::string ns = std::string(kExecutionPrefix) + cluster;
    for (auto at = works_.objects().lower_bound({ns, ""});
         at != works_.objects().end() && at->first.ns == ns; ++at) {
      Look(at->first);
    }
  }

  void Report(const Value* before, const Value* after) {
    const Value& object = after == nullptr ? *before : *after;
    const std::optional<ObjectKey> key = WorkOf(object);
    const Value* const work = key ? works_.Find(*key) : nullptr;
    if (work == nullptr) {
      return;
    }
    if (after != nullptr && !IsDeleting(*work)) {
      State& state = states_[*key];
      Adopt(state, *work);
      state.status.Set("manifestStatuses", Value::List{ManifestStatus(*work, *after)});
      WriteStatus(*key);
    }
    // As Karmada: not for what was just created, nor where only the status changed.
    if (after == nullptr ||
        (before != nullptr && !(PrunedManifest(*before) == PrunedManifest(*after)))) {
      Look(*key);
    }
  }

 private:
  struct State {
    bool busy = false;
    bool posted = false;
    bool again = false;
    int failures = 0;
    Executor::TimerId retry = 0;
    std::string uid;       ///< Of the Work that `status` belongs to.
    Value status;          ///< As it should be.
    Value written_status;  ///< As it is at the server, as far as we know.
    bool writing = false;
  };

  // The status goes on where the object has it: only this writes it.
  static void Adopt(State& state, const Value& work) {
    const std::string uid = UidOf(work);
    if (state.uid != uid) {
      const Value* const there = work.Find("status");
      state.uid = uid;
      state.status = there != nullptr && there->IsMap() ? *there : Value(Value::Map{});
      state.written_status = state.status;
    }
  }

  void Begin(const ObjectKey& key) {
    State& state = states_[key];
    const Value* const work = works_.Find(key);
    WorkMember* const member = find_member_(ClusterOfNamespace(key.ns));
    if (state.busy || work == nullptr || member == nullptr) {
      if (work == nullptr && !state.busy && !state.writing) {
        executor_.Cancel(state.retry);
        states_.erase(key);
      }
      return;
    }
    state.again = false;
    state.busy = true;
    executor_.Cancel(state.retry);
    Adopt(state, *work);
    if (IsDeleting(*work)) {
      return Delete(key, *work, *member);
    }
    Execute(key, *work, *member);
  }

  // ---- deletion

  void Delete(const ObjectKey& key, const Value& work, WorkMember& member) {
    if (FlagAt(work, {"spec", "preserveResourcesOnDeletion"})) {
      return DropFinalizer(key, work);
    }
    if (member.health() != WorkMember::Health::kReady) {
      return End(key, {});  // LookAtCluster comes when it is Ready again.
    }
    RemoveFrom(key, std::make_shared<const Value>(work), member, 0);
  }

  void RemoveFrom(const ObjectKey& key, const std::shared_ptr<const Value>& work,
                  WorkMember& member, size_t index) {
    const Value::List& manifests = ListAt(*work, {"spec", "workload", "manifests"});
    if (index == manifests.size()) {
      return DropFinalizer(key, *work);
    }
    member.Remove(manifests[index],
                  [self = shared_from_this(), key, work, &member, index](const Status& removed) {
                    if (self->stopped_) {
                      return;
                    }
                    if (!removed) {
                      return self->End(key, removed);
                    }
                    self->RemoveFrom(key, work, member, index + 1);
                  });
  }

  // After a conflict too it is tried again: what came between may have been a status, for which no
  // look is due.
  void DropFinalizer(const ObjectKey& key, const Value& work) {
    if (!HasFinalizer(work)) {
      return End(key, {});
    }
    const Value patch = MakeMap(
        {{"metadata", MakeMap({{"uid", UidOf(work)},
                               {"resourceVersion", TextAt(work, {"metadata", "resourceVersion"})},
                               {"finalizers", WithoutFinalizer(work)}})}});
    client_.Patch({&resource::Works(), key.ns, key.name}, PatchKind::kMerge, patch, "",
                  [self = shared_from_this(), key](const Result<Value>& patched) {
                    if (self->stopped_) {
                      return;
                    }
                    const bool fine = patched || patched.error().code == ErrorCode::kNotFound;
                    self->End(key, fine ? Status() : tl::unexpected<Error>(patched.error()));
                  });
  }

  // ---- execution

  void Execute(const ObjectKey& key, const Value& work, WorkMember& member) {
    const bool suspended = FlagAt(work, {"spec", "suspendDispatching"});
    Note(key, suspended ? Condition{"Dispatching", "False", "SuspendDispatching",
                                    "Work dispatching is in a suspended state."}
                        : Condition{"Dispatching", "True", "Dispatching",
                                    "Work is being dispatched to member clusters."});
    if (suspended || member.health() != WorkMember::Health::kReady) {
      WriteStatus(key);
      return End(key, {});
    }
    ApplyFrom(key, std::make_shared<const Value>(work), member, std::make_shared<Outcome>());
  }

  struct Outcome {
    size_t index = 0;
    size_t applied = 0;
    std::string errors;
  };

  void ApplyFrom(const ObjectKey& key, const std::shared_ptr<const Value>& work, WorkMember& member,
                 const std::shared_ptr<Outcome>& outcome) {
    const Value::List& manifests = ListAt(*work, {"spec", "workload", "manifests"});
    if (outcome->index == manifests.size()) {
      return Applied(key, *outcome);
    }
    member.Apply(manifests[outcome->index],
                 [self = shared_from_this(), key, work, &member, outcome](const Status& applied) {
                   if (self->stopped_) {
                     return;
                   }
                   ++outcome->index;
                   outcome->applied += applied ? 1U : 0U;
                   if (!applied) {
                     outcome->errors += (outcome->errors.empty() ? "" : ", ");
                     outcome->errors += applied.error().message;
                   }
                   self->ApplyFrom(key, work, member, outcome);
                 });
  }

  void Applied(const ObjectKey& key, const Outcome& outcome) {
    if (outcome.errors.empty()) {
      Note(key, {"Applied", "True", "AppliedSuccessful", "Manifest has been successfully applied"});
      WriteStatus(key);
      return End(key, {});
    }
    Note(key, {"Applied", "False", "AppliedFailed",
               "Failed to apply all manifests (" + std::to_string(outcome.applied) + "/" +
                   std::to_string(outcome.index) + "): " + outcome.errors});
    WriteStatus(key);
    End(key, Fail(ErrorCode::kUnavailable, outcome.errors));
  }

  // ---- status

  void Note(const ObjectKey& key, const Condition& condition) {
    Value& status = states_[key].status;
    if (status.Find("conditions") == nullptr) {
      status.Set("conditions", Value::List{});
    }
    SetCondition(*status.Find("conditions"), condition, MetaTime(executor_.Now()));
  }

  void WriteStatus(const ObjectKey& key) {
    State& state = states_[key];
    const std::optional<Value> change = MergeDiff(state.written_status, state.status);
    if (state.writing || !change) {
      return;
    }
    state.writing = true;
    Value tried = state.status;
    client_.Patch({&resource::Works(), key.ns, key.name}, PatchKind::kMerge,
                  MakeMap({{"metadata", MakeMap({{"uid", state.uid}})}, {"status", *change}}),
                  "status",
                  [self = shared_from_this(), key, uid = state.uid,
                   tried = std::move(tried)](const Result<Value>& patched) mutable {
                    if (!self->stopped_) {
                      self->Written(key, uid, std::move(tried), patched);
                    }
                  });
  }

  void Written(const ObjectKey& key, const std::string& uid, Value tried,
               const Result<Value>& patched) {
    State& state = states_[key];
    state.writing = false;
    if (!patched && patched.error().code == ErrorCode::kUnavailable) {
      return RetryLater(key, state);
    }
    if (patched && state.uid == uid) {
      state.written_status = std::move(tried);
      WriteStatus(key);
    }
  }

  // ---- the end of a look

  void End(const ObjectKey& key, const Status& status) {
    State& state = states_[key];
    state.busy = false;
    if (!status) {
      return RetryLater(key, state);
    }
    state.failures = 0;
    if (state.again) {
      Look(key);
    }
  }

  void RetryLater(const ObjectKey& key, State& state) {
    const int shift = std::min(state.failures++, 20);
    const Millis delay =
        std::min(options_.first_retry * (int64_t{1} << shift), options_.longest_retry);
    executor_.Cancel(state.retry);
    state.retry = executor_.PostAfter(delay, [self = shared_from_this(), key] {
      if (!self->stopped_) {
        self->WriteStatus(key);
        self->Look(key);
      }
    });
    if (state.again) {
      Look(key);
    }
  }

  Client& client_;
  const Mirror& works_;
  const MemberFinder find_member_;
  const WorkSyncOptions options_;
  Executor& executor_;
  bool stopped_ = false;
  std::map<ObjectKey, State> states_;
};

WorkSync::WorkSync(Client& client, const Mirror& works, MemberFinder find_member,
                   WorkSyncOptions options)
    : impl_(std::make_shared<Impl>(client, works, std::move(find_member), options)) {}
WorkSync::~WorkSync() { impl_->Stop(); }
void WorkSync::Look(const ObjectKey& work) { impl_->Look(work); }
void WorkSync::LookAtCluster(const std::string& cluster) { impl_->LookAtCluster(cluster); }
void WorkSync::Report(const Value* before, const Value* after) { impl_->Report(before, after); }

}  // namespace caldera::sandbox
