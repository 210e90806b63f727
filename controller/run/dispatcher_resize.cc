// A shard that is there follows its charge (replicas, minAvailable) and its parent (priority); all
// else is held until the next epoch, since Volcano would refuse it. What another hand changed in a
// Work is put back.
#include <utility>
#include <variant>
#include <vector>

#include "controller/run/dispatcher_look.h"
#include "controller/run/dispatcher_patches.h"
#include "controller/run/manifest_digest.h"
#include "federation/children.h"
#include "federation/render.h"

namespace caldera {
namespace {

/// The ranks of a split job, or of a HyperJob's children, are dealt out over all of them at the
/// start of an epoch.
bool IsRescaled(const Job& job, const std::vector<Shard>& shards) {
  for (const Task& task : job.tasks) {
    int64_t replicas = 0;
    for (const Shard& shard : shards) {
      for (const TaskGrant& grant : shard.tasks) {
        replicas += grant.name == task.name ? grant.replicas : 0;
      }
    }
    if (replicas != task.replicas) {
      return true;
    }
  }
  return false;
}

std::string TemplateOfWork(const std::string& uid, const std::string& name) {
  const size_t own = WorkName(uid, "").size();
  return name.size() <= own ? "" : TemplateOf(name.substr(own + 1));
}

/// Null where it has none.
Value FirstManifest(const Value& work) {
  const Value* const manifests = work.At({"spec", "workload", "manifests"});
  return manifests != nullptr && manifests->IsList() && !manifests->AsList().empty()
             ? manifests->AsList().front()
             : Value();
}

/// What a Work is to carry: as it was written, where another hand changed that and it can still be
/// told (the parent, now of `generation`, was not edited since); else what it has, with what may
/// change of it.
Value ManifestFor(const WorkView& view, const Value& there, const Result<Value>& wanted,
                  int64_t generation) {
  if (!wanted) {
    return there;
  }
  const bool untold =
      view.digest.empty() && (view.generation == 0 || view.generation == generation);
  const bool written = view.IsEdited() && (untold || ManifestDigest(*wanted) == view.digest);
  return written || !there.IsMap() ? *wanted : WithAllowed(there, *wanted);
}

/// All that we write of a Work: on top of `patch` labels and annotations, where they can be
/// rendered, and finalizers.
Value WholePatch(const ManifestPatch& patch, const Result<Value>& rendered,
                 const std::vector<std::string>& other_finalizers) {
  const Value latest = ToPatch(patch);
  Value whole = rendered ? MetadataPatch(patch.uid, *rendered, other_finalizers)
                         : HoldPatch(patch.uid, other_finalizers);
  Value& metadata = *whole.Find("metadata");
  Value annotations = rendered ? *metadata.Find("annotations") : Value(Value::Map{});
  for (const Member& annotation : latest.At({"metadata", "annotations"})->AsMap()) {
    annotations.Set(annotation.key, annotation.value);
  }
  metadata.Set("annotations", std::move(annotations));
  whole.Find("spec")->Set("workload", *latest.At({"spec", "workload"}));
  return whole;
}

}  // namespace

bool JobLook::Resize() {
  const int64_t generation = seen_.parent->generation;
  if (memory_.checked_generation != generation) {
    memory_.checked_generation = generation;
    memory_.checked.clear();
  }
  for (const SeenWork& work : seen_.works) {
    if (work.deleting) {
      continue;
    }
    const bool granted = charge().intent != 0 && work.intent != charge().intent;
    const bool changed = work.generation != 0 && work.generation != generation &&
                         !memory_.checked.contains(TemplateOfWork(uid_, work.name));
    if (granted || changed || work.edited) {
      ResizeWork(work);
      return true;
    }
  }
  return false;
}

void JobLook::ResizeWork(const SeenWork& work) {
  if (parent_ && ParentGeneration() < seen_.parent->generation) {
    parent_.reset();
    intake_.reset();
  }
  if (FetchParent()) {
    return;
  }
  if (!intake_) {
    Prepare([this](const std::string& why) {
      Fail({ErrorCode::kInvalid, ParentName() + " cannot be sent: " + why});
    });
    return;
  }
  const WorkKey key(work.ns, work.name);
  context_.client.Get({&resource::Works(), key.first, key.second},
                      OnObject([this, key](Result<Value> there) {
                        if (!there) {
                          Fail(there.error().Within("get Work " + key.first + "/" + key.second));
                          return;
                        }
                        Compare(key, *there);
                      }));
}

// Which edits wait for the next epoch.
void JobLook::SayHeld(const Value& there, const Result<Value>& wanted) {
  const auto say = [&](const std::string& kept, const std::string& held) {
    Say(EventType::kWarning, "SpecChangeHeld",
        kept + ": " + held + " generation " + std::to_string(seen_.parent->generation) +
            " take effect when it is placed again",
        EventRepeat::kOnce);
  };
  const std::vector<Shard>& shards = charge().shards;
  const bool hyper = target_.kind == resource::HyperJobs().kind;
  const bool rescaled =
      (hyper || shards.size() > 1) && IsRescaled(std::get<JobUpsert>(*intake_->change).job, shards);
  const bool held = !wanted || !SameButAllowed(there, *wanted);
  if (hyper && (held || rescaled)) {
    say("only priorityClassName of a placed HyperJob can change", "the other edits up to");
    return;
  }
  if (held) {
    say("only replicas, minAvailable and priorityClassName of a placed job can change",
        "the other edits up to");
  }
  if (rescaled) {
    say("a split job keeps its replicas", "those of");
  }
}

void JobLook::Compare(const WorkKey& key, const Value& work) {
  // The charge may have gone while the Work was on its way.
  seen_ =
      See(uid_, context_.state, context_.observer, memory_, {Now(), context_.options.unseen_write});
  const Result<WorkView> view = ReadWork(work);
  if (AimOf(seen_, memory_) != Aim::kPlaced || !intake_) {
    Again(Now() + context_.options.first_backoff);
    Finish();
    return;
  }
  if (!view) {
    TakeBack(key, work);
    return;
  }
  size_t index = 0;
  const std::vector<Shard>& shards = charge().shards;
  while (index < shards.size() &&
         (shards[index].cluster != view->cluster || shards[index].child != view->child)) {
    ++index;
  }
  if (index == shards.size()) {
    Step();
    return;
  }
  const Value there = FirstManifest(work);
  const Result<Value> rendered = RenderWorkOf(index);
  const Result<Value> wanted = rendered ? Result<Value>(FirstManifest(*rendered)) : rendered;
  const int64_t generation = seen_.parent->generation;
  if (view->generation != generation && view->generation != 0) {
    SayHeld(there, wanted);
  }
  const auto stamp = memory_.stamps.find(view->uid);
  const bool touched =
      view->LeavesItsObject() || (stamp != memory_.stamps.end() && stamp->second != StampOf(*view));
  const Value merged = ManifestFor(*view, there, wanted, generation);
  if (merged == there && !view->IsEdited() && !touched &&
      (view->intent == charge().intent || charge().intent == 0)) {
    memory_.checked.insert(TemplateOf(view->child));
    Step();
    return;
  }
  const ManifestPatch patch{view->uid,       merged,     ManifestDigest(merged),
                            charge().intent, generation, AtOnceText(shards[index].tasks)};
  const bool edited = view->IsEdited() && !(merged == there);
  std::string put_back = edited ? "what it carries" : "";
  if (touched) {
    put_back += (edited ? " and " : "") + std::string("what stands on it");
  }
  const std::string news =
      !put_back.empty() || view->grants == shards[index].tasks ? "" : SummaryOf(charge());
  context_.client.Patch(
      {&resource::Works(), key.first, key.second}, PatchKind::kMerge,
      put_back.empty() ? ToPatch(patch) : WholePatch(patch, rendered, view->other_finalizers), "",
      OnObject([this, key, news, put_back](Result<Value> patched) {
        if (!patched) {
          Fail(patched.error().Within("resize Work " + key.first + "/" + key.second));
          return;
        }
        if (!news.empty()) {
          Say(EventType::kNormal, "Resized", news, EventRepeat::kEachTime);
        }
        if (!put_back.empty()) {
          SayPutBack(key, put_back);
        }
        RememberWork(key, *patched);
        Step();
      }));
}

void JobLook::SayPutBack(const WorkKey& key, const std::string& what) {
  Say(EventType::kWarning, "WorkEdited",
      "Work " + key.first + "/" + key.second + " was changed by another hand: " + what +
          " is put back; edit " + ParentName() + " instead",
      EventRepeat::kEachTime);
}

// Its name is that of a shard of ours, yet nothing in it says which: where it carries what the
// shard would, it is that shard; else nobody can tell, and it is made anew.
void JobLook::TakeBack(const WorkKey& key, const Value& work) {
  size_t index = 0;
  const std::vector<Shard>& shards = charge().shards;
  while (index < shards.size() && WorkKey(ExecutionNamespace(shards[index].cluster),
                                          WorkName(uid_, shards[index].child)) != key) {
    ++index;
  }
  const Value* const uid = work.At({"metadata", "uid"});
  if (index == shards.size() || uid == nullptr || !uid->IsString()) {
    Again(Now() + context_.options.first_backoff);
    Finish();
    return;
  }
  const Result<Value> wanted = RenderWorkOf(index);
  if (!wanted || ManifestDigest(FirstManifest(work)) != ManifestDigest(FirstManifest(*wanted))) {
    DeleteWork(key, uid->AsString());
    return;
  }
  context_.client.Patch(
      {&resource::Works(), key.first, key.second}, PatchKind::kMerge,
      MetadataPatch(uid->AsString(), *wanted, OtherFinalizers(work)), "",
      OnObject([this, key](Result<Value> patched) {
        if (!patched) {
          Fail(patched.error().Within("take back Work " + key.first + "/" + key.second));
          return;
        }
        SayPutBack(key, "its metadata");
        RememberWork(key, *patched);
        Step();
      }));
}

}  // namespace caldera
