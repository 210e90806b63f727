// Internal to the dispatcher: one look at one job. Each step compares what is with what should be,
// does the next write, and steps again when that is answered; a look ends when nothing is left to
// do now, or with the error that stopped it. One thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "controller/run/dispatcher.h"
#include "controller/run/dispatcher_carriers.h"
#include "controller/run/dispatcher_memory.h"
#include "controller/run/references.h"
#include "federation/intake.h"

namespace caldera {

/// What every look works with; all of it outlives the looks.
struct DispatchContext {
  Client& client;
  const State& state;
  Observer& observer;
  EventRecorder& events;
  Carriers& carriers;
  const DispatcherOptions& options;
};

struct LookOutcome {
  std::optional<Error> error;
  Time again;  ///< Look again then; zero: no need.
};

/// `4 pods in cluster east (epoch 1)`, shard by shard.
std::string SummaryOf(const Charge& charge);

class JobLook : public std::enable_shared_from_this<JobLook> {
 public:
  struct Handlers {
    std::function<void(LookOutcome)> done;  ///< Called once, perhaps from inside Start.
    std::function<void()> park;             ///< It waits without a request: another may go ahead.
    std::function<void()> unpark;
  };
  /// `memory` is the job's own and outlives the look.
  JobLook(const DispatchContext& context, std::string uid, JobMemory& memory, Handlers handlers);

  /// Of a PersistentVolumeClaim in a member; unknown: the member does not let us look.
  enum class Claim : uint8_t { kThere, kAbsent, kUnknown };

  void Start() { Step(); }
  /// No handler is called and nothing is written any more.
  void Stop() { stopped_ = true; }

 private:
  // dispatcher_look.cc: the steps.
  void Step();
  void StepNone();
  void StepPlaced();
  void StepEnded();
  bool DeleteWhere(const std::function<bool(const SeenWork&)>& unwanted);
  void HoldObject(const SeenWork& work);
  void DeleteWork(const WorkKey& key, const std::string& uid);
  void PatchParent(const std::optional<std::string>& placement);
  void DeleteParent();
  bool SuspendWhere(const std::function<bool(const SeenWork&)>& chosen, bool suspend);
  bool WriteStatus();
  /// `Job team-a/train`.
  [[nodiscard]] std::string ParentName() const;
  void Say(EventType type, std::string reason, std::string message, EventRepeat repeat);

  // dispatcher_send.cc: what a shard needs, and the shard.
  void Send();
  bool FetchParent();
  /// `refused`: intake does not take it; that was said.
  void Prepare(const std::function<void(const std::string& why)>& refused);
  [[nodiscard]] int64_t ParentGeneration() const;
  bool BringCarriers();
  void MakeCarriers();
  bool RefuseToSend();
  void CreateShard();
  [[nodiscard]] std::vector<std::string> UsesOf(const Shard& shard) const;
  /// Error kInvalid: the parent as it is now has no part that the shard is of.
  [[nodiscard]] Result<Value> RenderWorkOf(size_t index) const;
  void LookAtConflict(const WorkKey& key, const Error& error);
  void LookAtWork(const WorkKey& key, const Value& work);
  void RememberWork(const WorkKey& key, const Value& work);
  [[nodiscard]] std::set<std::string> Clusters() const;
  void Recall();
  void GiveBack(const std::set<std::string>& clusters, Verdict verdict, const std::string& message,
                Time until);
  void RecallFrom(const std::set<std::string>& clusters, Verdict verdict,
                  const std::string& message);
  void RecallEdited(const Error& error);
  void RefusedAsItIs(const std::string& why);
  void TooLarge(const std::string& message);

  // dispatcher_references.cc: what shards refer to.
  [[nodiscard]] const std::vector<Reference>& ReferencesOfShard(const Shard& shard) const;
  [[nodiscard]] std::vector<Reference> AllReferences() const;
  void AddAccount(const std::string& name, const Value& account);
  [[nodiscard]] bool IsMissing(const Reference& reference) const;
  bool FetchReference();
  bool HoldForReferences();
  bool RecheckReferences();
  void RecheckNext(std::vector<std::string> left, std::vector<std::string> missing);
  void FinishRecheck(std::vector<std::string> missing);
  void ForgetReferences();

  // dispatcher_claims.cc: claims, which are to be where the job goes.
  using ClaimKey = std::pair<std::string, std::string>;  ///< Cluster and name.
  [[nodiscard]] std::string MemberPath(const std::string& cluster) const;
  void AskMember(const ClaimKey& key, std::function<void(Claim)> then);
  bool FetchClaims();
  [[nodiscard]] bool IsForKarmada(const Reference& reference) const;
  bool HoldForClaims();
  void KeepOut(const std::string& cluster, const std::set<std::string>& names);
  void LetIn(const std::string& cluster);
  bool RecheckClaims();
  void RecheckClaim(std::vector<ClaimKey> left,
                    std::map<std::string, std::set<std::string>> absent);
  void FinishClaims(const std::map<std::string, std::set<std::string>>& absent);

  // dispatcher_check.cc: jobs and shards that get nowhere.
  bool AwaitName();
  bool CheckApplied();
  bool CheckScheduled();

  // dispatcher_resize.cc: edits of a shard that is there.
  bool Resize();
  void ResizeWork(const SeenWork& work);
  void Compare(const WorkKey& key, const Value& work);
  void SayHeld(const Value& there, const Result<Value>& wanted);
  void SayPutBack(const WorkKey& key, const std::string& what);
  void TakeBack(const WorkKey& key, const Value& work);

  void Learnt();
  [[nodiscard]] Time Now() const { return context_.client.executor().Now(); }
  [[nodiscard]] const Charge& charge() const { return *seen_.entry->charge; }
  void Again(Time at);
  /// Returns after how long: twice as long each time.
  Millis Postpone(JobMemory::Recheck& recheck) const;
  void PublishUses();
  void Finish();
  void Fail(Error error);
  /// `then` runs with the answer unless the look was stopped.
  Client::ObjectHandler OnObject(std::function<void(Result<Value>)> then);
  Client::DoneHandler OnDone(std::function<void(Status)> then);

  const DispatchContext context_;
  const std::string uid_;
  JobMemory& memory_;
  const Handlers handlers_;
  SeenJob seen_;        ///< Of this step: what it points to may be gone when a request is answered.
  EventTarget target_;  ///< Copied from it.
  int64_t intent_ = 0;  ///< Likewise: of the charge.
  bool unsent_ = false;  ///< Likewise: no Work of it was sent.
  size_t steps_ = 0;
  bool stopped_ = false;
  bool created_ = false;  ///< By this look: the job is placed.
  Time again_;

  // Of one dispatch; dropped with the look.
  std::optional<Value> parent_;                               ///< The whole Job or HyperJob.
  std::optional<Intake> intake_;                              ///< Of it.
  std::map<std::string, std::vector<Reference>> references_;  ///< ReferencesByTemplate.
  std::map<ClaimKey, Claim> claims_;
  std::map<std::string, Value> fetched_;  ///< By Reference::ToString; null: it is not there.
  std::vector<Carrier> carriers_;
  bool carriers_made_ = false;
  Time carriers_since_;
};

}  // namespace caldera
