#include "controller/run/resize_events.h"

#include <doctest/doctest.h>

namespace caldera::testing {
namespace {

WaitingResize Waits(const std::string& name, int32_t replicas, Verdict verdict,
                    const std::string& message) {
  WaitingResize resize;
  resize.job = {"team-a", name};
  resize.uid = "uid-" + name;
  resize.wanted.cluster = "east";
  resize.wanted.tasks = {{"worker", replicas, replicas}};
  resize.verdict = verdict;
  resize.message = message;
  return resize;
}

TEST_CASE("a resize that waits is said once for each reason and each edit") {
  constexpr Verdict kRoom = Verdict::kInsufficientResources;
  ResizeEvents events;
  const auto first = events.After({Waits("a", 4, kRoom, "2 free"), Waits("b", 9, kRoom, "2 free")});
  REQUIRE(first.size() == 2);
  CHECK(first[0].first.kind == "Job");
  CHECK(first[0].first.ns == "team-a");
  CHECK(first[0].first.name == "a");
  CHECK(first[0].first.uid == "uid-a");
  CHECK(first[0].second.reason == "ResizeWaiting");
  CHECK(first[0].second.message ==
        "replicas and minAvailable stay as they were placed: InsufficientResources: 2 free");
  CHECK(first[1].first.name == "b");
  // Other figures are no news.
  CHECK(events.After({Waits("a", 4, kRoom, "1 free"), Waits("b", 9, kRoom, "1 free")}).empty());
  CHECK(events.After({Waits("a", 5, kRoom, "1 free"), Waits("b", 9, kRoom, "1 free")}).size() == 1);
  const auto quota = events.After({Waits("b", 9, Verdict::kTenantQuota, "quota")});
  REQUIRE(quota.size() == 1);
  CHECK(quota[0].first.name == "b");
  // It did not wait in between.
  CHECK(events.After({Waits("a", 5, kRoom, "1 free")}).size() == 1);
}

TEST_CASE("what the next cycle resizes is not said to wait") {
  ResizeEvents events;
  CHECK(events.After({Waits("a", 1, Verdict::kNone, "nothing is in the way")}).empty());
}

}  // namespace
}  // namespace caldera::testing
