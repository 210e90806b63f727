#include "test/bench/report.h"

#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <numeric>

namespace caldera::bench {
namespace {

constexpr size_t kProbeBytes = size_t{64} << 20U;
constexpr int kProbeRuns = 5;

std::string Number(const char* format, double value) {
  char text[64];  // NOLINT(modernize-avoid-c-arrays)
  std::snprintf(text, sizeof text, format, value);
  return text;
}

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

std::string Compiler() {
#ifdef __clang__
  return "clang " __clang_version__;
#else
  return "g++ " __VERSION__;
#endif
}

std::string Machine() {
  const double bytes =
      static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  const char* commit = std::getenv("BENCH_COMMIT");  // NOLINT(concurrency-mt-unsafe): one thread.
  std::string machine = Processor() + ", " + std::to_string(sysconf(_SC_NPROCESSORS_ONLN)) +
                        " cores, " + Number("%.1f GiB", bytes / (1 << 30)) + ", memory copy " +
                        Number("%.1f GB/s", MemoryCopy()) + ", " + Compiler() + ", commit " +
                        (commit == nullptr ? "unknown" : commit);
  std::erase_if(machine, [](char c) { return c == '"' || c == '\\'; });
  return machine;
}

}  // namespace

double ProcessorSeconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

double MemoryCopy() {
  const std::vector<char> from(kProbeBytes, 1);
  std::vector<char> to(kProbeBytes, 2);
  const double seconds =
      Least(kProbeRuns, [&] { std::memcpy(to.data(), from.data(), kProbeBytes); });
  return to[kProbeBytes / 2] == 1 ? static_cast<double>(kProbeBytes) / seconds / 1e9 : 0;
}

double MemoryHop() {
  constexpr size_t kLine = 64 / sizeof(uint32_t);
  constexpr auto kLines = static_cast<uint32_t>(kProbeBytes / 64);
  std::vector<uint32_t> order(kLines);
  std::iota(order.begin(), order.end(), 0U);
  // One ring through all lines: Sattolo's shuffle, with the numbers of a linear congruence.
  uint64_t random = 20261201;
  for (uint32_t i = kLines - 1; i > 0; --i) {
    random = random * 6364136223846793005ULL + 1442695040888963407ULL;
    std::swap(order[i], order[(random >> 33U) % i]);
  }
  std::vector<uint32_t> lines(kLines * kLine);
  for (uint32_t i = 0; i < kLines; ++i) {
    lines[i * kLine] = order[i];
  }
  constexpr int kHops = 400'000;
  uint32_t at = 0;
  const double seconds = Least(kProbeRuns, [&] {
    for (int hop = 0; hop < kHops; ++hop) {
      at = lines[at * kLine];
    }
  });
  return at < kLines ? seconds / kHops * 1e9 : 0;
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
  const std::string tail =
      R"(", "machine": ")" + Machine() + R"(", "hop": )" + Number("%.1f", MemoryHop()) + "}";
  for (const Measure& measure : measures) {
    std::printf("%-30s %12.2f %s\n", measure.name.c_str(), measure.value, measure.unit.c_str());
    items.push_back(R"(  {"name": ")" + measure.name + R"(", "value": )" +
                    Number("%.6g", measure.value) + R"(, "unit": ")" + measure.unit + tail);
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
