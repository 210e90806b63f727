// Random small federations: a few of everything, with the relations that make planning hard (limits
// at several levels, ties, taints, nodes, what runs already). Draws inside of a property; shrinks.
#pragma once

#include <string>
#include <vector>

#include "federation/change.h"
#include "federation/plan.h"
#include "federation/state.h"

namespace caldera::property {

struct World {
  /// Upserts, each key once; then Placed for some of the jobs.
  std::vector<Change> objects;
  std::vector<Change> placed;

  [[nodiscard]] State Build() const;
};

/// What a world may have; everything by default.
struct WorldOptions {
  bool nodes = true;
  bool running = true;
  bool waves = true;       ///< Placed jobs may run in waves.
  bool evictions = false;  ///< Placed jobs may be evicted, and jobs say more about that.
};

World AnyWorld(const WorldOptions& options = {});
/// One more object of a kind and key that AnyWorld uses: a new one or a new version.
Change AnyUpsert();
/// Deletes one object of those that AnyWorld makes, there or not.
Change AnyDelete();

/// For failures: one change a line.
std::string Show(const std::vector<Change>& changes);
std::string Show(const Plan& plan);

}  // namespace caldera::property
