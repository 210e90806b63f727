// One thread's work: posted functions and timers, run in order. Everything in the controller that
// is not a socket is a step on an Executor, so that the same code runs live (Run, real clock) and
// in virtual time (RunDue, a clock that the test moves).
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <utility>

#include "federation/time.h"

namespace caldera {

/// Where `now` comes from. One of the two abstract classes of Caldera.
class Clock {
 public:
  Clock() = default;
  Clock(const Clock&) = delete;
  Clock& operator=(const Clock&) = delete;
  virtual ~Clock() = default;
  [[nodiscard]] virtual Time Now() const = 0;
};

/// A wall clock without its jumps back, which would leave every timer waiting, and a leader in a
/// term that it does not renew. It goes where the wall clock goes; while that is behind, it goes on
/// at nine tenths of its speed until they meet. A value; no I/O.
class ForwardTime {
 public:
  /// What to show at that reading of the wall clock and of one that only goes on. Never less than
  /// before, where `steady` is not.
  Time Read(Time wall, std::chrono::nanoseconds steady);

 private:
  Time anchor_;  ///< When both were together.
  std::chrono::nanoseconds anchored_{0};
};

/// The machine's clock, as ForwardTime. From any thread.
class SystemClock final : public Clock {
 public:
  [[nodiscard]] Time Now() const override;

 private:
  mutable std::mutex mutex_;  // guards time_
  mutable ForwardTime time_;
};

/// A clock that stands still until it is moved; for tests, the sandbox and simulation.
class ManualClock final : public Clock {
 public:
  explicit ManualClock(Time start) : now_(start) {}
  [[nodiscard]] Time Now() const override { return now_; }
  void Set(Time now) { now_ = now; }

 private:
  Time now_;
};

class Executor {
 public:
  using Step = std::function<void()>;
  using TimerId = uint64_t;

  /// `clock` must outlive the executor.
  explicit Executor(const Clock& clock) : clock_(clock) {}
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;
  ~Executor() = default;

  /// Runs `step` soon on the executor's thread. From any thread.
  void Post(Step step);
  /// Runs `step` once `at` is reached. Only from the executor's thread (a step).
  TimerId PostAt(Time at, Step step);
  TimerId PostAfter(Millis delay, Step step);
  /// A timer that has fired or was cancelled is ignored.
  void Cancel(TimerId timer);

  [[nodiscard]] Time Now() const { return clock_.Now(); }

  /// Runs steps on the calling thread until Stop; waits for posts and timers on the real clock.
  void Run();
  /// Ends Run after the step at hand. From any thread.
  void Stop();

  /// Runs what is posted and every timer due at clock.Now(); returns whether anything ran. For
  /// virtual time: no waiting.
  bool RunDue();
  /// When the next timer is due; a zero Time where none is set.
  [[nodiscard]] Time NextTimer() const;

 private:
  const Clock& clock_;
  std::mutex mutex_;  // guards posted_, stopped_
  std::condition_variable wake_;
  std::deque<Step> posted_;
  bool stopped_ = false;
  std::map<std::pair<Time, TimerId>, Step> timers_;  // executor's thread only
  std::map<TimerId, Time> timer_times_;              // executor's thread only
  TimerId next_timer_ = 1;
};

}  // namespace caldera
