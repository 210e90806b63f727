// The schema of Volcano's Job and HyperJob as their CustomResourceDefinitions have it, pod template
// included. Source: batch.volcano.sh_jobs.yaml and training.volcano.sh_hyperjobs.yaml of Volcano;
// the golden tests compare this text with those files.
#pragma once

#include "federation/schema.h"

namespace caldera {

/// Structs `JobSpec`, `PodTemplate`, `HyperJobSpec`, `ObjectMeta` and what they use. A HyperJob's
/// `templateSpec` has the Job's schema, which is newer than the one that its own definition
/// carries.
const Schema& VolcanoSchema();

}  // namespace caldera
