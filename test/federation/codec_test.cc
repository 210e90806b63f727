// The canonical text: exact bytes (ledgers hold them), the way back, and hostile text.
#include "federation/codec.h"

#include <doctest/doctest.h>

#include <string>

#include "federation/codec_fields.h"

namespace caldera {
namespace {

/// Encodes, compares with `text`, decodes, encodes again.
void CheckText(const Change& change, const std::string& text) {
  CHECK(EncodeChange(change) == text);
  const Result<Change> back = DecodeChange(text);
  REQUIRE_MESSAGE(back.has_value(), back.error().message);
  CHECK(back->index() == change.index());
  CHECK(EncodeChange(*back) == text);
}

void CheckComplaint(const std::string& text, const std::string& part) {
  const Result<Change> change = DecodeChange(text);
  REQUIRE_MESSAGE(!change.has_value(), text);
  CHECK(change.error().code == ErrorCode::kCorrupt);
  CHECK_MESSAGE(change.error().message.find(part) != std::string::npos, change.error().message);
}

Job RichJob() {
  Job job;
  job.key = {"team-a", "train"};
  job.uid = "u1";
  job.creation = Time(Millis(1'000));
  job.queue = "gold";
  job.min_available = 2;
  Task task;
  task.name = "worker";
  task.replicas = 3;
  task.min_available = 2;
  task.request = {{"cpu", 1500}, {"pods", 1}};
  task.nodes.selector = {{"zone", "a\"b"}};
  task.nodes.has_affinity = true;
  task.nodes.terms.push_back({{{"arch", "In", {"arm64", "amd64"}}}, {}});
  task.nodes.tolerations.push_back({"gpu", "Exists", "", ""});
  task.partition.topology.highest_tier = 0;
  job.tasks = {task};
  job.running_estimate = Millis(0);
  job.placement = {{"east", 2, "", {{"worker", 3, 2}}, 2, {{"cpu", 4500}}}};
  return job;
}

TEST_CASE("codec: the text of changes is compact and stable") {
  CheckText(ClockSet{Time(Millis(1'764'576'000'123))},
            R"({"change":"ClockSet","now":1764576000123})");
  CheckText(ClockSet{}, R"({"change":"ClockSet"})");
  CheckText(SettingsSet{}, R"({"change":"SettingsSet"})");
  CheckText(SettingsSet{{Millis(5), Millis(-7)}},
            R"({"change":"SettingsSet","settings":{"summaryPeriod":5,"clusterLostAfter":-7}})");
  Queue queue;
  queue.name = "gold";
  queue.parent = "root";
  queue.capability = {{"nvidia.com/gpu", 0}, {"cpu", kUnlimited}};
  queue.reclaimable = false;
  queue.dequeue_strategy = DequeueStrategy::kFifo;
  queue.state = QueueState::kClosing;
  CheckText(QueueUpsert{queue},
            R"({"change":"QueueUpsert","queue":{"name":"gold","parent":"root","capability":)"
            R"({"cpu":9223372036854775807,"nvidia.com/gpu":0},"reclaimable":false,)"
            R"("dequeueStrategy":"fifo","state":"Closing"}})");
  TenantQuota quota;
  quota.tenant = "team-a";
  quota.name = "q";
  quota.per_cluster = {{"east", {}}, {"west", {{"cpu", -1}}}};
  CheckText(TenantQuotaUpsert{quota},
            R"({"change":"TenantQuotaUpsert","quota":{"tenant":"team-a","name":"q",)"
            R"("perCluster":{"east":{},"west":{"cpu":-1}}}})");
  CheckText(PodDelete{"east", "ns", "p"},
            R"({"change":"PodDelete","cluster":"east","namespace":"ns","name":"p"})");
  CheckText(JobDelete{{"ns", "j"}, "u"},
            R"({"change":"JobDelete","key":{"namespace":"ns","name":"j"},"uid":"u"})");
  CheckText(Released{{"ns", "j"}, ""},
            R"({"change":"Released","key":{"namespace":"ns","name":"j"}})");
}

TEST_CASE("codec: a job with everything nested in it") {
  CheckText(
      JobUpsert{RichJob()},
      R"({"change":"JobUpsert","job":{"key":{"namespace":"team-a","name":"train"},"uid":"u1",)"
      R"("creation":1000,"queue":"gold","minAvailable":2,"tasks":[{"name":"worker",)"
      R"("replicas":3,"minAvailable":2,"request":{"cpu":1500,"pods":1},"nodes":{"selector":)"
      R"({"zone":"a\"b"},"hasAffinity":true,"terms":[{"expressions":[{"key":"arch",)"
      R"("op":"In","values":["arm64","amd64"]}]}],"tolerations":[{"key":"gpu","op":"Exists"}]},)"
      R"("partition":{"topology":{"highestTier":0}}}],"runningEstimate":0,"placement":)"
      R"([{"cluster":"east","epoch":2,"tasks":[{"name":"worker","replicas":3,)"
      R"("minAvailable":2}],"minAvailable":2,"requests":{"cpu":4500}}]}})");
}

TEST_CASE("codec: a plan goes there and back") {
  Plan plan;
  plan.now = Time(Millis(7));
  Action action;
  action.rank = 1;
  action.job = {"ns", "j"};
  action.kind = JobKind::kHyperJob;
  action.action = ActionKind::kShrink;
  action.topology_unchecked = true;
  action.shards = RichJob().placement;
  action.reason = "first \xc3\xa9\n";
  plan.actions = {action, {}};
  const std::string text = EncodePlan(plan);
  CHECK(text ==
        R"({"now":7,"actions":[{"rank":1,"job":{"namespace":"ns","name":"j"},"kind":"HyperJob",)"
        R"("action":"Shrink","topologyUnchecked":true,"shards":[{"cluster":"east","epoch":2,)"
        R"("tasks":[{"name":"worker","replicas":3,"minAvailable":2}],"minAvailable":2,)"
        R"("requests":{"cpu":4500}}],"reason":"first )"
        "\xc3\xa9"
        R"(\n"},{}]})");
  const Result<Plan> back = DecodePlan(text);
  REQUIRE(back.has_value());
  CHECK(codec::Same(*back, plan));
  CHECK(EncodePlan({}) == "{}");
}

TEST_CASE("codec: fields in any order and with spaces are read the same") {
  const Result<Change> change = DecodeChange(R"( { "name" : "gold" , "change" : "QueueDelete" } )");
  REQUIRE(change.has_value());
  CHECK(EncodeChange(*change) == R"({"change":"QueueDelete","name":"gold"})");
}

TEST_CASE("codec: what is wrong is named with its place") {
  CheckComplaint("", "no JSON at byte 0");
  CheckComplaint("{", "no JSON");
  CheckComplaint("[]", "expected an object, found a list");
  CheckComplaint("{}", "`change` is missing");
  CheckComplaint(R"({"change":1})", "change: expected a name, found a number");
  CheckComplaint(R"({"change":"Nothing"})", "change: `Nothing` is no kind of change");
  CheckComplaint(R"({"change":"ClockSet","change":"ClockSet"})", "unknown field");
  CheckComplaint(R"({"change":"ClockSet","now":1.5})", "ClockSet.now: expected a whole number");
  CheckComplaint(R"({"change":"ClockSet","now":18446744073709551616})", "whole number of 64 bits");
  CheckComplaint(R"({"change":"QueueUpsert","queue":{"weight":2147483648}})",
                 "QueueUpsert.queue.weight: 2147483648 is outside of");
  CheckComplaint(R"({"change":"QueueUpsert","queue":{"weight":1,"weight":1}})",
                 "queue.weight: the field stands twice");
  CheckComplaint(R"({"change":"QueueUpsert","queue":{"state":"Ajar"}})",
                 "queue.state: `Ajar` is none of Open, Closing, Closed, Unknown");
  CheckComplaint(R"({"change":"QueueUpsert","queue":{"capability":[]}})",
                 "queue.capability: expected an object, found a list");
  CheckComplaint(R"({"change":"QueueUpsert","queue":{"capability":{"cpu":1,"cpu":2}}})",
                 "capability: the key `cpu` stands twice");
  CheckComplaint(R"({"change":"QueueUpsert","queue":{"capability":{"cpu":"1"}}})",
                 "capability.cpu: expected a whole number, found a string");
  CheckComplaint(R"({"change":"JobUpsert","job":{"tasks":[{},{"replicas":true}]}})",
                 "JobUpsert.job.tasks[1].replicas: expected a whole number, found a boolean");
  CheckComplaint(R"({"change":"QueueDelete","nome":"x"})", "QueueDelete.nome: unknown field");
  CheckComplaint("{\"change\":\"QueueDelete\",\"name\":\"\xff\"}", "no JSON");
  CheckComplaint(R"({"change":"QueueDelete"}x)", "no JSON");
}

TEST_CASE("codec: hostile depth and size end in an error") {
  std::string lists;
  lists.resize(10'000'000, '[');
  CheckComplaint(lists, "nested deeper than 32 levels");
  std::string pairs;
  for (int i = 0; i < 100'000; ++i) {
    pairs += R"({"a":)";
  }
  CheckComplaint(pairs, "nested deeper");
  CheckComplaint(R"({"change":")" + std::string(1'000'000, 'x') + "\"}", "...` is no kind");
  CheckComplaint(R"({"change":"JobUpsert",")" + std::string(1'000'000, 'k') + "\":1}",
                 "...: unknown field");
}

TEST_CASE("codec: placement goes there and back without requests") {
  std::vector<Shard> shards = RichJob().placement;
  shards.push_back({"west", 1, "ps-0", {{"b", 1, 0}, {"a", 0, 0}}, 0, {}});
  const std::string text = EncodePlacement(shards);
  CHECK(text ==
        R"([{"cluster":"east","epoch":2,"tasks":{"worker":{"replicas":3,"minAvailable":2}},)"
        R"("minAvailable":2},{"cluster":"west","epoch":1,"child":"ps-0","tasks":{"b":)"
        R"({"replicas":1,"minAvailable":0},"a":{"replicas":0,"minAvailable":0}},)"
        R"("minAvailable":0}])");
  shards.front().requests.clear();
  const auto back = DecodePlacement(text);
  REQUIRE(back.has_value());
  CHECK(*back == shards);
  CHECK(DecodePlacement("[]").value().empty());
}

TEST_CASE("codec: a placement written by hand gets what it leaves out") {
  const auto shards = DecodePlacement(
      R"([{"cluster":"east","tasks":{"w":{"replicas":4},"x":{"replicas":2,"minAvailable":1}}}])");
  REQUIRE(shards.has_value());
  CHECK(*shards == std::vector<Shard>{{"east", 1, "", {{"w", 4, 4}, {"x", 2, 1}}, 5, {}}});
}

TEST_CASE("codec: a wrong placement says what is wrong where") {
  const auto wrong = [](const std::string& text, const std::string& message) {
    const auto shards = DecodePlacement(text);
    REQUIRE_MESSAGE(!shards.has_value(), text);
    CHECK(shards.error().code == ErrorCode::kInvalid);
    CHECK(shards.error().message == message);
  };
  wrong("{}", "expected a list of shards, found an object");
  wrong("[1]", "[0]: expected an object, found a number");
  wrong(R"([{"tasks":{}}])", "[0]: `cluster` is missing or empty");
  wrong(R"([{"cluster":"e"}])", "[0]: `tasks` is missing");
  wrong(R"([{"cluster":"e","epoch":0,"tasks":{}}])",
        "[0].epoch: 0 is no epoch: it is a number from 1 to 1000000000");
  wrong(R"([{"cluster":"e","cluster":"f"}])", "[0].cluster: the field stands twice");
  wrong(R"([{"cluster":"e","tasks":{"w":{"replicas":-1}}}])",
        "[0].tasks.w.replicas: -1 is negative");
  wrong(R"([{"cluster":"e","tasks":{"w":{}}}])", "[0].tasks.w: `replicas` is missing");
  wrong(R"([{"cluster":"e","tasks":{"w":{"replicas":1,"minAvailable":2}}}])",
        "[0].tasks.w: minAvailable 2 is more than replicas 1");
  wrong(R"([{"cluster":"e","tasks":{"w":{"replicas":1}},"minAvailable":2}])",
        "[0]: minAvailable 2 is more than the 1 replicas of the shard");
  wrong(R"([{"cluster":"e","tasks":{"w":{"replicas":1},"w":{"replicas":1}}}])",
        "[0].tasks: the task `w` stands twice");
  wrong(R"([{"cluster":"e","tasks":{}},{"cluster":"e","tasks":{}}])",
        "[1]: the cluster `e` stands twice");
  wrong(R"([{"cluster":"e","tasks":{},"epic":1}])",
        "[0].epic: unknown field; there are cluster, epoch, child, tasks, minAvailable");
  wrong(R"([{"cluster":"e","tasks":{"a":{"replicas":2147483647},"b":{"replicas":1}}}])",
        "[0]: more than 2147483647 replicas in all");
}

TEST_CASE("codec: digests") {
  CHECK(Digest("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(Digest("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  const std::string cycle = CycleDigest("p", {ClockSet{Time(Millis(1))}}, {});
  CHECK(cycle == Digest("1:p1:129:{\"change\":\"ClockSet\",\"now\":1}2:{}"));
  // The parts cannot run into each other.
  CHECK(CycleDigest("", {QueueDelete{"a"}, QueueDelete{"b"}}, {}) !=
        CycleDigest("", {QueueDelete{"b"}, QueueDelete{"a"}}, {}));
  CHECK(CycleDigest("1", std::vector<Change>{}, Plan{}) !=
        CycleDigest("", std::vector<Change>{}, Plan{}));
}

}  // namespace
}  // namespace caldera
