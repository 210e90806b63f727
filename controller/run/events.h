// core/v1 Events on Jobs (and whatever else Caldera talks about): what `kubectl describe` shows. An
// Event is a courtesy: it never holds up a write that matters, and is dropped where too many wait.
// The same thing said again of the same object raises the count of the Event that is there already,
// whose name follows from what it says. One thread (the executor's).
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "controller/kube/client.h"
#include "federation/model.h"
#include "federation/verdict.h"

namespace caldera {

/// The object that an Event is about.
struct EventTarget {
  std::string api_version;
  std::string kind;
  std::string ns;  ///< Empty for cluster-scoped kinds: their Events go to `default`.
  std::string name;
  std::string uid;
};

EventTarget TargetOf(const JobKey& key, const std::string& uid, JobKind kind);

enum class EventType : uint8_t { kNormal, kWarning };

/// kEachTime: said again, it is counted. kOnce: said again, nothing is written (what a restart
/// repeats).
enum class EventRepeat : uint8_t { kEachTime, kOnce };

struct Event {
  EventType type = EventType::kNormal;
  std::string reason;   ///< One word: `Placed`.
  std::string message;  ///< Cut to 1024 bytes.
  EventRepeat repeat = EventRepeat::kEachTime;
};

struct EventOptions {
  std::string component = "caldera-controller";
  std::string instance;    ///< reportingInstance: the replica's name.
  bool observe = false;    ///< Writes nothing.
  size_t waiting = 1'000;  ///< More than so many are dropped, the newest first.
  int in_flight = 2;
  /// A job is said to be queued once it has waited for so long for one reason, and again for
  /// another reason no sooner than `queued_again` after the last time.
  Millis queued_after{2'000};
  Millis queued_again{30'000};
  /// Of one object: so many at once, then one each `refill`.
  int burst = 25;
  Millis refill{300'000};
};

class EventRecorder {
 public:
  /// `client` must outlive this.
  EventRecorder(Client& client, EventOptions options);
  EventRecorder(const EventRecorder&) = delete;
  EventRecorder& operator=(const EventRecorder&) = delete;
  ~EventRecorder();

  void Record(const EventTarget& target, Event event);

  /// The job waits for `verdict`; said as Event Queued when it has stood for a while.
  void Waiting(const EventTarget& target, Verdict verdict, const std::string& message);
  /// It waits no longer: placed, or gone. True: an Event Queued said that it did.
  bool NotWaiting(const std::string& uid);

  /// Nothing is written any more.
  void Stop();
  [[nodiscard]] bool idle() const;         ///< Nothing waits to be written or is in flight.
  [[nodiscard]] uint64_t dropped() const;  ///< Too many waited, or one object had too many.

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;  // Shared with callbacks in flight, which find it stopped.
};

}  // namespace caldera
