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
  raises_root_.reset();
  may_fit_.assign(state_.shape_count(), std::nullopt);
  root_refuses_.assign(state_.shape_count(), std::nullopt);
}

/// To the next class that is possible; false: there is none from here on.
bool Possible::WalkOn(const Contest& contest, Placement& placement) {
  may_fit_.resize(state_.shape_count());
  root_refuses_.resize(state_.shape_count());
  const auto& entrants = round_.entrants();
  for (; lane_ < entrants.size(); ++lane_, class_ = 0, raises_root_.reset()) {
    const Lane& lane = state_.lanes()[entrants[lane_].lane];
    for (; class_ < lane.classes.size(); ++class_) {
      if (IsPossible(contest, placement, lane.classes[class_])) {
        return true;
      }
    }
  }
  return false;
}

bool Possible::IsPossible(const Contest& contest, Placement& placement, ClassIndex index) {
  if (contest.IsOut(index)) {
    return false;
  }
  const JobClass& job_class = state_.classes()[index];
  std::optional<bool>& may_fit = may_fit_[job_class.shape];
  if (may_fit != false && since_.first_seen) {
    may_fit = placement.MayFit(job_class.shape);
  }
  if (may_fit == false) {
    return false;
  }
  const ShapeFacts& facts = state_.facts(job_class.shape);
  std::optional<bool>& refused = root_refuses_[job_class.shape];
  if (!refused.has_value()) {
    refused = round_.limits().RootRefuses(facts);
  }
  if (*refused && !raises_root_.has_value()) {
    raises_root_ = round_.limits().RaisesRoot(job_class.queue);
  }
  return !(*refused && *raises_root_) &&
         !round_.limits().Check(job_class.queue, job_class.tenant, facts).has_value();
}

}  // namespace caldera
