// Sending a shard: the whole Job, what it refers to, what has to be there ahead of it, the Work.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "controller/kube/json_writer.h"
#include "controller/run/dispatcher_look.h"
#include "controller/run/queue_works.h"
#include "federation/codec.h"
#include "federation/excerpt.h"
#include "federation/render.h"

namespace caldera {
namespace {

constexpr size_t kWorkBytesMax = size_t{1} << 20U;
constexpr Millis kCarrierPoll{50};

std::string TextAt(const Value& value, std::initializer_list<std::string_view> path) {
  const Value* const text = value.At(path);
  return text != nullptr && text->IsString() ? text->AsString() : "";
}

int64_t GenerationOf(const Value& object) {
  const Value* const generation = object.At({"metadata", "generation"});
  return generation != nullptr && generation->IsInteger() ? generation->AsInteger() : 0;
}

// The inverse of Reference::ToString; a kind of "" where it is none.
Reference ParseReference(const std::string& text) {
  const size_t first = text.find('/');
  if (first == std::string::npos) {
    return {};
  }
  const size_t second = text.find('/', first + 1);
  if (second == std::string::npos) {
    return {text.substr(0, first), "", text.substr(first + 1), false};
  }
  return {text.substr(0, first), text.substr(first + 1, second - first - 1),
          text.substr(second + 1), false};
}

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
    Prepare();
    return;
  }
  if (FetchClaims() || FetchReference()) {
    return;
  }
  if (std::any_of(references_.begin(), references_.end(),
                  [&](const Reference& reference) { return IsMissing(reference); })) {
    HoldForReferences();
    return;
  }
  if (HoldForClaims() || RefuseTooLarge() || BringCarriers()) {
    return;
  }
  CreateShard();
}

bool JobLook::FetchParent() {
  if (parent_) {
    return false;
  }
  const JobKey key = seen_.parent->key;
  context_.client.Get({&resource::Jobs(), key.ns, key.name},
                      OnObject([this, key](Result<Value> job) {
                        if (!job) {
                          Fail(job.error().Within("get Job " + key.ToString()));
                          return;
                        }
                        parent_ = *std::move(job);
                        intake_.reset();
                        Step();
                      }));
  return true;
}

void JobLook::Prepare() {
  const std::string uid = TextAt(*parent_, {"metadata", "uid"});
  if (uid != uid_) {
    parent_.reset();
    Fail({ErrorCode::kConflict, "the Job of that name is another one by now"});
    return;
  }
  // An answer to PATCH carries them, one to a GET of some servers may not.
  parent_->Set("apiVersion", resource::Jobs().ApiVersion());
  parent_->Set("kind", resource::Jobs().kind);
  Document document;
  document.file = target_.ns + "/" + target_.name;
  document.root = *parent_;
  Intake intake = TakeObject(document, Strictness::kStored, Now());
  if (!intake.errors.empty()) {
    const Issue& issue = intake.errors.front();
    const std::string message = issue.field + ": " + issue.message;
    Say(EventType::kWarning, "Refused", message, EventRepeat::kOnce);
    Fail({ErrorCode::kInvalid, "Job " + document.file + " cannot be sent: " + message});
    return;
  }
  references_ = ReferencesOf(intake.defaulted);
  intake_ = std::move(intake);
  Step();
}

bool JobLook::IsMissing(const Reference& reference) const {
  const auto found = fetched_.find(reference.ToString());
  return !reference.optional && found != fetched_.end() && found->second.IsNull();
}

bool JobLook::FetchReference() {
  for (const Reference& reference : references_) {
    const std::string name = reference.ToString();
    if (fetched_.contains(name) || !IsForKarmada(reference)) {
      continue;
    }
    context_.client.Get(WhereIs(reference), OnObject([this, name](Result<Value> object) {
                          if (object) {
                            if (name.starts_with("ServiceAccount/")) {
                              references_ = Merged(references_, ReferencesOfAccount(*object));
                            }
                            fetched_[name] = *std::move(object);
                          } else if (object.error().code == ErrorCode::kNotFound) {
                            fetched_[name] = Value();
                          } else {
                            Fail(object.error().Within("get " + name));
                            return;
                          }
                          Step();
                        }));
    return true;
  }
  return false;
}

// The charge is given back, and the job waits until all is there.
void JobLook::HoldForReferences() {
  std::vector<std::string> missing;
  for (const Reference& reference : references_) {
    if (IsMissing(reference)) {
      missing.push_back(reference.ToString());
    }
  }
  fetched_.clear();
  std::vector<std::string> clusters;
  for (const Shard& shard : charge().shards) {
    clusters.push_back(shard.cluster);
  }
  const Time now = Now();
  const std::string message =
      fmt::format("it refers to what is not there: {}", fmt::join(missing, ", "));
  memory_.references = {GenerationOf(*parent_), 0, {}};
  Postpone(memory_.references);
  context_.observer.SetMissingReferences(uid_, std::move(missing), now);
  for (const std::string& cluster : clusters) {
    context_.observer.SetBackoff(uid_,
                                 {cluster, std::string(VerdictName(Verdict::kMissingReference)),
                                  message, memory_.references.at},
                                 now);
  }
  memory_.recalled = intent_;
  Again(memory_.references.at);
  Learnt();
  Step();
}

// Of a job that waits for references: are they there by now?
bool JobLook::RecheckReferences() {
  const std::vector<std::string>& missing = seen_.entry->missing_references;
  if (missing.empty()) {
    return false;
  }
  if (memory_.references.generation != 0 &&
      memory_.references.generation != seen_.parent->generation) {
    // It was edited: what it refers to now is seen at the next dispatch.
    ForgetReferences();
    return false;
  }
  if (memory_.references.at > Now()) {
    Again(memory_.references.at);
    return false;
  }
  memory_.references.generation = seen_.parent->generation;
  RecheckNext(missing, {});
  return true;
}

void JobLook::RecheckNext(std::vector<std::string> left, std::vector<std::string> missing) {
  if (left.empty()) {
    FinishRecheck(std::move(missing));
    return;
  }
  const std::string name = std::move(left.back());
  left.pop_back();
  const ObjectRef ref = WhereIs(ParseReference(name));
  if (ref.type == nullptr) {
    RecheckNext(std::move(left), std::move(missing));
    return;
  }
  context_.client.Get(ref,
                      OnObject([this, name, left = std::move(left),
                                missing = std::move(missing)](const Result<Value>& object) mutable {
                        if (!object && object.error().code != ErrorCode::kNotFound) {
                          Fail(object.error().Within("get " + name));
                          return;
                        }
                        if (!object) {
                          missing.push_back(name);
                        }
                        RecheckNext(std::move(left), std::move(missing));
                      }));
}

void JobLook::FinishRecheck(std::vector<std::string> missing) {
  if (missing.empty()) {
    ForgetReferences();
    Finish();
    return;
  }
  Postpone(memory_.references);
  std::sort(missing.begin(), missing.end());
  context_.observer.SetMissingReferences(uid_, std::move(missing), Now());
  Learnt();
  Again(memory_.references.at);
  Finish();
}

void JobLook::ForgetReferences() {
  memory_.references = {};
  context_.observer.SetMissingReferences(uid_, {}, Now());
  Learnt();
}

void JobLook::MakeCarriers() {
  std::set<std::string> clusters;
  for (const Shard& shard : charge().shards) {
    clusters.insert(shard.cluster);
  }
  const auto& queue = context_.state.queue(seen_.entry->queue).object;
  for (const std::string& cluster : clusters) {
    if (queue.has_value()) {
      if (auto carrier = MakeQueueCarrier(*queue, cluster)) {
        carriers_.push_back(*std::move(carrier));
      }
    }
    for (const Reference& reference : references_) {
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
  std::set<WorkKey> uses;
  for (const Carrier& carrier : carriers_) {
    uses.emplace(ExecutionNamespace(carrier.cluster), CarrierNameOfUse(carrier.Use()));
  }
  for (const SeenWork& work : seen_.works) {
    for (const std::string& use : work.uses) {
      uses.emplace(work.ns, CarrierNameOfUse(use));
    }
  }
  context_.carriers.SetUses(uid_, std::move(uses));
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

Value JobLook::RenderWorkOf(size_t index, std::string& name) const {
  const Job job = context_.state.Object(seen_.index);
  ShardContext shard;
  shard.job_uid = uid_;
  shard.index = static_cast<int32_t>(index);
  shard.all_shards = charge().shards;
  shard.rendezvous = job.rendezvous;
  shard.restore_from = charge().shards[index].epoch > 1 ? job.checkpoint : "";
  shard.intent = charge().intent;
  shard.generation = GenerationOf(*parent_);
  for (const Carrier& carrier : carriers_) {
    if (carrier.cluster == charge().shards[index].cluster) {
      shard.uses.push_back(carrier.Use());
    }
  }
  const Value manifest = RenderShardJob(intake_->defaulted, shard);
  shard.digest = Digest(WriteJson(manifest));
  name = WorkName(uid_, charge().shards[index].child);
  return RenderWork(manifest, shard);
}

// Before anything is made for it. etcd takes 1.5 MiB, Karmada adds to what it keeps.
bool JobLook::RefuseTooLarge() {
  if (carriers_made_) {
    return false;
  }
  for (size_t i = 0; i < charge().shards.size(); ++i) {
    std::string name;
    const size_t bytes = WriteJson(RenderWorkOf(i, name)).size();
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
  WorkKey key{ExecutionNamespace(cluster), ""};
  const Value work = RenderWorkOf(index, key.second);
  context_.client.Create(
      resource::Works(), key.first, work, OnObject([this, key, cluster](Result<Value> made) {
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

// Something of that name is there: an earlier try of ours whose answer was lost, or a Work of an
// earlier epoch that no watch has shown yet.
void JobLook::LookAtConflict(const WorkKey& key, const Error& error) {
  context_.client.Get(
      {&resource::Works(), key.first, key.second},
      OnObject([this, key, error](const Result<Value>& there) {
        const Result<WorkView> view =
            there ? ReadWork(*there) : Result<WorkView>(tl::unexpected<Error>(there.error()));
        if (!view || view->job_uid != uid_) {
          Fail(view ? Error{ErrorCode::kConflict, "it is a Work of another job"} : error);
          return;
        }
        created_ = true;
        if (!view->deleting) {
          RememberWork(key, *there);
          Step();  // Of another epoch: that step deletes it.
          return;
        }
        Again(Now() + context_.options.first_backoff);
        Finish();
      }));
}

void JobLook::RememberWork(const WorkKey& key, const Value& work) {
  const Result<WorkView> view = ReadWork(work);
  if (!view) {
    return;  // The watch will show it.
  }
  memory_.works[key] = {view->uid,        view->cluster,   view->epoch, view->intent,
                        view->generation, view->suspended, view->uses,  Now()};
}

void JobLook::RecallFrom(const std::vector<std::string>& clusters, Verdict verdict,
                         const std::string& message) {
  const Time now = Now();
  std::string where;
  for (const std::string& cluster : clusters) {
    context_.observer.SetBackoff(uid_,
                                 {cluster, std::string(VerdictName(verdict)), message,
                                  now + context_.options.cluster_backoff},
                                 now);
    where += (where.empty() ? "" : ", ") + cluster;
  }
  memory_.recalled = intent_;
  Say(EventType::kWarning, "Recalled",
      "cluster " + where + ": " + std::string(VerdictName(verdict)) + ": " + message,
      EventRepeat::kEachTime);
  Learnt();
  Step();
}

// No cluster can take it, until it is edited.
void JobLook::TooLarge(const std::string& message) {
  std::vector<std::string> clusters;
  for (const auto& [name, index] : context_.state.clusters()) {
    if (context_.state.cluster(index).object.has_value()) {
      clusters.push_back(name);
    }
  }
  RecallFrom(clusters, Verdict::kTooLarge, message);
}

}  // namespace caldera
