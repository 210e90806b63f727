#include "controller/run/dispatcher_carriers.h"

#include <algorithm>
#include <utility>

#include "controller/run/dispatcher_patches.h"
#include "controller/run/member_access.h"
#include "controller/run/queue_works.h"
#include "controller/run/stray_works.h"
#include "federation/render.h"

namespace caldera {
namespace {

WorkKey KeyOf(const Carrier& carrier) {
  return {ExecutionNamespace(carrier.cluster), CarrierName(carrier.kind, carrier.ns, carrier.name)};
}

}  // namespace

Carriers::Carriers(Client& client, const State& state, const Observer& observer,
                   const DispatcherOptions& options, std::function<void()> on_failed)
    : client_(client),
      state_(state),
      observer_(observer),
      options_(options),
      on_failed_(std::move(on_failed)) {}

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
  const bool edited = view.IsEdited() && (kept == kept_.end() || kept->second != view.content);
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
                  ToPatch({seen->uid, carrier.manifest, carrier.digest, 0, 0}), "",
                  std::move(finish));
  } else {
    Create(carrier, std::move(finish));
  }
}

// Where its name is taken, perhaps by one of ours that no watch shows for want of its labels.
void Carriers::Create(const Carrier& carrier, Client::ObjectHandler done) {
  const WorkKey key = KeyOf(carrier);
  const ObjectRef ref = {&resource::Works(), key.first, key.second};
  client_.Create(
      resource::Works(), key.first, RenderCarrier(carrier),
      [self = shared_from_this(), ref, done = std::move(done)](Result<Value> made) {
        if (made || made.error().code != ErrorCode::kConflict || self->stopped_) {
          done(std::move(made));
          return;
        }
        self->client_.Get(ref, [self, ref, done, error = made.error()](const Result<Value>& there) {
          const std::optional<Value> labels = there ? LabelsBack(*there) : std::nullopt;
          if (labels && !self->stopped_) {
            self->client_.Patch(ref, PatchKind::kMerge, *labels, "", done);
          } else {
            done(tl::unexpected<Error>(error));
          }
        });
      });
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

void Carriers::SetUses(const std::string& job_uid, std::set<WorkKey> uses) {
  std::set<WorkKey> before;
  if (const auto found = uses_.find(job_uid); found != uses_.end()) {
    before = std::move(found->second);
  }
  for (const WorkKey& key : uses) {
    users_[key].insert(job_uid);
  }
  for (const WorkKey& key : before) {
    if (uses.contains(key)) {
      continue;
    }
    const auto users = users_.find(key);
    users->second.erase(job_uid);
    if (users->second.empty()) {
      users_.erase(users);
      CollectIfUnused(key);
    }
  }
  if (uses.empty()) {
    uses_.erase(job_uid);
  } else {
    uses_[job_uid] = std::move(uses);
  }
}

bool Carriers::QueueIsThere(const std::string& work_name) const {
  return std::any_of(state_.queues().begin(), state_.queues().end(), [&](const auto& entry) {
    return state_.queue(entry.second).object.has_value() &&
           CarrierNameOfUse(QueueUse(entry.first)) == work_name;
  });
}

std::vector<Carrier> Carriers::AccessTo(const std::string& cluster) const {
  const auto known = state_.clusters().find(cluster);
  if (!options_.reader_of || known == state_.clusters().end() ||
      !state_.cluster(known->second).object.has_value()) {
    return {};
  }
  const std::string reader = options_.reader_of(cluster);
  return reader.empty() ? std::vector<Carrier>() : MakeAccessCarriers(reader, cluster);
}

// Whether it stays without users.
bool Carriers::IsKept(const WorkKey& key, const WorkView& view) const {
  if (view.role == WorkRole::kAccess) {
    const std::vector<Carrier> wanted = AccessTo(view.cluster);
    return std::any_of(wanted.begin(), wanted.end(),
                       [&](const Carrier& carrier) { return KeyOf(carrier) == key; });
  }
  return view.role == WorkRole::kQueue && QueueIsThere(key.second);
}

void Carriers::CollectIfUnused(const WorkKey& key) {
  if (!collecting_ || stopped_ || users_.contains(key) || busy_.contains(key)) {
    return;
  }
  const std::optional<Seen> seen = Find(key);
  if (!seen || seen->deleting || seen->view == nullptr) {
    return;  // One that no watch has shown yet is looked at when it is shown.
  }
  if (IsKept(key, *seen->view)) {
    return;
  }
  busy_.insert(key);
  DeleteOptions options;
  options.uid = seen->uid;
  client_.Delete({&resource::Works(), key.first, key.second}, options,
                 [self = shared_from_this(), key, uid = seen->uid](const Status& done) {
                   self->busy_.erase(key);
                   // What failed is tried again when the queues are followed next.
                   if (done || done.error().code == ErrorCode::kNotFound) {
                     self->kept_.erase(uid);
                     self->deleted_[uid] = self->client_.executor().Now();
                   }
                 });
}

void Carriers::FollowAccess() {
  if (stopped_) {
    return;
  }
  for (const auto& [cluster, index] : state_.clusters()) {
    for (const Carrier& carrier : AccessTo(cluster)) {
      if (NeedOf(carrier) == Need::kWrite) {
        Write(carrier, [this](const Status& done) {
          if (!done) {
            on_failed_();
          }
        });
      }
    }
  }
}

void Carriers::BeginCollecting() {
  collecting_ = true;
  FollowQueues();
}

void Carriers::FollowQueues() {
  if (stopped_) {
    return;
  }
  // By the names of their Works, which a cluster's has in its namespace. Only jobs that hold
  // something have a Queue of their own, and only one whose Work is there is rendered.
  std::map<WorkKey, JobIndex> waves;
  for (const auto& [cluster, index] : state_.clusters()) {
    for (const JobIndex job : state_.cluster(index).jobs) {
      if (const JobEntry& entry = state_.job(job); HasWavesQueue(entry)) {
        waves.emplace(WorkKey(ExecutionNamespace(cluster),
                              CarrierNameOfUse(QueueUse(QueueOfWaves(entry.uid)))),
                      job);
      }
    }
  }
  std::map<std::string, const Queue*> queues;
  for (const auto& [name, index] : state_.queues()) {
    if (const auto& object = state_.queue(index).object; object.has_value()) {
      queues.emplace(CarrierNameOfUse(QueueUse(name)), &*object);
    }
  }
  for (const auto& [key, view] : observer_.OtherWorks()) {
    const auto queue = queues.find(key.second);
    const auto wave = waves.find(key);
    if (view.role != WorkRole::kQueue || (queue == queues.end() && wave == waves.end())) {
      CollectIfUnused(key);
      continue;
    }
    const auto carrier = wave != waves.end() ? MakeWavesCarrier(state_, state_.job(wave->second))
                                             : MakeQueueCarrier(*queue->second, view.cluster);
    if (!carrier || busy_.contains(key) || view.deleting) {
      continue;
    }
    const auto seen = Find(key);
    if (seen && !seen->deleting && (seen->digest != carrier->digest || seen->edited)) {
      Write(*carrier, [](const Status& /*done*/) {});  // Tried again after the next cycle.
    }
  }
}

}  // namespace caldera
