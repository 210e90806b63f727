// The lives of a simulation's jobs: when each starts, how far it is, when it ends, what it loses.
// Decides nothing: it turns what a plan did, and what the world does, into the Changes that a
// controller would observe. Work is counted at full replicas: with a part of its pods a job takes
// proportionally longer. In waves each pod takes the job's duration: where summaries are simulated,
// what runs beyond a lowered grant does so until its wave ends, else it is gone at once. Used by
// simulation.cc; one thread.
#pragma once

#include <functional>
#include <map>
#include <queue>
#include <string>
#include <tuple>
#include <vector>

#include "federation/plan.h"
#include "federation/simulation.h"
#include "federation/simulation_sampler.h"
#include "federation/state.h"

namespace caldera {

class JobLives {
 public:
  /// All must outlive this.
  JobLives(const SimulationScript& script, State& state, Sampler& sampler)
      : script_(script), state_(state), sampler_(sampler) {}

  /// The earliest end, start or release that is due; zero: none.
  [[nodiscard]] Time Next() const;
  /// Everything that is due at State::now(); true where there was something.
  bool ApplyDue();

  /// It waits from now on. Error: kInvalid, a job of that key is there.
  Status Submit(const Submission& submission);
  /// `plan` was made from State; takes it into effect, intents numbered from `first_intent`.
  /// Error: kInternal, an action that is not known here.
  Status Follow(const Plan& plan, int64_t first_intent);
  /// Nothing where it is not there; so with Edit.
  void Delete(const JobKey& key);
  /// The job as it is now, its uid and age apart.
  void Edit(const Job& job);
  /// The cluster is gone, and the pods there with all that they did not save: those jobs wait
  /// again.
  void LoseCluster(const std::string& cluster);
  /// From now on nobody sees what happens there.
  void CutOff(const Outage& outage);
  void Return(const std::string& cluster);

  /// What the pods of jobs that run now use in each cluster, by ClusterIndex.
  [[nodiscard]] std::vector<ResourceVector> Running() const;

  [[nodiscard]] size_t ended() const { return ended_; }
  /// Accounts for what still runs, and hands the records over.
  std::vector<JobRecord> Finish();

 private:
  enum class Due : uint8_t { kEnd, kVacate, kRestart, kBegin };
  /// A job that was submitted and has not ended.
  struct Life {
    Millis checkpoint_every{0};
    Millis done{0};         ///< Of its duration, kept so far.
    Time charged_since;     ///< While charged.
    Time begins;            ///< While charged: from then on its pods work; also when last settled.
    Time first_wave;        ///< While charged: when its first pods began.
    int64_t granted = 0;    ///< Pods; 0: nothing runs.
    int64_t full = 1;       ///< Pods that it asks for.
    bool vacating = false;  ///< Evicted, its pods are going.
    uint32_t version = 0;   ///< What was due under an earlier one is void.
    uint32_t record = 0;
  };
  struct Event {
    Time at;
    Due due = Due::kEnd;
    uint32_t record = 0;  ///< Makes the order total.
    uint32_t version = 0;
    JobIndex job = kNoIndex;
    friend bool operator>(const Event& a, const Event& b) {
      return std::tie(a.at, a.due, a.record, a.version) >
             std::tie(b.at, b.due, b.record, b.version);
    }
  };

  [[nodiscard]] JobRecord& Record(const Life& life) { return records_[life.record]; }
  Life& At(JobIndex job) { return lives_[job]; }
  void Start(JobIndex job, const std::vector<Shard>& shards);
  void Resize(JobIndex job, const std::vector<Shard>& shards);
  void Evict(JobIndex job);
  /// Counts the work since it began or was last settled.
  void Settle(JobIndex job);
  /// The work that is not saved is lost.
  void Lose(JobIndex job);
  /// What it held until now is accounted for.
  void Account(JobIndex job);
  void ScheduleEnd(JobIndex job);
  void Void(JobIndex job) { ++lives_[job].version; }
  void End(JobIndex job, JobFate fate);
  void Vacate(JobIndex job);
  void Restart(JobIndex job);
  void Begin(JobIndex job);
  void Reschedule(JobIndex job);
  [[nodiscard]] Time WaveEnds(JobIndex job);
  void Defer(const Event& event, Time until);
  void Apply(const Event& event);
  /// When the last of its clusters that are cut off returns; zero where none is.
  [[nodiscard]] Time CutOffUntil(JobIndex job) const;
  [[nodiscard]] Time Now() const { return state_.now(); }

  const SimulationScript& script_;
  State& state_;
  Sampler& sampler_;
  std::vector<Life> lives_;  ///< By JobIndex.
  std::vector<JobRecord> records_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> due_;
  std::map<ClusterIndex, Time> cut_off_;
  size_t ended_ = 0;
};

}  // namespace caldera
