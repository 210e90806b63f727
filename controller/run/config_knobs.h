// Internal to the settings: every one of them, with its default, what it means, and how it is taken
// and checked. Pure.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "controller/run/config.h"
#include "federation/fields.h"

namespace caldera {

/// Takes the field into the config; what is wrong goes to the field's sink.
using Take = std::function<void(const Field&, ControllerConfig&)>;

struct Knob {
  std::string_view key;  ///< Dots between the levels of the file.
  std::string_view fallback;
  std::string_view meaning;
  Take take;
};

/// All settings, in the order in which they are listed.
std::vector<Knob> Knobs();

}  // namespace caldera
