#include "federation/plan.h"

namespace caldera {

std::string_view ActionName(ActionKind kind) {
  switch (kind) {
    case ActionKind::kPlace:
      return "Place";
    case ActionKind::kGrow:
      return "Grow";
    case ActionKind::kShrink:
      return "Shrink";
    case ActionKind::kEvict:
      return "Evict";
  }
  return "Unknown";
}

std::vector<Change> EffectOf(const Plan& plan, int64_t first_intent) {
  std::vector<Change> changes;
  int64_t intent = first_intent;
  for (const Action& action : plan.actions) {
    if (action.action == ActionKind::kEvict) {
      changes.emplace_back(Evicted{action.job, action.uid, intent, plan.now, action.beneficiary,
                                   action.beneficiary_uid});
    } else {
      changes.emplace_back(Placed{action.job, action.uid, intent, plan.now, action.shards});
    }
    ++intent;
  }
  if (plan.reservations.has_value()) {
    changes.emplace_back(ReservationsSet{*plan.reservations});
  }
  return changes;
}

}  // namespace caldera
