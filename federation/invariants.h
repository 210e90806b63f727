// What every plan must keep, checked on every plan in every build: limits, conservation, exact
// sums.
#pragma once

#include <string>
#include <vector>

#include "federation/plan.h"
#include "federation/state.h"

namespace caldera {

/// The broken rules, in words, empty when the plan is sound. Written apart from the planner and
/// without its indexes, from the State's objects alone. Checked: each action names a pending
/// candidate once, or to grow or shrink a placed job of other counts, which keeps its place; who is
/// evicted or shrunk for another may be, and does not grow within 5 minutes of that; task
/// sums are the job's replicas; a split job's shards are as its annotations and Volcano want them;
/// requests are replicas x request; every tenant quota (overall and
/// per cluster) and every capability along the queue chain holds after each action; no cluster gets
/// more than its free capacity; the cluster is allowed, Ready and tolerated; other queues'
/// guarantees stay free.
std::vector<std::string> CheckPlan(const State& state, const Plan& plan);

}  // namespace caldera
