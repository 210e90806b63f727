#include "test/sandbox/api_server.h"

#include <map>
#include <optional>
#include <utility>

#include "test/sandbox/body.h"
#include "test/sandbox/discovery.h"
#include "test/sandbox/garbage.h"
#include "test/sandbox/openapi.h"
#include "test/sandbox/reads.h"
#include "test/sandbox/route.h"
#include "test/sandbox/watches.h"
#include "test/sandbox/writes.h"

namespace caldera::sandbox {
namespace {

constexpr size_t kLargestBody = size_t{3} << 20U;
constexpr int64_t kWatchSeconds = 1800;  // Where the client names none.

HttpResponse TextResponse(std::string text) {
  return {200, {{"content-type", "text/plain; charset=utf-8"}}, std::move(text)};
}

Error Refused(const std::string& name) {
  return {ErrorCode::kUnavailable, "server '" + name + "': connection refused"};
}

HttpResponse MemberUnreachable(const Error& error) {
  return ToResponse(OfCode(503, "error trying to reach service: " + error.message));
}

}  // namespace

class ApiServer::Impl : public std::enable_shared_from_this<ApiServer::Impl> {
 public:
  Impl(Executor& executor, ApiServerOptions options)
      : executor_(executor),
        options_(std::move(options)),
        catalog_(options_.types),
        store_(options_.history, [this](const Change& change) { OnChange(change); }),
        writer_(store_, executor, catalog_, options_.name),
        garbage_(store_, writer_, executor, catalog_),
        watches_(store_, executor, options_.bookmark_every) {
    for (const char* name : {"default", "kube-system", "kube-public", "kube-node-lease"}) {
      writer_.EnsureNamespace(name);
    }
  }

  void Stop() {
    stopped_ = true;
    watches_.CloseAll();
    opening_.clear();
    for (const auto& [id, stream] : std::exchange(proxied_, {})) {
      stream.first->CloseStream(stream.second);
    }
  }

  void Send(HttpRequest request, ResponseHandler done) {
    executor_.Post(
        [self = shared_from_this(), request = std::move(request),
         done = std::move(done)]() mutable { self->Answer(std::move(request), std::move(done)); });
  }

  StreamId OpenStream(HttpRequest request, StreamHandlers handlers) {
    const StreamId id = next_stream_++;
    opening_.insert(id);
    executor_.Post([self = shared_from_this(), id, request = std::move(request),
                    handlers = std::move(handlers)]() mutable {
      if (self->opening_.erase(id) != 0) {
        self->Open(id, std::move(request), std::move(handlers));
      }
    });
    return id;
  }

  void CloseStream(StreamId id) {
    opening_.erase(id);
    watches_.Close(id);
    if (const auto proxied = proxied_.find(id); proxied != proxied_.end()) {
      const auto [member, stream] = proxied->second;
      proxied_.erase(proxied);
      member->CloseStream(stream);
    }
  }

  void AddMember(const std::string& cluster, HttpTransport& member) { members_[cluster] = &member; }
  void SetReachable(bool reachable) {
    reachable_ = reachable;
    if (!reachable) {
      watches_.EndAll(Refused(options_.name));
    }
  }
  void SetAdmission(Admission admission) { writer_.SetAdmission(std::move(admission)); }
  void Compact() { store_.Compact(); }
  void FailNext(const std::string& method, int status, int count) {
    failures_[method] = {status, count};
  }

 private:
  struct Failure {
    int status = 500;
    int count = 0;
  };

  void OnChange(const Change& change) {
    garbage_.OnChange(change);
    watches_.OnChange(change);
  }

  [[nodiscard]] bool down() const { return stopped_ || !reachable_; }

  std::optional<HttpResponse> TakeFailure(const std::string& method) {
    const auto found = failures_.find(method);
    if (found == failures_.end() || found->second.count == 0) {
      return std::nullopt;
    }
    --found->second.count;
    return ToResponse(OfCode(found->second.status, "this failure was asked for"));
  }

  void Answer(HttpRequest request, ResponseHandler done) {
    if (down()) {
      return done(tl::unexpected<Error>(Refused(options_.name)));
    }
    if (auto failure = TakeFailure(request.method)) {
      return done(*std::move(failure));
    }
    if (const auto proxy = ParseProxyRoute(request.path)) {
      return Forward(*proxy, std::move(request), std::move(done));
    }
    done(Handle(request));
  }

  HttpResponse Handle(const HttpRequest& request) {
    if (request.body.size() > kLargestBody) {
      return ToResponse(OfCode(413, "Request entity too large: limit is 3145728"));
    }
    if (request.path == "/healthz" || request.path == "/readyz" || request.path == "/livez") {
      return TextResponse("ok");
    }
    if (auto known = Discover(catalog_, request)) {
      return *std::move(known);
    }
    if (auto described = DescribeApi(catalog_, request)) {
      return *std::move(described);
    }
    const sandbox::Answer<Route> route = ParseRoute(catalog_, PathParts(request.path));
    if (!route) {
      return ToResponse(route.error());
    }
    sandbox::Answer<HttpResponse> response = Dispatch(*route, request);
    return response ? *std::move(response) : ToResponse(response.error());
  }

  sandbox::Answer<HttpResponse> Dispatch(const Route& route, const HttpRequest& request) {
    const bool collection = route.key.name.empty();
    if (request.method == "GET") {
      if (QueryFlag(request, "watch")) {
        return tl::unexpected(BadRequest("a watch needs a stream"));
      }
      return collection ? ListObjects(store_, route, request, executor_.Now())
                        : GetObject(store_, route, request, executor_.Now());
    }
    if (request.method == "DELETE" && collection) {
      return DeleteAll(route, request);
    }
    sandbox::Answer<Written> written = Write(route, request);
    if (!written) {
      return tl::unexpected(std::move(written).error());
    }
    return JsonResponse(written->code, std::move(written->text));
  }

  sandbox::Answer<Written> Write(const Route& route, const HttpRequest& request) {
    const Target target{route.kind, route.key, route.subresource,
                        QueryText(request, "dryRun") == "All"};
    const bool collection = route.key.name.empty();
    const std::string type = HeaderText(request, "content-type");
    if (request.method == "PATCH" && !collection) {
      return writer_.Patch(target, MediaType(type), request.body);
    }
    sandbox::Answer<Value> body = ParseBody(type, request.body);
    if (!body) {
      return tl::unexpected(std::move(body).error());
    }
    const bool scoped = !route.kind->type.namespaced || !route.key.ns.empty();
    if (request.method == "POST" && route.subresource == "binding") {
      return writer_.Bind(target, *body);
    }
    if (request.method == "POST" && collection && scoped) {
      return writer_.Create(target, *std::move(body));
    }
    if (request.method == "PUT" && !collection) {
      return writer_.Update(target, *std::move(body));
    }
    if (request.method == "DELETE" && !collection && route.subresource.empty()) {
      return writer_.Delete(target, WithQuery(*std::move(body), request));
    }
    return tl::unexpected(MethodNotAllowed());
  }

  // Delete options may come as query parameters too.
  static Value WithQuery(Value options, const HttpRequest& request) {
    if (!options.IsMap()) {
      options = Value::Map{};
    }
    if (const std::string policy = QueryText(request, "propagationPolicy"); !policy.empty()) {
      options.Set("propagationPolicy", policy);
    }
    if (const int64_t grace = QueryNumber(request, "gracePeriodSeconds", -1); grace >= 0) {
      options.Set("gracePeriodSeconds", grace);
    }
    return options;
  }

  sandbox::Answer<HttpResponse> DeleteAll(const Route& route, const HttpRequest& request) {
    const auto selector = Selector::Parse(*route.kind, QueryText(request, "labelSelector"),
                                          QueryText(request, "fieldSelector"));
    if (!selector) {
      return tl::unexpected(selector.error());
    }
    sandbox::Answer<Value> body = ParseBody(HeaderText(request, "content-type"), request.body);
    if (!body) {
      return tl::unexpected(std::move(body).error());
    }
    const Value options = WithQuery(*std::move(body), request);
    const bool dry_run = QueryText(request, "dryRun") == "All";
    const ObjectMap objects = store_.Objects(*route.kind);
    for (const auto& [key, object] : objects) {
      const bool scoped = route.key.ns.empty() || route.key.ns == key.ns;
      if (scoped && selector->Matches(*object)) {
        const auto deleted = writer_.Delete({route.kind, key, "", dry_run}, options);
        if (!deleted) {
          return tl::unexpected(deleted.error());
        }
      }
    }
    return JsonResponse(200,
                        R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success"})");
  }

  // ---- streams

  void Open(StreamId id, HttpRequest request, StreamHandlers handlers) {
    if (down()) {
      return handlers.on_end(tl::unexpected<Error>(Refused(options_.name)));
    }
    if (auto failure = TakeFailure("WATCH")) {
      return Finish(id, handlers, *failure);
    }
    if (const auto proxy = ParseProxyRoute(request.path)) {
      return ForwardStream(id, *proxy, std::move(request), handlers);
    }
    const sandbox::Answer<Route> route = ParseRoute(catalog_, PathParts(request.path));
    if (!route || !QueryFlag(request, "watch") || request.method != "GET") {
      return Finish(id, handlers, Handle(request));
    }
    sandbox::Answer<WatchOptions> options = ParseWatch(*route, request);
    if (!options) {
      return Finish(id, handlers, ToResponse(options.error()));
    }
    watches_.Open(id, *std::move(options), std::move(handlers));
  }

  // A response that ends at once.
  void Finish(StreamId id, const StreamHandlers& handlers, const HttpResponse& response) {
    opening_.insert(id);  // So that the handler can close it.
    handlers.on_response(response);
    std::string_view rest = response.status == 200 ? std::string_view(response.body) : "";
    while (!rest.empty() && opening_.contains(id)) {
      const size_t end = rest.find('\n');
      handlers.on_line(std::string(rest.substr(0, end)));
      rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
    }
    if (opening_.erase(id) != 0) {
      handlers.on_end({});
    }
  }

  sandbox::Answer<WatchOptions> ParseWatch(const Route& route, const HttpRequest& request) const {
    auto selector = Selector::Parse(*route.kind, QueryText(request, "labelSelector"),
                                    QueryText(request, "fieldSelector"));
    if (!selector) {
      return tl::unexpected(std::move(selector).error());
    }
    WatchOptions options;
    options.kind = route.kind;
    options.key = route.key;
    options.selector = *std::move(selector);
    const std::string version = QueryText(request, "resourceVersion");
    const int64_t from = QueryNumber(request, "resourceVersion", -1);
    if (!version.empty() && from < 0) {
      return tl::unexpected(BadRequest("invalid resource version: \"" + version + "\""));
    }
    options.mark_initial = QueryFlag(request, "sendInitialEvents");
    options.from_start = from <= 0 || options.mark_initial;
    options.from = options.from_start ? 0 : static_cast<uint64_t>(from);
    options.bookmarks = QueryFlag(request, "allowWatchBookmarks");
    options.table = WantsTable(request);
    const int64_t seconds = QueryNumber(request, "timeoutSeconds", 0);
    options.timeout = std::chrono::seconds(seconds == 0 ? kWatchSeconds : seconds);
    return options;
  }

  // ---- the cluster proxy

  sandbox::Answer<HttpTransport*> MemberOf(const ProxyRoute& proxy) {
    const Kind* clusters = catalog_.Find("cluster.karmada.io", "v1alpha1", "clusters");
    if (clusters == nullptr) {
      return tl::unexpected(NoSuchPath());
    }
    if (store_.Find(*clusters, {"", proxy.cluster}) == nullptr) {
      return tl::unexpected(NotFound(*clusters, proxy.cluster));
    }
    const auto member = members_.find(proxy.cluster);
    if (member == members_.end()) {
      return tl::unexpected(OfCode(503, "cluster " + proxy.cluster + " has no API server"));
    }
    return member->second;
  }

  void Forward(const ProxyRoute& proxy, HttpRequest request, ResponseHandler done) {
    const auto member = MemberOf(proxy);
    if (!member) {
      return done(ToResponse(member.error()));
    }
    request.path = proxy.path;
    (*member)->Send(std::move(request), [done = std::move(done)](Result<HttpResponse> response) {
      done(response ? *std::move(response) : MemberUnreachable(response.error()));
    });
  }

  void ForwardStream(StreamId id, const ProxyRoute& proxy, HttpRequest request,
                     const StreamHandlers& handlers) {
    const auto member = MemberOf(proxy);
    if (!member) {
      return Finish(id, handlers, ToResponse(member.error()));
    }
    request.path = proxy.path;
    const auto answered = std::make_shared<bool>(false);
    StreamHandlers relay;
    relay.on_line = handlers.on_line;
    relay.on_response = [answered, on_response = handlers.on_response](const HttpResponse& r) {
      *answered = true;
      on_response(r);
    };
    relay.on_end = [self = shared_from_this(), id, answered, handlers](const Status& end) {
      self->proxied_.erase(id);
      if (*answered || end) {
        handlers.on_end(end);
      } else {
        self->Finish(id, handlers, MemberUnreachable(end.error()));
      }
    };
    proxied_[id] = {*member, (*member)->OpenStream(std::move(request), std::move(relay))};
  }

  Executor& executor_;
  const ApiServerOptions options_;
  const Catalog catalog_;
  Store store_;
  Writer writer_;
  Garbage garbage_;
  Watches watches_;
  std::map<std::string, HttpTransport*> members_;
  std::map<std::string, Failure> failures_;
  std::set<StreamId> opening_;
  std::map<StreamId, std::pair<HttpTransport*, StreamId>> proxied_;
  StreamId next_stream_ = 1;
  bool reachable_ = true;
  bool stopped_ = false;
};

ApiServer::ApiServer(Executor& executor, ApiServerOptions options)
    : impl_(std::make_shared<Impl>(executor, std::move(options))) {}

ApiServer::~ApiServer() { impl_->Stop(); }

void ApiServer::Send(HttpRequest request, ResponseHandler done) {
  impl_->Send(std::move(request), std::move(done));
}

HttpTransport::StreamId ApiServer::OpenStream(HttpRequest request, StreamHandlers handlers) {
  return impl_->OpenStream(std::move(request), std::move(handlers));
}

void ApiServer::CloseStream(StreamId stream) { impl_->CloseStream(stream); }

void ApiServer::AddMember(const std::string& cluster, HttpTransport& member) {
  impl_->AddMember(cluster, member);
}

void ApiServer::SetReachable(bool reachable) { impl_->SetReachable(reachable); }

void ApiServer::SetAdmission(Admission admission) { impl_->SetAdmission(std::move(admission)); }

void ApiServer::Compact() { impl_->Compact(); }

void ApiServer::FailNext(const std::string& method, int status, int count) {
  impl_->FailNext(method, status, count);
}

}  // namespace caldera::sandbox
