// Sending a shard: the whole Job, what it refers to, what has to be there ahead of it, the Work.
#include <algorithm>
#include <utility>

#include "controller/kube/json_writer.h"
#include "controller/run/dispatcher_look.h"
#include "controller/run/dispatcher_patches.h"
#include "controller/run/manifest_digest.h"
#include "controller/run/observer_intake.h"
#include "controller/run/queue_works.h"
#include "controller/run/stray_works.h"
#include "federation/codec.h"
#include "federation/excerpt.h"
#include "federation/render.h"
#include "federation/value_at.h"

namespace caldera {
namespace {

constexpr size_t kWorkBytesMax = size_t{1} << 20U;
constexpr Millis kCarrierPoll{50};
// What is too large stays so until it is edited, which is seen; or other settings hold.
constexpr Millis kTooLargeAgain{3'600'000};

bool SaysTooLarge(const std::string& message) {
  return message.find("too large") != std::string::npos ||
         message.find("Too Large") != std::string::npos;
}

}  // namespace

void JobLook::Send() {
  if (FetchParent()) {
    return;
  }
  if (!intake_) {
    Prepare([this](const std::string& why) { RefusedAsItIs(why); });
    return;
  }
  if (FetchClaims() || FetchReference()) {
    return;
  }
  if (HoldForReferences() || HoldForClaims() || RefuseToSend() || BringCarriers()) {
    return;
  }
  CreateShard();
}

bool JobLook::FetchParent() {
  if (parent_) {
    return false;
  }
  context_.client.Get(ParentRef(seen_.parent->key, seen_.parent->kind),
                      OnObject([this](Result<Value> job) {
                        if (!job) {
                          Fail(job.error().Within("get " + ParentName()));
                          return;
                        }
                        parent_ = *std::move(job);
                        intake_.reset();
                        Step();
                      }));
  return true;
}

int64_t JobLook::ParentGeneration() const {
  const Value* const generation = parent_->At({"metadata", "generation"});
  return generation != nullptr && generation->IsInteger() ? generation->AsInteger() : 0;
}

void JobLook::Prepare(const std::function<void(const std::string& why)>& refused) {
  const std::string uid = TextAt(*parent_, {"metadata", "uid"});
  if (uid != uid_) {
    parent_.reset();
    Fail({ErrorCode::kConflict, ParentName() + " is another one by now"});
    return;
  }
  // An answer to PATCH carries them, one to a GET of some servers may not.
  parent_->Set("apiVersion", target_.api_version);
  parent_->Set("kind", target_.kind);
  Document document;
  document.file = target_.ns + "/" + target_.name;
  document.root = *parent_;
  Intake intake = TakeObject(document, Strictness::kStored, Now());
  if (!intake.errors.empty()) {
    // The words that Observer has for it, so that both are one Event.
    const std::string message = Complaints(intake.errors);
    Say(EventType::kWarning, "Refused", message, EventRepeat::kOnce);
    refused(message);
    return;
  }
  references_ = ReferencesByTemplate(intake.defaulted);
  intake_ = std::move(intake);
  Step();
}

void JobLook::MakeCarriers() {
  std::map<std::string, std::vector<Reference>> clusters;
  for (const Shard& shard : charge().shards) {
    std::vector<Reference>& references = clusters[shard.cluster];
    references = Merged(std::move(references), ReferencesOfShard(shard));
  }
  const auto& queue = context_.state.queue(seen_.entry->queue).object;
  const auto waves = MakeWavesCarrier(context_.state, *seen_.entry);
  for (const auto& [cluster, references] : clusters) {
    if (waves.has_value()) {
      carriers_.push_back(*waves);
    } else if (queue.has_value()) {
      if (auto carrier = MakeQueueCarrier(*queue, cluster)) {
        carriers_.push_back(*std::move(carrier));
      }
    }
    for (const Reference& reference : references) {
      const auto found = fetched_.find(reference.ToString());
      if (found == fetched_.end() || found->second.IsNull()) {
        continue;
      }
      const Value& object = found->second;
      const Carriage carriage = CarriageOf(reference, object);
      if (carriage == Carriage::kSend) {
        carriers_.push_back(MakeReferenceCarrier(reference, object, cluster));
      } else if (carriage == Carriage::kOwn) {
        Say(EventType::kWarning, "ReferenceNotSent",
            reference.ToString() + " is a token for this API server: it is not sent to cluster " +
                cluster,
            EventRepeat::kOnce);
      }
    }
  }
  carriers_made_ = true;
  carriers_since_ = Now();
}

bool JobLook::BringCarriers() {
  if (!carriers_made_) {
    MakeCarriers();
  }
  // Before anything is looked at: what is there must not go while we count on it.
  Carriers::Uses uses;
  for (const Carrier& carrier : carriers_) {
    uses.emplace(WorkKey(ExecutionNamespace(carrier.cluster), CarrierNameOfUse(carrier.Use())),
                 carrier.Use());
  }
  for (const SeenWork& work : seen_.works) {
    for (const std::string& use : work.uses) {
      uses.emplace(WorkKey(work.ns, CarrierNameOfUse(use)), use);
    }
  }
  context_.carriers.SetUses(uid_, uses);
  const bool patient = Now() < carriers_since_ + context_.options.carrier_grace;
  bool wait = false;
  for (const Carrier& carrier : carriers_) {
    const Carriers::Need need = context_.carriers.NeedOf(carrier);
    if (need == Carriers::Need::kWrite) {
      context_.carriers.Write(carrier, OnDone([this](const Status& done) {
                                if (done) {
                                  Step();
                                } else {
                                  Fail(done.error());
                                }
                              }));
      return true;
    }
    if (need == Carriers::Need::kGoing && !patient) {
      Fail({ErrorCode::kUnavailable, "the Work for " + carrier.Use() + " in cluster " +
                                         carrier.cluster + " is still being deleted"});
      return true;
    }
    wait = wait || need == Carriers::Need::kGoing || (need == Carriers::Need::kWait && patient);
  }
  if (wait) {
    handlers_.park();
    context_.client.executor().PostAfter(kCarrierPoll, [self = shared_from_this()] {
      if (!self->stopped_) {
        self->handlers_.unpark();
        self->Step();
      }
    });
    return true;
  }
  for (const Carrier& carrier : carriers_) {
    if (const std::string why = context_.carriers.Complaint(carrier); !why.empty()) {
      Say(EventType::kWarning, "ReferenceNotApplied",
          carrier.Use() + " in cluster " + carrier.cluster + ": " + Excerpt(why),
          EventRepeat::kOnce);
    }
  }
  return false;
}

// Of a shard that is there, what it says, and where another hand was at it, what the job has used
// there so far; else what was brought for it.
std::vector<std::string> JobLook::UsesOf(const Shard& shard) const {
  if (const SeenWork* const there = FindWork(seen_, uid_, shard); there != nullptr) {
    return there->edited ? context_.carriers.UsesIn(uid_, there->ns) : there->uses;
  }
  std::set<std::string> references;
  for (const Reference& reference : ReferencesOfShard(shard)) {
    references.insert(reference.ToString());
  }
  std::vector<std::string> uses;
  for (const Carrier& carrier : carriers_) {
    if (carrier.cluster == shard.cluster &&
        (carrier.role == WorkRole::kQueue || references.contains(carrier.Use()))) {
      uses.push_back(carrier.Use());
    }
  }
  return uses;
}

Result<Value> JobLook::RenderWorkOf(size_t index) const {
  const Shard& own = charge().shards[index];
  ShardContext shard;
  shard.job_uid = uid_;
  shard.index = static_cast<int32_t>(index);
  shard.all_shards = charge().shards;
  shard.rendezvous = context_.state.spec(*seen_.entry).rendezvous;
  shard.restore_from = own.epoch > 1 ? seen_.entry->rare().checkpoint : "";
  shard.intent = charge().intent;
  shard.generation = ParentGeneration();
  shard.uses = UsesOf(own);
  CALDERA_TRY(const Value manifest, RenderShardJob(intake_->defaulted, shard));
  shard.digest = ManifestDigest(manifest);
  return RenderWork(manifest, shard);
}

// Before anything is made for it. etcd takes 1.5 MiB, Karmada adds to what it keeps.
bool JobLook::RefuseToSend() {
  if (carriers_made_) {
    return false;
  }
  for (size_t i = 0; i < charge().shards.size(); ++i) {
    const Result<Value> work = RenderWorkOf(i);
    if (!work) {
      RecallEdited(work.error());
      return true;
    }
    const size_t bytes = WriteJson(*work).size();
    if (bytes > kWorkBytesMax) {
      TooLarge("its Work would have " + std::to_string(bytes) + " bytes, and at most " +
               std::to_string(kWorkBytesMax) + " can be stored");
      return true;
    }
  }
  return false;
}

void JobLook::CreateShard() {
  const std::vector<Shard>& shards = charge().shards;
  size_t index = 0;
  while (FindWork(seen_, uid_, shards[index]) != nullptr) {
    ++index;  // One is missing: that is why we are here.
  }
  const std::string cluster = shards[index].cluster;
  const WorkKey key{ExecutionNamespace(cluster), WorkName(uid_, shards[index].child)};
  const Result<Value> work = RenderWorkOf(index);
  if (!work) {
    RecallEdited(work.error());
    return;
  }
  memory_.sent_epoch = std::max(memory_.sent_epoch, shards[index].epoch);
  unsent_ = false;
  context_.client.Create(
      resource::Works(), key.first, *work, OnObject([this, key, cluster](Result<Value> made) {
        if (made) {
          created_ = true;
          RememberWork(key, *made);
          Step();
          return;
        }
        const Error error = made.error().Within("create Work " + key.first + "/" + key.second);
        if (error.code == ErrorCode::kConflict) {
          LookAtConflict(key, error);
        } else if (error.code == ErrorCode::kInvalid && SaysTooLarge(error.message)) {
          TooLarge(error.message);
        } else if (error.code == ErrorCode::kInvalid) {
          RecallFrom({cluster}, Verdict::kApplyFailed, error.message);
        } else {
          Fail(error.code == ErrorCode::kNotFound
                   ? error.Within("cluster " + cluster + " has no namespace for Works yet")
                   : error);
        }
      }));
}

// Something of that name is there: an earlier try of ours whose answer was lost, a Work of an
// earlier epoch that no watch has shown yet, or one that no watch shows for want of its labels.
void JobLook::LookAtConflict(const WorkKey& key, const Error& error) {
  const ObjectRef ref = {&resource::Works(), key.first, key.second};
  context_.client.Get(
      ref, OnObject([this, key, ref, error](Result<Value> there) {
        if (!there) {
          Fail(error);
          return;
        }
        const std::optional<Value> labels = LabelsBack(*there);
        if (!labels) {
          LookAtWork(key, *there);
          return;
        }
        context_.client.Patch(
            ref, PatchKind::kMerge, *labels, "", OnObject([this, key](Result<Value> patched) {
              if (!patched) {
                Fail(patched.error().Within("take back Work " + key.first + "/" + key.second));
                return;
              }
              SayPutBack(key, "its labels");
              LookAtWork(key, *patched);
            }));
      }));
}

void JobLook::LookAtWork(const WorkKey& key, const Value& work) {
  const Result<WorkView> view = ReadWork(work);
  if (view && view->job_uid != uid_) {
    Fail({ErrorCode::kConflict, "Work " + key.first + "/" + key.second + " is one of another job"});
    return;
  }
  created_ = true;
  if (work.At({"metadata", "deletionTimestamp"}) != nullptr) {
    Again(Now() + context_.options.first_backoff);
    Finish();
  } else if (view) {
    RememberWork(key, work);
    Step();  // Of another epoch: that step deletes it.
  } else {
    TakeBack(key, work);
  }
}

void JobLook::RememberWork(const WorkKey& key, const Value& work) {
  const Result<WorkView> view = ReadWork(work);
  if (!view) {
    return;  // The watch will show it.
  }
  if (view->IsEdited()) {
    memory_.kept[view->uid] = view->content;
  } else {
    memory_.kept.erase(view->uid);
  }
  memory_.stamps[view->uid] = StampOf(*view);
  memory_.works[key] = {view->uid,       view->cluster, view->epoch, view->intent, view->generation,
                        view->suspended, view->content, view->uses,  Now()};
}

std::set<std::string> JobLook::Clusters() const {
  std::set<std::string> clusters;
  for (const Shard& shard : charge().shards) {
    clusters.insert(shard.cluster);
  }
  return clusters;
}

void JobLook::GiveBack(const std::set<std::string>& clusters, Verdict verdict,
                       const std::string& message, Time until) {
  for (const std::string& cluster : clusters) {
    context_.observer.SetBackoff(uid_, {cluster, std::string(VerdictName(verdict)), message, until},
                                 Now());
  }
  Recall();
}

// By a backoff of its clusters, which was told to the observer.
void JobLook::Recall() {
  memory_.recalled = intent_;
  if (unsent_) {
    context_.observer.SetNothingSent(uid_);
  }
  Learnt();
}

void JobLook::RecallFrom(const std::set<std::string>& clusters, Verdict verdict,
                         const std::string& message) {
  std::string where;
  for (const std::string& cluster : clusters) {
    where += (where.empty() ? "" : ", ") + cluster;
  }
  GiveBack(clusters, verdict, message, Now() + context_.options.cluster_backoff);
  Say(EventType::kWarning, "Recalled",
      "cluster " + where + ": " + std::string(VerdictName(verdict)) + ": " + message,
      EventRepeat::kEachTime);
  Step();
}

// What its placement is made of is not in it any more: it is placed anew, as it is now.
void JobLook::RecallEdited(const Error& error) {
  GiveBack(Clusters(), Verdict::kApplyFailed, error.message,
           Now() + context_.options.reference_recheck);
  Say(EventType::kWarning, "Recalled", "it was edited since it was placed: " + error.message,
      EventRepeat::kEachTime);
  Step();
}

// It was edited since it was placed, and cannot be sent any more. What still runs of it stays.
void JobLook::RefusedAsItIs(const std::string& why) {
  const bool runs = std::any_of(seen_.works.begin(), seen_.works.end(),
                                [](const SeenWork& work) { return !work.deleting; });
  if (runs) {
    Fail({ErrorCode::kInvalid, ParentName() + " cannot be sent: " + why});
    return;
  }
  GiveBack(Clusters(), Verdict::kRefused, why, Now() + context_.options.reference_recheck);
  Say(EventType::kWarning, "Recalled",
      "it has no Work any more, and cannot be sent again before it is edited", EventRepeat::kOnce);
  Step();
}

// No cluster can take it, until it is edited.
void JobLook::TooLarge(const std::string& message) {
  std::set<std::string> clusters;
  for (const auto& [name, index] : context_.state.clusters()) {
    if (context_.state.cluster(index).object.has_value()) {
      clusters.insert(name);
    }
  }
  GiveBack(clusters, Verdict::kTooLarge, message, Now() + kTooLargeAgain);
  Say(EventType::kWarning, "Recalled", "no cluster can be sent it: TooLarge: " + message,
      EventRepeat::kEachTime);
  Step();
}

}  // namespace caldera
