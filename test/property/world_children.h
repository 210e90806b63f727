// HyperJobs of random worlds. Draws inside of a property.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "federation/model.h"

namespace caldera::property {

inline constexpr int kClusters = 4;  ///< A world has so many at most, named c0 to c3.
inline std::string ClusterName(int i) { return "c" + std::to_string(i); }

/// `job` with one or two templates, r1 and r2, in place of its tasks. `any_task` draws one of a
/// name.
Job AnyHyperJob(Job job, const std::function<Task(const std::string&)>& any_task);
/// Its children, each whole in some cluster; of a template that is divided, one.
std::vector<Shard> AnyChildren(const Job& job, int64_t epoch);

}  // namespace caldera::property
