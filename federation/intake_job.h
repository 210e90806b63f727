// The intake of a Job's spec: what Volcano's mutating webhook and its validating webhook do, on top
// of the schema. TakeJob (intake_job.cc) is the whole Job; a HyperJob takes the spec of each of its
// replicated jobs through the same functions.
// Source: Volcano pkg/webhooks/admission/jobs/{mutate,validate}.
#pragma once

#include <string_view>

#include "federation/fields.h"
#include "federation/schema.h"

namespace caldera {

/// To be called on the spec as it came in: takes out what a webhook would fill in although the
/// schema refuses it (an empty queue or task name), and says whether the webhook will write the
/// tasks again.
Passage PrepareJobSpec(Value& spec);
/// The defaults of the mutating webhook. The schema's are in already.
void DefaultJobSpec(Value& spec);
/// The checks of the validating webhook, all of them; the queue is not looked up here.
/// `job_name` is the name of the Job, which goes into those of its pods; empty: not known.
void CheckJobSpec(const Field& spec, std::string_view job_name);

/// The checks of one task beyond those of its fields: partitions, topology, pod template.
void CheckTask(const Field& task);
/// Checks that dependsOn of all tasks makes no cycle and names tasks that exist.
void CheckDependencies(const Field& tasks);
/// A network topology names a tier by number or by name, not both.
void CheckNetworkTopology(const Field& topology);

}  // namespace caldera
