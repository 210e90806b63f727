// Asks a member whether pods of a Job are left. A list without a resourceVersion is answered as of
// now or later, which no watch is: so the answer tells more than what was seen. One thread.
#pragma once

#include <functional>

#include "controller/kube/client.h"
#include "federation/model.h"

namespace caldera {

/// `member` reaches the member's API; `job` is the Job's name there. `gone`: the member has no pod
/// of it, finished ones included. False where one is left, and where the member could not be asked
/// or its answer cannot be read. Not called any more once `member` is destroyed.
void AskForPods(Client& member, const JobKey& job, std::function<void(bool gone)> done);

}  // namespace caldera
