// From a Job's defaulted and checked spec to the typed Job, and the parts that Job and HyperJob
// share.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "federation/fields.h"
#include "federation/intake_kinds.h"
#include "federation/model.h"

namespace caldera {

/// Fills queue, priority class, floor, tasks, topology and estimate from a spec without errors.
void BuildJob(const Field& spec, Job& job);
/// The priority of each task's pods, as far as an object alone says: the classes that Kubernetes
/// itself has. Others count as 0.
std::vector<int32_t> TaskPriorities(const Field& spec);

/// Schema, defaults and checks of one Job spec, in place. `place` is a Field over `spec`. Returns
/// false where it added errors.
bool TakeJobSpec(Value& spec, const Field& place, std::string_view job_name);
/// The rest of metadata, as the API server decodes and checks it.
void CheckMetadata(Taking& taking);
/// Karmada's policy labels, or a claim by somebody else.
bool IsClaimedElsewhere(const ObjectMeta& meta);
/// state, counters and the time of the last report.
void TakeStatus(const Field& status, Job& job);

}  // namespace caldera
