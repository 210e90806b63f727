// HyperJobs of a live API: seen, and held.
#include "test/run/watching.h"

namespace caldera::testing {
namespace {

TEST_CASE("a HyperJob is held and not charged for a placement that somebody wrote on it") {
  Watching w;
  w.Start(
      R"({apiVersion: training.volcano.sh/v1alpha1, kind: HyperJob,
metadata: {name: big, namespace: team-a, uid: h1, creationTimestamp: "2026-01-01T00:00:00Z", annotations: {
federation.caldera.sh/placement: '[{"cluster":"east","epoch":3,"child":"gone-0","tasks":{"gone/w":{"replicas":1}}}]'}},
spec: {replicatedJobs: [{name: a, templateSpec: {queue: gold, tasks: [{name: w, replicas: 1,
template: {spec: {containers: [{name: c, image: i}]}}}]}}]}})"
      "\n");
  CHECK(w.Decide().actions.empty());
  REQUIRE(w.Job("big") != nullptr);
  CHECK(w.Job("big")->hold);
  CHECK_FALSE(w.Charged("big"));
}

}  // namespace
}  // namespace caldera::testing
