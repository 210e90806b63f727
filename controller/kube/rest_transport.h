// The production HttpTransport: HTTPS to one API server on cpprestsdk's client, kept to one .cc
// file with the guard rails that its faults ask for (ARCHITECTURE.md, "cpprestsdk"). Callbacks run
// on the executor; the library's own threads only move bytes.
#pragma once

#include <cstddef>
#include <memory>

#include "controller/kube/executor.h"
#include "controller/kube/http.h"
#include "controller/kube/kubeconfig.h"

namespace caldera {

struct RestTransportOptions {
  Millis request_timeout{30'000};  ///< Without a byte from the server.
  /// A watch without a byte for this long is dead: servers send bookmarks each minute.
  Millis watch_timeout{90'000};
  Millis reread_every{60'000};  ///< Certificate, key, CA and token files.
  size_t max_line_bytes = size_t{8} << 20U;
  size_t max_queued_bytes = size_t{16} << 20U;  ///< Of lines that wait; more is not read.
};

class RestTransport final : public HttpTransport {
 public:
  /// `executor` must outlive the transport. Error: kInvalid for a server URL that is none and for
  /// credentials (credentials.h). Files that rotate to something unusable are passed over.
  static Result<std::unique_ptr<RestTransport>> Create(const RestConfig& config, Executor& executor,
                                                       const RestTransportOptions& options);
  /// Cancels what is under way and waits until the library has let go of it (at most 10 s).
  ~RestTransport() override;
  RestTransport(const RestTransport&) = delete;
  RestTransport& operator=(const RestTransport&) = delete;

  void Send(HttpRequest request, ResponseHandler done) override;
  StreamId OpenStream(HttpRequest request, StreamHandlers handlers) override;
  void CloseStream(StreamId stream) override;

 private:
  class Impl;
  explicit RestTransport(std::shared_ptr<Impl> impl);
  std::shared_ptr<Impl> impl_;
};

/// First thing in main, before any thread (again: nothing happens): keeps OpenSSL from reading the
/// system's bundle for each connection (the kubeconfig's CA is what counts) and bounds cpprestsdk's
/// thread pool.
void PrepareRestLibrary();

/// Failures of cpprestsdk tasks that nobody looked at; 0 unless a guard rail is missing. A metric.
uint64_t UnobservedFailures();

}  // namespace caldera
