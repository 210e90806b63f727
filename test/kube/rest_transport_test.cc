#include "controller/kube/rest_transport.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "controller/kube/client.h"
#include "test/kube/live_world.h"
#include "test/kube/script_server.h"
#include "test/kube/temp_folder.h"

namespace caldera {
namespace {

Result<HttpResponse> Fine(const HttpRequest& /*request*/) {
  return FakeTransport::Response(200, "{}");
}

constexpr const char* kFine = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}";

TEST_CASE("rest transport carries a request and its answer unchanged") {
  LiveWorld world;
  const auto server = world.Serve();
  const auto transport = world.Connect(LiveWorld::ConfigOf(server->url()));
  HttpRequest request = Request("PATCH", "/api/v1/namespaces/a/jobs/x%2Fy", "{\"a\":\"\xc3\xa9\"}");
  request.query = {{"fieldSelector", "a=b,c!=d e&f+%"}, {"limit", "5"}, {"x", ""}};
  request.headers = {{"content-type", "application/merge-patch+json"},
                     {"accept", "application/json"}};
  HttpRequest seen;
  const auto response = world.Call(*transport, request, [&seen](const HttpRequest& got) {
    seen = got;
    return HttpResponse{409, {{"Retry-After", "3"}, {"content-type", "text/odd"}}, "why"};
  });
  REQUIRE_MESSAGE(response.has_value(), response.error().message);
  CHECK(seen.method == "PATCH");
  CHECK(seen.path == request.path);
  CHECK(seen.query == request.query);
  CHECK(seen.body == request.body);
  CHECK(seen.headers["content-type"] == "application/merge-patch+json");
  CHECK(seen.headers["accept"] == "application/json");
  CHECK(seen.headers["user-agent"] == "caldera");
  CHECK_FALSE(seen.headers.contains("authorization"));
  CHECK(response->status == 409);
  CHECK(response->body == "why");
  CHECK(response->headers.at("retry-after") == "3");
}

TEST_CASE("rest transport keeps the path of the server and reuses connections") {
  LiveWorld world;
  const auto server = world.Serve();
  const auto transport = world.Connect(LiveWorld::ConfigOf(server->url() + "/k8s/clusters/c-1"));
  std::vector<std::string> paths;
  for (const char* method : {"GET", "POST", "PUT", "DELETE", "GET"}) {
    const bool body = std::string(method) != "GET";
    const auto response = world.Call(
        *transport, Request(method, "/api/v1/a", body ? std::string(1'500'000, 'b') : ""),
        [&](const HttpRequest& got) {
          paths.push_back(got.method + " " + got.path + " " + std::to_string(got.body.size()));
          return FakeTransport::Response(201, std::string(3'000'000, 'a'));
        });
    REQUIRE_MESSAGE(response.has_value(), response.error().message);
    CHECK(response->body.size() == 3'000'000);
  }
  CHECK(paths == std::vector<std::string>{"GET /k8s/clusters/c-1/api/v1/a 0",
                                          "POST /k8s/clusters/c-1/api/v1/a 1500000",
                                          "PUT /k8s/clusters/c-1/api/v1/a 1500000",
                                          "DELETE /k8s/clusters/c-1/api/v1/a 1500000",
                                          "GET /k8s/clusters/c-1/api/v1/a 0"});
  // The library puts a connection back a moment after it told the answer: a fast next request may
  // open another one, not each of them.
  CHECK(server->connections() < paths.size());
}

TEST_CASE("rest transport tells failures that stay from those that pass") {
  LiveWorld world;
  const auto server = world.Serve();
  const ScriptServer rude([](ScriptServer::Peer& peer) {
    peer.ReadRequest();
    peer.Reset();
  });
  struct Row {
    const char* what;
    RestConfig config;
    ErrorCode code;
    const char* text;
  };
  std::vector<Row> rows;
  const auto add = [&rows](const char* what, RestConfig config, ErrorCode code, const char* text) {
    rows.push_back({what, std::move(config), code, text});
  };
  RestConfig config = LiveWorld::ConfigOf(server->url());
  config.ca_pem = ForeignCertificates().ca;
  add("wrong CA", config, ErrorCode::kInvalid, "certificate verify failed");
  config.ca_pem = "";
  add("no CA", config, ErrorCode::kInvalid, "certificate verify failed");
  config = LiveWorld::ConfigOf(server->url());
  config.cert_pem = config.key_pem = "";
  add("no client certificate", config, ErrorCode::kInvalid, "certificate required");
  config.cert_pem = ForeignCertificates().client_cert;
  config.key_pem = ForeignCertificates().client_key;
  add("foreign client certificate", config, ErrorCode::kInvalid, "unknown ca");
  config = LiveWorld::ConfigOf("https://127.0.0.1:1");
  add("refused", config, ErrorCode::kUnavailable, "https://127.0.0.1:1: Failed to connect");
  config = LiveWorld::ConfigOf("https://nowhere.invalid:1");
  add("no such name", config, ErrorCode::kUnavailable, "Error resolving address");
  config = LiveWorld::ConfigOf("http" + server->url().substr(5));
  add("no TLS", config, ErrorCode::kUnavailable, "status line");
  config = LiveWorld::ConfigOf(rude.url());
  add("reset", config, ErrorCode::kUnavailable, "Connection reset by peer");
  for (const Row& row : rows) {
    CAPTURE(row.what);
    const auto transport = world.Connect(row.config);
    const auto response = world.Call(*transport, Request("GET", "/a"), Fine);
    REQUIRE_FALSE(response.has_value());
    CAPTURE(response.error().message);
    CHECK(response.error().code == row.code);
    CHECK(response.error().message.find(row.text) != std::string::npos);
  }
  config = LiveWorld::ConfigOf(server->url());
  config.ca_pem = "";
  config.insecure = true;
  CHECK(world.Call(*world.Connect(config), Request("GET", "/a"), Fine).has_value());
}

TEST_CASE("rest transport refuses a configuration that cannot work") {
  LiveWorld world;
  const auto error_of = [&world](const RestConfig& config) {
    const auto made = RestTransport::Create(config, world.executor, {});
    return made ? std::string("none") : made.error().message;
  };
  RestConfig config = LiveWorld::ConfigOf("https://127.0.0.1:1");
  CHECK(error_of(config) == "none");
  config.key_pem = ForeignCertificates().client_key;
  CHECK(error_of(config).find("does not belong") != std::string::npos);
  for (const char* server :
       {"", "127.0.0.1:1", "ftp://a", "https://", "https://a b", "https://a:b", "https://u@a"}) {
    CAPTURE(server);
    CHECK(error_of(LiveWorld::ConfigOf(server)).find("server") != std::string::npos);
  }
  const auto transport = world.Connect(LiveWorld::ConfigOf("https://127.0.0.1:1"));
  const auto response = world.Call(*transport, Request("GET", "/a b%zz"));
  REQUIRE_FALSE(response.has_value());
  CHECK(response.error().code == ErrorCode::kInvalid);
}

TEST_CASE("rest transport trusts no system root beside the CA of its configuration") {
  LiveWorld world;
  const std::string before = std::getenv("SSL_CERT_FILE");
  CHECK(before == "/dev/null");
  const TempFolder folder;
  setenv("SSL_CERT_FILE", folder.Write("system.crt", TestCertificates().ca).c_str(), 1);
  const auto server = world.Serve();
  RestConfig config = LiveWorld::ConfigOf(server->url());
  config.ca_pem = "";
  // The library has taken the system's in: without a CA of our own it would do.
  CHECK(world.Call(*world.Connect(config), Request("GET", "/a"), Fine).has_value());
  config.ca_pem = ForeignCertificates().ca;
  CHECK_FALSE(world.Call(*world.Connect(config), Request("GET", "/a"), Fine).has_value());
  setenv("SSL_CERT_FILE", before.c_str(), 1);
}

TEST_CASE("rest transport reads a token file again and passes over a broken one") {
  LiveWorld world;
  sandbox::HttpsServerOptions options;
  options.require_client_certificate = false;
  options.token = "second";
  const auto server = world.Serve(options);
  const TempFolder folder;
  RestConfig config;
  config.server = server->url();
  config.ca_pem = TestCertificates().ca;
  config.token_file = folder.Write("token", "first\n");
  const auto transport = world.Connect(config);
  const auto status = [&] {
    const auto response = world.Call(*transport, Request("GET", "/a"), Fine);
    return response ? response->status : 0;
  };
  CHECK(status() == 401);
  folder.Write("token", "second\n");
  CHECK(status() == 200);  // At once: the first one was refused.
  for (const char* broken : {"", "\n", "sec\r\nX-Evil: 1"}) {
    folder.Write("token", broken);
    world.clock.Set(world.clock.Now() + Millis(60'000));
    CHECK(status() == 200);
  }
}

TEST_CASE("rest transport takes rotated certificates once they fit together") {
  LiveWorld world;
  const auto server = world.Serve();
  const TempFolder folder;
  RestConfig config;
  config.server = server->url();
  config.ca_file = folder.Write("ca", TestCertificates().ca);
  config.cert_file = folder.Write("crt", ForeignCertificates().client_cert);
  config.key_file = folder.Write("key", ForeignCertificates().client_key);
  const auto transport = world.Connect(config);
  const auto works = [&] {
    world.clock.Set(world.clock.Now() + Millis(60'000));
    return world.Call(*transport, Request("GET", "/a"), Fine).has_value();
  };
  CHECK_FALSE(works());
  folder.Write("crt", TestCertificates().client_cert);
  CHECK_FALSE(works());  // Half of the pair is still the old one.
  folder.Write("key", TestCertificates().client_key);
  CHECK(works());
  folder.Write("crt", "being written");
  server->DropConnections();
  // The first call may meet the connection that was dropped.
  CHECK((works() || works()));
  folder.Write("ca", ForeignCertificates().ca);
  folder.Write("crt", TestCertificates().client_cert);
  server->DropConnections();
  CHECK_FALSE((works() && works()));
}

TEST_CASE("rest transport gives up on a server that says nothing") {
  LiveWorld world;
  const ScriptServer silent([](ScriptServer::Peer& peer) {
    peer.ReadRequest();
    peer.WaitForEnd();
  });
  RestTransportOptions options;
  options.request_timeout = Millis(100);
  const auto transport = world.Connect(LiveWorld::ConfigOf(silent.url()), options);
  const auto response = world.Call(*transport, Request("GET", "/a"));
  REQUIRE_FALSE(response.has_value());
  CHECK(response.error().code == ErrorCode::kUnavailable);
  CHECK(response.error().message.find("Connection timed out") != std::string::npos);
}

TEST_CASE("client writes over an idle connection that the server has closed") {
  LiveWorld world;
  std::atomic<int> closed{0};
  ScriptServer server([&closed](ScriptServer::Peer& peer) {
    if (!peer.ReadRequest().empty()) {
      peer.Write(kFine);
      peer.Cut();
    }
    ++closed;
  });
  const auto transport = world.Connect(LiveWorld::ConfigOf(server.url()));
  Client client(*transport, world.executor, {});
  int written = 0;
  for (int i = 1; i <= 3; ++i) {
    std::optional<Result<Value>> result;
    client.Patch({&resource::Jobs(), "a", "b"}, PatchKind::kMerge, Value(Value::Map{}), "",
                 [&result](Result<Value> r) { result = std::move(r); });
    REQUIRE(world.Until([&] {
      world.clock.Set(world.clock.Now() + Millis(1));  // Its second try waits for a backoff.
      return result.has_value();
    }));
    CAPTURE(result->has_value() ? "" : result->error().message);
    written += result->has_value() ? 1 : 0;
    REQUIRE(world.Until([&closed, &server] { return closed == server.connections(); }));
  }
  CHECK(written == 3);
  CHECK(server.connections() >= 3);
}

TEST_CASE("rest transport is gone at once with hanging requests and open streams") {
  LiveWorld world;
  const auto server = world.Serve();
  auto transport = world.Connect(LiveWorld::ConfigOf(server->url()));
  std::vector<StreamLog> logs(8);
  int answered = 0;
  for (StreamLog& log : logs) {
    HttpRequest watch = Request("GET", "/w");
    watch.query = {{"watch", "true"}};
    transport->OpenStream(watch, log.Handlers());
    transport->Send(Request("POST", "/hang", "{}"), [&answered](const auto& response) {
      CHECK_FALSE(response.has_value());
      ++answered;
    });
  }
  REQUIRE(world.Until([&] { return world.backend.sent.size() == 16; }));
  for (const auto& exchange : world.backend.sent) {
    if (exchange.stream % 2 == 1) {  // Half of the watches have their head.
      world.backend.Respond(exchange.stream, FakeTransport::Response(200, ""));
      world.backend.Line(exchange.stream, "{}");
    }
  }
  REQUIRE(world.Until([&] {
    return std::count_if(logs.begin(), logs.end(),
                         [](const StreamLog& log) { return log.lines.size() == 1; }) == 4;
  }));
  const auto start = std::chrono::steady_clock::now();
  transport.reset();
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(1));
  CHECK(world.Until([&] { return answered == 8 && world.backend.open_streams() == 0; }));
  for (const StreamLog& log : logs) {
    CHECK_FALSE(log.end.has_value());
  }
}

}  // namespace
}  // namespace caldera
