// The member's Queue for a queue of the federation: flat, with nothing that would let the member
// decide against a grant; and that of a job that runs in waves, which holds it to its grant. Pure.
// Source of the rules: DESIGN 3 (a Queue without `parent: root` is fought over by Karmada and
// Volcano for ever; `root` and `default` every member has of its own).
#pragma once

#include <optional>
#include <string>

#include "controller/run/references.h"
#include "federation/state.h"

namespace caldera {

/// nullopt for `root` and `default`, which are never sent.
std::optional<Carrier> MakeQueueCarrier(const Queue& queue, const std::string& cluster);

/// It is placed and runs in waves: it has a Queue of its own.
bool HasWavesQueue(const JobEntry& job);
/// The Queue of its own of a placed job that runs in waves, whose capability is its grant (`pods`
/// left out: Volcano's holds none); nullopt for any other.
std::optional<Carrier> MakeWavesCarrier(const State& state, const JobEntry& job);

/// `Queue/gold`: the name in a shard's `uses`.
std::string QueueUse(const std::string& queue);

}  // namespace caldera
