// The member's Queue for a queue of the federation: flat, with nothing that would let the member
// decide against a grant. Pure. Source of the rules: DESIGN 3 (a Queue without `parent: root` is
// fought over by Karmada and Volcano for ever; `root` and `default` every member has of its own).
#pragma once

#include <optional>
#include <string>

#include "controller/run/references.h"
#include "federation/model.h"

namespace caldera {

/// nullopt for `root` and `default`, which are never sent.
std::optional<Carrier> MakeQueueCarrier(const Queue& queue, const std::string& cluster);

/// `Queue/gold`: the name in a shard's `uses`.
std::string QueueUse(const std::string& queue);

}  // namespace caldera
