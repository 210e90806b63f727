// Jobs in State: what they ask for (interned), where they wait (classes), what they hold (charges).
#include <algorithm>
#include <functional>
#include <limits>
#include <tuple>
#include <utility>

#include "federation/assert.h"
#include "federation/children.h"
#include "federation/elastic.h"
#include "federation/resize.h"
#include "federation/state.h"

namespace caldera {

namespace {

int64_t LatestEpoch(const std::vector<Shard>& shards) {
  int64_t latest = 0;
  for (const Shard& shard : shards) {
    latest = std::max(latest, shard.epoch);
  }
  return latest;
}

/// The same clusters with the same epochs.
bool SamePlaces(const std::vector<Shard>& a, const std::vector<Shard>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Shard& x, const Shard& y) {
    return std::tie(x.cluster, x.epoch, x.child) == std::tie(y.cluster, y.epoch, y.child);
  });
}

void NoteEpoch(JobEntry& entry, int64_t epoch) {
  if (epoch > entry.rare().last_epoch) {
    entry.EditRare([epoch](RareFacts& facts) { facts.last_epoch = epoch; });
  }
}

size_t HashOf(const JobKey& key) {
  return std::hash<std::string>()(key.ns) * 0x9E3779B97F4A7C15ULL ^
         std::hash<std::string>()(key.name);
}

const Task* FindTask(const JobSpec& spec, const std::string& name) {
  const auto it = std::find_if(spec.tasks.begin(), spec.tasks.end(),
                               [&](const Task& task) { return task.name == name; });
  return it == spec.tasks.end() ? nullptr : &*it;
}

/// Running and finished pods of a task, as reported for the whole job.
int64_t Reported(const JobEntry& job, const std::string& task) {
  int64_t count = 0;
  for (const TaskReport& report : job.rare().reports) {
    if (report.task == task) {
      count += std::max<int64_t>(report.running, 0) + std::max<int64_t>(report.finished, 0);
    }
  }
  return count;
}

/// How many of `grant`'s pods are reported. Reports count the job as a whole: where it is split,
/// they are believed once they cover every shard's pods.
int64_t ReportedOf(const JobEntry& job, const TaskGrant& grant) {
  int64_t granted = 0;
  for (const Shard& shard : job.charge->shards) {
    for (const TaskGrant& other : shard.tasks) {
      granted += other.name == grant.name ? other.replicas : 0;
    }
  }
  const int64_t reported = job.Reported() ? Reported(job, grant.name) : 0;
  if (job.charge->shards.size() > 1 && reported < granted) {
    return 0;
  }
  return std::min<int64_t>(reported, grant.replicas);
}

}  // namespace

std::vector<JobIndex> State::JobsByKey() const {
  std::vector<JobIndex> list;
  list.reserve(job_count());
  VisitJobs([&](JobIndex i, const JobEntry& /*entry*/) { list.push_back(i); });
  std::sort(list.begin(), list.end(), [this](JobIndex a, JobIndex b) {
    const JobKind kind_of_a = spec(jobs_[a]).kind;
    const JobKind kind_of_b = spec(jobs_[b]).kind;
    return std::tie(jobs_[a].key, kind_of_a) < std::tie(jobs_[b].key, kind_of_b);
  });
  return list;
}

JobIndex State::FindJob(const JobKey& key, JobKind kind) const {
  return job_keys_.Find(
      HashOf(key), [&](JobIndex i) { return jobs_[i].key == key && spec(jobs_[i]).kind == kind; });
}

JobIndex State::FindJob(const JobKey& key) const {
  const JobIndex job = FindJob(key, JobKind::kJob);
  return job != kNoIndex ? job : FindJob(key, JobKind::kHyperJob);
}

JobIndex State::FindJob(const JobKey& key, const std::string& uid) const {
  return job_keys_.Find(HashOf(key),
                        [&](JobIndex i) { return jobs_[i].key == key && jobs_[i].uid == uid; });
}

void State::On(const JobUpsert& change) {
  const Job& job = change.job;
  const JobIndex known = FindJob(job.key, job.kind);
  if (known != kNoIndex && jobs_[known].uid != job.uid) {
    RemoveJob(known);
  }
  const JobIndex index = AddJob(job);
  JobEntry& entry = jobs_[index];
  const QueueIndex held_in = entry.charge_queue;
  Dequeue(index);
  TakeSpec(entry, job);
  entry.creation = job.creation;
  entry.hold = job.hold;
  entry.suspended = job.suspended;
  entry.claimed_elsewhere = job.claimed_elsewhere;
  entry.terminal = job.terminal;
  entry.EditRare([&job](RareFacts& facts) {
    facts.refused = job.refused;
    facts.missing_references = job.missing_references;
    facts.backoffs = job.backoffs;
    facts.placement = job.placement;
    facts.reports = job.reports;
    facts.reported = job.reported;
    facts.checkpoint = job.checkpoint;
  });
  successors_.erase(index);
  if (job.successor.has_value()) {
    successors_.emplace(index, *job.successor);
  }
  const int64_t observed_epoch = LatestEpoch(job.placement);
  if (job.terminal) {
    DropCharge(index);
  } else if (entry.charge.has_value()) {
    // The queue may have changed, and the reports have.
    Charge charge = *entry.charge;
    DropCharge(index);
    AddCharge(index, std::move(charge));
  } else if (observed_epoch > entry.rare().last_epoch) {
    // An older epoch is one that was released: the annotation just has not gone yet.
    AddCharge(index, {0, Time(), Complete(entry, job.placement), std::nullopt, {}, {}, {}, {}});
  }
  NoteEpoch(entry, observed_epoch);
  SettleUsage(held_in, entry.tenant);
  SettleUsage(entry.charge_queue, entry.tenant);
  Enqueue(index);
}

void State::On(const JobDelete& change) {
  const JobIndex index = FindJob(change.key, change.uid);
  if (index != kNoIndex) {
    RemoveJob(index);
  }
}

void State::On(const Placed& change) {
  const JobIndex index = FindJob(change.key, change.uid);
  if (index == kNoIndex || jobs_[index].terminal) {
    return;
  }
  JobEntry& entry = jobs_[index];
  Dequeue(index);
  // A resize does not begin anew. What was taken over has no beginning to keep.
  const bool resized = entry.charge.has_value() && entry.charge->intent != 0 &&
                       SamePlaces(entry.charge->shards, change.shards);
  const Time since = resized ? entry.charge->at : change.at;
  const QueueIndex held_in = entry.charge_queue;
  DropCharge(index);
  NoteEpoch(entry, LatestEpoch(change.shards));
  AddCharge(index,
            {change.intent, since, Complete(entry, change.shards), std::nullopt, {}, {}, {}, {}});
  SettleUsage(held_in, entry.tenant);
  SettleUsage(entry.charge_queue, entry.tenant);
}

void State::On(const Released& change) {
  const JobIndex index = FindJob(change.key, change.uid);
  if (index == kNoIndex) {
    return;
  }
  Dequeue(index);
  const QueueIndex held_in = jobs_[index].charge_queue;
  DropCharge(index);
  SettleUsage(held_in, jobs_[index].tenant);
  NoteEpoch(jobs_[index], change.epoch);
  Enqueue(index);
}

void State::On(const Evicted& change) {
  const JobIndex index = FindJob(change.key, change.uid);
  if (index == kNoIndex) {
    return;
  }
  JobEntry& entry = jobs_[index];
  const Eviction eviction{change.intent, change.at, change.beneficiary, change.beneficiary_uid};
  entry.EditRare([&](RareFacts& facts) {
    std::erase_if(facts.evictions,
                  [&](const Eviction& past) { return past.at + kEvictionWindow <= change.at; });
    facts.evictions.push_back(eviction);
  });
  if (entry.charge.has_value()) {
    entry.charge->eviction = eviction;
    evicting_.insert(index);
    resizes_.erase(index);
  }
}

void State::On(const ReservationsSet& change) { reservations_ = change.reservations; }

JobIndex State::AddJob(const Job& job) {
  JobIndex index = FindJob(job.key, job.kind);
  if (index != kNoIndex) {
    return index;
  }
  index = static_cast<JobIndex>(jobs_.size());
  if (free_jobs_.empty()) {
    jobs_.emplace_back();
  } else {
    index = free_jobs_.back();
    free_jobs_.pop_back();
  }
  JobEntry& entry = jobs_[index];
  entry.key = job.key;
  entry.uid = job.uid;
  entry.tenant = TenantOf(job.key.ns);
  job_keys_.Insert(HashOf(job.key), index);
  return index;
}

void State::RemoveJob(JobIndex index) {
  Dequeue(index);
  const QueueIndex held_in = jobs_[index].charge_queue;
  DropCharge(index);
  SettleUsage(held_in, jobs_[index].tenant);
  DropSpec(jobs_[index]);
  job_keys_.Erase(HashOf(jobs_[index].key), index);
  jobs_[index] = {};
  successors_.erase(index);
  free_jobs_.push_back(index);
}

void State::TakeSpec(JobEntry& entry, const Job& job) {
  const auto [spec, spec_is_new] = specs_.Acquire(SpecOf(job));
  if (spec_is_new) {
    const auto [shape, shape_is_new] = shapes_.Acquire(ShapeOf(specs_[spec]));
    spec_shapes_.resize(std::max<size_t>(spec_shapes_.size(), spec + 1), kNoIndex);
    spec_shapes_[spec] = shape;
    if (shape_is_new) {
      facts_.resize(std::max<size_t>(facts_.size(), shape + 1));
      shape_candidates_.resize(facts_.size(), 0);
      facts_[shape] = FactsOf(shapes_[shape], resources_);
    }
  }
  DropSpec(entry);
  entry.spec = spec;
  entry.shape = spec_shapes_[spec];
  entry.names_queue = !job.queue.empty();
  entry.queue = QueueOf(entry.names_queue ? job.queue : std::string(kDefaultQueue));
  entry.priority = job.priority_class.empty() ? kNoIndex : PriorityOf(job.priority_class);
}

void State::DropSpec(JobEntry& entry) {
  if (entry.spec != kNoIndex && specs_.Release(entry.spec)) {
    shapes_.Release(spec_shapes_[entry.spec]);
    spec_shapes_[entry.spec] = kNoIndex;
  }
  entry.spec = kNoIndex;
}

State::PodsInWaves State::InWavesOf(const JobEntry& entry, const Shard& shard) const {
  const JobSpec& spec = specs_[entry.spec];
  std::vector<SeenPods> seen(spec.tasks.size());
  for (size_t t = 0; t < seen.size(); ++t) {
    for (const TaskReport& report : entry.rare().reports) {
      if (report.task == spec.tasks[t].name) {
        seen[t] = {std::max(report.running, 0), std::max(report.finished, 0)};
      }
    }
  }
  PodsInWaves pods;
  const std::vector<int64_t> start = PodsToStart(spec, shard, seen);
  for (size_t t = 0; t < start.size(); ++t) {
    const int64_t rest = shard.tasks[t].replicas - seen[t].running - seen[t].finished - start[t];
    AddTo(pods.to_start, Times(spec.tasks[t].request, start[t]));
    AddTo(pods.held_back, Times(spec.tasks[t].request, std::max<int64_t>(rest, 0)));
  }
  return pods;
}

std::vector<Shard> State::Complete(const JobEntry& entry, std::vector<Shard> shards) const {
  for (Shard& shard : shards) {
    if (!shard.requests.empty()) {
      continue;
    }
    const JobSpec& spec = specs_[entry.spec];
    if (shard.InWaves() && HasTasksOf(spec, shard)) {
      shard.requests = GrantOf(spec, CountsOf(shard));
      continue;
    }
    for (const TaskGrant& grant : shard.tasks) {
      if (const Task* task = FindTask(spec, grant.name); task != nullptr) {
        AddTo(shard.requests, Times(task->request, std::max(grant.AtOnce(), 0)));
      }
    }
    if (shard.InWaves()) {
      std::erase_if(shard.requests, [](const auto& amount) { return amount.second == 0; });
    }
  }
  return shards;
}

void State::AddCharge(JobIndex index, Charge charge) {
  JobEntry& entry = jobs_[index];
  CALDERA_ASSERT(!entry.charge.has_value());
  ++charged_jobs_;
  const std::optional<Millis>& estimate = specs_[entry.spec].running_estimate;
  charge.ends = estimate.has_value() && charge.at != Time() ? charge.at + *estimate : Time();
  charge.held.clear();
  for (const Shard& shard : charge.shards) {
    const ClusterIndex cluster = ClusterOf(shard.cluster);
    charge.held.push_back({cluster, ToVector(resources_, shard.requests), {}, {}});
    const ResourceVector& requests = charge.held.back().requests;
    clusters_[cluster].charged.Add(requests);
    clusters_[cluster].jobs.insert(index);
    if (charge.ends != Time()) {
      clusters_[cluster].ending.insert({charge.ends, index});
    }
    tenants_[entry.tenant].charged.Add(requests);
    tenants_[entry.tenant].charged_in[cluster].Add(requests);
    queues_[entry.queue].charged.Add(requests);
    queues_[entry.queue].charged_by[entry.tenant].Add(requests);
  }
  ++queues_[entry.queue].charged_jobs;
  entry.charge_queue = entry.queue;
  entry.charge = std::move(charge);
  if (entry.Evicting()) {
    evicting_.insert(index);
  } else if (Resized(specs_[entry.spec], entry.charge->shards).has_value()) {
    resizes_.insert(index);
  }
  if (entry.charge->shards.size() == 1 && entry.charge->shards.front().InWaves()) {
    waves_.insert(index);
  }
  PutOnTop(index);
  Ripen(index);
}

void State::DropCharge(JobIndex index) {
  JobEntry& entry = jobs_[index];
  if (!entry.charge.has_value()) {
    return;
  }
  TakeOffTop(index);
  Unripen(index);
  --charged_jobs_;
  for (const auto& [cluster, requests, on_top, held_back] : entry.charge->held) {
    clusters_[cluster].charged.Subtract(requests);
    clusters_[cluster].jobs.erase(index);
    clusters_[cluster].ending.erase({entry.charge->ends, index});
    tenants_[entry.tenant].charged.Subtract(requests);
    tenants_[entry.tenant].charged_in[cluster].Subtract(requests);
    queues_[entry.charge_queue].charged.Subtract(requests);
    queues_[entry.charge_queue].charged_by[entry.tenant].Subtract(requests);
  }
  --queues_[entry.charge_queue].charged_jobs;
  entry.charge_queue = kNoIndex;
  entry.charge.reset();
  resizes_.erase(index);
  waves_.erase(index);
  evicting_.erase(index);
}

void State::PutOnTop(JobIndex index) {
  JobEntry& entry = jobs_[index];
  Time settles = entry.rare().reported + 2 * settings_.summary_period;
  bool later = false;
  for (size_t s = 0; s < entry.charge->shards.size(); ++s) {
    const Shard& shard = entry.charge->shards[s];
    Charge::Holding& holding = entry.charge->held[s];
    ResourceVector amounts = holding.requests;
    if (shard.InWaves() && HasTasksOf(specs_[entry.spec], shard)) {
      // Its figures change with every pod: it does not begin anew each time.
      const bool reported = entry.Reported() && !entry.rare().reports.empty();
      settles =
          std::min(settles, std::max(entry.charge->at, shard.grown) + 6 * settings_.summary_period);
      later = later || (reported && now_ < settles);
      if (reported) {
        const PodsInWaves pods = InWavesOf(entry, shard);
        holding.held_back = ToVector(resources_, pods.held_back);
        clusters_[holding.cluster].held_back.Add(holding.held_back);
        amounts = now_ >= settles ? ToVector(resources_, pods.to_start) : std::move(amounts);
      }
      clusters_[holding.cluster].on_top.Add(amounts);
      holding.on_top = std::move(amounts);
      continue;
    }
    for (const TaskGrant& grant : shard.tasks) {
      const Task* task = FindTask(specs_[entry.spec], grant.name);
      const int64_t reported = ReportedOf(entry, grant);
      later = later || (reported > 0 && now_ < settles);
      if (task == nullptr || reported == 0 || now_ < settles) {
        continue;
      }
      const ResourceVector seen = ToVector(resources_, Times(task->request, reported));
      for (ResourceIndex r = 0; r < seen.size(); ++r) {
        amounts.Set(r, std::max<int64_t>(SaturatingSub(amounts[r], seen[r]), 0));
      }
    }
    clusters_[holding.cluster].on_top.Add(amounts);
    holding.on_top = std::move(amounts);
  }
  if (later) {
    entry.charge->settles = settles;
    settling_.insert({settles, index});
  }
}

void State::TakeOffTop(JobIndex index) {
  Charge& charge = *jobs_[index].charge;
  for (Charge::Holding& holding : charge.held) {
    clusters_[holding.cluster].on_top.Subtract(holding.on_top);
    clusters_[holding.cluster].held_back.Subtract(holding.held_back);
    holding.held_back = {};
  }
  settling_.erase({charge.settles, index});
  charge.settles = Time();
}

void State::Ripen(JobIndex index) {
  const JobEntry& entry = jobs_[index];
  const JobSpec& spec = specs_[entry.spec];
  if (!spec.preemptible) {
    return;
  }
  // So long that no sum overflows, and nobody lives to see it.
  constexpr Millis kForever{std::numeric_limits<int64_t>::max() / 4};
  const Millis least = spec.min_runtime.value_or(settings_.min_runtime);
  Charge& charge = *jobs_[index].charge;
  charge.ripe = settings_.evictions_a_day > 0 ? entry.RunsSince() + std::min(least, kForever)
                                              : Time(kForever);
  for (const Eviction& past : entry.rare().evictions) {
    if (entry.EvictedLately(charge.ripe) >= settings_.evictions_a_day) {
      charge.ripe = std::max(charge.ripe, past.at + kEvictionWindow);
    }
  }
  charge.preemptible_as = entry.priority;
  QueueEntry& queue = queues_[entry.charge_queue];
  queue.ripening.insert({charge.ripe, index});
  for (const Charge::Holding& holding : charge.held) {
    queue.preemptible_in[holding.cluster][entry.priority].Add(holding.requests);
  }
}

void State::Unripen(JobIndex index) {
  Charge& charge = *jobs_[index].charge;
  if (!charge.preemptible_as.has_value()) {
    return;
  }
  QueueEntry& queue = queues_[jobs_[index].charge_queue];
  queue.ripening.erase({charge.ripe, index});
  for (const Charge::Holding& holding : charge.held) {
    auto& by_priority = queue.preemptible_in[holding.cluster];
    by_priority[*charge.preemptible_as].Subtract(holding.requests);
    std::erase_if(by_priority, [](const auto& each) { return each.second.IsZero(); });
    if (by_priority.empty()) {
      queue.preemptible_in.erase(holding.cluster);
    }
  }
  charge.preemptible_as.reset();
}

}  // namespace caldera
