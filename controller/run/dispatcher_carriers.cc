#include "controller/run/dispatcher_carriers.h"

#include <algorithm>
#include <utility>

#include "controller/run/dispatcher_patches.h"
#include "controller/run/stray_works.h"
#include "federation/render.h"
#include "federation/value_at.h"

namespace caldera {
namespace {

bool HasChanged(const WorkView& view, const std::string* kept) {
  const bool as_kept = kept != nullptr && *kept == view.content && !view.digest.empty();
  return (view.IsEdited() && !as_kept) || view.LeavesItsObject() || view.suspended ||
         CarrierNameOfUse(view.object) != view.name;
}

/// The same object: `a` and `b` are manifests.
bool IsSameObject(const Value& a, const Value& b) {
  return TextAt(a, {"kind"}) == TextAt(b, {"kind"}) &&
         TextAt(a, {"metadata", "name"}) == TextAt(b, {"metadata", "name"}) &&
         TextAt(a, {"metadata", "namespace"}) == TextAt(b, {"metadata", "namespace"});
}

}  // namespace

Carriers::Carriers(Client& client, const State& state, const Observer& observer,
                   const DispatcherOptions& options, Handlers handlers)
    : client_(client),
      state_(state),
      observer_(observer),
      options_(options),
      handlers_(std::move(handlers)) {}

std::optional<Carriers::Seen> Carriers::Find(const WorkKey& key) {
  const Time too_old = client_.executor().Now() - options_.unseen_write;
  const auto made = made_.find(key);
  const auto shown = observer_.OtherWorks().find(key);
  if (shown == observer_.OtherWorks().end()) {
    if (made == made_.end() || made->second.at <= too_old) {
      made_.erase(key);
      return std::nullopt;
    }
    return Seen{made->second.uid, made->second.digest};
  }
  const WorkView& view = shown->second;
  const auto kept = kept_.find(view.uid);
  const bool edited = HasChanged(view, kept == kept_.end() ? nullptr : &kept->second);
  Seen seen{view.uid, view.digest, view.deleting, edited, &view};
  if (const auto deleted = deleted_.find(view.uid); deleted != deleted_.end()) {
    if (deleted->second <= too_old || view.deleting) {
      deleted_.erase(deleted);
    } else {
      seen.deleting = true;
    }
  }
  if (made != made_.end()) {
    const bool same = made->second.uid == view.uid;
    const bool shows =
        same && made->second.digest == view.digest && made->second.content == view.content;
    if (made->second.at <= too_old || shows || (!same && !seen.deleting)) {
      made_.erase(made);
    } else if (same) {
      seen.digest = made->second.digest;
      seen.edited = false;
    } else {
      return Seen{made->second.uid, made->second.digest};
    }
  }
  return seen;
}

Carriers::Need Carriers::NeedOf(const Carrier& carrier) {
  const WorkKey key = KeyOf(carrier);
  if (busy_.contains(key)) {
    return Need::kWait;
  }
  const std::optional<Seen> seen = Find(key);
  if (!seen) {
    return Need::kWrite;
  }
  if (seen->deleting) {
    return Need::kGoing;
  }
  if (seen->digest != carrier.digest || seen->edited) {
    return Need::kWrite;
  }
  const bool applied =
      seen->view != nullptr &&
      (seen->view->applied == WorkView::Applied::kTrue ||
       (seen->view->applied == WorkView::Applied::kFalse && seen->view->NameIsTaken()));
  return applied ? Need::kNothing : Need::kWait;
}

std::string Carriers::Complaint(const Carrier& carrier) const {
  const auto shown = observer_.OtherWorks().find(KeyOf(carrier));
  return shown != observer_.OtherWorks().end() && shown->second.applied == WorkView::Applied::kFalse
             ? shown->second.applied_message
             : "";
}

void Carriers::Write(const Carrier& carrier, Client::DoneHandler done) {
  const WorkKey key = KeyOf(carrier);
  busy_.insert(key);
  const std::optional<Seen> seen = Find(key);
  auto finish = [self = shared_from_this(), carrier, done = std::move(done)](Result<Value> made) {
    self->Finish(carrier, std::move(made), done);
  };
  if (seen) {
    client_.Patch({&resource::Works(), key.first, key.second}, PatchKind::kMerge,
                  WholePatch(carrier, seen->uid,
                             seen->view == nullptr ? std::vector<std::string>()
                                                   : seen->view->other_finalizers),
                  "", std::move(finish));
  } else {
    Create(carrier, std::move(finish));
  }
}

Value Carriers::WholePatch(const Carrier& carrier, const std::string& uid,
                           const std::vector<std::string>& other_finalizers) const {
  const Value rendered = RenderCarrier(carrier);
  Value patch = MetadataPatch(uid, rendered, other_finalizers);
  Value* const spec = patch.Find("spec");
  spec->Set("suspendDispatching", Value());
  spec->Set("workload", *rendered.At({"spec", "workload"}));
  return patch;
}

// Where its name is taken, perhaps by one of ours that no watch shows for want of its labels.
void Carriers::Create(const Carrier& carrier, Client::ObjectHandler done) {
  const WorkKey key = KeyOf(carrier);
  client_.Create(
      resource::Works(), key.first, RenderCarrier(carrier),
      [self = shared_from_this(), carrier, key, done = std::move(done)](Result<Value> made) {
        if (made || made.error().code != ErrorCode::kConflict || self->stopped_) {
          done(std::move(made));
          return;
        }
        self->client_.Get({&resource::Works(), key.first, key.second},
                          [self, carrier, done, error = made.error()](const Result<Value>& there) {
                            self->TakeOver(carrier, there, error, done);
                          });
      });
}

// It is ours by its name; one that carries another object somebody else made so.
void Carriers::TakeOver(const Carrier& carrier, const Result<Value>& there, const Error& error,
                        const Client::ObjectHandler& done) {
  const WorkKey key = KeyOf(carrier);
  const bool ours = there && std::all_of(ListAt(*there, {"spec", "workload", "manifests"}).begin(),
                                         ListAt(*there, {"spec", "workload", "manifests"}).end(),
                                         [&](const Value& manifest) {
                                           return IsSameObject(manifest, carrier.manifest);
                                         });
  const bool labelled = there && !LabelsBack(*there) && ReadWork(*there);
  if (!ours || labelled || stopped_) {
    // Where it is labelled, a watch shows it.
    done(tl::unexpected<Error>(error));
    return;
  }
  client_.Patch({&resource::Works(), key.first, key.second}, PatchKind::kMerge,
                WholePatch(carrier, TextAt(*there, {"metadata", "uid"}), OtherFinalizers(*there)),
                "", done);
}

void Carriers::Finish(const Carrier& carrier, Result<Value> made, const Client::DoneHandler& done) {
  const WorkKey key = KeyOf(carrier);
  busy_.erase(key);
  if (stopped_) {
    return;
  }
  if (!made) {
    // Where it is there already, or is another by now, the watch will tell.
    done(tl::unexpected<Error>(
        made.error().Within("Work " + key.first + "/" + key.second + " for " + carrier.Use())));
    return;
  }
  if (const Result<WorkView> view = ReadWork(*made)) {
    // One that was found there may carry another manifest: that is seen when it is looked at next.
    if (view->digest == carrier.digest && view->IsEdited()) {
      kept_[view->uid] = view->content;
    } else {
      kept_.erase(view->uid);
    }
    made_[key] = {view->uid, view->digest, view->content, client_.executor().Now()};
  }
  done({});
}

void Carriers::SetUses(const std::string& job_uid, const Uses& uses) {
  std::set<WorkKey> before;
  if (const auto found = uses_.find(job_uid); found != uses_.end()) {
    before = std::move(found->second);
  }
  std::set<WorkKey> now;
  for (const auto& [key, use] : uses) {
    Users& users = users_[key];
    users.use = use;
    users.jobs.insert(job_uid);
    now.insert(key);
  }
  for (const WorkKey& key : before) {
    if (uses.contains(key)) {
      continue;
    }
    const auto users = users_.find(key);
    users->second.jobs.erase(job_uid);
    if (users->second.jobs.empty()) {
      users_.erase(users);
      CollectIfUnused(key);
    }
  }
  if (now.empty()) {
    uses_.erase(job_uid);
  } else {
    uses_[job_uid] = std::move(now);
  }
}

std::vector<std::string> Carriers::UsesIn(const std::string& job_uid, const std::string& ns) const {
  std::vector<std::string> uses;
  if (const auto found = uses_.find(job_uid); found != uses_.end()) {
    for (const WorkKey& key : found->second) {
      if (key.first == ns) {
        uses.push_back(users_.at(key).use);
      }
    }
  }
  return uses;
}

}  // namespace caldera
