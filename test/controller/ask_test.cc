// Questions about a ledger, put to its file and to a controller's endpoint.
#include "controller/cli/ask.h"

#include <doctest/doctest.h>

#include <sstream>
#include <thread>

#include "controller/run/http_endpoints.h"
#include "controller/run/ledger_endpoint.h"
#include "federation/explain.h"
#include "test/storage/scene.h"

namespace caldera::testing {
namespace {

bool Has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// `train` runs on east with two pods and `wide` waits for room.
void Fill(Scene& scene) {
  scene.fed.AddQueue("gold").AddCluster("east", "cpu=8 memory=64Gi pods=100");
  scene.fed.AddJob("team-a/train", "gold", 2, "cpu=2");
  scene.Record();
  scene.fed.AddJob("team-a/wide", "gold", 3, "cpu=2");
  scene.Record(ExplainPending(scene.fed.state));
}

Asker AskerFor(const Scene& scene, std::vector<std::string> arguments) {
  Asker asker;
  asker.arguments = std::move(arguments);
  asker.served = scene.path;
  return asker;
}

/// A controller's endpoint over the scene's ledger.
class Server {
 public:
  explicit Server(const Scene& scene)
      : endpoint_([&scene](LedgerQuestionAsked question) {
          Asker asker = AskerFor(scene, std::move(question.arguments));
          asker.terminal = {question.colour, question.width};
          asker.limits = std::move(question.limits);
          asker.phases = [](const std::string& /*uid*/) {
            return ShardPhases{{{"east", ""}, "Running"}};
          };
          return AnswerQuestion(std::move(asker)).map([](Printed&& printed) {
            return LedgerAnswer{std::move(printed.text), printed.exit_code};
          });
        }) {
    EndpointHandlers handlers;
    handlers.now = [](const EndpointRequest&) { return EndpointAnswer{404, "text/plain", "no"}; };
    handlers.is_aside = [](const std::string& path) { return path == "/ledger"; };
    handlers.aside = [this](const EndpointRequest& request) { return endpoint_.Answer(request); };
    endpoints_ = Must(HttpEndpoints::Start("127.0.0.1", 0, executor_, std::move(handlers)));
    thread_ = std::thread([this] { executor_.Run(); });
  }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  ~Server() {
    executor_.Stop();
    thread_.join();
  }
  [[nodiscard]] std::string url() const {
    return "http://127.0.0.1:" + std::to_string(endpoints_->port());
  }

 private:
  SystemClock clock_;
  Executor executor_{clock_};
  LedgerEndpoint endpoint_;
  std::unique_ptr<HttpEndpoints> endpoints_;
  std::thread thread_;
};

}  // namespace

TEST_CASE("a waiting job is explained with its clusters and the change that would place it") {
  Scene scene;
  Fill(scene);
  const auto text = AnswerQuestion(AskerFor(scene, {"explain", "team-a/wide"}));
  REQUIRE(text.has_value());
  CHECK(Has(text->text, "InsufficientResources"));
  CHECK(Has(text->text, "east"));
  CHECK(Has(text->text, "WOULD BE PLACED IF\n  Cluster/east"));
  const auto json = AnswerQuestion(AskerFor(scene, {"explain", "team-a/wide", "-o", "json"}));
  REQUIRE(json.has_value());
  CHECK(Has(json->text, "\"wouldFitIf\":[{\"object\":\"Cluster/east\""));
  const auto placed = AnswerQuestion(AskerFor(scene, {"explain", "train"}));
  REQUIRE(placed.has_value());
  CHECK(!Has(placed->text, "WOULD BE PLACED IF"));
}

TEST_CASE("a job shows its shards and the logs line of each pod") {
  Scene scene;
  Fill(scene);
  const auto text = AnswerQuestion(AskerFor(scene, {"job", "train"}));
  REQUIRE(text.has_value());
  CHECK(Has(text->text, "CLUSTER"));
  const std::string task = scene.fed.state.job(scene.fed.state.FindJob({"team-a", "train"}))
                               .charge->shards.front()
                               .tasks.front()
                               .name;
  for (const std::string index : {"0", "1"}) {
    CHECK(Has(text->text, "karmadactl logs train-" + task + "-" + index + " -n team-a -C east\n"));
  }
  CHECK(!Has(text->text, "train-" + task + "-2 "));
  const auto waits = AnswerQuestion(AskerFor(scene, {"job", "wide"}));
  REQUIRE(waits.has_value());
  CHECK(Has(waits->text, "placed nowhere yet"));
}

TEST_CASE("a controller answers with the bytes that its file gives") {
  Scene scene;
  Fill(scene);
  const Server server(scene);
  for (const std::vector<std::string>& question :
       {std::vector<std::string>{"ledger", "queues"},
        {"ledger", "jobs", "-o", "json"},
        {"ledger", "sql", "SELECT 'a=b&c', 'gr\xC3\xBC\xC3\x9F', 1 + 1 AS n", "-o", "csv"},
        {"ledger", "check"},
        {"explain", "wide"}}) {
    const auto here = AnswerQuestion(AskerFor(scene, question));
    const auto there = AskServer(server.url() + "/", question, Terminal());
    REQUIRE(here.has_value());
    REQUIRE(there.has_value());
    CHECK(there->text == here->text);
    CHECK(there->exit_code == here->exit_code);
  }
  const auto job = AskServer(server.url(), {"job", "train"}, Terminal{true, 0});
  REQUIRE(job.has_value());
  CHECK(Has(job->text, "Running"));
  CHECK(Has(job->text, "\x1b["));
}

TEST_CASE("what a controller refuses is the error of the command") {
  Scene scene;
  Fill(scene);
  const Server server(scene);
  const auto error_of = [&](const std::vector<std::string>& question) {
    const auto answer = AskServer(server.url(), question, Terminal());
    REQUIRE(!answer.has_value());
    return answer.error();
  };
  CHECK(error_of({"ledger", "job", "nobody"}).code == ErrorCode::kNotFound);
  CHECK(Has(error_of({"ledger", "job", "nobody"}).message, "no job `nobody`"));
  CHECK(error_of({"ledger", "sql", "DELETE FROM jobs"}).code == ErrorCode::kInvalid);
  CHECK(Has(error_of({"ledger", "backup", "/tmp/x"}).message, "written where the ledger is"));
  CHECK(error_of({"plan", "-f", "/etc"}).code == ErrorCode::kInvalid);
  CHECK(error_of({"ledger", "--ledger", "/etc/passwd", "nonsense"}).code == ErrorCode::kInvalid);
  CHECK(error_of({}).code == ErrorCode::kInvalid);
  // The file of the controller, whatever is asked for.
  CHECK(AskServer(server.url(), {"ledger", "queues", "--ledger", "/etc/passwd"}, Terminal())
            .has_value());
}

TEST_CASE("no controller and no URL are clear errors") {
  const auto nobody = AskServer("http://127.0.0.1:1", {"ledger", "queues"}, Terminal());
  REQUIRE(!nobody.has_value());
  CHECK(nobody.error().code == ErrorCode::kUnavailable);
  CHECK(Has(nobody.error().message, "--server http://127.0.0.1:1"));
  const auto wrong = AskServer("127.0.0.1:8080", {"ledger", "queues"}, Terminal());
  REQUIRE(!wrong.has_value());
  CHECK(wrong.error().code == ErrorCode::kInvalid);
}

TEST_CASE("a question has limits of time rows and bytes") {
  Scene scene;
  Fill(scene);
  const std::string endless =
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT ";
  Asker asker = AskerFor(scene, {"ledger", "sql", endless + "count(*) FROM n"});
  int asked = 0;
  asker.limits.give_up = [&asked] { return ++asked > 3; };
  const auto slow = AnswerQuestion(asker);
  REQUIRE(!slow.has_value());
  CHECK(slow.error().code == ErrorCode::kUnavailable);
  CHECK(Has(slow.error().message, "took too long"));

  asker = AskerFor(scene, {"ledger", "sql", endless + "i FROM n"});
  asker.limits.rows = 10;
  const auto many = AnswerQuestion(asker);
  REQUIRE(!many.has_value());
  CHECK(Has(many.error().message, "more than 10 rows"));

  asker = AskerFor(scene, {"ledger", "sql", endless + "hex(zeroblob(400)) FROM n"});
  asker.limits.bytes = 1'000;
  const auto large = AnswerQuestion(asker);
  REQUIRE(!large.has_value());
  CHECK(Has(large.error().message, "more than 1000 bytes"));

  asker = AskerFor(scene, {"ledger", "sql", "SELECT zeroblob(100000)"});
  asker.limits.bytes = 1'000;
  CHECK(!AnswerQuestion(asker).has_value());
}

TEST_CASE("an option wins over the environment and two are a mistake") {
  Scene scene;
  Fill(scene);
  std::ostringstream out;
  Asker asker;
  asker.out = &out;
  asker.failure = std::make_shared<Error>();
  asker.server = "http://127.0.0.1:1";
  const AnswerFrom answer = [](const LedgerReader& /*reader*/, const std::string& path) {
    return Result<Printed>(Printed{path, 0});
  };
  asker.arguments = {"ledger", "--ledger", scene.path, "queues"};
  CHECK(Ask(asker, {scene.path, ""}, "ledger queues", answer) == 0);
  CHECK(out.str() == scene.path);
  CHECK(Ask(asker, {scene.path, "http://127.0.0.1:2"}, "ledger queues", answer) == 2);
  CHECK(Has(asker.failure->message, "give one of them"));
  asker.arguments = {"ledger", "queues"};
  CHECK(Ask(asker, {scene.path, ""}, "ledger queues", answer) == 2);
  CHECK(Has(asker.failure->message, "http://127.0.0.1:1"));
  asker.server = "";
  CHECK(Ask(asker, {"", ""}, "ledger queues", answer) == 2);
  CHECK(Has(asker.failure->message, "CALDERA_SERVER"));
}

}  // namespace caldera::testing
