// What a benchmark measured, as `bench.json`: a list of {name, value, unit, machine}, an item a
// line. Several programs add to one file. The machine's text holds a memory probe of the same run,
// by which runs on other machines (or in other company) can be compared.
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
/// False where it cannot be written.
bool Report(const std::string& path, const std::vector<Measure>& measures);

/// GB/s of copying memory, the best of some.
double MemoryCopy();

using Clock = std::chrono::steady_clock;
inline double SecondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// The least time of `runs` calls, in seconds: other processes can only add to it.
template <typename Run>
double Least(int runs, const Run& run) {
  double least = 1e9;
  for (int i = 0; i < runs; ++i) {
    const auto start = Clock::now();
    run();
    least = std::min(least, SecondsSince(start));
  }
  return least;
}

}  // namespace caldera::bench
