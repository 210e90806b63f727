// All entities of the federation in dense tables with indexes kept by Apply. One owner, one thread;
// copyable for what-if. A State is exactly the fold of the Changes applied to it: nothing in it
// depends on the order in which independent Changes came, and Export() rebuilds it.
#pragma once

#include <vector>

#include "federation/change.h"

namespace caldera {

class State {
 public:
  State() = default;

  /// The only way to change a State. Never fails: intake has refused bad objects, and what refers
  /// to something unknown waits for it (a job of a missing queue is kept, with verdict
  /// QueueMissing).
  void Apply(const Change& change);

  [[nodiscard]] Time now() const { return now_; }
  [[nodiscard]] const Settings& settings() const { return settings_; }

  /// The Changes that rebuild this State from an empty one, in canonical order (by kind, then key):
  /// equal States export equal lists. Checkpoints and Relist use it.
  [[nodiscard]] std::vector<Change> Export() const;

 private:
  Time now_;
  Settings settings_;
};

}  // namespace caldera
