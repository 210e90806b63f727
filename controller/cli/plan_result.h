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
#include "federation/turn.h"

namespace caldera {

struct Explained {
  std::vector<Edit> would_fit_if;  ///< Empty: no such change was found.
  std::vector<QueueAhead> ahead;
};

struct PlanResult {
  Time now;
  std::string digest;
  Report report;  ///< After the plan.
  Plan plan;
  std::vector<PendingJob> pending;
  std::vector<Issue> refused;
  std::vector<Issue> warnings;
  std::map<JobKey, Explained> explained;  ///< The jobs of --explain.
};

/// For people. `wide` adds columns and leaves no row out.
std::string PlanText(const PlanResult& result, const Terminal& terminal, bool wide);

}  // namespace caldera
