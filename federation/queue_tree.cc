#include "federation/queue_tree.h"

#include <algorithm>

#include "federation/amounts.h"

namespace caldera {

QueueTree::QueueTree(const State& state) : root_(state.queues().find(kRootQueue)->second) {
  Link(state);
  Order();
  Judge(state);
}

void QueueTree::Link(const State& state) {
  nodes_.resize(state.queues().size());
  for (const auto& [name, i] : state.queues()) {
    QueueNode& node = nodes_[i];
    node.entry = &state.queue(i);
    if (i == root_ || !node.entry->object.has_value()) {
      continue;
    }
    const std::string& parent = node.object().parent;
    const auto it = state.queues().find(parent.empty() ? std::string(kRootQueue) : parent);
    if (it != state.queues().end() && state.queue(it->second).object.has_value()) {
      node.parent = it->second;
      nodes_[node.parent].children.push_back(i);
    }
  }
  // Only what the root reaches is in the tree: this leaves out orphans and cycles.
  std::vector<QueueIndex> reached{root_};
  nodes_[root_].attached = true;
  for (size_t k = 0; k < reached.size(); ++k) {
    for (const QueueIndex child : nodes_[reached[k]].children) {
      nodes_[child].attached = true;
      reached.push_back(child);
    }
  }
  for (const auto& [name, i] : state.queues()) {
    if (!nodes_[i].attached) {
      nodes_[i].parent = root_;
      nodes_[i].children.clear();
    }
  }
  for (const auto& [name, i] : state.queues()) {
    if (!nodes_[i].attached) {
      nodes_[root_].children.push_back(i);
    }
  }
  std::sort(
      nodes_[root_].children.begin(), nodes_[root_].children.end(),
      [&](QueueIndex a, QueueIndex b) { return nodes_[a].entry->name < nodes_[b].entry->name; });
}

void QueueTree::Order() {
  top_down_.push_back(root_);
  for (size_t k = 0; k < top_down_.size(); ++k) {
    const auto& children = nodes_[top_down_[k]].children;
    top_down_.insert(top_down_.end(), children.begin(), children.end());
  }
  bottom_up_.assign(top_down_.rbegin(), top_down_.rend());
}

void QueueTree::Judge(const State& state) {
  gates_.assign(nodes_.size(), Verdict::kNone);
  for (const QueueIndex i : top_down_) {
    QueueNode& node = nodes_[i];
    if (node.entry->object.has_value()) {
      node.own = LimitsIn(state, node.object().capability);
    }
    node.capability = node.own;
    if (node.parent != kNoIndex) {
      node.capability.Tighten(nodes_[node.parent].capability);
    }
    if (!node.attached) {
      gates_[i] = Verdict::kQueueMissing;
    } else if (ClosedAbove(i) != kNoIndex) {
      gates_[i] = Verdict::kQueueClosed;
    } else if (i == root_ || !node.children.empty()) {
      gates_[i] = Verdict::kQueueNotLeaf;
    }
  }
}

QueueIndex QueueTree::ClosedAbove(QueueIndex i) const {
  QueueIndex closed = kNoIndex;
  for (QueueIndex n = i; n != kNoIndex; n = nodes_[n].parent) {
    if (nodes_[n].object().state != QueueState::kOpen) {
      closed = n;
    }
  }
  return closed;
}

Reason QueueTree::Explain(QueueIndex i) const {
  const QueueNode& node = nodes_[i];
  const std::string& name = node.entry->name;
  switch (gates_[i]) {
    case Verdict::kQueueMissing:
      if (!node.entry->object.has_value()) {
        return {Verdict::kQueueMissing, "there is no Queue " + name, {}};
      }
      return {Verdict::kQueueMissing,
              "the parents of Queue " + name + " do not lead to " + std::string(kRootQueue) +
                  ": its parent is " + node.object().parent,
              {}};
    case Verdict::kQueueClosed: {
      const std::string& closed = nodes_[ClosedAbove(i)].entry->name;
      return {Verdict::kQueueClosed,
              closed == name ? "Queue " + name + " is not Open"
                             : "Queue " + closed + " above Queue " + name + " is not Open",
              {}};
    }
    case Verdict::kQueueNotLeaf:
      return {Verdict::kQueueNotLeaf,
              "Queue " + name + (i == root_ ? " takes no jobs" : " has children and takes no jobs"),
              {}};
    default:
      return {};
  }
}

}  // namespace caldera
