// The status that Volcano's job controller writes after a step. Source: volcano
// pkg/controllers/job/job_controller_actions.go (syncJob, killJob). Pure.
#pragma once

#include <string>

#include "federation/time.h"
#include "test/sandbox/member_life_objects.h"

namespace caldera::sandbox {

struct JobStatusChange {
  std::string phase;  ///< Before the step.
  std::string next;
  bool synced = false;  ///< Pods are kept: counts are those of the pods.
  bool killed = false;  ///< Only `terminating` is counted: the other counters are dropped.
  bool version_bumped = false;
  bool retried = false;
  JobCounts counts;
};

/// `old` may be empty. A status that says nothing new is returned as it was.
Value NextJobStatus(const Value& old, const MemberJob& job, const JobStatusChange& change,
                    Time now);

}  // namespace caldera::sandbox
