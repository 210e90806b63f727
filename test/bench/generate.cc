// bench_generate DIR JOBS QUEUES CLUSTERS: writes a federation's manifests, the same bytes for the
// same arguments: a queue tree of three levels, tenants with quotas, clusters of three sizes, jobs
// in five shapes (MPI, PyTorch, TensorFlow, plain, array), about half of which fit.
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>
#include <system_error>

#include "test/bench/arguments.h"

namespace {

constexpr int kTenants = 40;
constexpr int kJobsInAFile = 500;

struct Sizes {
  int jobs = 0;
  int queues = 0;
  int clusters = 0;
};

// A fixed sequence of small numbers (a linear congruence): no two runs differ.
class Sequence {
 public:
  int Below(int n) {
    state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
    return static_cast<int>((state_ >> 33U) % static_cast<uint64_t>(n));
  }

 private:
  uint64_t state_ = 20261201;
};

std::string Stamp(int second_of_day) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "2026-12-01T%02d:%02d:%02dZ", second_of_day / 3600,
                second_of_day / 60 % 60, second_of_day % 60);
  return text.data();
}

// root -> every tenth queue -> nine leaves each.
void WriteQueues(std::ostream& out, int queues) {
  for (int i = 0; i < queues; ++i) {
    const bool parent = i % 10 == 0;
    out << "---\napiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata: {name: q" << i
        << "}\nspec:\n  weight: " << 1 + i % 7 << "\n";
    if (!parent) {
      out << "  parent: q" << i / 10 * 10 << "\n";
      if (i % 4 == 1) {
        out << "  capability: {cpu: \"" << 2000 + 40 * i << "\", nvidia.com/gpu: \"" << 32 + i
            << "\"}\n";
      }
      if (i % 25 == 3) {
        out << "  guarantee: {resource: {cpu: \"64\"}}\n";
      }
    }
  }
  for (int i = 0; i < 5; ++i) {
    out << "---\napiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: p" << i
        << "}\nvalue: " << i * 100 << "\n";
  }
}

void WriteTenants(std::ostream& out) {
  for (int i = 0; i < kTenants; ++i) {
    out << "---\napiVersion: policy.karmada.io/v1alpha1\nkind: FederatedResourceQuota\n"
        << "metadata: {name: quota, namespace: team-" << i << "}\nspec:\n  overall: {cpu: \""
        << 6000 + 100 * i << "\", memory: 40Ti}\n";
  }
}

void WriteClusters(std::ostream& out, int clusters) {
  for (int i = 0; i < clusters; ++i) {
    const int cpu = 1000 << (i % 3);
    const bool accelerators = i % 4 == 0;
    out << "---\napiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata:\n  name: member-"
        << i << "\n  labels: {tier: t" << i % 3 << "}\nspec: {syncMode: Push, region: r" << i % 5
        << ", zones: [z" << i % 20
        << "]}\nstatus:\n  apiEnablements:\n  - groupVersion: batch.volcano.sh/v1alpha1\n"
           "    resources: [{kind: Job, name: jobs}]\n  conditions: [{type: Ready, status: \""
        << (i % 33 == 32 ? "False" : "True")
        << "\", reason: r, lastTransitionTime: \"2026-11-01T00:00:00Z\"}]\n  resourceSummary:\n"
           "    allocatable: {cpu: \""
        << cpu << "\", memory: " << cpu * 4 << "Gi, pods: \"" << cpu
        << (accelerators ? R"(", nvidia.com/gpu: "128"})" : R"("})") << "\n    allocated: {cpu: \""
        << cpu / 10 << "\", memory: " << cpu / 5 << "Gi, pods: \"" << cpu / 20 << "\"}\n";
  }
}

struct TaskShape {
  const char* name;
  int replicas;
  int cpu;
  int memory_gi;
  int gpus;
};

void WriteTask(std::ostream& out, const TaskShape& task) {
  out << "  - name: " << task.name << "\n    replicas: " << task.replicas
      << "\n    policies: [{event: TaskCompleted, action: CompleteJob}]\n    template:\n"
         "      metadata: {labels: {app: bench}}\n      spec:\n        restartPolicy: OnFailure\n"
         "        containers:\n        - name: main\n          image: registry.example/bench:1\n"
         "          command: [sh, -c, \"exec run --size=large\"]\n          env:\n"
         "          - {name: MODE, value: bench}\n          - {name: LOG_LEVEL, value: info}\n"
         "          resources:\n            requests: {cpu: \""
      << task.cpu << "\", memory: " << task.memory_gi << "Gi}\n";
  if (task.gpus > 0) {
    out << "            limits: {nvidia.com/gpu: \"" << task.gpus << "\"}\n";
  }
}

void WriteJob(std::ostream& out, int i, int queues, Sequence& random) {
  const int leaf = queues > 1 ? 1 + random.Below(queues - 1) : 0;
  const int queue = leaf % 10 == 0 ? leaf + 1 < queues ? leaf + 1 : leaf - 1 : leaf;
  out << "---\napiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nmetadata:\n  name: job-" << i
      << "\n  namespace: team-" << random.Below(kTenants) << "\n  creationTimestamp: \""
      << Stamp(i * 4 % 86400) << "\"\n";
  if (i % 50 == 7) {
    out << "  annotations: {federation.caldera.sh/cluster-selector: \"tier=t1\"}\n";
  }
  out << "spec:\n  schedulerName: volcano\n  queue: q" << queue << "\n  priorityClassName: p"
      << random.Below(5) << "\n";
  const int size = 1 << random.Below(5);
  switch (i % 5) {
    case 0:
      out << "  plugins: {mpi: [\"--master=master\", \"--worker=worker\"]}\n  tasks:\n";
      WriteTask(out, {"master", 1, 1, 2, 0});
      WriteTask(out, {"worker", size, 4, 16, 0});
      break;
    case 1:
      out << "  plugins: {pytorch: []}\n  tasks:\n";
      WriteTask(out, {"master", 1, 8, 32, 1});
      WriteTask(out, {"worker", 1 + size / 4, 8, 32, 1});
      break;
    case 2:
      out << "  plugins: {svc: [], env: []}\n  tasks:\n";
      WriteTask(out, {"ps", 2, 2, 8, 0});
      WriteTask(out, {"worker", size, 4, 16, 0});
      break;
    case 3:
      out << "  tasks:\n";
      WriteTask(out, {"main", 1, 1 + random.Below(8), 4, 0});
      break;
    default:
      out << "  minAvailable: 1\n  tasks:\n";
      WriteTask(out, {"item", 4 * size, 1, 2, 0});
      break;
  }
}

bool Write(const std::filesystem::path& folder, const Sizes& sizes) {
  std::ofstream federation(folder / "0-federation.yaml");
  WriteQueues(federation, sizes.queues);
  WriteTenants(federation);
  WriteClusters(federation, sizes.clusters);
  bool good = static_cast<bool>(federation.flush());
  Sequence random;
  for (int first = 0; first < sizes.jobs; first += kJobsInAFile) {
    std::ofstream jobs(folder / ("jobs-" + std::to_string(100000 + first) + ".yaml"));
    for (int i = first; i < sizes.jobs && i < first + kJobsInAFile; ++i) {
      WriteJob(jobs, i, sizes.queues, random);
    }
    good = good && jobs.flush();
  }
  return good;
}

}  // namespace

int main(int argc, char** argv) {
  const auto arguments = caldera::bench::ReadArguments(argc, argv, 4, 4);
  Sizes sizes;
  if (arguments.has_value()) {
    const auto number = [&](size_t word) {
      return static_cast<int>(caldera::bench::Positive(arguments->words[word]));
    };
    sizes = {number(1), number(2), number(3)};
  }
  if (sizes.jobs == 0 || sizes.queues == 0 || sizes.clusters == 0) {
    std::fputs("usage: bench_generate DIR JOBS QUEUES CLUSTERS\n", stderr);
    return 2;
  }
  const std::string& folder = arguments->words[0];
  std::error_code failure;
  std::filesystem::create_directories(folder, failure);
  if (failure || !Write(folder, sizes)) {
    std::fprintf(stderr, "bench_generate: cannot write %s\n", folder.c_str());
    return 1;
  }
  return 0;
}
