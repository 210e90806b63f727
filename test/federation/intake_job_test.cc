#include <doctest/doctest.h>

#include <variant>

#include "test/federation/manifests.h"

using namespace caldera;

namespace {

std::string Manifest(const std::string& spec, const std::string& metadata = "name: train",
                     const std::string& status = "") {
  return "apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nmetadata: {" + metadata + "}\nspec: {" +
         spec + "}\n" + (status.empty() ? "" : "status: {" + status + "}\n");
}

constexpr const char* kPod = "template: {spec: {containers: [{name: c, image: i}]}}";

std::string OneTask(const std::string& more = "") {
  return "tasks: [{name: w, replicas: 2, " + std::string(kPod) + (more.empty() ? "" : ", " + more) +
         "}]";
}

Job JobOf(const Intake& intake) {
  REQUIRE_MESSAGE(intake.change.has_value(), ListIssues(intake.errors));
  return std::get<JobUpsert>(*intake.change).job;
}

// A pod spec as text, in the one task.
Intake TakePodSpec(const std::string& pod_spec) {
  return Take(Manifest("tasks: [{name: w, replicas: 1, template: {spec: {" + pod_spec + "}}}]"));
}

}  // namespace

TEST_CASE("job: everything that is wrong is reported at once with its place") {
  const Intake intake = Take(
      "apiVersion: batch.volcano.sh/v1alpha1\n"
      "kind: Job\n"
      "metadata: {name: train}\n"
      "spec:\n"
      "  minAvailable: 9\n"
      "  queue: Bad_Queue\n"
      "  maxRetry: -1\n"
      "  plugins: {nope: []}\n"
      "  tasks:\n"
      "  - name: w\n"
      "    replicas: \"2\"\n"
      "    template:\n"
      "      spec:\n"
      "        restartPolicy: Sometimes\n"
      "        containers:\n"
      "        - name: c\n"
      "          resources: {requests: {cpu: lots}}\n");
  CHECK_FALSE(intake.change.has_value());
  const auto line = [&](const std::string& field, const std::string& part) {
    const Issue* const issue = FindIssue(intake.errors, field, part);
    REQUIRE_MESSAGE(issue != nullptr, field, "\n", ListIssues(intake.errors));
    CHECK(issue->object == "Job/default/train");
    CHECK(issue->file == "test.yaml");
    CHECK(issue->mark.column > 0);
    return issue->mark.line;
  };
  CHECK(line("spec.minAvailable", "replicas") == 5);
  CHECK(line("spec.queue", "lower-case") == 6);
  CHECK(line("spec.maxRetry", "whole number from 0") == 7);
  CHECK(line("spec.plugins[nope]", "plugins are env") == 8);
  CHECK(line("spec.tasks[0].replicas", "without quotes") == 11);
  CHECK(line("spec.tasks[0].template.spec.restartPolicy", "Always, OnFailure or Never") == 14);
  CHECK(line("spec.tasks[0].template.spec.containers[0].image", "required") == 16);
  CHECK(line("spec.tasks[0].template.spec.containers[0].resources.requests[cpu]", "quantity") ==
        17);
}

TEST_CASE("job: the spec is a map that must be there") {
  CHECK(FindIssue(
            Take("apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nmetadata: {name: x}\n").errors,
            "spec", "required") != nullptr);
  CHECK(FindIssue(
            Take("apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nmetadata: {name: x}\nspec: 5\n")
                .errors,
            "spec", "required") != nullptr);
}

TEST_CASE("job: typed tasks carry request, nodes, partition and topology") {
  const Job job = JobOf(Take(Manifest(
      "queue: gold, priorityClassName: high, runningEstimate: 1h30m, "
      "networkTopology: {highestTierAllowed: 2}, tasks: [{name: w, replicas: 4, "
      "partitionPolicy: {totalPartitions: 2, partitionSize: 2, minPartitions: 1, "
      "networkTopology: {mode: soft, highestTierName: rack}}, template: {spec: {"
      "nodeSelector: {gpu: h100}, tolerations: [{key: a, operator: Exists, effect: NoSchedule}, "
      "{key: b, value: c}], affinity: {nodeAffinity: "
      "{requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: "
      "[{key: z, operator: In, values: [a, b]}], matchFields: [{key: metadata.name, operator: In, "
      "values: [n1]}]}]}}}, containers: [{name: c, image: i, resources: {limits: {cpu: 2, "
      "nvidia.com/gpu: 8}}}]}}}]")));
  CHECK(job.queue == "gold");
  CHECK(job.priority_class == "high");
  CHECK(job.running_estimate == Millis(5'400'000));
  CHECK(job.topology == NetworkTopology{TopologyMode::kHard, 2, ""});
  CHECK(job.min_available == 2);
  REQUIRE(job.tasks.size() == 1);
  const Task& task = job.tasks.front();
  CHECK(task.min_available == 2);
  CHECK(task.request == ResourceList{{"cpu", 2000}, {"nvidia.com/gpu", 8}, {"pods", 1}});
  CHECK(task.partition.total == 2);
  CHECK(task.partition.topology == NetworkTopology{TopologyMode::kSoft, std::nullopt, "rack"});
  CHECK(task.nodes.selector == Labels{{"gpu", "h100"}});
  CHECK(task.nodes.has_affinity);
  REQUIRE(task.nodes.terms.size() == 1);
  CHECK(task.nodes.terms.front().expressions.front() == LabelRequirement{"z", "In", {"a", "b"}});
  CHECK(task.nodes.terms.front().fields.front() == LabelRequirement{"metadata.name", "In", {"n1"}});
  CHECK(task.nodes.tolerations ==
        std::vector<Toleration>{{"a", "Exists", "", "NoSchedule"}, {"b", "Equal", "c", ""}});
}

TEST_CASE("job: floors above and below the sum of the tasks' floors") {
  const std::string tasks =
      "tasks: [{name: a, replicas: 3, minAvailable: 1, template: {spec: {containers: [{name: c, "
      "image: i, resources: {requests: {cpu: 1}}}]}}}, {name: b, replicas: 2, minAvailable: 2, "
      "template: {spec: {containers: [{name: c, image: i, resources: {requests: {cpu: 10}}}]}}}]";
  const auto floor_cpu = [&](int min_available) {
    const Intake intake =
        Take(Manifest("minAvailable: " + std::to_string(min_available) + ", " + tasks));
    REQUIRE(intake.job.has_value());
    return intake.job->minimum.at("cpu");
  };
  CHECK(floor_cpu(1) == 1'000);  // Below 1 + 2: the first pods in order of the tasks.
  CHECK(floor_cpu(2) == 2'000);
  CHECK(floor_cpu(3) == 21'000);  // The floors of the tasks.
  CHECK(floor_cpu(4) == 22'000);  // And further replicas of the first task.
  CHECK(floor_cpu(5) == 23'000);
}

TEST_CASE("job: pods of a system class are counted first") {
  const std::string pod = "containers: [{name: c, image: i, resources: {requests: {cpu: ";
  const Intake intake =
      Take(Manifest("minAvailable: 1, tasks: [{name: a, replicas: 1, template: {spec: {" + pod +
                    "1}}}]}}}, {name: b, replicas: 1, template: {spec: {priorityClassName: "
                    "system-node-critical, " +
                    pod + "10}}}]}}}]"));
  REQUIRE_MESSAGE(intake.job.has_value(), ListIssues(intake.errors));
  CHECK(intake.job->minimum.at("cpu") == 10'000);
}

TEST_CASE("job: phases say whether a job is over or stopped by a Command") {
  const auto phase = [](const std::string& name) {
    return JobOf(Take(Manifest(OneTask(), "name: train", "state: {phase: " + name + "}")));
  };
  for (const char* const name : {"Completed", "Failed", "Terminated"}) {
    CHECK(phase(name).terminal);
    CHECK_FALSE(phase(name).suspended);
  }
  for (const char* const name : {"Aborting", "Aborted"}) {
    CHECK(phase(name).suspended);
    CHECK_FALSE(phase(name).terminal);
  }
  for (const char* const name : {"Pending", "Running", "Restarting", "Completing", "Terminating"}) {
    CHECK_FALSE(phase(name).terminal);
    CHECK_FALSE(phase(name).suspended);
  }
}

TEST_CASE("job: counters of tasks, and of the job where it has one task") {
  const Job counted =
      JobOf(Take(Manifest(OneTask(), "name: train",
                          "state: {phase: Running, lastTransitionTime: \"2026-12-01T07:00:00Z\"}, "
                          "taskStatusCount: {w: {phase: {Running: 1, Succeeded: 1, Failed: 2}}}")));
  REQUIRE(counted.reports.size() == 1);
  CHECK(counted.reports.front().task == "w");
  CHECK(counted.reports.front().running == 1);
  CHECK(counted.reports.front().finished == 3);
  CHECK(FormatTime(counted.reported) == "2026-12-01T07:00:00Z");
  const Job plain =
      JobOf(Take(Manifest(OneTask(), "name: train", "running: 2, succeeded: 1, failed: -4")));
  REQUIRE(plain.reports.size() == 1);
  CHECK(plain.reports.front().running == 2);
  CHECK(plain.reports.front().finished == 1);
}

TEST_CASE("job: a job that Karmada or somebody else propagates is claimed elsewhere") {
  const auto claimed = [](const std::string& metadata) {
    return JobOf(Take(Manifest(OneTask(), "name: train, " + metadata))).claimed_elsewhere;
  };
  CHECK(claimed("labels: {propagationpolicy.karmada.io/permanent-id: x}"));
  CHECK(claimed("labels: {clusterpropagationpolicy.karmada.io/permanent-id: x}"));
  CHECK(claimed("annotations: {propagationpolicy.karmada.io/name: x}"));
  CHECK(claimed("labels: {resourcetemplate.karmada.io/claimed-by: somebody}"));
  CHECK_FALSE(claimed("labels: {resourcetemplate.karmada.io/claimed-by: caldera}"));
  CHECK_FALSE(claimed("labels: {app: x}"));
}

TEST_CASE("job: names of pods and jobs have their limits") {
  const std::string long_name(60, 'x');
  CHECK(FindIssue(Take(Manifest(OneTask(), "name: " + long_name)).errors, "spec.tasks[0].name",
                  "64 characters") != nullptr);
  CHECK(Take(Manifest(OneTask(), "name: " + std::string(59, 'x'))).errors.empty());
  CHECK(FindIssue(Take(Manifest(OneTask(), "name: " + std::string(64, 'x'))).errors,
                  "metadata.name", "at most 63") != nullptr);
}

TEST_CASE("job: arguments of plugins are read as Go reads flags") {
  const auto mpi = [](const std::string& arguments) {
    return Take(Manifest("plugins: {mpi: [" + arguments + "]}, tasks: [{name: lead, replicas: 1, " +
                         kPod + "}]"));
  };
  for (const char* const good : {"--master=lead", "-master=lead", "\"--master\", lead",
                                 "\"--port=0x10\", --master=lead", "--worker=x, --master=lead"}) {
    CHECK_MESSAGE(mpi(good).errors.empty(), good);
  }
  // Volcano stops at the first argument that it cannot read, and master stays the default.
  for (const char* const bad :
       {"", "--master=chief", "master=lead", "\"--\", --master=lead", "--bad=1, --master=lead",
        "--port=x, --master=lead", "--master", "\"---master=lead\"", "x, --master=lead"}) {
    CHECK_MESSAGE(FindIssue(mpi(bad).errors, "spec.plugins[mpi]", "master") != nullptr, bad);
  }
  const Intake odd = Take(Manifest("plugins: {pytorch: [--worker=x, --what]}, " + OneTask()));
  CHECK(odd.errors.empty());
  CHECK(FindIssue(odd.warnings, "spec.plugins[pytorch][1]", "no flag of this plugin") != nullptr);
  CHECK(FindIssue(odd.warnings, "spec.plugins[pytorch]", "names the task x") != nullptr);
}

TEST_CASE("job: a plugin that is null is dropped with a warning") {
  const Intake intake = Take(Manifest("plugins: {svc: null, env: []}, " + OneTask()));
  CHECK(intake.errors.empty());
  CHECK(FindIssue(intake.warnings, "spec.plugins[svc]", "write []") != nullptr);
  CHECK(intake.defaulted.At({"spec", "plugins", "svc"}) == nullptr);
  CHECK(intake.defaulted.At({"spec", "plugins", "env"}) != nullptr);
}

TEST_CASE("job: the service of a job needs a name that a Service can have") {
  const Intake intake = Take(Manifest("plugins: {svc: []}, " + OneTask(), "name: 7th"));
  CHECK(intake.errors.empty());
  CHECK(FindIssue(intake.warnings, "spec.plugins[svc]", "starts with a letter") != nullptr);
}

TEST_CASE("job: an unknown field stays and names its nearest known one") {
  const Intake intake = Take(Manifest("minAvailble: 1, " + OneTask()));
  CHECK(intake.errors.empty());
  CHECK(FindIssue(intake.warnings, "spec.minAvailble", "did you mean minAvailable?") != nullptr);
  CHECK(intake.defaulted.At({"spec", "minAvailble"}) != nullptr);
}

TEST_CASE("job: whole numbers may be written with a fraction of zero") {
  const Intake intake = Take(Manifest("minAvailable: 2.0, " + OneTask()));
  CHECK(intake.errors.empty());
  CHECK(intake.defaulted.At({"spec", "minAvailable"})->AsInteger() == 2);
  CHECK_FALSE(Take(Manifest("minAvailable: 1.5, " + OneTask())).errors.empty());
  CHECK_FALSE(Take(Manifest("minAvailable: 4294967296, " + OneTask())).errors.empty());
}

TEST_CASE("job: replicas beyond int32 in all are refused") {
  CHECK(FindIssue(Take(Manifest("tasks: [{name: a, replicas: 2147483647, " + std::string(kPod) +
                                "}, {name: b, replicas: 1, " + kPod + "}]"))
                      .errors,
                  "spec.tasks", "in all") != nullptr);
}

TEST_CASE("job: a NUMA policy needs whole CPUs in every container") {
  const auto numa = [](const std::string& resources) {
    return Take(
        Manifest("tasks: [{name: w, topologyPolicy: restricted, template: {spec: "
                 "{containers: [{name: c, image: i, resources: {" +
                 resources + "}}]}}}]"));
  };
  CHECK(numa("requests: {cpu: 2}").errors.empty());
  CHECK(numa("limits: {cpu: 2}").errors.empty());
  for (const char* const bad :
       {"", "requests: {cpu: 1500m}", "requests: {cpu: 0}", "requests: {memory: 1Gi}",
        "requests: {memory: 1Gi}, limits: {cpu: 2}"}) {
    CHECK_FALSE_MESSAGE(numa(bad).errors.empty(), bad);
  }
}

TEST_CASE("job: dependencies that repeat a task never start") {
  CHECK(FindIssue(Take(Manifest("tasks: [{name: a, " + std::string(kPod) +
                                "}, {name: b, dependsOn: {name: [a, a]}, " + kPod + "}]"))
                      .errors,
                  "spec.tasks[1].dependsOn.name[1]", "twice") != nullptr);
}

TEST_CASE("pod: containers share mounts, ports and names as the API server lets them") {
  const std::string container = "containers: [{name: c, image: i";
  const auto refused = [](const std::string& pod_spec, const std::string& field) {
    const Intake intake = TakePodSpec(pod_spec);
    return FindIssue(intake.errors, "spec.tasks[0].template.spec." + field, "") != nullptr;
  };
  CHECK(refused(container + ", volumeMounts: [{name: v, mountPath: /d}]}]",
                "containers[0].volumeMounts[0].name"));
  CHECK(TakePodSpec("volumes: [{name: v}], " + container +
                    ", volumeMounts: [{name: v, mountPath: /d}]}]")
            .errors.empty());
  CHECK(refused("volumes: [{name: v, emptyDir: {}, hostPath: {path: /}}], " + container + "}]",
                "volumes[0]"));
  CHECK(refused(container + ", ports: [{containerPort: 0}]}]",
                "containers[0].ports[0].containerPort"));
  CHECK(refused(container + ", ports: [{containerPort: 80, hostPort: 80}]}, {name: d, image: i, "
                            "ports: [{containerPort: 90, hostPort: 80}]}]",
                "containers[1].ports[0].hostPort"));
  CHECK(refused(container + "}], initContainers: [{name: c, image: i}]", "initContainers[0].name"));
  CHECK(refused(container + ", env: [{name: 1A}]}]", "containers[0].env[0].name"));
  CHECK(refused(container + ", livenessProbe: {}}]", "containers[0].livenessProbe"));
  CHECK(refused("tolerations: [{operator: Near}], " + container + "}]", "tolerations[0].operator"));
  CHECK(refused("nodeSelector: {a b: c}, " + container + "}]", "nodeSelector[a b]"));
}

TEST_CASE("pod: devices and huge pages have limits of the same amount") {
  const auto refused = [](const std::string& resources, const std::string& field) {
    const Intake intake =
        TakePodSpec("containers: [{name: c, image: i, resources: {" + resources + "}}]");
    const std::string path = "spec.tasks[0].template.spec.containers[0].resources" + field;
    return FindIssue(intake.errors, path, "") != nullptr;
  };
  CHECK(refused("requests: {nvidia.com/gpu: 1}", ".requests[nvidia.com/gpu]"));
  CHECK(refused("requests: {nvidia.com/gpu: 1}, limits: {nvidia.com/gpu: 2}",
                ".requests[nvidia.com/gpu]"));
  CHECK(refused("limits: {nvidia.com/gpu: 500m}", ".limits[nvidia.com/gpu]"));
  CHECK(refused("limits: {foo: 1}", ".limits[foo]"));
  CHECK(refused("requests: {cpu: 2}, limits: {cpu: 1}", ".requests[cpu]"));
  CHECK(refused("requests: {cpu: -1}", ".requests[cpu]"));
  CHECK(refused("limits: {hugepages-2Mi: 2Mi}", ""));
  CHECK(refused("limits: {hugepages-2Mi: 3Mi, cpu: 1}", ".limits[hugepages-2Mi]"));
  CHECK_FALSE(refused("limits: {hugepages-2Mi: 4Mi, cpu: 1}", ".limits[hugepages-2Mi]"));
}

TEST_CASE("job: what ties its pods to one cluster is known") {
  const auto ties = [](const std::string& spec) { return JobOf(Take(Manifest(spec))).ties; };
  CHECK(ties(OneTask()) == Ties{});
  CHECK(ties("plugins: {env: []}, " + OneTask()) == Ties{});
  // pytorch brings svc.
  CHECK(ties("plugins: {pytorch: [--worker=w], env: []}, " + OneTask()).plugins ==
        std::vector<std::string>{"pytorch", "svc"});
  CHECK(ties("minSuccess: 1, " + OneTask()).min_success);
  CHECK(ties("volumes: [{mountPath: /data, volumeClaimName: data}], " + OneTask()).volumes);
  const auto pod_volume = [&](const std::string& source) {
    return JobOf(TakePodSpec("containers: [{name: c, image: i}], volumes: [{name: v, " + source +
                             "}]"))
        .ties.volumes;
  };
  CHECK(pod_volume("persistentVolumeClaim: {claimName: data}"));
  CHECK_FALSE(pod_volume("configMap: {name: settings}"));
  const Job job = JobOf(Take(Manifest("tasks: [{name: a, replicas: 1, " + std::string(kPod) +
                                      "}, {name: b, replicas: 1, dependsOn: {name: [a]}, " +
                                      std::string(kPod) + "}]")));
  CHECK(job.tasks[0].depends_on.empty());
  CHECK(job.tasks[1].depends_on == std::vector<std::string>{"a"});
}
