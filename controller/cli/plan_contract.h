// `-o json` and `-o yaml` of `plan`: the public contract caldera.plan/v1.
#pragma once

#include <ostream>

#include "controller/cli/plan_result.h"
#include "controller/cli/section_writer.h"

namespace caldera {

/// `format` is kJson or kYaml.
void WritePlanContract(const PlanResult& result, Format format, std::ostream& out);

}  // namespace caldera
