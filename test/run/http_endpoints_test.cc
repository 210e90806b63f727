#include "controller/run/http_endpoints.h"

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <ctime>
#include <future>
#include <string>
#include <thread>
#include <vector>

using namespace caldera;

namespace {

int Socket() {
  const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
  REQUIRE(fd >= 0);
  return fd;
}

void Connect(int fd, uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): the socket API's own way.
  REQUIRE(::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
}

int Connect(uint16_t port) {
  const int fd = Socket();
  Connect(fd, port);
  return fd;
}

/// While it is there this process gets no more file descriptors.
class NoDescriptors {
 public:
  NoDescriptors() {
    REQUIRE(::getrlimit(RLIMIT_NOFILE, &before_) == 0);
    const int lowest_free = Socket();
    ::close(lowest_free);
    const rlimit none{static_cast<rlim_t>(lowest_free), before_.rlim_max};
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &none) == 0);
  }
  NoDescriptors(const NoDescriptors&) = delete;
  NoDescriptors& operator=(const NoDescriptors&) = delete;
  ~NoDescriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
};

bool IsAnsweredWithin(int fd, std::chrono::milliseconds longest) {
  pollfd answer{fd, POLLIN, 0};
  return ::poll(&answer, 1, static_cast<int>(longest.count())) != 0;
}

void Send(int fd, const std::string& text) {
  REQUIRE(::send(fd, text.data(), text.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(text.size()));
}

/// Until the server closes.
std::string Receive(int fd) {
  std::string answer;
  std::array<char, 4096> buffer{};
  for (ssize_t n = 0; (n = ::recv(fd, buffer.data(), buffer.size(), 0)) > 0;) {
    answer.append(buffer.data(), static_cast<size_t>(n));
  }
  return answer;
}

/// Sends `text` to the port and reads until the server closes.
std::string Exchange(uint16_t port, const std::string& text) {
  const int fd = Connect(port);
  Send(fd, text);
  std::string answer = Receive(fd);
  ::close(fd);
  return answer;
}

/// Endpoints with an executor of their own.
struct Served {
  SystemClock clock;
  Executor executor{clock};
  std::thread thread;
  std::unique_ptr<HttpEndpoints> endpoints;
  std::promise<void> asked;  ///< A question with `wait` is being answered, until `go_on`.
  std::promise<void> go_on;

  Served() {
    EndpointHandlers handlers;
    handlers.now = [](const EndpointRequest& request) {
      const auto job = request.query.find("job");
      return request.path == "/explain" && job != request.query.end()
                 ? EndpointAnswer{200, "text/plain", job->second}
                 : EndpointAnswer{404, "text/plain", "no"};
    };
    handlers.is_aside = [](const std::string& path) { return path == "/ledger"; };
    handlers.aside = [this](const EndpointRequest& request) {
      if (request.query.contains("wait")) {
        asked.set_value();
        go_on.get_future().wait();
      }
      return EndpointAnswer{200, "text/plain", request.local ? "rows" : "not local"};
    };
    auto started = HttpEndpoints::Start("127.0.0.1", 0, executor, std::move(handlers));
    REQUIRE(started.has_value());
    endpoints = *std::move(started);
    thread = std::thread([this] { executor.Run(); });
  }
  Served(const Served&) = delete;
  Served& operator=(const Served&) = delete;
  ~Served() {
    executor.Stop();
    thread.join();
  }
  std::string Get(const std::string& target, const std::string& method = "GET") {
    return Exchange(endpoints->port(),
                    method + " " + target + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  }
};

bool Has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a request is decoded and answered on the executor or aside") {
  Served served;
  CHECK(Has(served.Get("/explain?job=team-a%2Ftrain"), "team-a/train"));
  CHECK(Has(served.Get("/ledger"), "rows"));
  CHECK(Has(served.Get("/nothing"), "404"));
  CHECK(!Has(served.Get("/ledger", "HEAD"), "rows"));
}

TEST_CASE("a question that takes long holds up no other answer") {
  Served served;
  std::string slow;
  std::thread asker([&] { slow = served.Get("/ledger?wait=1"); });
  served.asked.get_future().wait();
  CHECK(Has(served.Get("/explain?job=a"), "200 OK"));
  served.go_on.set_value();
  asker.join();
  CHECK(Has(slow, "rows"));
}

TEST_CASE("what is no request of ours is refused and the next one is served") {
  Served served;
  CHECK(Has(served.Get("/ledger", "POST"), "405"));
  CHECK(Has(served.Get("/%zz"), "400"));
  CHECK(Has(Exchange(served.endpoints->port(),
                     "GET / HTTP/1.1\r\nHost: x\r\nX: " + std::string(20'000, 'a') + "\r\n\r\n"),
            "413"));
  Exchange(served.endpoints->port(),
           "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n");
  CHECK(Has(served.Get("/ledger"), "rows"));
}

TEST_CASE("what is no HTTP is told so") {
  const Served served;
  for (const std::string text :
       {"nonsense\r\n\r\n", "GET /x HTTP/9.9\r\n\r\n", "GET /x HTTP/1.1\r\nno colon\r\n\r\n",
        "GET /x HTTP/1.1\r\nContent-Length: -1\r\n\r\n"}) {
    CAPTURE(text);
    const std::string answer = Exchange(served.endpoints->port(), text);
    CHECK(answer.starts_with("HTTP/1.1 400 "));
    CHECK(answer.find("this is no HTTP request") != std::string::npos);
  }
}

TEST_CASE("who holds connections without asking keeps nobody out") {
  Served served;
  std::vector<int> idle;
  for (int i = 0; i < 100; ++i) {
    idle.push_back(Connect(served.endpoints->port()));
    Send(idle.back(), "GET /expl");
  }
  CHECK(Has(served.Get("/explain?job=a"), "200 OK"));
  // The youngest are still there.
  Send(idle.back(), "ain?job=b HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  CHECK(Has(Receive(idle.back()), "200 OK"));
  std::for_each(idle.begin(), idle.end(), ::close);
}

TEST_CASE("without descriptors it waits, and serves who knocked once there are some") {
  Served served;
  REQUIRE(Has(served.Get("/explain?job=a"), "200 OK"));
  const int fd = Socket();
  {
    const NoDescriptors none;
    Connect(fd, served.endpoints->port());
    Send(fd, "GET /explain?job=b HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    const std::clock_t before = std::clock();
    CHECK_FALSE(IsAnsweredWithin(fd, std::chrono::milliseconds(300)));
    // A loop that does not pause takes all of the time.
    CHECK(std::clock() - before < CLOCKS_PER_SEC / 10);
  }
  CHECK(Has(Receive(fd), "200 OK"));
  ::close(fd);
}

TEST_CASE("an address or port that cannot be had is a clear error") {
  Served served;
  SystemClock clock;
  Executor executor(clock);
  const auto taken = HttpEndpoints::Start("127.0.0.1", served.endpoints->port(), executor, {});
  REQUIRE(!taken.has_value());
  CHECK(taken.error().code == ErrorCode::kUnavailable);
  const auto wrong = HttpEndpoints::Start("localhost", 0, executor, {});
  REQUIRE(!wrong.has_value());
  CHECK(wrong.error().code == ErrorCode::kInvalid);
}
