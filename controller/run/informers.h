// The reflectors of the Karmada API and, where configured, of members through the cluster proxy,
// wired to an Observer. One thread (the executor's).
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "controller/kube/client.h"
#include "controller/kube/reflector.h"
#include "controller/run/config.h"
#include "controller/run/observer.h"
#include "federation/state.h"

namespace caldera {

/// Label of every Work of ours, and how they are watched.
inline constexpr std::string_view kManagedBySelector = "app.kubernetes.io/managed-by=caldera";

/// For how long a kind that Karmada may be installed without is waited for, where objects of it are
/// known from before: an API server that starts may say for a while that it has no such kind.
inline constexpr Millis kAbsentKindPatience{300'000};

struct InformerHandlers {
  /// Something was reported to the Observer.
  std::function<void()> on_change;
  /// Every kind of the Karmada API has been listed for the first time. Once.
  std::function<void()> on_synced;
  /// What could not be listed or watched, for the log; `source` is `Job`, or `east/Node`.
  std::function<void(const std::string& source, const Error&)> on_error;
  /// Are objects of that kind known from before?
  std::function<bool(const ResourceType&)> is_known;
};

/// `state` has objects of that kind, which a relist without any would delete: HyperJobs or
/// FederatedResourceQuotas; false for other kinds.
bool KnowsObjects(const State& state, const ResourceType& type);

class Informers {
 public:
  /// All must outlive this.
  Informers(Client& karmada, Observer& observer, InformerHandlers handlers);
  Informers(const Informers&) = delete;
  Informers& operator=(const Informers&) = delete;
  ~Informers();

  void Start();
  /// Watches a member's Pods, then its Nodes and HyperNodes: with Pods first, a Node is never seen
  /// emptier than it is. `member` reaches it through the proxy and must outlive this.
  void StartMember(const std::string& cluster, Client& member);
  /// And forgets what was seen of it.
  void StopMember(const std::string& cluster);
  void Stop();

  [[nodiscard]] bool Synced() const;
  /// Kinds that were not listed yet.
  [[nodiscard]] std::vector<std::string> Unsynced() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace caldera
