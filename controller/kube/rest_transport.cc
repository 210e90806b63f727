#include "controller/kube/rest_transport.h"

// Before the library's own headers.
#include "controller/kube/pplx_guard.h"
//
#include <cpprest/http_client.h>
#include <cpprest/rawptrstream.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <pplx/threadpool.h>

#include <algorithm>
#include <atomic>
#include <boost/asio/ssl.hpp>
#include <cerrno>
#include <condition_variable>
#include <cstdlib>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "controller/kube/credentials.h"
#include "controller/kube/line_sink.h"
#include "controller/kube/url.h"

namespace caldera {
namespace {

namespace http = web::http;
using Client = http::client::http_client;
using ClientConfig = http::client::http_client_config;

std::atomic<uint64_t>& UnobservedCounter() {
  static std::atomic<uint64_t> count{0};
  return count;
}

constexpr int kPoolThreads = 4;
constexpr int kUnauthorized = 401;
constexpr const char* kContentType = "content-type";
constexpr size_t kMaxErrorBody = size_t{64} << 10U;  // Of a stream that was refused.
constexpr std::chrono::seconds kLongestShutdown{10};

void Install(boost::asio::ssl::context& context, const Credentials& credentials) {
  context.set_options(boost::asio::ssl::context::no_tlsv1 | boost::asio::ssl::context::no_tlsv1_1);
  if (!credentials.ca.empty()) {
    // The kubeconfig's CA is the only one that counts. Without one the library has let in the
    // system's folder of certificates.
    SSL_CTX_set_cert_store(context.native_handle(), X509_STORE_new());
    context.add_certificate_authority(boost::asio::buffer(credentials.ca));
  }
  if (!credentials.cert.empty()) {
    context.use_certificate_chain(boost::asio::buffer(credentials.cert));
    context.use_private_key(boost::asio::buffer(credentials.key), boost::asio::ssl::context::pem);
  }
}

struct LineTooLong final : std::exception {
  [[nodiscard]] const char* what() const noexcept override {
    return "a line of the stream is longer than Caldera takes";
  }
};

// The library keeps no category, but OpenSSL's codes are far above those of the system.
Error ErrorOfHttp(const http::http_exception& error) {
  const auto code =
      static_cast<unsigned long>(error.error_code().value());  // NOLINT(google-runtime-int)
  const std::string text = error.what();
  if (ERR_GET_LIB(code) == ERR_LIB_SSL &&
      ERR_GET_REASON(code) != SSL_R_UNEXPECTED_EOF_WHILE_READING) {
    const char* reason = ERR_reason_error_string(code);
    return {ErrorCode::kInvalid, text + ": " + (reason != nullptr ? reason : "TLS failed")};
  }
  switch (error.error_code().value()) {
    case ETIMEDOUT:
    case ECANCELED:
    case ECONNRESET:
    case EPIPE:
      return {ErrorCode::kUnavailable, text + ": " + error.error_code().message()};
    default:
      // The library puts other codes in place of the system's; a refused connection has that of
      // a host that cannot be reached.
      return {ErrorCode::kUnavailable, text};
  }
}

Error ErrorOfFailure(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const http::http_exception& error) {
    return ErrorOfHttp(error);
  } catch (const LineTooLong& error) {
    return {ErrorCode::kInvalid, error.what()};
  } catch (const web::uri_exception& error) {
    return {ErrorCode::kInvalid, error.what()};
  } catch (const std::exception& error) {
    return {ErrorCode::kInternal, error.what()};
  } catch (...) {
    return {ErrorCode::kInternal, "a failure that is no exception"};
  }
}

HttpResponse HeadOf(const http::http_response& response) {
  HttpResponse head;
  head.status = response.status_code();
  for (const auto& [name, value] : response.headers()) {
    std::string lower = name;
    for (char& c : lower) {
      c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    }
    head.headers[lower] = value;
  }
  return head;
}

// The library's stream buffer over a LineSink: a write that finds the sink full completes only when
// the consumer has drained it, and until then the library does not read the network.
class SinkBuffer final : public concurrency::streams::details::streambuf_state_manager<uint8_t> {
 public:
  explicit SinkBuffer(std::shared_ptr<LineSink> sink)
      : streambuf_state_manager(std::ios_base::out), sink_(std::move(sink)) {}

 protected:
  bool can_seek() const override { return false; }
  bool has_size() const override { return false; }
  size_t buffer_size(std::ios_base::openmode /*mode*/) const override { return 0; }
  void set_buffer_size(size_t /*size*/, std::ios_base::openmode /*mode*/) override {}
  size_t in_avail() const override { return 0; }
  pos_type getpos(std::ios_base::openmode /*mode*/) const override { return {traits::eof()}; }
  pos_type seekpos(pos_type /*pos*/, std::ios_base::openmode /*mode*/) override {
    return {traits::eof()};
  }
  pos_type seekoff(off_type /*offset*/, std::ios_base::seekdir /*way*/,
                   std::ios_base::openmode /*mode*/) override {
    return {traits::eof()};
  }
  bool acquire(uint8_t*& /*bytes*/, size_t& /*count*/) override { return false; }
  void release(uint8_t* /*bytes*/, size_t /*count*/) override {}
  uint8_t* _alloc(size_t /*count*/) override { return nullptr; }
  void _commit(size_t /*count*/) override {}
  pplx::task<int_type> _bumpc() override { return pplx::task_from_result<int_type>(traits::eof()); }
  int_type _sbumpc() override { return traits::eof(); }
  pplx::task<int_type> _getc() override { return pplx::task_from_result<int_type>(traits::eof()); }
  int_type _sgetc() override { return traits::eof(); }
  pplx::task<int_type> _nextc() override { return pplx::task_from_result<int_type>(traits::eof()); }
  pplx::task<int_type> _ungetc() override {
    return pplx::task_from_result<int_type>(traits::eof());
  }
  pplx::task<size_t> _getn(uint8_t* /*bytes*/, size_t /*count*/) override {
    return pplx::task_from_result<size_t>(0);
  }
  size_t _scopy(uint8_t* /*bytes*/, size_t /*count*/) override { return 0; }
  pplx::task<bool> _sync() override { return pplx::task_from_result(true); }

  pplx::task<int_type> _putc(uint8_t byte) override {
    return _putn(&byte, 1).then([byte](size_t) { return static_cast<int_type>(byte); });
  }
  pplx::task<size_t> _putn(const uint8_t* bytes, size_t count) override {
    pplx::task_completion_event<size_t> room;
    const std::string_view text(reinterpret_cast<const char*>(bytes), count);  // NOLINT
    switch (sink_->Write(text, [room, count] { room.set(count); })) {
      case LineSink::Put::kTaken:
        return pplx::task_from_result(count);
      case LineSink::Put::kFull:
        return pplx::create_task(room);
      case LineSink::Put::kLineTooLong:
        break;
    }
    return pplx::task_from_exception<size_t>(LineTooLong());
  }

 private:
  std::shared_ptr<LineSink> sink_;
};

}  // namespace

class RestTransport::Impl : public std::enable_shared_from_this<RestTransport::Impl> {
 public:
  Impl(RestConfig config, Credentials credentials, Executor& executor,
       const RestTransportOptions& options)
      : config_(std::move(config)),
        executor_(executor),
        options_(options),
        credentials_(std::make_shared<const Credentials>(std::move(credentials))),
        requests_(config_.server, MakeConfig(options.request_timeout)),
        watches_(config_.server, MakeConfig(options.watch_timeout)),
        read_at_(executor.Now()) {}

  void Send(const HttpRequest& request, ResponseHandler done) {
    Reread();
    Begin();
    auto handler = std::make_shared<ResponseHandler>(std::move(done));
    auto finish = [self = shared_from_this(), handler](Result<HttpResponse> result) {
      self->Post([self, handler, result = std::move(result)]() mutable {
        self->Distrust(result.has_value() ? result->status : 0);
        (*handler)(std::move(result));
      });
      self->Finish();
    };
    Start(requests_, request, cancel_.get_token(), std::nullopt)
        .then([](const http::http_response& response) {
          return response.extract_string(true).then(
              [head = HeadOf(response)](const std::string& body) mutable {
                head.body = body;
                return head;
              });
        })
        .then([self = shared_from_this(), finish](const pplx::task<HttpResponse>& task) {
          try {
            finish(task.get());
          } catch (...) {
            finish(self->Failure());
          }
        });
  }

  StreamId OpenStream(const HttpRequest& request, StreamHandlers handlers) {
    Reread();
    Begin();
    const StreamId id = ++last_stream_;
    auto stream = std::make_shared<Stream>();
    stream->handlers = std::move(handlers);
    stream->sink = std::make_shared<LineSink>(options_.max_line_bytes, options_.max_queued_bytes,
                                              [weak = weak_from_this(), id] {
                                                if (const auto self = weak.lock()) {
                                                  self->Post([self, id] { self->DrainStream(id); });
                                                }
                                              });
    streams_.emplace(id, stream);
    auto end = [self = shared_from_this(), id](const Status& status) {
      self->Post([self, id, status] { self->EndStream(id, status); });
      self->Finish();
    };
    const concurrency::streams::streambuf<uint8_t> buffer(
        std::make_shared<SinkBuffer>(stream->sink));
    Start(watches_, request, stream->cancel.get_token(), buffer.create_ostream())
        .then([self = shared_from_this(), id](const http::http_response& response) {
          self->Post([self, id, head = HeadOf(response)] { self->HeadStream(id, head); });
          return response.content_ready();
        })
        .then([self = shared_from_this(), end](const pplx::task<http::http_response>& task) {
          try {
            task.get();
            end({});
          } catch (...) {
            end(self->Failure());
          }
        });
    return id;
  }

  void CloseStream(StreamId id) {
    const auto found = streams_.find(id);
    if (found == streams_.end()) {
      return;
    }
    const std::shared_ptr<Stream> stream = found->second;
    streams_.erase(found);
    stream->cancel.cancel();
    stream->sink->Abandon();
  }

  void Shutdown() {
    cancel_.cancel();
    for (const auto& [id, stream] : std::exchange(streams_, {})) {
      stream->cancel.cancel();
      stream->sink->Abandon();
    }
    std::unique_lock lock(mutex_);
    idle_.wait_for(lock, kLongestShutdown, [this] { return under_way_ == 0; });
    closed_ = true;
  }

 private:
  struct Stream {
    StreamHandlers handlers;
    std::shared_ptr<LineSink> sink;
    pplx::cancellation_token_source cancel;
    std::optional<HttpResponse> head;
  };

  ClientConfig MakeConfig(Millis timeout) {
    ClientConfig config;
    config.set_timeout(timeout);
    config.set_validate_certificates(!config_.insecure);
    config.set_ssl_context_callback([this](boost::asio::ssl::context& context) {
      Install(context, *std::atomic_load(&credentials_));
    });
    return config;
  }

  // On the executor: files that were rotated count for the connections and requests from now on.
  // What cannot be read, or does not fit together yet, is being rotated: the old one serves on.
  void Reread() {
    if (executor_.Now() - read_at_ < options_.reread_every) {
      return;
    }
    read_at_ = executor_.Now();
    if (Result<Credentials> read = ReadCredentials(config_)) {
      std::atomic_store(&credentials_, std::make_shared<const Credentials>(*std::move(read)));
    }
  }

  // On the executor: who is not known any more asks with what the files say now.
  void Distrust(int status) {
    if (status == kUnauthorized) {
      read_at_ = Time();
    }
  }

  pplx::task<http::http_response> Start(Client& client, const HttpRequest& request,
                                        const pplx::cancellation_token& cancel,
                                        const std::optional<concurrency::streams::ostream>& body) {
    try {
      http::http_request out(request.method);
      const std::string query = EncodeQuery(request.query);
      out.headers().add("User-Agent", "caldera");
      out.set_request_uri(web::uri(request.path + (query.empty() ? "" : "?" + query)));
      for (const auto& [name, value] : request.headers) {
        if (name != kContentType || request.body.empty()) {
          out.headers().add(name, value);
        }
      }
      if (const auto credentials = std::atomic_load(&credentials_); !credentials->token.empty()) {
        out.headers().add("Authorization", "Bearer " + credentials->token);
      }
      if (!request.body.empty()) {
        const auto type = request.headers.find(kContentType);
        out.set_body(request.body,
                     type == request.headers.end() ? "application/json" : type->second);
      }
      if (body.has_value()) {
        out.set_response_stream(*body);
      }
      return client.request(out, cancel);
    } catch (...) {
      return pplx::task_from_exception<http::http_response>(std::current_exception());
    }
  }

  // ---- the executor's side of a stream

  void HeadStream(StreamId id, const HttpResponse& head) {
    const auto found = streams_.find(id);
    if (found == streams_.end()) {
      return;
    }
    found->second->head = head;
    Distrust(head.status);
    if (head.status == 200) {
      const StreamHandlers handlers = found->second->handlers;
      handlers.on_response(head);
    }
    // Lines that came before it have waited, also those of an error: a full sink takes no more.
    DrainStream(id);
  }

  void DrainStream(StreamId id) {
    const auto found = streams_.find(id);
    if (found == streams_.end() || !found->second->head.has_value()) {
      return;  // Lines that came before the head wait for it.
    }
    const std::shared_ptr<Stream> stream = found->second;
    for (std::string& line : stream->sink->Drain()) {
      if (stream->head->status != 200) {
        AddToError(*stream, line + "\n");
        continue;
      }
      stream->handlers.on_line(std::move(line));
      if (!streams_.contains(id)) {
        return;
      }
    }
  }

  // The body of an error is told at its end.
  static void AddToError(Stream& stream, const std::string& text) {
    std::string& body = stream.head->body;
    body.append(text, 0, kMaxErrorBody - std::min(body.size(), kMaxErrorBody));
  }

  void EndStream(StreamId id, const Status& status) {
    DrainStream(id);
    const auto found = streams_.find(id);
    if (found == streams_.end()) {
      return;
    }
    const std::shared_ptr<Stream> stream = found->second;
    streams_.erase(found);
    if (stream->head.has_value() && stream->head->status != 200) {
      AddToError(*stream, stream->sink->Rest());
      stream->handlers.on_response(*stream->head);
    }
    stream->handlers.on_end(status);
  }

  // ---- what is under way in the library

  // Of the exception that is being handled.
  [[nodiscard]] tl::unexpected<Error> Failure() const {
    return tl::unexpected<Error>(ErrorOfFailure(std::current_exception()).Within(config_.server));
  }

  // The executor may be gone where the library did not let go in time.
  void Post(Executor::Step step) {
    const std::lock_guard lock(mutex_);
    if (!closed_) {
      executor_.Post(std::move(step));
    }
  }
  void Begin() {
    const std::lock_guard lock(mutex_);
    ++under_way_;
  }
  void Finish() {
    const std::lock_guard lock(mutex_);
    --under_way_;
    idle_.notify_all();
  }

  const RestConfig config_;
  Executor& executor_;
  const RestTransportOptions options_;
  std::shared_ptr<const Credentials> credentials_;  // By std::atomic_load and _store only.
  Client requests_;
  Client watches_;
  Time read_at_;
  pplx::cancellation_token_source cancel_;
  std::map<StreamId, std::shared_ptr<Stream>> streams_;  // Executor's thread only.
  StreamId last_stream_ = 0;

  std::mutex mutex_;
  std::condition_variable idle_;
  int under_way_ = 0;    // Guarded by mutex_.
  bool closed_ = false;  // Guarded by mutex_.
};

Result<std::unique_ptr<RestTransport>> RestTransport::Create(const RestConfig& config,
                                                             Executor& executor,
                                                             const RestTransportOptions& options) {
  CALDERA_CHECK(CheckServer(config.server));
  CALDERA_TRY(Credentials credentials, ReadCredentials(config));
  try {
    return std::unique_ptr<RestTransport>(new RestTransport(
        std::make_shared<Impl>(config, std::move(credentials), executor, options)));
  } catch (const std::exception& error) {
    return Fail(ErrorCode::kInvalid, "server '" + config.server + "': " + error.what());
  }
}

RestTransport::RestTransport(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}

RestTransport::~RestTransport() { impl_->Shutdown(); }

void RestTransport::Send(HttpRequest request, ResponseHandler done) {
  impl_->Send(request, std::move(done));
}

HttpTransport::StreamId RestTransport::OpenStream(HttpRequest request, StreamHandlers handlers) {
  return impl_->OpenStream(request, std::move(handlers));
}

void RestTransport::CloseStream(StreamId stream) { impl_->CloseStream(stream); }

void PrepareRestLibrary() {
  static std::once_flag once;
  std::call_once(once, [] {
    setenv("SSL_CERT_FILE", "/dev/null", 1);  // NOLINT(concurrency-mt-unsafe): before any thread
    crossplat::threadpool::initialize_with_threads(kPoolThreads);
  });
}

void CountUnobservedFailure() { ++UnobservedCounter(); }

uint64_t UnobservedFailures() { return UnobservedCounter(); }

}  // namespace caldera
