// What comes in of jobs, their Works and Commands; what goes out is in observer_jobs_take.cc.
#include "controller/run/observer_jobs.h"

#include <algorithm>
#include <string_view>

#include "controller/run/observer_intake.h"
#include "federation/children.h"
#include "federation/intake.h"

namespace caldera {
namespace {

class Fingerprint {
 public:
  void Add(std::string_view text) {
    for (const char c : text) {
      hash_ = (hash_ ^ static_cast<unsigned char>(c)) * kPrime;
    }
    hash_ = (hash_ ^ 0xFFU) * kPrime;
  }
  void AddMap(const Value* map) {
    if (map != nullptr && map->IsMap()) {
      for (const Member& member : map->AsMap()) {
        Add(member.key);
        Add(member.value.IsString() ? std::string_view(member.value.AsString())
                                    : std::string_view());
      }
    }
    Add("");
  }
  [[nodiscard]] uint64_t value() const { return hash_; }

 private:
  static constexpr uint64_t kPrime = 0x100000001B3ULL;
  uint64_t hash_ = 0xCBF29CE484222325ULL;
};

// Of all that intake reads of a Job but its status, which Observer reads itself: the generation
// stands for the spec. 0 where there is none.
uint64_t FingerprintOf(const Value& object, const JobView& view) {
  if (view.generation <= 0) {
    return 0;
  }
  Fingerprint print;
  print.Add(std::to_string(view.generation));
  print.AddMap(object.At({"metadata", "labels"}));
  print.AddMap(object.At({"metadata", "annotations"}));
  return std::max<uint64_t>(print.value(), 1);
}

MemberJob MemberJobOf(const WorkView& work) {
  return {work.cluster, {work.job.ns, MemberJobName(work.job.name, work.child)}};
}

bool HadPods(const WorkView& work) {
  return std::any_of(work.tasks.begin(), work.tasks.end(), [](const TaskReport& report) {
    return report.running > 0 || report.finished > 0;
  });
}

}  // namespace

std::optional<std::string> JobBook::Upsert(Value&& object, Time now) {
  JobView view = ReadJobView(object);
  const Key key{view.key, view.kind};
  if (const auto other = current_.find(key); other != current_.end() && other->second != view.uid) {
    Delete(view.key, view.kind, std::string(other->second));
  }
  const uint64_t fingerprint = FingerprintOf(object, view);
  Record& record = RecordOf(view.key, view.kind, view.uid);
  const bool same = record.there && fingerprint != 0 && fingerprint == record.fingerprint;
  record.edited = record.edited || (record.there && record.view.generation != view.generation);
  record.view = std::move(view);
  record.there = true;
  record.fingerprint = fingerprint;
  record.opted_in = OptedIn(object, record.view.key);
  current_[key] = record.view.uid;
  News& news = Touch(record.view.uid);
  if (same || (!record.opted_in && EntryOf(record) == nullptr)) {
    return std::nullopt;
  }
  Taken taken = TakeStored(std::move(object), now);
  if (!taken.change.has_value()) {
    record.refused = taken.message;
    return std::move(taken.message);
  }
  record.refused.clear();
  news.fresh = std::move(std::get<JobUpsert>(*taken.change).job);
  return std::nullopt;
}

void JobBook::Delete(const JobKey& key, JobKind kind, const std::string& uid) {
  const auto current = current_.find({key, kind});
  if (current == current_.end() || (!uid.empty() && current->second != uid)) {
    return;
  }
  const std::string gone = current->second;
  current_.erase(current);
  Record& record = RecordOf(key, kind, gone);
  record.there = false;
  record.fingerprint = 0;
  record.view.placement.clear();
  news_.erase(gone);
  Touch(gone);
}

void JobBook::UpsertWork(WorkView work, Time now) {
  const WorkKey key{work.ns, work.name};
  if (work.role != WorkRole::kShard) {
    if (work_jobs_.contains(key)) {
      SpoilWork(work.ns, work.name);  // A shard does not become another thing.
    } else {
      dirty_carriers_.insert(key);
      other_works_.insert_or_assign(key, std::move(work));
    }
    return;
  }
  if (const auto it = work_jobs_.find(key); it != work_jobs_.end() && it->second != work.job_uid) {
    DeleteWork(work.ns, work.name, "", now);
  }
  const std::string uid = work.job_uid;
  Record& record = RecordOf(work.job, work.child.empty() ? JobKind::kJob : JobKind::kHyperJob, uid);
  if (const auto old = record.works.find(key);
      old != record.works.end() && old->second.uid != work.uid) {
    DeleteWork(work.ns, work.name, "", now);
  }
  // Deleting the old one may have forgotten the record.
  Record& kept = RecordOf(work.job, work.child.empty() ? JobKind::kJob : JobKind::kHyperJob, uid);
  kept.had_work = true;
  kept.works.insert_or_assign(key, std::move(work));
  work_jobs_[key] = uid;
  Touch(uid);
}

void JobBook::SpoilWork(const std::string& ns, const std::string& name) {
  const WorkKey key{ns, name};
  if (const auto job = work_jobs_.find(key); job != work_jobs_.end()) {
    records_.at(job->second).works.at(key).content.clear();
    Touch(job->second);
  }
  if (const auto other = other_works_.find(key); other != other_works_.end()) {
    other->second.content.clear();
    dirty_carriers_.insert(key);
  }
}

void JobBook::DeleteWork(const std::string& ns, const std::string& name, const std::string& uid,
                         Time now) {
  const WorkKey key{ns, name};
  if (const auto other = other_works_.find(key);
      other != other_works_.end() && (uid.empty() || other->second.uid == uid)) {
    other_works_.erase(other);
    dirty_carriers_.insert(key);
    return;
  }
  const auto job = work_jobs_.find(key);
  if (job == work_jobs_.end()) {
    return;
  }
  Record& record = records_.at(job->second);
  const auto work = record.works.find(key);
  if (!uid.empty() && work->second.uid != uid) {
    return;
  }
  if (const WorkView& gone = work->second; !HasNoPods(gone)) {
    const Millis grace = std::max(gone.grace, record.view.grace);
    const Time until = now + grace + options_.release_margin;
    leaving_.Add(job->second, MemberJobOf(gone), until, HadPods(gone));
    timers_.insert({until, job->second});
  }
  record.works.erase(work);
  Touch(job->second);
  work_jobs_.erase(job);
}

void JobBook::SetMissingReferences(const std::string& uid, std::vector<std::string> missing) {
  if (FindRecord(uid) != nullptr) {
    Touch(uid).missing = std::move(missing);
  }
}

void JobBook::SetNothingSent(const std::string& uid) {
  if (const auto it = records_.find(uid); it != records_.end()) {
    it->second.unsent = true;
    Touch(uid);
  }
}

void JobBook::SetBackoff(const std::string& uid, ClusterBackoff backoff) {
  if (FindRecord(uid) != nullptr) {
    Touch(uid).backoffs.push_back(std::move(backoff));
  }
}

JobBook::Answer JobBook::Obey(CommandAction action, const std::string& uid, std::string& why) {
  const Record* const record = FindRecord(uid);
  if (record == nullptr || !record->there) {
    return Answer::kNoTarget;
  }
  const JobEntry* const entry = EntryOf(*record);
  const auto it = news_.find(uid);
  const News* const news = it == news_.end() ? nullptr : &it->second;
  const bool fresh = news != nullptr && news->fresh.has_value();
  if (entry == nullptr && !fresh) {
    why = "the Job is refused itself";
    return Answer::kRefused;
  }
  if ((entry != nullptr && entry->terminal) || IsTerminalPhase(record->view.phase)) {
    why = "the Job has ended";
    return Answer::kRefused;
  }
  bool suspended = entry != nullptr ? entry->suspended : news->fresh->suspended;
  if (news != nullptr) {
    suspended = news->suspended.value_or(suspended);
  }
  if (action == CommandAction::kAbortJob) {
    Touch(uid).suspended = true;
    return Answer::kObeyed;
  }
  if (!suspended) {
    why = "the Job is not aborted: there is nothing to resume";
    return Answer::kRefused;
  }
  if (entry != nullptr && entry->charge.has_value()) {
    return Answer::kNotYet;
  }
  Touch(uid).suspended = false;
  return Answer::kObeyed;
}

bool JobBook::CanResume(const std::string& uid) const {
  const Record* const record = FindRecord(uid);
  const JobEntry* const entry = record == nullptr ? nullptr : EntryOf(*record);
  return entry != nullptr && !entry->charge.has_value();
}

void JobBook::AnswerCheck(const PodCheck& check, bool gone, Time now) {
  const std::optional<std::string> uid = leaving_.Answer(check, gone, now);
  if (uid.has_value() && FindRecord(*uid) != nullptr) {
    Touch(*uid);
  }
}

Time JobBook::NextDue() const {
  const Time timer = timers_.empty() ? Time() : timers_.begin()->first;
  const Time check = leaving_.NextDue();
  return timer == Time() || (check != Time() && check < timer) ? check : timer;
}

const JobView* JobBook::Find(const std::string& uid) const {
  const Record* const record = FindRecord(uid);
  if (record == nullptr || !record->there) {
    return nullptr;
  }
  const JobEntry* const entry = record->opted_in ? nullptr : EntryOf(*record);
  const bool held = entry != nullptr && entry->charge.has_value();
  return record->opted_in || held ? &record->view : nullptr;
}

std::vector<std::string> JobBook::Uids() const {
  std::vector<std::string> uids;
  uids.reserve(records_.size());
  for (const auto& [uid, record] : records_) {
    uids.push_back(uid);
  }
  return uids;
}

std::vector<const WorkView*> JobBook::WorksOf(const std::string& uid) const {
  std::vector<const WorkView*> works;
  if (const Record* const record = FindRecord(uid); record != nullptr) {
    for (const auto& [key, work] : record->works) {
      works.push_back(&work);
    }
  }
  return works;
}

JobBook::Record& JobBook::RecordOf(const JobKey& key, JobKind kind, const std::string& uid) {
  const auto [it, added] = records_.try_emplace(uid);
  if (added) {
    it->second.view.key = key;
    it->second.view.kind = kind;
    it->second.view.uid = uid;
  }
  return it->second;
}

const JobBook::Record* JobBook::FindRecord(const std::string& uid) const {
  const auto it = records_.find(uid);
  return it == records_.end() ? nullptr : &it->second;
}

JobBook::News& JobBook::Touch(const std::string& uid) {
  todo_.insert(uid);
  dirty_.insert(uid);
  return news_[uid];
}

bool JobBook::OptedIn(const Value& object, const JobKey& key) const {
  if (!options_.namespaces.empty() && !options_.namespaces.contains(key.ns)) {
    return false;
  }
  if (options_.queues.empty()) {
    return true;
  }
  const Value* queue = object.At({"spec", "queue"});
  if (const Value* const jobs = object.At({"spec", "replicatedJobs"});
      jobs != nullptr && jobs->IsList() && !jobs->AsList().empty()) {
    queue = jobs->AsList().front().At({"templateSpec", "queue"});
  }
  const bool named = queue != nullptr && queue->IsString() && !queue->AsString().empty();
  return options_.queues.contains(named ? queue->AsString() : std::string(kDefaultQueue));
}

JobIndex JobBook::IndexOf(const Key& key) const { return state_.FindJob(key.first, key.second); }

const JobEntry* JobBook::EntryOfKey(const Key& key) const {
  const JobIndex index = IndexOf(key);
  return index == kNoIndex ? nullptr : &state_.job(index);
}

const JobEntry* JobBook::EntryOf(const Record& record) const {
  const JobEntry* const entry = EntryOfKey({record.view.key, record.view.kind});
  return entry != nullptr && entry->uid == record.view.uid ? entry : nullptr;
}

}  // namespace caldera
