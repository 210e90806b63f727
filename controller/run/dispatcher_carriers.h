// Internal to the dispatcher: the Works that carry what shards need there beside themselves: what
// their pods refer to, and the member's Queue; and the access to members. One a cluster and object;
// who uses one is what the shards' own Works say, so that nothing has to be remembered, and one
// without users goes. One thread.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "controller/kube/client.h"
#include "controller/run/dispatcher.h"
#include "controller/run/dispatcher_memory.h"
#include "controller/run/references.h"

namespace caldera {

class Carriers : public std::enable_shared_from_this<Carriers> {
 public:
  struct Handlers {
    /// Something should be followed again some time.
    std::function<void()> on_failed;
    /// What another hand did to this Work, which the job uses, is put back.
    std::function<void(const std::string& job_uid, const WorkKey& work)> on_put_back;
  };
  /// All must outlive this. No handler is called after Stop.
  Carriers(Client& client, const State& state, const Observer& observer,
           const DispatcherOptions& options, Handlers handlers);

  enum class Need : uint8_t {
    kNothing,  ///< It is there as it should be, or something of that name that is not ours.
    kWrite,    ///< Write() it.
    kWait,     ///< A write is under way, or it is not applied yet.
    kGoing,    ///< It is being deleted, and made again when it is gone.
  };
  [[nodiscard]] Need NeedOf(const Carrier& carrier);
  /// Creates it, or brings it up to date.
  void Write(const Carrier& carrier, Client::DoneHandler done);
  /// What the member said where it could not be applied; empty otherwise.
  [[nodiscard]] std::string Complaint(const Carrier& carrier) const;

  using Uses = std::map<WorkKey, std::string>;  ///< What each carries, as in a shard's `uses`.
  /// These are what the job's shards use or are about to use, and nothing else.
  void SetUses(const std::string& job_uid, const Uses& uses);
  /// What was said last to be used by the job in that namespace.
  [[nodiscard]] std::vector<std::string> UsesIn(const std::string& job_uid,
                                                const std::string& ns) const;
  /// This Work was shown, or went: what is used stays as it should be, and what is not goes.
  void Look(const WorkKey& key);
  /// All users are known from now on: what has none goes.
  void BeginCollecting();
  /// Member Queues follow the federation's: weight, and the end; those of jobs in waves their
  /// grants.
  void FollowQueues();
  /// The access to members follows the settings and the clusters that there are.
  void FollowAccess();

  void Stop() { stopped_ = true; }
  [[nodiscard]] bool idle() const { return busy_.empty(); }

 private:
  struct Seen {
    std::string uid;
    std::string digest;
    bool deleting = false;
    bool edited = false;  ///< By another hand: what it carries, what stands on it, its finalizer.
    const WorkView* view = nullptr;
  };
  struct Users {
    std::string use;
    std::set<std::string> jobs;  ///< By uid.
  };
  /// Of what other hands change: put back at once, then less and less often.
  struct PuttingBack {
    Time at;
    Millis pause{0};
    Executor::TimerId timer = 0;
  };
  struct Made {
    std::string uid;
    std::string digest;
    std::string content;  ///< ManifestDigest of what the server made of it.
    Time at;
  };
  [[nodiscard]] std::optional<Seen> Find(const WorkKey& key);
  void Create(const Carrier& carrier, Client::ObjectHandler done);
  void Finish(const Carrier& carrier, Result<Value> made, const Client::DoneHandler& done);
  void TakeOver(const Carrier& carrier, const Result<Value>& there, const Error& error,
                const Client::ObjectHandler& done);
  [[nodiscard]] Value WholePatch(const Carrier& carrier, const std::string& uid,
                                 const std::vector<std::string>& other_finalizers) const;
  // dispatcher_carriers_keep.cc: what is to be there, and stays so.
  void CollectIfUnused(const WorkKey& key);
  void Delete(const WorkKey& key, const std::string& uid);
  [[nodiscard]] std::string QueueNameOf(const WorkKey& key) const;
  [[nodiscard]] const JobEntry* JobInWaves(const std::string& queue) const;
  [[nodiscard]] std::optional<Carrier> Wanted(const WorkKey& key) const;
  [[nodiscard]] std::vector<Carrier> AccessTo(const std::string& cluster) const;
  void FetchSource(const WorkKey& key, const Reference& reference);
  void Keep(const Carrier& carrier);
  bool MayPutBack(const WorkKey& key);
  void LookAfterPause(const WorkKey& key);

  Client& client_;
  const State& state_;
  const Observer& observer_;
  const DispatcherOptions& options_;
  const Handlers handlers_;
  std::map<WorkKey, Users> users_;
  std::map<std::string, std::set<WorkKey>> uses_;  ///< By job uid.
  std::map<WorkKey, PuttingBack> putting_back_;
  std::map<WorkKey, Made> made_;         ///< Not shown by a watch yet.
  std::map<std::string, Time> deleted_;  ///< Likewise, by uid.
  /// By uid: ManifestDigest of what the server keeps where that is not what we wrote.
  std::map<std::string, std::string> kept_;
  std::set<WorkKey> busy_;  ///< A write is in flight.
  bool collecting_ = false;
  bool stopped_ = false;
};

}  // namespace caldera
