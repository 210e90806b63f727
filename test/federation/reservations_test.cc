#include "federation/reservations.h"

#include <doctest/doctest.h>

#include <chrono>

#include "federation/explain.h"
#include "test/federation/builders.h"

namespace caldera {
namespace {

using std::chrono::minutes;
using testing::Fed;
using testing::Key;

std::string Placed(const Plan& plan) {
  std::string text;
  for (const Action& action : plan.actions) {
    text += (text.empty() ? "" : " ") + action.job.name;
  }
  return text;
}

auto Lasts(int64_t estimate) {
  return [estimate](Job& job) { job.running_estimate = minutes(estimate); };
}

void Pass(Fed& fed, Millis time) { fed.Do(ClockSet{fed.state.now() + time}); }

/// Eight cpu, of which six are free again in an hour; the first that waits wants them all.
Fed Waiting() {
  Fed fed;
  fed.AddCluster("east", "cpu=8");
  fed.AddJob("n/runs", "default", 1, "cpu=6", Lasts(60));
  CHECK(Placed(fed.Go()) == "runs");
  fed.AddJob("n/big", "default", 1, "cpu=8", Lasts(600));
  return fed;
}

TEST_CASE("The first that waits gets the cluster where it starts first and keeps it") {
  Fed fed = Waiting();
  fed.Go();
  REQUIRE(fed.state.reservations().size() == 1);
  CHECK(fed.state.reservations()[0].job == Key("n/big"));
  CHECK(fed.state.reservations()[0].cluster == "east");
  CHECK_FALSE(fed.state.reservations()[0].evicting);
  const Plan again = fed.Go();
  CHECK_FALSE(again.reservations.has_value());
  Pass(fed, minutes(60));
  fed.Do(JobDelete{Key("n/runs"), "uid-n/runs"});
  CHECK(Placed(fed.Go()) == "big");
  CHECK(fed.state.reservations().empty());
}

TEST_CASE("A start is found while a summary shows what is counted on top of it still") {
  Fed fed = Waiting();
  const Time start = fed.state.now() + minutes(60);
  fed.AddCluster("east", "cpu=8", [](Cluster& c) { c.allocated = testing::Amounts("cpu=6"); });
  fed.Go();
  const auto pending = ExplainPending(fed.state);
  REQUIRE(pending.size() == 1);
  CHECK(pending[0].message.find("enough jobs end there until " + FormatTime(start)) !=
        std::string::npos);
}

TEST_CASE("Later jobs pass where they end before the start and nowhere else") {
  Fed fed = Waiting();
  SUBCASE("one that ends in time") {
    fed.AddJob("n/short", "default", 1, "cpu=2", Lasts(30));
    CHECK(Placed(fed.Go()) == "short");
  }
  SUBCASE("one that does not") {
    fed.AddJob("n/long", "default", 1, "cpu=2", Lasts(90));
    CHECK(Placed(fed.Go()).empty());
    const auto pending = ExplainPending(fed.state);
    REQUIRE(pending.size() == 2);
    CHECK(VerdictName(pending[0].verdict) == "Reserved");
    CHECK(pending[0].message == "cluster east is kept for it since " + FormatTime(fed.state.now()) +
                                    "; by their estimates enough jobs end there until " +
                                    FormatTime(fed.state.now() + minutes(60)));
    CHECK(VerdictName(pending[1].verdict) == "Reserved");
    CHECK(pending[1].message.find("its room is kept for n/big, which can start at") !=
          std::string::npos);
  }
  SUBCASE("one of which nobody knows") {
    fed.AddJob("n/unknown", "default", 1, "cpu=2");
    CHECK(Placed(fed.Go()).empty());
  }
  SUBCASE("any that leaves enough at the start") {
    fed.AddCluster("east", "cpu=10");
    fed.AddJob("n/beside", "default", 1, "cpu=2", Lasts(9000));
    fed.AddJob("n/too-many", "default", 1, "cpu=2", Lasts(9000));
    CHECK(Placed(fed.Go()) == "beside");
  }
}

TEST_CASE("Where no start is known the first gets a cluster after ten minutes") {
  Fed fed;
  fed.AddCluster("east", "cpu=8").AddCluster("west", "cpu=4");
  fed.AddJob("n/runs", "default", 1, "cpu=6");
  fed.Go();
  fed.AddJob("n/big", "default", 1, "cpu=8");
  fed.Go();
  REQUIRE(fed.state.reservations().size() == 1);
  CHECK(fed.state.reservations()[0].cluster.empty());
  fed.AddJob("n/small", "default", 1, "cpu=1", [](Job& job) { job.clusters.names = {"east"}; });
  CHECK(Placed(fed.Go()) == "small");
  Pass(fed, minutes(10));
  fed.Go();
  CHECK(fed.state.reservations()[0].cluster == "east");
  fed.AddJob("n/next", "default", 1, "cpu=1", [](Job& job) { job.clusters.names = {"east"}; });
  CHECK(Placed(fed.Go()).empty());
}

TEST_CASE("A job that never fits holds nothing and one that is held gives up what it had") {
  Fed fed;
  fed.AddCluster("east", "cpu=8");
  fed.AddJob("n/runs", "default", 1, "cpu=6", Lasts(60));
  fed.Go();
  fed.AddJob("n/huge", "default", 1, "cpu=80");
  fed.AddJob("n/big", "default", 1, "cpu=8");
  fed.Go();
  REQUIRE(fed.state.reservations().size() == 1);
  CHECK(fed.state.reservations()[0].job == Key("n/big"));
  Job big = fed.state.Object(fed.state.FindJob(Key("n/big")));
  big.hold = true;
  fed.Do(JobUpsert{big});
  fed.Go();
  CHECK(fed.state.reservations().empty());
}

TEST_CASE("A borrower's reservation yields to who stays within deserved") {
  Fed fed;
  fed.AddCluster("east", "cpu=8");
  fed.AddQueue("a").AddQueue("b");
  fed.AddJob("n/a1", "a", 1, "cpu=4", Lasts(60)).AddJob("n/a2", "a", 1, "cpu=2", Lasts(60));
  fed.Go();
  fed.AddJob("n/a3", "a", 1, "cpu=8");
  fed.Go();
  REQUIRE(fed.state.reservations().size() == 1);
  fed.AddJob("n/b1", "b", 1, "cpu=2");
  CHECK(Placed(fed.Go()) == "b1");
}

TEST_CASE("Reservations and evictions survive an export") {
  Fed fed = Waiting();
  fed.Go();
  State again;
  for (const Change& change : fed.state.Export()) {
    again.Apply(change);
  }
  CHECK(again.reservations() == fed.state.reservations());
}

}  // namespace
}  // namespace caldera
