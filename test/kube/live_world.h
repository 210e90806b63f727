// An executor on the test's own thread, with a backend behind real sockets: Until runs steps, and
// sleeps a moment only where there are none, until a condition holds.
#pragma once

#include <doctest/doctest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "controller/kube/executor.h"
#include "controller/kube/rest_transport.h"
#include "test/controller/fake_transport.h"
#include "test/sandbox/certificates.h"
#include "test/sandbox/https_server.h"

namespace caldera {

/// Made once: a key pair costs more than most tests.
inline const sandbox::Certificates& TestCertificates() {
  static const sandbox::Certificates kMade = sandbox::MakeCertificates("unit").value();
  return kMade;
}
/// Of another CA.
inline const sandbox::Certificates& ForeignCertificates() {
  static const sandbox::Certificates kMade = sandbox::MakeCertificates("foreign").value();
  return kMade;
}

/// What a stream reported.
struct StreamLog {
  std::optional<HttpResponse> head;
  std::vector<std::string> lines;
  std::optional<Status> end;

  StreamHandlers Handlers() {
    return {[this](const HttpResponse& response) {
              CHECK_FALSE(head.has_value());
              head = response;
            },
            [this](std::string&& line) {
              CHECK(head.has_value());
              lines.push_back(std::move(line));
            },
            [this](const Status& status) {
              CHECK_FALSE(end.has_value());
              end = status;
            }};
  }
};

struct LiveWorld {
  ManualClock clock{Time(Millis(1'700'000'000'000))};
  Executor executor{clock};
  FakeTransport backend{executor};

  LiveWorld() {
    PrepareRestLibrary();
    unobserved_ = UnobservedFailures();
  }
  LiveWorld(const LiveWorld&) = delete;
  LiveWorld& operator=(const LiveWorld&) = delete;
  ~LiveWorld() { CHECK(UnobservedFailures() == unobserved_); }

  bool Until(const std::function<bool()>& holds) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(5);
    while (!holds()) {
      if (!executor.RunDue()) {
        std::this_thread::sleep_for(std::chrono::microseconds(200));
      }
      if (std::chrono::steady_clock::now() > deadline) {
        return holds();
      }
    }
    return true;
  }

  std::unique_ptr<sandbox::HttpsServer> Serve(const sandbox::HttpsServerOptions& options = {}) {
    auto server = sandbox::HttpsServer::Start(backend, executor, TestCertificates(), options);
    REQUIRE_MESSAGE(server.has_value(), server.error().message);
    return *std::move(server);
  }

  /// As the administrator of TestCertificates.
  static RestConfig ConfigOf(const std::string& url) {
    RestConfig config;
    config.server = url;
    config.ca_pem = TestCertificates().ca;
    config.cert_pem = TestCertificates().client_cert;
    config.key_pem = TestCertificates().client_key;
    return config;
  }
  std::unique_ptr<RestTransport> Connect(const RestConfig& config,
                                         const RestTransportOptions& options = {}) {
    auto transport = RestTransport::Create(config, executor, options);
    REQUIRE_MESSAGE(transport.has_value(), transport.error().message);
    return *std::move(transport);
  }

  /// One request to its end; what reaches the backend is answered by `answer`.
  Result<HttpResponse> Call(
      HttpTransport& transport, HttpRequest request,
      const std::function<Result<HttpResponse>(const HttpRequest&)>& answer = nullptr) {
    std::optional<Result<HttpResponse>> result;
    transport.Send(std::move(request),
                   [&result](Result<HttpResponse> response) { result = std::move(response); });
    CHECK_FALSE(result.has_value());
    REQUIRE(Until([&] {
      if (!backend.sent.empty() && backend.sent.front().done != nullptr && answer) {
        const FakeTransport::Exchange exchange = backend.Take();
        exchange.done(answer(exchange.request));
      }
      return result.has_value();
    }));
    return *std::move(result);
  }

 private:
  uint64_t unobserved_ = 0;
};

inline HttpRequest Request(const std::string& method, const std::string& path,
                           const std::string& body = "") {
  HttpRequest request;
  request.method = method;
  request.path = path;
  request.body = body;
  return request;
}

}  // namespace caldera
