// The controller's own HTTP endpoints on Boost.Beast (cpprestsdk's listener is not safe on a
// network): plain HTTP, loopback by default, with bounds on headers, time and connections. Own
// thread; what is answered is computed by the handlers.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "controller/kube/executor.h"
#include "federation/result.h"

namespace caldera {

struct EndpointRequest {
  std::string path;                               ///< `/metrics`, decoded.
  std::multimap<std::string, std::string> query;  ///< Decoded.
  bool local = false;                             ///< The other end is on a loopback address.
};

struct EndpointAnswer {
  int status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  std::string body;
};

/// What the endpoints serve. `now` runs on the executor's thread: it may look at State; `aside`
/// runs on a thread for what takes long (the ledger's file), one after the other, with few waiting:
/// 503 beyond that. All three must be set.
struct EndpointHandlers {
  std::function<EndpointAnswer(const EndpointRequest&)> now;
  std::function<EndpointAnswer(const EndpointRequest&)> aside;
  std::function<bool(const std::string& path)> is_aside;
};

class HttpEndpoints {
 public:
  /// GET and HEAD only. `executor` must outlive this. Errors: kInvalid (address), kUnavailable (the
  /// port is taken).
  static Result<std::unique_ptr<HttpEndpoints>> Start(const std::string& address, uint16_t port,
                                                      Executor& executor,
                                                      EndpointHandlers handlers);
  /// Ends connections and the thread.
  ~HttpEndpoints();
  HttpEndpoints(const HttpEndpoints&) = delete;
  HttpEndpoints& operator=(const HttpEndpoints&) = delete;

  [[nodiscard]] uint16_t port() const;

 private:
  class Impl;
  explicit HttpEndpoints(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace caldera
