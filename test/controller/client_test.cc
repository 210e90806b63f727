#include "controller/kube/client.h"

#include <doctest/doctest.h>

#include <optional>
#include <string>

#include "test/controller/fake_transport.h"

namespace caldera {
namespace {

struct World {
  ManualClock clock{Time(Millis(1'700'000'000'000))};
  Executor executor{clock};
  FakeTransport transport{executor};
  std::optional<Client> client;
  std::optional<Result<Value>> answer;

  explicit World(const ClientOptions& options = {}) {
    client.emplace(transport, executor, options);
  }
  void Get() {
    client->Get({&resource::Jobs(), "team a", "j/1"}, [this](Result<Value> r) { answer = r; });
  }
  void Reply(int status, const std::string& body, const std::string& retry_after = "") {
    auto exchange = transport.Take();
    HttpResponse response = FakeTransport::Response(status, body);
    if (!retry_after.empty()) {
      response.headers["retry-after"] = retry_after;
    }
    exchange.done(response);
    executor.RunDue();
  }
  void Break() {
    transport.Take().done(Fail(ErrorCode::kUnavailable, "connection reset"));
    executor.RunDue();
  }
  void Pass(Millis time) {
    clock.Set(clock.Now() + time);
    executor.RunDue();
  }
};

TEST_CASE("client builds encoded paths under its base path") {
  ClientOptions options;
  options.base_path = "/apis/cluster.karmada.io/v1alpha1/clusters/m1/proxy";
  World world(options);
  world.Get();
  CHECK(world.transport.sent.front().request.path ==
        "/apis/cluster.karmada.io/v1alpha1/clusters/m1/proxy/apis/batch.volcano.sh/v1alpha1/"
        "namespaces/team%20a/jobs/j%2F1");
  CHECK(resource::Nodes().Path("", "n1", "status") == "/api/v1/nodes/n1/status");
}

TEST_CASE("client tells errors apart by what the caller does about them") {
  struct Row {
    int status;
    ErrorCode code;
  };
  for (const Row& row : {Row{404, ErrorCode::kNotFound}, Row{409, ErrorCode::kConflict},
                         Row{410, ErrorCode::kExpired}, Row{422, ErrorCode::kInvalid},
                         Row{403, ErrorCode::kInvalid}, Row{413, ErrorCode::kInvalid}}) {
    CAPTURE(row.status);
    World world;
    world.Get();
    world.Reply(row.status, R"({"kind":"Status","message":"what the server says"})");
    REQUIRE(world.answer.has_value());
    REQUIRE_FALSE(world.answer->has_value());
    CHECK(world.answer->error().code == row.code);
    CHECK(world.answer->error().message.find("what the server says") != std::string::npos);
    CHECK(world.transport.sent.empty());
  }
}

TEST_CASE("client repeats what may pass and waits as the server asks") {
  World world;
  world.Get();
  world.Reply(429, "{}", "3");
  CHECK(world.transport.sent.empty());
  world.Pass(Millis(2900));
  CHECK(world.transport.sent.empty());
  world.Pass(Millis(300));
  REQUIRE(world.transport.sent.size() == 1);
  world.Reply(503, "{}", "Tue, 14 Nov 2023 22:13:33 GMT");  // 9.8 seconds from here
  world.Pass(Millis(9000));
  CHECK(world.transport.sent.empty());
  world.Pass(Millis(1000));
  REQUIRE(world.transport.sent.size() == 1);
  world.Reply(200, R"({"kind":"Job"})");
  REQUIRE(world.answer.has_value());
  CHECK(world.answer->has_value());
}

TEST_CASE("client asks again who it is by the credentials of then") {
  World world;
  world.Get();
  world.Reply(401, R"({"message":"Unauthorized"})");
  CHECK(!world.answer.has_value());
  world.Pass(Millis(1'000));
  REQUIRE(world.transport.sent.size() == 1);
  world.Reply(200, R"({"kind":"Job"})");
  REQUIRE(world.answer.has_value());
  CHECK(world.answer->has_value());
}

TEST_CASE("client never repeats what is too large and gives up after its attempts") {
  World large;
  large.Get();
  large.Reply(500, R"({"message":"etcdserver: request is too large"})");
  REQUIRE(large.answer.has_value());
  CHECK(large.answer->error().code == ErrorCode::kInvalid);

  World broken;
  broken.Get();
  for (int attempt = 0; attempt < ClientOptions{}.max_attempts; ++attempt) {
    REQUIRE_FALSE(broken.answer.has_value());
    REQUIRE(broken.transport.sent.size() == 1);
    broken.Break();
    broken.Pass(Millis(10'000));
  }
  REQUIRE(broken.answer.has_value());
  CHECK(broken.answer->error().code == ErrorCode::kUnavailable);
}

TEST_CASE("client resends at once where an idle connection had been closed") {
  World world;
  world.client->Patch({&resource::Jobs(), "a", "j"}, PatchKind::kMerge, Value(Value::Map{}),
                      "status", [&](Result<Value> r) { world.answer = r; });
  world.Break();
  REQUIRE(world.transport.sent.size() == 1);
  CHECK(world.transport.sent.front().request.method == "PATCH");
  CHECK(world.transport.sent.front().request.path.ends_with("/jobs/j/status"));
  CHECK(world.transport.sent.front().request.headers.at("content-type") ==
        "application/merge-patch+json");
}

TEST_CASE("client bounds requests in flight and their rate") {
  ClientOptions options;
  options.in_flight = 2;
  options.burst = 3;
  options.requests_per_second = 10;
  World world(options);
  for (int i = 0; i < 5; ++i) {
    world.Get();
  }
  CHECK(world.transport.sent.size() == 2);
  world.Reply(200, "{}");
  CHECK(world.transport.sent.size() == 2);
  world.Reply(200, "{}");
  world.Reply(200, "{}");
  CHECK(world.transport.sent.empty());  // The burst of three is used up.
  world.Pass(Millis(101));
  CHECK(world.transport.sent.size() == 1);
  CHECK(world.client->counts().at({"get", "Job", 200}) == 3);
}

TEST_CASE("client drops what is pending when it goes") {
  World world;
  world.Get();
  world.client.reset();
  world.Reply(200, "{}");
  CHECK_FALSE(world.answer.has_value());
}

TEST_CASE("client deletes with preconditions") {
  World world;
  std::optional<Status> done;
  world.client->Delete({&resource::Works(), "karmada-es-m1", "caldera-u1"},
                       {"u1", "7", "Foreground"}, [&](Status status) { done = status; });
  const auto& request = world.transport.sent.front().request;
  CHECK(request.method == "DELETE");
  CHECK(request.body ==
        R"({"apiVersion":"v1","kind":"DeleteOptions","propagationPolicy":"Foreground",)"
        R"("preconditions":{"uid":"u1","resourceVersion":"7"}})");
  world.Reply(404, "{}");
  REQUIRE(done.has_value());
  CHECK(done->error().code == ErrorCode::kNotFound);
}

}  // namespace
}  // namespace caldera
