// What MakePlan decided: actions in the order in which they were decided. A value; the ledger
// records it, the dispatcher performs it. Why the other jobs wait is not stored here: it follows
// from the State after the plan (explain.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "federation/change.h"
#include "federation/model.h"

namespace caldera {

/// An open set. Grow and Shrink change the counts of a placed job: same cluster, same epoch,
/// `shards` as they come to be. Evict takes a placed job off its shards, which are what it holds.
enum class ActionKind : uint8_t { kPlace, kGrow, kShrink, kEvict };
std::string_view ActionName(ActionKind kind);

struct Action {
  int32_t rank = 0;  ///< 1-based position in the plan.
  JobKey job;
  std::string uid;
  JobKind kind = JobKind::kJob;
  std::string queue;
  ActionKind action = ActionKind::kPlace;
  /// A topology below the cluster was asked for that Caldera did not check: the member decides.
  bool topology_unchecked = false;
  std::vector<Shard> shards;
  JobKey beneficiary;  ///< Of an Evict, and of a Shrink that makes room: who may use what it frees.
  std::string beneficiary_uid;
  std::string reason;  ///< One sentence for people: why now, why there.
};

/// A placed job gives pods to another and stays.
inline bool MakesRoom(const Action& action) {
  return action.action == ActionKind::kShrink && !action.beneficiary.name.empty();
}

struct Plan {
  Time now;
  std::vector<Action> actions;
  /// All that there are after the plan, by job; nothing where they stay as they are.
  std::optional<std::vector<Reservation>> reservations = std::nullopt;

  /// It leaves the State as it is.
  [[nodiscard]] bool Empty() const { return actions.empty() && !reservations.has_value(); }
};

/// The Changes by which the plan takes effect in State, intents numbered from `first_intent` on in
/// the order of the actions.
std::vector<Change> EffectOf(const Plan& plan, int64_t first_intent);

}  // namespace caldera
