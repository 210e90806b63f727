// Internal to Observer: intake of one object as an API server has it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "federation/change.h"
#include "federation/document.h"

namespace caldera {

struct Taken {
  std::optional<Change> change;  ///< The upsert; absent: refused.
  std::string message;           ///< Why: the first complaints, on one line.
};

/// The first of what intake says against an object, on one line: what goes into an Event.
std::string Complaints(const std::vector<Issue>& errors);

/// TakeObject as of a stored object; a kind that intake does not know is refused too.
Taken TakeStored(Value&& object, Time now);

}  // namespace caldera
