// What is said of waiting jobs holds: the verdicts have figures that are broken, and the change
// that would admit a job does admit it.
#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <string>

#include "federation/explain.h"
#include "federation/planner.h"
#include "test/property/apply_edit.h"
#include "test/property/world.h"

namespace caldera::property {
namespace {

State After(State state, const Plan& plan) {
  for (const Change& change : EffectOf(plan, 100)) {
    state.Apply(change);
  }
  return state;
}

TEST_CASE("property: every pending job has one verdict, and its figures are broken") {
  CHECK(rc::check("explain", [] {
    const State before = AnyWorld().Build();
    const State after = After(before, MakePlan(before));
    size_t waiting = 0;
    for (const JobIndex index : after.JobsByKey()) {
      waiting += after.job(index).Pending() ? 1U : 0U;
    }
    const std::vector<PendingJob> pending = ExplainPending(after);
    RC_ASSERT(pending.size() == waiting);
    for (size_t i = 0; i < pending.size(); ++i) {
      const PendingJob& job = pending[i];
      RC_ASSERT(job.rank == static_cast<int32_t>(i) + 1);
      RC_ASSERT(!job.message.empty());
      const bool counted =
          job.verdict == Verdict::kTenantQuota || job.verdict == Verdict::kQueueCapability ||
          job.verdict == Verdict::kFairShare || job.verdict == Verdict::kInsufficientResources ||
          job.verdict == Verdict::kLargerThanFederation;
      const bool backs_off =
          job.verdict == Verdict::kMissingReference || job.verdict == Verdict::kNameConflict ||
          job.verdict == Verdict::kApplyFailed || job.verdict == Verdict::kStuckInMember ||
          job.verdict == Verdict::kBackoff;
      const bool not_split =
          job.verdict == Verdict::kSplitUnsafe || job.verdict == Verdict::kMaxClusters;
      // A job without pods has none that a cluster refused; nodes may tell what sums do not.
      RC_ASSERT(job.figures.empty() != counted || backs_off || not_split);
      for (const Figure& figure : job.figures) {
        RC_ASSERT(figure.requested + figure.used > figure.limit);
      }
    }
  }));
}

TEST_CASE("property: the change that would admit a job admits it") {
  CHECK(rc::check("would fit if", [] {
    const State before = AnyWorld().Build();
    const Plan first = MakePlan(before);
    const std::vector<PendingJob> pending = ExplainPending(After(before, first));
    RC_PRE(!pending.empty());
    const auto& job = pending[*rc::gen::inRange<size_t>(0, pending.size())];
    const std::vector<Edit> edits = WouldFitIf(before, job.job);
    RC_TAG(std::string(VerdictName(job.verdict)), std::string(edits.empty() ? "nothing" : "edits"));
    State edited = before;
    std::string text = "\n";
    for (const Edit& edit : edits) {
      text += edit.object + " " + edit.field + ": " + edit.from + " -> " + edit.to + "\n";
      RC_ASSERT(edit.from != edit.to);
      if (!ApplyEdit(edited, edit)) {
        RC_FAIL("cannot be applied: " + text);
      }
    }
    const Plan plan = MakePlan(edited);
    const bool placed = std::any_of(plan.actions.begin(), plan.actions.end(),
                                    [&](const Action& action) { return action.job == job.job; });
    if (placed == edits.empty()) {
      RC_FAIL(job.job.ToString() + " is not placed" + text + Show(before.Export()));
    }
    // Room can always be added where clusters are known by their sums.
    const bool nodes = std::any_of(
        before.clusters().begin(), before.clusters().end(),
        [&](const auto& cluster) { return !before.cluster(cluster.second).nodes.empty(); });
    // What a resize gives back counts from the next round on: until then a second thing may be in
    // the way.
    const bool gives_back =
        std::any_of(first.actions.begin(), first.actions.end(), [](const Action& action) {
          return action.action == ActionKind::kShrink || action.action == ActionKind::kGrow;
        });
    if (job.verdict == Verdict::kInsufficientResources && !nodes && !gives_back && edits.empty()) {
      RC_FAIL("nothing helps " + job.job.ToString() + "\n" + Show(before.Export()));
    }
  }));
}

}  // namespace
}  // namespace caldera::property
