// One TLS connection of an HttpsServer: handshake, then requests one after the other, each answered
// whole or as a chunked stream. Everything on the server's I/O thread. Included by https_server.cc
// only: Boost.Beast is slow to compile.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "test/sandbox/backend_gate.h"
#include "test/sandbox/https_server.h"

namespace caldera::sandbox {

class HttpsConnection : public std::enable_shared_from_this<HttpsConnection> {
 public:
  /// `context` and `options` must outlive this; `on_done` is called once, when it is closed.
  HttpsConnection(boost::asio::ip::tcp::socket&& socket, boost::asio::ssl::context& context,
                  const HttpsServerOptions& options, std::shared_ptr<BackendGate> backend,
                  std::function<void(HttpsConnection*)> on_done);

  void Start();
  /// Resets it (no close_notify, no FIN).
  void Drop();

 private:
  using ErrorCode = boost::beast::error_code;
  using Parser = boost::beast::http::request_parser<boost::beast::http::string_body>;

  void NextRequest();
  void ReadHeader();
  void ReadBody();
  void Refuse(const ErrorCode& error);
  void Dispatch();
  [[nodiscard]] bool Authorized() const;
  void Answer(const HttpResponse& response);
  void AnswerStatus(int status, const std::string& reason, const std::string& message);
  void Shutdown();
  void Close();

  // A watch.
  void OpenStream(HttpRequest request);
  void StartStream(const HttpResponse& head);
  void WatchPeer();
  void AddLine(const std::string& line);
  void WriteMore();
  void FinishStream();

  boost::beast::ssl_stream<boost::beast::tcp_stream> stream_;
  boost::asio::steady_timer write_deadline_;  // Of a watch; other writes use the stream's own.
  const HttpsServerOptions& options_;
  const std::shared_ptr<BackendGate> backend_;
  std::function<void(HttpsConnection*)> on_done_;
  boost::beast::flat_buffer buffer_;
  std::optional<Parser> parser_;
  bool head_only_ = false;
  bool keep_alive_ = true;
  bool closed_ = false;

  BackendGate::StreamId watch_ = 0;  // 0: none is open.
  bool peer_read_pending_ = false;
  bool waits_for_request_ = false;
  bool streaming_ = false;
  bool writing_ = false;
  std::optional<Status> ended_;
  std::string queued_;
  std::string out_;
};

}  // namespace caldera::sandbox
