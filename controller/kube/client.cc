#include "controller/kube/client.h"

#include <algorithm>
#include <deque>
#include <optional>
#include <random>
#include <utility>

#include "controller/kube/api_status.h"
#include "controller/kube/json_reader.h"
#include "controller/kube/json_writer.h"

namespace caldera {
namespace {

constexpr int64_t kTokenUnit = 1000;  // One request costs this many of the bucket's units.

std::string_view ContentTypeOf(PatchKind kind) {
  return kind == PatchKind::kMerge ? "application/merge-patch+json" : "application/json-patch+json";
}

// The object of a 2xx answer, or the error of any other.
Result<Value> ObjectOf(Result<HttpResponse> response) {
  if (!response) {
    return tl::unexpected<Error>(std::move(response).error());
  }
  if (response->status < 200 || response->status > 299) {
    return tl::unexpected<Error>(ErrorOf(*response));
  }
  Result<Value> object = ParseJson(response->body, JsonKeep::kWhatIsRead);
  if (!object) {
    return tl::unexpected<Error>(object.error().Within("the server's answer"));
  }
  return object;
}

}  // namespace

// Calls wait in a queue until a place in flight and a token of the rate limit are free.
class Client::Impl : public std::enable_shared_from_this<Client::Impl> {
 public:
  struct Call {
    HttpRequest request;
    std::string verb;
    std::string kind;
    HttpTransport::ResponseHandler done;
    int attempts = 0;
  };

  Impl(HttpTransport& transport, Executor& executor, ClientOptions options)
      : transport_(transport),
        executor_(executor),
        options_(std::move(options)),
        units_(options_.burst * kTokenUnit),
        filled_(executor.Now()) {}

  void Start(Call call) {
    call.request.path = options_.base_path + call.request.path;
    call.request.headers.emplace("accept", "application/json");
    waiting_.push_back(std::make_shared<Call>(std::move(call)));
    Pump();
  }

  void Stop() {
    stopped_ = true;
    waiting_.clear();
  }

  HttpTransport::StreamId OpenStream(HttpRequest request, std::string kind,
                                     StreamHandlers handlers) {
    request.path = options_.base_path + request.path;
    request.headers.emplace("accept", "application/json");
    auto on_response = std::move(handlers.on_response);
    handlers.on_response = [self = shared_from_this(), kind = std::move(kind),
                            on_response = std::move(on_response)](const HttpResponse& response) {
      ++self->counts_[{"watch", kind, response.status}];
      on_response(response);
    };
    return transport_.OpenStream(std::move(request), std::move(handlers));
  }

  [[nodiscard]] HttpTransport& transport() { return transport_; }
  [[nodiscard]] Executor& executor() { return executor_; }
  [[nodiscard]] const std::map<RequestCount, uint64_t>& counts() const { return counts_; }

 private:
  void Pump() {
    while (!stopped_ && !waiting_.empty() && in_flight_ < options_.in_flight) {
      if (!TakeToken()) {
        return;
      }
      std::shared_ptr<Call> call = std::move(waiting_.front());
      waiting_.pop_front();
      ++in_flight_;
      ++call->attempts;
      transport_.Send(call->request,
                      [self = shared_from_this(), call](Result<HttpResponse> response) {
                        self->Finish(call, std::move(response));
                      });
    }
  }

  // Takes one token; where there is none, comes back when there is.
  bool TakeToken() {
    const Time now = executor_.Now();
    const int64_t limit = options_.burst * kTokenUnit;
    const int64_t gained = (now - filled_).count() * options_.requests_per_second;
    units_ = std::min(limit, units_ + std::max<int64_t>(gained, 0));
    filled_ = now;
    if (units_ >= kTokenUnit) {
      units_ -= kTokenUnit;
      return true;
    }
    if (!refill_pending_) {
      refill_pending_ = true;
      const int64_t wait = (kTokenUnit - units_) / std::max(options_.requests_per_second, 1) + 1;
      executor_.PostAfter(Millis(wait), [self = shared_from_this()] {
        self->refill_pending_ = false;
        self->Pump();
      });
    }
    return false;
  }

  void Finish(const std::shared_ptr<Call>& call, Result<HttpResponse> response) {
    --in_flight_;
    if (stopped_) {
      return;
    }
    ++counts_[{call->verb, call->kind, response ? response->status : 0}];
    if (const auto wait = RepeatAfter(*call, response)) {
      executor_.PostAfter(*wait, [self = shared_from_this(), call] {
        self->waiting_.push_front(call);
        self->Pump();
      });
    } else {
      call->done(std::move(response));
    }
    Pump();
  }

  // How long to wait before the call is sent again; nullopt: its answer is final.
  std::optional<Millis> RepeatAfter(const Call& call, const Result<HttpResponse>& response) {
    const bool worth = response ? WorthRepeating(*response) : Retryable(response.error().code);
    if (!worth || call.attempts >= options_.max_attempts) {
      return std::nullopt;
    }
    if (!response && call.attempts == 1) {
      return Millis{0};  // An idle connection that the server had closed: a new one will do.
    }
    if (response) {
      if (const auto asked = RetryAfter(*response, executor_.Now())) {
        return *asked + Jitter(Millis{100});
      }
    }
    Millis backoff = options_.first_backoff;
    for (int i = 1; i < call.attempts && backoff < options_.longest_backoff; ++i) {
      backoff *= 2;
    }
    backoff = std::min(backoff, options_.longest_backoff);
    return backoff / 2 + Jitter(backoff / 2);
  }

  Millis Jitter(Millis most) {
    return Millis(static_cast<int64_t>(random_()) % (most.count() + 1));
  }

  HttpTransport& transport_;
  Executor& executor_;
  const ClientOptions options_;
  std::map<RequestCount, uint64_t> counts_;
  std::deque<std::shared_ptr<Call>> waiting_;
  int in_flight_ = 0;
  int64_t units_;
  Time filled_;
  bool refill_pending_ = false;
  bool stopped_ = false;
  // Spreads retries of one client; seeded alike so that a run in virtual time repeats.
  std::minstd_rand random_{1};  // NOLINT(cert-msc51-cpp)
};

Client::Client(HttpTransport& transport, Executor& executor, ClientOptions options)
    : impl_(std::make_shared<Impl>(transport, executor, std::move(options))) {}

Client::~Client() { impl_->Stop(); }

void Client::Get(const ObjectRef& ref, ObjectHandler done) {
  HttpRequest request;
  request.path = ref.type->Path(ref.ns, ref.name);
  Raw(std::move(request), "get", ref.type->kind,
      [done = std::move(done)](Result<HttpResponse> r) { done(ObjectOf(std::move(r))); });
}

void Client::Create(const ResourceType& type, std::string_view ns, const Value& object,
                    ObjectHandler done) {
  HttpRequest request;
  request.method = "POST";
  request.path = type.Path(ns);
  request.headers["content-type"] = "application/json";
  request.body = WriteJson(object);
  Raw(std::move(request), "create", type.kind,
      [done = std::move(done)](Result<HttpResponse> r) { done(ObjectOf(std::move(r))); });
}

void Client::Patch(const ObjectRef& ref, PatchKind kind, const Value& patch,
                   std::string_view subresource, ObjectHandler done) {
  HttpRequest request;
  request.method = "PATCH";
  request.path = ref.type->Path(ref.ns, ref.name, subresource);
  request.headers["content-type"] = ContentTypeOf(kind);
  request.body = WriteJson(patch);
  Raw(std::move(request), "patch", ref.type->kind,
      [done = std::move(done)](Result<HttpResponse> r) { done(ObjectOf(std::move(r))); });
}

void Client::Update(const ObjectRef& ref, const Value& object, ObjectHandler done) {
  HttpRequest request;
  request.method = "PUT";
  request.path = ref.type->Path(ref.ns, ref.name);
  request.headers["content-type"] = "application/json";
  request.body = WriteJson(object);
  Raw(std::move(request), "update", ref.type->kind,
      [done = std::move(done)](Result<HttpResponse> r) { done(ObjectOf(std::move(r))); });
}

void Client::Delete(const ObjectRef& ref, const DeleteOptions& options, DoneHandler done) {
  Value body(Value::Map{});
  body.Set("apiVersion", "v1");
  body.Set("kind", "DeleteOptions");
  body.Set("propagationPolicy", options.propagation);
  Value preconditions(Value::Map{});
  if (!options.uid.empty()) {
    preconditions.Set("uid", options.uid);
  }
  if (!options.resource_version.empty()) {
    preconditions.Set("resourceVersion", options.resource_version);
  }
  if (!preconditions.AsMap().empty()) {
    body.Set("preconditions", std::move(preconditions));
  }
  HttpRequest request;
  request.method = "DELETE";
  request.path = ref.type->Path(ref.ns, ref.name);
  request.headers["content-type"] = "application/json";
  request.body = WriteJson(body);
  Raw(std::move(request), "delete", ref.type->kind,
      [done = std::move(done)](Result<HttpResponse> response) {
        if (!response) {
          done(tl::unexpected<Error>(std::move(response).error()));
        } else if (response->status < 200 || response->status > 299) {
          done(tl::unexpected<Error>(ErrorOf(*response)));
        } else {
          done({});
        }
      });
}

void Client::Raw(HttpRequest request, std::string verb, std::string kind,
                 HttpTransport::ResponseHandler done) {
  impl_->Start({std::move(request), std::move(verb), std::move(kind), std::move(done)});
}

HttpTransport::StreamId Client::OpenStream(HttpRequest request, std::string kind,
                                           StreamHandlers handlers) {
  return impl_->OpenStream(std::move(request), std::move(kind), std::move(handlers));
}

void Client::CloseStream(HttpTransport::StreamId stream) { impl_->transport().CloseStream(stream); }

Executor& Client::executor() { return impl_->executor(); }

const std::map<RequestCount, uint64_t>& Client::counts() const { return impl_->counts(); }

}  // namespace caldera
