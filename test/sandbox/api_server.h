// The sandbox's API server: a generic store of Kubernetes objects behind the Kubernetes REST
// contract, as one step function. It is an HttpTransport, so that a Client or a Reflector talks to
// it in virtual time without a socket; https_server.h puts the same thing behind TLS for kubectl
// and for the controller. One executor thread; nothing here blocks.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "controller/kube/client.h"
#include "controller/kube/executor.h"
#include "controller/kube/http.h"

namespace caldera::sandbox {

struct ApiServerOptions {
  std::string name;  ///< `karmada`, or the member's name.
  /// Kinds that are served, beside the core ones that every server has.
  std::vector<ResourceType> types;
  /// Watches from before the newest so many changes get 410.
  size_t history = 20'000;
  Millis bookmark_every{60'000};
};

class ApiServer final : public HttpTransport {
 public:
  /// `executor` must outlive the server.
  ApiServer(Executor& executor, ApiServerOptions options);
  /// Closes every stream: no handler of one is called any more.
  ~ApiServer() override;
  ApiServer(const ApiServer&) = delete;
  ApiServer& operator=(const ApiServer&) = delete;

  void Send(HttpRequest request, ResponseHandler done) override;
  StreamId OpenStream(HttpRequest request, StreamHandlers handlers) override;
  void CloseStream(StreamId stream) override;

  /// Requests to `/apis/cluster.karmada.io/v1alpha1/clusters/NAME/proxy/...` go to `member`, which
  /// must outlive this.
  void AddMember(const std::string& cluster, HttpTransport& member);

  // For tests and for demonstrations of failure.
  /// While false every request and stream fails with kUnavailable (connection refused), and open
  /// streams end.
  void SetReachable(bool reachable);
  /// Stands in for admission webhooks: called for each create (`before` is null) and update, not
  /// for writes to a subresource. It may change `object`; an Error refuses the write (400, with its
  /// message).
  using Admission =
      std::function<Status(const ResourceType& type, const Value* before, Value& object)>;
  void SetAdmission(Admission admission);
  /// Forgets the history: the next watch from an older version gets 410.
  void Compact();
  /// The next `count` requests whose method is `method` (`WATCH` for those that open a stream) are
  /// answered with `status`.
  void FailNext(const std::string& method, int status, int count);

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace caldera::sandbox
