// Internal to Observer: all objects but jobs. What came since the last Take is kept by key, the
// last one counts, and becomes a Change where it differs from what State has. Of a Cluster the
// latest is kept for good, since State may not believe its Ready yet.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "controller/run/commands.h"
#include "controller/run/observer.h"
#include "federation/object_key.h"

namespace caldera {

class ObjectBook {
 public:
  using Kind = ObjectKind;
  using Key = ObjectKey;

  ObjectBook(const State& state, const ObserverOptions& options)
      : state_(state), options_(options) {}

  /// An upsert of any kind but a job's.
  void Upsert(Change&& upsert, Time now);
  void Delete(const Key& key);
  /// It is refused now: what State has of it stays, except that a Cluster is not Ready.
  void Refuse(const Key& key, Time now);
  void ForgetMembers(const std::string& cluster);

  /// The Queue as it is there.
  void See(QueueView queue);
  void ForgetQueue(const std::string& name);
  [[nodiscard]] const QueueView* FindQueue(const std::string& name) const;
  /// False where no Queue of that uid is there.
  [[nodiscard]] bool IsThere(const std::string& name, const std::string& uid) const;
  void Command(const std::string& queue, CommandAction action);

  /// Everything that is there, as upserts for Relist.
  void List(Time now, std::vector<Change>& observed);
  void Take(Time now, std::vector<Change>& changes);
  std::set<std::string> TakeDirtyQueues() { return std::exchange(dirty_queues_, {}); }
  /// A zero Time: never.
  [[nodiscard]] Time NextDue() const;

 private:
  /// A Cluster as it is there, and since when its Ready differs from what State has.
  struct Seen {
    Cluster cluster;
    std::optional<Time> differs;
  };

  void See(Cluster cluster, Time now);
  /// The same Cluster in State; nullptr: State has none, or one that was joined earlier under its
  /// name.
  [[nodiscard]] const Cluster* KnownAs(const Cluster& cluster) const;
  /// The Cluster for State: with the Ready that is believed.
  Cluster Believed(Seen& seen, Time now) const;
  [[nodiscard]] Queue Decided(Queue queue);
  [[nodiscard]] std::optional<Change> InState(const Key& key) const;
  [[nodiscard]] std::optional<Change> Prepared(const Key& key, Change change, Time now);
  [[nodiscard]] std::vector<std::string> DueClusters(Time now) const;
  [[nodiscard]] bool CanClose(const std::string& queue) const;
  void TouchQueue(const std::string& name);

  const State& state_;
  const ObserverOptions& options_;
  std::map<Key, std::optional<Change>> pending_;  ///< nullopt: it is gone.
  std::map<std::string, Seen> clusters_;
  std::map<std::string, QueueView> queues_;
  std::map<std::string, CommandAction> commands_;  ///< By queue, since the last Take.
  std::set<std::string> closing_;
  std::set<std::string> dirty_queues_;
};

}  // namespace caldera
