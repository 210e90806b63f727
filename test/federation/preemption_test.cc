#include "federation/preemption.h"

#include <doctest/doctest.h>

#include <chrono>

#include "test/federation/builders.h"

namespace caldera {
namespace {

using std::chrono::minutes;
using testing::Amounts;
using testing::Fed;
using testing::Key;

/// `Evict n/b, Place n/a`.
std::string Said(const Plan& plan) {
  std::string text;
  for (const Action& action : plan.actions) {
    text += (text.empty() ? "" : ", ") + std::string(ActionName(action.action)) + " " +
            action.job.ToString();
  }
  return text;
}

void Pass(Fed& fed, Millis time) { fed.Do(ClockSet{fed.state.now() + time}); }

/// Whoever is on its way out has left.
void Leave(Fed& fed) {
  const std::set<JobIndex> evicting = fed.state.evicting();
  for (const JobIndex job : evicting) {
    fed.Do(Released{fed.state.job(job).key, fed.state.job(job).uid, 0});
  }
}

/// Ten cpu; queues a and b of weight 1, none has anything of its own.
Fed Borrowed() {
  Fed fed;
  fed.AddCluster("east", "cpu=10");
  fed.AddQueue("a").AddQueue("b");
  return fed;
}

TEST_CASE("Vector P1: who deserves half gets it from who borrowed it all, the newest job of it") {
  Fed fed = Borrowed();
  fed.AddJob("n/b1", "b", 1, "cpu=5").AddJob("n/b2", "b", 1, "cpu=5");
  CHECK(Said(fed.Go()) == "Place n/b1, Place n/b2");
  fed.AddJob("n/a1", "a", 1, "cpu=5");
  SUBCASE("not before the min-runtime") {
    Pass(fed, minutes(10) - Millis(1));
    CHECK(Said(fed.Go()).empty());
  }
  Pass(fed, minutes(10));
  const Plan plan = fed.Go();
  REQUIRE(Said(plan) == "Evict n/b2");
  CHECK(plan.actions[0].beneficiary == Key("n/a1"));
  CHECK(plan.actions[0].shards == fed.At("n/b2").charge->shards);
  CHECK(plan.actions[0].reason ==
        "makes room in cluster east for n/a1: queue b is above its deserved share and queue a is "
        "not");
  SUBCASE("it is charged until it has left and the room is the claimant's alone") {
    CHECK(fed.state.queue(fed.At("n/b2").queue).charged[0] == 10'000);
    CHECK(Said(fed.Go()).empty());
    fed.AddJob("n/b3", "b", 1, "cpu=5", [](Job& job) { job.priority_class = ""; });
    Leave(fed);
    CHECK(Said(fed.Go()) == "Place n/a1");
    for (const Reservation& reservation : fed.state.reservations()) {
      CHECK_FALSE(reservation.evicting);
    }
    SUBCASE("and nobody takes it back") {
      Pass(fed, minutes(60));
      CHECK(Said(fed.Go()).empty());
    }
  }
  SUBCASE("the victim keeps its place in the order") {
    Leave(fed);
    fed.AddJob("n/b0", "b", 1, "cpu=5");
    CHECK(Said(fed.Go()) == "Place n/a1");
    fed.Do(JobDelete{Key("n/a1"), "uid-n/a1"});
    CHECK(Said(fed.Go()) == "Place n/b2");
  }
}

TEST_CASE("Vector P2: who would borrow evicts nobody") {
  Fed fed = Borrowed();
  fed.AddJob("n/b1", "b", 1, "cpu=5").AddJob("n/b2", "b", 1, "cpu=5");
  fed.Go();
  fed.AddJob("n/a1", "a", 1, "cpu=6");
  Pass(fed, minutes(30));
  CHECK(Said(fed.Go()).empty());
}

TEST_CASE("Vector P3: with twice the weight it deserves 6 and gets both") {
  Fed fed = Borrowed();
  fed.AddQueue("a", [](Queue& queue) { queue.weight = 2; });
  fed.AddJob("n/b1", "b", 1, "cpu=5").AddJob("n/b2", "b", 1, "cpu=5");
  fed.Go();
  fed.AddJob("n/a1", "a", 1, "cpu=6");
  Pass(fed, minutes(30));
  CHECK(Said(fed.Go()) == "Evict n/b2, Evict n/b1");
}

TEST_CASE("Vector P4: a queue's only job goes and does not come back against it") {
  Fed fed = Borrowed();
  fed.AddJob("n/b1", "b", 1, "cpu=10");
  fed.Go();
  fed.AddJob("n/a1", "a", 1, "cpu=4");
  Pass(fed, minutes(30));
  CHECK(Said(fed.Go()) == "Evict n/b1");
  Leave(fed);
  CHECK(Said(fed.Go()) == "Place n/a1");
  Pass(fed, minutes(30));
  CHECK(Said(fed.Go()).empty());
}

TEST_CASE("The job that loses least work goes") {
  Fed fed = Borrowed();
  fed.AddJob("n/old", "b", 1, "cpu=5");
  fed.Go();
  Pass(fed, minutes(50));
  fed.AddJob("n/young", "b", 1, "cpu=5");
  fed.Go();
  Pass(fed, minutes(20));
  fed.AddJob("n/a1", "a", 1, "cpu=4");
  CHECK(Said(fed.Go()) == "Evict n/young");
}

TEST_CASE("Some jobs and queues are never taken from") {
  Fed fed = Borrowed();
  fed.AddJob("n/b1", "b", 1, "cpu=5").AddJob("n/b2", "b", 1, "cpu=5");
  fed.Go();
  fed.AddJob("n/a1", "a", 1, "cpu=5");
  Pass(fed, minutes(30));
  const auto edit = [&](const auto& change) {
    for (const char* key : {"n/b1", "n/b2"}) {
      Job job = fed.state.Object(fed.state.FindJob(Key(key)));
      change(job);
      fed.Do(JobUpsert{job});
    }
  };
  SUBCASE("a queue that is not reclaimable") {
    fed.AddQueue("b", [](Queue& queue) { queue.reclaimable = false; });
  }
  SUBCASE("jobs that are not preemptible") {
    edit([](Job& job) { job.preemptible = false; });
  }
  SUBCASE("jobs with a longer min-runtime of their own") {
    edit([](Job& job) { job.min_runtime = std::chrono::hours(1); });
  }
  SUBCASE("jobs evicted three times in a day") {
    for (int k = 0; k < 3; ++k) {
      for (const char* key : {"n/b1", "n/b2"}) {
        const JobEntry& job = fed.At(key);
        const Charge charge = *job.charge;
        fed.Do(Released{job.key, job.uid, 0});
        fed.Do(Evicted{job.key, job.uid, 0, fed.state.now(), {}, ""});
        fed.Do(Placed{job.key, job.uid, charge.intent, charge.at, charge.shards});
      }
    }
  }
  SUBCASE("by a PriorityClass that never preempts") {
    fed.AddPriorityClass("meek", 5, [](PriorityClass& priority) { priority.preempts = false; });
    Job job = fed.state.Object(fed.state.FindJob(Key("n/a1")));
    job.priority_class = "meek";
    fed.Do(JobUpsert{job});
  }
  CHECK(Said(fed.Go()).empty());
}

TEST_CASE("A job that is not preemptible does not borrow") {
  Fed fed = Borrowed();
  fed.AddJob("n/a1", "a", 1, "cpu=2");
  fed.AddJob("n/b1", "b", 1, "cpu=9", [](Job& job) { job.preemptible = false; });
  CHECK(Said(fed.Go()) == "Place n/a1");
  fed.Do(JobDelete{Key("n/a1"), "uid-n/a1"});
  CHECK(Said(fed.Go()) == "Place n/b1");
}

TEST_CASE("Inside a queue the higher priority preempts the lower") {
  Fed fed;
  fed.AddCluster("east", "cpu=10");
  fed.AddQueue("a");
  fed.AddPriorityClass("high", 10);
  fed.AddJob("n/low1", "a", 1, "cpu=5").AddJob("n/low2", "a", 1, "cpu=5");
  fed.Go();
  Pass(fed, minutes(30));
  const auto high = [](Job& job) { job.priority_class = "high"; };
  SUBCASE("for room") {
    fed.AddJob("n/high", "a", 1, "cpu=4", high);
    const Plan plan = fed.Go();
    CHECK(Said(plan) == "Evict n/low2");
    CHECK(plan.actions[0].reason ==
          "makes room in cluster east for n/high, which has a higher priority");
  }
  SUBCASE("to relieve the queue's capability, where the room is elsewhere") {
    fed.AddCluster("west", "cpu=10");
    fed.AddQueue("a", [](Queue& queue) { queue.capability = Amounts("cpu=10"); });
    fed.AddJob("n/high", "a", 1, "cpu=4", high);
    CHECK(Said(fed.Go()) == "Evict n/low2");
    Leave(fed);
    CHECK(Said(fed.Go()) == "Place n/high");
  }
  SUBCASE("never to relieve a tenant's quota") {
    fed.AddCluster("west", "cpu=10");
    fed.AddQuota("n", "cpu=10");
    fed.AddJob("n/high", "a", 1, "cpu=4", high);
    CHECK(Said(fed.Go()).empty());
  }
  SUBCASE("not the same priority") {
    fed.AddJob("n/other", "a", 1, "cpu=4");
    CHECK(Said(fed.Go()).empty());
  }
}

TEST_CASE("Who preempts in its queue does not make it borrow more") {
  Fed fed = Borrowed();
  fed.AddPriorityClass("high", 10);
  fed.AddJob("n/low", "a", 1, "cpu=4").AddJob("n/b1", "b", 1, "cpu=4");
  fed.Go();
  fed.AddJob("n/b2", "b", 1, "cpu=3");  // Does not fit: each deserves 5.
  Pass(fed, minutes(30));
  const auto high = [](Job& job) { job.priority_class = "high"; };
  SUBCASE("6 where it deserves 5 and holds 4") {
    fed.AddJob("n/high", "a", 1, "cpu=6", high);
    CHECK(Said(fed.Go()).empty());
  }
  SUBCASE("5") {
    fed.AddJob("n/high", "a", 1, "cpu=5", high);
    CHECK(Said(fed.Go()) == "Evict n/low");
  }
}

TEST_CASE("Who was evicted for a job does not evict it") {
  Fed fed;
  fed.AddCluster("east", "cpu=4").AddCluster("west", "cpu=4");
  fed.AddQueue("a", [](Queue& queue) { queue.priority = 1; }).AddQueue("b");
  fed.AddJob("n/b1", "b", 1, "cpu=3", [](Job& job) { job.preemptible = false; });
  fed.AddJob("n/b2", "b", 1, "cpu=4").AddJob("n/b3", "b", 1, "cpu=1");
  fed.Go();
  Pass(fed, minutes(30));
  fed.AddJob("n/a1", "a", 1, "cpu=1").AddJob("n/a2", "a", 1, "cpu=1");
  fed.AddJob("n/a3", "a", 1, "cpu=3");
  REQUIRE(Said(fed.Go()) == "Evict n/b3, Evict n/b2");  // For a1 and for a2.
  Leave(fed);
  // b2 left three more than a2 asked for: a3 borrows them, and a is above what it deserves.
  REQUIRE(Said(fed.Go()) == "Place n/a1, Place n/a2, Place n/a3");
  Pass(fed, minutes(30));
  const Plan plan = fed.Go();
  REQUIRE(Said(plan) == "Evict n/a2");
  CHECK(plan.actions[0].beneficiary == Key("n/b3"));
}

TEST_CASE("Nobody is evicted where that makes no whole placement") {
  Fed fed;
  fed.AddCluster("east", "cpu=6").AddCluster("west", "cpu=6");
  fed.AddQueue("a").AddQueue("b");
  fed.AddJob("n/b1", "b", 1, "cpu=6").AddJob("n/b2", "b", 1, "cpu=6");
  fed.Go();
  fed.AddJob("n/a1", "a", 1, "cpu=7", [](Job& job) { job.split = "never"; });
  Pass(fed, minutes(30));
  CHECK(Said(fed.Go()).empty());
}

TEST_CASE("Who waits for the summary to show its room evicts nobody else meanwhile") {
  Fed fed;
  fed.AddCluster("east", "cpu=5").AddCluster("west", "cpu=5");
  fed.AddQueue("a").AddQueue("b");
  fed.AddJob("n/b1", "b", 1, "cpu=5").AddJob("n/b2", "b", 1, "cpu=5");
  fed.Go();
  fed.AddJob("n/a1", "a", 1, "cpu=5");
  Pass(fed, minutes(30));
  const Plan plan = fed.Go();
  REQUIRE(plan.actions.size() == 1);
  const std::string cluster = plan.actions[0].shards[0].cluster;
  const auto show = [&](const char* used) {
    fed.AddCluster(cluster, "cpu=5", [&](Cluster& object) { object.allocated = Amounts(used); });
  };
  show("cpu=5");
  Leave(fed);
  CHECK(Said(fed.Go()).empty());
  show("cpu=0");
  CHECK(Said(fed.Go()) == "Place n/a1");
}

TEST_CASE("The room is kept for five minutes after the last victim left") {
  Fed fed = Borrowed();
  fed.AddJob("n/b1", "b", 1, "cpu=5").AddJob("n/b2", "b", 1, "cpu=5");
  fed.Go();
  fed.AddJob("n/a1", "a", 1, "cpu=5");
  Pass(fed, minutes(30));
  CHECK(Said(fed.Go()) == "Evict n/b2");
  REQUIRE(fed.state.reservations().size() == 1);
  CHECK(fed.state.reservations()[0].evicting);
  // Somebody else's pods took the room meanwhile.
  fed.AddCluster("east", "cpu=10", [](Cluster& cluster) { cluster.allocated = Amounts("cpu=9"); });
  Leave(fed);
  CHECK(Said(fed.Go()).empty());
  CHECK(fed.state.reservations().size() == 1);
  Pass(fed, minutes(5) - Millis(1));
  fed.Go();
  CHECK(fed.state.reservations().size() == 1);
  CHECK(fed.state.reservations()[0].evicting);
  Pass(fed, Millis(1));
  fed.Go();
  CHECK((fed.state.reservations().empty() || !fed.state.reservations()[0].evicting));
}

}  // namespace
}  // namespace caldera
