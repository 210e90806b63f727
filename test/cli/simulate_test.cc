// `caldera simulate` from outside.
#include <doctest/doctest.h>

#include <fstream>
#include <iterator>

#include "test/cli/run_program.h"

namespace caldera::test {
namespace {

/// A scenario over one cluster of 8 cores, whose template team/job asks for 4.
Said Simulate(const std::string& scenario, const std::vector<std::string>& more = {}) {
  const TempFolder folder;
  const std::string path =
      folder.Write("day.yaml", "apiVersion: caldera.simulate/v1\nkind: Scenario\n" + scenario);
  const std::string objects =
      folder.Write("objects.yaml", ClusterYaml("east", 8) + QueueYaml("gold", "weight: 1") +
                                       JobYaml("job", "gold", 2, 2));
  std::vector<std::string> arguments = {"simulate", "-f", objects, "--scenario", path};
  arguments.insert(arguments.end(), more.begin(), more.end());
  Said said = RunCaldera(arguments);
  // The folder has another name in each run.
  for (size_t at = 0; (at = said.err.find(path)) != std::string::npos;) {
    said.err.replace(at, path.size(), "day.yaml");
  }
  return said;
}

TEST_CASE("the example is simulated, the same way every time") {
  const std::vector<std::string> arguments = {"simulate", "-f", "examples/simulate", "--scenario",
                                              "examples/simulate/scenario.yaml"};
  const Said said = RunCaldera(arguments);
  CHECK(said.exit_code == 0);
  CHECK(said.err.empty());
  CHECK(RunCaldera(arguments).out == said.out);
  for (const char* part : {"2,972 jobs, 2,972 done.", "language", "speech", "vision", "dublin",
                           "makespan ", "share error "}) {
    CAPTURE(part);
    CHECK(said.out.find(part) != std::string::npos);
  }
}

TEST_CASE("the table of a small scenario is what it was") {
  const Said said = Simulate(
      "submissions:\n- {template: team/job, count: 50, every: 20s, duration: 45s, checkpoint: 5s}\n"
      "- {template: team/job, name: long, at: 300s, duration: 1h}\n"
      "events:\n- {at: 610s, outage: {cluster: east, for: 1m, jobs: restart}}\n");
  CHECK(said.exit_code == 0);
  CheckGolden("simulate.table", said.out);
}

TEST_CASE("a queue of jobs is worked off two at a time") {
  const Said said = Simulate("submissions:\n- {template: team/job, count: 5, duration: 10s}\n",
                             {"-o", "json", "--jobs"});
  CHECK(said.err.empty());
  REQUIRE(said.exit_code == 0);
  const Value record = ParseJson(said.out);
  const Value& total = *record.Find("total");
  CHECK(total.Find("makespanSeconds")->AsInteger() == 30);
  CHECK(total.Find("idealSeconds")->AsInteger() == 25);
  CHECK(total.Find("makespanOverIdeal")->AsDecimal() == "1.200");
  CHECK(total.Find("waitP50Seconds")->AsInteger() == 10);
  CHECK(total.Find("waitMaxSeconds")->AsInteger() == 20);
  CHECK(TextAt(total, {"allocatedSeconds", "cpu"}) == "200");
  CHECK(total.Find("utilisation")->AsDecimal() == "0.833");
  CHECK(TextAt(record, {"resource"}) == "cpu");
  REQUIRE(record.Find("jobs")->AsList().size() == 5);
  const Value third = ItemOf(*record.Find("jobs"), "job", "team/job-3");
  CHECK(TextAt(third, {"firstStart"}) == "2026-01-01T00:00:10Z");
  CHECK(TextAt(third, {"fate"}) == "Done");
}

TEST_CASE("yaml and json say the same, csv has a row for each") {
  const std::string scenario = "submissions:\n- {template: team/job, count: 3, duration: 10s}\n";
  const Said yaml = Simulate(scenario, {"-o", "yaml"});
  CHECK(yaml.exit_code == 0);
  CHECK(yaml.out.starts_with("apiVersion: caldera.simulate/v1\n"));
  const Said csv = Simulate(scenario, {"-o", "csv", "--rows", "jobs"});
  CHECK(csv.out ==
        "job,queue,fate,submitted,firstStart,end,durationSeconds,starts,evictions,losses,"
        "lostSeconds,cluster,shrinks\r\n"
        "team/job-1,gold,Done,2026-01-01T00:00:00Z,2026-01-01T00:00:00Z,2026-01-01T00:00:10Z,10,"
        "1,0,0,0,east,0\r\n"
        "team/job-2,gold,Done,2026-01-01T00:00:00Z,2026-01-01T00:00:00Z,2026-01-01T00:00:10Z,10,"
        "1,0,0,0,east,0\r\n"
        "team/job-3,gold,Done,2026-01-01T00:00:00Z,2026-01-01T00:00:10Z,2026-01-01T00:00:20Z,10,"
        "1,0,0,0,east,0\r\n");
  for (const char* rows : {"queues", "clusters", "samples"}) {
    CHECK(Simulate(scenario, {"-o", "csv", "--rows", rows}).out.find("\r\n") != std::string::npos);
  }
}

TEST_CASE("events change the federation on the way") {
  const Said said = Simulate(
      "submissions:\n- {template: team/job, count: 4, duration: 100s}\n"
      "events:\n"
      "- {at: 10s, delete: {kind: Job, namespace: team, name: job-1}}\n"
      "- {at: 20s, patch: {kind: Cluster, name: east, merge: {status: {resourceSummary: "
      "{allocatable: {cpu: 16}}}}}}\n"
      "- at: 200s\n"
      "  apply: {apiVersion: scheduling.volcano.sh/v1beta1, kind: Queue, metadata: {name: late}}\n",
      {"-o", "csv", "--rows", "jobs"});
  CHECK(said.err.empty());
  CHECK(said.out.find("team/job-1,gold,Deleted,2026-01-01T00:00:00Z,2026-01-01T00:00:00Z,"
                      "2026-01-01T00:00:10Z") != std::string::npos);
  CHECK(said.out.find("team/job-3,gold,Done,2026-01-01T00:00:00Z,2026-01-01T00:00:10Z,") !=
        std::string::npos);
  CHECK(said.out.find("team/job-4,gold,Done,2026-01-01T00:00:00Z,2026-01-01T00:00:20Z,") !=
        std::string::npos);
}

TEST_CASE("until and seed of the command line win") {
  const std::string scenario =
      "until: 1000s\nsubmissions:\n"
      "- {template: team/job, count: 100, every: {exponential: 20s}, duration: 10s}\n";
  const Said stopped = Simulate(scenario, {"--until", "60s"});
  CHECK(stopped.out.starts_with("Simulated 1m from 2026-01-01T00:00:00Z: "));
  CHECK(stopped.out.find("(stopped there)") != std::string::npos);
  CHECK(Simulate(scenario).out == Simulate(scenario).out);
  CHECK(Simulate(scenario, {"--seed", "2"}).out != Simulate(scenario, {"--seed", "3"}).out);
}

TEST_CASE("a plot is a picture of its own, without anything from elsewhere") {
  const TempFolder folder;
  const std::string path = folder.Path("plot.svg");
  const Said said =
      RunCaldera({"simulate", "-f", "examples/simulate", "--scenario",
                  "examples/simulate/scenario.yaml", "--until", "13h", "--plot", path});
  CHECK(said.err.empty());
  REQUIRE(said.exit_code == 0);
  std::ifstream in(path);
  const std::string svg((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  CHECK(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox="));
  CHECK(svg.ends_with("</svg>\n"));
  CHECK(svg.find("prefers-color-scheme:dark") != std::string::npos);
  for (const char* text : {">speech<", ">vision<", ">language<", ">tokyo<", ">What each queue had<",
                           ">Jobs that wait<", ">tokyo out<", ">12h<", ">100<"}) {
    CAPTURE(text);
    CHECK(svg.find(text) != std::string::npos);
  }
  // Every element that is opened is closed.
  for (const std::string element : {"text", "path", "title", "style"}) {
    size_t open = 0;
    size_t closed = 0;
    for (size_t at = 0; (at = svg.find("<" + element, at)) != std::string::npos; ++at) {
      const size_t end = svg.find('>', at);
      open += end != std::string::npos && svg[end - 1] != '/' ? 1U : 0U;
    }
    for (size_t at = 0; (at = svg.find("</" + element, at)) != std::string::npos; ++at) {
      ++closed;
    }
    CAPTURE(element);
    CHECK(open == closed);
  }
  CHECK(svg.find("href") == std::string::npos);
}

TEST_CASE("a plot that cannot be written is told before the work") {
  const Said said = Simulate("jobs: {duration: 1s}\n", {"--plot", "/no/such/folder/plot.svg"});
  CHECK(said.exit_code == 2);
  CHECK(said.out.empty());
  CHECK(said.err.find("--plot /no/such/folder/plot.svg: cannot be written") != std::string::npos);
}

TEST_CASE("mistakes in a scenario are told, each with its line") {
  struct Mistake {
    std::string scenario;
    std::string told;
  };
  const std::string job = "submissions:\n- {template: team/job, duration: 10s";
  const std::vector<Mistake> mistakes = {
      {"submisions: []\n",
       "day.yaml:3:13: Scenario: submisions = []: is no field here: there "
       "are apiVersion, kind, metadata, start, "},
      {job + ", count: 0}\n",
       "day.yaml:4:46: Scenario: submissions[0].count = 0: must be an integer from 1 to "},
      {job + ", at: soon}\n",
       "day.yaml:4:43: Scenario: submissions[0].at = soon: must be a duration from 0s to "},
      {job + ", rate: fast}\n", "submissions[0].rate = fast: must be a number above 0 and /s, /m"},
      {job + ", rate: 3/h, every: 5s}\n", "submissions[0].rate = 3/h: and every exclude each"},
      {job + ", for: 5s}\n", "submissions[0].for = 5s: needs every or rate beside it"},
      {job + ", estimate: perfect}\n",
       "submissions[0].estimate = perfect: must be none, correct, a duration"},
      {job + ", queues: gold}\n", "submissions[0].queues = gold: is no field here"},
      {"submissions:\n- {template: team/job}\n",
       "submissions[0].duration: is required: Job team/job has no runningEstimate"},
      {"submissions:\n- {template: job, duration: 1s}\n",
       "submissions[0].template = job: must be NAMESPACE/NAME of a Job of -f"},
      {"submissions:\n- {template: team/none, duration: 1s}\n",
       "submissions[0].template = team/none: there is no such Job in -f"},
      {job + "}\n- {template: team/job, duration: 1s}\n",
       "submissions[1].name: is needed, another one"},
      {"submissions:\n- {template: team/job, duration: {uniform: [3s, 2s]}}\n",
       "submissions[0].duration.uniform = [...]: must name the shorter one first"},
      {"submissions:\n- {template: team/job, duration: {lognormal: {median: 3s}}}\n",
       "submissions[0].duration.lognormal.sigma: is required"},
      {"submissions:\n- {template: team/job, duration: {gamma: 3s}}\n",
       "submissions[0].duration.gamma = 3s: is no field here: there are uniform"},
      {job + "}\nevents:\n- {at: 1s}\n",
       "events[0] = {...}: must have exactly one of apply, patch, delete and outage"},
      {job + "}\nevents:\n- {at: 1s, outage: {cluster: west, for: 1s}}\n",
       "events[0].outage.cluster = west: there is no such Cluster in -f"},
      {job + "}\nevents:\n- {at: 1s, delete: {kind: Queue, name: silver}}\n",
       "events[0].delete = {...}: there is no Queue/silver at that time"},
      {job + "}\nevents:\n- {at: 1s, delete: {kind: Pod, name: p}}\n",
       "events[0].delete.kind = Pod: must be Queue, Cluster, "},
      {job + "}\nevents:\n- {at: 1s, patch: {kind: Queue, name: gold, merge: {spec: {weight: "
             "big}}}}\n",
       "day.yaml:6:68: Queue/gold: spec.weight = big: must be an integer from"},
      {job + "}\nresource: amd.com/gpu\n",
       "resource = amd.com/gpu: no cluster of -f has this resource"},
      {job + "}\nstart: today\n", "start = today: must be a time such as 2026-12-01T08:00:00Z"},
      {"jobs: {duration: 1s}\nsettings: {resolution: 0s}\n",
       "settings.resolution = 0s: must be a duration from 1ms to "},
  };
  for (const Mistake& mistake : mistakes) {
    CAPTURE(mistake.scenario);
    const Said said = Simulate(mistake.scenario);
    CAPTURE(said.err);
    CHECK(said.exit_code == 2);
    CHECK(said.out.empty());
    CHECK(said.err.find(mistake.told) != std::string::npos);
  }
}

TEST_CASE("several mistakes are told at once") {
  const Said said = Simulate(
      "seed: -1\nsubmissions:\n- {template: team/job, duration: x}\n- {template: team/job, name: "
      "UPPER, duration: y}\n");
  CHECK(said.err.find("seed = -1") != std::string::npos);
  CHECK(said.err.find("submissions[0].duration = x") != std::string::npos);
  CHECK(said.err.find("submissions[1].duration = y") != std::string::npos);
}

TEST_CASE("what is no scenario is refused") {
  const Said missing =
      RunCaldera({"simulate", "-f", "examples/simulate", "--scenario", "no-such-file"});
  CHECK(missing.exit_code == 2);
  CHECK(missing.err.find("no-such-file") != std::string::npos);
  const Said other = RunCaldera(
      {"simulate", "-f", "examples/simulate", "--scenario", "examples/simulate/federation.yaml"});
  CHECK(other.exit_code == 2);
  CHECK(other.err.find("must hold one document, the scenario") != std::string::npos);
}

}  // namespace
}  // namespace caldera::test
