// Virtual time over the planner of the live controller: State, MakePlan, EffectOf, Apply. What the
// world does (jobs come, run and end, clusters go and return, queues are edited) comes from a
// script; what is decided comes from MakePlan alone, each plan checked by CheckPlan. Pure and
// deterministic: equal scripts give equal histories. Used by `caldera simulate`, tests, benchmarks.
//
// One instant: the clock is set, everything that is due is applied together, then rounds are
// planned until a plan is empty. Between instants nothing happens, so a month costs what its events
// cost.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "federation/change.h"
#include "federation/result.h"
#include "federation/simulation_record.h"

namespace caldera {

/// What jobs are made from.
struct JobTemplate {
  Job job;  ///< Its key, uid, creation and estimate are replaced.
  /// What an evicted job keeps: whole multiples of this of its work. 0: it starts over.
  Millis checkpoint_every{0};
};

/// One job that comes. Its uid is made from its key.
struct Submission {
  Time at;
  uint32_t source = 0;  ///< Index of its JobTemplate.
  JobKey key;
  Millis duration{0};              ///< From the start of its pods to their end, at full replicas.
  std::optional<Millis> estimate;  ///< What it says of that (runningEstimate).
};

struct ScheduledChange {
  Time at;
  Change change;
};

/// A cluster that is not Ready for a while. Its jobs go on unseen (`restart` false: their ends are
/// seen at its return), or lose what they have not saved and begin again in it at its return.
struct Outage {
  std::string cluster;
  Time from;
  Time until;
  bool restart = false;
};

struct SimulationScript {
  /// The federation at the start: settings, queues, clusters, quotas; jobs are submissions.
  std::vector<Change> initial;
  Time start;
  std::optional<Time> until;  ///< Nothing at or after it happens.
  std::vector<JobTemplate> templates;
  std::vector<Submission> submissions;  ///< By time; of equal times in this order.
  /// By time. A JobDelete ends a job that was submitted; a JobUpsert of one edits it, and is
  /// ignored where there is none.
  std::vector<ScheduledChange> changes;
  std::vector<Outage> outages;

  Millis start_delay{0};  ///< From a placement until its pods run: the member's scheduler, images.
  Millis grace{0};        ///< From an eviction until its pods are gone.
  Millis cycle{0};        ///< Rounds are at least this far apart; 0: one at each instant.
  /// How often a Cluster's resourceSummary is refreshed, as Karmada does; 0: what is placed counts
  /// at once and what ends is free at once.
  Millis summary_every{0};
  /// How many samples are kept at least, if there are as many instants; at most twice that.
  size_t samples = 256;
  /// Called now and then; may be empty.
  std::function<void(Time now, size_t ended)> progress;
};

/// Errors: kInvalid, a script that contradicts itself (a duration below 1 ms, times out of order,
/// an unknown template, a job that is submitted twice); kInternal, a plan that holds what this
/// engine does not know, or that does not come to an end.
Result<SimulationRecord> Simulate(const SimulationScript& script);

}  // namespace caldera
