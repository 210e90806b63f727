// The objects that Volcano's job controller makes of a Job: its PodGroup and its pods. Source:
// volcano pkg/controllers/job (names, labels, annotations). Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "federation/intake.h"
#include "test/sandbox/member_life_phase.h"
#include "test/sandbox/tree.h"

namespace caldera::sandbox {

/// A Job as the member keeps it, read once for each generation.
struct MemberJob {
  Value object;
  Job job;
  JobFacts facts;
  JobShape shape;
};

/// nullopt: not a Job that Volcano's admission would let in (none can be there beside it).
std::optional<MemberJob> ReadMemberJob(const Value& object, Time now);

std::string PodGroupName(const Value& job);
std::string PodName(const std::string& job, const std::string& task, int64_t index);

Value MakePodGroup(const MemberJob& job);
/// `task` is the index of the task in the Job.
Value MakePod(const MemberJob& job, size_t task, int64_t index, const Value& job_status);

/// Volcano's ownerReference of what a Job makes.
Value OwnedBy(const Value& job);

/// What a pod of a Job says about itself.
struct PodFacts {
  std::string job_uid;  ///< Empty: no Job's.
  std::string task;
  int64_t index = 0;
  std::string partition;
  int64_t version = 0;
};
PodFacts ReadPodFacts(const Value& pod);

}  // namespace caldera::sandbox
