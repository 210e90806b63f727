// What Volcano's admission webhooks let into a member, as far as Jobs are concerned. Source:
// volcano pkg/webhooks/admission/jobs. Pure.
#pragma once

#include "federation/time.h"
#include "test/sandbox/mirror.h"

namespace caldera::sandbox {

/// `before` is null for a create, which gets its defaults. Error: kInvalid as the webhook says it.
Status AdmitAsVolcano(const ResourceType& type, const Value* before, Value& object,
                      const Mirror& queues, Time now);

}  // namespace caldera::sandbox
