// `plan --render` and `--render-works`: what would be sent, as files to look at or to apply by
// hand.
#pragma once

#include <map>
#include <string>

#include "controller/cli/manifests.h"
#include "federation/plan.h"
#include "federation/result.h"
#include "federation/state.h"

namespace caldera {

struct RenderTarget {
  std::string directory;  ///< That PrepareFolder made; files of the same name are overwritten.
  bool works = false;     ///< The Work around each shard's Job, instead of the Job.
  int64_t first_intent = 1;
  const State* after = nullptr;  ///< With `works`: what came of the plan.
};

/// Makes the folder where it is missing and asks whether files may be made in it, for before a plan
/// is recorded that could not be rendered then. Error: kUnavailable with the system's reason.
Status PrepareFolder(const std::string& directory);

/// One file a shard of each job that is placed, grown or shrunk, `NAMESPACE.NAME.CLUSTER.yaml`; of
/// one in waves also the Work of its own Queue, `NAMESPACE.NAME.CLUSTER.queue.yaml`. `jobs` holds
/// every job that the plan names. Returns how many were written. Error: kUnavailable with the file
/// and the system's reason.
Result<size_t> RenderFiles(const Plan& plan, const std::map<JobKey, KeptJob>& jobs,
                           const RenderTarget& target);

}  // namespace caldera
