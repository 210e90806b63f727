// Internal to the dispatcher: the status of Queues at the Karmada API. One thread.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "controller/kube/client.h"
#include "controller/run/dispatcher.h"

namespace caldera {

class QueueStatuses : public std::enable_shared_from_this<QueueStatuses> {
 public:
  QueueStatuses(Client& client, const State& state, const Observer& observer,
                const DispatcherOptions& options)
      : client_(client), state_(state), observer_(observer), options_(options) {}

  /// Counts all jobs, and writes each status that differs from what is there. The caller keeps
  /// calls apart.
  void Write();
  void Stop() { stopped_ = true; }
  [[nodiscard]] bool idle() const { return in_flight_ == 0; }
  /// Some write failed since the last call of Write.
  [[nodiscard]] bool failed() const { return failed_; }

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
  std::map<std::string, Written> written_;  ///< By uid; what a watch may not have shown yet.
  int in_flight_ = 0;
  bool failed_ = false;
  bool stopped_ = false;
};

}  // namespace caldera
