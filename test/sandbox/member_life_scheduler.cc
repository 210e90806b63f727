#include "test/sandbox/member_life_scheduler.h"

#include <re2/re2.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "federation/node_pool.h"

namespace caldera::sandbox {
namespace {

bool Selects(const HyperNodeMember& member, const std::string& node) {
  if (!member.exact.empty()) {
    return member.exact == node;
  }
  return !member.regex.empty() && RE2::PartialMatch(node, member.regex);
}

void Collect(const std::map<std::string, const HyperNode*>& by_name, const HyperNode& hyper_node,
             const std::vector<std::string>& nodes, std::set<std::string>& path,
             std::set<std::string>& into) {
  if (!path.insert(hyper_node.name).second) {
    return;  // A circle.
  }
  for (const HyperNodeMember& member : hyper_node.members) {
    if (member.type == "HyperNode") {
      if (const auto child = by_name.find(member.exact); child != by_name.end()) {
        Collect(by_name, *child->second, nodes, path, into);
      }
      continue;
    }
    std::copy_if(nodes.begin(), nodes.end(), std::inserter(into, into.end()),
                 [&](const std::string& node) { return Selects(member, node); });
  }
}

bool Includes(const Domain& domain, const std::set<std::string>& nodes) {
  return std::includes(domain.nodes.begin(), domain.nodes.end(), nodes.begin(), nodes.end());
}

bool Fits(const ResourceList& request, const ResourceList& free) {
  return std::all_of(request.begin(), request.end(), [&](const auto& entry) {
    const auto found = free.find(entry.first);
    return entry.second <= (found == free.end() ? 0 : found->second);
  });
}

bool FitsQueue(const ResourceList& request, const QueueRoom& queue) {
  return std::all_of(request.begin(), request.end(), [&](const auto& entry) {
    const auto limit = queue.capability.find(entry.first);
    const auto used = queue.allocated.find(entry.first);
    return limit == queue.capability.end() ||
           entry.second + (used == queue.allocated.end() ? 0 : used->second) <= limit->second;
  });
}

void Subtract(ResourceList& from, const ResourceList& amounts) {
  for (const auto& [name, amount] : amounts) {
    from[name] -= amount;
  }
}

// Larger requests first: devices, then cpu, then memory.
std::vector<int64_t> SizeOf(const ResourceList& request) {
  int64_t devices = 0;
  for (const auto& [name, amount] : request) {
    devices += IsDevice(name) ? amount : 0;
  }
  const auto amount = [&](const char* name) {
    const auto found = request.find(name);
    return found == request.end() ? int64_t{0} : found->second;
  };
  return {devices, amount("cpu"), amount("memory")};
}

ResourceList DevicesIn(const ResourceList& list) {
  ResourceList devices;
  std::copy_if(list.begin(), list.end(), std::inserter(devices, devices.end()),
               [](const auto& entry) { return IsDevice(entry.first) && entry.second > 0; });
  return devices;
}

int64_t Sum(const ResourceList& list) {
  int64_t sum = 0;
  for (const auto& [name, amount] : list) {
    sum = SaturatingAdd(sum, amount);
  }
  return sum;
}

// The smaller the better: pods with devices fill nodes up, so that whole ones stay free; the others
// keep off nodes with devices and spread, as Volcano's nodeorder has it.
std::pair<int64_t, int64_t> Rank(const NodeRoom& room, bool device) {
  if (device) {
    return {Sum(DevicesIn(room.free)), 0};
  }
  const auto cpu = room.free.find("cpu");
  return {Sum(DevicesIn(room.node.allocatable)), cpu == room.free.end() ? 0 : -cpu->second};
}

}  // namespace

std::vector<Domain> DomainsOf(const std::vector<HyperNode>& hyper_nodes,
                              const std::vector<std::string>& nodes) {
  std::map<std::string, const HyperNode*> by_name;
  for (const HyperNode& hyper_node : hyper_nodes) {
    by_name[hyper_node.name] = &hyper_node;
  }
  std::vector<Domain> domains;
  int32_t top = 0;
  for (const auto& [name, hyper_node] : by_name) {
    Domain domain{name, hyper_node->tier, hyper_node->tier_name, {}};
    std::set<std::string> path;
    Collect(by_name, *hyper_node, nodes, path, domain.nodes);
    top = std::max(top, domain.tier);
    domains.push_back(std::move(domain));
  }
  std::stable_sort(domains.begin(), domains.end(),
                   [](const Domain& a, const Domain& b) { return a.tier < b.tier; });
  domains.push_back({"", top + 1, "", {nodes.begin(), nodes.end()}});
  return domains;
}

struct MemberScheduler::Attempt {
  struct Step {
    size_t node = 0;
    const GangTask* task = nullptr;
  };
  std::vector<Binding> bindings;
  std::vector<Step> steps;  ///< One for each binding.
  std::map<const GangTask*, int64_t> placed;
  QueueRoom* queue = nullptr;
};

MemberScheduler::MemberScheduler(std::vector<NodeRoom> nodes, std::vector<Domain> domains)
    : nodes_(std::move(nodes)), domains_(std::move(domains)) {
  std::sort(nodes_.begin(), nodes_.end(),
            [](const NodeRoom& a, const NodeRoom& b) { return a.node.name < b.node.name; });
}

std::vector<const Domain*> MemberScheduler::Candidates(const NetworkTopology& topology) const {
  std::optional<int32_t> highest = topology.highest_tier;
  for (const Domain& domain : domains_) {
    if (!topology.highest_tier_name.empty() && domain.tier_name == topology.highest_tier_name) {
      highest = domain.tier;
    }
  }
  // A limit that says nothing here is none.
  const bool free =
      topology.mode == TopologyMode::kNone || (topology.mode == TopologyMode::kHard && !highest);
  if (free) {
    return {nullptr};
  }
  std::vector<const Domain*> candidates;
  for (const Domain& domain : domains_) {
    if (topology.mode == TopologyMode::kSoft || domain.tier <= *highest) {
      candidates.push_back(&domain);
    }
  }
  return candidates;
}

std::vector<Binding> MemberScheduler::Place(const Gang& gang, QueueRoom& queue) {
  for (const Domain* const domain : Candidates(gang.topology)) {
    Attempt attempt;
    attempt.queue = &queue;
    const bool allowed = domain == nullptr || Includes(*domain, gang.nodes);
    if (allowed && TryIn(gang, domain, attempt)) {
      return std::move(attempt.bindings);
    }
    TakeBack(attempt, 0);
  }
  return {};
}

bool MemberScheduler::TryIn(const Gang& gang, const Domain* domain, Attempt& attempt) {
  std::vector<const GangTask*> tasks;
  for (const GangTask& task : gang.tasks) {
    tasks.push_back(&task);
  }
  std::stable_sort(tasks.begin(), tasks.end(), [](const GangTask* a, const GangTask* b) {
    return SizeOf(a->task->request) > SizeOf(b->task->request);
  });
  // Volcano asks for each task's own floor only where the Job's is not below their sum.
  int64_t floors = 0;
  for (const GangTask* const task : tasks) {
    floors += task->task->min_available;
  }
  const bool each = gang.min_member >= floors;
  int64_t members = 0;
  for (const GangTask* const task : tasks) {
    if (task->task->partition.total > 0 &&
        task->task->partition.topology.mode != TopologyMode::kNone) {
      PlacePartitions(*task, domain, attempt);
    } else {
      PlaceTask(*task, domain, attempt);
    }
    const int64_t placed = task->placed + attempt.placed[task];
    if (each && placed < task->task->min_available) {
      return false;
    }
    members += placed;
  }
  return members >= gang.min_member;
}

void MemberScheduler::PlaceTask(const GangTask& task, const Domain* domain, Attempt& attempt) {
  for (const WaitingPod& pod : task.waiting) {
    if (!PlacePod(task, pod, domain, attempt)) {
      return;  // The next one is just as large.
    }
  }
}

void MemberScheduler::PlacePartitions(const GangTask& task, const Domain* domain,
                                      Attempt& attempt) {
  std::map<std::string, std::vector<const WaitingPod*>> partitions;
  for (const WaitingPod& pod : task.waiting) {
    partitions[pod.partition].push_back(&pod);
  }
  for (const auto& [partition, pods] : partitions) {
    const auto bound = task.partition_nodes.find(partition);
    for (const Domain* const inner : Candidates(task.task->partition.topology)) {
      if (inner != nullptr &&
          ((domain != nullptr && !Includes(*domain, inner->nodes)) ||
           (bound != task.partition_nodes.end() && !Includes(*inner, bound->second)))) {
        continue;
      }
      const size_t before = attempt.bindings.size();
      const bool all = std::all_of(pods.begin(), pods.end(), [&](const WaitingPod* pod) {
        return PlacePod(task, *pod, inner == nullptr ? domain : inner, attempt);
      });
      if (all) {
        break;
      }
      TakeBack(attempt, before);
    }
  }
}

bool MemberScheduler::PlacePod(const GangTask& task, const WaitingPod& pod, const Domain* domain,
                               Attempt& attempt) {
  const ResourceList& request = task.task->request;
  if (!FitsQueue(request, *attempt.queue)) {
    return false;
  }
  const bool device = !DevicesIn(request).empty();
  std::optional<size_t> best;
  for (size_t i = 0; i < nodes_.size(); ++i) {
    const NodeRoom& room = nodes_[i];
    const bool inside = domain == nullptr || domain->nodes.contains(room.node.name);
    if (inside && Fits(request, room.free) && NodeTakes(room.node, task.task->nodes) &&
        (!best || Rank(room, device) < Rank(nodes_[*best], device))) {
      best = i;
    }
  }
  if (!best) {
    return false;
  }
  Subtract(nodes_[*best].free, request);
  AddTo(attempt.queue->allocated, request);
  attempt.bindings.push_back({pod.key, nodes_[*best].node.name});
  attempt.steps.push_back({*best, &task});
  ++attempt.placed[&task];
  return true;
}

void MemberScheduler::TakeBack(Attempt& attempt, size_t keep) {
  while (attempt.steps.size() > keep) {
    const Attempt::Step step = attempt.steps.back();
    AddTo(nodes_[step.node].free, step.task->task->request);
    Subtract(attempt.queue->allocated, step.task->task->request);
    --attempt.placed[step.task];
    attempt.steps.pop_back();
    attempt.bindings.pop_back();
  }
}

}  // namespace caldera::sandbox
