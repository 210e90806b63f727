// Puts an HttpTransport (an ApiServer) behind HTTPS on loopback with Boost.Beast: HTTP/1.1 with
// keep-alive, chunked streams for watches, certificates and a kubeconfig made at start. For the
// sandbox and for tests of rest_transport; it never ships in the controller.
#pragma once

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
  bool tls = true;
  bool require_client_certificate = true;
  std::string token;  ///< Where not empty, this bearer token stands in for a client certificate.
  size_t max_body_bytes = size_t{3} << 20U;
};

class HttpsServer {
 public:
  /// Serves `backend` (its calls are posted on `executor`; both must outlive this) until destroyed.
  /// Own I/O thread.
  static Result<std::unique_ptr<HttpsServer>> Start(HttpTransport& backend, Executor& executor,
                                                    const Certificates& certificates,
                                                    const HttpsServerOptions& options);
  ~HttpsServer();
  HttpsServer(const HttpsServer&) = delete;
  HttpsServer& operator=(const HttpsServer&) = delete;

  [[nodiscard]] uint16_t port() const;
  [[nodiscard]] std::string url() const;  ///< `https://127.0.0.1:PORT`.
  /// A kubeconfig with inline certificates; `context` names cluster, user and context.
  [[nodiscard]] std::string Kubeconfig(const std::string& context) const;
  /// Cuts every open connection (a test of resets).
  void DropConnections();

 private:
  class Impl;
  explicit HttpsServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace caldera::sandbox
