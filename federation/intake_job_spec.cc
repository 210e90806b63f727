#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "federation/intake_job.h"
#include "federation/intake_plugins.h"
#include "federation/intake_policies.h"
#include "federation/intake_read.h"
#include "federation/names.h"

namespace caldera {
namespace {

constexpr int64_t kMaxRetry = 3;
constexpr size_t kNameMax = 63;

bool IsEmptyText(const Value* value) {
  return value != nullptr && value->IsString() && value->AsString().empty();
}

bool IsZero(const Value* value) {
  return value == nullptr || value->IsNull() || (value->IsInteger() && value->AsInteger() == 0);
}

int64_t Number(const Value& map, std::string_view key) {
  const Value* const value = map.Find(key);
  return value != nullptr && value->IsInteger() ? value->AsInteger() : 0;
}

bool LacksDnsPolicy(const Value& task) {
  const Value* const pod = task.At({"template", "spec"});
  if (pod == nullptr) {
    return false;
  }
  const Value* const host = pod->Find("hostNetwork");
  const Value* const policy = pod->Find("dnsPolicy");
  return host != nullptr && host->IsBool() && host->AsBool() &&
         (policy == nullptr || policy->IsNull() || IsEmptyText(policy));
}

Value* TasksOf(Value& spec) {
  Value* const tasks = spec.Find("tasks");
  return tasks != nullptr && tasks->IsList() ? tasks : nullptr;
}

// What a task's floor is where the manifest has none: whole partitions where it asks for a number
// of them, else every replica.
int64_t DefaultFloor(const Value& task) {
  if (const Value* const partition = task.Find("partitionPolicy"); partition != nullptr) {
    const int64_t minimum = Number(*partition, "minPartitions");
    if (minimum > 0) {
      return SaturatingMul(minimum, Number(*partition, "partitionSize"));
    }
  }
  return Number(task, "replicas");
}

void DefaultTask(Value& task, size_t index) {
  if (!task.IsMap()) {
    return;
  }
  if (task.Find("name") == nullptr) {
    task.Set("name", "default" + std::to_string(index));
  }
  if (LacksDnsPolicy(task)) {
    task.Find("template")->Find("spec")->Set("dnsPolicy", "ClusterFirstWithHostNet");
  }
  if (task.Find("minAvailable") == nullptr) {
    task.Set("minAvailable", DefaultFloor(task));
  }
  if (IsZero(task.Find("maxRetry"))) {
    task.Set("maxRetry", kMaxRetry);
  }
}

// A pod is named JOB-TASK-INDEX; Volcano checks the length with the task's place in the list for an
// index.
void CheckPodName(const Field& task, std::string_view job_name, size_t index) {
  const std::string_view task_name = TextOf(task["name"]);
  const std::string pod =
      std::string(job_name) + "-" + std::string(task_name) + "-" + std::to_string(index);
  if (!job_name.empty() && pod.size() > kNameMax) {
    task["name"].Refuse("makes pods named JOB-TASK-" + std::to_string(index) + " of " +
                        std::to_string(pod.size()) + " characters: at most " +
                        std::to_string(kNameMax) +
                        " are allowed, so shorten the job's or the task's name");
  }
}

void CheckVolumes(const Field& volumes) {
  std::set<std::string_view> paths;
  for (const Field& volume : ItemsOf(volumes)) {
    const std::string_view path = TextOf(volume["mountPath"]);
    if (!path.empty() && !paths.insert(path).second) {
      volume["mountPath"].Refuse("is mounted by another volume of the job already");
    }
    const std::string_view name = TextOf(volume["volumeClaimName"]);
    const bool claim = volume["volumeClaim"].Present();
    if (!claim && name.empty()) {
      volume.Refuse("must have volumeClaimName (a claim that exists) or volumeClaim (one to make)");
    } else if (claim && !name.empty()) {
      volume["volumeClaimName"].Refuse(
          "must not stand beside volumeClaim: name a claim that exists, or describe one to make");
    } else if (!name.empty() && !IsDnsSubdomain(name)) {
      volume["volumeClaimName"].Refuse("is no name of a claim: it takes " +
                                       std::string(kDnsSubdomainRule));
    }
  }
}

void CheckTasks(const Field& spec, std::string_view job_name) {
  std::map<std::string_view, size_t> names;
  int64_t total = 0;
  const std::vector<Field> tasks = ItemsOf(spec["tasks"]);
  for (size_t i = 0; i < tasks.size(); ++i) {
    const Field& task = tasks[i];
    const int64_t replicas = NumberOf(task["replicas"]).value_or(0);
    total = SaturatingAdd(total, replicas);
    if (NumberOf(task["minAvailable"]).value_or(0) > replicas) {
      task["minAvailable"].Refuse("is more than the task's replicas (" + std::to_string(replicas) +
                                  "): at most that many can be available");
    }
    const std::string_view name = TextOf(task["name"]);
    if (const auto [at, fresh] = names.emplace(name, i); !fresh && !name.empty()) {
      task["name"].Refuse("is the name of tasks[" + std::to_string(at->second) +
                          "] too: give each task its own");
    }
    CheckPolicies(task["policies"]);
    CheckPodName(task, job_name, i);
    CheckTask(task);
  }
  if (total > std::numeric_limits<int32_t>::max()) {
    spec["tasks"].Refuse("have " + std::to_string(total) + " replicas in all: at most " +
                         std::to_string(std::numeric_limits<int32_t>::max()) + " are allowed");
  } else if (NumberOf(spec["minAvailable"]).value_or(0) > total) {
    spec["minAvailable"].Refuse("is more than the replicas of all tasks (" + std::to_string(total) +
                                "): the gang could never start");
  }
}

}  // namespace

Passage PrepareJobSpec(Value& spec) {
  if (IsEmptyText(spec.Find("queue"))) {
    spec.Erase("queue");
  }
  Value* const tasks = TasksOf(spec);
  if (tasks == nullptr) {
    return Passage::kAsSent;
  }
  bool rewritten = false;
  for (Value& task : tasks->AsList()) {
    if (IsEmptyText(task.Find("name"))) {
      task.Erase("name");
    }
    const Value* const floor = task.Find("minAvailable");
    rewritten = rewritten || task.Find("name") == nullptr || task.Find("name")->IsNull() ||
                floor == nullptr || floor->IsNull() || IsZero(task.Find("maxRetry")) ||
                LacksDnsPolicy(task);
  }
  return rewritten ? Passage::kRewritten : Passage::kAsSent;
}

void DefaultJobSpec(Value& spec) {
  if (const Value* const scheduler = spec.Find("schedulerName");
      scheduler == nullptr || IsEmptyText(scheduler)) {
    spec.Set("schedulerName", "volcano");
  }
  if (IsZero(spec.Find("maxRetry"))) {
    spec.Set("maxRetry", kMaxRetry);
  }
  int64_t floor = 0;
  if (Value* const tasks = TasksOf(spec); tasks != nullptr) {
    Value::List& list = tasks->AsList();
    for (size_t i = 0; i < list.size(); ++i) {
      DefaultTask(list[i], i);
      floor = SaturatingAdd(floor, Number(list[i], "minAvailable"));
    }
  }
  if (IsZero(spec.Find("minAvailable"))) {
    spec.Set("minAvailable", floor);
  }
  DefaultPlugins(spec);
}

void CheckNetworkTopology(const Field& topology) {
  if (topology["highestTierAllowed"].Present() && !TextOf(topology["highestTierName"]).empty()) {
    topology["highestTierName"].Refuse(
        "must not stand beside highestTierAllowed: name the tier by number or by name");
  }
}

void CheckJobSpec(const Field& spec, std::string_view job_name) {
  const Field tasks = spec["tasks"];
  if (!tasks.Present()) {
    tasks.Refuse("is required: a list of at least one task");
  }
  CheckNetworkTopology(spec["networkTopology"]);
  CheckTasks(spec, job_name);
  CheckPolicies(spec["policies"]);
  CheckPlugins(spec, job_name);
  CheckVolumes(spec["volumes"]);
  CheckDependencies(tasks);
}

}  // namespace caldera
