// What Works that are no shards are to be there, kept as they should be whatever another hand does
// to them, and taken away when nobody uses them any more.
#include <algorithm>
#include <utility>

#include "controller/run/dispatcher_carriers.h"
#include "controller/run/dispatcher_patches.h"
#include "controller/run/member_access.h"
#include "controller/run/queue_works.h"
#include "federation/render.h"

namespace caldera {
namespace {

constexpr Millis kFirstPause{500};
constexpr std::string_view kQueueWorks = "caldera-queue.";
constexpr std::string_view kAccessWorks = "caldera-clusterrole";

}  // namespace

void Carriers::Look(const WorkKey& key) {
  if (stopped_ || busy_.contains(key)) {
    return;
  }
  const std::optional<Seen> seen = Find(key);
  const std::optional<Carrier> wanted = Wanted(key);
  const auto users = users_.find(key);
  const bool kept = wanted && (wanted->role == WorkRole::kAccess || seen);
  if (users == users_.end() && !kept) {
    CollectIfUnused(key);
    return;
  }
  if (seen && (seen->deleting || seen->view == nullptr)) {
    return;  // It is looked at again when it is gone, or shown.
  }
  if (wanted) {
    if (!seen || seen->edited || seen->digest != wanted->digest) {
      Keep(*wanted);
    }
    return;
  }
  const Reference reference = users == users_.end() ? Reference() : ReferenceOf(users->second.use);
  if ((!seen || seen->edited) && WhereIs(reference).type != nullptr && MayPutBack(key)) {
    FetchSource(key, reference);
  }
}

// What it carried before nobody knows any more: it gets what is there now. Where nothing is, it
// stays as it is.
void Carriers::FetchSource(const WorkKey& key, const Reference& reference) {
  busy_.insert(key);
  client_.Get(WhereIs(reference),
              [self = shared_from_this(), key, reference](const Result<Value>& object) {
                self->busy_.erase(key);
                if (self->stopped_) {
                  return;
                }
                if (object && CarriageOf(reference, *object) == Carriage::kSend) {
                  self->Keep(MakeReferenceCarrier(reference, *object,
                                                  key.first.substr(ExecutionNamespace("").size())));
                } else if (!object && object.error().code != ErrorCode::kNotFound) {
                  self->LookAfterPause(key);
                }
              });
}

void Carriers::Keep(const Carrier& carrier) {
  const WorkKey key = KeyOf(carrier);
  const std::optional<Seen> seen = Find(key);
  const bool other_hand = !seen || seen->edited;
  const bool fetched = carrier.role == WorkRole::kReference;
  if (NeedOf(carrier) != Need::kWrite || (other_hand && !fetched && !MayPutBack(key))) {
    return;
  }
  const bool edited = seen.has_value() && seen->edited;
  Write(carrier, [self = shared_from_this(), key, other_hand, edited](const Status& done) {
    const auto users = self->users_.find(key);
    if (!done && other_hand) {
      self->LookAfterPause(key);
    } else if (!done) {
      self->handlers_.on_failed();
    } else if (edited && users != self->users_.end()) {
      self->handlers_.on_put_back(*users->second.jobs.begin(), key);
    }
  });
}

// Once at once; where somebody does it again and again, not with every event. It is looked at again
// when the pause is over.
bool Carriers::MayPutBack(const WorkKey& key) {
  const Time now = client_.executor().Now();
  PuttingBack& last = putting_back_[key];
  if (last.timer != 0) {
    return false;
  }
  if (last.pause > Millis(0) && now < last.at + last.pause) {
    LookAfterPause(key);
    return false;
  }
  const bool again = now < last.at + 4 * last.pause;
  last.pause = again ? std::min(2 * last.pause, options_.longest_backoff) : kFirstPause;
  last.at = now;
  return true;
}

// Where somebody was at it just now, or putting it back failed.
void Carriers::LookAfterPause(const WorkKey& key) {
  PuttingBack& last = putting_back_[key];
  if (last.timer != 0) {
    return;
  }
  const Time at = std::max(last.at + last.pause, client_.executor().Now());
  last.timer = client_.executor().PostAt(at, [self = shared_from_this(), key] {
    self->putting_back_[key].timer = 0;
    self->Look(key);
  });
}

// Of a Queue: its name; empty: it is the Work of none.
std::string Carriers::QueueNameOf(const WorkKey& key) const {
  constexpr std::string_view kUse = "Queue/";
  if (const auto users = users_.find(key);
      users != users_.end() && users->second.use.starts_with(kUse)) {
    return users->second.use.substr(kUse.size());
  }
  const auto shown = observer_.OtherWorks().find(key);
  if (shown != observer_.OtherWorks().end() && shown->second.object.starts_with(kUse) &&
      CarrierNameOfUse(shown->second.object) == key.second) {
    return shown->second.object.substr(kUse.size());
  }
  if (!key.second.starts_with(kQueueWorks)) {
    return {};
  }
  const auto found = std::find_if(
      state_.queues().begin(), state_.queues().end(),
      [&](const auto& entry) { return CarrierNameOfUse(QueueUse(entry.first)) == key.second; });
  return found == state_.queues().end() ? "" : found->first;
}

// The job whose own Queue it is; nullptr: of none.
const JobEntry* Carriers::JobInWaves(const std::string& queue) const {
  const std::string prefix = QueueOfWaves("");
  const JobView* const parent =
      queue.starts_with(prefix) ? observer_.FindJob(queue.substr(prefix.size())) : nullptr;
  const JobIndex job = parent == nullptr ? kNoIndex : state_.FindJob(parent->key, parent->uid);
  return job != kNoIndex && HasWavesQueue(state_.job(job)) ? &state_.job(job) : nullptr;
}

// What State and the settings say; nullopt: nothing, or it carries what a job refers to.
std::optional<Carrier> Carriers::Wanted(const WorkKey& key) const {
  const std::string cluster = key.first.substr(ExecutionNamespace("").size());
  if (key.second.starts_with(kAccessWorks)) {
    for (Carrier& access : AccessTo(cluster)) {
      if (KeyOf(access) == key) {
        return std::move(access);
      }
    }
  }
  const std::string queue = QueueNameOf(key);
  if (const JobEntry* const job = JobInWaves(queue); job != nullptr) {
    std::optional<Carrier> own = MakeWavesCarrier(state_, *job);
    return own && KeyOf(*own) == key ? std::move(own) : std::nullopt;
  }
  const auto known = state_.queues().find(queue);
  if (known == state_.queues().end() || !state_.queue(known->second).object.has_value()) {
    return std::nullopt;
  }
  return MakeQueueCarrier(*state_.queue(known->second).object, cluster);
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

void Carriers::CollectIfUnused(const WorkKey& key) {
  if (!collecting_ || stopped_ || users_.contains(key) || busy_.contains(key)) {
    return;
  }
  const std::optional<Seen> seen = Find(key);
  if (!seen || seen->deleting || seen->view == nullptr) {
    return;  // One that no watch has shown yet is looked at when it is shown.
  }
  // Access, and the Queue of one that there is, stay without users.
  if (Wanted(key).has_value()) {
    return;
  }
  busy_.insert(key);
  if (!seen->view->LeavesItsObject()) {
    Delete(key, seen->uid);
    return;
  }
  client_.Patch({&resource::Works(), key.first, key.second}, PatchKind::kMerge,
                HoldPatch(seen->uid, seen->view->other_finalizers), "",
                [self = shared_from_this(), key, uid = seen->uid](const Result<Value>& patched) {
                  if (patched && !self->stopped_) {
                    self->Delete(key, uid);
                  } else {
                    self->busy_.erase(key);
                  }
                });
}

// It is busy until that is answered.
void Carriers::Delete(const WorkKey& key, const std::string& uid) {
  DeleteOptions options;
  options.uid = uid;
  client_.Delete({&resource::Works(), key.first, key.second}, options,
                 [self = shared_from_this(), key, uid](const Status& done) {
                   self->busy_.erase(key);
                   // What failed is tried again when the queues are followed next.
                   if (done || done.error().code == ErrorCode::kNotFound) {
                     self->kept_.erase(uid);
                     self->putting_back_.erase(key);
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
      Look(KeyOf(carrier));
    }
  }
}

void Carriers::BeginCollecting() {
  collecting_ = true;
  FollowQueues();
  std::vector<WorkKey> used;  // What went, or lost its labels, while nobody looked.
  used.reserve(users_.size());
  for (const auto& [key, users] : users_) {
    used.push_back(key);
  }
  for (const WorkKey& key : used) {
    Look(key);
  }
}

void Carriers::FollowQueues() {
  if (stopped_) {
    return;
  }
  for (const auto& [key, view] : observer_.OtherWorks()) {
    if (view.role == WorkRole::kQueue) {
      Look(key);
    } else {
      CollectIfUnused(key);
    }
  }
}

}  // namespace caldera
