// Internal to the dispatcher: the status of Queues at the Karmada API. One thread.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "controller/kube/client.h"
#include "controller/run/dispatcher.h"

namespace caldera {

class QueueStatuses : public std::enable_shared_from_this<QueueStatuses> {
 public:
  /// `on_failed`: a write failed and should be tried again some time; not called after Stop.
  QueueStatuses(Client& client, const State& state, const Observer& observer,
                const DispatcherOptions& options, std::function<void()> on_failed)
      : client_(client),
        state_(state),
        observer_(observer),
        options_(options),
        on_failed_(std::move(on_failed)) {}

  /// Counts all jobs, and writes each status that differs from what is there. The caller keeps
  /// calls apart. Returns when to call again, should nothing else make it: by then a watch shows
  /// what was written, or somebody wrote over it. A zero Time: not needed.
  Time Write();
  void Stop() { stopped_ = true; }
  [[nodiscard]] bool idle() const { return in_flight_ == 0; }

 private:
  struct Written {
    std::string digest;
    Time at;
  };
  void WriteOne(const QueueView& view, const Value& status);

  Client& client_;
  const State& state_;
  const Observer& observer_;
  const DispatcherOptions& options_;
  const std::function<void()> on_failed_;
  std::map<std::string, Written> written_;  ///< By uid; what a watch may not have shown yet.
  int in_flight_ = 0;
  bool stopped_ = false;
};

}  // namespace caldera
