#include "federation/possible.h"

#include <algorithm>

#include "federation/gate.h"

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
    no_claim_.clear();
    constexpr auto kNo = static_cast<uint8_t>(Reservations::Openness::kNo);
    std::replace_if(
        known_.begin(), known_.end(), [](uint8_t may) { return may != kNo; }, kUnknown);
  }
}

/// To the next class that is possible; false: there is none from here on.
bool Possible::WalkOn(const Contest& contest, Placement& placement) {
  const bool any_shape = AnyShape(placement);
  if (!any_shape && preemption_.HasNoCandidates()) {
    return false;
  }
  const auto& entrants = round_.entrants();
  for (; lane_ < entrants.size(); ++lane_, class_ = 0) {
    const Lane& lane = state_.lanes()[entrants[lane_].lane];
    const bool may_evict = !preemption_.IsHopeless(lane);
    if (!any_shape && !may_evict) {
      continue;
    }
    for (; class_ < lane.classes.size(); ++class_) {
      if (!contest.IsOut(lane.classes[class_]) &&
          (MayGo(placement, lane, class_) || (may_evict && MayEvict(placement, lane, class_)))) {
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

bool Possible::MayGo(Placement& placement, const Lane& lane, size_t position) {
  using Openness = Reservations::Openness;
  const ShapeIndex shape = lane.shapes[position];
  const Openness may = ShapeMayGo(placement, shape);
  return may != Openness::kNo &&
         round_.limits().Allows(lane.queue, lane.tenant, state_.facts(shape)) &&
         (may == Openness::kYes || placement.MayFit(lane.classes[position], shape, reservations_));
}

/// Who might is asked for: otherwise all the others would be called up for one that cannot.
bool Possible::MayEvict(Placement& placement, const Lane& lane, size_t position) {
  const ShapeIndex shape = lane.shapes[position];
  const ClassIndex job_class = lane.classes[position];
  const bool fits = ShapeMayGo(placement, shape) != Reservations::Openness::kNo;
  if (preemption_.IsHopeless(lane, shape, placement.clusters(), fits) ||
      no_claim_.contains(job_class)) {
    return false;
  }
  const Claimant claim{job_class, kNoIndex, PriorityValue(state_, lane.priority).value_or(0)};
  if (preemption_.Find(claim, placement.clusters(), reservations_).has_value()) {
    return true;
  }
  no_claim_.insert(job_class);
  return false;
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
