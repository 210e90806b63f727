// The queue controller of a member: state, counters and parent of each Queue, and the two that
// Volcano's scheduler makes itself. Source: volcano pkg/controllers/queue. One thread.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "controller/kube/client.h"
#include "test/sandbox/mirror.h"

namespace caldera::sandbox {

/// What the member holds for a queue.
struct QueueLoad {
  std::map<std::string, int64_t> groups;  ///< PodGroups by phase.
  Value allocated;                        ///< Quantities.
};

class QueueLife {
 public:
  /// `client` must outlive this.
  explicit QueueLife(Client& client);
  QueueLife(const QueueLife&) = delete;
  QueueLife& operator=(const QueueLife&) = delete;
  ~QueueLife();

  /// `root` and `default`.
  void CreateOwn();
  /// OpenQueue, CloseQueue.
  void Obey(const Mirror& queues, const std::string& name, const std::string& action);
  /// Writes what changed.
  void Write(const Mirror& queues, const std::map<std::string, QueueLoad>& loads);

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace caldera::sandbox
