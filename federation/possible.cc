#include "federation/possible.h"

namespace caldera {

bool Possible::Any(const Contest& contest, Placement& placement, const Progress& progress) {
  if (since_.first_seen != progress.first_seen) {
    Restart(progress);
  }
  while (!WalkOn(contest, placement)) {
    // What was refused early in a round may not be so later: a walk counts if nothing changed in
    // it.
    if (since_ == progress) {
      return false;
    }
    Restart(progress);
  }
  return true;
}

void Possible::Restart(const Progress& progress) {
  since_ = progress;
  lane_ = 0;
  class_ = 0;
  too_big_.assign(state_.shape_count(), false);
}

/// To the next class that is possible; false: there is none from here on.
bool Possible::WalkOn(const Contest& contest, Placement& placement) {
  const auto& entrants = round_.entrants();
  for (; lane_ < entrants.size(); ++lane_, class_ = 0) {
    const Lane& lane = state_.lanes()[entrants[lane_].lane];
    for (; class_ < lane.classes.size(); ++class_) {
      const ShapeIndex shape = lane.shapes[class_];
      if (!too_big_[shape] && !contest.IsOut(lane.classes[class_]) &&
          round_.limits().Allows(lane.queue, lane.tenant, state_.facts(shape)) &&
          MayGo(placement, shape)) {
        return true;
      }
    }
  }
  return false;
}

/// Free room only shrinks: what does not fit is not asked again.
bool Possible::MayGo(Placement& placement, ShapeIndex shape) {
  too_big_[shape] = since_.first_seen && !placement.MayFit(shape);
  return !too_big_[shape];
}

}  // namespace caldera
