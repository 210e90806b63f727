// From what is known of a job to its Changes: composing it from its object, State and its Works,
// and giving back what it held once nothing of it can run any more.
#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <utility>

#include "controller/run/observer_jobs.h"
#include "federation/children.h"
#include "federation/codec.h"
#include "federation/codec_fields.h"
#include "federation/excerpt.h"
#include "federation/intake.h"
#include "federation/render.h"
#include "federation/verdict.h"

namespace caldera {
namespace {

// Grace period of pods of which nothing is known.
constexpr Millis kUnknownGrace{30'000};

const std::vector<Shard>& ChargedShards(const JobEntry* entry, const Job& job) {
  static const std::vector<Shard> kNone;
  if (entry == nullptr) {
    return job.placement;  // State takes it over.
  }
  return entry->charge.has_value() ? entry->charge->shards : kNone;
}

void AddReport(const TaskReport& report, std::vector<TaskReport>& sum) {
  const auto at = std::find_if(sum.begin(), sum.end(),
                               [&](const TaskReport& each) { return each.task == report.task; });
  if (at == sum.end()) {
    sum.push_back(report);
    return;
  }
  at->running = SumOfPods(at->running, report.running);
  at->finished = SumOfPods(at->finished, report.finished);
}

// What a finished shard reports: Volcano drops the counters at the end.
TaskReport Finished(const TaskGrant& grant, const WorkView& work) {
  const auto at = std::find_if(work.tasks.begin(), work.tasks.end(),
                               [&](const TaskReport& each) { return each.task == grant.name; });
  return at == work.tasks.end() ? TaskReport{grant.name, 0, grant.replicas} : *at;
}

// A cluster that backs off is not given the job, so a charge there is older than the backoff.
bool IsRecalled(const Charge& charge, const std::vector<ClusterBackoff>& backoffs) {
  return std::any_of(backoffs.begin(), backoffs.end(), [&](const ClusterBackoff& backoff) {
    return backoff.until > charge.at &&
           std::any_of(charge.shards.begin(), charge.shards.end(),
                       [&](const Shard& shard) { return shard.cluster == backoff.cluster; });
  });
}

}  // namespace

Time JobBook::ClearAt(const Record& record) const {
  return std::max(record.clear, leaving_.Until(record.view.uid));
}

JobBook::Merged JobBook::Merge(const Record& record, const std::vector<Shard>& shards,
                               Time now) const {
  Merged merged;
  bool failed = false;
  bool all_done = !shards.empty();
  bool rest_gone = now >= ClearAt(record);
  for (const Shard& shard : shards) {
    const WorkView* const work = FindWorkOf(record.works, record.view.uid, shard);
    if (work == nullptr) {
      all_done = false;
      continue;
    }
    if (!IsTerminalPhase(work->phase)) {
      all_done = false;
      rest_gone = false;
      for (const TaskReport& report : work->tasks) {
        AddReport(report, merged.tasks);
      }
      continue;
    }
    failed = failed || work->phase == "Failed";
    for (const TaskGrant& grant : shard.tasks) {
      AddReport(Finished(grant, *work), merged.tasks);
    }
  }
  // One failed shard fails the job; it has ended once the others were taken away.
  merged.terminal = all_done || (failed && rest_gone);
  std::sort(merged.tasks.begin(), merged.tasks.end(),
            [](const TaskReport& a, const TaskReport& b) { return a.task < b.task; });
  return merged;
}

bool JobBook::NoPods(const Record& record, Time now) const {
  return now >= ClearAt(record) &&
         std::all_of(record.works.begin(), record.works.end(),
                     [](const auto& entry) { return HasNoPods(entry.second); });
}

void JobBook::MergeWorks(const Record& record, const JobEntry* entry, Time now, Job& job) const {
  const std::vector<Shard>& shards = ChargedShards(entry, job);
  Merged merged = Merge(record, shards, now);
  const bool ended = IsTerminalPhase(record.view.phase);
  if (entry != nullptr && entry->terminal) {
    job.terminal = true;
  } else if (shards.empty()) {
    job.terminal = ended;
  } else {
    // We wrote that status, perhaps while other shards still ran.
    job.terminal = merged.terminal || (ended && NoPods(record, now));
  }
  job.reports = std::move(merged.tasks);
  job.reported = entry == nullptr ? Time() : entry->rare().reported;
  if (job.terminal && entry != nullptr) {
    job.reports = entry->rare().reports;
  }
  // Pods that are reported leave what counts on top of a cluster's summary after a while, so the
  // time is that at which the figures were seen to change.
  const bool changed = !codec::Same(
      job.reports, entry == nullptr ? std::vector<TaskReport>() : entry->rare().reports);
  if (changed) {
    job.reported = now;
  }
}

std::optional<Successor> JobBook::SuccessorOf(const Record& record) const {
  const auto current = current_.find({record.view.key, record.view.kind});
  if (record.there || current == current_.end()) {
    return std::nullopt;
  }
  const auto news = news_.find(current->second);
  if (news == news_.end() || !news->second.fresh.has_value() ||
      news->second.fresh->claimed_elsewhere || !FindRecord(current->second)->opted_in) {
    return std::nullopt;
  }
  const Job& job = *news->second.fresh;
  return Successor{job.uid, job.queue, job.creation,
                   record.works.empty() ? ClearAt(record) : Time()};
}

std::string JobBook::Doubt(const Record& record, const JobEntry* entry,
                           const std::vector<Shard>& placement) const {
  const int64_t known = entry == nullptr ? 0 : entry->rare().last_epoch;
  const bool taken_over = std::any_of(placement.begin(), placement.end(),
                                      [&](const Shard& shard) { return shard.epoch > known; });
  const bool runs = entry != nullptr && entry->charge.has_value();
  if (!taken_over || runs) {
    return {};
  }
  return WhyNotBelieved(placement, record.view.uid, record.works,
                        clusters_.has_value() ? &*clusters_ : nullptr);
}

void JobBook::SayDoubt(Record& record) {
  const std::string& text = record.view.placement;
  if (text.empty() || text == record.doubted) {
    return;
  }
  const auto placement = DecodePlacement(text);
  const std::string why =
      placement.has_value() ? Doubt(record, EntryOf(record), *placement) : std::string();
  if (!why.empty()) {
    record.doubted = text;
    doubts_.push_back({record.view.kind == JobKind::kJob ? "Job" : "HyperJob", record.view.key.ns,
                       record.view.key.name, record.view.uid,
                       "metadata.annotations[" + std::string(kAnnotationPrefix) + "placement] (" +
                           Excerpt(text) + ") " + why +
                           ": it is not taken over, and the job waits in its queue; only Caldera "
                           "writes that annotation"});
  }
}

Job JobBook::Compose(const Record& record, News news, Time now) const {
  const JobEntry* const entry = EntryOf(record);
  Job job = news.fresh.has_value() ? *std::move(news.fresh)
                                   : state_.Object(IndexOf({record.view.key, record.view.kind}));
  if (entry != nullptr) {
    job.suspended = entry->suspended;
    job.missing_references = entry->rare().missing_references;
    job.backoffs = entry->rare().backoffs;
  }
  if (news.suspended.has_value()) {
    job.suspended = *news.suspended;
  }
  if (news.missing.has_value()) {
    job.missing_references = *std::move(news.missing);
  }
  if (entry == nullptr || !entry->charge.has_value()) {
    // While it is charged they also say that it is being recalled.
    std::erase_if(job.backoffs, [&](const ClusterBackoff& each) {
      return each.until <= now || (record.edited && each.reason == VerdictName(Verdict::kTooLarge));
    });
  }
  for (ClusterBackoff& backoff : news.backoffs) {
    std::erase_if(job.backoffs,
                  [&](const ClusterBackoff& each) { return each.cluster == backoff.cluster; });
    job.backoffs.push_back(std::move(backoff));
  }
  job.refused = record.refused;
  job.hold = job.hold || !record.opted_in;
  if (!record.there || record.view.deleting) {
    job.suspended = true;
  }
  job.successor = SuccessorOf(record);
  if (!record.there) {
    job.placement.clear();
  } else if (!record.refused.empty()) {
    job.placement = DecodePlacement(record.view.placement).value_or(std::vector<Shard>());
  }
  if (!Doubt(record, entry, job.placement).empty()) {
    job.placement.clear();
  }
  if (entry == nullptr && record.there) {
    // The ledger does not know it: what its Works say goes before what somebody may have edited.
    if (std::vector<Shard> sent = PlacementOf(record.works); !sent.empty()) {
      job.placement = std::move(sent);
    }
  }
  MergeWorks(record, entry, now, job);
  return job;
}

bool JobBook::MayRelease(Record& record, Time now) {
  if (!record.works.empty() || !record.view.placement.empty()) {
    return false;
  }
  if (!record.had_work && !record.unsent) {
    // None was seen, yet one may be on its way this very moment.
    record.had_work = true;
    record.clear = std::max(record.clear, now + options_.release_margin);
  }
  if (const Time clear = ClearAt(record); now < clear) {
    timers_.insert({clear, record.view.uid});
    return false;
  }
  return true;
}

void JobBook::PushDelete(const Record& record, std::vector<Change>& changes) {
  changes.emplace_back(JobDelete{record.view.key, record.view.uid});
  deleted_.insert(record.view.uid);
  if (const auto next = current_.find({record.view.key, record.view.kind});
      next != current_.end() && next->second != record.view.uid) {
    Touch(next->second);
  }
}

void JobBook::TakeAbsent(Record& record, Time now, std::vector<Change>& changes) {
  const JobEntry* const entry = EntryOf(record);
  if (entry == nullptr) {
    if (!record.there && record.works.empty()) {
      Forget(record.view.uid);
    }
    return;
  }
  if (!entry->charge.has_value() || MayRelease(record, now)) {
    PushDelete(record, changes);
    if (!record.there && record.works.empty()) {
      Forget(std::string(record.view.uid));
    }
    return;
  }
  Job job = Compose(record, {}, now);
  if (job.terminal) {
    PushDelete(record, changes);  // Its pods have ended: what it held is free at once.
  } else if (JobUpsert upsert{std::move(job)}; !codec::Same(
                 upsert.job, state_.Object(IndexOf({record.view.key, record.view.kind})))) {
    if (upsert.job.successor.has_value()) {
      dirty_.insert(upsert.job.successor->uid);
    }
    changes.emplace_back(std::move(upsert));
  }
}

bool JobBook::TakeOne(const std::string& uid, Time now, std::vector<Change>& changes) {
  const auto it = records_.find(uid);
  if (it == records_.end()) {
    news_.erase(uid);
    return true;
  }
  Record& record = it->second;
  const Key key{record.view.key, record.view.kind};
  const JobEntry* const named = EntryOfKey(key);
  const JobEntry* const entry = EntryOf(record);
  const bool charged = entry != nullptr && entry->charge.has_value();
  if (!record.there || (!record.opted_in && !charged)) {
    news_.erase(uid);
    if (named != nullptr && entry == nullptr) {
      todo_.insert(named->uid);  // It may have waited for that name.
    }
    TakeAbsent(record, now, changes);
    return true;
  }
  const auto news_at = news_.find(uid);
  const bool fresh = news_at != news_.end() && news_at->second.fresh.has_value();
  if (entry == nullptr && !fresh) {
    news_.erase(uid);  // Refused, and never taken.
    return true;
  }
  if (named != nullptr && entry == nullptr && !deleted_.contains(named->uid)) {
    // The news waits until what the earlier job of this name held is given back.
    RecordOf(key.first, key.second, named->uid);
    todo_.insert(named->uid);
    return false;
  }
  News news = news_at == news_.end() ? News() : std::move(news_at->second);
  news_.erase(uid);
  SayDoubt(record);
  Job job = Compose(record, std::move(news), now);
  record.edited = record.edited && charged;
  const bool unwanted =
      charged && !job.terminal &&
      (job.suspended || entry->Evicting() || IsRecalled(*entry->charge, job.backoffs));
  const bool changed = entry == nullptr || !codec::Same(job, state_.Object(IndexOf(key)));
  if (changed) {
    changes.emplace_back(JobUpsert{std::move(job)});
    dirty_.insert(uid);
  }
  record.unsent = record.unsent && unwanted;
  if (unwanted && MayRelease(record, now)) {
    changes.emplace_back(Released{record.view.key, uid, 0});
    record.had_work = false;
    record.unsent = false;
    dirty_.insert(uid);
  }
  return true;
}

void JobBook::Take(Time now, std::vector<Change>& changes) {
  for (auto& timer : leaving_.Extend(now)) {
    timers_.insert(std::move(timer));
  }
  while (!timers_.empty() && timers_.begin()->first <= now) {
    todo_.insert(timers_.begin()->second);
    dirty_.insert(timers_.begin()->second);
    timers_.erase(timers_.begin());
  }
  // One job may call for another: a name that was given up.
  std::set<std::string> done;
  while (!todo_.empty()) {
    const std::string uid = todo_.extract(todo_.begin()).value();
    if (!done.contains(uid) && TakeOne(uid, now, changes)) {
      done.insert(uid);
    }
  }
  deleted_.clear();
}

void JobBook::List(Time now, std::vector<Change>& observed) {
  if (state_.job_count() == 0) {
    clusters_.emplace();
    for (const Change& change : observed) {
      if (const auto* const upsert = std::get_if<ClusterUpsert>(&change); upsert != nullptr) {
        clusters_->insert(upsert->cluster.name);
      }
    }
  }
  for (const JobIndex index : state_.JobsByKey()) {
    const JobEntry& entry = state_.job(index);
    const Record* const known = FindRecord(entry.uid);
    if (!entry.charge.has_value() || (known != nullptr && known->there)) {
      continue;
    }
    // Its parent is gone; what it holds stays until its pods are.
    const Record& ghost = RecordOf(entry.key, state_.spec(entry).kind, entry.uid);
    observed.emplace_back(JobUpsert{Compose(ghost, {}, now)});
  }
  for (auto& [uid, record] : records_) {
    const JobEntry* const entry = EntryOf(record);
    const JobEntry* const named = EntryOfKey({record.view.key, record.view.kind});
    const bool charged = entry != nullptr && entry->charge.has_value();
    const auto news = news_.find(uid);
    const bool fresh = news != news_.end() && news->second.fresh.has_value();
    const bool waits_for_name = entry == nullptr && named != nullptr && named->charge.has_value();
    if (!record.there || (!record.opted_in && !charged) || (entry == nullptr && !fresh) ||
        waits_for_name) {
      continue;
    }
    News taken = news == news_.end() ? News() : std::move(news->second);
    news_.erase(uid);
    SayDoubt(record);
    observed.emplace_back(JobUpsert{Compose(record, std::move(taken), now)});
  }
}

void JobBook::AfterList() {
  clusters_.reset();
  for (const JobIndex index : state_.JobsByKey()) {
    const JobEntry& entry = state_.job(index);
    const Record* const known = FindRecord(entry.uid);
    if (!entry.charge.has_value() && known != nullptr && known->there) {
      continue;
    }
    Record& record = RecordOf(entry.key, state_.spec(entry).kind, entry.uid);
    if (entry.charge.has_value() && record.works.empty()) {
      // When its Works went is not known: perhaps just now.
      const Millis grace = std::max(kUnknownGrace, record.view.grace);
      record.had_work = true;
      for (const Shard& shard : entry.charge->shards) {
        leaving_.Add(entry.uid,
                     {shard.cluster, {entry.key.ns, MemberJobName(entry.key.name, shard.child)}},
                     state_.now() + grace + options_.release_margin, false);
      }
    }
    todo_.insert(entry.uid);
  }
}

void JobBook::Forget(const std::string& uid) {
  news_.erase(uid);
  leaving_.Forget(uid);
  records_.erase(uid);
}

bool IsRecalled(const JobEntry& job) {
  return job.charge.has_value() && IsRecalled(*job.charge, job.rare().backoffs);
}

}  // namespace caldera
