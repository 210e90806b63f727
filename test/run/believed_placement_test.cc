// What stands in the objects about where a job runs: anybody who may write a Job can write that.
#include "controller/run/believed_placement.h"

#include <limits>

#include "test/run/control_plane.h"
#include "test/run/watching.h"

namespace caldera::testing {
namespace {

constexpr Millis kAWhile{20'000};
const std::string kMost = std::to_string(std::numeric_limits<int64_t>::max());

std::string Placement(const std::string& cluster, const std::string& epoch) {
  return R"([{"cluster":")" + cluster + R"(","epoch":)" + epoch +
         R"(,"tasks":{"worker":{"replicas":2,"minAvailable":2}},"minAvailable":2}])";
}

std::string Annotated(const std::string& placement) {
  return JobText{.annotations = "federation.caldera.sh/placement: '" + placement + "'"}.Text();
}

std::vector<std::string> Messages(Observer& observer) {
  std::vector<std::string> messages;
  for (const RefusedObject& refused : observer.TakeRefused()) {
    messages.push_back(refused.message);
  }
  return messages;
}

TEST_CASE("an epoch that cannot be counted on is refused, and what it is said") {
  for (const std::string& epoch : {kMost, std::string("1000000001"), std::string("0")}) {
    Watching w;
    w.Start(Annotated(Placement("east", epoch)));
    CHECK(w.Job() == nullptr);
    const std::vector<std::string> messages = Messages(w.observer);
    REQUIRE(messages.size() == 1);
    CHECK(messages[0].find("metadata.annotations") != std::string::npos);
    CHECK(
        messages[0].find("epoch: " + epoch + " is no epoch: it is a number from 1 to 1000000000") !=
        std::string::npos);
  }
}

TEST_CASE("a job whose last epoch is the highest is placed no more, and says why") {
  Watching w;
  w.Start(Annotated(Placement("east", "1000000000")));
  REQUIRE(w.Charged());
  w.SeeCommand(CommandText("AbortJob", "Job", "train", "u1", "stop"));
  w.See(JobText().Text());
  w.Step();
  w.Later(3'600);
  w.Step();
  REQUIRE(!w.Charged());
  w.SeeCommand(CommandText("ResumeJob", "Job", "train", "u1", "go"));
  CHECK(w.Decide().actions.empty());
  const std::vector<PendingJob> pending = ExplainPending(w.state());
  REQUIRE(pending.size() == 1);
  CHECK(pending[0].verdict == Verdict::kRefused);
  CHECK(pending[0].message.find("there is none after 1000000000") != std::string::npos);
}

TEST_CASE("a placement in a cluster that is not there is not taken over") {
  Watching w;
  w.Start(Annotated(Placement("nowhere", "5")));
  REQUIRE(w.Charged());
  CHECK(w.Job()->charge->shards.at(0).cluster == "east");
  CHECK(Messages(w.observer) ==
        std::vector<std::string>{
            "metadata.annotations[federation.caldera.sh/placement] "
            R"(([{"cluster":"nowhere","epoch":5,"tasks":{"worker":{"replicas"...) names cluster )"
            "nowhere, which is not there: it is not taken over, and the job waits in its queue; "
            "only Caldera writes that annotation"});
}

TEST_CASE("where the ledger knows of jobs, an annotation without a Work puts nobody ahead") {
  Watching w;
  w.Start(JobText{.name = "first", .uid = "u0", .replicas = 8}.Text());
  REQUIRE(w.Charged("first"));
  w.See(Annotated(Placement("east", "3")));
  w.Decide();
  CHECK(!w.Charged());
  w.See(JobText{.annotations = "federation.caldera.sh/placement: '" + Placement("east", "4") + "'",
                .labels = "a: b"}
            .Text());
  w.Decide();
  CHECK(!w.Charged());
  CHECK(Messages(w.observer).size() == 2);
  // The leader before was ahead of this ledger: it sent it.
  w.SeeWork({.epoch = 4, .applied = "True", .phase = "Running"});
  w.Decide();
  w.See(Annotated(Placement("east", "4")));
  w.Decide();
  CHECK(w.Charged());
}

TEST_CASE("counts that a member reports do not overflow, whatever they are") {
  const std::string counts = "taskStatusCount: {worker: {phase: {Running: " + kMost +
                             ", Succeeded: " + kMost + ", Failed: " + kMost + "}}}";
  Watching w;
  w.Start(JobText().Text());
  w.SeeWork({.applied = "True", .phase = "Running", .counts = counts});
  w.Decide();
  REQUIRE(w.Job()->rare().reports.size() == 1);
  CHECK(w.Job()->rare().reports.at(0).finished == std::numeric_limits<int32_t>::max());
}

TEST_CASE("counts of a Work that do not go together are no placement") {
  WorkView work;
  work.ns = "karmada-es-east";
  work.name = "caldera-u1";
  work.cluster = "east";
  work.epoch = 1;
  work.grants = {{"worker", 2, 2}};
  work.min_available = 2;
  const auto placement = [&] { return PlacementOf({{{work.ns, work.name}, work}}); };
  REQUIRE(placement().size() == 1);
  work.min_available = 3;
  CHECK(placement().empty());
  work.min_available = 2;
  work.grants[0].min_available = 3;
  CHECK(placement().empty());
  work.grants = {{"a", std::numeric_limits<int32_t>::max(), 0}, {"b", 1, 0}};
  CHECK(placement().empty());
}

TEST_CASE("a controller that adopted an impossible epoch goes on, aborts and resumes") {
  ControlPlane plane;
  plane.Fleet({"east"});
  const std::string uid = plane.Submit("train", 2);
  std::string text;
  for (const char c : Placement("east", "1000000000")) {
    text += c == '"' ? "\\\"" : std::string(1, c);
  }
  plane.Merge(
      ControlPlane::kJobs + "/train",
      R"({"metadata":{"annotations":{"federation.caldera.sh/placement":")" + text + "\"}}}");
  std::optional<Controller> controller;
  controller.emplace(plane.server, plane.executor, plane.ledger);
  plane.Advance(kAWhile);
  REQUIRE(plane.Phase("train") == "Running");
  controller->SetSuspended(uid, "AbortJob", "train");
  plane.Advance(Millis(120'000));
  REQUIRE(plane.Phase("train") == "Aborted");
  controller->SetSuspended(uid, "ResumeJob", "train");
  plane.Advance(kAWhile);
  CHECK(plane.Works().size() == 1);  // The Queue's.
  controller.reset();
  controller.emplace(plane.server, plane.executor, plane.ledger);
  plane.Advance(kAWhile);
  CHECK(plane.Phase("train") == "Pending");
  CHECK(plane.Reasons().count("Queued") > 0);
}

}  // namespace
}  // namespace caldera::testing
