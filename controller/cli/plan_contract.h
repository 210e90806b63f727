// `-o json` and `-o yaml` of `plan`: the public contract caldera.plan/v1. `rank` counts from 1 in
// each list: in `placements` the order of decisions, in `pending` who is next if room appears.
#pragma once

#include <ostream>

#include "controller/cli/plan_result.h"
#include "controller/cli/section_writer.h"

namespace caldera {

/// `format` is kJson or kYaml.
void WritePlanContract(const PlanResult& result, Format format, std::ostream& out);

}  // namespace caldera
