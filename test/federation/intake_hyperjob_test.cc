#include <doctest/doctest.h>

#include <variant>

#include "test/federation/manifests.h"

using namespace caldera;

namespace {

Intake TakeHyper(const std::string& spec) {
  return Take(
      "apiVersion: training.volcano.sh/v1alpha1\nkind: HyperJob\nmetadata: {name: big, namespace: "
      "team-a}\nspec: {" +
      spec + "}\n");
}

std::string Replicated(const std::string& name, const std::string& more = "") {
  return "{name: " + name + more +
         ", templateSpec: {queue: gold, tasks: [{name: w, replicas: 2, template: {spec: "
         "{containers: [{name: c, image: i}]}}}]}}";
}

}  // namespace

TEST_CASE("hyperjob: it is checked, defaulted and typed with the pods of its children") {
  const Intake intake = TakeHyper("replicatedJobs: [" + Replicated("a") + "]");
  REQUIRE_MESSAGE(intake.errors.empty(), ListIssues(intake.errors));
  const Job& job = std::get<JobUpsert>(*intake.change).job;
  CHECK(job.kind == JobKind::kHyperJob);
  CHECK(job.key == JobKey{"team-a", "big"});
  CHECK(job.queue == "gold");
  REQUIRE(job.tasks.size() == 1);
  CHECK(job.tasks.front().name == "a/w");
  CHECK(job.tasks.front().replicas == 2);
  CHECK(job.replicated_jobs == std::vector<ReplicatedJob>{{"a", 1, 1, 2, false, {}}});
  CHECK_FALSE(intake.job.has_value());
  const Value& entry = intake.defaulted.At({"spec", "replicatedJobs"})->AsList().front();
  CHECK(entry.Find("replicas")->AsInteger() == 1);
  CHECK(entry.At({"templateSpec", "minAvailable"})->AsInteger() == 2);
  CHECK(entry.At({"templateSpec", "schedulerName"})->AsString() == "volcano");
}

TEST_CASE("hyperjob: each template is checked as a Job's spec") {
  const Intake intake = TakeHyper(
      "replicatedJobs: [" + Replicated("a") +
      ", {name: b, templateSpec: {minAvailable: 5, tasks: [{name: w, replicas: 1, template: {spec: "
      "{containers: [{name: c}]}}}]}}]");
  CHECK(FindIssue(intake.errors, "spec.replicatedJobs[1].templateSpec.minAvailable", "replicas") !=
        nullptr);
  CHECK(FindIssue(intake.errors,
                  "spec.replicatedJobs[1].templateSpec.tasks[0].template.spec.containers[0].image",
                  "required") != nullptr);
}

TEST_CASE("hyperjob: names are there and differ, modes and counts are known") {
  CHECK(FindIssue(
            TakeHyper("replicatedJobs: [" + Replicated("a") + ", " + Replicated("a") + "]").errors,
            "spec.replicatedJobs[1]", "unique") != nullptr);
  CHECK(FindIssue(TakeHyper("replicatedJobs: []").errors, "spec.replicatedJobs", "required") !=
        nullptr);
  CHECK(FindIssue(TakeHyper("replicatedJobs: [" + Replicated("a", ", replicas: -1") + "]").errors,
                  "spec.replicatedJobs[0].replicas", "from 0") != nullptr);
  CHECK(FindIssue(
            TakeHyper("replicatedJobs: [" + Replicated("a", ", splitPolicy: {mode: random}") + "]")
                .errors,
            "spec.replicatedJobs[0].splitPolicy.mode", "static or auto") != nullptr);
  CHECK(FindIssue(TakeHyper("replicatedJobs: [{name: a}]").errors,
                  "spec.replicatedJobs[0].templateSpec", "required") != nullptr);
}
