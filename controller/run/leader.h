// One leader at a time by a Lease in the Karmada API, as client-go's leader election does it: who
// holds the Lease renews it; others take it once it has not been renewed for its duration by their
// own clock, so that clocks need not agree, nor stay as they are. A term that could not renew in
// time is over for good: the process ends and starts again. One thread (the executor's).
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "controller/kube/client.h"
#include "controller/run/config.h"

namespace caldera {

struct LeaderHandlers {
  std::function<void()> on_leading;
  /// The term is over; nothing may be written any more.
  std::function<void(const std::string& why)> on_lost;
  /// For the log: who leads now (empty: nobody), or why the Lease cannot be read or written.
  std::function<void(const std::string& holder)> on_holder;
  std::function<void(const Error&)> on_error;
};

class LeaderElection {
 public:
  /// `client` must outlive this; `config.identity` must be set.
  LeaderElection(Client& client, LeaderConfig config, LeaderHandlers handlers);
  LeaderElection(const LeaderElection&) = delete;
  LeaderElection& operator=(const LeaderElection&) = delete;
  ~LeaderElection();

  void Start();
  /// Gives the Lease back where it is held, so that the next leader need not wait; `done` is called
  /// once, when that was answered or at once.
  void Stop(std::function<void()> done);
  [[nodiscard]] bool leading() const;

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;  // Shared with callbacks in flight, which find it stopped.
};

/// The machine's name and the process id: unique among replicas.
std::string DefaultIdentity();

}  // namespace caldera
