#include "federation/simulation.h"

#include <algorithm>
#include <map>
#include <set>
#include <type_traits>
#include <utility>

#include "federation/amounts.h"
#include "federation/explain.h"
#include "federation/planner.h"
#include "federation/simulation_lives.h"
#include "federation/simulation_sampler.h"

namespace caldera {

namespace {

/// More rounds than this at one instant: plans undo each other.
constexpr int kRoundsMax = 1000;
constexpr int64_t kProgressStep = 256;

tl::unexpected<Error> Invalid(std::string message) {
  return Fail(ErrorCode::kInvalid, std::move(message));
}

Status Check(const SimulationScript& script) {
  if (script.start <= Time()) {
    return Invalid("the start must be later than 1970-01-01T00:00:00Z");
  }
  Time last = script.start;
  for (const Submission& submission : script.submissions) {
    const std::string name = "job " + submission.key.ToString();
    if (submission.at < last) {
      return Invalid(name + ": submissions are not in order of time, or before the start");
    }
    if (submission.source >= script.templates.size()) {
      return Invalid(name + ": there is no such template");
    }
    if (submission.duration < Millis(1)) {
      return Invalid(name + ": its duration is less than 1ms");
    }
    last = submission.at;
  }
  last = script.start;
  for (const ScheduledChange& change : script.changes) {
    if (change.at < last) {
      return Invalid("changes are not in order of time, or before the start");
    }
    last = change.at;
  }
  std::map<std::string, Time> until;
  std::vector<Outage> outages = script.outages;
  std::sort(outages.begin(), outages.end(),
            [](const Outage& a, const Outage& b) { return a.from < b.from; });
  for (const Outage& outage : outages) {
    Time& before = until.try_emplace(outage.cluster, script.start).first->second;
    if (outage.from < before || outage.until <= outage.from) {
      return Invalid("cluster " + outage.cluster + ": outages overlap, or end before they begin");
    }
    before = outage.until;
  }
  return {};
}

class Simulation {
 public:
  explicit Simulation(const SimulationScript& script)
      : script_(script), sampler_(state_, script.samples), lives_(script, state_, sampler_) {}

  Result<SimulationRecord> Run() {
    CALDERA_CHECK(Check(script_));
    state_.Apply(ClockSet{script_.start});
    for (const Change& change : script_.initial) {
      Take(change);
    }
    TakeCapacity();
    for (Time now = script_.start; Happens(now); now = NextInstant()) {
      state_.Apply(ClockSet{now});
      CALDERA_CHECK(ApplyDue());
      CALDERA_CHECK(Decide());
      sampler_.Take(false);
      if (++record_.instants % kProgressStep == 0 && script_.progress) {
        script_.progress(now, lives_.ended());
      }
    }
    return Finish();
  }

 private:
  /// False where nothing comes any more, or only after the end.
  bool Happens(Time now) {
    if (now == Time()) {
      return false;
    }
    record_.stopped = script_.until.has_value() && now >= *script_.until;
    return !record_.stopped;
  }

  [[nodiscard]] Time NextInstant() const {
    Time next;
    const auto consider = [&](Time time) {
      if (time > state_.now() && (next == Time() || time < next)) {
        next = time;
      }
    };
    if (submission_ < script_.submissions.size()) {
      consider(script_.submissions[submission_].at);
    }
    if (change_ < script_.changes.size()) {
      consider(script_.changes[change_].at);
    }
    for (const Outage& outage : script_.outages) {
      consider(outage.from);
      consider(outage.until);
    }
    consider(lives_.Next());
    consider(state_.NextTimed());
    if (stale_) {
      consider(NextRefresh(state_.now() + Millis(1)));
    }
    if (undecided_) {
      consider(next_round_);
    }
    return next;
  }

  Status ApplyDue() {
    const Time now = state_.now();
    for (const Outage& outage : script_.outages) {
      if (outage.until == now) {
        lives_.Return(outage.cluster);
        SetReady(outage.cluster, true);
      }
      if (outage.from == now) {
        lives_.CutOff(outage);
        SetReady(outage.cluster, false);
      }
    }
    bool any = lives_.ApplyDue();
    for (; change_ < script_.changes.size() && script_.changes[change_].at <= now; ++change_) {
      Take(script_.changes[change_].change);
      any = true;
    }
    if (capacity_changed_) {
      TakeCapacity();
    }
    for (; submission_ < script_.submissions.size() && script_.submissions[submission_].at <= now;
         ++submission_) {
      CALDERA_CHECK(lives_.Submit(script_.submissions[submission_]));
      any = true;
    }
    stale_ = stale_ || (any && script_.summary_every != Millis(0));
    if (stale_ && NextRefresh(now) == now) {
      RefreshSummaries();
    }
    return {};
  }

  /// A change of the script, with what follows from it for the jobs.
  void Take(const Change& change) {
    if (const auto* job = std::get_if<JobDelete>(&change)) {
      lives_.Delete(job->key);
      return;
    }
    if (const auto* job = std::get_if<JobUpsert>(&change)) {
      lives_.Edit(job->job);
      return;
    }
    if (const auto* cluster = std::get_if<ClusterDelete>(&change)) {
      lives_.LoseCluster(cluster->name);
      foreign_.erase(cluster->name);
    }
    if (const auto* cluster = std::get_if<ClusterUpsert>(&change)) {
      foreign_[cluster->cluster.name] = cluster->cluster.allocated;
      stale_ = script_.summary_every != Millis(0);
    }
    capacity_changed_ = true;
    state_.Apply(change);
  }

  [[nodiscard]] const Cluster* FindCluster(const std::string& name) const {
    const auto it = state_.clusters().find(name);
    const auto* object =
        it == state_.clusters().end() ? nullptr : &state_.cluster(it->second).object;
    return object == nullptr || !object->has_value() ? nullptr : &**object;
  }

  void SetReady(const std::string& name, bool ready) {
    if (const Cluster* cluster = FindCluster(name)) {
      ClusterUpsert upsert{*cluster};
      upsert.cluster.ready = ready;
      upsert.cluster.ready_changed = state_.now();
      state_.Apply(upsert);
    }
  }

  void TakeCapacity() {
    capacity_changed_ = false;
    std::vector<ResourceVector> foreign(state_.clusters().size());
    for (const auto& [name, amounts] : foreign_) {
      foreign[state_.clusters().find(name)->second] = AmountsIn(state_, amounts);
    }
    sampler_.TakeCapacity(foreign);
  }

  /// Summaries come at multiples of their period.
  [[nodiscard]] Time NextRefresh(Time from) const {
    const Millis every = script_.summary_every;
    const Millis since = from - script_.start;
    return script_.start + (since + every - Millis(1)) / every * every;
  }

  /// Each cluster that can be seen says what it holds: others' pods and ours that run.
  void RefreshSummaries() {
    stale_ = false;
    const std::vector<ResourceVector> running = lives_.Running();
    for (const auto& [name, allocated] : foreign_) {
      const Cluster* cluster = FindCluster(name);
      if (cluster == nullptr || !cluster->ready || !cluster->has_summary) {
        continue;
      }
      ClusterUpsert upsert{*cluster};
      upsert.cluster.allocated = allocated;
      AddTo(upsert.cluster.allocated,
            ToList(state_.resources(), running[state_.clusters().find(name)->second]));
      state_.Apply(upsert);
    }
  }

  Status Decide() {
    undecided_ = true;
    if (state_.now() < next_round_) {
      return {};
    }
    // With nobody waiting, another round would have nothing to decide.
    for (int rounds = 0; undecided_ && (rounds == 0 || state_.candidates() > 0); ++rounds) {
      if (rounds == kRoundsMax) {
        return Fail(ErrorCode::kInternal, "at " + FormatTime(state_.now()) + " " +
                                              std::to_string(kRoundsMax) +
                                              " rounds did not come to an end");
      }
      const Plan plan = MakePlan(state_);
      ++record_.rounds;
      CALDERA_CHECK(lives_.Follow(plan, next_intent_));
      next_intent_ += static_cast<int64_t>(plan.actions.size());
      undecided_ = !plan.actions.empty();
      stale_ = stale_ || (undecided_ && script_.summary_every != Millis(0));
      Count(plan);
    }
    undecided_ = false;
    next_round_ = state_.now() + script_.cycle;
    return {};
  }

  void Count(const Plan& plan) {
    for (const Action& action : plan.actions) {
      record_.placements += action.action == ActionKind::kPlace ? 1 : 0;
      record_.evictions += action.action == ActionKind::kEvict ? 1 : 0;
      record_.shrinks += MakesRoom(action) ? 1 : 0;
    }
  }

  SimulationRecord Finish() {
    if (record_.stopped) {
      state_.Apply(ClockSet{*script_.until});
    }
    record_.start = script_.start;
    record_.end = state_.now();
    for (const PendingJob& job : ExplainPending(state_)) {
      ++waiting_[std::string(VerdictName(job.verdict))];
    }
    record_.waiting.assign(waiting_.begin(), waiting_.end());
    record_.jobs = lives_.Finish();
    sampler_.Take(true);
    sampler_.Finish(record_);
    return std::move(record_);
  }

  const SimulationScript& script_;
  State state_;
  Sampler sampler_;
  JobLives lives_;
  SimulationRecord record_;
  std::map<std::string, ResourceList> foreign_;  ///< What others use, by cluster.
  std::map<std::string, int64_t> waiting_;
  size_t submission_ = 0;
  size_t change_ = 0;
  int64_t next_intent_ = 1;
  Time next_round_;
  bool undecided_ = false;  ///< Something happened since the last round.
  bool stale_ = false;      ///< The summaries are older than what they sum up.
  bool capacity_changed_ = false;
};

}  // namespace

Result<SimulationRecord> Simulate(const SimulationScript& script) {
  return Simulation(script).Run();
}

}  // namespace caldera
