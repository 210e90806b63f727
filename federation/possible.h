// Whether anybody could still be placed in a round: once nobody can, in whatever order, the rest of
// the contest changes nothing and is left out. A round in which nothing fits looks at each class
// once, at a few nanoseconds, instead of having each queue judged again for each of its classes.
#pragma once

#include <cstddef>
#include <vector>

#include "federation/order.h"
#include "federation/placement.h"
#include "federation/round.h"

namespace caldera {

class Possible {
 public:
  /// Borrows the round.
  explicit Possible(const Round& round)
      : round_(round), state_(round.state()), too_big_(state_.shape_count(), false) {}

  /// How far the round has come: what was found before is not taken for certain after.
  struct Progress {
    size_t actions = 0;
    bool first_seen = false;  ///< Of those that do not fit, room is kept for none any more.
    friend bool operator==(const Progress&, const Progress&) = default;
  };
  /// Some class that takes part and is not out is within its limits, and it may fit somewhere or
  /// room could be kept for it.
  bool Any(const Contest& contest, Placement& placement, const Progress& progress);

 private:
  void Restart(const Progress& progress);
  [[nodiscard]] bool WalkOn(const Contest& contest, Placement& placement);
  [[nodiscard]] bool MayGo(Placement& placement, ShapeIndex shape);

  const Round& round_;
  const State& state_;
  // A walk over the lanes that take part and the classes of each, which goes on where it stopped.
  size_t lane_ = 0;
  size_t class_ = 0;
  Progress since_;             ///< When the walk began.
  std::vector<bool> too_big_;  ///< By ShapeIndex: such jobs fit nowhere any more.
};

}  // namespace caldera
