// bench_scenarios NAME DIR [SCALE]: writes a federation and a scenario for `caldera simulate` to
// DIR, the same bytes for the same arguments. SCALE divides the number of jobs (1: as named).
//   simulate_100k  100,000 jobs in an hour, 100 queues, 20 clusters, 16 shapes, a little overload
//   b1_kueue       Kueue's performance baseline: 5 cohorts of 6 queues, 15,000 jobs in a minute
//   b4_armada      Armada's steady state: 100 nodes of 32 cores, 10 queues of 3,200 jobs
//   b5_armada      the same, larger: 1,000 nodes, 1 queue of 320,000 jobs
//   b8_blocked     10,000 jobs for a flavour that is full, one for another at position 1,000
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <system_error>

#include "test/bench/arguments.h"

namespace {

class Writer {
 public:
  Writer(const std::filesystem::path& folder, int scale)
      : objects_(folder / "federation.yaml"), scenario_(folder / "scenario.yaml"), scale_(scale) {
    scenario_ << "apiVersion: caldera.simulate/v1\nkind: Scenario\n"
              << "start: 2026-12-01T00:00:00Z\nseed: 20261201\n";
  }

  /// `resources` as in YAML's flow style: `cpu: "4", memory: 8Gi`.
  void Cluster(const std::string& name, const std::string& resources) {
    objects_ << "---\napiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {name: "
             << name << "}\nspec: {syncMode: Push}\nstatus:\n"
             << "  conditions: [{type: Ready, status: \"True\", reason: r}]\n"
             << "  resourceSummary: {allocatable: {" << resources << "}}\n";
  }
  void Queue(const std::string& name, const std::string& spec) {
    objects_ << "---\napiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata: {name: "
             << name << "}\nspec: {" << spec << "}\n";
  }
  void Priority(const std::string& name, int value) {
    objects_ << "---\napiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: "
             << name << "}\nvalue: " << value << "\n";
  }
  /// A gang of `pods`, each of which asks for `requests`.
  void Template(const std::string& name, int pods, const std::string& requests) {
    objects_ << "---\napiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nmetadata: {name: " << name
             << ", namespace: bench}\nspec:\n  minAvailable: " << pods
             << "\n  tasks:\n  - name: main\n    replicas: " << pods
             << "\n    template:\n      spec:\n        containers:\n        - name: main\n"
             << "          image: registry.example/bench:1\n          resources: {limits: {"
             << requests << "}}\n";
  }
  void Settings(const std::string& settings) {
    scenario_ << "settings: {" << settings << "}\nsubmissions:\n";
  }
  /// `rest` in flow style: everything but the template and the count.
  void Submit(const std::string& source, int count, const std::string& rest) {
    const int scaled = count / scale_ > 0 ? count / scale_ : 1;
    scenario_ << "- {template: bench/" << source << ", count: " << scaled << ", " << rest << "}\n";
  }
  bool Finish() { return objects_.flush() && scenario_.flush(); }
  [[nodiscard]] int scale() const { return scale_; }

 private:
  std::ofstream objects_;
  std::ofstream scenario_;
  int scale_;
};

std::string Text(int number) { return std::to_string(number); }

// 10 departments of 9 teams; arrivals so that the clusters are a little too small.
void Simulate100k(Writer& out) {
  constexpr int kShapes = 16;
  for (int c = 0; c < 20; ++c) {
    out.Cluster("member-" + Text(c), R"(cpu: "4500", memory: 18000Gi, pods: "20000")");
  }
  for (int s = 0; s < kShapes; ++s) {
    out.Template("shape-" + Text(s), 1 + s % 7,
                 "cpu: \"" + Text(1 + s % 4) + "\", memory: " + Text(4 << (s % 3)) + "Gi");
  }
  int leaves = 0;
  for (int d = 0; d < 10; ++d) {
    const std::string department = "d" + Text(d);
    out.Queue(department, "weight: " + Text(1 + d % 3));
    for (int t = 0; t < 9; ++t) {
      out.Queue(department + "t" + Text(t),
                "weight: " + Text(1 + t % 4) + ", parent: " + department);
      ++leaves;
    }
  }
  out.Settings("resolution: 1s");
  constexpr int kJobs = 100'000;
  for (int i = 0; i < 2 * leaves; ++i) {
    const int team = i / 2;
    const int count = kJobs / (2 * leaves) + (i < kJobs % (2 * leaves) ? 1 : 0);
    out.Submit("shape-" + Text((team * 3 + i * 5) % kShapes), count,
               "name: j" + Text(i) + ", queue: d" + Text(team / 9) + "t" + Text(team % 9) +
                   ", every: {exponential: " + Text(3'600'000 / count * out.scale()) +
                   "ms}, duration: {exponential: 6m}");
  }
}

void Kueue(Writer& out) {
  struct Class {
    const char* name;
    int cores;
    int count;
    const char* every;
    const char* runs;
    int priority;
  };
  constexpr std::array<Class, 3> kClasses{{{"small", 1, 350, "100ms", "200ms", 50},
                                           {"medium", 5, 100, "500ms", "500ms", 100},
                                           {"large", 20, 50, "1200ms", "1s", 200}}};
  out.Cluster("kwok", R"(cpu: "600", memory: 100Ti, pods: "100000")");
  for (const Class& c : kClasses) {
    out.Priority(c.name, c.priority);
    out.Template(c.name, 1, "cpu: \"" + Text(c.cores) + "\"");
  }
  for (int cohort = 0; cohort < 5; ++cohort) {
    const std::string parent = "cohort-" + Text(cohort);
    out.Queue(parent, R"(weight: 1, capability: {cpu: "120"}, deserved: {cpu: "120"})");
    for (int q = 0; q < 6; ++q) {
      out.Queue(parent + "-" + Text(q), "weight: 1, parent: " + parent +
                                            R"(, capability: {cpu: "120"}, deserved: {cpu: "20"})");
    }
  }
  out.Settings("resolution: 1ms");
  for (int queue = 0; queue < 30; ++queue) {
    const std::string name = "cohort-" + Text(queue / 6) + "-" + Text(queue % 6);
    for (const Class& c : kClasses) {
      out.Submit(c.name, c.count,
                 "name: " + std::string(c.name) + "-" + Text(queue) + ", queue: " + name +
                     ", priorityClass: " + c.name + ", every: " + c.every +
                     ", duration: " + c.runs);
    }
  }
}

void Armada(Writer& out, int nodes, int queues, int jobs) {
  out.Cluster("armada", "cpu: \"" + Text(32 * nodes) + "\", memory: " + Text(128 * nodes) +
                            "Gi, pods: \"" + Text(110 * nodes) + "\"");
  out.Template("job", 1, R"(cpu: "1", memory: 4Gi)");
  for (int q = 0; q < queues; ++q) {
    out.Queue("q" + Text(q), "weight: 1");
  }
  out.Settings("resolution: 1s");
  for (int q = 0; q < queues; ++q) {
    out.Submit("job", jobs,
               "name: q" + Text(q) + ", queue: q" + Text(q) + ", duration: {uniform: [5m, 15m]}");
  }
}

void Blocked(Writer& out) {
  out.Cluster("spot", R"(cpu: "1000", memory: 1000Gi, pods: "1000", example.com/spot: "8")");
  out.Cluster("reserved",
              R"(cpu: "1000", memory: 1000Gi, pods: "1000", example.com/reserved: "8")");
  out.Queue("q", "weight: 1");
  out.Template("spot", 1, R"(cpu: "1", example.com/spot: "8")");
  out.Template("reserved", 1, R"(cpu: "1", example.com/reserved: "8")");
  out.Settings("resolution: 1s");
  out.Submit("spot", 1000, "name: ahead, queue: q, duration: 1m");
  out.Submit("reserved", 1, "name: fits, queue: q, duration: 1m");
  out.Submit("spot", 9000, "name: behind, queue: q, duration: 1m");
}

const std::map<std::string, std::function<void(Writer&)>> kWorkloads{
    {"simulate_100k", Simulate100k},
    {"b1_kueue", Kueue},
    {"b4_armada", [](Writer& out) { Armada(out, 100, 10, 3'200); }},
    {"b5_armada", [](Writer& out) { Armada(out, 1000, 1, 320'000); }},
    {"b8_blocked", Blocked}};

}  // namespace

int main(int argc, char** argv) {
  const auto arguments = caldera::bench::ReadArguments(argc, argv, 2, 3);
  const auto workload =
      arguments.has_value() ? kWorkloads.find(arguments->words[0]) : kWorkloads.end();
  const bool scaled = arguments.has_value() && arguments->words.size() == 3;
  const int64_t scale = scaled ? caldera::bench::Positive(arguments->words[2]) : 1;
  if (workload == kWorkloads.end() || scale < 1) {
    std::fputs("usage: bench_scenarios NAME DIR [SCALE], of these names:\n", stderr);
    for (const auto& [name, write] : kWorkloads) {
      std::fprintf(stderr, "  %s\n", name.c_str());
    }
    return 2;
  }
  std::error_code failure;
  const std::string& folder = arguments->words[1];
  std::filesystem::create_directories(folder, failure);
  Writer writer(folder, static_cast<int>(scale));
  workload->second(writer);
  if (failure || !writer.Finish()) {
    std::fprintf(stderr, "bench_scenarios: cannot write %s\n", folder.c_str());
    return 1;
  }
  return 0;
}
