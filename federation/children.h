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

/// `<replicatedJob>-<i>`.
std::string ChildName(const ReplicatedJob& job, int64_t index);
/// The name of the Job in the member: `<job>-<child>`, as Volcano's HyperJob controller names it.
std::string MemberJobName(const std::string& job, const std::string& child);
/// A task's name in the member: without the replicatedJob before it.
std::string_view MemberTask(std::string_view task);
/// A HyperJob `job` of that spec has, or may get, a child whose Job is called `name`.
bool IsChildJob(const JobSpec& spec, const std::string& job, std::string_view name);
/// False for a HyperJob all of whose templates have replicas 0.
bool HasChildren(const JobSpec& spec);

}  // namespace caldera
