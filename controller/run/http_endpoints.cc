#include "controller/run/http_endpoints.h"

#include <algorithm>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>

#include "controller/kube/url.h"
#include "controller/run/log.h"

namespace caldera {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using Tcp = asio::ip::tcp;

constexpr auto kDeadline = std::chrono::seconds(30);  // Of a request, from its first byte.
constexpr uint32_t kMaxHeader = 16U << 10U;
constexpr int kMaxConnections = 64;
constexpr std::chrono::milliseconds kAcceptPause{100};
constexpr int kMaxAside = 8;  // Waiting for their turn, the one at hand included.

using Response = http::response<http::string_body>;
using Request = http::request<http::string_body>;

std::string_view ToView(beast::string_view text) { return {text.data(), text.size()}; }

std::optional<EndpointRequest> Parse(std::string_view target) {
  EndpointRequest request;
  const size_t mark = std::min(target.find('?'), target.size());
  const auto path = PercentDecode(target.substr(0, mark));
  if (!path.has_value()) {
    return std::nullopt;
  }
  request.path = *path;
  for (size_t at = mark; at < target.size();) {
    const size_t end = std::min(target.find('&', at + 1), target.size());
    const std::string_view pair = target.substr(at + 1, end - at - 1);
    const size_t equals = std::min(pair.find('='), pair.size());
    const auto name = PercentDecode(pair.substr(0, equals));
    const auto value = PercentDecode(pair.substr(std::min(equals + 1, pair.size())));
    if (!name.has_value() || !value.has_value()) {
      return std::nullopt;
    }
    if (!name->empty()) {
      request.query.emplace(*name, *value);
    }
    at = end;
  }
  return request;
}

/// What was read is no HTTP, other than that nothing more came.
bool IsMalformed(const beast::error_code& error) {
  return error && error.category() == beast::error_code(http::error::bad_method).category() &&
         error != http::error::end_of_stream && error != http::error::partial_message;
}

class Connection;

/// The way back from the executor's thread to the I/O thread, closed when the latter has ended:
/// a step may be left over in the executor for longer.
struct WayBack {
  std::mutex mutex;
  asio::io_context* io = nullptr;
};

/// What connections share. All but `executor`, `handlers`, `way_back` and `aside` belongs to the
/// I/O thread.
struct Shared {
  Shared(Executor& on, std::shared_ptr<const EndpointHandlers> by)
      : executor(on), handlers(std::move(by)) {}

  Executor& executor;
  std::shared_ptr<const EndpointHandlers> handlers;
  std::shared_ptr<WayBack> way_back = std::make_shared<WayBack>();
  std::map<uint64_t, std::shared_ptr<Connection>> waiting = {};  ///< For an answer.
  uint64_t last_ticket = 0;
  std::list<Connection*> reading = {};  ///< Whose request is not all there; the longest first.
  int connections = 0;
  int aside_waiting = 0;
  asio::thread_pool aside{1};
};

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(Tcp::socket socket, Shared& shared) : stream_(std::move(socket)), shared_(shared) {
    ++shared_.connections;
  }
  ~Connection() {
    StopReading();
    --shared_.connections;
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void Read() {
    parser_.emplace();
    parser_->header_limit(kMaxHeader);
    parser_->body_limit(0);
    stream_.expires_after(kDeadline);
    place_ = shared_.reading.insert(shared_.reading.end(), this);
    http::async_read(
        stream_, buffer_, *parser_,
        [self = shared_from_this()](beast::error_code error, size_t /*bytes*/) {
          self->StopReading();
          if (error == http::error::body_limit || error == http::error::header_limit) {
            self->Write({413, "text/plain; charset=utf-8", "too large\n"}, false);
          } else if (IsMalformed(error)) {
            self->Write({400, "text/plain; charset=utf-8", "this is no HTTP request\n"}, false);
          } else if (!error) {
            self->Answer();
          }
        });
  }

  /// Ends it without an answer; only while it reads.
  void Drop() {
    StopReading();
    stream_.close();
  }

 private:
  void StopReading() {
    if (place_.has_value()) {
      shared_.reading.erase(*place_);
      place_.reset();
    }
  }

  void Answer() {
    const Request& request = parser_->get();
    if (request.method() != http::verb::get && request.method() != http::verb::head) {
      Write({405, "text/plain; charset=utf-8", "only GET and HEAD\n"}, request.keep_alive());
      return;
    }
    auto parsed = Parse(ToView(request.target()));
    if (!parsed.has_value()) {
      Write({400, "text/plain; charset=utf-8", "the path is not encoded right\n"}, false);
      return;
    }
    const bool keep_alive = request.keep_alive();
    beast::error_code error;
    const auto peer = stream_.socket().remote_endpoint(error);
    parsed->local = !error && peer.address().is_loopback();
    const bool aside = shared_.handlers->is_aside(parsed->path);
    if (aside && shared_.aside_waiting >= kMaxAside) {
      Write({503, "text/plain; charset=utf-8", "too many questions at once: try again\n"},
            keep_alive);
      return;
    }
    Ask(*std::move(parsed), aside, keep_alive);
  }

  void Ask(EndpointRequest request, bool aside, bool keep_alive) {
    const uint64_t ticket = ++shared_.last_ticket;
    shared_.waiting[ticket] = shared_from_this();
    shared_.aside_waiting += aside ? 1 : 0;
    auto step = [shared = &shared_, handlers = shared_.handlers, way_back = shared_.way_back,
                 request = std::move(request), ticket, aside, keep_alive] {
      EndpointAnswer answer = aside ? handlers->aside(request) : handlers->now(request);
      const std::scoped_lock lock(way_back->mutex);
      if (way_back->io != nullptr) {
        asio::post(*way_back->io,
                   [shared, ticket, aside, keep_alive, answer = std::move(answer)]() mutable {
                     shared->aside_waiting -= aside ? 1 : 0;
                     auto node = shared->waiting.extract(ticket);
                     node.mapped()->Write(std::move(answer), keep_alive);
                   });
      }
    };
    if (aside) {
      asio::post(shared_.aside, std::move(step));
    } else {
      shared_.executor.Post(std::move(step));
    }
  }

  void Write(EndpointAnswer answer, bool keep_alive) {
    const bool head = parser_->get().method() == http::verb::head;
    response_.emplace(static_cast<http::status>(answer.status), 11);
    response_->set(http::field::content_type, answer.content_type);
    response_->set(http::field::cache_control, "no-store");
    response_->keep_alive(keep_alive);
    response_->content_length(answer.body.size());
    if (!head) {
      response_->body() = std::move(answer.body);
    }
    stream_.expires_after(kDeadline);
    http::async_write(
        stream_, *response_,
        [self = shared_from_this(), keep_alive](beast::error_code error, size_t /*bytes*/) {
          if (!error && keep_alive) {
            self->Read();
          }
        });
  }

  beast::tcp_stream stream_;
  Shared& shared_;
  std::optional<std::list<Connection*>::iterator> place_;  ///< In `reading`, while it reads.
  beast::flat_buffer buffer_;
  std::optional<http::request_parser<http::string_body>> parser_;
  std::optional<Response> response_;
};

}  // namespace

class HttpEndpoints::Impl {
 public:
  Impl(Executor& executor, EndpointHandlers handlers)
      : shared_(executor, std::make_shared<const EndpointHandlers>(std::move(handlers))) {
    shared_.way_back->io = &io_;
  }
  ~Impl() {
    {
      const std::scoped_lock lock(shared_.way_back->mutex);
      shared_.way_back->io = nullptr;
    }
    shared_.aside.stop();
    shared_.aside.join();
    io_.stop();
    if (thread_.joinable()) {
      thread_.join();
    }
    shared_.waiting.clear();
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  Status Listen(const std::string& address, uint16_t port) {
    beast::error_code error;
    const auto ip = asio::ip::make_address(address, error);
    if (error) {
      return Fail(ErrorCode::kInvalid,
                  "listen.address " + address + ": must be an IP address such as 127.0.0.1");
    }
    const Tcp::endpoint endpoint(ip, port);
    acceptor_.open(endpoint.protocol(), error);
    if (!error) {
      acceptor_.set_option(asio::socket_base::reuse_address(true), error);
      acceptor_.bind(endpoint, error);
    }
    if (!error) {
      acceptor_.listen(asio::socket_base::max_listen_connections, error);
    }
    if (error) {
      return Fail(ErrorCode::kUnavailable,
                  "listen on " + address + ":" + std::to_string(port) + ": " + error.message());
    }
    port_ = acceptor_.local_endpoint().port();
    Accept();
    thread_ = std::thread([this] { io_.run(); });
    return {};
  }

  [[nodiscard]] uint16_t port() const { return port_; }

 private:
  void Accept() {
    acceptor_.async_accept([this](beast::error_code error, Tcp::socket socket) {
      if (error == asio::error::operation_aborted) {
        return;
      }
      if (error) {
        AcceptLater(error);
        return;
      }
      accepts_ = true;
      if (MakeRoom()) {
        std::make_shared<Connection>(std::move(socket), shared_)->Read();
      }
      Accept();
    });
  }

  // Out of descriptors, most likely: whoever knocks would be tried again at once, and again.
  void AcceptLater(const beast::error_code& error) {
    if (std::exchange(accepts_, false)) {
      Log(LogLevel::kWarn, "connections cannot be accepted", {{"error", error.message()}});
    }
    pause_.expires_after(kAcceptPause);
    pause_.async_wait([this](beast::error_code aborted) {
      if (!aborted) {
        Accept();
      }
    });
  }

  // Who sits on a connection without asking must not keep out the kubelet's probes.
  bool MakeRoom() {
    if (shared_.connections < kMaxConnections) {
      return true;
    }
    if (shared_.reading.empty()) {
      return false;
    }
    shared_.reading.front()->Drop();
    return true;
  }

  Shared shared_;  // Outlives io_, whose handlers hold connections.
  asio::io_context io_{1};
  Tcp::acceptor acceptor_{io_};
  asio::steady_timer pause_{io_};
  bool accepts_ = true;  ///< The last one could be: a failure is news.
  uint16_t port_ = 0;
  std::thread thread_;
};

HttpEndpoints::HttpEndpoints(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
HttpEndpoints::~HttpEndpoints() = default;
uint16_t HttpEndpoints::port() const { return impl_->port(); }

Result<std::unique_ptr<HttpEndpoints>> HttpEndpoints::Start(const std::string& address,
                                                            uint16_t port, Executor& executor,
                                                            EndpointHandlers handlers) {
  auto impl = std::make_unique<Impl>(executor, std::move(handlers));
  CALDERA_CHECK(impl->Listen(address, port));
  return std::unique_ptr<HttpEndpoints>(new HttpEndpoints(std::move(impl)));
}

}  // namespace caldera
