// What Volcano's controller makes of a Job: the numbers of its PodGroup, and what the job asks for.
// Pure. Source of the rules: Volcano pkg/controllers/job (calcPGMinResources,
// createOrUpdatePodGroup).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "federation/intake.h"
#include "federation/model.h"

namespace caldera {

/// `priorities`: of each task's pods, by position in `job.tasks`; where a job's floor is below the
/// sum of its tasks' floors, or above it, the pods of higher priority are counted first (equal ones
/// in the order of the list). Missing entries are 0.
///
/// minMember is the job's minAvailable and minTaskMember that of every task. The resources of the
/// floor: with minAvailable below the sum of the tasks' floors, the first minAvailable pods, every
/// replica of one task before the next; else the floor of each task, then further replicas up to
/// minAvailable. Each pod counts with its request as the scheduler sees it, so limits stand in for
/// missing requests (Volcano's PodGroup leaves those out; the pods are charged them all the same).
/// Worked example, case c04: ps 2 of 2, worker 3 of 4, evaluator 0 of 1, job floor 5: the floor is
/// 2 ps and 3 workers.
JobFacts MakeJobFacts(const Job& job, const std::vector<int32_t>& priorities);

}  // namespace caldera
