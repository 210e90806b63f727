#include "controller/kube/executor.h"

#include <algorithm>

namespace caldera {

Time ForwardTime::Read(Time wall, std::chrono::nanoseconds steady) {
  const Time behind = anchor_ + std::chrono::duration_cast<Millis>((steady - anchored_) / 10 * 9);
  if (wall < behind) {
    return behind;
  }
  anchor_ = wall;
  anchored_ = steady;
  return wall;
}

Time SystemClock::Now() const {
  const std::lock_guard lock(mutex_);
  return time_.Read(std::chrono::time_point_cast<Millis>(std::chrono::system_clock::now()),
                    std::chrono::steady_clock::now().time_since_epoch());
}

void Executor::Post(Step step) {
  {
    const std::lock_guard lock(mutex_);
    posted_.push_back(std::move(step));
  }
  wake_.notify_one();
}

Executor::TimerId Executor::PostAt(Time at, Step step) {
  const TimerId timer = next_timer_++;
  timers_.emplace(std::pair(at, timer), std::move(step));
  timer_times_.emplace(timer, at);
  return timer;
}

Executor::TimerId Executor::PostAfter(Millis delay, Step step) {
  return PostAt(Now() + delay, std::move(step));
}

void Executor::Cancel(TimerId timer) {
  const auto found = timer_times_.find(timer);
  if (found == timer_times_.end()) {
    return;
  }
  timers_.erase(std::pair(found->second, timer));
  timer_times_.erase(found);
}

bool Executor::RunDue() {
  std::deque<Step> steps;
  {
    const std::lock_guard lock(mutex_);
    steps.swap(posted_);
  }
  bool ran = !steps.empty();
  for (Step& step : steps) {
    step();
  }
  const Time now = Now();
  while (!timers_.empty() && timers_.begin()->first.first <= now) {
    auto timer = timers_.extract(timers_.begin());
    timer_times_.erase(timer.key().second);
    timer.mapped()();
    ran = true;
  }
  return ran;
}

Time Executor::NextTimer() const { return timers_.empty() ? Time{} : timers_.begin()->first.first; }

void Executor::Run() {
  // The wait is on the steady clock for a difference of our clock's times: a jump ahead of the
  // machine's clock makes one wait too long, so it is bounded.
  constexpr Millis kLongestWait{1000};
  for (;;) {
    RunDue();
    std::unique_lock lock(mutex_);
    if (stopped_) {
      return;
    }
    if (!posted_.empty()) {
      continue;
    }
    Millis wait = kLongestWait;
    if (!timers_.empty()) {
      wait = std::clamp(timers_.begin()->first.first - Now(), Millis{0}, kLongestWait);
    }
    wake_.wait_for(lock, wait, [this] { return stopped_ || !posted_.empty(); });
  }
}

void Executor::Stop() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  wake_.notify_one();
}

}  // namespace caldera
