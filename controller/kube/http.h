// The seam to the network: requests and line streams, asynchronous, as values. Production has one
// implementation (rest_transport, on cpprestsdk); tests and virtual time have another. The second
// of the two abstract classes of Caldera.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "federation/result.h"

namespace caldera {

struct HttpRequest {
  std::string method = "GET";
  std::string path;  ///< Absolute, encoded: `/api/v1/namespaces/a/pods`.
  std::vector<std::pair<std::string, std::string>> query;  ///< Not encoded.
  std::map<std::string, std::string> headers;
  std::string body;
};

struct HttpResponse {
  int status = 0;
  std::map<std::string, std::string> headers;  ///< Names in lower case.
  std::string body;
};

/// What a stream calls, in this order, always on the executor's thread: `on_response` once, then
/// `on_line` for each whole line of a 200 body (without its newline; a torn last line is dropped),
/// then `on_end` once. A status other than 200 is handed to `on_response` with its body and no
/// lines follow. After CloseStream nothing is called any more.
struct StreamHandlers {
  std::function<void(const HttpResponse&)> on_response;
  std::function<void(std::string&&)> on_line;
  std::function<void(Status)> on_end;  ///< Success: the server ended it cleanly.
};

class HttpTransport {
 public:
  using StreamId = uint64_t;
  using ResponseHandler = std::function<void(Result<HttpResponse>)>;

  HttpTransport() = default;
  HttpTransport(const HttpTransport&) = delete;
  HttpTransport& operator=(const HttpTransport&) = delete;
  virtual ~HttpTransport() = default;

  /// Sends one request; `done` is called exactly once, on the executor's thread, never from inside
  /// Send. An HTTP error status is a response, not an Error. Errors: kUnavailable (connect, reset,
  /// timeout; the server may have executed the request), kInvalid (the certificate or address is
  /// wrong). No retries here: client.h decides.
  virtual void Send(HttpRequest request, ResponseHandler done) = 0;

  /// Opens a stream of lines (a watch). A line above the transport's limit ends the stream with
  /// kInvalid. Back-pressure: the network is not read while many lines wait to be handled.
  virtual StreamId OpenStream(HttpRequest request, StreamHandlers handlers) = 0;
  virtual void CloseStream(StreamId stream) = 0;
};

}  // namespace caldera
