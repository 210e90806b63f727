// Kubernetes API calls over an HttpTransport: paths, patches, typed errors, retries, a client-side
// rate limit and a bound on requests in flight. One executor thread; callbacks run on it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "controller/kube/executor.h"
#include "controller/kube/http.h"
#include "federation/document.h"
#include "federation/result.h"

namespace caldera {

/// A kind of the API and where it lives.
struct ResourceType {
  std::string group;    ///< Empty for the core group.
  std::string version;  ///< `v1`.
  std::string plural;   ///< `works`.
  std::string kind;     ///< `Work`.
  bool namespaced = true;

  [[nodiscard]] std::string ApiVersion() const {
    return group.empty() ? version : group + "/" + version;
  }
  /// `/apis/GROUP/VERSION[/namespaces/NS]/PLURAL[/NAME[/SUBRESOURCE]]`, each part encoded.
  [[nodiscard]] std::string Path(std::string_view ns, std::string_view name = {},
                                 std::string_view subresource = {}) const;
};

/// The kinds that the controller touches, in one place.
namespace resource {
const ResourceType& Queues();
const ResourceType& Jobs();
const ResourceType& HyperJobs();
const ResourceType& Commands();
const ResourceType& PriorityClasses();
const ResourceType& TenantQuotas();  ///< FederatedResourceQuota.
const ResourceType& Clusters();
const ResourceType& Works();
const ResourceType& Namespaces();
const ResourceType& Nodes();
const ResourceType& Pods();
const ResourceType& HyperNodes();
const ResourceType& Events();
const ResourceType& Leases();
const ResourceType& Secrets();
const ResourceType& ConfigMaps();
const ResourceType& ServiceAccounts();
const ResourceType& PersistentVolumeClaims();
}  // namespace resource

struct ObjectRef {
  const ResourceType* type = nullptr;
  std::string ns;  ///< Empty for cluster-scoped kinds.
  std::string name;
};

enum class PatchKind { kMerge, kJson };

struct DeleteOptions {
  std::string uid;               ///< Precondition; empty: none.
  std::string resource_version;  ///< Precondition; empty: none.
  std::string propagation = "Background";
};

struct ClientOptions {
  std::string base_path;  ///< Before every path: the cluster proxy's for a member.
  int requests_per_second = 200;
  int burst = 400;
  int in_flight = 12;
  int max_attempts = 5;  ///< Of one call, the first one included.
  Millis first_backoff{200};
  Millis longest_backoff{10'000};
};

/// What finished requests are counted by, for the metric `caldera_api_requests_total`.
struct RequestCount {
  std::string verb;  ///< get, list, watch, create, patch, update, delete.
  std::string kind;
  int status = 0;  ///< 0: no response.
  friend auto operator<=>(const RequestCount&, const RequestCount&) = default;
};

/// Errors of every call: kNotFound 404; kConflict 409 (AlreadyExists too); kExpired 410; kInvalid
/// 400, 403, 413, 422 and "request is too large" (never repeated unchanged); kUnavailable the rest,
/// after the attempts are used up. The message carries the server's own. Repeated: after 401 (what
/// says who we are may be rotated just now), 429 and 503 (Retry-After as seconds or date honoured),
/// other 5xx, and where the connection broke: reads always; writes too, as names, preconditions or
/// patches make the repeat harmless. A create whose repeat meets AlreadyExists reports kConflict:
/// look at the object.
class Client {
 public:
  using ObjectHandler = std::function<void(Result<Value>)>;
  using DoneHandler = std::function<void(Status)>;

  /// `transport` and `executor` must outlive the client.
  Client(HttpTransport& transport, Executor& executor, ClientOptions options);
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  /// Pending calls are dropped: no callback runs any more.
  ~Client();

  void Get(const ObjectRef& ref, ObjectHandler done);
  void Create(const ResourceType& type, std::string_view ns, const Value& object,
              ObjectHandler done);
  /// `subresource` is empty or `status`.
  void Patch(const ObjectRef& ref, PatchKind kind, const Value& patch, std::string_view subresource,
             ObjectHandler done);
  void Update(const ObjectRef& ref, const Value& object, ObjectHandler done);
  void Delete(const ObjectRef& ref, const DeleteOptions& options, DoneHandler done);

  /// One raw request (path without the base path) under the same limits and retries; `verb` and
  /// `kind` are for the count.
  void Raw(HttpRequest request, std::string verb, std::string kind,
           HttpTransport::ResponseHandler done);
  /// A watch, outside the limit on requests in flight.
  HttpTransport::StreamId OpenStream(HttpRequest request, std::string kind,
                                     StreamHandlers handlers);
  void CloseStream(HttpTransport::StreamId stream);

  [[nodiscard]] Executor& executor();
  [[nodiscard]] const std::map<RequestCount, uint64_t>& counts() const;

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;  // Shared with callbacks in flight, which find it stopped.
};

}  // namespace caldera
