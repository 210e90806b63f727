// What the controller counts and measures, every name in one place (the table in metrics.cc), in
// the style of controller-runtime and kube-state-metrics. Written by the executor's thread, read by
// whoever serves /metrics.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "controller/kube/client.h"
#include "federation/state.h"

namespace caldera {

class Metrics {
 public:
  Metrics();
  ~Metrics();
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;

  /// One cycle: how long it took (observe to recorded), and what came of it.
  void CycleDone(double seconds, size_t changes, size_t actions, size_t pending);
  void CycleFailed();
  void RefusedObject(const std::string& kind);
  void SetLeader(bool leading);
  void SetSynced(bool synced);
  void SetLedger(int64_t cycle, int64_t wal_bytes);
  void SetUnobservedFailures(uint64_t count);
  /// Totals since the start, by client.
  void SetRequests(const std::map<RequestCount, uint64_t>& counts);
  /// Jobs by queue and phase (pending, placed, terminal), clusters ready or not, by State.
  void SetState(const State& state);

  /// The text format of Prometheus. Any thread.
  [[nodiscard]] std::string Text() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace caldera
