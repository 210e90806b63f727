// A Job's lifecycle policies: which action an event of one of its pods asks for. Source: volcano
// pkg/controllers/job/job_controller_util.go. Pure.
#pragma once

#include <optional>
#include <string>

#include "federation/document.h"
#include "federation/time.h"
#include "test/sandbox/member_life_phase.h"

namespace caldera::sandbox {

struct PodEvent {
  std::string event;  ///< PodFailed, PodEvicted, PodPending, TaskCompleted, TaskFailed.
  std::string task;
  std::string pod;
  std::string partition;
  std::optional<int64_t> exit_code;  ///< Of PodFailed.
};

struct PolicyAction {
  JobAction action;
  Millis timeout{0};  ///< The action comes after so long, unless the pod recovers.
};

/// The first of the task's policies that matches, else the first of the Job's; nullopt: none does.
/// `job` is the whole Job.
std::optional<PolicyAction> FindPolicy(const Value& job, const PodEvent& event);

}  // namespace caldera::sandbox
