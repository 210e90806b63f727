// bench_run OUT.json MAX_PEAK_MB PROGRAM ARGUMENTS...: runs `caldera plan ... --timings`, its
// result thrown away, and measures wall time, CPU time and peak memory; prints a table and writes
// OUT.json, a list of {name, value, unit, machine}. Exit 1 where the program fails or the peak is
// above.
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace {

struct Measure {
  std::string name;
  double value = 0;
  std::string unit;
};

// What the program said on stderr, or nothing where it failed.
bool RunProgram(char** command, std::string& said) {
  std::array<int, 2> pipe_ends{};
  if (pipe(pipe_ends.data()) != 0) {
    return false;
  }
  const pid_t child = fork();
  if (child == 0) {
    const int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    dup2(null, STDOUT_FILENO);
    dup2(pipe_ends[1], STDERR_FILENO);
    close(pipe_ends[0]);
    close(pipe_ends[1]);
    execv(command[0], command);
    _exit(127);
  }
  close(pipe_ends[1]);
  std::array<char, 4096> buffer{};
  for (ssize_t n = 0; (n = read(pipe_ends[0], buffer.data(), buffer.size())) > 0;) {
    said.append(buffer.data(), static_cast<size_t>(n));
  }
  close(pipe_ends[0]);
  int status = 0;
  return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
         WEXITSTATUS(status) == 0;
}

std::string Machine() {
  std::ifstream info("/proc/cpuinfo");
  std::string model = "unknown processor";
  for (std::string line; std::getline(info, line);) {
    const size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) {
      model = line.substr(colon + 2);
      break;
    }
  }
  return model + ", " + std::to_string(sysconf(_SC_NPROCESSORS_ONLN)) + " cores";
}

double Seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

// `timing NAME SECONDS` lines; reading is what turns YAML into documents.
void AddPhases(const std::string& said, double wall, std::vector<Measure>& measures) {
  std::istringstream lines(said);
  double reading = 0;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string head;
    std::string phase;
    double seconds = 0;
    if (words >> head >> phase >> seconds && head == "timing") {
      measures.push_back({"plan." + phase, seconds, "s"});
      reading = phase == "read" ? seconds : reading;
    }
  }
  measures.push_back({"plan.share_of_parsing", wall > 0 ? 100 * reading / wall : 0, "%"});
}

void WriteJson(const std::string& path, const std::vector<Measure>& measures) {
  const std::string machine = Machine();
  std::ofstream out(path);
  out << "[";
  for (size_t i = 0; i < measures.size(); ++i) {
    out << (i == 0 ? "\n" : ",\n") << R"(  {"name": ")" << measures[i].name << R"(", "value": )"
        << measures[i].value << R"(, "unit": ")" << measures[i].unit << R"(", "machine": ")"
        << machine << "\"}";
  }
  out << "\n]\n";
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fputs("usage: bench_run OUT.json MAX_PEAK_MB PROGRAM ARGUMENTS...\n", stderr);
    return 2;
  }
  const auto start = std::chrono::steady_clock::now();
  std::string said;
  if (!RunProgram(argv + 3, said)) {
    std::fprintf(stderr, "%sbench_run: %s failed\n", said.c_str(), argv[3]);
    return 1;
  }
  const double wall =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  rusage usage{};
  getrusage(RUSAGE_CHILDREN, &usage);
  const double peak_mb = static_cast<double>(usage.ru_maxrss) / 1024;
  std::vector<Measure> measures{
      {"plan.wall", wall, "s"},
      {"plan.cpu", Seconds(usage.ru_utime) + Seconds(usage.ru_stime), "s"},
      {"plan.peak_memory", peak_mb, "MiB"}};
  AddPhases(said, wall, measures);
  for (const Measure& measure : measures) {
    std::printf("%-24s %10.2f %s\n", measure.name.c_str(), measure.value, measure.unit.c_str());
  }
  WriteJson(argv[1], measures);
  const double max_mb = std::atof(argv[2]);
  if (peak_mb > max_mb) {
    std::printf("peak memory is above the limit of %.0f MiB\n", max_mb);
    return 1;
  }
  return 0;
}
