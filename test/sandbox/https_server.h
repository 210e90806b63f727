// Puts an HttpTransport (an ApiServer) behind HTTPS on loopback with Boost.Beast: HTTP/1.1 with
// keep-alive, chunked streams for watches, and a kubeconfig for kubectl and for the controller. For
// the sandbox and for tests of rest_transport; it never ships in the controller.
//
// The backend sees: the method (HEAD comes as GET, the answer goes out without its body), the path
// still encoded, the query decoded, header names in lower case. A GET whose query has `watch`, not
// `false` or `0`, is a stream. What the backend answers with kUnavailable goes out as a reset
// connection; other Errors as 500 with a metav1.Status.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "controller/kube/executor.h"
#include "controller/kube/http.h"
#include "federation/result.h"
#include "test/sandbox/certificates.h"

namespace caldera::sandbox {

struct HttpsServerOptions {
  uint16_t port = 0;  ///< 0: any free one.
  /// Off: whoever comes is served, unless there is a token.
  bool require_client_certificate = true;
  /// Where not empty, this bearer token is as good as a client certificate.
  std::string token;
  size_t max_header_bytes = size_t{64} << 10U;  ///< Above: 431.
  size_t max_body_bytes = size_t{3} << 20U;     ///< Above: 413.
  Millis idle_timeout{120'000};                 ///< Of a connection without a request.
  Millis io_timeout{30'000};                    ///< Of one body or one write.
  /// Lines that a watcher has not read; above, its connection is cut.
  size_t max_queued_bytes = size_t{64} << 20U;
};

class HttpsServer {
 public:
  /// Serves `backend` until destroyed; its calls run on `executor`; both must outlive this. Own I/O
  /// thread. Errors: kUnavailable where the port is taken; kInvalid for certificates.
  static Result<std::unique_ptr<HttpsServer>> Start(HttpTransport& backend, Executor& executor,
                                                    const Certificates& certificates,
                                                    const HttpsServerOptions& options);
  /// On the executor's thread, or when that no longer runs. Cuts what is open.
  ~HttpsServer();
  HttpsServer(const HttpsServer&) = delete;
  HttpsServer& operator=(const HttpsServer&) = delete;

  [[nodiscard]] uint16_t port() const;
  [[nodiscard]] std::string url() const;  ///< `https://127.0.0.1:PORT`.
  /// With inline certificates (or the token); `context` names cluster, user and context.
  [[nodiscard]] std::string Kubeconfig(const std::string& context) const;
  /// Resets every open connection, soon (a test of resets).
  void DropConnections();
  /// Connections taken since the start, refused handshakes too.
  [[nodiscard]] uint64_t connections() const;

 private:
  class Impl;
  explicit HttpsServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace caldera::sandbox
