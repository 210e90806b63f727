// Statuses: of Queues, and what is done about others who write them.
#include "test/run/control_plane.h"

namespace caldera::testing {
namespace {

constexpr Millis kAWhile{20'000};

TEST_CASE("a Queue's status has its counts and what it holds") {
  ControlPlane plane;
  plane.Fleet({"east"}, "3");
  Controller controller(plane.server, plane.executor, plane.ledger);
  plane.Submit("a", 2);
  plane.Submit("b", 2);
  plane.Advance(kAWhile);
  CHECK(*plane.Get(ControlPlane::kQueues + "/gold").Find("status") ==
        *ParseJson(R"({"state":"Open","pending":1,"running":1,)"
                   R"("allocated":{"cpu":"2","pods":"2"}})"));
}

TEST_CASE("a status that somebody writes over ours is put right") {
  ControlPlane plane;
  plane.Fleet({"east"});
  Controller controller(plane.server, plane.executor, plane.ledger);
  plane.Submit("train", 3);
  plane.Advance(Millis(3'000));
  REQUIRE(plane.Phase("train") == "Running");
  plane.Merge(ControlPlane::kJobs + "/train/status",
              R"({"status":{"state":{"phase":"Completed"}}})");
  plane.Merge(ControlPlane::kQueues + "/gold/status", R"({"status":{"state":"Closed"}})");
  plane.Advance(Millis(30'000));
  CHECK(plane.Phase("train") == "Running");
  CHECK(TextAt(plane.Get(ControlPlane::kQueues + "/gold"), {"status", "state"}) == "Open");
}

TEST_CASE("a Queue's status that cannot be written holds nothing up and is tried again") {
  ControlPlane plane;
  plane.Fleet({"east"}, "2");
  Controller controller(plane.server, plane.executor, plane.ledger);
  controller.wire.refused = "PATCH queues/status";
  plane.Submit("first", 2);
  plane.Advance(Millis(5'000));
  plane.Submit("second", 2);
  plane.Advance(Millis(5'000));
  plane.Submit("third", 2);
  plane.Advance(Millis(5'000));
  CHECK(plane.Reasons() == std::multiset<std::string>{"Placed", "Queued", "Queued"});
  controller.wire.refused.clear();
  plane.Advance(Millis(120'000));
  CHECK(*plane.Get(ControlPlane::kQueues + "/gold").At({"status", "running"}) == Value(int64_t{3}));
}

}  // namespace
}  // namespace caldera::testing
