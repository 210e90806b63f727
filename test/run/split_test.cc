// Jobs over two clusters, seen from the API server: their Works come to be suspended and are
// released together, the parent has one status, and a crash at any write leaves no half.
#include <algorithm>
#include <array>

#include "test/run/control_plane.h"
#include "test/run/cut_run.h"

namespace caldera::testing {
namespace {

constexpr Millis kAWhile{20'000};

/// Shards of that job: how many are there, and how many of them are released.
std::pair<int, int> ShardsOf(ControlPlane& plane, const std::string& uid) {
  std::pair<int, int> shards;
  for (const std::string cluster : {"east", "west"}) {
    const Value work = plane.Work(cluster, "caldera-" + uid);
    if (work.IsNull() || !TextAt(work, {"metadata", "deletionTimestamp"}).empty()) {
      continue;
    }
    const Value* const suspended = work.At({"spec", "suspendDispatching"});
    ++shards.first;
    shards.second += suspended != nullptr && suspended->AsBool() ? 0 : 1;
  }
  return shards;
}

TEST_CASE("a job larger than each cluster runs in both as one") {
  ControlPlane plane;
  plane.takes_time = Millis(5'000);
  plane.Fleet({"east", "west"});
  Controller controller(plane.server, plane.executor, plane.ledger);
  const std::string uid = plane.Submit("train", 12);
  plane.Advance(Millis(3'000));
  CHECK(ShardsOf(plane, uid) == std::pair(2, 2));
  CHECK(plane.Phase("train") == "Running");
  CHECK(*plane.Job("train").At({"status", "running"}) == Value(int64_t{4}));
  CHECK(*plane.Job("train").At({"status", "minAvailable"}) == Value(int64_t{12}));
  const Value work = plane.Work("west", "caldera-" + uid);
  const Value& shard = work.At({"spec", "workload", "manifests"})->AsList().front();
  const Value& task = shard.At({"spec", "tasks"})->AsList().front();
  CHECK(*task.Find("replicas") == Value(int64_t{4}));
  const std::string environment =
      WriteJson(*task.At({"template", "spec", "containers"})->AsList().front().Find("env"));
  for (const std::string variable :
       {R"("CALDERA_SHARD_INDEX","value":"1")", R"("CALDERA_SHARD_COUNT","value":"2")",
        R"("CALDERA_RANK_OFFSET","value":"8")", R"("CALDERA_WORLD_SIZE","value":"12")"}) {
    CHECK_MESSAGE(environment.find(variable) != std::string::npos, environment);
  }
  plane.Advance(kAWhile);
  CHECK(plane.Phase("train") == "Completed");
  CHECK(*plane.Job("train").At({"status", "succeeded"}) == Value(int64_t{12}));
  CHECK(plane.Reasons() == std::multiset<std::string>{"Completed", "Placed"});
  CHECK(plane.started == std::map<std::string, int>{{"karmada-es-east/caldera-" + uid, 1},
                                                    {"karmada-es-west/caldera-" + uid, 1}});
  CHECK(controller.errors.empty());
}

TEST_CASE("a split job keeps its replicas and says so") {
  ControlPlane plane;
  plane.Fleet({"east", "west"});
  Controller controller(plane.server, plane.executor, plane.ledger);
  const std::string uid = plane.Submit("train", 12);
  plane.Advance(kAWhile);
  plane.Merge(ControlPlane::kJobs + "/train", R"({"spec":{"minAvailable":10}})");
  plane.Advance(kAWhile);
  CHECK(plane.Reasons().count("SpecChangeHeld") == 0);
  Value spec = *plane.Job("train").Find("spec");
  spec.Find("tasks")->AsList().front().Set("replicas", int64_t{10});
  plane.Merge(ControlPlane::kJobs + "/train",
              WriteJson(Value(Value::Map{{"spec", std::move(spec), {}}})));
  plane.Advance(kAWhile);
  CHECK(plane.Reasons().count("SpecChangeHeld") == 1);
  const Value work = plane.Work("west", "caldera-" + uid);
  const Value& shard = work.At({"spec", "workload", "manifests"})->AsList().front();
  CHECK(*shard.At({"spec", "tasks"})->AsList().front().Find("replicas") == Value(int64_t{4}));
  CHECK(ShardsOf(plane, uid) == std::pair(2, 2));
}

TEST_CASE("a shard that fails takes the other along") {
  for (const std::string phase : {"Failed", "Terminated"}) {
    ControlPlane plane;
    plane.Fleet({"east", "west"});
    Controller controller(plane.server, plane.executor, plane.ledger);
    const std::string uid = plane.Submit("train", 12);
    plane.Advance(kAWhile);
    plane.Report("west", "caldera-" + uid,
                 R"({"status":{"manifestStatuses":[{"identifier":{"kind":"Job"},"status":)"
                 R"({"state":{"phase":")" +
                     phase + R"("}}}]}})");
    plane.Advance(Millis(120'000));
    CHECK(plane.Phase("train") == phase);
    CHECK(plane.Work("east", "caldera-" + uid).IsNull());
    CHECK(controller.state().cluster(controller.state().clusters().at("east")).jobs.empty());
  }
}

TEST_CASE("a shard that stays Pending calls all of the job back") {
  ControlPlane plane;
  plane.Create("/api/v1/namespaces", R"({"metadata":{"name":"karmada-es-north"}})");
  plane.Fleet({"east", "north", "west"});
  plane.runs = false;
  Controller controller(plane.server, plane.executor, plane.ledger);
  const std::string uid = plane.Submit("train", 12);
  plane.Advance(kAWhile);
  REQUIRE(!plane.Work("north", "caldera-" + uid).IsNull());
  const auto report = [&](const std::string& cluster, const std::string& phase) {
    plane.Report(cluster, "caldera-" + uid,
                 R"({"status":{"manifestStatuses":[{"identifier":{"kind":"Job"},"status":)"
                 R"({"state":{"phase":")" +
                     phase + R"(","lastTransitionTime":"2026-12-01T08:00:20Z"}}}]}})");
  };
  report("east", "Running");
  report("north", "Pending");
  plane.Advance(Millis(1'790'000));
  CHECK(plane.Phase("train") == "Pending");
  CHECK(!plane.Work("north", "caldera-" + uid).IsNull());
  CHECK(plane.Reasons().count("Recalled") == 0);
  plane.Advance(Millis(120'000));
  CHECK(plane.Reasons().count("Recalled") == 1);
  CHECK(plane.Work("north", "caldera-" + uid).IsNull());
  const Value again = plane.Work("west", "caldera-" + uid);
  REQUIRE(!again.IsNull());
  CHECK(TextAt(again, {"metadata", "annotations", "federation.caldera.sh/epoch"}) == "2");
  CHECK(ShardsOf(plane, uid) == std::pair(2, 2));
}

TEST_CASE("where pods are seen a shard without nodes is recalled after five minutes") {
  for (const bool bound : {true, false}) {
    CAPTURE(bound);
    ControlPlane plane;
    plane.Fleet({"east", "west"});
    plane.runs = false;
    Controller controller(plane.server, plane.executor, plane.ledger);
    const std::string uid = plane.Submit("train", 2);
    plane.Advance(kAWhile);
    const auto member = [&](const std::string& object) {
      controller.observer.UpsertMember("east", *ParseJson(object), plane.clock.Now());
    };
    member(R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"n"},"status":)"
           R"({"allocatable":{"cpu":"8","pods":"9"},"conditions":)"
           R"([{"type":"Ready","status":"True"}]}})");
    for (const std::string pod : {"a", "b"}) {
      member(R"({"apiVersion":"v1","kind":"Pod","metadata":{"namespace":"team-a","name":")" + pod +
             R"(","labels":{"volcano.sh/job-name":"train"}},"spec":{)" +
             (bound || pod == "a" ? R"("nodeName":"n",)" : "") +
             R"("containers":[{"name":"c"}]},"status":{"phase":"Pending"}})");
    }
    REQUIRE(!plane.Work("east", "caldera-" + uid).IsNull());
    // The watch would have done this.
    plane.Report("east", "caldera-" + uid, R"({"status":{"conditions":[]}})");
    plane.Advance(Millis(310'000));
    for (const std::string pod : {"a", "b"}) {
      if (!bound) {
        controller.observer.DeleteMember("east", "Pod", "team-a", pod);  // With their Job.
      }
    }
    plane.Advance(Millis(90'000));
    CHECK(plane.Work("east", "caldera-" + uid).IsNull() == !bound);
    CHECK(plane.Work("west", "caldera-" + uid).IsNull() == bound);
    CHECK(plane.Reasons().count("Recalled") == (bound ? 0 : 1));
  }
}

// Case c23: two gangs each of which could take half of the room. The first controller is cut off at
// its write `cut`; before the second one begins, nothing may run that is half a job.
Ended Run(int cut, bool arrives) {
  ControlPlane plane;
  plane.Fleet({"east", "west"}, "6");
  plane.Create("/api/v1/namespaces/team-a/configmaps", R"({"metadata":{"name":"cfg"}})");
  const std::string pod = R"(,"volumes":[{"name":"v","configMap":{"name":"cfg"}}])";
  std::map<std::string, std::string> names;
  const std::string first = plane.Submit("g1", 12, pod);
  names[first] = "uid-1";
  plane.Advance(Millis(1'000));
  const std::string second = plane.Submit("g2", 12, pod);
  names[second] = "uid-2";
  auto controller = std::make_unique<Controller>(plane.server, plane.executor, plane.ledger);
  controller->wire.CutAt(cut, arrives);
  plane.Advance(Millis(8'000));
  Ended ended;
  const auto go_on = [&] {
    ended.writes = std::max(ended.writes, controller->wire.writes());
    for (const auto& [uid, name] : names) {
      const auto [there, released] = ShardsOf(plane, uid);
      CHECK((released == 0 || there == 2));
    }
    if (controller->wire.is_cut()) {
      controller.reset();
      controller = std::make_unique<Controller>(plane.server, plane.executor, plane.ledger);
    }
  };
  go_on();
  plane.Advance(Millis(30'000));
  CHECK(ShardsOf(plane, first) == std::pair(2, 2));
  CHECK(ShardsOf(plane, second) == std::pair(0, 0));
  CHECK(plane.Phase("g1") == "Running");
  plane.Ask("DELETE", ControlPlane::kJobs + "/g1");
  names.erase(first);
  plane.Advance(Millis(45'000));
  go_on();
  names[first] = "uid-1";
  plane.Advance(Millis(90'000));
  CHECK(ShardsOf(plane, second) == std::pair(2, 2));
  Collect(plane, names, ended);
  return ended;
}

TEST_CASE("of two gangs that each could take half one runs whole whatever is cut off - case c23") {
  const Ended whole = Run(1'000, false);
  REQUIRE(whole.started.size() == 4);
  CheckEveryCut(whole, Run);
}

}  // namespace
}  // namespace caldera::testing
