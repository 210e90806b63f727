#include "federation/node_pool.h"

#include <algorithm>
#include <charconv>
#include <numeric>
#include <optional>

#include "federation/share.h"

namespace caldera {

namespace {

std::optional<int64_t> Integer(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return value;
}

bool Covers(const Toleration& toleration, const Taint& taint) {
  if (!toleration.effect.empty() && toleration.effect != taint.effect) {
    return false;
  }
  if (toleration.key.empty()) {
    return toleration.op == "Exists";
  }
  if (toleration.key != taint.key) {
    return false;
  }
  return toleration.op == "Exists" || toleration.value == taint.value;
}

bool KeepsOut(const Taint& taint) {
  return taint.effect == "NoSchedule" || taint.effect == "NoExecute";
}

bool TermMatches(const NodeConstraint::Term& term, const Node& node, const Labels& fields) {
  // A term that says nothing matches nothing.
  return (!term.expressions.empty() || !term.fields.empty()) &&
         std::all_of(term.expressions.begin(), term.expressions.end(),
                     [&](const auto& e) { return Matches(e, node.labels); }) &&
         std::all_of(term.fields.begin(), term.fields.end(),
                     [&](const auto& e) { return Matches(e, fields); });
}

/// How many pods of that request fit, up to `most`.
int64_t Fitting(const ResourceVector& free, const ResourceVector& request, int64_t most) {
  int64_t count = most;
  for (ResourceIndex r = 0; r < request.size(); ++r) {
    if (const int64_t amount = request[r]; amount > 0) {
      count = std::min(count, std::max<int64_t>(free[r], 0) / amount);
    }
  }
  return count;
}

}  // namespace

bool Matches(const LabelRequirement& requirement, const Labels& labels) {
  const auto it = labels.find(requirement.key);
  const bool there = it != labels.end();
  const auto& values = requirement.values;
  if (requirement.op == "Exists") {
    return there;
  }
  if (requirement.op == "DoesNotExist") {
    return !there;
  }
  if (requirement.op == "NotIn") {
    return !there || std::find(values.begin(), values.end(), it->second) == values.end();
  }
  if (requirement.op == "Gt" || requirement.op == "Lt") {
    if (!there || values.size() != 1) {
      return false;
    }
    const auto have = Integer(it->second);
    const auto want = Integer(values.front());
    return have && want && (requirement.op == "Gt" ? *have > *want : *have < *want);
  }
  return requirement.op == "In" && there &&
         std::find(values.begin(), values.end(), it->second) != values.end();
}

bool Tolerates(const std::vector<Toleration>& tolerations, const std::vector<Taint>& taints) {
  return std::all_of(taints.begin(), taints.end(), [&](const Taint& taint) {
    return !KeepsOut(taint) || std::any_of(tolerations.begin(), tolerations.end(),
                                           [&](const Toleration& t) { return Covers(t, taint); });
  });
}

bool NodeTakes(const Node& node, const NodeConstraint& constraint) {
  if (node.unschedulable || !node.ready || !Tolerates(constraint.tolerations, node.taints)) {
    return false;
  }
  for (const auto& [key, value] : constraint.selector) {
    const auto it = node.labels.find(key);
    if (it == node.labels.end() || it->second != value) {
      return false;
    }
  }
  const Labels fields{{"metadata.name", node.name}};
  return !constraint.has_affinity ||
         std::any_of(constraint.terms.begin(), constraint.terms.end(),
                     [&](const auto& term) { return TermMatches(term, node, fields); });
}

NodePool::NodePool(const State& state, const ClusterEntry& cluster) : kinds_(state.resources()) {
  for (const auto& [name, node] : cluster.nodes) {
    slots_.push_back({&node, CapacityIn(state, node.allocatable)});
    allocatable_.Add(slots_.back().free);
  }
}

ResourceVector NodePool::FreeOn(const std::string& node) const {
  for (const Slot& slot : slots_) {
    if (slot.node->name == node) {
      return slot.free;
    }
  }
  return {};
}

NodePool::Slot* NodePool::Find(const std::string& node) {
  const auto it =
      std::lower_bound(slots_.begin(), slots_.end(), node,
                       [](const Slot& slot, const std::string& n) { return slot.node->name < n; });
  return it != slots_.end() && it->node->name == node ? &*it : nullptr;
}

void NodePool::Take(const std::string& node, const ResourceVector& amounts) {
  if (Slot* slot = Find(node); slot != nullptr) {
    slot->free.Subtract(amounts);
  }
}

void NodePool::Give(const std::string& node, const ResourceVector& amounts) {
  if (Slot* slot = Find(node); slot != nullptr) {
    slot->free.Add(amounts);
  }
}

const std::vector<size_t>& NodePool::Eligible(const NodeConstraint* constraint) {
  const auto [it, added] = eligible_.try_emplace(constraint);
  if (added) {
    for (size_t s = 0; s < slots_.size(); ++s) {
      if (NodeTakes(*slots_[s].node, *constraint)) {
        it->second.push_back(s);
      }
    }
  }
  return it->second;
}

int64_t NodePool::LargestPart(const ResourceVector& amounts, const ResourceVector& request) const {
  int64_t largest = 0;
  int64_t largest_device = 0;
  bool devices = false;
  for (ResourceIndex r = 0; r < request.size(); ++r) {
    if (request[r] <= 0 || r == kinds_.pods) {
      continue;
    }
    const int64_t part = Share(amounts[r], allocatable_[r]);
    largest = std::max(largest, part);
    if (kinds_.device[r]) {
      devices = true;
      largest_device = std::max(largest_device, part);
    }
  }
  return devices ? largest_device : largest;
}

int64_t NodePool::Fill(const Task& task, std::vector<Step>& steps) {
  struct Room {
    int64_t left = 0;  ///< The largest part of the node that one pod would leave free.
    size_t slot = 0;
    int64_t count = 0;
  };
  std::vector<Room> rooms;
  for (const size_t s : Eligible(task.nodes)) {
    const int64_t count = Fitting(slots_[s].free, task.request, task.replicas);
    if (count == 0) {
      continue;
    }
    ResourceVector left = slots_[s].free;
    left.Subtract(task.request);
    rooms.push_back({LargestPart(left, task.request), s, count});
  }
  std::sort(rooms.begin(), rooms.end(), [](const Room& a, const Room& b) {
    return std::pair(a.left, a.slot) < std::pair(b.left, b.slot);
  });
  int64_t open = task.replicas;
  for (const Room& room : rooms) {
    const int64_t count = std::min(open, room.count);
    if (count == 0) {
      break;
    }
    slots_[room.slot].free.AddTimes(task.request, -count);
    steps.push_back({room.slot, &task.request, count});
    open -= count;
  }
  return task.replicas - open;
}

/// The largest pods first.
std::vector<const NodePool::Task*> NodePool::InOrder(const std::vector<Task>& gang) const {
  std::vector<const Task*> order;
  order.reserve(gang.size());
  for (const Task& task : gang) {
    order.push_back(&task);
  }
  std::stable_sort(order.begin(), order.end(), [&](const Task* a, const Task* b) {
    return LargestPart(a->request, a->request) > LargestPart(b->request, b->request);
  });
  return order;
}

bool NodePool::Pack(const std::vector<Task>& gang) {
  std::vector<Step> steps;
  for (const Task* task : InOrder(gang)) {
    if (Fill(*task, steps) == task->replicas) {
      continue;
    }
    for (const Step& step : steps) {
      slots_[step.slot].free.AddTimes(*step.request, step.count);
    }
    return false;
  }
  return true;
}

int64_t NodePool::PackMost(const std::vector<Task>& gang) {
  std::vector<Step> steps;
  int64_t pods = 0;
  for (const Task* task : InOrder(gang)) {
    pods += Fill(*task, steps);
  }
  return pods;
}

int64_t NodePool::PackSome(const Task& task) {
  std::vector<Step> steps;
  return Fill(task, steps);
}

std::vector<NodePool::Task> GangOf(const Shape& shape, const ShapeFacts& facts) {
  std::vector<NodePool::Task> gang;
  gang.reserve(shape.tasks.size());
  for (size_t t = 0; t < shape.tasks.size(); ++t) {
    gang.push_back({&shape.tasks[t].nodes, facts.requests[t], shape.tasks[t].replicas});
  }
  return gang;
}

}  // namespace caldera
