// What a job refers to: read at the Karmada API before anything is sent, by replicatedJob where it
// is a HyperJob. A job that refers to what is not there gives its charge back and waits for it.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "controller/run/dispatcher_look.h"
#include "federation/children.h"

namespace caldera {

bool JobLook::IsMissing(const Reference& reference) const {
  const auto found = fetched_.find(reference.ToString());
  return !reference.optional && found != fetched_.end() && found->second.IsNull();
}

const std::vector<Reference>& JobLook::ReferencesOfShard(const Shard& shard) const {
  static const std::vector<Reference> kNone;
  const auto found = references_.find(TemplateOf(shard.child));
  return found == references_.end() ? kNone : found->second;
}

std::vector<Reference> JobLook::AllReferences() const {
  std::vector<Reference> all;
  for (const auto& [of, references] : references_) {
    all = Merged(std::move(all), references);
  }
  return all;
}

// What an account refers to, whoever uses the account refers to.
void JobLook::AddAccount(const std::string& name, const Value& account) {
  const std::vector<Reference> own = ReferencesOfAccount(account);
  for (auto& [of, references] : references_) {
    if (std::any_of(references.begin(), references.end(),
                    [&](const Reference& reference) { return reference.ToString() == name; })) {
      references = Merged(std::move(references), own);
    }
  }
}

bool JobLook::FetchReference() {
  for (const Reference& reference : AllReferences()) {
    const std::string name = reference.ToString();
    if (fetched_.contains(name) || !IsForKarmada(reference)) {
      continue;
    }
    context_.client.Get(WhereIs(reference), OnObject([this, name](Result<Value> object) {
                          if (object) {
                            if (name.starts_with("ServiceAccount/")) {
                              AddAccount(name, *object);
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
bool JobLook::HoldForReferences() {
  std::vector<std::string> missing;
  for (const Reference& reference : AllReferences()) {
    if (IsMissing(reference)) {
      missing.push_back(reference.ToString());
    }
  }
  if (missing.empty()) {
    return false;
  }
  fetched_.clear();
  const std::string message =
      fmt::format("it refers to what is not there: {}", fmt::join(missing, ", "));
  memory_.references = {ParentGeneration(), 0, {}};
  Postpone(memory_.references);
  context_.observer.SetMissingReferences(uid_, std::move(missing), Now());
  GiveBack(Clusters(), Verdict::kMissingReference, message, memory_.references.at);
  Again(memory_.references.at);
  Step();
  return true;
}

// Of a job that waits for references: are they there by now?
bool JobLook::RecheckReferences() {
  const std::vector<std::string>& missing = seen_.entry->rare().missing_references;
  if (missing.empty()) {
    return false;
  }
  if (memory_.references.generation != 0 &&
      memory_.references.generation != seen_.parent->generation) {
    // It was edited: what it refers to now is seen at the next dispatch, wherever that is.
    ForgetReferences();
    for (const ClusterBackoff& backoff : seen_.entry->rare().backoffs) {
      if (backoff.reason == VerdictName(Verdict::kMissingReference)) {
        LetIn(backoff.cluster);
      }
    }
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
  const ObjectRef ref = WhereIs(ReferenceOf(name));
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

}  // namespace caldera
