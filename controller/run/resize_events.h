// What is said on a placed Job whose edited replicas or minAvailable wait for room: an Event
// `ResizeWaiting` when it begins to wait, and again when it waits for something else or the edit
// changes. Said at once: what has room was resized by the cycle that found it. Pure; one thread.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "controller/run/events.h"
#include "federation/resize.h"

namespace caldera {

class ResizeEvents {
 public:
  /// `waiting`: all that wait after a cycle. What is to be recorded now, in their order.
  std::vector<std::pair<EventTarget, Event>> After(const std::vector<WaitingResize>& waiting);

 private:
  struct Told {
    Verdict verdict = Verdict::kNone;
    Shard wanted;
  };
  std::map<std::string, Told> told_;  ///< By uid, of those that wait.
};

}  // namespace caldera
