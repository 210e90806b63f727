// Why each pending job waits, from the State after a plan was applied, and on request the smallest
// change that would admit it. Pure; used by the CLI, Events and the ledger alike.
#pragma once

#include <string>
#include <vector>

#include "federation/model.h"
#include "federation/state.h"
#include "federation/verdict.h"

namespace caldera {

struct ClusterVerdict {
  std::string cluster;
  Verdict verdict = Verdict::kNone;
  std::string message;
  std::vector<Figure> figures;
};

/// One change of the admitting set. `object` as in Figure, `field` a path in that object
/// (`spec.capability[cpu]`), `from`/`to` as a user would write them (`absent` where it is not
/// there).
struct Edit {
  std::string object;
  std::string field;
  std::string from;
  std::string to;
};

struct PendingJob {
  int32_t rank = 0;  ///< 1-based: who is next if room appears; continues after the plan's actions.
  JobKey job;
  JobKind kind = JobKind::kJob;
  std::string queue;
  Verdict verdict = Verdict::kNone;
  std::string message;
  std::vector<Figure> figures;
  std::vector<ClusterVerdict> clusters;  ///< Where clusters were looked at; sorted by name.
};

/// Every pending job with its verdict, in rank order. `after` is a State to which the plan's effect
/// was applied. Jobs of one class share the work of finding the verdict.
std::vector<PendingJob> ExplainPending(const State& after);

/// The smallest change that admits `job`, the jobs ahead of it included: applied to a copy of
/// `before` and planned again, the job is placed (verified, else the result is empty). `before` is
/// the State that was planned. Empty too where no single knob helps (a job that is claimed
/// elsewhere).
std::vector<Edit> WouldFitIf(const State& before, const JobKey& job);

}  // namespace caldera
