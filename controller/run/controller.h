// The live controller: informers, cycle, dispatcher and leader election on one executor. Observe,
// decide, record, act; event-driven, batched under load, never on a fixed tick. Knows nothing of
// sockets: `transport` reaches the Karmada API, and members through its cluster proxy.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "controller/kube/executor.h"
#include "controller/kube/http.h"
#include "controller/run/config.h"
#include "controller/run/metrics.h"
#include "federation/state.h"
#include "storage/ledger.h"

namespace caldera {

/// What a controller stands on; all of it must outlive the controller.
struct ControllerPlace {
  Executor& executor;
  HttpTransport& transport;
  Ledger& ledger;
  Metrics& metrics;
};

class Controller {
 public:
  /// `on_lost` is called when the term as leader is over: end the process. Error: the ledger's,
  /// where its State cannot be loaded.
  static Result<std::unique_ptr<Controller>> Create(const ControllerConfig& config,
                                                    const ControllerPlace& place,
                                                    std::function<void()> on_lost);
  Controller(const Controller&) = delete;
  Controller& operator=(const Controller&) = delete;
  /// Nothing is written any more, as if the process were gone: the Lease is not given back.
  ~Controller();

  void Start();
  /// Decides and writes nothing more, lets what is in flight end (at most a second), gives the
  /// Lease back; then `done`, once.
  void Stop(std::function<void()> done);

  [[nodiscard]] const State& state() const;
  /// Empty: everything was listed and this replica leads or stands by. Else what is missing.
  [[nodiscard]] std::vector<std::string> NotReady() const;
  [[nodiscard]] bool leading() const;
  /// Nothing to decide, write or wait for but timers.
  [[nodiscard]] bool idle() const;
  /// The phases of a job's shards as their Works report them, by cluster and child of a HyperJob.
  [[nodiscard]] std::map<std::pair<std::string, std::string>, std::string> PhasesOf(
      const std::string& job_uid) const;
  /// Brings gauges and request counts up to date, before they are read.
  void UpdateMetrics();

 private:
  class Impl;
  explicit Controller(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace caldera
