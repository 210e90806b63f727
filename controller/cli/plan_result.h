// All that one run of `plan` found, before it is printed in one of the formats. A value.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "controller/cli/terminal.h"
#include "federation/document.h"
#include "federation/explain.h"
#include "federation/plan.h"
#include "federation/report.h"
#include "federation/time.h"

namespace caldera {

struct PlanResult {
  Time now;
  std::string digest;
  Report report;  ///< After the plan.
  Plan plan;
  std::vector<PendingJob> pending;
  std::vector<Issue> refused;
  std::vector<Issue> warnings;
  /// The jobs of --explain, with the smallest change that would admit each (empty: none was found).
  std::map<JobKey, std::vector<Edit>> would_fit_if;
};

/// For people. `wide` adds columns and leaves no row out.
std::string PlanText(const PlanResult& result, const Terminal& terminal, bool wide);

}  // namespace caldera
