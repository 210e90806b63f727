// Whether anybody could still be placed in a round: once nobody can, in whatever order, the rest of
// the contest changes nothing and is left out. A round in which nothing fits looks at each shape
// once, and where some fit at each class, at a few nanoseconds, instead of having each queue judged
// again for each of its classes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

#include "federation/order.h"
#include "federation/placement.h"
#include "federation/preemption.h"
#include "federation/round.h"

namespace caldera {

class Possible {
 public:
  /// Borrows the round.
  Possible(const Round& round, const Reservations& reservations, Preemption& preemption)
      : round_(round),
        state_(round.state()),
        reservations_(reservations),
        preemption_(preemption),
        known_(state_.shape_count(), kUnknown) {}

  /// How far the round has come: what was found before is not taken for certain after.
  struct Progress {
    size_t actions = 0;
    bool first_seen = false;  ///< Of those that do not fit, room is kept for none any more.
    friend bool operator==(const Progress&, const Progress&) = default;
  };
  /// Some class that takes part and is not out is within its limits, and it may fit somewhere or
  /// room could be kept for it; or others might make room for it.
  bool Any(const Contest& contest, Placement& placement, const Progress& progress);

 private:
  static constexpr uint8_t kUnknown = 255;

  void Restart(const Progress& progress);
  void ForgetHopes(size_t actions);
  [[nodiscard]] bool WalkOn(const Contest& contest, Placement& placement);
  [[nodiscard]] bool AnyShape(Placement& placement);
  [[nodiscard]] bool MayGo(Placement& placement, const Lane& lane, size_t position);
  [[nodiscard]] bool MayEvict(Placement& placement, const Lane& lane, size_t position);
  [[nodiscard]] Reservations::Openness ShapeMayGo(Placement& placement, ShapeIndex shape);

  const Round& round_;
  const State& state_;
  const Reservations& reservations_;
  Preemption& preemption_;
  // A walk over the lanes that take part and the classes of each, which goes on where it stopped.
  size_t lane_ = 0;
  size_t class_ = 0;
  ShapeIndex shape_ = 0;           ///< Those before it fit nowhere any more.
  Progress since_;                 ///< When the walk began.
  size_t as_of_ = 0;               ///< The actions when what follows was found.
  std::set<ClassIndex> no_claim_;  ///< Nobody makes room for them.
  std::vector<uint8_t> known_;     ///< By ShapeIndex: an Openness, or kUnknown.
};

}  // namespace caldera
