#include "federation/knob_parts.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace caldera {

std::string Keyed(const std::string& field, const std::string& key) {
  return field + "[" + key + "]";
}

int64_t StepOf(const State& state, ResourceIndex r) {
  int64_t step = 0;
  for (ShapeIndex s = 0; s < state.shape_count(); ++s) {
    step = std::gcd(step, state.facts(s).total[r]);
  }
  return std::max<int64_t>(step, 1);
}

Knob MoveAmount(const Amount& amount, std::function<void(State&, int64_t)> turn) {
  const auto it = amount.list->find(amount.resource);
  const bool there = it != amount.list->end();
  const int64_t from = there ? it->second : 0;
  Knob knob;
  knob.id = amount.object + " " + amount.field;
  knob.from = from;
  knob.most = amount.sign > 0 ? SaturatingSub(kUnlimited - 1, from) : from;
  knob.turn = [from, sign = amount.sign, turn = std::move(turn)](State& state, int64_t by) {
    turn(state, SaturatingAdd(from, sign * by));
  };
  knob.edits = [from, there, object = amount.object, field = amount.field,
                resource = amount.resource, sign = amount.sign](int64_t by) {
    return std::vector<Edit>{{object, field,
                              there ? FormatAmount(resource, from) : std::string(kAbsent),
                              FormatAmount(resource, SaturatingAdd(from, sign * by))}};
  };
  return knob;
}

Knob Switch(std::vector<Edit> edits, std::function<void(State&)> turn) {
  Knob knob;
  for (const Edit& edit : edits) {
    knob.id += edit.object + " " + edit.field + " ";
  }
  knob.turn = [turn = std::move(turn)](State& state, int64_t) { turn(state); };
  knob.edits = [edits = std::move(edits)](int64_t) { return edits; };
  return knob;
}

Knob Switch(Edit edit, std::function<void(State&)> turn) {
  return Switch(std::vector<Edit>{std::move(edit)}, std::move(turn));
}

}  // namespace caldera
