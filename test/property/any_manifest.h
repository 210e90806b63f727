// Random manifests and fleets, for properties of jobs that go to several clusters: what intake
// takes, not what State holds. Only inside a property.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "federation/document.h"
#include "federation/intake.h"
#include "federation/plan.h"
#include "federation/round.h"
#include "federation/state.h"
#include "test/property/draws.h"

namespace caldera::property {

inline Value Map(Value::Map members) { return {std::move(members)}; }
inline std::string Count(int64_t n) { return std::to_string(n); }

/// The spec of a Job in queue q, of up to so many tasks, each of fewer than `pods` pods or of
/// partitions of such; with floors and dependencies now and then.
Value AnySpec(int tasks, int pods);

/// The intake's answer to a manifest that is new.
Intake TakeManifest(const Value& manifest);

/// Queue q, and clusters c1, c2, ... of which several may hold what none holds alone.
State AnyFleet();

/// The intake takes each shard's Job as it is, and changes nothing that is granted. `defaulted`:
/// the job of the action. Fails the property.
void CheckAdmission(const Value& defaulted, const Action& action);

/// How many bundles of so many pods of its only task each cluster holds, asked pod by pod; no more
/// than `most`.
std::vector<int64_t> SlotsOf(const State& state, const Round& round, const JobEntry& job,
                             int64_t pods, int64_t most);
/// How few clusters of these hold so many; 0 where all do not.
size_t FewestFor(std::vector<int64_t> slots, int64_t wanted);

}  // namespace caldera::property
