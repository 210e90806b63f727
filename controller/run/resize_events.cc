#include "controller/run/resize_events.h"

namespace caldera {

std::vector<std::pair<EventTarget, Event>> ResizeEvents::After(
    const std::vector<WaitingResize>& waiting) {
  std::vector<std::pair<EventTarget, Event>> events;
  std::map<std::string, Told> told;
  for (const WaitingResize& resize : waiting) {
    if (resize.verdict == Verdict::kNone) {
      continue;  // The next cycle resizes it.
    }
    const auto before = told_.find(resize.uid);
    if (before == told_.end() || before->second.verdict != resize.verdict ||
        before->second.wanted != resize.wanted) {
      events.emplace_back(
          TargetOf(resize.job, resize.uid, JobKind::kJob),
          // The figures differ from cycle to cycle, so only a restart can say the same again.
          Event{EventType::kNormal, "ResizeWaiting",
                (resize.growth ? "it runs with a part of its pods: "
                               : "replicas and minAvailable stay as they were placed: ") +
                    std::string(VerdictName(resize.verdict)) + ": " + resize.message,
                EventRepeat::kOnce});
    }
    told[resize.uid] = {resize.verdict, resize.wanted};
  }
  told_ = std::move(told);
  return events;
}

}  // namespace caldera
