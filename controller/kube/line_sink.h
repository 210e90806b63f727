// Splits a body into lines as it arrives and holds them for one consumer, with back-pressure: while
// more than a bound waits, the producer is asked to wait. Knows nothing of HTTP; any thread.
#pragma once

#include <cstddef>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace caldera {

class LineSink {
 public:
  /// `wake` is called (outside the lock) when lines wait and the consumer has not been woken yet.
  LineSink(size_t max_line_bytes, size_t max_queued_bytes, std::function<void()> wake)
      : max_line_bytes_(max_line_bytes),
        max_queued_bytes_(max_queued_bytes),
        wake_(std::move(wake)) {}

  enum class Put { kTaken, kFull, kLineTooLong };
  /// Takes bytes. kFull: they were taken, but nothing more may come until `resume` is called (once,
  /// by Drain or Abandon, outside the lock). kLineTooLong: the stream is useless.
  Put Write(std::string_view bytes, std::function<void()> resume);

  /// All whole lines that wait; what has no newline yet stays. Resumes a producer that waits.
  std::vector<std::string> Drain();
  /// What came after the last newline, taken out.
  std::string Rest();
  /// Drops everything, resumes a producer that waits, and takes nothing more.
  void Abandon();

 private:
  const size_t max_line_bytes_;
  const size_t max_queued_bytes_;
  const std::function<void()> wake_;
  std::mutex mutex_;
  std::vector<std::string> lines_;
  std::string partial_;
  size_t queued_bytes_ = 0;
  bool woken_ = false;
  bool abandoned_ = false;
  std::function<void()> resume_;
};

}  // namespace caldera
