// The queues of a State as a tree under `root`: who is whose parent, which capability really holds,
// and whether jobs may be taken from a queue at all. Derived; nodes have the State's QueueIndex.
// A name without a Queue object, or whose chain does not reach the root (a parent that is missing,
// a cycle), takes no jobs; what such a queue holds still counts, directly under the root.
#pragma once

#include <vector>

#include "federation/reason.h"
#include "federation/state.h"

namespace caldera {

struct QueueNode {
  const QueueEntry* entry = nullptr;
  QueueIndex parent = kNoIndex;      ///< kNoIndex for the root only.
  std::vector<QueueIndex> children;  ///< By name.
  bool attached = false;             ///< It exists, and so does its chain up to the root.
  ResourceLimits own;                ///< spec.capability.
  ResourceLimits capability;         ///< The smallest along the chain up to the root.

  /// Its object; only where entry->object is there.
  [[nodiscard]] const Queue& object() const { return *entry->object; }
};

class QueueTree {
 public:
  explicit QueueTree(const State& state);

  [[nodiscard]] const QueueNode& node(QueueIndex i) const { return nodes_[i]; }
  [[nodiscard]] size_t size() const { return nodes_.size(); }
  [[nodiscard]] QueueIndex root() const { return root_; }
  /// Parents before their children, siblings by name.
  [[nodiscard]] const std::vector<QueueIndex>& TopDown() const { return top_down_; }
  /// The same, children before their parents.
  [[nodiscard]] const std::vector<QueueIndex>& BottomUp() const { return bottom_up_; }

  /// kNone where jobs of this queue may be taken: it exists, it and its ancestors are Open, and it
  /// is a leaf. Else the first of QueueMissing, QueueClosed, QueueNotLeaf that holds.
  [[nodiscard]] Verdict Gate(QueueIndex i) const { return gates_[i]; }
  /// Gate() with words.
  [[nodiscard]] Reason Explain(QueueIndex i) const;

 private:
  void Link(const State& state);
  void Order();
  void Judge(const State& state);
  /// The closed queue nearest to the root on i's chain, or kNoIndex.
  [[nodiscard]] QueueIndex ClosedAbove(QueueIndex i) const;

  std::vector<QueueNode> nodes_;
  std::vector<QueueIndex> top_down_;
  std::vector<QueueIndex> bottom_up_;
  std::vector<Verdict> gates_;
  QueueIndex root_ = kNoIndex;
};

}  // namespace caldera
