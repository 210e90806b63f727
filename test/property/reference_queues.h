// The queue tree of the reference planner: who is a candidate, what each queue holds, what it is
// entitled to and what it keeps from others. Water filling itself is Entitle(), which has
// properties of its own; everything around it is written again, by name and level by level.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "federation/state.h"
#include "test/property/reference_state.h"

namespace caldera::property {

struct RefQueue {
  std::string parent;
  std::vector<std::string> children;
  bool attached = false;
  bool open = true;  ///< It and all above.
  ResourceList guarantee;
  ResourceList deserved;
  ResourceList within;
  ResourceList held;     ///< Its own jobs', on clusters that are not lost.
  ResourceList charged;  ///< Its own jobs'.
  std::map<std::string, ResourceList> by_tenant;
};

class RefQueues {
 public:
  /// Keeps references. `real`: the State of which `state` is the naive form.
  RefQueues(const RefState& state, const State& real);

  void Charge(const RefJob& job, const std::string& cluster, const ResourceList& amounts);
  [[nodiscard]] RefQueue& at(const std::string& queue) { return queues_.at(queue); }
  [[nodiscard]] const RefQueue& at(const std::string& queue) const { return queues_.at(queue); }

  [[nodiscard]] std::optional<int64_t> Priority(const RefJob& job) const;
  [[nodiscard]] bool IsCandidate(const RefJob& job) const;
  /// Some cluster that may take it could hold all of it when empty.
  [[nodiscard]] bool FitsSome(const RefJob& job) const;

  /// What the clusters that are not lost have, but for what strangers use there.
  [[nodiscard]] ResourceList Total() const;
  /// The queue and all above it.
  [[nodiscard]] std::vector<std::string> Chain(const std::string& queue) const;
  /// The smallest of its own and of all above it.
  [[nodiscard]] int64_t Capability(const std::string& queue, const std::string& resource) const;
  [[nodiscard]] ResourceList HeldBelow(const std::string& queue) const;
  [[nodiscard]] ResourceList ChargedBelow(const std::string& queue) const;
  /// What a queue keeps from others: what is held in it or its guarantee, level by level.
  [[nodiscard]] int64_t Hold(const std::string& queue, const std::string& resource) const;

 private:
  void Link();
  void ShareOut();
  void ShareResource(const std::string& resource, const std::map<std::string, int64_t>& demand);
  [[nodiscard]] bool CouldEverGo(const RefJob& job) const;
  [[nodiscard]] bool FitsAlone(const RefJob& job) const;
  [[nodiscard]] std::vector<std::string> Resources() const;

  const RefState& state_;
  const State& real_;
  std::map<std::string, RefQueue> queues_;
  std::vector<std::string> top_down_;
};

}  // namespace caldera::property
