// `caldera plan --ledger` run after run, and `caldera ledger` from outside.
#include <doctest/doctest.h>

#include "test/cli/run_program.h"

namespace caldera::test {
namespace {

bool Has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// One run at minute `minute`; returns the plan.
Value PlanInto(const std::string& ledger, int minute, const std::string& manifests) {
  const std::string at =
      "2026-12-01T08:" + std::string(minute < 10 ? "0" : "") + std::to_string(minute) + ":00Z";
  const Said said =
      RunCaldera({"plan", "-f", "-", "--at", at, "-o", "json", "--ledger", ledger}, manifests);
  CAPTURE(said.err);
  REQUIRE(said.exit_code == 0);
  return ParseJson(said.out);
}

Said Ask(const std::string& ledger, std::vector<std::string> question) {
  question.insert(question.begin(), "ledger");
  question.insert(question.end(), {"--ledger", ledger});
  return RunCaldera(question);
}

std::string FreeCpu(const Value& plan) {
  return TextAt(ItemOf(*plan.Find("clusters"), "cluster", "east"), {"free", "cpu"});
}

std::string AllocatedCpu(const Value& plan, const std::string& queue) {
  return TextAt(ItemOf(*plan.Find("queues"), "queue", queue), {"allocated", "cpu"});
}

TEST_CASE("the same input twice doubles nothing") {
  const TempFolder folder;
  const std::string ledger = folder.Path("l.db");
  const std::string manifests = ClusterYaml("east", 8) + QueueYaml("gold", "weight: 2") +
                                JobYaml("a", "gold", 2, 2) + JobYaml("b", "gold", 1, 1);
  const Value first = PlanInto(ledger, 0, manifests);
  CHECK(first.Find("placements")->AsList().size() == 2);
  CHECK(first.Find("running")->AsList().empty());
  const Value second = PlanInto(ledger, 1, manifests);
  CHECK(second.Find("placements")->AsList().empty());
  CHECK(second.Find("running")->AsList().size() == 2);
  CHECK(FreeCpu(first) == "3");
  CHECK(FreeCpu(second) == "3");
  CHECK(AllocatedCpu(second, "gold") == "5");
  CHECK(Ask(ledger, {"check"}).exit_code == 0);
}

TEST_CASE("a job that is gone or terminal is released, and the balances return to nothing") {
  const TempFolder folder;
  const std::string ledger = folder.Path("l.db");
  const std::string base = ClusterYaml("east", 8) + QueueYaml("gold", "weight: 2");
  const std::string job = JobYaml("a", "gold", 2, 2);
  const Value placed = PlanInto(ledger, 0, base + job + JobYaml("b", "gold", 1, 1));
  CHECK(AllocatedCpu(placed, "gold") == "5");
  const Value without_b = PlanInto(ledger, 1, base + job);
  CHECK(AllocatedCpu(without_b, "gold") == "4");
  const Value done =
      PlanInto(ledger, 2, base + job + "status: {state: {phase: Completed}, succeeded: 2}\n");
  CHECK(AllocatedCpu(done, "gold") == "(absent)");
  CHECK(done.Find("running")->AsList().empty());
  CHECK(FreeCpu(done) == "8");
  const Said balances =
      Ask(ledger, {"sql", "SELECT count(*) AS n FROM balances WHERE amount != 0", "-o", "json"});
  CHECK(balances.exit_code == 0);
  CHECK(balances.out.find("\"n\":0") != std::string::npos);
  CHECK(Ask(ledger, {"check"}).exit_code == 0);
}

TEST_CASE("every recorded cycle replays to the same digest, the one that the plan printed") {
  const TempFolder folder;
  const std::string ledger = folder.Path("l.db");
  const std::string base = ClusterYaml("east", 8) + QueueYaml("gold", "capability: {cpu: 4}");
  PlanInto(ledger, 0, base + JobYaml("a", "gold", 2, 2));
  const Value last =
      PlanInto(ledger, 1, base + JobYaml("a", "gold", 2, 2) + JobYaml("b", "gold", 1, 1));
  for (const std::string cycle : {"1", "2"}) {
    CHECK(Ask(ledger, {"replay", cycle}).exit_code == 0);
  }
  CHECK(Has(Ask(ledger, {"replay", "2"}).out, TextAt(last, {"digest"})));
  CHECK(Ask(ledger, {"replay", "3"}).exit_code == 2);
}

TEST_CASE("the ledger explains what the plan explained") {
  const TempFolder folder;
  const std::string ledger = folder.Path("l.db");
  PlanInto(ledger, 0,
           ClusterYaml("east", 8) + QueueYaml("gold", "capability: {cpu: 4}") +
               JobYaml("a", "gold", 2, 2) + JobYaml("b", "gold", 1, 1));
  CHECK(Has(Ask(ledger, {"explain", "team/b"}).out, "QueueCapability"));
  CHECK(Has(Ask(ledger, {"explain", "team/a"}).out, "east"));
  CHECK(Ask(ledger, {"explain", "team/nobody"}).exit_code == 2);
  for (const std::string question :
       {"queues", "tenants", "jobs", "placements", "history", "usage"}) {
    for (const std::string format : {"table", "json", "csv"}) {
      const Said said = Ask(ledger, {question, "-o", format});
      CAPTURE(question);
      CHECK(said.exit_code == 0);
      CHECK_FALSE(said.out.empty());
    }
  }
}

TEST_CASE("c01: of a job that is refused there is nothing in the ledger") {
  const TempFolder folder;
  const std::string ledger = folder.Path("l.db");
  const Said plan = RunCaldera({"plan", "-f", "test/cases/c01-mpi-plugin-defaults.yaml", "-f", "-",
                                "-o", "json", "--ledger", ledger},
                               ClusterYaml("east", 8));
  CAPTURE(plan.err);
  REQUIRE(plan.exit_code == 0);
  const Value contract = ParseJson(plan.out);
  CHECK(contract.Find("refused")->AsList().size() == 1);
  REQUIRE(contract.Find("placements")->AsList().size() == 1);
  for (const char* const question : {"jobs", "placements", "history"}) {
    const Said said = Ask(ledger, {question});
    CAPTURE(question);
    CHECK(said.exit_code == 0);
    CHECK(Has(said.out, "ring-sum"));
    CHECK_FALSE(Has(said.out, "ring-sum-bad"));
  }
  CHECK(Ask(ledger, {"job", "team-a/ring-sum-bad"}).exit_code == 2);
}

TEST_CASE("what is pruned stays in the totals and cannot be replayed") {
  const TempFolder folder;
  const std::string ledger = folder.Path("l.db");
  const std::string base = ClusterYaml("east", 8) + QueueYaml("gold", "weight: 2");
  const auto plan_at = [&ledger](const std::string& at, const std::string& manifests) {
    const Said said = RunCaldera({"plan", "-f", "-", "--at", at, "--ledger", ledger}, manifests);
    CAPTURE(said.err);
    REQUIRE(said.exit_code == 0);
  };
  plan_at("2026-03-01T08:00:00Z", base + JobYaml("old", "gold", 2, 2));
  plan_at("2026-03-02T09:30:00Z", base + JobYaml("new", "gold", 1, 1));
  plan_at("2026-09-01T08:00:00Z", base + JobYaml("new", "gold", 1, 2));
  const std::vector<std::string> usage = {
      "usage", "--window", "8760h", "--until", "2026-09-01T08:00:00Z", "-o", "csv"};
  const std::string before = Ask(ledger, usage).out;
  CHECK(Has(before, "gold,cpu,"));

  const Said dry = Ask(ledger, {"prune", "--keep", "30", "--dry-run"});
  CHECK(dry.exit_code == 0);
  CHECK(Has(dry.out, "2 cycles of the journal"));
  CHECK(Has(dry.out, "would begin with cycle 3"));
  CHECK(Ask(ledger, {"replay", "2"}).exit_code == 0);
  const Said pruned = Ask(ledger, {"prune", "--keep", "30", "-o", "json"});
  CHECK(pruned.exit_code == 0);
  CHECK(Has(pruned.out, "\"firstCycle\":3,\"cycles\":2,\"checkpoints\":0,\"shards\":1"));
  CHECK(Ask(ledger, usage).out == before);
  const Said replay = Ask(ledger, {"replay", "2"});
  CHECK(replay.exit_code == 2);
  CHECK(Has(replay.err, "cycle 2 was pruned: the journal begins with cycle 3"));
  CHECK(Ask(ledger, {"replay", "3"}).exit_code == 0);
  CHECK(Ask(ledger, {"check"}).exit_code == 0);
  CHECK(Ask(ledger, {"job", "team/old", "-o", "json"}).exit_code == 2);
  CHECK(Ask(ledger, {"prune", "--keep", "-1"}).exit_code == 2);
  CHECK(Ask(ledger, {"prune", "--keep", "soon"}).exit_code == 2);
}

TEST_CASE("what is no ledger is told so") {
  const TempFolder folder;
  const std::string text = folder.Write("text.db", "this is no database, it is a text file");
  CHECK(RunCaldera({"plan", "-f", "examples/quickstart", "--ledger", text}).exit_code == 2);
  CHECK(Ask(text, {"queues"}).exit_code == 2);
  CHECK(Ask(folder.Path("none.db"), {"queues"}).exit_code == 2);
}

}  // namespace
}  // namespace caldera::test
