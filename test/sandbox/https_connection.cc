#include "test/sandbox/https_connection.h"

#include <algorithm>
#include <boost/asio/write.hpp>
#include <charconv>
#include <utility>

#include "controller/kube/json_writer.h"

namespace caldera::sandbox {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;

constexpr std::chrono::seconds kHandshakeTimeout{10};
constexpr std::chrono::seconds kShutdownTimeout{2};
constexpr size_t kPeekBytes = 4096;

std::string Lower(beast::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return lower;
}

// One side of a query, as a browser encodes it; nullopt for an escape that is none.
std::optional<std::string> Decoded(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i] == '+' ? ' ' : text[i];
      continue;
    }
    unsigned char byte = 0;
    if (i + 2 >= text.size() ||
        std::from_chars(&text[i] + 1, &text[i] + 3, byte, 16).ptr != &text[i] + 3) {
      return std::nullopt;
    }
    out += static_cast<char>(byte);
    i += 2;
  }
  return out;
}

bool DecodeQuery(std::string_view query, std::vector<std::pair<std::string, std::string>>& out) {
  while (!query.empty()) {
    const std::string_view pair = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(pair.size() + 1, query.size()));
    const size_t equals = std::min(pair.find('='), pair.size());
    const auto key = Decoded(pair.substr(0, equals));
    const auto value = Decoded(pair.substr(std::min(equals + 1, pair.size())));
    if (!key || !value) {
      return false;
    }
    if (!pair.empty()) {
      out.emplace_back(*key, *value);
    }
  }
  return true;
}

// nullopt: a target that is no path with a query.
std::optional<HttpRequest> RequestOf(http::request<http::string_body>& in) {
  const std::string_view target(in.target().data(), in.target().size());
  HttpRequest request;
  request.method = std::string(in.method_string());
  request.path = std::string(target.substr(0, target.find('?')));
  const std::string_view query = target.substr(std::min(request.path.size() + 1, target.size()));
  if (!target.starts_with('/') || !DecodeQuery(query, request.query)) {
    return std::nullopt;
  }
  for (const auto& field : in) {
    request.headers[Lower(field.name_string())] = std::string(field.value());
  }
  request.body = std::move(in.body());
  return request;
}

bool IsWatch(const HttpRequest& request) {
  return request.method == "GET" &&
         std::any_of(request.query.begin(), request.query.end(), [](const auto& pair) {
           return pair.first == "watch" && pair.second != "0" && Lower(pair.second) != "false";
         });
}

template <typename Message>
void AddHeaders(const HttpResponse& from, Message& to) {
  for (const auto& [name, value] : from.headers) {
    const std::string lower = Lower(name);
    if (lower != "content-length" && lower != "transfer-encoding" && lower != "connection") {
      to.set(name, value);
    }
  }
}

}  // namespace

HttpsConnection::HttpsConnection(asio::ip::tcp::socket&& socket, asio::ssl::context& context,
                                 const HttpsServerOptions& options,
                                 std::shared_ptr<BackendGate> backend,
                                 std::function<void(HttpsConnection*)> on_done)
    : stream_(std::move(socket), context),
      write_deadline_(stream_.get_executor()),
      options_(options),
      backend_(std::move(backend)),
      on_done_(std::move(on_done)) {}

void HttpsConnection::Start() {
  beast::get_lowest_layer(stream_).expires_after(kHandshakeTimeout);
  stream_.async_handshake(asio::ssl::stream_base::server,
                          [self = shared_from_this()](const ErrorCode& error) {
                            if (error) {
                              self->Close();
                            } else {
                              self->ReadHeader();
                            }
                          });
}

// The read that a watch has left pending goes on as the read of the next request.
void HttpsConnection::NextRequest() {
  if (peer_read_pending_) {
    waits_for_request_ = true;
  } else {
    ReadHeader();
  }
}

void HttpsConnection::ReadHeader() {
  if (closed_) {
    return;
  }
  waits_for_request_ = false;
  parser_.emplace();
  parser_->header_limit(static_cast<uint32_t>(options_.max_header_bytes));
  parser_->body_limit(options_.max_body_bytes);
  beast::get_lowest_layer(stream_).expires_after(options_.idle_timeout);
  http::async_read_header(
      stream_, buffer_, *parser_,
      [self = shared_from_this()](const ErrorCode& error, size_t /*size*/) {
        if (error) {
          self->Refuse(error);
          return;
        }
        if (Lower(self->parser_->get()[http::field::expect]) != "100-continue") {
          self->ReadBody();
          return;
        }
        self->out_ = "HTTP/1.1 100 Continue\r\n\r\n";
        asio::async_write(self->stream_, asio::buffer(self->out_),
                          [self](const ErrorCode& failed, size_t /*size*/) {
                            failed ? self->Close() : self->ReadBody();
                          });
      });
}

void HttpsConnection::ReadBody() {
  beast::get_lowest_layer(stream_).expires_after(options_.io_timeout);
  http::async_read(stream_, buffer_, *parser_,
                   [self = shared_from_this()](const ErrorCode& error, size_t /*size*/) {
                     if (error) {
                       self->Refuse(error);
                     } else {
                       self->Dispatch();
                     }
                   });
}

// A request that cannot be read is answered where the peer is still there to hear it.
void HttpsConnection::Refuse(const ErrorCode& error) {
  keep_alive_ = false;
  head_only_ = false;
  if (error == http::error::header_limit) {
    AnswerStatus(431, "RequestHeaderFieldsTooLarge", "the header is too large");
  } else if (error == http::error::body_limit) {
    AnswerStatus(413, "RequestEntityTooLarge", "the body is too large");
  } else if (error != http::error::end_of_stream && error != http::error::partial_message &&
             error.category() == http::make_error_code(http::error::bad_method).category()) {
    AnswerStatus(400, "BadRequest", error.message());
  } else {
    Close();
  }
}

void HttpsConnection::Dispatch() {
  http::request<http::string_body> in = parser_->release();
  keep_alive_ = in.keep_alive();
  head_only_ = in.method() == http::verb::head;
  auto request = RequestOf(in);
  if (!request) {
    AnswerStatus(400, "BadRequest", "the target must be a path, its query properly encoded");
    return;
  }
  const auto authorization = request->headers.find("authorization");
  const bool has_token = !options_.token.empty() && authorization != request->headers.end() &&
                         authorization->second == "Bearer " + options_.token;
  if (!has_token && !Authorized()) {
    AnswerStatus(401, "Unauthorized", "Unauthorized");
    return;
  }
  if (head_only_) {
    request->method = "GET";
  } else if (IsWatch(*request)) {
    OpenStream(*std::move(request));
    return;
  }
  backend_->Send(*std::move(request), [weak = weak_from_this()](Result<HttpResponse> response) {
    const auto self = weak.lock();
    if (!self || self->closed_) {
      return;
    }
    if (response) {
      self->Answer(*response);
    } else if (response.error().code == caldera::ErrorCode::kUnavailable) {
      self->Drop();
    } else {
      self->AnswerStatus(500, "InternalError", response.error().message);
    }
  });
}

bool HttpsConnection::Authorized() const {
  if (!options_.require_client_certificate && options_.token.empty()) {
    return true;
  }
  // The handshake has verified whatever certificate there is.
  auto& stream =
      const_cast<HttpsConnection*>(this)->stream_;  // NOLINT(*-const-cast): Boost's getter
  X509* const certificate = SSL_get_peer_certificate(stream.native_handle());
  X509_free(certificate);
  return certificate != nullptr;
}

void HttpsConnection::Answer(const HttpResponse& response) {
  auto out = std::make_shared<http::response<http::string_body>>();
  out->version(11);
  out->result(static_cast<unsigned>(response.status));
  AddHeaders(response, *out);
  out->keep_alive(keep_alive_);
  const bool no_body = response.status == 204 || response.status == 304;
  if (!no_body) {
    out->content_length(response.body.size());
  }
  if (!no_body && !head_only_) {
    out->body() = response.body;
  }
  beast::get_lowest_layer(stream_).expires_after(options_.io_timeout);
  http::async_write(stream_, *out,
                    [self = shared_from_this(), out](const ErrorCode& error, size_t /*size*/) {
                      if (error) {
                        self->Close();
                      } else if (self->keep_alive_) {
                        self->NextRequest();
                      } else {
                        self->Shutdown();
                      }
                    });
}

void HttpsConnection::AnswerStatus(int status, const std::string& reason,
                                   const std::string& message) {
  Value body(Value::Map{});
  body.Set("kind", "Status");
  body.Set("apiVersion", "v1");
  body.Set("metadata", Value(Value::Map{}));
  body.Set("status", "Failure");
  body.Set("message", message);
  body.Set("reason", reason);
  body.Set("code", status);
  Answer({status, {{"content-type", "application/json"}}, WriteJson(body)});
}

void HttpsConnection::Shutdown() {
  beast::get_lowest_layer(stream_).expires_after(kShutdownTimeout);
  stream_.async_shutdown(
      [self = shared_from_this()](const ErrorCode& /*error*/) { self->Close(); });
}

void HttpsConnection::Drop() {
  ErrorCode ignored;
  beast::get_lowest_layer(stream_).socket().set_option(asio::socket_base::linger(true, 0), ignored);
  Close();
}

void HttpsConnection::Close() {
  if (std::exchange(closed_, true)) {
    return;
  }
  if (watch_ != 0) {
    backend_->Close(std::exchange(watch_, 0));
  }
  write_deadline_.cancel();
  beast::get_lowest_layer(stream_).close();
  on_done_(this);
}

// ---- a watch

void HttpsConnection::OpenStream(HttpRequest request) {
  const auto call = [weak = weak_from_this()](auto step) {
    if (const auto self = weak.lock(); self && !self->closed_ && self->watch_ != 0) {
      step(*self);
    }
  };
  ended_.reset();
  StreamHandlers handlers;
  handlers.on_response = [call](const HttpResponse& response) {
    call([&response](HttpsConnection& self) {
      if (response.status == 200) {
        self.StartStream(response);
      } else {
        self.backend_->Close(std::exchange(self.watch_, 0));
        self.Answer(response);
      }
    });
  };
  handlers.on_line = [call](std::string&& line) {
    call([&line](HttpsConnection& self) { self.AddLine(line); });
  };
  handlers.on_end = [call](const Status& status) {
    call([&status](HttpsConnection& self) {
      if (!self.streaming_) {
        self.Drop();  // It ended without an answer.
        return;
      }
      self.ended_ = status;
      self.WriteMore();
    });
  };
  watch_ = backend_->Open(std::move(request), std::move(handlers));
  beast::get_lowest_layer(stream_).expires_never();
  WatchPeer();
}

void HttpsConnection::StartStream(const HttpResponse& head) {
  streaming_ = true;
  writing_ = true;
  http::response<http::empty_body> out;
  out.version(11);
  out.result(http::status::ok);
  AddHeaders(head, out);
  out.keep_alive(keep_alive_);
  out.chunked(true);
  std::string text;
  http::response_serializer<http::empty_body> serializer(out);
  serializer.split(true);
  ErrorCode error;
  while (!serializer.is_header_done() && !error) {
    serializer.next(error, [&](ErrorCode& /*error*/, const auto& buffers) {
      text += beast::buffers_to_string(buffers);
      serializer.consume(beast::buffer_bytes(buffers));
    });
  }
  out_ = std::move(text);
  asio::async_write(stream_, asio::buffer(out_),
                    [self = shared_from_this()](const ErrorCode& failed, size_t /*size*/) {
                      self->writing_ = false;
                      failed ? self->Close() : self->WriteMore();
                    });
}

// Nothing should come while a watch runs: this is how we learn that the peer has gone. A read that
// is still pending when the watch ends waits for the next request.
void HttpsConnection::WatchPeer() {
  peer_read_pending_ = true;
  stream_.async_read_some(buffer_.prepare(kPeekBytes),
                          [self = shared_from_this()](const ErrorCode& error, size_t size) {
                            self->peer_read_pending_ = false;
                            self->buffer_.commit(size);
                            if (error) {
                              self->Close();
                            } else if (self->waits_for_request_) {
                              self->ReadHeader();
                            }
                          });
}

void HttpsConnection::AddLine(const std::string& line) {
  queued_ += line;
  queued_ += '\n';
  if (queued_.size() > options_.max_queued_bytes) {
    Drop();
  } else {
    WriteMore();
  }
}

void HttpsConnection::WriteMore() {
  if (writing_ || closed_ || !streaming_) {
    return;
  }
  if (queued_.empty() && !ended_) {
    return;
  }
  if (queued_.empty()) {
    FinishStream();
    return;
  }
  writing_ = true;
  out_ = std::exchange(queued_, {});
  write_deadline_.expires_after(options_.io_timeout);
  write_deadline_.async_wait([weak = weak_from_this()](const ErrorCode& error) {
    if (const auto self = weak.lock(); self && !error && self->writing_) {
      self->Drop();
    }
  });
  asio::async_write(stream_, http::make_chunk(asio::buffer(out_)),
                    [self = shared_from_this()](const ErrorCode& error, size_t /*size*/) {
                      self->writing_ = false;
                      self->write_deadline_.cancel();
                      error ? self->Close() : self->WriteMore();
                    });
}

void HttpsConnection::FinishStream() {
  if (!*ended_) {
    Drop();
    return;
  }
  writing_ = true;
  asio::async_write(stream_, http::make_chunk_last(),
                    [self = shared_from_this()](const ErrorCode& error, size_t /*size*/) {
                      self->writing_ = false;
                      self->streaming_ = false;
                      self->watch_ = 0;
                      if (error || !self->keep_alive_) {
                        self->Close();
                      } else {
                        self->NextRequest();
                      }
                    });
}

}  // namespace caldera::sandbox
