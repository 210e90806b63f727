// Internal to Observer: jobs and their Works. A record for each job that is there, or of which a
// Work or a charge is left; what came in since the last Take (news) is kept apart and dropped then,
// so that a job at rest costs its view and State's own copy. Changes are worked out at Take from
// what is there as a whole, never from what an event said.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "controller/run/believed_placement.h"
#include "controller/run/commands.h"
#include "controller/run/leaving_shards.h"
#include "controller/run/observer.h"

namespace caldera {

class JobBook {
 public:
  JobBook(const State& state, const ObserverOptions& options)
      : state_(state), options_(options), leaving_(state) {}

  /// The message where it is refused.
  std::optional<std::string> Upsert(Value&& object, Time now);
  void Delete(const JobKey& key, JobKind kind, const std::string& uid);
  void UpsertWork(WorkView work, Time now);
  /// It cannot be read any more: what was known of it stays, and it counts as edited.
  void SpoilWork(const std::string& ns, const std::string& name);
  void DeleteWork(const std::string& ns, const std::string& name, const std::string& uid, Time now);
  void SetMissingReferences(const std::string& uid, std::vector<std::string> missing);
  void SetNothingSent(const std::string& uid);
  void SetBackoff(const std::string& uid, ClusterBackoff backoff);

  enum class Answer : uint8_t { kObeyed, kRefused, kNoTarget, kNotYet };
  /// kRefused: `why` says why. kNotYet: a job is resumed once what it held is given back.
  Answer Obey(CommandAction action, const std::string& uid, std::string& why);
  /// A Command to resume it need not wait any longer.
  [[nodiscard]] bool CanResume(const std::string& uid) const;

  /// All jobs as upserts for Relist, those of State that must stay included; `observed` has the
  /// Clusters already.
  void List(Time now, std::vector<Change>& observed);
  /// To be called once the relist is in State: what is left to be given back.
  void AfterList();
  /// Changes of the jobs that were touched or are due.
  void Take(Time now, std::vector<Change>& changes);
  std::vector<PodCheck> TakeChecks(Time now) { return leaving_.TakeChecks(now); }
  void AnswerCheck(const PodCheck& check, bool gone, Time now);
  /// Placements that were not taken over from their annotation, with why.
  std::vector<RefusedObject> TakeDoubts() { return std::exchange(doubts_, {}); }
  std::set<std::pair<std::string, std::string>> TakeDirtyCarriers() {
    return std::exchange(dirty_carriers_, {});
  }
  std::set<std::string> TakeDirty() { return std::exchange(dirty_, {}); }
  /// A zero Time: never.
  [[nodiscard]] Time NextDue() const;

  [[nodiscard]] const JobView* Find(const std::string& uid) const;
  [[nodiscard]] std::vector<const WorkView*> WorksOf(const std::string& uid) const;
  [[nodiscard]] std::vector<std::string> Uids() const;
  [[nodiscard]] const std::map<std::pair<std::string, std::string>, WorkView>& OtherWorks() const {
    return other_works_;
  }

 private:
  using WorkKey = std::pair<std::string, std::string>;
  using Key = std::pair<JobKey, JobKind>;

  struct Record {
    JobView view;  ///< Key, kind and uid are always there.
    bool there = false;
    std::string refused;  ///< Why, as it is now; empty: it is not.
    bool opted_in = true;
    bool had_work = false;     ///< Since it was last given back.
    bool unsent = false;       ///< The charge, which is recalled: no Work of it is on its way.
    bool edited = false;       ///< Its spec was, since it last held nothing.
    uint64_t fingerprint = 0;  ///< Of what intake reads; 0: not known.
    Time clear;                ///< Before then a Work that was not seen may be on its way.
    std::string doubted;       ///< The annotation `placement` that was said not to be believed.
    WorksOfJob works;
  };

  /// What came since the last Take.
  struct News {
    std::optional<Job> fresh;  ///< As intake took it.
    std::optional<bool> suspended;
    std::optional<std::vector<std::string>> missing;
    std::vector<ClusterBackoff> backoffs;
  };

  /// What a job's Works say of the shards.
  struct Merged {
    bool terminal = false;
    std::vector<TaskReport> tasks;
  };

  Record& RecordOf(const JobKey& key, JobKind kind, const std::string& uid);
  [[nodiscard]] const Record* FindRecord(const std::string& uid) const;
  News& Touch(const std::string& uid);
  [[nodiscard]] bool OptedIn(const Value& object, const JobKey& key) const;
  /// State's job of that key; nullptr where there is none.
  [[nodiscard]] const JobEntry* EntryOfKey(const Key& key) const;
  /// State's job of that record; nullptr where State has none or another one of its name.
  [[nodiscard]] const JobEntry* EntryOf(const Record& record) const;
  [[nodiscard]] JobIndex IndexOf(const Key& key) const;

  /// Why a placement that would be taken over from its annotation is not; empty otherwise.
  [[nodiscard]] std::string Doubt(const Record& record, const JobEntry* entry,
                                  const std::vector<Shard>& placement) const;
  /// Says that of the annotation that is there, once.
  void SayDoubt(Record& record);
  /// When pods of its Works that are gone are so at the latest.
  [[nodiscard]] Time ClearAt(const Record& record) const;
  [[nodiscard]] Merged Merge(const Record& record, const std::vector<Shard>& shards,
                             Time now) const;
  [[nodiscard]] bool NoPods(const Record& record, Time now) const;
  /// The job as State should have it. Either `news` has it, or State.
  [[nodiscard]] Job Compose(const Record& record, News news, Time now) const;
  /// Who has its name now and waits for what it holds; nothing while it is there.
  [[nodiscard]] std::optional<Successor> SuccessorOf(const Record& record) const;
  void MergeWorks(const Record& record, const JobEntry* entry, Time now, Job& job) const;

  /// False where it waits for the name that an earlier job still has.
  bool TakeOne(const std::string& uid, Time now, std::vector<Change>& changes);
  void TakeAbsent(Record& record, Time now, std::vector<Change>& changes);
  /// True where nothing of the job can hold anything in a cluster; else a timer is set where time
  /// alone will tell.
  bool MayRelease(Record& record, Time now);
  /// After its delete the job that waited for its name comes.
  void PushDelete(const Record& record, std::vector<Change>& changes);
  void Forget(const std::string& uid);

  const State& state_;
  const ObserverOptions& options_;
  LeavingShards leaving_;
  std::map<std::string, Record> records_;
  std::map<Key, std::string> current_;  ///< The uid of the parent that is there.
  std::map<WorkKey, std::string> work_jobs_;
  std::map<WorkKey, WorkView> other_works_;
  std::map<std::string, News> news_;
  std::set<std::string> todo_;     ///< Touched.
  std::set<std::string> deleted_;  ///< By the Take that is going on.
  std::set<std::pair<Time, std::string>> timers_;
  std::set<std::string> dirty_;
  std::set<WorkKey> dirty_carriers_;
  /// While everything is listed for a ledger that knows of no job: the clusters that there are.
  std::optional<std::set<std::string>> clusters_;
  std::vector<RefusedObject> doubts_;
};

}  // namespace caldera
