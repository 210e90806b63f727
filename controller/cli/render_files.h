// `plan --render` and `--render-works`: what would be sent, as files to look at or to apply by
// hand.
#pragma once

#include <map>
#include <string>

#include "controller/cli/manifests.h"
#include "federation/plan.h"
#include "federation/result.h"

namespace caldera {

struct RenderTarget {
  std::string directory;  ///< Made where it is missing; files of the same name are overwritten.
  bool works = false;     ///< The Work around each shard's Job, instead of the Job.
  int64_t first_intent = 1;
};

/// One file a shard of each placement, `NAMESPACE.NAME.CLUSTER.yaml`. `jobs` holds every job that
/// the plan places. Returns how many were written. Error: kUnavailable with the file and the
/// system's reason.
Result<size_t> RenderFiles(const Plan& plan, const std::map<JobKey, KeptJob>& jobs,
                           const RenderTarget& target);

}  // namespace caldera
