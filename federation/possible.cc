#include "federation/possible.h"

#include <algorithm>

namespace caldera {

bool Possible::Any(const Contest& contest, Placement& placement, const Progress& progress) {
  if (since_.first_seen != progress.first_seen) {
    Restart(progress);
  }
  ForgetHopes(progress.actions);
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
  shape_ = 0;
  known_.assign(state_.shape_count(), kUnknown);
}

/// Free room only shrinks: what does not fit is not asked again in a walk, what did is.
void Possible::ForgetHopes(size_t actions) {
  if (as_of_ != actions) {
    as_of_ = actions;
    constexpr auto kNo = static_cast<uint8_t>(Reservations::Openness::kNo);
    std::replace_if(
        known_.begin(), known_.end(), [](uint8_t may) { return may != kNo; }, kUnknown);
  }
}

/// To the next class that is possible; false: there is none from here on.
bool Possible::WalkOn(const Contest& contest, Placement& placement) {
  if (!AnyShape(placement)) {
    return false;
  }
  const auto& entrants = round_.entrants();
  for (; lane_ < entrants.size(); ++lane_, class_ = 0) {
    const Lane& lane = state_.lanes()[entrants[lane_].lane];
    for (; class_ < lane.classes.size(); ++class_) {
      const ShapeIndex shape = lane.shapes[class_];
      const ClassIndex job_class = lane.classes[class_];
      if (MayGo(placement, job_class, shape) && !contest.IsOut(job_class) &&
          round_.limits().Allows(lane.queue, lane.tenant, state_.facts(shape))) {
        return true;
      }
    }
  }
  return false;
}

/// Where no shape fits anywhere, nobody asks class by class.
bool Possible::AnyShape(Placement& placement) {
  while (shape_ < known_.size() && (state_.CandidatesOf(shape_) == 0 ||
                                    ShapeMayGo(placement, shape_) == Reservations::Openness::kNo)) {
    ++shape_;
  }
  return shape_ < known_.size();
}

bool Possible::MayGo(Placement& placement, ClassIndex job_class, ShapeIndex shape) {
  using Openness = Reservations::Openness;
  const Openness may = ShapeMayGo(placement, shape);
  return may == Openness::kYes ||
         (may == Openness::kByClass && placement.MayFit(job_class, shape, reservations_));
}

Reservations::Openness Possible::ShapeMayGo(Placement& placement, ShapeIndex shape) {
  using Openness = Reservations::Openness;
  if (!since_.first_seen) {
    return Openness::kYes;
  }
  if (known_[shape] == kUnknown) {
    known_[shape] = static_cast<uint8_t>(placement.MayFit(shape, reservations_));
  }
  return static_cast<Openness>(known_[shape]);
}

}  // namespace caldera
