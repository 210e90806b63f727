// Clusters that back off for one job, and the times at which the clock alone changes a decision.
#include <doctest/doctest.h>

#include "federation/codec.h"
#include "federation/explain.h"
#include "federation/invariants.h"
#include "test/federation/builders.h"

namespace caldera::testing {
namespace {

constexpr std::chrono::minutes kLong{5};

void BackOff(Job& job, const State& state, const std::string& cluster, const std::string& reason,
             Millis span = kLong) {
  job.backoffs.push_back(
      {cluster, reason, "a foreign Job of that name is there", state.now() + span});
}

Fed TwoClusters() {
  Fed fed;
  fed.AddCluster("east", "cpu=8").AddCluster("west", "cpu=16");
  return fed;
}

TEST_CASE("a cluster that backs off is refused to that job alone") {
  Fed fed = TwoClusters();
  fed.AddJob("n/a", "default", 1, "cpu=4",
             [&](Job& job) { BackOff(job, fed.state, "east", "NameConflict"); });
  fed.AddJob("n/b", "default", 1, "cpu=4");
  CHECK(fed.At("n/a").job_class != fed.At("n/b").job_class);
  CHECK(Placements(fed.Go()) == Names{"n/a@west", "n/b@east"});
}

TEST_CASE("a backoff ends at its time and not before") {
  Fed fed;
  fed.AddCluster("east", "cpu=8");
  fed.AddJob("n/a", "default", 1, "cpu=4",
             [&](Job& job) { BackOff(job, fed.state, "east", "ApplyFailed"); });
  const Time until = fed.state.now() + kLong;
  CHECK(fed.state.NextTimed() == until);
  CHECK(fed.Go().actions.empty());
  fed.Do(ClockSet{until - Millis(1)});
  CHECK(fed.Go().actions.empty());
  fed.Do(ClockSet{until});
  CHECK(fed.state.NextTimed() == Time());
  CHECK(Placements(fed.Go()) == Names{"n/a@east"});
}

TEST_CASE("jobs that share blocked clusters share a class until one comes back") {
  Fed fed = TwoClusters();
  for (const int minutes : {5, 7}) {
    fed.AddJob("n/j" + std::to_string(minutes), "default", 1, "cpu=4", [&](Job& job) {
      BackOff(job, fed.state, "east", "NameConflict", std::chrono::minutes(minutes));
    });
  }
  fed.AddJob("n/free", "default", 1, "cpu=4");
  const auto same = [&](const char* a, const char* b) {
    return fed.At(a).job_class == fed.At(b).job_class;
  };
  CHECK(same("n/j5", "n/j7"));
  fed.Do(ClockSet{fed.state.now() + kLong});
  CHECK(same("n/j5", "n/free"));
  CHECK_FALSE(same("n/j7", "n/free"));
  fed.Do(JobDelete{Key("n/j7"), "uid-n/j7"});
  CHECK(fed.state.NextTimed() == Time());
}

TEST_CASE("a cluster where pods of that name still are is refused until the last is gone") {
  Fed fed;
  fed.AddCluster("east", "cpu=8");
  const auto pod = [](const std::string& name, const std::string& job, bool terminal) {
    return PodUpsert{{"east", "n", name, "", Amounts("cpu=1 pods=1"), terminal, job, "worker"}};
  };
  fed.Do(pod("a-0", "a", false)).Do(pod("a-1", "a", false));
  fed.AddJob("n/a", "default", 1, "cpu=4").AddJob("n/b", "default", 1, "cpu=4");
  CHECK(Placements(fed.Go()) == Names{"n/b@east"});
  const auto pending = ExplainPending(fed.state);
  REQUIRE(pending.size() == 1);
  CHECK(pending[0].verdict == Verdict::kBackoff);
  CHECK(pending[0].message ==
        "cluster east could not take it: pods of a job of that name are still there: 2");
  fed.Do(pod("a-0", "a", true)).Do(PodDelete{"east", "n", "a-1"});
  CHECK(fed.Go().actions.empty());
  SUBCASE("deleted") { fed.Do(PodDelete{"east", "n", "a-0"}); }
  SUBCASE("another's now") { fed.Do(pod("a-0", "b", true)); }
  CHECK(Placements(fed.Go()) == Names{"n/a@east"});
}

TEST_CASE("explain names the reason of the backoff with its message and figures") {
  const std::vector<std::pair<std::string, Verdict>> reasons = {
      {"NameConflict", Verdict::kNameConflict},   {"ApplyFailed", Verdict::kApplyFailed},
      {"StuckInMember", Verdict::kStuckInMember}, {"TooLarge", Verdict::kTooLarge},
      {"SomethingElse", Verdict::kBackoff},
  };
  for (const auto& row : reasons) {
    const std::string& reason = row.first;
    CAPTURE(reason);
    Fed fed;
    fed.AddCluster("east", "cpu=8");
    fed.AddJob("n/a", "default", 2, "cpu=2",
               [&](Job& job) { BackOff(job, fed.state, "east", reason); });
    fed.Go();
    const std::vector<PendingJob> pending = ExplainPending(fed.state);
    REQUIRE(pending.size() == 1);
    CHECK(pending[0].verdict == row.second);
    CHECK(pending[0].message ==
          "cluster east could not take it: a foreign Job of that name is "
          "there; not tried again before " +
              FormatTime(fed.state.now() + kLong));
    REQUIRE(pending[0].figures.size() == 1);
    CHECK(pending[0].figures[0].object == "Cluster/east");
    CHECK(pending[0].figures[0].requested == 2);
    CHECK(pending[0].figures[0].limit == 0);
    REQUIRE(pending[0].clusters.size() == 1);
    CHECK(pending[0].clusters[0].verdict == row.second);
  }
}

TEST_CASE("a cluster that lacks what a job refers to says so, and no time that is not waited for") {
  Fed fed;
  fed.AddCluster("east", "cpu=8");
  fed.AddJob("n/a", "default", 2, "cpu=2", [&](Job& job) {
    job.backoffs = {{"east", "MissingReference", "cluster east lacks PersistentVolumeClaim/n/data",
                     fed.state.now() + kLong}};
  });
  fed.Go();
  const std::vector<PendingJob> pending = ExplainPending(fed.state);
  REQUIRE(pending.size() == 1);
  CHECK(pending[0].verdict == Verdict::kMissingReference);
  CHECK(pending[0].message ==
        "cluster east could not take it: cluster east lacks PersistentVolumeClaim/n/data; it is "
        "looked for again and again");
  const std::vector<Edit> edits = WouldFitIf(fed.state, {"n", "a"});
  REQUIRE(edits.size() == 1);
  CHECK(edits[0].field.find("backoffs") != std::string::npos);
}

TEST_CASE("a cluster without room says so although it backs off too") {
  Fed fed = TwoClusters();
  fed.AddJob("n/a", "default", 1, "cpu=12", [&](Job& job) {
    BackOff(job, fed.state, "east", "NameConflict");
    BackOff(job, fed.state, "west", "ApplyFailed");
  });
  fed.Go();
  const std::vector<PendingJob> pending = ExplainPending(fed.state);
  REQUIRE(pending.size() == 1);
  CHECK(pending[0].verdict == Verdict::kApplyFailed);
  CHECK(pending[0].clusters[0].verdict == Verdict::kInsufficientResources);
  CHECK(pending[0].clusters[1].verdict == Verdict::kApplyFailed);
}

TEST_CASE("what-if ends the backoff") {
  Fed fed;
  fed.AddCluster("east", "cpu=8");
  fed.AddJob("n/a", "default", 1, "cpu=4",
             [&](Job& job) { BackOff(job, fed.state, "east", "NameConflict"); });
  const auto edits = WouldFitIf(fed.state, Key("n/a"));
  REQUIRE(edits.size() == 1);
  CHECK(edits[0].object == "Job/n/a");
  CHECK(edits[0].field == "backoffs[east].until");
  CHECK(edits[0].from == FormatTime(fed.state.now() + kLong));
  CHECK(edits[0].to == FormatTime(fed.state.now()));
}

TEST_CASE("a plan that goes where a cluster backs off is not sound") {
  Fed fed;
  fed.AddCluster("east", "cpu=8").AddJob("n/a", "default", 1, "cpu=4");
  const Plan plan = MakePlan(fed.state);
  REQUIRE(plan.actions.size() == 1);
  Job job = fed.state.Object(fed.state.FindJob(Key("n/a")));
  BackOff(job, fed.state, "east", "NameConflict");
  fed.Do(JobUpsert{job});
  CHECK(CheckPlan(fed.state, plan) == Names{"n/a: cluster east backs off for it"});
}

TEST_CASE("backoffs are kept in an export and in the canonical text") {
  Fed fed;
  fed.AddCluster("east", "cpu=8");
  fed.AddJob("n/a", "default", 1, "cpu=4",
             [&](Job& job) { BackOff(job, fed.state, "east", "NameConflict"); });
  State again;
  for (const Change& change : fed.state.Export()) {
    const auto decoded = DecodeChange(EncodeChange(change));
    REQUIRE(decoded.has_value());
    again.Apply(*decoded);
  }
  const JobEntry& entry = again.job(again.FindJob(Key("n/a")));
  CHECK(entry.rare().backoffs == fed.At("n/a").rare().backoffs);
  CHECK(again.NextTimed() == fed.state.NextTimed());
  CHECK(MakePlan(again).actions.empty());
}

TEST_CASE("before NextTimed the clock changes no plan") {
  Fed fed;
  Settings settings;
  settings.usage_half_life = Millis(0);
  fed.Do(SettingsSet{settings});
  fed.AddCluster("east", "cpu=8");
  fed.AddCluster("gone", "cpu=8", [&](Cluster& cluster) {
    cluster.ready = false;
    cluster.ready_changed = fed.state.now() - std::chrono::minutes(1);
  });
  fed.AddQueue("gold", [](Queue& queue) { queue.guarantee = Amounts("cpu=12"); });
  fed.AddQueue("poor");
  fed.AddJob("n/ran", "poor", 4, "cpu=1");
  fed.Go();
  Job ran = fed.state.Object(fed.state.FindJob(Key("n/ran")));
  ran.reports = {{"worker", 4, 0}};
  ran.reported = fed.state.now();
  fed.Do(JobUpsert{ran});
  fed.AddJob("n/wait", "gold", 1, "cpu=6",
             [&](Job& job) { BackOff(job, fed.state, "east", "StuckInMember"); });
  std::vector<Time> times;
  for (Time next = fed.state.NextTimed(); next != Time(); next = fed.state.NextTimed()) {
    REQUIRE(next > fed.state.now());
    const std::string before = EncodePlan({Time(), MakePlan(fed.state).actions});
    State later = fed.state;
    later.Apply(ClockSet{next - Millis(1)});
    CHECK(EncodePlan({Time(), MakePlan(later).actions}) == before);
    times.push_back(next);
    fed.Do(ClockSet{next});
  }
  const Time start = kStart + std::chrono::hours(24);
  CHECK(times == std::vector<Time>{start + std::chrono::seconds(20),
                                   start + std::chrono::minutes(4) + Millis(1), start + kLong,
                                   start + std::chrono::minutes(10)});
}

}  // namespace
}  // namespace caldera::testing
