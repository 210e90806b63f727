#include "test/bench/report.h"

#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>

namespace caldera::bench {
namespace {

struct Goal {
  double wanted;
  double goal;
  bool more_is_better;
};

// The table of the issue: what is wanted now, and the goal.
const std::map<std::string, Goal> kGoals{
    {"round_1m_s64", {150, 50, false}},         {"round_1m_s1024", {300, 120, false}},
    {"nothing_fits_1m", {2000, 250, false}},    {"event_p50", {100, 5, false}},
    {"event_p99", {1000, 20, false}},           {"entitlement_1000", {500, 150, false}},
    {"entitlement_10000", {5000, 1600, false}}, {"bytes_per_pending", {200, 72, false}},
    {"growth_round", {1.5, 1.2, false}},        {"growth_nothing_fits", {1.5, 1.2, false}},
    {"ledger_share", {60, 80, true}},           {"simulate_100k", {20000, 100000, true}}};

std::string Processor() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    const size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) {
      return line.substr(colon + 2);
    }
  }
  return "unknown processor";
}

std::string Machine() {
  char copy[32];  // NOLINT(modernize-avoid-c-arrays)
  std::snprintf(copy, sizeof copy, "%.1f", MemoryCopy());
  return Processor() + ", " + std::to_string(sysconf(_SC_NPROCESSORS_ONLN)) +
         " cores, memory copy " + copy + " GB/s";
}

void Print(const Measure& measure) {
  std::printf("%-26s %12.2f %-8s", measure.name.c_str(), measure.value, measure.unit.c_str());
  if (const auto it = kGoals.find(measure.name); it != kGoals.end()) {
    const Goal& goal = it->second;
    const bool met =
        goal.more_is_better ? measure.value >= goal.wanted : measure.value <= goal.wanted;
    std::printf("  wanted %g, goal %g%s", goal.wanted, goal.goal, met ? "" : "  <-- not met");
  }
  std::printf("\n");
}

}  // namespace

double MemoryCopy() {
  constexpr size_t kBytes = size_t{64} << 20U;
  const std::vector<char> from(kBytes, 1);
  std::vector<char> to(kBytes, 2);
  const double seconds = Least(5, [&] { std::memcpy(to.data(), from.data(), kBytes); });
  return to[kBytes / 2] == 1 ? static_cast<double>(kBytes) / seconds / 1e9 : 0;
}

bool Report(const std::string& path, const std::vector<Measure>& measures) {
  std::vector<std::string> items;
  {
    std::ifstream before(path);
    for (std::string line; std::getline(before, line);) {
      const size_t end = line.rfind('}');
      if (end != std::string::npos) {
        items.push_back(line.substr(0, end + 1));
      }
    }
  }
  const std::string machine = Machine();
  for (const Measure& measure : measures) {
    Print(measure);
    char value[64];  // NOLINT(modernize-avoid-c-arrays)
    std::snprintf(value, sizeof value, "%.6g", measure.value);
    items.push_back(R"(  {"name": ")" + measure.name + R"(", "value": )" + value +
                    R"(, "unit": ")" + measure.unit + R"(", "machine": ")" + machine + "\"}");
  }
  std::fflush(stdout);
  std::ofstream out(path);
  out << "[";
  for (size_t i = 0; i < items.size(); ++i) {
    out << (i == 0 ? "\n" : ",\n") << items[i];
  }
  out << "\n]\n";
  return static_cast<bool>(out.flush());
}

}  // namespace caldera::bench
