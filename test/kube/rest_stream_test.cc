// Watches through RestTransport: the HttpsServer for what servers do, the ScriptServer for what
// they should not.
#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <string>
#include <vector>

#include "controller/kube/rest_transport.h"
#include "test/kube/live_world.h"
#include "test/kube/script_server.h"

namespace caldera {
namespace {

using Lines = std::vector<std::string>;
using Peer = ScriptServer::Peer;

constexpr const char* kChunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
constexpr const char* kLastChunk = "0\r\n\r\n";

HttpRequest Watch() {
  HttpRequest request = Request("GET", "/w");
  request.query = {{"watch", "1"}};
  return request;
}

// One watch of a scripted server, to its end.
struct ScriptedWatch {
  StreamLog log;
  explicit ScriptedWatch(const ScriptServer::Script& script,
                         const RestTransportOptions& options = {}) {
    LiveWorld world;
    ScriptServer server([&script](Peer& peer) {
      if (!peer.ReadRequest().empty()) {
        script(peer);
      }
    });
    const auto transport = world.Connect(LiveWorld::ConfigOf(server.url()), options);
    transport->OpenStream(Watch(), log.Handlers());
    CHECK_FALSE(log.head.has_value());
    REQUIRE(world.Until([this] { return log.end.has_value(); }));
  }
  [[nodiscard]] ErrorCode code() const {
    REQUIRE_FALSE(log.end->has_value());
    return log.end->error().code;
  }
  [[nodiscard]] std::string message() const { return log.end->error().message; }
};

TEST_CASE("rest stream hands each line over while the watch goes on and ends cleanly") {
  LiveWorld world;
  const auto server = world.Serve();
  const auto transport = world.Connect(LiveWorld::ConfigOf(server->url()));
  StreamLog log;
  transport->OpenStream(Watch(), log.Handlers());
  REQUIRE(world.Until([&] { return world.backend.sent.size() == 1; }));
  const auto exchange = world.backend.Take();
  CHECK(exchange.request.query == Watch().query);
  world.backend.Respond(exchange.stream, FakeTransport::Response(200, ""));
  REQUIRE(world.Until([&] { return log.head.has_value(); }));
  CHECK(log.head->status == 200);
  CHECK(log.head->headers.at("content-type") == "application/json");
  Lines expected;
  for (const std::string& line : {std::string("{\"a\":1}"), std::string(2'000'000, 'x'),
                                  std::string("\xc3\xa9"), std::string()}) {
    expected.push_back(line);
    world.backend.Line(exchange.stream, line);
    REQUIRE(world.Until([&] { return log.lines.size() == expected.size(); }));
  }
  CHECK(log.lines == expected);
  CHECK_FALSE(log.end.has_value());
  world.backend.End(exchange.stream, {});
  REQUIRE(world.Until([&] { return log.end.has_value(); }));
  CHECK(log.end->has_value());
  // The connection serves on.
  CHECK(world
            .Call(*transport, Request("GET", "/a"),
                  [](const HttpRequest& /*request*/) { return FakeTransport::Response(200, ""); })
            .has_value());
}

TEST_CASE("rest stream joins lines over chunks and drops a torn last one") {
  const ScriptedWatch watch([](Peer& peer) {
    peer.Write(std::string(kChunked) + "4\r\n{\"a\"\r\n");
    peer.Chunk(":1}\n{\"b\":");
    peer.Chunk("2}");
    peer.Chunk("\n{\"c\":3}\n{\"torn");
    peer.Write(kLastChunk);
    peer.WaitForEnd();
  });
  CHECK(watch.log.lines == Lines{"{\"a\":1}", "{\"b\":2}", "{\"c\":3}"});
  CHECK(watch.log.end->has_value());
}

TEST_CASE("rest stream that breaks has handed over the whole lines before") {
  for (const bool reset : {true, false}) {
    CAPTURE(reset);
    const ScriptedWatch watch([reset](Peer& peer) {
      peer.Write(kChunked);
      peer.Chunk("one\ntwo\nthr");
      reset ? peer.Reset() : peer.Cut();
    });
    CHECK(watch.log.lines.size() <= 2);
    CHECK((reset || watch.log.lines == Lines{"one", "two"}));
    CHECK(watch.code() == ErrorCode::kUnavailable);
  }
}

TEST_CASE("rest stream that never began ends with an error alone") {
  const ScriptedWatch reset([](Peer& peer) { peer.Reset(); });
  CHECK_FALSE(reset.log.head.has_value());
  CHECK(reset.code() == ErrorCode::kUnavailable);
  LiveWorld world;
  const auto transport = world.Connect(LiveWorld::ConfigOf("https://127.0.0.1:1"));
  StreamLog log;
  transport->OpenStream(Watch(), log.Handlers());
  REQUIRE(world.Until([&log] { return log.end.has_value(); }));
  CHECK_FALSE(log.head.has_value());
  CHECK(log.end->error().code == ErrorCode::kUnavailable);
}

TEST_CASE("rest stream that is refused has the body of the answer") {
  const ScriptedWatch watch([](Peer& peer) {
    peer.Write("HTTP/1.1 410 Gone\r\nContent-Length: 16\r\n\r\n{\"code\":\n410}\nab");
    peer.WaitForEnd();
  });
  CHECK(watch.log.head->status == 410);
  CHECK(watch.log.head->body == "{\"code\":\n410}\nab");
  CHECK(watch.log.lines.empty());
  CHECK(watch.log.end->has_value());
  RestTransportOptions options;
  options.max_queued_bytes = 1000;
  const ScriptedWatch large(
      [](Peer& peer) {
        peer.Write("HTTP/1.1 503 Unavailable\r\nTransfer-Encoding: chunked\r\n\r\n");
        for (int i = 0; i < 20; ++i) {
          peer.Chunk(std::string(99, 'x') + "\n" + std::string(9'900, 'y') + "\n");
        }
        peer.Write(kLastChunk);
        peer.WaitForEnd();
      },
      options);
  CHECK(large.log.head->status == 503);
  CHECK(large.log.head->body.size() == 65'536);
  CHECK(large.log.end->has_value());
}

TEST_CASE("rest stream ends at a line that is too long") {
  RestTransportOptions options;
  options.max_line_bytes = 1000;
  for (const char* end : {"\n", ""}) {
    const ScriptedWatch watch(
        [end](Peer& peer) {
          peer.Write(kChunked);
          peer.Chunk(std::string(1000, 'x') + "\n");
          peer.Chunk(std::string(1001, 'y') + end);
          peer.WaitForEnd();
        },
        options);
    CHECK(watch.log.lines == Lines{std::string(1000, 'x')});
    CHECK(watch.code() == ErrorCode::kInvalid);
    CHECK(watch.message().find("longer than") != std::string::npos);
  }
}

TEST_CASE("rest stream without a byte for too long is given up") {
  RestTransportOptions options;
  options.watch_timeout = Millis(100);
  const ScriptedWatch watch(
      [](Peer& peer) {
        peer.Write(kChunked);
        peer.Chunk("a\n");
        peer.WaitForEnd();
      },
      options);
  CHECK(watch.log.lines == Lines{"a"});
  CHECK(watch.code() == ErrorCode::kUnavailable);
  CHECK(watch.message().find("timed out") != std::string::npos);
}

TEST_CASE("rest stream answers nonsense with an error") {
  for (const std::string head : {"HTTP/1.1 abc\r\n\r\n", "nonsense\r\n\r\n", "\r\n\r\n",
                                 "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"}) {
    CAPTURE(head);
    const ScriptedWatch watch([&head](Peer& peer) {
      peer.Write(head);
      peer.Cut();
    });
    CHECK(watch.log.lines.empty());
  }
}

TEST_CASE("rest stream is silent once closed and the server hears of it") {
  LiveWorld world;
  std::atomic<bool> ended{false};
  ScriptServer server([&ended](Peer& peer) {
    if (!peer.ReadRequest().empty()) {
      peer.Write(kChunked);
      peer.Chunk("a\nb\n");
      peer.WaitForEnd();
      ended = true;
    }
  });
  const auto transport = world.Connect(LiveWorld::ConfigOf(server.url()));
  StreamLog log;
  HttpTransport::StreamId id = 0;
  StreamHandlers handlers = log.Handlers();
  handlers.on_line = [&](std::string&& line) {
    log.lines.push_back(std::move(line));
    transport->CloseStream(id);  // From inside, with a line still to come.
  };
  id = transport->OpenStream(Watch(), handlers);
  REQUIRE(world.Until([&ended] { return ended.load(); }));
  world.Until([&world] { return !world.executor.RunDue(); });
  CHECK(log.lines == Lines{"a"});
  CHECK_FALSE(log.end.has_value());
  transport->CloseStream(id);
  transport->CloseStream(id + 77);
}

TEST_CASE("rest stream is not read while its lines wait") {
  constexpr int kChunks = 600;
  const std::string chunk = std::string(65'535, 'z') + "\n";
  LiveWorld world;
  std::atomic<int> sent{0};
  ScriptServer server([&](Peer& peer) {
    if (peer.ReadRequest().empty()) {
      return;
    }
    peer.Write(kChunked);
    for (int i = 0; i < kChunks; ++i) {
      peer.Chunk(chunk);
      ++sent;
    }
    peer.Write(kLastChunk);
    peer.WaitForEnd();
  });
  RestTransportOptions options;
  options.max_queued_bytes = size_t{256} << 10U;
  const auto transport = world.Connect(LiveWorld::ConfigOf(server.url()), options);
  StreamLog log;
  transport->OpenStream(Watch(), log.Handlers());
  // Nobody runs the executor: what was sent stands still once the buffers on the way are full.
  int before = -1;
  while (before != sent || sent == 0) {
    before = sent;
    std::this_thread::sleep_for(std::chrono::milliseconds(60));
  }
  CHECK(sent < kChunks / 2);
  REQUIRE(world.Until([&log] { return log.end.has_value(); }));
  CHECK(log.end->has_value());
  CHECK(log.lines.size() == kChunks);
}

TEST_CASE("rest stream that waits for room can be closed") {
  LiveWorld world;
  std::atomic<bool> written{false};
  std::atomic<bool> ended{false};
  ScriptServer server([&](Peer& peer) {
    if (!peer.ReadRequest().empty()) {
      peer.Write(kChunked);
      for (int i = 0; i < 10; ++i) {
        peer.Chunk(std::string(1000, 'z') + "\n");
      }
      written = true;
      peer.WaitForEnd();
      ended = true;
    }
  });
  RestTransportOptions options;
  options.max_queued_bytes = 1;
  const auto transport = world.Connect(LiveWorld::ConfigOf(server.url()), options);
  StreamLog log;
  const auto id = transport->OpenStream(Watch(), log.Handlers());
  // No step runs meanwhile, so that nothing makes room.
  while (!written) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  transport->CloseStream(id);
  CHECK(world.Until([&ended] { return ended.load(); }));
  CHECK_FALSE(log.end.has_value());
}

}  // namespace
}  // namespace caldera
