// What a benchmark measured, as `bench.json`: a list of {name, value, unit, machine, hop}, an item
// a line. Several programs add to one file. `machine` says what it ran on and of which commit;
// `hop` is the memory probe right after the measurement, by which runs on other machines (or in
// other company) can be compared (gate.h).
#pragma once

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

namespace caldera::bench {

struct Measure {
  std::string name;
  double value = 0;
  std::string unit;
};

/// Prints the measures, and adds them to the list in `path` (which is made where it is not there).
/// The commit comes from BENCH_COMMIT in the environment. False where it cannot be written.
bool Report(const std::string& path, const std::vector<Measure>& measures);

/// GB/s of copying memory, the best of some.
double MemoryCopy();
/// Nanoseconds of a dependent read in 64 MiB in no order, the least of some.
double MemoryHop();

using Clock = std::chrono::steady_clock;
inline double SecondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Processor time of this process so far, in seconds. On an idle machine as much as the clock says
/// for what neither waits nor has threads; on a busy one the time that others take is left out.
double ProcessorSeconds();

/// The least processor time of `runs` calls, in seconds: other processes can only add to it.
template <typename Run>
double Least(int runs, const Run& run) {
  double least = 1e9;
  for (int i = 0; i < runs; ++i) {
    const double start = ProcessorSeconds();
    run();
    least = std::min(least, ProcessorSeconds() - start);
  }
  return least;
}

}  // namespace caldera::bench
