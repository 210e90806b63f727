#include "federation/simulation_lives.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "federation/amounts.h"

namespace caldera {

namespace {

/// Those that run at a time.
int64_t Pods(const std::vector<Shard>& shards) {
  int64_t pods = 0;
  for (const Shard& shard : shards) {
    pods += shard.PodsAtOnce();
  }
  return pods;
}

int64_t Pods(const std::vector<Task>& tasks) {
  int64_t pods = 0;
  for (const Task& task : tasks) {
    pods += task.replicas;
  }
  return std::max<int64_t>(pods, 1);
}

ResourceList Requests(const std::vector<Task>& tasks) {
  ResourceList requests;
  for (const Task& task : tasks) {
    AddTo(requests, Times(task.request, task.replicas));
  }
  return requests;
}

std::string Places(const std::vector<Shard>& shards) {
  std::string places;
  for (const Shard& shard : shards) {
    places += (places.empty() ? "" : "+") + shard.cluster;
  }
  return places;
}

}  // namespace

Time JobLives::Next() const { return due_.empty() ? Time() : due_.top().at; }

bool JobLives::ApplyDue() {
  bool any = false;
  while (!due_.empty() && due_.top().at <= Now()) {
    const Event event = due_.top();
    due_.pop();
    if (lives_[event.job].record == event.record && lives_[event.job].version == event.version) {
      Apply(event);
      any = true;
    }
  }
  return any;
}

void JobLives::Apply(const Event& event) {
  const Time back = CutOffUntil(event.job);
  if (back > Now()) {
    Defer(event, back);
    return;
  }
  switch (event.due) {
    case Due::kEnd:
      End(event.job, JobFate::kDone);
      return;
    case Due::kVacate:
      Vacate(event.job);
      return;
    case Due::kRestart:
      Restart(event.job);
      return;
    case Due::kBegin:
      Begin(event.job);
      return;
  }
}

/// It happens, but nobody sees it until then.
void JobLives::Defer(const Event& event, Time until) {
  if (event.due == Due::kEnd) {
    Settle(event.job);
    Record(At(event.job)).end = Now();
  }
  due_.push({until, event.due, event.record, event.version, event.job});
}

Time JobLives::CutOffUntil(JobIndex job) const {
  Time until;
  if (cut_off_.empty() || !state_.job(job).charge.has_value()) {
    return until;
  }
  for (const Shard& shard : state_.job(job).charge->shards) {
    const auto it = cut_off_.find(state_.clusters().find(shard.cluster)->second);
    until = std::max(until, it == cut_off_.end() ? Time() : it->second);
  }
  return until;
}

Status JobLives::Submit(const Submission& submission) {
  if (state_.FindJob(submission.key) != kNoIndex) {
    return Fail(ErrorCode::kInvalid, "job " + submission.key.ToString() +
                                         " is submitted while one of that name is there");
  }
  const JobTemplate& source = script_.templates[submission.source];
  JobUpsert upsert{source.job};
  Job& job = upsert.job;
  job.key = submission.key;
  job.uid = submission.key.ToString();
  job.creation = submission.at;
  job.running_estimate = submission.estimate;
  JobRecord record;
  record.key = job.key;
  record.queue = job.queue.empty() ? std::string(kDefaultQueue) : job.queue;
  record.requests = Requests(job.tasks);
  record.submitted = submission.at;
  record.duration = submission.duration;
  Life life;
  life.checkpoint_every = source.checkpoint_every;
  life.full = Pods(job.tasks);
  life.record = static_cast<uint32_t>(records_.size());
  records_.push_back(std::move(record));
  state_.Apply(upsert);
  const JobIndex index = state_.FindJob(submission.key);
  if (index >= lives_.size()) {
    lives_.resize(index + 1);
  }
  lives_[index] = life;
  sampler_.Waiting(state_.job(index).queue, 1);
  if (state_.job(index).charge.has_value()) {
    // It runs already, as its placement says.
    const std::vector<Shard>& shards = state_.job(index).charge->shards;
    Start(index, shards);
  }
  return {};
}

Status JobLives::Follow(const Plan& plan, int64_t first_intent) {
  std::vector<JobIndex> jobs;
  jobs.reserve(plan.actions.size());
  for (const Action& action : plan.actions) {
    const JobIndex job = state_.FindJob(action.job);
    jobs.push_back(job);
    if (action.action == ActionKind::kGrow || action.action == ActionKind::kShrink) {
      Settle(job);
      Account(job);
    }
  }
  for (const Change& change : EffectOf(plan, first_intent)) {
    state_.Apply(change);
  }
  for (size_t k = 0; k < plan.actions.size(); ++k) {
    const Action& action = plan.actions[k];
    switch (action.action) {
      case ActionKind::kPlace:
        Start(jobs[k], action.shards);
        continue;
      case ActionKind::kGrow:
      case ActionKind::kShrink:
        Record(At(jobs[k])).shrinks += MakesRoom(action) ? 1 : 0;
        Resize(jobs[k], action.shards);
        continue;
      case ActionKind::kEvict:
        Evict(jobs[k]);
        continue;
    }
    return Fail(ErrorCode::kInternal, "the plan holds the action " +
                                          std::string(ActionName(action.action)) +
                                          ", which the simulation does not know");
  }
  return {};
}

void JobLives::Start(JobIndex job, const std::vector<Shard>& shards) {
  Life& life = At(job);
  JobRecord& record = Record(life);
  const JobEntry& entry = state_.job(job);
  sampler_.Waiting(entry.charge_queue, -1);
  sampler_.Running(entry.charge_queue, 1);
  record.fate = JobFate::kRunning;
  record.cluster = Places(shards);
  ++record.starts;
  life.charged_since = Now();
  life.begins = Now() + script_.start_delay;
  life.first_wave = life.begins;
  life.granted = Pods(shards);
  if (script_.summary_every != Millis(0)) {
    due_.push({life.begins, Due::kBegin, life.record, life.version, job});
  }
  ScheduleEnd(job);
}

/// What is granted counts from now on; Settle and Account came before it took effect.
void JobLives::Resize(JobIndex job, const std::vector<Shard>& shards) {
  Life& life = At(job);
  const bool reports = script_.summary_every != Millis(0) && shards.front().InWaves();
  if (!reports || Pods(shards) >= life.granted || Now() < life.begins) {
    life.granted = Pods(shards);
    if (reports) {
      due_.push({std::max(Now(), life.begins), Due::kBegin, life.record, life.version + 1, job});
    }
  }
  Reschedule(job);
}

/// Its end, and before it that of a wave of which some pods are beyond the grant.
void JobLives::Reschedule(JobIndex job) {
  Void(job);
  const Life& life = At(job);
  const std::vector<Shard>& shards = state_.job(job).charge->shards;
  if (script_.summary_every != Millis(0) && shards.front().InWaves() &&
      Pods(shards) < life.granted) {
    due_.push({WaveEnds(job), Due::kBegin, life.record, life.version, job});
  }
  ScheduleEnd(job);
}

Time JobLives::WaveEnds(JobIndex job) {
  const Life& life = At(job);
  const Millis each = Record(life).duration;
  return life.first_wave + ((Now() - life.first_wave) / each + 1) * each;
}

void JobLives::ScheduleEnd(JobIndex job) {
  const Life& life = At(job);
  if (life.granted == 0) {
    return;
  }
  const int64_t left = (Record(life).duration - life.done).count();
  const Int128 span = (Int128{left} * life.full + life.granted - 1) / life.granted;
  const Time from = std::max(Now(), life.begins);
  due_.push({from + Millis(static_cast<int64_t>(std::max<Int128>(span, 0))), Due::kEnd, life.record,
             life.version, job});
}

void JobLives::Settle(JobIndex job) {
  Life& life = At(job);
  if (life.granted == 0 || Now() < life.begins) {
    return;
  }
  JobRecord& record = Record(life);
  if (!record.first_start.has_value()) {
    record.first_start = life.begins;
  }
  const Int128 worked = Int128{(Now() - life.begins).count()} * life.granted / life.full;
  life.done = std::min(record.duration, life.done + Millis(static_cast<int64_t>(worked)));
  life.begins = Now();
}

void JobLives::Lose(JobIndex job) {
  Life& life = At(job);
  const Millis saved = life.checkpoint_every > Millis(0)
                           ? life.done / life.checkpoint_every * life.checkpoint_every
                           : Millis(0);
  Record(life).lost += life.done - saved;
  life.done = saved;
}

void JobLives::Account(JobIndex job) {
  Life& life = At(job);
  const JobEntry& entry = state_.job(job);
  if (!entry.charge.has_value()) {
    return;
  }
  for (const Shard& shard : entry.charge->shards) {
    sampler_.Charged(entry.charge_queue, state_.clusters().find(shard.cluster)->second,
                     AmountsIn(state_, shard.requests), Now() - life.charged_since);
  }
  life.charged_since = Now();
}

void JobLives::Evict(JobIndex job) {
  Life& life = At(job);
  Settle(job);
  Lose(job);
  ++Record(life).evictions;
  Void(job);
  life.granted = 0;
  life.vacating = true;
  due_.push({Now() + script_.grace, Due::kVacate, life.record, life.version, job});
}

void JobLives::Vacate(JobIndex job) {
  Account(job);
  const JobEntry& entry = state_.job(job);
  sampler_.Running(entry.charge_queue, -1);
  state_.Apply(Released{entry.key, entry.uid, 0});
  Life& life = At(job);
  life.granted = 0;
  life.vacating = false;
  Void(job);
  Record(life).fate = JobFate::kWaiting;
  Record(life).end.reset();
  sampler_.Waiting(state_.job(job).queue, 1);
}

/// The member reports its pods as running; those of a wave beyond the grant have ended.
void JobLives::Begin(JobIndex job) {
  Life& life = At(job);
  if (const int64_t granted = Pods(state_.job(job).charge->shards); granted != life.granted) {
    Settle(job);
    life.granted = granted;
    Void(job);
    ScheduleEnd(job);
  }
  JobUpsert upsert{state_.Object(job)};
  upsert.job.reports.clear();
  for (const Shard& shard : state_.job(job).charge->shards) {
    for (const TaskGrant& grant : shard.tasks) {
      upsert.job.reports.push_back({grant.name, grant.AtOnce(), 0});
    }
  }
  upsert.job.reported = std::chrono::floor<std::chrono::seconds>(Now());
  state_.Apply(upsert);
}

void JobLives::End(JobIndex job, JobFate fate) {
  Settle(job);
  Account(job);
  Life& life = At(job);
  JobRecord& record = Record(life);
  const JobEntry& entry = state_.job(job);
  if (entry.charge.has_value()) {
    sampler_.Running(entry.charge_queue, -1);
  } else {
    sampler_.Waiting(entry.queue, -1);
  }
  record.fate = fate;
  record.end = record.end.value_or(Now());
  ++ended_;
  Void(job);
  life.granted = 0;
  state_.Apply(JobDelete{entry.key, entry.uid});
}

void JobLives::Delete(const JobKey& key) {
  if (const JobIndex job = state_.FindJob(key); job != kNoIndex) {
    End(job, JobFate::kDeleted);
  }
}

void JobLives::Edit(const Job& job) {
  const JobIndex index = state_.FindJob(job.key);
  if (index == kNoIndex) {
    return;
  }
  Settle(index);
  Account(index);
  const bool charged = state_.job(index).charge.has_value();
  const auto count = [&](int32_t by) {
    const JobEntry& entry = state_.job(index);
    charged ? sampler_.Running(entry.charge_queue, by) : sampler_.Waiting(entry.queue, by);
  };
  count(-1);
  JobUpsert upsert{job};
  upsert.job.uid = state_.job(index).uid;
  upsert.job.creation = state_.job(index).creation;
  upsert.job.reports = state_.job(index).rare().reports;
  upsert.job.reported = state_.job(index).rare().reported;
  state_.Apply(upsert);
  count(1);
  Life& life = At(index);
  life.full = Pods(job.tasks);
  Record(life).requests = Requests(job.tasks);
  Record(life).queue = state_.queue(state_.job(index).queue).name;
  if (life.granted > 0) {
    Reschedule(index);
  }
}

void JobLives::LoseCluster(const std::string& cluster) {
  const auto it = state_.clusters().find(cluster);
  if (it == state_.clusters().end()) {
    return;
  }
  cut_off_.erase(it->second);
  const std::set<JobIndex> jobs = state_.cluster(it->second).jobs;
  for (const JobIndex job : jobs) {
    Settle(job);
    Lose(job);
    ++Record(At(job)).losses;
    Vacate(job);
  }
}

void JobLives::CutOff(const Outage& outage) {
  const auto it = state_.clusters().find(outage.cluster);
  if (it == state_.clusters().end()) {
    return;
  }
  cut_off_[it->second] = outage.until;
  if (!outage.restart) {
    return;
  }
  for (const JobIndex job : state_.cluster(it->second).jobs) {
    Life& life = At(job);
    if (life.vacating || life.done == Record(life).duration) {
      continue;
    }
    Settle(job);
    Lose(job);
    ++Record(life).losses;
    Void(job);
    life.granted = 0;
    due_.push({outage.until, Due::kRestart, life.record, life.version, job});
  }
}

void JobLives::Return(const std::string& cluster) {
  if (const auto it = state_.clusters().find(cluster); it != state_.clusters().end()) {
    cut_off_.erase(it->second);
  }
}

void JobLives::Restart(JobIndex job) {
  Life& life = At(job);
  life.begins = Now() + script_.start_delay;
  life.first_wave = life.begins;
  life.granted = Pods(state_.job(job).charge->shards);
  ScheduleEnd(job);
}

std::vector<ResourceVector> JobLives::Running() const {
  std::vector<ResourceVector> running(state_.clusters().size());
  for (ClusterIndex c = 0; c < running.size(); ++c) {
    for (const JobIndex job : state_.cluster(c).jobs) {
      const Life& life = lives_[job];
      if (!life.vacating && (life.granted == 0 || life.begins > Now())) {
        continue;
      }
      for (const Charge::Holding& holding : state_.job(job).charge->held) {
        if (holding.cluster == c) {
          running[c].Add(holding.requests);
        }
      }
    }
  }
  return running;
}

std::vector<JobRecord> JobLives::Finish() {
  for (const JobIndex job : state_.JobsByKey()) {
    Settle(job);
    Account(job);
  }
  return std::move(records_);
}

}  // namespace caldera
