// What somebody sees of a job that gives pods to another: an Event, with the whole controller.
#include "test/run/whole_controller.h"

namespace caldera::testing {
namespace {

/// The messages of the Events with that reason about that Job.
std::vector<std::string> Said(Federation& fed, const std::string& job, const std::string& reason) {
  std::vector<std::string> said;
  const Value list = fed.Get(fed.karmada, "/api/v1/namespaces/team-a/events");
  for (const Value& event : ListAt(list, {"items"})) {
    if (TextAt(event, {"involvedObject", "name"}) == job && TextAt(event, {"reason"}) == reason) {
      said.push_back(TextAt(event, {"message"}));
    }
  }
  return said;
}

TEST_CASE("A job that gives pods has an Event Shrunk that says to whom, and none that it went") {
  Federation fed;
  fed.Create(fed.karmada, "/apis/scheduling.volcano.sh/v1beta1/queues",
             R"({"metadata":{"name":"silver"},"spec":{"weight":1}})");
  const auto one = fed.StartReplica();
  // In both members there is room for 16 pods, of which each queue deserves a half.
  fed.Submit("fills", 8);
  fed.Advance(kSoon);
  fed.Create(
      fed.karmada, kJobs,
      R"({"apiVersion":"batch.volcano.sh/v1alpha1","kind":"Job","metadata":{"name":"waves"},)"
      R"("spec":{"queue":"gold","minAvailable":1,"tasks":[{"name":"worker","replicas":12,)"
      R"("template":{"spec":{"containers":[{"name":"c","image":"i",)"
      R"("resources":{"requests":{"cpu":"1"}}}]}}}]}})");
  fed.Advance(kSoon);
  REQUIRE(fed.Phase("waves") == "Running");
  CHECK(Said(fed, "waves", "Shrunk").empty());
  fed.Submit("urgent", 2, "silver");
  fed.Advance(kSoon);
  const std::vector<std::string> said = Said(fed, "waves", "Shrunk");
  REQUIRE(said.size() == 1);
  CHECK(said.front().starts_with("it gives 2 of its 8 pods and makes room in cluster "));
  CHECK(said.front().find(" for team-a/urgent: queue gold is above its deserved share") !=
        std::string::npos);
  CHECK(Said(fed, "waves", "Evicted").empty());
  CHECK(Said(fed, "fills", "Shrunk").empty());
}

}  // namespace
}  // namespace caldera::testing
