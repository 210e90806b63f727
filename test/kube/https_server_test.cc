// HttpsServer byte by byte, as no well-behaved client would talk to it.
#include "test/sandbox/https_server.h"

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <netinet/in.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <future>
#include <string>

#include "controller/kube/kubeconfig.h"
#include "test/kube/live_world.h"
#include "test/kube/temp_folder.h"

namespace caldera {
namespace {

// Sends `bytes` without a client certificate and returns all that comes until the server closes.
std::string Exchange(uint16_t port, const std::string& bytes) {
  const int peer = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  std::string answer;
  SSL_CTX* const context = SSL_CTX_new(TLS_client_method());
  SSL* const ssl = SSL_new(context);
  if (connect(peer, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) {
    SSL_set_fd(ssl, peer);
    SSL_connect(ssl);
    SSL_write(ssl, bytes.data(), static_cast<int>(bytes.size()));
    std::array<char, 4096> buffer{};
    for (int size = 1; size > 0;) {
      size = SSL_read(ssl, buffer.data(), static_cast<int>(buffer.size()));
      answer.append(buffer.data(), static_cast<size_t>(size > 0 ? size : 0));
    }
  }
  ERR_clear_error();
  SSL_free(ssl);
  SSL_CTX_free(context);
  close(peer);
  return answer;
}

struct RawWorld : LiveWorld {
  std::unique_ptr<sandbox::HttpsServer> server;
  std::vector<std::string> seen;

  explicit RawWorld(const std::string& token = "") {
    sandbox::HttpsServerOptions options;
    options.require_client_certificate = false;
    options.token = token;
    options.max_header_bytes = 4096;
    options.max_body_bytes = 1000;
    server = Serve(options);
  }
  // What the server answers; the backend answers `body` to each request that reaches it.
  std::string Ask(const std::string& bytes, const std::string& body = "fine") {
    auto answer = std::async(std::launch::async, Exchange, server->port(), bytes);
    CHECK(Until([&] {
      if (!backend.sent.empty() && backend.sent.front().done != nullptr) {
        const FakeTransport::Exchange exchange = backend.Take();
        seen.push_back(exchange.request.method + " " + exchange.request.path + " " +
                       exchange.request.body);
        exchange.done(FakeTransport::Response(200, body));
      }
      return answer.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
    }));
    return answer.get();
  }
};

TEST_CASE("https server answers what is no request and closes") {
  RawWorld world;
  CHECK(world.Ask("nonsense\r\n\r\n").starts_with("HTTP/1.1 400 "));
  CHECK(world.Ask("GET http://a/b HTTP/1.1\r\nConnection: close\r\n\r\n")
            .starts_with("HTTP/1.1 400 "));
  CHECK(
      world.Ask("GET /a?b=%zz HTTP/1.1\r\nConnection: close\r\n\r\n").starts_with("HTTP/1.1 400 "));
  CHECK(world.Ask("GET /" + std::string(5000, 'a') + " HTTP/1.1\r\n\r\n")
            .starts_with("HTTP/1.1 431 "));
  CHECK(world.Ask("POST / HTTP/1.1\r\nContent-Length: 1001\r\n\r\n").starts_with("HTTP/1.1 413 "));
  CHECK(world.Ask("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n")
            .starts_with("HTTP/1.1 400 "));
  CHECK(world.seen.empty());
}

TEST_CASE("https server answers requests on one connection in their order") {
  RawWorld world;
  const std::string answer = world.Ask(
      "GET /a HTTP/1.1\r\n\r\nHEAD /b HTTP/1.1\r\n\r\n"
      "PUT /c HTTP/1.1\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok");
  CHECK(world.seen == std::vector<std::string>{"GET /a ", "GET /b ", "PUT /c ok"});
  // Three heads, but the body of HEAD stays away.
  size_t bodies = 0;
  for (size_t at = answer.find("\r\n\r\nfine"); at != std::string::npos;
       at = answer.find("\r\n\r\nfine", at + 1)) {
    ++bodies;
  }
  CHECK(bodies == 2);
  CHECK(answer.find("Content-Length: 4") != std::string::npos);
  const std::string waited = world.Ask(
      "POST /d HTTP/1.1\r\nExpect: 100-continue\r\nConnection: close\r\nContent-Length: "
      "1\r\n\r\nx");
  CHECK(waited.starts_with("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n"));
}

TEST_CASE("https server takes a token in place of a certificate and nothing else") {
  RawWorld world("t");
  const std::string end = "Connection: close\r\n\r\n";
  CHECK(world.Ask("GET / HTTP/1.1\r\n" + end).starts_with("HTTP/1.1 401 "));
  CHECK(world.Ask("GET / HTTP/1.1\r\nAuthorization: Bearer x\r\n" + end)
            .starts_with("HTTP/1.1 401 "));
  CHECK(world.seen.empty());
  CHECK(world.Ask("GET / HTTP/1.1\r\nAuthorization: Bearer t\r\n" + end)
            .starts_with("HTTP/1.1 200 "));
  const TempFolder folder;
  const auto config = LoadKubeconfig(folder.Write("config", world.server->Kubeconfig("here")), "");
  REQUIRE_MESSAGE(config.has_value(), config.error().message);
  CHECK(config->token == "t");
}

TEST_CASE("https server writes a kubeconfig that its clients come in with") {
  LiveWorld world;
  const auto server = world.Serve();
  const TempFolder folder;
  const auto config = LoadKubeconfig(folder.Write("config", server->Kubeconfig("here")), "here");
  REQUIRE_MESSAGE(config.has_value(), config.error().message);
  const auto transport = world.Connect(*config);
  const auto down = [](const HttpRequest& /*request*/) -> Result<HttpResponse> {
    return Fail(ErrorCode::kUnavailable, "down");
  };
  const auto response = world.Call(*transport, Request("GET", "/a"), down);
  REQUIRE_FALSE(response.has_value());
  CHECK(response.error().code == ErrorCode::kUnavailable);
  const auto fault = world.Call(*transport, Request("GET", "/a"),
                                [](const HttpRequest& /*request*/) -> Result<HttpResponse> {
                                  return Fail(ErrorCode::kInternal, "why \"it\" broke");
                                });
  REQUIRE(fault.has_value());
  CHECK(fault->status == 500);
  CHECK(fault->body.find(R"(why \"it\" broke)") != std::string::npos);
  sandbox::HttpsServerOptions same;
  same.port = server->port();
  const auto taken =
      sandbox::HttpsServer::Start(world.backend, world.executor, TestCertificates(), same);
  REQUIRE_FALSE(taken.has_value());
  CHECK(taken.error().code == ErrorCode::kUnavailable);
}

}  // namespace
}  // namespace caldera
