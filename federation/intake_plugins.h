// Job plugins: known names, the ones that others pull in, and their arguments. Volcano reads the
// arguments with Go's flag package and goes on with defaults where one is wrong; so a wrong
// argument is a warning here, unless a check hangs on it (mpi's master task). Source: Volcano
// pkg/webhooks/admission/jobs and pkg/controllers/job/plugins.
#pragma once

#include "federation/document.h"
#include "federation/fields.h"

namespace caldera {

/// `spec` is a Job's spec: adds the plugins that the given ones need (svc, ssh).
void DefaultPlugins(Value& spec);
/// Checks `spec.plugins`. The tasks have their names already.
void CheckPlugins(const Field& spec, std::string_view job_name);
/// Warns of plugins that are null: the API server drops them. To be called on the input, before
/// nulls are gone.
void WarnNullPlugins(const Field& spec);

}  // namespace caldera
