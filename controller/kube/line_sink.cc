#include "controller/kube/line_sink.h"

#include <utility>

namespace caldera {

LineSink::Put LineSink::Write(std::string_view bytes, std::function<void()> resume) {
  bool wake = false;
  Put result = Put::kTaken;
  {
    const std::lock_guard lock(mutex_);
    if (abandoned_) {
      return Put::kTaken;
    }
    for (size_t newline = bytes.find('\n'); newline != std::string_view::npos;
         newline = bytes.find('\n')) {
      partial_.append(bytes.substr(0, newline));
      if (partial_.size() > max_line_bytes_) {
        return Put::kLineTooLong;
      }
      bytes.remove_prefix(newline + 1);
      queued_bytes_ += partial_.size() + 1;
      lines_.push_back(std::exchange(partial_, {}));
    }
    partial_.append(bytes);
    if (partial_.size() > max_line_bytes_) {
      return Put::kLineTooLong;
    }
    wake = !lines_.empty() && !woken_;
    woken_ = woken_ || wake;
    if (queued_bytes_ > max_queued_bytes_) {
      resume_ = std::move(resume);
      result = Put::kFull;
    }
  }
  if (wake) {
    wake_();
  }
  return result;
}

std::vector<std::string> LineSink::Drain() {
  std::function<void()> resume;
  std::vector<std::string> lines;
  {
    const std::lock_guard lock(mutex_);
    lines.swap(lines_);
    queued_bytes_ = 0;
    woken_ = false;
    resume = std::exchange(resume_, nullptr);
  }
  if (resume) {
    resume();
  }
  return lines;
}

std::string LineSink::Rest() {
  const std::lock_guard lock(mutex_);
  return std::exchange(partial_, {});
}

void LineSink::Abandon() {
  std::function<void()> resume;
  {
    const std::lock_guard lock(mutex_);
    abandoned_ = true;
    lines_.clear();
    partial_.clear();
    queued_bytes_ = 0;
    resume = std::exchange(resume_, nullptr);
  }
  if (resume) {
    resume();
  }
}

}  // namespace caldera
