#include "federation/intake_job_build.h"

#include <algorithm>
#include <array>

#include "federation/intake_read.h"
#include "federation/pod_request.h"
#include "federation/time.h"

namespace caldera {
namespace {

int32_t Number(const Field& field) { return static_cast<int32_t>(NumberOf(field).value_or(0)); }

std::vector<LabelRequirement> BuildRequirements(const Field& list) {
  std::vector<LabelRequirement> requirements;
  for (const Field& item : ItemsOf(list)) {
    LabelRequirement requirement;
    requirement.key = TextOf(item["key"]);
    requirement.op = TextOf(item["operator"]);
    for (const Field& value : ItemsOf(item["values"])) {
      requirement.values.emplace_back(TextOf(value));
    }
    requirements.push_back(std::move(requirement));
  }
  return requirements;
}

NodeConstraint BuildNodes(const Field& pod) {
  NodeConstraint nodes;
  for (const auto& [key, value] : MembersOf(pod["nodeSelector"])) {
    nodes.selector.emplace(key, TextOf(value));
  }
  const Field required =
      pod["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"];
  nodes.has_affinity = IsMap(required);
  for (const Field& term : ItemsOf(required["nodeSelectorTerms"])) {
    nodes.terms.push_back(
        {BuildRequirements(term["matchExpressions"]), BuildRequirements(term["matchFields"])});
  }
  for (const Field& item : ItemsOf(pod["tolerations"])) {
    Toleration toleration;
    toleration.key = TextOf(item["key"]);
    if (!TextOf(item["operator"]).empty()) {
      toleration.op = TextOf(item["operator"]);
    }
    toleration.value = TextOf(item["value"]);
    toleration.effect = TextOf(item["effect"]);
    nodes.tolerations.push_back(std::move(toleration));
  }
  return nodes;
}

NetworkTopology BuildTopology(const Field& field) {
  NetworkTopology topology;
  if (!IsMap(field)) {
    return topology;
  }
  topology.mode = TextOf(field["mode"]) == "soft" ? TopologyMode::kSoft : TopologyMode::kHard;
  if (const auto tier = NumberOf(field["highestTierAllowed"]); tier.has_value()) {
    topology.highest_tier =
        static_cast<int32_t>(std::min<int64_t>(*tier, std::numeric_limits<int32_t>::max()));
  }
  topology.highest_tier_name = TextOf(field["highestTierName"]);
  return topology;
}

Task BuildTask(const Field& field) {
  Task task;
  task.name = TextOf(field["name"]);
  task.replicas = Number(field["replicas"]);
  task.min_available = Number(field["minAvailable"]);
  task.request = PodRequest(field["template"]["spec"]);
  task.nodes = BuildNodes(field["template"]["spec"]);
  for (const Field& name : ItemsOf(field["dependsOn"]["name"])) {
    task.depends_on.emplace_back(TextOf(name));
  }
  const Field partition = field["partitionPolicy"];
  if (IsMap(partition)) {
    task.partition = {Number(partition["totalPartitions"]), Number(partition["partitionSize"]),
                      Number(partition["minPartitions"]),
                      BuildTopology(partition["networkTopology"])};
  }
  return task;
}

// Each pod gets its own claim of an ephemeral volume; a claim by name is one for all.
bool MountsClaims(const Field& spec) {
  if (!ItemsOf(spec["volumes"]).empty()) {
    return true;
  }
  const std::vector<Field> tasks = ItemsOf(spec["tasks"]);
  return std::any_of(tasks.begin(), tasks.end(), [](const Field& task) {
    const std::vector<Field> volumes = ItemsOf(task["template"]["spec"]["volumes"]);
    return std::any_of(volumes.begin(), volumes.end(),
                       [](const Field& volume) { return IsMap(volume["persistentVolumeClaim"]); });
  });
}

Ties BuildTies(const Field& spec) {
  // `env` gives each pod its index and nothing of the others.
  constexpr std::array<std::string_view, 7> kConnecting = {"hcclrank", "mpi", "pytorch",   "ray",
                                                           "ssh",      "svc", "tensorflow"};
  Ties ties;
  for (const std::string_view name : kConnecting) {
    if (spec["plugins"][name].Present()) {
      ties.plugins.emplace_back(name);
    }
  }
  ties.volumes = MountsClaims(spec);
  ties.min_success = NumberOf(spec["minSuccess"]).value_or(0) > 0;
  return ties;
}

}  // namespace

void BuildJob(const Field& spec, Job& job) {
  job.queue = TextOf(spec["queue"]);
  job.priority_class = TextOf(spec["priorityClassName"]);
  job.min_available = Number(spec["minAvailable"]);
  for (const Field& task : ItemsOf(spec["tasks"])) {
    job.tasks.push_back(BuildTask(task));
  }
  job.topology = BuildTopology(spec["networkTopology"]);
  job.ties = BuildTies(spec);
  if (const Field estimate = spec["runningEstimate"]; estimate.Present()) {
    if (const auto span = ParseDuration(TextOf(estimate)); span.has_value()) {
      job.running_estimate = *span;
    }
  }
}

std::vector<int32_t> TaskPriorities(const Field& spec) {
  std::vector<int32_t> priorities;
  for (const Field& task : ItemsOf(spec["tasks"])) {
    const std::string_view name = TextOf(task["template"]["spec"]["priorityClassName"]);
    priorities.push_back(name == "system-node-critical"      ? 2'000'001'000
                         : name == "system-cluster-critical" ? 2'000'000'000
                                                             : 0);
  }
  return priorities;
}

}  // namespace caldera
