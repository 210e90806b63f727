// The nodes of the naive planner: which pods they take, and how a gang is packed onto them.
#include <algorithm>
#include <tuple>

#include "federation/share.h"
#include "test/property/reference_state.h"

namespace caldera::property {

namespace {

int64_t SlotsOn(const RefNode& node, const RefGangTask& task) {
  const NodeConstraint& c = *task.nodes;
  bool takes = !node.object.unschedulable && node.object.ready &&
               RefTolerates(c.tolerations, node.object.taints);
  for (const auto& [key, value] : c.selector) {
    takes = takes && RefMatches({key, "In", {value}}, node.object.labels);
  }
  if (c.has_affinity) {
    bool any = false;
    for (const NodeConstraint::Term& term : c.terms) {
      bool all = !term.expressions.empty() || !term.fields.empty();
      for (const LabelRequirement& r : term.expressions) {
        all = all && RefMatches(r, node.object.labels);
      }
      for (const LabelRequirement& r : term.fields) {
        all = all && RefMatches(r, {{"metadata.name", node.object.name}});
      }
      any = any || all;
    }
    takes = takes && any;
  }
  int64_t slots = takes ? task.replicas : 0;
  for (const auto& [resource, amount] : task.request) {
    if (amount > 0) {
      slots = std::min(slots, std::max<int64_t>(At(node.free, resource), 0) / amount);
    }
  }
  return slots;
}

/// The largest part that `amounts` are of all, over the devices that `request` asks for, else over
/// all that it asks for but pods.
int64_t LargestPart(const ResourceList& amounts, const ResourceList& request,
                    const ResourceList& all) {
  const bool devices = std::any_of(request.begin(), request.end(), [](const auto& entry) {
    return entry.second > 0 && IsDevice(entry.first);
  });
  int64_t largest = 0;
  for (const auto& [resource, amount] : request) {
    if (amount > 0 && resource != "pods" && (!devices || IsDevice(resource))) {
      largest = std::max(largest, Share(At(amounts, resource), At(all, resource)));
    }
  }
  return largest;
}

/// Puts as many pods as fit, each onto the node that it fills best; returns how many.
int64_t Fill(std::map<std::string, RefNode>& nodes, const ResourceList& all,
             const RefGangTask& task) {
  std::vector<std::pair<int64_t, std::string>> order;
  for (const auto& [name, node] : nodes) {
    if (SlotsOn(node, task) == 0) {
      continue;
    }
    ResourceList left = node.free;
    Take(left, task.request);
    order.emplace_back(LargestPart(left, task.request, all), name);
  }
  std::sort(order.begin(), order.end());
  int64_t put = 0;
  for (const auto& [left, name] : order) {
    const int64_t count = std::min(task.replicas - put, SlotsOn(nodes.at(name), task));
    Take(nodes.at(name).free, Times(task.request, count));
    put += count;
  }
  return put;
}

}  // namespace

ResourceList SumOfNodes(const std::map<std::string, RefNode>& nodes) {
  ResourceList all;
  for (const auto& [name, node] : nodes) {
    AddTo(all, RefCapacity(node.object.allocatable));
  }
  return all;
}

ResourceList RefCapacity(const ResourceList& allocatable) {
  ResourceList list = allocatable;
  list.try_emplace("pods", kUnlimited);
  return list;
}

bool RefMatches(const LabelRequirement& requirement, const Labels& labels) {
  const auto it = labels.find(requirement.key);
  const bool there = it != labels.end();
  const bool listed =
      there && std::count(requirement.values.begin(), requirement.values.end(), it->second) > 0;
  if (requirement.op == "In") {
    return listed;
  }
  if (requirement.op == "NotIn") {
    return !listed;
  }
  if (requirement.op == "Exists" || requirement.op == "DoesNotExist") {
    return there == (requirement.op == "Exists");
  }
  if (!there || it->second.find_first_not_of("0123456789") != std::string::npos) {
    return false;
  }
  const int have = std::stoi(it->second);
  const int want = std::stoi(requirement.values.front());
  return requirement.op == "Gt" ? have > want : have < want;
}

bool RefTolerates(const std::vector<Toleration>& tolerations, const std::vector<Taint>& taints) {
  for (const Taint& taint : taints) {
    bool tolerated = taint.effect == "PreferNoSchedule";
    for (const Toleration& t : tolerations) {
      const bool key = t.key == taint.key || (t.key.empty() && t.op == "Exists");
      const bool value = t.op == "Exists" || t.value == taint.value;
      tolerated = tolerated || (key && value && (t.effect.empty() || t.effect == taint.effect));
    }
    if (!tolerated) {
      return false;
    }
  }
  return true;
}

int64_t RefFill(std::map<std::string, RefNode>& nodes, const RefGangTask& task) {
  return Fill(nodes, SumOfNodes(nodes), task);
}

bool RefPacks(const std::map<std::string, RefNode>& nodes, const Job& job) {
  std::map<std::string, RefNode> trial = nodes;
  return nodes.empty() || RefPack(trial, GangOfJob(job));
}

std::vector<RefGangTask> GangOfJob(const Job& job) {
  std::vector<const Task*> kept;
  for (const Task& task : job.tasks) {
    if (task.replicas > 0) {
      kept.push_back(&task);
    }
  }
  std::sort(kept.begin(), kept.end(), [](const Task* a, const Task* b) {
    return std::tie(a->request, a->replicas, a->nodes, a->partition) <
           std::tie(b->request, b->replicas, b->nodes, b->partition);
  });
  std::vector<RefGangTask> gang;
  for (const Task* task : kept) {
    gang.push_back({&task->nodes, task->request, task->replicas});
  }
  return gang;
}

bool RefPack(std::map<std::string, RefNode>& nodes, std::vector<RefGangTask> gang) {
  const ResourceList all = SumOfNodes(nodes);
  const auto size = [&](const RefGangTask& task) {
    return LargestPart(task.request, task.request, all);
  };
  std::stable_sort(gang.begin(), gang.end(),
                   [&](const RefGangTask& a, const RefGangTask& b) { return size(a) > size(b); });
  std::map<std::string, RefNode> trial = nodes;
  for (const RefGangTask& task : gang) {
    if (Fill(trial, all, task) < task.replicas) {
      return false;
    }
  }
  nodes = std::move(trial);
  return true;
}

}  // namespace caldera::property
