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
  /// All must outlive this. `on_failed`: something should be followed again some time; not called
  /// after Stop.
  Carriers(Client& client, const State& state, const Observer& observer,
           const DispatcherOptions& options, std::function<void()> on_failed);

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

  /// These are what the job's shards use or are about to use, and nothing else.
  void SetUses(const std::string& job_uid, std::set<WorkKey> uses);
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
    bool edited = false;  ///< By another hand.
    const WorkView* view = nullptr;
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
  void CollectIfUnused(const WorkKey& key);
  [[nodiscard]] bool QueueIsThere(const std::string& work_name) const;
  [[nodiscard]] std::vector<Carrier> AccessTo(const std::string& cluster) const;
  [[nodiscard]] bool IsKept(const WorkKey& key, const WorkView& view) const;

  Client& client_;
  const State& state_;
  const Observer& observer_;
  const DispatcherOptions& options_;
  const std::function<void()> on_failed_;
  std::map<WorkKey, std::set<std::string>> users_;  ///< Job uids.
  std::map<std::string, std::set<WorkKey>> uses_;   ///< By job uid.
  std::map<WorkKey, Made> made_;                    ///< Not shown by a watch yet.
  std::map<std::string, Time> deleted_;             ///< Likewise, by uid.
  /// By uid: ManifestDigest of what the server keeps where that is not what we wrote.
  std::map<std::string, std::string> kept_;
  std::set<WorkKey> busy_;  ///< A write is in flight.
  bool collecting_ = false;
  bool stopped_ = false;
};

}  // namespace caldera
