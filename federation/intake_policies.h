// Lifecycle policies of a Job and of its tasks: `on this event or exit code, take that action`.
// Source of the rules: Volcano pkg/webhooks/admission/jobs/validate.
#pragma once

#include "federation/fields.h"

namespace caldera {

/// Checks one list of policies (the job's or a task's).
void CheckPolicies(const Field& policies);

}  // namespace caldera
