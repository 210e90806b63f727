#include "controller/run/hyperjob_status.h"

#include <doctest/doctest.h>

#include "controller/kube/json_reader.h"

namespace caldera {
namespace {

Value Json(const std::string& text) {
  Result<Value> value = ParseJson(text);
  REQUIRE_MESSAGE(value.has_value(), text);
  return *std::move(value);
}

WorkView Reported(const std::string& phase, const std::string& more = "",
                  const std::string& since = "2026-12-01T08:00:00Z") {
  WorkView work;
  work.cluster = "east";
  work.reported = true;
  work.phase = phase;
  work.job_status =
      Json(R"({"state":{"phase":")" + phase + R"(","futureField":1,"lastTransitionTime":")" +
           since + R"("})" + more + "}");
  work.phase_since = *ParseTime(since);
  return work;
}

/// Children a-0 and a-1 of two pods, b-0 of three.
ParentFacts Three(const WorkView* a0, const WorkView* a1, const WorkView* b0) {
  ParentFacts facts;
  facts.kind = JobKind::kHyperJob;
  facts.name = "big";
  facts.generation = 7;
  facts.now = *ParseTime("2026-12-01T09:00:00.250Z");
  facts.shards = {{"east", 1, "a-0", {{"a/w", 2, 2}}, 2, {}},
                  {"east", 1, "a-1", {{"a/w", 2, 2}}, 2, {}},
                  {"east", 1, "b-0", {{"b/w", 3, 3}}, 3, {}}};
  facts.works = {a0, a1, b0};
  facts.works_left = true;
  return facts;
}

TEST_CASE("hyperjob status: sums and states by template") {
  const WorkView runs = Reported("Running", R"(,"running":2,"pending":1)");
  const WorkView ended = Reported("Completed");
  const auto status = MakeHyperJobStatus(Three(&runs, &ended, nullptr));
  REQUIRE(status.has_value());
  CHECK(status->phase == "Pending");
  CHECK(!status->own);
  CHECK(status->status == Json(R"({"replicatedJobsStatus":[
    {"name":"a","jobStates":{
      "big-a-0":{"phase":"Running","lastTransitionTime":"2026-12-01T08:00:00Z"},
      "big-a-1":{"phase":"Completed","lastTransitionTime":"2026-12-01T08:00:00Z"}},
     "pending":1,"running":2,"succeeded":2},
    {"name":"b"}],"splitCount":3,"observedGeneration":7})"));
}

TEST_CASE("hyperjob status: it completes with its last Job") {
  const WorkView first = Reported("Completed");
  const WorkView last = Reported("Completed", "", "2026-12-01T08:30:00Z");
  CHECK(MakeHyperJobStatus(Three(&first, &first, nullptr))->phase == "Pending");
  const auto status = MakeHyperJobStatus(Three(&first, &last, &first));
  CHECK(status->phase == "Completed");
  CHECK(status->own);
  CHECK(*status->status.Find("conditions") ==
        Json(R"([{"type":"Completed","status":"True","reason":"AllJobsCompleted",
        "message":"all 3 Jobs completed","lastTransitionTime":"2026-12-01T08:30:00Z"}])"));
}

TEST_CASE("hyperjob status: one Job that fails or is terminated is its end") {
  const WorkView runs = Reported("Running");
  for (const std::string phase : {"Failed", "Terminated"}) {
    const WorkView failed = Reported(phase);
    const auto status = MakeHyperJobStatus(Three(&runs, &failed, nullptr));
    CHECK(status->phase == "Failed");
    const Value& condition = status->status.Find("conditions")->AsList().front();
    CHECK(*condition.Find("type") == Value("Failed"));
    CHECK(*condition.Find("message") == Value("Job big-a-1 in cluster east is " + phase));
    // Of the one that was taken away no member speaks any more.
    const Value& other = status->status.Find("replicatedJobsStatus")->AsList()[1];
    CHECK(*other.At({"jobStates", "big-b-0", "phase"}) == Value("Terminated"));
  }
}

TEST_CASE("hyperjob status: what is Caldera's own word") {
  ParentFacts facts = Three(nullptr, nullptr, nullptr);
  CHECK(!MakeHyperJobStatus(facts).has_value());  // Nothing was ever said.
  facts.phase = "Failed";
  CHECK(!MakeHyperJobStatus(facts).has_value());  // It ended, and its Works are gone.
  facts.phase = "Pending";
  facts.shards.clear();
  facts.works.clear();
  // It was recalled.
  CHECK(MakeHyperJobStatus(facts)->status == Json(R"({"splitCount":0,"observedGeneration":7})"));
  facts.suspended = true;
  CHECK(MakeHyperJobStatus(facts)->phase == "Aborting");
  facts.works_left = false;
  const auto aborted = MakeHyperJobStatus(facts);
  CHECK(aborted->phase == "Aborted");
  CHECK(aborted->own);
  const Value& condition = aborted->status.Find("conditions")->AsList().front();
  CHECK(*condition.Find("type") == Value("Suspended"));
  CHECK(*condition.Find("reason") == Value("Aborted"));
  CHECK(*condition.Find("lastTransitionTime") == Value("2026-12-01T09:00:00Z"));
}

}  // namespace
}  // namespace caldera
