// The names of a Queue's states, as Volcano writes them.
#pragma once

#include <string_view>

#include "federation/model.h"

namespace caldera {

std::string_view QueueStateName(QueueState state);

}  // namespace caldera
