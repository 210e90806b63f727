// A simulation's record in figures: who got how much of what they deserved, how long jobs waited,
// how well the clusters were used. What `caldera simulate` prints and plots. Integers and exact
// decimals, so that equal runs print equal bytes. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "federation/simulation_record.h"

namespace caldera {

/// By nearest rank, of the jobs that started; zero where none did.
struct WaitFigures {
  Millis p50{0};
  Millis p95{0};
  Millis most{0};
};

struct QueueFigures {
  std::string queue;
  int64_t jobs = 0;
  int64_t done = 0;
  int64_t running = 0;
  int64_t waiting = 0;
  int64_t deleted = 0;
  WaitFigures wait;
  ResourceList allocated;  ///< These and the like in amount-seconds.
  ResourceList deserved;
  ResourceList missed;
  int64_t evictions = 0;
  int64_t shrinks = 0;
  int64_t losses = 0;
  Millis lost{0};
  ResourceList lost_amounts;
};

struct SimulationFigures {
  std::string resource;  ///< The one that tables and plots show.
  QueueFigures total;    ///< Its name is empty.
  std::vector<QueueFigures> queues;
  ResourceList allocated;  ///< By all clusters, as is what follows.
  ResourceList allocatable;
  Millis span{0};  ///< From the start to the last instant.
  /// From the start to the last job's end, where all are done (or deleted).
  std::optional<Millis> makespan;
  /// No order of the same jobs could end earlier: the largest, over the jobs and the resources, of
  /// what must be worked off from a job's submission on, and of a job's own duration.
  Millis ideal{0};
};

/// `resource`: what to show; empty: the one (but pods) of which most was used.
SimulationFigures FiguresOf(const SimulationRecord& record, const std::string& resource);

/// part / whole in thousandths, rounded to the nearest; 0 where whole is 0.
int64_t Thousandths(int64_t part, int64_t whole);
/// Thousandths as text, `1.042`.
std::string DecimalOf(int64_t milli);
/// Of one resource; 0 where it is not there.
int64_t AmountIn(const ResourceList& list, const std::string& resource);
/// What was deserved and not had, in thousandths of what was deserved.
int64_t ShareErrorMilli(const QueueFigures& figures, const std::string& resource);

}  // namespace caldera
