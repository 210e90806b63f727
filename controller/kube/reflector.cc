#include "controller/kube/reflector.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "controller/kube/api_status.h"
#include "controller/kube/json_reader.h"
#include "federation/value_at.h"

namespace caldera {
namespace {

using Key = std::pair<std::string, std::string>;  // namespace, name

constexpr int kGone = 410;
// A watch that ends sooner than this did no good: the next one waits as after an error.
constexpr Millis kShortestWatch{1'000};

}  // namespace

class Reflector::Impl : public std::enable_shared_from_this<Reflector::Impl> {
 public:
  Impl(Client& client, ReflectorOptions options, ReflectorHandlers handlers)
      : client_(client),
        options_(std::move(options)),
        handlers_(std::move(handlers)),
        backoff_(options_.first_backoff) {}

  void Start() { List(); }

  void Stop() {
    if (stopped_) {
      return;
    }
    stopped_ = true;
    CloseWatch();
  }

  [[nodiscard]] bool synced() const { return synced_; }
  [[nodiscard]] size_t size() const { return known_.size(); }

 private:
  struct Known {
    std::string uid;
    std::string resource_version;
  };

  HttpRequest BaseRequest() const {
    HttpRequest request;
    request.path = options_.type.Path(options_.ns);
    if (!options_.label_selector.empty()) {
      request.query.emplace_back("labelSelector", options_.label_selector);
    }
    if (!options_.field_selector.empty()) {
      request.query.emplace_back("fieldSelector", options_.field_selector);
    }
    return request;
  }

  // ---- list

  void List() {
    listed_.clear();
    ListPage("");
  }

  void ListPage(const std::string& token) {
    HttpRequest request = BaseRequest();
    request.query.emplace_back("limit", std::to_string(options_.page_size));
    if (!token.empty()) {
      request.query.emplace_back("continue", token);
    }
    client_.Raw(std::move(request), "list", options_.type.kind,
                [self = shared_from_this()](Result<HttpResponse> response) {
                  if (!self->stopped_) {
                    self->TakePage(std::move(response));
                  }
                });
  }

  void TakePage(Result<HttpResponse> response) {
    if (!response) {
      return ListLater(response.error());
    }
    if (response->status != 200) {
      return ListLater(ErrorOf(*response));
    }
    Result<Value> page = ParseJson(response->body, JsonKeep::kWhatIsRead);
    if (!page) {
      return ListLater(page.error().Within("a list that cannot be read"));
    }
    if (Value* items = page->Find("items"); items != nullptr && items->IsList()) {
      for (Value& item : items->AsList()) {
        listed_.insert(Report(std::move(item)));
        if (stopped_) {
          return;
        }
      }
    }
    if (const std::string token = TextAt(*page, {"metadata", "continue"}); !token.empty()) {
      return ListPage(token);
    }
    FinishList(TextAt(*page, {"metadata", "resourceVersion"}));
  }

  // Only a list that came whole says what is gone.
  void FinishList(std::string resource_version) {
    std::vector<std::pair<Key, std::string>> gone;
    for (const auto& [key, known] : known_) {
      if (!listed_.contains(key)) {
        gone.emplace_back(key, known.uid);
      }
    }
    listed_.clear();
    for (const auto& [key, uid] : gone) {
      known_.erase(key);
      handlers_.on_delete(key.first, key.second, uid);
    }
    resource_version_ = std::move(resource_version);
    backoff_ = options_.first_backoff;
    synced_ = true;
    handlers_.on_synced();
    if (!stopped_) {
      Watch();
    }
  }

  // ---- watch

  void Watch() {
    HttpRequest request = BaseRequest();
    request.query.emplace_back("watch", "1");
    request.query.emplace_back("allowWatchBookmarks", "true");
    request.query.emplace_back("resourceVersion", resource_version_);
    request.query.emplace_back("timeoutSeconds",
                               std::to_string(options_.watch_timeout.count() / 1000));
    watch_started_ = client_.executor().Now();
    expired_ = false;
    StreamHandlers handlers;
    handlers.on_response = [self = shared_from_this()](const HttpResponse& response) {
      self->TakeWatchResponse(response);
    };
    handlers.on_line = [self = shared_from_this()](std::string&& line) { self->TakeLine(line); };
    handlers.on_end = [self = shared_from_this()](const Status& end) { self->EndWatch(end); };
    watch_ = client_.OpenStream(std::move(request), options_.type.kind, std::move(handlers));
  }

  void TakeWatchResponse(const HttpResponse& response) {
    if (!stopped_ && response.status != 200) {
      expired_ = response.status == kGone;
      watch_error_ = ErrorOf(response);
    }
  }

  void TakeLine(const std::string& line) {
    if (stopped_ || line.empty()) {
      return;
    }
    Result<Value> event = ParseJson(line, JsonKeep::kWhatIsRead);
    Value* object = event ? event->Find("object") : nullptr;
    if (object == nullptr || !object->IsMap()) {
      return Distrust({ErrorCode::kInvalid, "a watch event that cannot be read"});
    }
    const std::string type = TextAt(*event, {"type"});
    if (type == "ADDED" || type == "MODIFIED") {
      resource_version_ = TextAt(*object, {"metadata", "resourceVersion"});
      Report(std::move(*object));
    } else if (type == "DELETED") {
      resource_version_ = TextAt(*object, {"metadata", "resourceVersion"});
      ReportDelete(*object);
    } else if (type == "BOOKMARK") {
      resource_version_ = TextAt(*object, {"metadata", "resourceVersion"});
    } else if (type == "ERROR") {
      TakeErrorEvent(*object);
    } else {
      handlers_.on_error({ErrorCode::kInvalid, "watch event of unknown type '" + type + "'"});
    }
  }

  void TakeErrorEvent(const Value& status) {
    const Value* code = status.Find("code");
    const bool gone = code != nullptr && code->IsInteger() && code->AsInteger() == kGone;
    Distrust({gone ? ErrorCode::kExpired : ErrorCode::kUnavailable,
              "watch: " + TextAt(status, {"reason"}) + " " + TextAt(status, {"message"})});
  }

  // What this watch says is worth nothing any more: list again.
  void Distrust(const Error& error) {
    CloseWatch();
    ListLater(error);
  }

  void EndWatch(const Status& end) {
    if (stopped_) {
      return;
    }
    watch_ = 0;
    if (expired_) {
      return ListLater(std::exchange(watch_error_, Error{}));
    }
    const bool refused = !watch_error_.message.empty();
    if (!end || refused) {
      handlers_.on_error(refused ? watch_error_ : end.error());
      watch_error_ = {};
      return Later([](Impl& self) { self.Watch(); });
    }
    if (client_.executor().Now() - watch_started_ < kShortestWatch) {
      return Later([](Impl& self) { self.Watch(); });
    }
    backoff_ = options_.first_backoff;
    Watch();
  }

  void CloseWatch() {
    if (watch_ != 0) {
      client_.CloseStream(std::exchange(watch_, 0));
    }
  }

  // ---- what is told

  Key Report(Value&& object) {
    Key key{TextAt(object, {"metadata", "namespace"}), TextAt(object, {"metadata", "name"})};
    Known now{TextAt(object, {"metadata", "uid"}), TextAt(object, {"metadata", "resourceVersion"})};
    if (key.second.empty()) {
      handlers_.on_error({ErrorCode::kInvalid, "an object without a name: left out"});
      return key;
    }
    const auto found = known_.find(key);
    if (found != known_.end() && found->second.uid != now.uid) {
      handlers_.on_delete(key.first, key.second, found->second.uid);
    } else if (found != known_.end() && found->second.resource_version == now.resource_version) {
      return key;
    }
    known_.insert_or_assign(key, std::move(now));
    handlers_.on_upsert(std::move(object));
    return key;
  }

  void ReportDelete(const Value& object) {
    const Key key{TextAt(object, {"metadata", "namespace"}), TextAt(object, {"metadata", "name"})};
    const auto found = known_.find(key);
    if (found == known_.end() || found->second.uid != TextAt(object, {"metadata", "uid"})) {
      return;
    }
    const std::string uid = found->second.uid;
    known_.erase(found);
    handlers_.on_delete(key.first, key.second, uid);
  }

  // ---- later

  void ListLater(const Error& error) {
    listed_.clear();
    handlers_.on_error(error);
    Later([](Impl& self) { self.List(); });
  }

  void Later(void (*step)(Impl&)) {
    const Millis wait = backoff_;
    backoff_ = std::min(backoff_ * 2, options_.longest_backoff);
    client_.executor().PostAfter(wait, [self = shared_from_this(), step] {
      if (!self->stopped_) {
        step(*self);
      }
    });
  }

  Client& client_;
  const ReflectorOptions options_;
  const ReflectorHandlers handlers_;
  std::map<Key, Known> known_;
  std::set<Key> listed_;  // Of the list at hand.
  std::string resource_version_;
  HttpTransport::StreamId watch_ = 0;
  Time watch_started_;
  Error watch_error_;  // An empty message: none.
  bool expired_ = false;
  bool synced_ = false;
  bool stopped_ = false;
  Millis backoff_;
};

Reflector::Reflector(Client& client, ReflectorOptions options, ReflectorHandlers handlers)
    : impl_(std::make_shared<Impl>(client, std::move(options), std::move(handlers))) {}

Reflector::~Reflector() { impl_->Stop(); }

void Reflector::Start() { impl_->Start(); }

void Reflector::Stop() { impl_->Stop(); }

bool Reflector::Synced() const { return impl_->synced(); }

size_t Reflector::size() const { return impl_->size(); }

}  // namespace caldera
