// The status that Caldera writes on a HyperJob, in the shape of Volcano's HyperJobStatus:
// replicatedJobsStatus with the state of each Job and the sums of their pods, splitCount,
// observedGeneration, and a condition once it has ended: Completed where all its Jobs are, Failed
// where one has failed or was terminated, which takes the others along. While a Command has aborted
// it, condition Suspended with reason Aborting or Aborted. Pure.
#pragma once

#include <optional>

#include "controller/run/parent_status.h"

namespace caldera {

/// As MakeParentStatus. What has ended or is suspended is `own`: it is written once. Without a
/// phase of its own in the status, `phase` is that of its Jobs together.
std::optional<ParentStatus> MakeHyperJobStatus(const ParentFacts& facts);

}  // namespace caldera
