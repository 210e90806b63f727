#include <algorithm>
#include <map>
#include <set>

#include "federation/excerpt.h"
#include "federation/intake_job.h"
#include "federation/intake_pod.h"
#include "federation/intake_read.h"

namespace caldera {
namespace {

void CheckPartition(const Field& task) {
  const Field policy = task["partitionPolicy"];
  if (!IsMap(policy)) {
    return;
  }
  const int64_t total = NumberOf(policy["totalPartitions"]).value_or(0);
  const int64_t size = NumberOf(policy["partitionSize"]).value_or(0);
  const int64_t minimum = NumberOf(policy["minPartitions"]).value_or(0);
  const int64_t replicas = NumberOf(task["replicas"]).value_or(0);
  // Below 1 is the schema's complaint.
  if (total > 0 && size > 0) {
    const int64_t whole = SaturatingMul(total, size);
    const int64_t floor = SaturatingMul(minimum, size);
    if (replicas != whole) {
      task["replicas"].Refuse("must be totalPartitions * partitionSize = " + std::to_string(whole));
    } else if (minimum > 0 && NumberOf(task["minAvailable"]).value_or(floor) != floor) {
      task["minAvailable"].Refuse(
          "must be minPartitions * partitionSize = " + std::to_string(floor) + ", or be left out");
    }
  }
  CheckNetworkTopology(policy["networkTopology"]);
}

// A NUMA policy works on whole CPUs: each container must ask for a whole number of them. A
// container that has no requests at all requests its limits.
void CheckWholeCpus(const Field& task) {
  const std::string_view policy = TextOf(task["topologyPolicy"]);
  if (policy.empty() || policy == "none") {
    return;
  }
  const Field pod = task["template"]["spec"];
  for (const char* const list : {"containers", "initContainers"}) {
    for (const Field& container : ItemsOf(pod[list])) {
      const Field resources = container["resources"];
      const bool requests = !MembersOf(resources["requests"]).empty();
      const Field cpu = resources[requests ? "requests" : "limits"]["cpu"];
      const auto amount = AmountOf(cpu);
      if (!amount.has_value() || !amount->Whole() || amount->Nano() == 0) {
        cpu.Refuse("must be a whole number of CPUs, at least 1: topologyPolicy " + Excerpt(policy) +
                   " binds whole CPUs");
      }
    }
  }
}

}  // namespace

void CheckTask(const Field& task) {
  CheckPartition(task);
  CheckWholeCpus(task);
  CheckPodTemplate(task["template"]);
}

void CheckDependencies(const Field& tasks) {
  const std::vector<Field> list = ItemsOf(tasks);
  std::map<std::string_view, size_t> waits_for;  // How many tasks each still waits for.
  std::map<std::string_view, std::vector<std::string_view>> followers;
  for (const Field& task : list) {
    waits_for[TextOf(task["name"])];
  }
  bool sound = true;
  for (const Field& task : list) {
    std::set<std::string_view> needed;
    for (const Field& name : ItemsOf(task["dependsOn"]["name"])) {
      const std::string_view text = TextOf(name);
      if (!waits_for.contains(text)) {
        name.Refuse("is no task of this job: the task would never start");
        sound = false;
      } else if (!needed.insert(text).second) {
        // Volcano counts it twice and then waits for ever.
        name.Refuse("is in the list twice: name each task once");
        sound = false;
      } else {
        ++waits_for[TextOf(task["name"])];
        followers[text].push_back(TextOf(task["name"]));
      }
    }
  }
  if (!sound) {
    return;
  }
  std::vector<std::string_view> free;
  for (const auto& [name, count] : waits_for) {
    if (count == 0) {
      free.push_back(name);
    }
  }
  // Start tasks that wait for nothing; what never gets there is in a cycle or behind one.
  for (size_t i = 0; i < free.size(); ++i) {
    for (const std::string_view follower : followers[free[i]]) {
      if (--waits_for[follower] == 0) {
        free.push_back(follower);
      }
    }
  }
  for (const Field& task : list) {
    if (waits_for[TextOf(task["name"])] != 0) {
      task["dependsOn"].Refuse("makes a cycle: tasks must be able to start one after another");
    }
  }
}

}  // namespace caldera
