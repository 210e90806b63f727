// How `caldera simulate` shows a simulation: as text for people, as the public contract
// `caldera.simulate/v1` (JSON, YAML), as CSV. Member and column names are stable: they are only
// ever added to. One thread.
#pragma once

#include <ostream>
#include <string>

#include "controller/cli/section_writer.h"
#include "controller/cli/simulate_summary.h"
#include "controller/cli/terminal.h"

namespace caldera {

/// `2d3h`, `1h30m`, `45s`, `250ms`: the two largest units, for tables.
std::string ShortSpan(Millis span);

std::string SimulationText(const SimulationRecord& record, const SimulationFigures& figures,
                           const Terminal& terminal);

/// `jobs`: with a list of all jobs.
void WriteSimulation(const SimulationRecord& record, const SimulationFigures& figures,
                     Format format, bool jobs, std::ostream& out);

enum class CsvRows { kQueues, kClusters, kJobs, kSamples };
void WriteSimulationCsv(const SimulationRecord& record, const SimulationFigures& figures,
                        CsvRows rows, std::ostream& out);

}  // namespace caldera
