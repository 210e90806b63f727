// Jobs that may be granted less than all their pods make room for who deserves it, down to their
// floor, before anybody is evicted.
#include <doctest/doctest.h>

#include "federation/resize.h"
#include "federation/waves.h"
#include "test/federation/builders.h"

namespace caldera {
namespace {

using testing::Fed;
using testing::Key;

constexpr const char* kPod = "nvidia.com/gpu=8 cpu=1";

/// Queues a and b of equal weight over 8 nodes' worth of devices in one cluster.
Fed TwoQueues() {
  Fed fed;
  fed.AddCluster("east", "nvidia.com/gpu=64 cpu=64").AddQueue("a").AddQueue("b");
  return fed;
}

struct Counts {
  int32_t replicas = 0;
  int32_t floor = 0;
};

void Add(Fed& fed, std::string_view key, const std::string& queue, Counts counts, bool elastic) {
  fed.AddJob(key, queue, counts.replicas, kPod, [&](Job& job) {
    job.tasks[0].min_available = counts.floor;
    job.min_available = counts.floor;
    job.elastic = elastic;
    job.split = "never";
  });
}

void Pass(Fed& fed, std::chrono::seconds time) { fed.Do(ClockSet{fed.state.now() + time}); }

/// `Evict n/b, Place n/a`.
std::string Said(const Plan& plan) {
  std::string text;
  for (const Action& action : plan.actions) {
    text += (text.empty() ? "" : ", ") + std::string(ActionName(action.action)) + " " +
            action.job.ToString();
  }
  return text;
}

int64_t PodsOf(const Fed& fed, std::string_view key) {
  const JobEntry& job = fed.At(key);
  return job.charge.has_value() ? job.charge->shards.front().PodsAtOnce() : 0;
}

int64_t Charged(const Fed& fed, const std::string& queue) {
  const QueueIndex index = fed.state.queues().find(queue)->second;
  return fed.state.queue(index).charged[fed.state.resources().Find("nvidia.com/gpu")];
}

/// The cluster's summary shows so many pods.
void Show(Fed& fed, int pods) {
  fed.AddCluster("east", "nvidia.com/gpu=64 cpu=64", [&](Cluster& cluster) {
    cluster.allocated = {{"nvidia.com/gpu", 8 * pods}, {"cpu", 1000 * pods}};
  });
}

void Report(Fed& fed, std::string_view key, int32_t running, int32_t finished) {
  Job job = fed.state.Object(fed.state.FindJob(Key(key)));
  job.reports = {{"worker", running, finished}};
  job.reported = fed.state.now();
  fed.Do(JobUpsert{job});
}

TEST_CASE("An elastic job gives what is needed at once, and grows again when nobody waits") {
  Fed fed = TwoQueues();
  Add(fed, "n/trainer", "a", {8, 2}, true);
  fed.Go();
  REQUIRE(PodsOf(fed, "n/trainer") == 8);
  Pass(fed, std::chrono::minutes(20));
  Add(fed, "n/urgent", "b", {3, 3}, false);
  const Plan plan = fed.Go();
  REQUIRE(plan.actions.size() == 1);
  CHECK(plan.actions[0].action == ActionKind::kShrink);
  CHECK(plan.actions[0].job == Key("n/trainer"));
  CHECK(plan.actions[0].beneficiary == Key("n/urgent"));
  CHECK(plan.actions[0].reason ==
        "gives 3 of its 8 pods and makes room in cluster east for n/urgent: queue a is above its "
        "deserved share and queue b is not");
  CHECK(PodsOf(fed, "n/trainer") == 5);
  CHECK(Charged(fed, "a") == 40);
  const Plan next = fed.Go();
  REQUIRE(next.actions.size() == 1);
  CHECK(next.actions[0].job == Key("n/urgent"));
  CHECK(PodsOf(fed, "n/urgent") == 3);
  CHECK(fed.Go().actions.empty());
  fed.Do(JobDelete{Key("n/urgent"), "uid-n/urgent"});
  CHECK(fed.Go().actions.empty());  // Not within five minutes.
  const auto waiting = ExplainResizes(fed.state);
  REQUIRE(waiting.size() == 1);
  CHECK(waiting[0].growth);
  CHECK(waiting[0].verdict == Verdict::kBackoff);
  CHECK(fed.state.NextTimed() > fed.state.now());
  Pass(fed, std::chrono::minutes(5));
  fed.Go();
  CHECK(PodsOf(fed, "n/trainer") == 8);
  CHECK(fed.Go().actions.empty());
}

TEST_CASE("What a job in waves gives is its own until those pods have ended") {
  Fed fed = TwoQueues();
  Add(fed, "n/waves", "a", {10, 1}, false);
  fed.Go();
  REQUIRE(PodsOf(fed, "n/waves") == 8);
  Report(fed, "n/waves", 8, 0);
  Show(fed, 8);
  Pass(fed, std::chrono::minutes(20));
  Add(fed, "n/urgent", "b", {2, 2}, false);
  const Plan plan = fed.Go();
  REQUIRE(plan.actions.size() == 1);
  CHECK(plan.actions[0].action == ActionKind::kShrink);
  CHECK(PodsOf(fed, "n/waves") == 6);
  CHECK(Charged(fed, "a") == 64);
  Pass(fed, std::chrono::minutes(1));
  CHECK(fed.Go().actions.empty());
  Report(fed, "n/waves", 6, 2);
  Show(fed, 6);
  const Plan ended = fed.Go();
  REQUIRE(ended.actions.size() == 1);
  CHECK(ended.actions[0].action == ActionKind::kShrink);
  CHECK(Charged(fed, "a") == 48);
  Pass(fed, std::chrono::minutes(1));
  fed.Go();
  CHECK(PodsOf(fed, "n/urgent") == 2);
  CHECK(fed.Go().actions.empty());
}

TEST_CASE("Who waits too long for pods in waves gets the room by an eviction") {
  Fed fed = TwoQueues();
  Add(fed, "n/other", "a", {1, 1}, false);
  Add(fed, "n/waves", "a", {10, 1}, false);
  fed.Go();
  REQUIRE(PodsOf(fed, "n/waves") == 7);
  Report(fed, "n/waves", 7, 0);
  Report(fed, "n/other", 1, 0);
  Show(fed, 8);
  Pass(fed, std::chrono::minutes(20));
  Add(fed, "n/urgent", "b", {2, 2}, false);
  REQUIRE(fed.Go().actions.size() == 1);
  ActionKind last = ActionKind::kShrink;
  for (int minute = 0; minute < 30 && last == ActionKind::kShrink; ++minute) {
    Pass(fed, std::chrono::minutes(1));
    for (const Action& action : fed.Go().actions) {
      last = action.action;
    }
  }
  CHECK(last == ActionKind::kEvict);
}

TEST_CASE("Nobody is shrunk before its time, unless it loses nothing by it") {
  for (const bool elastic : {true, false}) {
    CAPTURE(elastic);
    Fed fed = TwoQueues();
    Add(fed, "n/partial", "a", {10, 2}, elastic);
    fed.Go();
    REQUIRE(PodsOf(fed, "n/partial") == 8);
    Add(fed, "n/urgent", "b", {3, 3}, false);
    CHECK(fed.Go().actions.size() == (elastic ? 0 : 1));
    CHECK(PodsOf(fed, "n/partial") == (elastic ? 8 : 5));
  }
}

TEST_CASE("Who may not be evicted is not shrunk either") {
  const auto shrinks = [](const testing::Tweak<Queue>& queue, const testing::Tweak<Job>& victim) {
    Fed fed = TwoQueues();
    fed.AddQueue("a", queue);
    Add(fed, "n/waves", "a", {10, 2}, false);
    fed.Go();
    REQUIRE(PodsOf(fed, "n/waves") == 8);
    Job job = fed.state.Object(fed.state.FindJob(Key("n/waves")));
    victim(job);
    fed.Do(JobUpsert{job});
    Pass(fed, std::chrono::minutes(20));
    Add(fed, "n/urgent", "b", {3, 3}, false);
    fed.Go();
    return PodsOf(fed, "n/waves") < 8;
  };
  CHECK(shrinks([](Queue&) {}, [](Job&) {}));
  CHECK_FALSE(shrinks([](Queue& queue) { queue.reclaimable = false; }, [](Job&) {}));
  CHECK_FALSE(shrinks([](Queue&) {}, [](Job& job) { job.preemptible = false; }));
  CHECK_FALSE(shrinks([](Queue& queue) { queue.weight = 9; }, [](Job&) {}));
}

TEST_CASE("Nobody is shrunk below the floor: where that is not enough somebody goes") {
  Fed fed = TwoQueues();
  Add(fed, "n/trainer", "a", {8, 6}, true);
  fed.Go();
  Pass(fed, std::chrono::minutes(20));
  Add(fed, "n/urgent", "b", {3, 3}, false);
  CHECK(Said(fed.Go()) == "Evict n/trainer");
}

TEST_CASE("Some give a part before others go, and who can give enough does not go") {
  Fed fed = TwoQueues();
  Add(fed, "n/one", "a", {2, 2}, false);
  Add(fed, "n/two", "a", {2, 2}, false);
  Add(fed, "n/trainer", "a", {4, 3}, true);
  fed.Go();
  Pass(fed, std::chrono::minutes(20));
  SUBCASE("besides") {
    Add(fed, "n/urgent", "b", {3, 3}, false);
    CHECK(Said(fed.Go()) == "Evict n/two, Shrink n/trainer");
    CHECK(PodsOf(fed, "n/trainer") == 3);
  }
  SUBCASE("alone") {
    Add(fed, "n/urgent", "b", {1, 1}, false);
    CHECK(Said(fed.Go()) == "Shrink n/trainer");
  }
  SUBCASE("not for nothing") {
    Add(fed, "n/urgent", "b", {2, 2}, false);
    CHECK(Said(fed.Go()) == "Evict n/two");
    CHECK(PodsOf(fed, "n/trainer") == 4);
  }
}

TEST_CASE("Where the parts of all are not enough, one goes and another gives") {
  Fed fed = TwoQueues();
  Add(fed, "n/small", "a", {2, 1}, true);
  Add(fed, "n/large", "a", {5, 4}, true);
  Add(fed, "n/other", "b", {1, 1}, false);
  fed.Go();
  Pass(fed, std::chrono::minutes(20));
  // Both parts are 2. Without n/small the floor of n/large is what its queue deserves.
  Add(fed, "n/urgent", "b", {3, 3}, false);
  CHECK(Said(fed.Go()) == "Evict n/small, Shrink n/large");
  CHECK(PodsOf(fed, "n/large") == 4);
}

TEST_CASE("What is about to end is not counted as its queue's again") {
  Fed fed = TwoQueues();
  Add(fed, "n/other", "a", {1, 1}, false);
  Add(fed, "n/waves", "a", {10, 1}, false);
  fed.Go();
  REQUIRE(PodsOf(fed, "n/waves") == 7);
  Report(fed, "n/waves", 7, 0);
  Report(fed, "n/other", 1, 0);
  Show(fed, 8);
  Pass(fed, std::chrono::minutes(20));
  Add(fed, "n/urgent", "b", {4, 4}, false);
  CHECK(Said(fed.Go()) == "Shrink n/waves");
  CHECK(Charged(fed, "a") == 64);
  // Of its 64 devices 32 go to b, of which each deserves half: nobody has too much any more.
  fed.AddPriorityClass("high", 10);
  fed.AddJob("n/high", "b", 1, kPod, [](Job& job) { job.priority_class = "high"; });
  CHECK(fed.Go().actions.empty());
}

TEST_CASE("One round decides one thing about a placed job") {
  Fed fed = TwoQueues();
  Add(fed, "n/trainer", "a", {9, 6}, true);
  fed.Go();
  REQUIRE(PodsOf(fed, "n/trainer") == 8);
  Pass(fed, std::chrono::minutes(20));
  SUBCASE("who goes does not grow") {
    Add(fed, "n/urgent", "b", {4, 4}, false);
    fed.AddCluster("east", "nvidia.com/gpu=72 cpu=64");
    CHECK(Said(fed.Go()) == "Evict n/trainer");
  }
  SUBCASE("who was edited makes room in the next round") {
    Job job = fed.state.Object(fed.state.FindJob(Key("n/trainer")));
    job.tasks[0].replicas = 7;
    fed.Do(JobUpsert{job});
    Add(fed, "n/urgent", "b", {2, 2}, false);
    CHECK(Said(fed.Go()) == "Shrink n/trainer");
    CHECK(PodsOf(fed, "n/trainer") == 7);
    CHECK(Said(fed.Go()) == "Shrink n/trainer");
    CHECK(PodsOf(fed, "n/trainer") == 6);
    CHECK(Said(fed.Go()) == "Place n/urgent");
  }
}

TEST_CASE("Inside a queue a higher priority shrinks a lower one") {
  Fed fed = TwoQueues();
  fed.AddPriorityClass("high", 10);
  Add(fed, "n/trainer", "a", {8, 2}, true);
  fed.Go();
  Pass(fed, std::chrono::minutes(20));
  fed.AddJob("n/high", "a", 2, kPod, [](Job& job) { job.priority_class = "high"; });
  const Plan plan = fed.Go();
  REQUIRE(plan.actions.size() == 1);
  CHECK(plan.actions[0].action == ActionKind::kShrink);
  CHECK(PodsOf(fed, "n/trainer") == 6);
  fed.Go();
  CHECK(PodsOf(fed, "n/high") == 2);
}

TEST_CASE("Where nodes are known, the pods with the highest indexes make the room") {
  Fed fed;
  fed.AddCluster("east", "").AddQueue("a").AddQueue("b");
  for (const char* node : {"n1", "n2"}) {
    fed.AddNode("east", node, "nvidia.com/gpu=16 cpu=8");
  }
  Add(fed, "n/trainer", "a", {4, 1}, true);
  fed.Go();
  REQUIRE(PodsOf(fed, "n/trainer") == 4);
  for (int i = 0; i < 4; ++i) {
    Pod pod;
    pod.cluster = "east";
    pod.ns = "n";
    pod.name = "trainer-worker-" + std::to_string(i);
    pod.node = i % 2 == 0 ? "n1" : "n2";
    pod.requests = testing::Amounts(kPod);
    pod.requests["pods"] = 1;
    pod.job = "trainer";
    pod.task = "worker";
    fed.Do(PodUpsert{pod});
  }
  Pass(fed, std::chrono::minutes(20));
  // One pod of a whole node: of 1 and 3, which are on n2, only both are enough, so 2 goes too.
  fed.AddJob("n/urgent", "b", 1, "nvidia.com/gpu=16 cpu=1");
  const Plan plan = fed.Go();
  REQUIRE(plan.actions.size() == 1);
  CHECK(plan.actions[0].action == ActionKind::kShrink);
  CHECK(PodsOf(fed, "n/trainer") == 1);
}

}  // namespace
}  // namespace caldera
