// Brings what is at the Karmada API towards what State says should be: claims and placements on the
// parents, Works in the clusters, statuses, cleanup at the end. Level-triggered, one job at a time:
// a look compares, does the next write, and compares again; so restart, retry and repetition need
// no case of their own. It decides nothing. One thread (the executor's).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "controller/kube/client.h"
#include "controller/run/events.h"
#include "controller/run/observer.h"
#include "federation/explain.h"
#include "federation/state.h"

namespace caldera {

struct DispatcherOptions {
  bool observe = false;  ///< Nothing is written, nothing is read.
  int jobs_in_flight = 16;
  /// After an error: doubled each time, with jitter.
  Millis first_backoff{500};
  Millis longest_backoff{60'000};
  uint32_t seed = 1;  ///< Of the jitter.
  /// For how long a cluster that refused a job is not tried again for it.
  Millis cluster_backoff{300'000};
  /// Applied=False counts as a refusal after so long: Karmada tries again by itself, and what the
  /// Job needs there may arrive a moment later. A name that is taken counts at once.
  Millis apply_grace{30'000};
  /// A shard whose gang has no nodes for so long is recalled, all shards of the job with it: where
  /// the member's pods are seen, and where only the phase Pending is.
  Millis unscheduled_after{300'000};
  Millis pending_too_long{1'800'000};
  /// How long a shard waits for what it refers to to be applied before it is sent all the same.
  Millis carrier_grace{5'000};
  /// Missing references are looked for again after so long (backed off from first to last).
  Millis reference_recheck{5'000};
  Millis longest_recheck{60'000};
  /// Pending is written once it has stood so long: most jobs are Running sooner, a write less.
  Millis pending_after{2'000};
  /// Status writes that change only counters, and those of a Queue, come no closer than this.
  Millis status_interval{1'000};
  /// For so long an own write counts although no watch has shown it yet.
  Millis unseen_write{10'000};
  /// Whom the access to a member's nodes is delivered for; empty: nobody, and what was delivered
  /// goes.
  std::function<std::string(const std::string& cluster)> reader_of;
  /// The path at the Karmada API below which a member's API is, through the cluster proxy, where it
  /// may be read; empty: it is not.
  std::function<std::string(const std::string& cluster)> member_path;
  /// Called when the observer was told something (a backoff, missing references): a cycle is due.
  std::function<void()> on_learnt;
  /// For logs and metrics: why a look at this job ended early. It is repeated after a backoff.
  std::function<void(const std::string& job_uid, const Error& error)> on_error;
};

class Dispatcher {
 public:
  /// All must outlive this. `state` is the cycle's State, of which everything is recorded.
  Dispatcher(Client& client, const State& state, Observer& observer, EventRecorder& events,
             DispatcherOptions options);
  Dispatcher(const Dispatcher&) = delete;
  Dispatcher& operator=(const Dispatcher&) = delete;
  ~Dispatcher();

  /// Looks at the job soon, in the order of the calls; while it is being looked at, once more
  /// afterwards; during a backoff, when that ends.
  void Look(const std::string& job_uid);
  /// Looks at every job of State or with Works, and then at what was left of jobs that are gone.
  void LookAll();
  /// These Works, which carry what shards need beside themselves, were shown or went; by namespace
  /// and name.
  void LookAtCarriers(const std::set<std::pair<std::string, std::string>>& works);
  /// After a cycle: Queues may have changed (status, member Queues), and these jobs wait. Cheap to
  /// call often: it acts at most once each status_interval.
  void AfterCycle(std::vector<PendingJob> pending);

  /// Nothing is written any more; what is in flight may still arrive.
  void Stop();
  /// Nothing to do and nothing in flight; timers (backoffs, ttl) may be set.
  [[nodiscard]] bool idle() const;

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;  // Shared with callbacks in flight, which find it stopped.
};

}  // namespace caldera
