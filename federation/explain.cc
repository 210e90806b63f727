#include "federation/explain.h"

#include "federation/explainer.h"

namespace caldera {

std::vector<PendingJob> ExplainPending(const State& after) {
  Explainer explainer(after);
  std::vector<PendingJob> pending;
  pending.reserve(explainer.Ranking().size());
  for (const JobIndex job : explainer.Ranking()) {
    pending.push_back(explainer.Explain(job));
    pending.back().rank = static_cast<int32_t>(pending.size());
  }
  return pending;
}

}  // namespace caldera
