// `caldera plan` from outside: its contract, exit codes and what goes where.
#include <doctest/doctest.h>

#include <fstream>
#include <iterator>

#include "test/cli/run_program.h"

namespace caldera::test {
namespace {

constexpr const char* kAt = "2026-12-01T08:00:00Z";

bool Has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

Value PlanOf(const std::string& manifests, std::vector<std::string> more = {}) {
  std::vector<std::string> arguments{"plan", "-f", "-", "--at", kAt, "-o", "json"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  const Said said = RunCaldera(arguments, manifests);
  CAPTURE(said.err);
  REQUIRE(said.exit_code == 0);
  return ParseJson(said.out);
}

std::vector<std::string> NamesOf(const Value& list, const std::string& key) {
  std::vector<std::string> names;
  for (const Value& item : list.AsList()) {
    names.push_back(TextAt(item, {key}));
  }
  return names;
}

TEST_CASE("the quickstart is planned as its README says, in every format") {
  const std::vector<std::string> plan{"plan", "-f", "examples/quickstart", "--at", kAt, "-o"};
  for (const std::string format : {"table", "wide", "json", "yaml"}) {
    std::vector<std::string> arguments = plan;
    arguments.push_back(format);
    const Said said = RunCaldera(arguments);
    CHECK(said.exit_code == 0);
    CHECK(said.err.empty());
    CheckGolden("quickstart." + format, said.out);
  }
}

TEST_CASE("a job that no cluster holds is shown with its shards") {
  const std::string manifests =
      ClusterYaml("east", 8) + ClusterYaml("west", 8) + QueueYaml("q", "weight: 1");
  const Value plan = PlanOf(manifests + JobYaml("wide", "q", 12, 1));
  const Value::List& placed = plan.Find("placements")->AsList();
  REQUIRE(placed.size() == 1);
  const Value& shards = *placed.front().Find("shards");
  CHECK(NamesOf(shards, "cluster") == std::vector<std::string>{"east", "west"});
  CHECK(TextAt(placed.front(), {"reason"}).find("8 pods in east, 4 in west") != std::string::npos);
  const Said table =
      RunCaldera({"plan", "-f", "-", "--at", kAt}, manifests + JobYaml("wide", "q", 12, 1));
  CHECK(Has(table.out, "east, west   8+4"));
}

TEST_CASE("each waiting job of the quickstart waits for its own reason") {
  const Said said = RunCaldera(
      {"plan", "-f", "examples/quickstart", "--at", kAt, "-o", "json", "--explain", "all"});
  const Value plan = ParseJson(said.out);
  const Value& pending = *plan.Find("pending");
  const auto verdict = [&pending](const std::string& job) {
    return TextAt(ItemOf(pending, "job", job), {"verdict"});
  };
  CHECK(verdict("vision/detect") == "QueueCapability");
  CHECK(verdict("language/evaluate") == "TenantQuota");
  CHECK(verdict("language/tokenize") == "ClusterNotReady");
  CHECK(verdict("hpc/mantle") == "InsufficientResources");
  CHECK(verdict("hpc/archive") == "Held");
  CHECK(pending.AsList().size() == 5);
  const Value detect = ItemOf(pending, "job", "vision/detect");
  REQUIRE(detect.Find("wouldFitIf")->AsList().size() == 1);
  CHECK(TextAt(detect.Find("wouldFitIf")->AsList()[0], {"object"}) == "Queue/training");
}

TEST_CASE("a job can be asked for by its name, and one that does not wait says so") {
  const std::vector<std::string> plan{"plan", "-f", "examples/quickstart",
                                      "--at", kAt,  "--explain"};
  const auto explain = [&plan](const std::string& job) {
    std::vector<std::string> arguments = plan;
    arguments.push_back(job);
    return RunCaldera(arguments).out;
  };
  CHECK(Has(explain("detect"), "WHY vision/detect WAITS"));
  CHECK(Has(explain("vision/resnet"), "Placed on dublin"));
  CHECK(Has(explain("hpc/weather"), "It runs on dublin"));
}

TEST_CASE("a job whose queue has had its share is told whose turn it is") {
  const std::string manifests = ClusterYaml("east", 8) + QueueYaml("a", "weight: 1") +
                                QueueYaml("b", "weight: 1") + JobYaml("a1", "a", 8, 1) +
                                JobYaml("a2", "a", 2, 1) + JobYaml("b1", "b", 4, 1);
  const Said table = RunCaldera({"plan", "-f", "-", "--at", kAt, "--explain", "a2"}, manifests);
  CHECK(Has(table.out,
            "queue b is served before queue a: it stays within its deserved, and queue a "
            "would not."));
  CHECK(Has(table.out, "its queue's turn does not come"));
  const Said json =
      RunCaldera({"plan", "-f", "-", "--at", kAt, "--explain", "a2", "-o", "json"}, manifests);
  const Value plan = ParseJson(json.out);
  const Value waiting = ItemOf(*plan.Find("pending"), "job", "team/a2");
  REQUIRE(waiting.Find("ahead")->AsList().size() == 1);
  CHECK(TextAt(waiting.Find("ahead")->AsList()[0], {"why"}) == "within");
  CHECK(TextAt(waiting, {"turn"}).empty());
}

TEST_CASE("the contract has every member, in order, also when there is nothing to say") {
  const Value plan = PlanOf(ClusterYaml("east", 8));
  std::vector<std::string> keys;
  for (const Member& member : plan.AsMap()) {
    keys.push_back(member.key);
  }
  CHECK(keys == std::vector<std::string>{"apiVersion", "now", "digest", "queues", "tenants",
                                         "clusters", "running", "placements", "pending", "refused",
                                         "warnings"});
  CHECK(TextAt(plan, {"apiVersion"}) == "caldera.plan/v1");
  CHECK(TextAt(plan, {"now"}) == kAt);
  CHECK(TextAt(plan, {"digest"}).size() == 64);
  CHECK(NamesOf(*plan.Find("queues"), "queue") == std::vector<std::string>{"default", "root"});
}

TEST_CASE("a permuted input gives the same bytes") {
  const std::string cluster = ClusterYaml("east", 8);
  const std::string other = ClusterYaml("west", 6);
  const std::string queue = QueueYaml("gold", "weight: 2");
  const std::string a = JobYaml("a", "gold", 2, 2);
  const std::string b = JobYaml("b", "default", 3, 2);
  const std::string c = JobYaml("c", "gold", 2, 3);
  const std::vector<std::string> arguments{"plan", "-f", "-", "--at", kAt, "-o", "json"};
  const Said first = RunCaldera(arguments, cluster + other + queue + a + b + c);
  CHECK(first.exit_code == 0);
  CHECK(RunCaldera(arguments, c + b + other + a + queue + cluster).out == first.out);
  CHECK(RunCaldera(arguments, a + queue + c + cluster + b + other).out == first.out);
}

TEST_CASE("inputs add up: files, folders, standard input, YAML and JSON") {
  const TempFolder folder;
  const std::string cluster = folder.Write("cluster.yaml", ClusterYaml("east", 8));
  const std::string job = folder.Write(
      "job.json",
      R"({"apiVersion":"batch.volcano.sh/v1alpha1","kind":"Job",)"
      R"("metadata":{"name":"j","namespace":"team"},"spec":{"tasks":[{"name":"t",)"
      R"("replicas":1,"template":{"spec":{"containers":[{"name":"c","image":"x"}]}}}]}})");
  const Said said =
      RunCaldera({"plan", "-f", cluster, "-f", job, "-f", "-", "--at", kAt, "-o", "json"},
                 JobYaml("k", "default", 1, 1));
  REQUIRE(said.exit_code == 0);
  CHECK(ParseJson(said.out).Find("placements")->AsList().size() == 2);
  CHECK(RunCaldera({"plan", "-f", folder.Path(""), "--at", kAt}).exit_code == 0);
}

TEST_CASE("a refused job is named with its place, and the others are planned") {
  const Value plan = PlanOf(ClusterYaml("east", 8) + JobYaml("good", "default", 1, 1) +
                            JobYaml("bad", "default", -1, 1));
  const Value& refused = *plan.Find("refused");
  REQUIRE(refused.AsList().size() >= 1);
  const Value& issue = refused.AsList()[0];
  CHECK(TextAt(issue, {"object"}) == "Job/team/bad");
  CHECK(TextAt(issue, {"file"}) == "-");
  CHECK(TextAt(issue, {"field"}) == "spec.tasks[0].replicas");
  CHECK(issue.Find("line")->AsInteger() == 32);
  CHECK(NamesOf(*plan.Find("placements"), "job") == std::vector<std::string>{"team/good"});
}

TEST_CASE("a queue that is refused is missing for its jobs") {
  const Value plan = PlanOf(ClusterYaml("east", 8) + QueueYaml("heavy", "weight: 70000") +
                            JobYaml("j", "heavy", 1, 1));
  CHECK(TextAt(plan.Find("refused")->AsList().at(0), {"object"}) == "Queue/heavy");
  CHECK(TextAt(ItemOf(*plan.Find("pending"), "job", "team/j"), {"verdict"}) == "QueueMissing");
}

TEST_CASE("an object that stands twice is refused the second time, naming both places") {
  const Value plan = PlanOf(ClusterYaml("east", 8) + JobYaml("j", "default", 1, 1) +
                            JobYaml("j", "default", 2, 1));
  REQUIRE(plan.Find("refused")->AsList().size() == 1);
  const Value& issue = plan.Find("refused")->AsList()[0];
  CHECK(issue.Find("line")->AsInteger() == 25);
  CHECK(Has(TextAt(issue, {"message"}), "-:10"));
  const Value& placement = plan.Find("placements")->AsList().at(0);
  CHECK(placement.Find("shards")->AsList().at(0).At({"tasks", "main", "replicas"})->AsInteger() ==
        1);
}

TEST_CASE("other kinds are counted and skipped on stderr") {
  const std::string other = "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n";
  const Said said =
      RunCaldera({"plan", "-f", "-", "--at", kAt}, ClusterYaml("east", 8) + other + other);
  CHECK(said.exit_code == 0);
  CHECK(Has(said.err, "skipped 2 objects of kind ConfigMap"));
}

TEST_CASE("unusable input is 2, with a reason on stderr and nothing on stdout") {
  const TempFolder folder;
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases{
      {{"plan", "-f", "no/such/file.yaml"}, "no/such/file.yaml"},
      {{"plan", "-f", folder.Path("")}, folder.Path("")},
      {{"plan", "-f", folder.Write("bad.yaml", "a: [1, 2\nb: }")}, "bad.yaml:"},
      {{"plan", "-f", folder.Write("other.yaml", "apiVersion: v1\nkind: Secret\n")}, "no object"},
      {{"plan", "-f", "examples/quickstart", "--at", "yesterday"}, "yesterday"},
      {{"plan", "-f", "examples/quickstart", "--explain", "no/body"}, "no/body"},
      {{"plan", "-f", "examples/quickstart", "--ledger", "/no/such/folder/l.db"},
       "/no/such/folder"},
      {{"plan", "-f", "examples/quickstart", "--render", "/proc/none"}, "/proc/none"},
  };
  for (const auto& [arguments, text] : cases) {
    const std::string& reason = text;  // A binding cannot be captured in clang 14.
    const Said said = RunCaldera(arguments);
    CAPTURE(reason);
    CAPTURE(said.err);
    CHECK(said.exit_code == 2);
    CHECK(said.out.empty());
    CHECK(Has(said.err, reason));
  }
}

std::string ReadAll(const std::string& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

std::string Replaced(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

TEST_CASE("a placement in a cluster that was not given is warned of and not taken over") {
  const std::string metadata = "metadata: {";
  const std::string placement =
      R"('[{"cluster":"nowhere","epoch":4,"tasks":{"worker":{"replicas":2}}}]')";
  const std::string job =
      Replaced(JobYaml("train", "q", 2, 1), metadata,
               metadata + "annotations: {federation.caldera.sh/placement: " + placement + "}, ");
  const Said said = RunCaldera({"plan", "-f", "-", "--at", kAt, "-o", "json"},
                               ClusterYaml("east", 8) + QueueYaml("q", "weight: 1") + job);
  const Value plan = ParseJson(said.out);
  const Value::List& warnings = plan.Find("warnings")->AsList();
  REQUIRE(warnings.size() == 1);
  CHECK(TextAt(warnings[0], {"object"}) == "Job/team/train");
  CHECK(TextAt(warnings[0], {"field"}) == "metadata.annotations[federation.caldera.sh/placement]");
  CHECK(TextAt(warnings[0], {"value"}) == "nowhere");
  CHECK(TextAt(warnings[0], {"message"}) ==
        "is no Cluster that was given: the placement is not taken over, and the job waits");
  REQUIRE(plan.Find("placements")->AsList().size() == 1);
  CHECK(NamesOf(*plan.Find("placements")->AsList().front().Find("shards"), "cluster") ==
        std::vector<std::string>{"east"});
}

/// A Job of which one pod is enough; `extra` in its metadata.
std::string PartialYaml(const std::string& name, const std::string& queue, int replicas,
                        const std::string& extra = "") {
  const std::string metadata = "creationTimestamp: \"2026-12-01T07:00:00Z\"";
  const std::string job = Replaced(JobYaml(name, queue, replicas, 1), metadata, metadata + extra);
  return Replaced(job, "spec:\n", "spec:\n  minAvailable: 1\n");
}

TEST_CASE("who gives pods for another is shown with whom it is for") {
  const std::string placement =
      ", annotations: {federation.caldera.sh/placement: '[{\"cluster\":\"east\",\"epoch\":1,"
      "\"tasks\":{\"main\":{\"replicas\":12,\"minAvailable\":12,\"atOnce\":8}},"
      "\"minAvailable\":1}]'}";
  const std::string manifests = ClusterYaml("east", 8) + QueueYaml("a", "weight: 1") +
                                QueueYaml("b", "weight: 1") +
                                PartialYaml("waves", "a", 12, placement) +
                                "status: {state: {phase: Running}}\n" + JobYaml("next", "b", 3, 1);
  const Value plan = PlanOf(manifests);
  const Value::List& decided = plan.Find("placements")->AsList();
  REQUIRE(decided.size() == 1);
  CHECK(TextAt(decided[0], {"job"}) == "team/waves");
  CHECK(TextAt(decided[0], {"action"}) == "Shrink");
  CHECK(TextAt(decided[0], {"beneficiary"}) == "team/next");
  const Said table = RunCaldera({"plan", "-f", "-", "--at", kAt, "--explain", "waves"}, manifests);
  CAPTURE(table.out);
  CHECK(Has(table.out, ": 0 jobs placed, 1 shrunk, "));
  CHECK(Has(table.out, "DECIDED  in this order"));
  CHECK(
      Has(table.out, "Shrink  gives 3 of its 8 pods and makes room in cluster east for team/next"));
  CHECK(Has(table.out, "  Shrunk on east: gives 3"));
}

TEST_CASE("of a job in waves the Work of its Queue is rendered too") {
  const TempFolder folder;
  const Said said = RunCaldera({"plan", "-f", "-", "--at", kAt, "--render-works",
                                folder.Path("works"), "--render", folder.Path("jobs")},
                               ClusterYaml("east", 8) + PartialYaml("waves", "default", 12));
  CAPTURE(said.err);
  REQUIRE(said.exit_code == 0);
  CHECK(Has(said.err, "wrote 2 Works to"));
  CHECK(Has(said.err, "wrote 1 Jobs to"));
  const std::string work = ReadAll(folder.Path("works/team.waves.east.queue.yaml"));
  CAPTURE(work);
  CHECK(Has(work, "kind: Work"));
  CHECK(Has(work, "namespace: karmada-es-east"));
  CHECK(Has(work, "kind: Queue"));
  CHECK(Has(work, "cpu: \"8\""));
  // The shard's Job is in that Queue.
  const std::string job = ReadAll(folder.Path("works/team.waves.east.yaml"));
  const size_t at = job.find("queue: caldera-");
  REQUIRE(at != std::string::npos);
  const size_t name = at + std::string("queue: ").size();
  CHECK(Has(work, "name: " + job.substr(name, job.find('\n', name) - name) + "\n"));
}

TEST_CASE("a running job is charged where its placement says and is not placed again") {
  std::string job = JobYaml("r", "default", 2, 3);
  const std::string metadata = "creationTimestamp: \"2026-12-01T07:00:00Z\"";
  job.replace(job.find(metadata), metadata.size(),
              metadata +
                  ", annotations: {federation.caldera.sh/placement: "
                  "'[{\"cluster\":\"east\",\"epoch\":1,\"tasks\":{\"main\":{\"replicas\":2,"
                  "\"minAvailable\":2}}}]'}");
  job += "status: {state: {phase: Running}, running: 2}\n";
  const Value plan = PlanOf(ClusterYaml("east", 8, 6) + job + JobYaml("next", "default", 1, 3));
  CHECK(NamesOf(*plan.Find("running"), "job") == std::vector<std::string>{"team/r"});
  CHECK(plan.Find("placements")->AsList().empty());
  CHECK(TextAt(ItemOf(*plan.Find("clusters"), "cluster", "east"), {"free", "cpu"}) == "2");
}

TEST_CASE("what is rendered is a Job that the intake accepts, and a Work around it") {
  const TempFolder folder;
  const Said said = RunCaldera({"plan", "-f", "examples/quickstart", "--at", kAt, "--render",
                                folder.Path("jobs"), "--render-works", folder.Path("works")});
  REQUIRE(said.exit_code == 0);
  CHECK(RunCaldera({"validate", "-f", folder.Path("jobs")}).exit_code == 0);
  const std::string work = ReadAll(folder.Path("works/hpc.ocean.oregon.yaml"));
  CHECK(Has(work, "kind: Work"));
  CHECK(Has(work, "namespace: karmada-es-oregon"));
  CHECK(Has(ReadAll(folder.Path("jobs/hpc.ocean.oregon.yaml")), "CALDERA_CLUSTER"));
}

}  // namespace
}  // namespace caldera::test
