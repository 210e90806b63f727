// Client and Reflector over real sockets against the sandbox's API server: what the seams of their
// own tests leave out.
#include <doctest/doctest.h>

#include <map>
#include <optional>
#include <string>

#include "controller/kube/client.h"
#include "controller/kube/reflector.h"
#include "test/kube/live_world.h"
#include "test/sandbox/api_server.h"

namespace caldera {
namespace {

Value QueueObject(const std::string& name, int weight) {
  Value spec(Value::Map{});
  spec.Set("weight", weight);
  Value metadata(Value::Map{});
  metadata.Set("name", name);
  Value queue(Value::Map{});
  queue.Set("apiVersion", "scheduling.volcano.sh/v1beta1");
  queue.Set("kind", "Queue");
  queue.Set("metadata", std::move(metadata));
  queue.Set("spec", std::move(spec));
  return queue;
}

struct ReflectorWorld : LiveWorld {
  sandbox::ApiServer api{executor, Options()};
  std::unique_ptr<sandbox::HttpsServer> server;
  std::unique_ptr<RestTransport> transport;
  std::optional<Client> client;
  std::optional<Reflector> reflector;
  std::map<std::string, int64_t> seen;  // Name to weight.
  int synced = 0;

  static sandbox::ApiServerOptions Options() {
    sandbox::ApiServerOptions options;
    options.name = "karmada";
    options.types = {resource::Queues()};
    return options;
  }
  ReflectorWorld() {
    auto made = sandbox::HttpsServer::Start(api, executor, TestCertificates(), {});
    REQUIRE(made.has_value());
    server = *std::move(made);
    transport = Connect(ConfigOf(server->url()));
    client.emplace(*transport, executor, ClientOptions());
  }
  ReflectorWorld(const ReflectorWorld&) = delete;
  ReflectorWorld& operator=(const ReflectorWorld&) = delete;
  ~ReflectorWorld() {
    reflector.reset();
    client.reset();
    transport.reset();
  }

  void Reflect() {
    ReflectorOptions options;
    options.type = resource::Queues();
    options.page_size = 10;
    ReflectorHandlers handlers;
    handlers.on_upsert = [this](Value&& object) {
      seen[object.At({"metadata", "name"})->AsString()] =
          object.At({"spec", "weight"})->AsInteger();
    };
    handlers.on_delete = [this](const std::string&, const std::string& name, const std::string&) {
      seen.erase(name);
    };
    handlers.on_synced = [this] { ++synced; };
    handlers.on_error = [](const Error&) {};
    reflector.emplace(*client, options, handlers);
    reflector->Start();
  }
  // Real sockets, but backoffs in the test's own time.
  bool Soon(const std::function<bool()>& holds) {
    return Until([&] {
      clock.Set(clock.Now() + Millis(1));
      return holds();
    });
  }
  Result<Value> Wait(const std::function<void(Client::ObjectHandler)>& call) {
    std::optional<Result<Value>> result;
    call([&result](Result<Value> r) { result = std::move(r); });
    REQUIRE(Soon([&result] { return result.has_value(); }));
    return *std::move(result);
  }
  void Create(const std::string& name, int weight) {
    const auto made = Wait([&](Client::ObjectHandler done) {
      client->Create(resource::Queues(), "", QueueObject(name, weight), std::move(done));
    });
    REQUIRE_MESSAGE(made.has_value(), made.error().message);
  }
  void Patch(const std::string& name, int weight) {
    Value spec(Value::Map{});
    spec.Set("weight", weight);
    Value patch(Value::Map{});
    patch.Set("spec", std::move(spec));
    const auto made = Wait([&](Client::ObjectHandler done) {
      client->Patch({&resource::Queues(), "", name}, PatchKind::kMerge, patch, "", std::move(done));
    });
    REQUIRE_MESSAGE(made.has_value(), made.error().message);
  }
  void Delete(const std::string& name) {
    std::optional<Status> result;
    client->Delete({&resource::Queues(), "", name}, {}, [&result](Status s) { result = s; });
    REQUIRE(Soon([&result] { return result.has_value(); }));
    REQUIRE(result->has_value());
  }
};

TEST_CASE("reflector over real sockets follows an API server through its faults") {
  ReflectorWorld world;
  for (int i = 0; i < 25; ++i) {
    world.Create("q" + std::to_string(i), i + 1);
  }
  world.Reflect();
  REQUIRE(world.Soon([&] { return world.synced == 1 && world.seen.size() >= 25; }));
  const size_t whole = world.seen.size();
  CHECK(world.seen["q24"] == 25);

  world.Patch("q3", 77);
  world.Delete("q4");
  REQUIRE(world.Soon([&] { return world.seen["q3"] == 77 && !world.seen.contains("q4"); }));

  world.server->DropConnections();
  world.Create("after-reset", 5);
  CHECK(world.Soon([&] { return world.seen.contains("after-reset"); }));

  // A watch from before what the server remembers: 410, and a list tells what was missed.
  world.api.SetReachable(false);
  world.api.SetReachable(true);
  world.Delete("q5");
  world.api.Compact();
  CHECK(world.Soon([&] { return !world.seen.contains("q5"); }));
  world.Create("after-410", 6);
  CHECK(world.Soon([&] { return world.seen.contains("after-410"); }));
  CHECK(world.seen.size() == whole);
}

TEST_CASE("client over real sockets meets conflicts and absence as typed errors") {
  ReflectorWorld world;
  world.Create("a", 1);
  const auto again = world.Wait([&](Client::ObjectHandler done) {
    world.client->Create(resource::Queues(), "", QueueObject("a", 1), std::move(done));
  });
  REQUIRE_FALSE(again.has_value());
  CHECK(again.error().code == ErrorCode::kConflict);
  const auto none = world.Wait([&](Client::ObjectHandler done) {
    world.client->Get({&resource::Queues(), "", "none"}, std::move(done));
  });
  REQUIRE_FALSE(none.has_value());
  CHECK(none.error().code == ErrorCode::kNotFound);
  world.api.FailNext("GET", 503, 1);
  const auto got = world.Wait([&](Client::ObjectHandler done) {
    world.client->Get({&resource::Queues(), "", "a"}, std::move(done));
  });
  REQUIRE_MESSAGE(got.has_value(), got.error().message);
  CHECK(got->At({"spec", "weight"})->AsInteger() == 1);
}

}  // namespace
}  // namespace caldera
