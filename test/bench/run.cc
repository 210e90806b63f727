// bench_run OUT.json plan MAX_PEAK_MB CALDERA ARGUMENTS...
//   runs `caldera ARGUMENTS --timings`, its result thrown away, and measures wall time, CPU time
//   and peak memory. Exit 1 where the program fails or the peak is above.
// bench_run OUT.json simulate NAME RUNS CALDERA DIR
//   runs the scenario in DIR (of bench_scenarios): jobs a second of processor time, reading and
//   printing in it, the best of RUNS, and how good the schedule was: makespan over ideal, share
//   error, work lost to evictions.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "test/bench/arguments.h"
#include "test/bench/report.h"

namespace caldera::bench {
namespace {

struct Said {
  bool good = false;
  std::string out;
  std::string err;
};

std::string ReadAll(int descriptor) {
  std::string text;
  lseek(descriptor, 0, SEEK_SET);
  std::array<char, 4096> buffer{};
  for (ssize_t n = 0; (n = read(descriptor, buffer.data(), buffer.size())) > 0;) {
    text.append(buffer.data(), static_cast<size_t>(n));
  }
  close(descriptor);
  return text;
}

/// `keep_out`: what it prints is kept, else thrown away.
Said RunProgram(const std::vector<std::string>& command, bool keep_out) {
  std::vector<char*> argv;
  for (const std::string& word : command) {
    argv.push_back(const_cast<char*>(word.c_str()));
  }
  argv.push_back(nullptr);
  const int out =
      keep_out ? memfd_create("out", MFD_CLOEXEC) : open("/dev/null", O_RDWR | O_CLOEXEC);
  const int err = memfd_create("err", MFD_CLOEXEC);
  const pid_t child = fork();
  if (child == 0) {
    dup2(out, STDOUT_FILENO);
    dup2(err, STDERR_FILENO);
    execv(argv[0], argv.data());
    _exit(127);
  }
  int status = 0;
  Said said;
  said.good = child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
              WEXITSTATUS(status) == 0;
  said.err = ReadAll(err);
  if (keep_out) {
    said.out = ReadAll(out);
  } else {
    close(out);
  }
  if (!said.good) {
    std::fprintf(stderr, "%sbench_run: %s failed\n", said.err.c_str(), argv[0]);
  }
  return said;
}

double Seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

/// Of all programs that were run and have ended.
double ChildrenSeconds() {
  rusage usage{};
  getrusage(RUSAGE_CHILDREN, &usage);
  return Seconds(usage.ru_utime) + Seconds(usage.ru_stime);
}

/// `timing NAME SECONDS` lines.
std::map<std::string, double> Timings(const std::string& said) {
  std::map<std::string, double> timings;
  std::istringstream lines(said);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string head;
    std::string phase;
    double seconds = 0;
    if (words >> head >> phase >> seconds && head == "timing") {
      timings[phase] = seconds;
    }
  }
  return timings;
}

int Plan(const std::string& out, double max_mb, std::vector<std::string> command) {
  command.emplace_back("--timings");
  const auto start = Clock::now();
  const Said said = RunProgram(command, false);
  const double wall = SecondsSince(start);
  if (!said.good) {
    return 1;
  }
  rusage usage{};
  getrusage(RUSAGE_CHILDREN, &usage);
  const double peak_mb = static_cast<double>(usage.ru_maxrss) / 1024;
  std::vector<Measure> measures{{"plan.wall", wall, "s"},
                                {"plan.cpu", ChildrenSeconds(), "s"},
                                {"plan.peak_memory", peak_mb, "MiB"}};
  std::map<std::string, double> timings = Timings(said.err);
  for (const auto& [phase, seconds] : timings) {
    measures.push_back({"plan." + phase, seconds, "s"});
  }
  // Reading is what turns YAML into documents.
  measures.push_back({"plan.share_of_parsing", 100 * timings["read"] / std::max(wall, 1e-9), "%"});
  if (!Report(out, measures)) {
    return 1;
  }
  if (peak_mb > max_mb) {
    std::printf("peak memory is above the limit of %.0f MiB\n", max_mb);
    return 1;
  }
  return 0;
}

/// The first number after `"key":`; in the contract the totals come first.
double NumberOf(const std::string& json, const std::string& key) {
  const std::string quoted = "\"" + key + "\":";
  const size_t at = json.find(quoted);
  return at == std::string::npos ? -1 : std::atof(json.c_str() + at + quoted.size());
}

int Simulate(const std::string& out, const std::string& name, int runs,
             const std::vector<std::string>& command) {
  double least = 1e9;
  std::string json;
  for (int run = 0; run < runs; ++run) {
    const double before = ChildrenSeconds();
    const Said said = RunProgram(command, true);
    if (!said.good) {
      return 1;
    }
    least = std::min(least, ChildrenSeconds() - before);
    json = said.out;
  }
  const double jobs = NumberOf(json, "jobs");
  const bool plain = name == "simulate_100k";
  const std::vector<Measure> measures{
      {plain ? name : name + ".simulate", jobs / std::max(least, 1e-9), "jobs/s"},
      {name + ".makespan_over_ideal", NumberOf(json, "makespanOverIdeal"), "x"},
      {name + ".share_error", 100 * NumberOf(json, "shareError"), "%"},
      {name + ".utilisation", 100 * NumberOf(json, "utilisation"), "%"},
      {name + ".evicted_work", 100 * NumberOf(json, "lostWork"), "%"}};
  return Report(out, measures) ? 0 : 1;
}

}  // namespace
}  // namespace caldera::bench

int main(int argc, char** argv) {
  using caldera::bench::Positive;
  const std::vector<std::string> words(argv, argv + argc);
  if (argc >= 5 && words[2] == "plan" && Positive(words[3]) > 0) {
    return caldera::bench::Plan(words[1], std::atof(argv[3]), {words.begin() + 4, words.end()});
  }
  if (argc == 7 && words[2] == "simulate" && Positive(words[4]) > 0) {
    return caldera::bench::Simulate(words[1], words[3], static_cast<int>(Positive(words[4])),
                                    {words[5], "simulate", "-f", words[6], "--scenario",
                                     words[6] + "/scenario.yaml", "-o", "json"});
  }
  std::fputs(
      "usage: bench_run OUT.json plan MAX_PEAK_MB CALDERA ARGUMENTS...\n"
      "       bench_run OUT.json simulate NAME RUNS CALDERA DIR\n",
      stderr);
  return 2;
}
