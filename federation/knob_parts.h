// What the knobs of knob_queue.cc, knob_cluster.cc and knob_job.cc are made of.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "federation/knob.h"

namespace caldera {

/// Edit::from of what is not there.
inline constexpr std::string_view kAbsent = "absent";

/// `spec.capability[cpu]`.
std::string Keyed(const std::string& field, const std::string& key);

/// What jobs ask of the resource comes in multiples of this.
int64_t StepOf(const State& state, ResourceIndex r);

/// A knob that moves one amount of one object, up (sign 1) or down (sign -1).
struct Amount {
  std::string object;
  std::string field;
  std::string resource;
  const ResourceList* list = nullptr;  ///< Where it stands now; absent counts as 0.
  int64_t sign = 1;
};
/// `turn` gets the amount itself.
Knob MoveAmount(const Amount& amount, std::function<void(State&, int64_t to)> turn);

/// A knob that is either turned or not.
Knob Switch(std::vector<Edit> edits, std::function<void(State&)> turn);
Knob Switch(Edit edit, std::function<void(State&)> turn);

}  // namespace caldera
