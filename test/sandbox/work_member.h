// One member cluster as Karmada's controllers see it: whether it is Ready, what it has, which of
// its objects changed, and the few calls that executing Works needs. Used by the work executor. One
// thread (the executor's).
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "controller/kube/client.h"
#include "test/sandbox/api_index.h"
#include "test/sandbox/mirror.h"

namespace caldera::sandbox {

struct MemberOptions {
  Millis probe_every{10'000};
  /// Ready turns False after failing for so long, and True again after answering for so long.
  Millis failure_threshold{30'000};
  Millis success_threshold{30'000};
};

class WorkMember {
 public:
  struct Handlers {
    /// After each probe: health may have changed, and the summary.
    std::function<void()> on_probed;
    /// A watched object that names a Work changed; `after` is null where it is gone.
    std::function<void(const Value* before, const Value* after)> on_object;
  };
  using ObjectHandler = Client::ObjectHandler;
  using DoneHandler = Client::DoneHandler;

  /// `transport` and `executor` must outlive this.
  WorkMember(HttpTransport& transport, Executor& executor, MemberOptions options,
             Handlers handlers);
  WorkMember(const WorkMember&) = delete;
  WorkMember& operator=(const WorkMember&) = delete;
  ~WorkMember() = default;

  void Start();

  enum class Health { kUnknown, kReady, kNotReady };
  [[nodiscard]] Health health() const { return health_; }
  /// What a Cluster's status has beside its conditions.
  [[nodiscard]] Value StatusParts() const;

  /// Brings one manifest about, watching its kind from now on. Errors are what Applied=False says.
  void Apply(const Value& manifest, DoneHandler done);
  /// Deletes what a manifest names where it is managed; what is not there is gone already.
  void Remove(const Value& manifest, DoneHandler done);

 private:
  void Probe();
  void Settle(bool answered);
  void Read();
  void Watch(const ResourceType& type);
  /// The object as the mirror has it, or as the server has it while that is not synced.
  void Look(const ResourceType& type, const ObjectKey& key, ObjectHandler done);
  void CreateIn(const ResourceType& type, const Value& manifest, DoneHandler done);
  void UpdateIn(const ResourceType& type, const Value& manifest, const Value& observed,
                DoneHandler done);
  void UpdateAgain(const ResourceType& type, const Value& manifest, DoneHandler done);

  Executor& executor_;
  const MemberOptions options_;
  Handlers handlers_;
  Client client_;
  Client probe_;  ///< One attempt: a probe that fails is an answer.
  ApiIndex index_;
  Health health_ = Health::kUnknown;
  bool answers_ = false;
  Time answers_since_;
  bool reading_ = false;
  std::string version_;
  std::map<std::string, std::unique_ptr<Mirror>> watched_;  ///< By path.
  Mirror nodes_;
  Mirror pods_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace caldera::sandbox
