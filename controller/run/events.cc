#include "controller/run/events.h"

#include <algorithm>
#include <deque>
#include <map>
#include <utility>

#include "federation/codec.h"

namespace caldera {
namespace {

constexpr size_t kMessageMax = 1024;  // The API server refuses longer ones.
constexpr size_t kRemembered = 4'096;
constexpr std::string_view kClusterScopedNamespace = "default";

std::string_view NameOf(EventType type) {
  return type == EventType::kNormal ? "Normal" : "Warning";
}

// Cut at a character's start, so that the text stays valid UTF-8.
std::string CutMessage(std::string message) {
  if (message.size() <= kMessageMax) {
    return message;
  }
  size_t end = kMessageMax - 3;
  while (end > 0 && (static_cast<unsigned char>(message[end]) & 0xC0U) == 0x80U) {
    --end;
  }
  message.resize(end);
  return message + "...";
}

std::string TextOf(Time time) {
  return FormatTime(std::chrono::time_point_cast<std::chrono::seconds>(time));
}

}  // namespace

EventTarget TargetOf(const JobKey& key, const std::string& uid, JobKind kind) {
  const ResourceType& type = kind == JobKind::kJob ? resource::Jobs() : resource::HyperJobs();
  return {type.ApiVersion(), type.kind, key.ns, key.name, uid};
}

class EventRecorder::Impl : public std::enable_shared_from_this<EventRecorder::Impl> {
 public:
  Impl(Client& client, EventOptions options) : client_(client), options_(std::move(options)) {}

  void Record(const EventTarget& target, Event event) {
    if (options_.observe || stopped_) {
      return;
    }
    event.message = CutMessage(std::move(event.message));
    if (queue_.size() >= options_.waiting || !TakeToken(target.uid)) {
      ++dropped_;
      return;
    }
    queue_.push_back({target, std::move(event), client_.executor().Now()});
    Pump();
  }

  void Waiting(const EventTarget& target, Verdict verdict, const std::string& message) {
    if (options_.observe || stopped_ || verdict == Verdict::kNone) {
      return;
    }
    const Time now = client_.executor().Now();
    Wait& wait = waits_[target.uid];
    if (wait.verdict != verdict) {
      wait.verdict = verdict;
      wait.since = now;
    }
    wait.message = message;
    if (wait.target.uid.empty()) {
      wait.target = target;
    }
    if (wait.told == verdict) {
      return;
    }
    const Time due = wait.DueWith(options_);
    if (due <= now) {
      Tell(wait);
    } else if (wait.due != due) {
      // An earlier timer of this job finds that it is not due and sets nothing.
      wait.due = due;
      client_.executor().PostAt(
          due, [self = shared_from_this(), uid = target.uid] { self->TellIfDue(uid); });
    }
  }

  bool NotWaiting(const std::string& uid) {
    const auto found = waits_.find(uid);
    if (found == waits_.end()) {
      return false;
    }
    const bool told = found->second.told != Verdict::kNone;
    waits_.erase(found);
    return told;
  }

  void Stop() {
    stopped_ = true;
    queue_.clear();
    waits_.clear();
  }
  [[nodiscard]] bool idle() const { return queue_.empty() && in_flight_ == 0; }
  [[nodiscard]] uint64_t dropped() const { return dropped_; }

 private:
  struct Item {
    EventTarget target;
    Event event;
    Time at;
  };
  struct Wait {
    EventTarget target;
    Verdict verdict = Verdict::kNone;
    std::string message;
    Time since;
    Verdict told = Verdict::kNone;
    Time told_at;
    Time due;

    [[nodiscard]] Time DueWith(const EventOptions& options) const {
      const Time settled = since + options.queued_after;
      return told == Verdict::kNone ? settled : std::max(settled, told_at + options.queued_again);
    }
  };
  struct Tokens {
    int left = 0;
    Time filled;
  };

  void TellIfDue(const std::string& uid) {
    const auto found = waits_.find(uid);
    if (stopped_ || found == waits_.end()) {
      return;
    }
    Wait& wait = found->second;
    if (wait.told != wait.verdict && wait.DueWith(options_) <= client_.executor().Now()) {
      Tell(wait);
    }
  }

  void Tell(Wait& wait) {
    wait.told = wait.verdict;
    wait.told_at = client_.executor().Now();
    Record(wait.target,
           {EventType::kNormal, "Queued",
            std::string(VerdictName(wait.verdict)) + ": " + wait.message, EventRepeat::kEachTime});
  }

  bool TakeToken(const std::string& uid) {
    const Time now = client_.executor().Now();
    if (tokens_.size() >= kRemembered && !tokens_.contains(uid)) {
      std::erase_if(
          tokens_, [&](const auto& entry) { return now - entry.second.filled >= options_.refill; });
    }
    const auto [at, inserted] = tokens_.try_emplace(uid, Tokens{options_.burst, now});
    Tokens& tokens = at->second;
    const int64_t gained = (now - tokens.filled) / options_.refill;
    if (gained > 0) {
      tokens.left = static_cast<int>(std::min<int64_t>(options_.burst, tokens.left + gained));
      tokens.filled += gained * options_.refill;
    }
    if (tokens.left <= 0) {
      return false;
    }
    --tokens.left;
    return true;
  }

  void Pump() {
    while (!stopped_ && !queue_.empty() && in_flight_ < options_.in_flight) {
      Item item = std::move(queue_.front());
      queue_.pop_front();
      ++in_flight_;
      Create(std::make_shared<const Item>(std::move(item)));
    }
  }

  void Finish() {
    --in_flight_;
    Pump();
  }

  // The name follows from what is said, so that what is said again is found again, by another
  // process too.
  static std::string EventName(const Item& item) {
    constexpr size_t kHash = 16;
    constexpr size_t kLongest = 253 - kHash - 1;
    const std::string key = item.target.uid + "\n" + item.event.reason + "\n" +
                            std::string(NameOf(item.event.type)) + "\n" + item.event.message;
    return item.target.name.substr(0, kLongest) + "." + Digest(key).substr(0, kHash);
  }

  static std::string EventNamespace(const Item& item) {
    return item.target.ns.empty() ? std::string(kClusterScopedNamespace) : item.target.ns;
  }

  [[nodiscard]] Value Object(const Item& item) const {
    Value about{Value::Map{}};
    about.Set("apiVersion", item.target.api_version);
    about.Set("kind", item.target.kind);
    if (!item.target.ns.empty()) {
      about.Set("namespace", item.target.ns);
    }
    about.Set("name", item.target.name);
    about.Set("uid", item.target.uid);
    Value event{Value::Map{}};
    event.Set("apiVersion", "v1");
    event.Set("kind", "Event");
    event.Set("metadata",
              Value::Map{{"name", EventName(item), {}}, {"namespace", EventNamespace(item), {}}});
    event.Set("involvedObject", std::move(about));
    event.Set("type", std::string(NameOf(item.event.type)));
    event.Set("reason", item.event.reason);
    event.Set("message", item.event.message);
    event.Set("source", Value::Map{{"component", options_.component, {}}});
    event.Set("reportingComponent", options_.component);
    event.Set("reportingInstance",
              options_.instance.empty() ? options_.component : options_.instance);
    event.Set("firstTimestamp", TextOf(item.at));
    event.Set("lastTimestamp", TextOf(item.at));
    event.Set("count", int64_t{1});
    return event;
  }

  void Create(const std::shared_ptr<const Item>& item) {
    const std::string name = EventName(*item);
    if (const auto found = counts_.find(name); found != counts_.end()) {
      Repeat(item, found->second + 1);
      return;
    }
    client_.Create(resource::Events(), EventNamespace(*item), Object(*item),
                   [self = shared_from_this(), item, name](const Result<Value>& made) {
                     if (made) {
                       self->Remember(name, 1);
                     } else if (made.error().code == ErrorCode::kConflict) {
                       self->Recall(item);
                       return;
                     }
                     self->Finish();
                   });
  }

  // It is there already, from before: its count says how often.
  void Recall(const std::shared_ptr<const Item>& item) {
    if (item->event.repeat == EventRepeat::kOnce) {
      Remember(EventName(*item), 1);
      Finish();
      return;
    }
    client_.Get({&resource::Events(), EventNamespace(*item), EventName(*item)},
                [self = shared_from_this(), item](const Result<Value>& event) {
                  const Value* const count = event ? event->Find("count") : nullptr;
                  if (count == nullptr || !count->IsInteger()) {
                    self->Finish();
                  } else {
                    self->Repeat(item, count->AsInteger() + 1);
                  }
                });
  }

  void Repeat(const std::shared_ptr<const Item>& item, int64_t count) {
    const std::string name = EventName(*item);
    if (item->event.repeat == EventRepeat::kOnce) {
      Finish();
      return;
    }
    Value patch{Value::Map{}};
    patch.Set("count", count);
    patch.Set("lastTimestamp", TextOf(item->at));
    client_.Patch({&resource::Events(), EventNamespace(*item), name}, PatchKind::kMerge, patch, "",
                  [self = shared_from_this(), item, name, count](const Result<Value>& done) {
                    if (done) {
                      self->Remember(name, count);
                    } else if (done.error().code == ErrorCode::kNotFound) {
                      // Events expire; said again after an hour, it is a new one.
                      self->counts_.erase(name);
                      self->Create(item);
                      return;
                    }
                    self->Finish();
                  });
  }

  void Remember(const std::string& name, int64_t count) {
    if (counts_.size() >= kRemembered && !counts_.contains(name)) {
      counts_.clear();  // What is forgotten is looked up where it is said again.
    }
    counts_[name] = count;
  }

  Client& client_;
  const EventOptions options_;
  std::deque<Item> queue_;
  std::map<std::string, Wait> waits_;      ///< By the job's uid.
  std::map<std::string, Tokens> tokens_;   ///< By the object's uid.
  std::map<std::string, int64_t> counts_;  ///< By the Event's name: how often it was said.
  int in_flight_ = 0;
  uint64_t dropped_ = 0;
  bool stopped_ = false;
};

EventRecorder::EventRecorder(Client& client, EventOptions options)
    : impl_(std::make_shared<Impl>(client, std::move(options))) {}

EventRecorder::~EventRecorder() { impl_->Stop(); }

void EventRecorder::Record(const EventTarget& target, Event event) {
  impl_->Record(target, std::move(event));
}

void EventRecorder::Waiting(const EventTarget& target, Verdict verdict,
                            const std::string& message) {
  impl_->Waiting(target, verdict, message);
}

bool EventRecorder::NotWaiting(const std::string& uid) { return impl_->NotWaiting(uid); }

void EventRecorder::Stop() { impl_->Stop(); }

bool EventRecorder::idle() const { return impl_->idle(); }

uint64_t EventRecorder::dropped() const { return impl_->dropped(); }

}  // namespace caldera
