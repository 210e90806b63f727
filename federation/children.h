// The children of a HyperJob: which Jobs are made of it in the members, and how their names and
// tasks read there. A Job is its own only one, with an empty child. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "federation/shape.h"

namespace caldera {

/// As many are made of a HyperJob at most: their names and states have to find room in one object.
inline constexpr int64_t kMostChildren = 1000;

// Conditions of a HyperJob's status that are True: Volcano's own two, at the end; and ours, while a
// Command has aborted it.
inline constexpr std::string_view kCompletedCondition = "Completed";
inline constexpr std::string_view kFailedCondition = "Failed";
inline constexpr std::string_view kSuspendedCondition = "Suspended";

/// `<replicatedJob>-<i>`.
std::string ChildName(const ReplicatedJob& job, int64_t index);
/// The name of the Job in the member: `<job>-<child>`, as Volcano's HyperJob controller names it.
std::string MemberJobName(const std::string& job, const std::string& child);
/// The replicatedJob that a child is made of: `<name>` of `<name>-<i>`; empty for an empty child.
std::string TemplateOf(const std::string& child);
/// A task's name in the member: without the replicatedJob before it.
std::string_view MemberTask(std::string_view task);
/// The name of that task of the member's in the job: `<replicatedJob>/<task>`; of a Job the same.
std::string TaskOfChild(const std::string& child, const std::string& task);
/// A HyperJob `job` of that spec has, or may get, a child whose Job is called `name`.
bool IsChildJob(const JobSpec& spec, const std::string& job, std::string_view name);
/// False for a HyperJob all of whose templates have replicas 0.
bool HasChildren(const JobSpec& spec);

}  // namespace caldera
