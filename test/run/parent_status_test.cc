#include "controller/run/parent_status.h"

#include <doctest/doctest.h>

#include "controller/kube/json_reader.h"

namespace caldera {
namespace {

Value Json(const std::string& text) {
  Result<Value> value = ParseJson(text);
  REQUIRE_MESSAGE(value.has_value(), text);
  return *std::move(value);
}

Shard ShardIn(const std::string& cluster, int32_t pods) {
  return {cluster, 1, "", {{"w", pods, pods}}, pods, {}};
}

WorkView Reported(const std::string& cluster, const std::string& phase,
                  const std::string& more = "") {
  WorkView work;
  work.cluster = cluster;
  work.reported = true;
  work.phase = phase;
  work.job_status = Json(R"({"state":{"phase":")" + phase +
                         R"(","lastTransitionTime":"2026-12-01T08:00:00Z"})" + more + "}");
  work.phase_since = *ParseTime("2026-12-01T08:00:00Z");
  return work;
}

ParentFacts One(const WorkView& work) {
  ParentFacts facts;
  facts.shards = {ShardIn("east", 3)};
  facts.works = {&work};
  facts.works_left = true;
  return facts;
}

std::string PhaseOfTwo(const std::string& a, const std::string& b) {
  const WorkView first = Reported("east", a);
  const WorkView second = Reported("west", b);
  ParentFacts facts = One(first);
  facts.shards.push_back(ShardIn("west", 2));
  facts.works.push_back(&second);
  const auto status = MakeParentStatus(facts);
  REQUIRE(status.has_value());
  CHECK(*status->status.At({"state", "phase"}) == Value(status->phase));
  return status->phase;
}

TEST_CASE("parent status: one shard's is passed on as it is") {
  const WorkView work = Reported("east", "Running", R"(,"running":2,"futureField":{"keep":"me"})");
  const auto status = MakeParentStatus(One(work));
  REQUIRE(status.has_value());
  CHECK(status->status == work.job_status);
  CHECK(status->phase == "Running");
  CHECK(!status->own);
}

TEST_CASE("parent status: counters that the member drops at the end come from the grant") {
  const WorkView work = Reported("east", "Completed", R"(,"minAvailable":3)");
  const auto status = MakeParentStatus(One(work));
  REQUIRE(status.has_value());
  CHECK(*status->status.Find("succeeded") == Value(3));
  CHECK(*status->status.Find("taskStatusCount") == Json(R"({"w":{"phase":{"Succeeded":3}}})"));
  // Where the member does count, it knows better.
  const WorkView counted = Reported("east", "Completed", R"(,"succeeded":2,"failed":1)");
  CHECK(*MakeParentStatus(One(counted))->status.Find("succeeded") == Value(2));
  // Of a failed job nobody knows.
  CHECK(MakeParentStatus(One(Reported("east", "Failed")))->status.Find("succeeded") == nullptr);
}

TEST_CASE("parent status: the phase of several shards") {
  CHECK(PhaseOfTwo("Running", "Running") == "Running");
  CHECK(PhaseOfTwo("Running", "Completed") == "Running");
  CHECK(PhaseOfTwo("Running", "Pending") == "Pending");
  CHECK(PhaseOfTwo("Running", "Failed") == "Failed");
  CHECK(PhaseOfTwo("Completed", "Completed") == "Completed");
  CHECK(PhaseOfTwo("Completed", "Terminated") == "Terminated");
  CHECK(PhaseOfTwo("Running", "Restarting") == "Restarting");
}

TEST_CASE("parent status: counters of several shards are summed") {
  const WorkView first =
      Reported("east", "Running", R"(,"running":2,"version":3,"runningDuration":"5s",
      "taskStatusCount":{"w":{"phase":{"Running":2}}})");
  const WorkView second =
      Reported("west", "Running", R"(,"running":1,"pending":1,"version":2,"runningDuration":"7s",
      "taskStatusCount":{"w":{"phase":{"Running":1,"Pending":1}}})");
  ParentFacts facts = One(first);
  facts.shards.push_back(ShardIn("west", 2));
  facts.works.push_back(&second);
  const Value status = MakeParentStatus(facts)->status;
  CHECK(*status.Find("running") == Value(3));
  CHECK(*status.Find("pending") == Value(1));
  CHECK(status.Find("failed") == nullptr);
  CHECK(*status.Find("version") == Value(3));
  CHECK(*status.Find("minAvailable") == Value(5));
  CHECK(*status.Find("runningDuration") == Value("7s"));
  CHECK(*status.Find("taskStatusCount") == Json(R"({"w":{"phase":{"Running":3,"Pending":1}}})"));
  CHECK(status.Find("conditions")->AsList().size() == 1);
}

TEST_CASE("parent status: a shard that says nothing yet is pending") {
  const WorkView work = Reported("east", "Running");
  ParentFacts facts = One(work);
  facts.shards.push_back(ShardIn("west", 2));
  facts.works.push_back(nullptr);
  CHECK(MakeParentStatus(facts)->phase == "Pending");
}

TEST_CASE("parent status: what is Caldera's own word") {
  ParentFacts facts;
  facts.now = *ParseTime("2026-12-01T08:00:00.250Z");
  CHECK(!MakeParentStatus(facts).has_value());  // It waits, and nothing was ever said.
  facts.phase = "Completed";
  CHECK(!MakeParentStatus(facts).has_value());  // It ended, and its Work is gone.
  facts.phase = "Running";
  CHECK(MakeParentStatus(facts)->phase == "Pending");  // It was recalled.
  CHECK(MakeParentStatus(facts)->own);
  facts.suspended = true;
  CHECK(MakeParentStatus(facts)->phase == "Aborted");
  facts.works_left = true;
  const auto aborting = MakeParentStatus(facts);
  CHECK(aborting->phase == "Aborting");
  CHECK(*aborting->status.At({"state", "lastTransitionTime"}) == Value("2026-12-01T08:00:00Z"));
}

TEST_CASE("queue status: Volcano's shape, and a patch that holds for one uid") {
  QueueCounts counts;
  counts.running = 2;
  CHECK(
      MakeQueueStatus(QueueState::kClosing, counts, {{"cpu", 1500}, {"nvidia.com/gpu", 4}}) ==
      Json(R"({"state":"Closing","running":2,"allocated":{"cpu":"1500m","nvidia.com/gpu":"4"}})"));
  CHECK(StatusPatch("u", Value(Value::Map{{"a", 1, {}}})) ==
        Json(R"([{"op":"test","path":"/metadata/uid","value":"u"},
      {"op":"add","path":"/status","value":{"a":1}}])"));
}

}  // namespace
}  // namespace caldera
