// A simulation as a picture (SVG): what each queue had and what it deserved, stacked; the jobs that
// wait; how full each cluster was. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "controller/cli/simulate_summary.h"
#include "federation/simulation_record.h"

namespace caldera {

/// Something that happened: a line, or a band until its end.
struct PlotMark {
  Time from;
  std::optional<Time> until;
  std::string label;
};

std::string PlotSimulation(const SimulationRecord& record, const SimulationFigures& figures,
                           const std::vector<PlotMark>& marks);

}  // namespace caldera
