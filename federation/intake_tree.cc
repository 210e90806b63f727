// Relations between queues, as Volcano's queue admission checks them one create at a time
// (validate_queue.go: depth, ancestors' capability, sums of siblings).
#include <algorithm>
#include <map>
#include <string>

#include "federation/excerpt.h"
#include "federation/fields.h"
#include "federation/intake.h"

namespace caldera {
namespace {

// Volcano's --max-queue-depth, counted below root.
constexpr int kDepthMax = 5;

enum class Severity { kRule, kAlwaysError, kAlwaysWarning };

class TreeCheck {
 public:
  TreeCheck(const std::vector<QueueSource>& queues, Strictness strictness)
      : queues_(queues), strictness_(strictness), refused_(queues.size(), false) {
    for (size_t i = 0; i < queues.size(); ++i) {
      // Of two of one name the later one counts, as with kubectl apply.
      index_.insert_or_assign(queues[i].queue.name, i);
    }
  }

  QueueTreeIssues Run() {
    for (size_t i = 0; i < queues_.size(); ++i) {
      if (InCycle(i)) {
        Report(i, Place{{"spec", "parent"}, ""}, Severity::kAlwaysError, CycleMessage(i));
      }
    }
    for (size_t i = 0; i < queues_.size(); ++i) {
      if (!refused_[i]) {
        CheckParent(i);
      }
    }
    for (size_t i = 0; i < queues_.size(); ++i) {
      if (!refused_[i]) {
        CheckCapability(i);
      }
    }
    CheckSums("deserved", Place{{"spec", "deserved"}, ""}, &Queue::deserved);
    CheckSums("guarantee", Place{{"spec", "guarantee", "resource"}, ""}, &Queue::guarantee);
    for (size_t i = 0; i < queues_.size(); ++i) {
      if (refused_[i]) {
        issues_.refused.push_back(i);
      }
    }
    return std::move(issues_);
  }

 private:
  static constexpr size_t kNone = static_cast<size_t>(-1);
  // Where in a Queue: keys of the schema, then, in a map of resources, one of them.
  struct Place {
    std::vector<std::string_view> path;
    std::string_view entry;
  };

  // The parent among the queues given; kNone for root and for one that is not there.
  [[nodiscard]] size_t ParentOf(size_t i) const {
    const std::string& parent = queues_[i].queue.parent;
    if (parent.empty() || parent == "root") {
      return kNone;
    }
    const auto found = index_.find(parent);
    return found == index_.end() ? kNone : found->second;
  }

  // Walking up for longer than there are queues means that a cycle is above; back at the start
  // means that the start is part of it.
  [[nodiscard]] bool InCycle(size_t start) const {
    if (queues_[start].queue.parent == queues_[start].queue.name) {
      return true;
    }
    size_t at = ParentOf(start);
    for (size_t steps = 0; at != kNone && steps < queues_.size(); ++steps) {
      if (at == start) {
        return true;
      }
      at = ParentOf(at);
    }
    return false;
  }

  [[nodiscard]] std::string CycleMessage(size_t start) const {
    if (queues_[start].queue.parent == queues_[start].queue.name) {
      return "must be another queue: a queue cannot be its own parent";
    }
    constexpr size_t kShown = 6;
    std::string chain = Excerpt(queues_[start].queue.name);
    size_t at = ParentOf(start);
    for (size_t shown = 1; at != start && shown < kShown; ++shown, at = ParentOf(at)) {
      chain += " -> " + Excerpt(queues_[at].queue.name);
    }
    return "must not lead back to this queue: " + chain + (at == start ? " -> " : " -> ... -> ") +
           Excerpt(queues_[start].queue.name);
  }

  void CheckParent(size_t i) {
    const Queue& queue = queues_[i].queue;
    const size_t parent = ParentOf(i);
    if (parent == kNone || refused_[parent]) {
      if (!queue.parent.empty() && queue.parent != "root" && queue.parent != "default") {
        Report(i, Place{{"spec", "parent"}, ""}, Severity::kAlwaysWarning,
               parent == kNone ? "does not exist: jobs of this queue wait until it does"
                               : "is refused itself: jobs of this queue wait until it is mended");
      }
      return;
    }
    int depth = 1;
    for (size_t at = parent; at != kNone && depth <= kDepthMax; at = ParentOf(at)) {
      ++depth;
    }
    if (depth > kDepthMax) {
      Report(i, Place{{"spec", "parent"}, ""}, Severity::kRule,
             "puts this queue deeper than 5 levels below root, which is as deep as Volcano goes");
    }
  }

  // The nearest ancestor below root with a capability for `resource` binds. Volcano skips an
  // ancestor's 0 and root's capability here; both limit all the same, so they are worth a warning.
  void CheckCapability(size_t i) {
    for (const auto& [resource, amount] : queues_[i].queue.capability) {
      size_t at = ParentOf(i);
      for (size_t steps = 0; at != kNone && steps < queues_.size(); ++steps, at = ParentOf(at)) {
        const Queue& ancestor = queues_[at].queue;
        const auto limit = ancestor.capability.find(resource);
        if (limit == ancestor.capability.end()) {
          continue;
        }
        if (amount > limit->second) {
          Report(i, Place{{"spec", "capability"}, resource},
                 limit->second == 0 ? Severity::kAlwaysWarning : Severity::kRule,
                 Above(resource, ancestor.name, limit->second));
        }
        if (limit->second != 0) {
          break;
        }
      }
      if (at == kNone) {
        CheckRootCapability(i, resource, amount);
      }
    }
  }

  void CheckRootCapability(size_t i, const std::string& resource, int64_t amount) {
    const auto root = index_.find("root");
    if (root == index_.end() || queues_[i].queue.name == "root") {
      return;
    }
    const ResourceList& capability = queues_[root->second].queue.capability;
    const auto limit = capability.find(resource);
    if (limit != capability.end() && amount > limit->second) {
      Report(i, Place{{"spec", "capability"}, resource}, Severity::kAlwaysWarning,
             Above(resource, "root", limit->second));
    }
  }

  [[nodiscard]] std::string Above(const std::string& resource, const std::string& ancestor,
                                  int64_t limit) const {
    return (strictness_ == Strictness::kNew ? "must be at most " : "is above ") +
           FormatAmount(resource, limit) + ", the capability of " + Excerpt(ancestor) +
           (strictness_ == Strictness::kNew ? "" : ", which is used instead");
  }

  // Of siblings in input order, the one whose own part takes the sum above the parent's is at
  // fault; absent in the parent counts as 0. Children of root are free.
  void CheckSums(std::string_view what, Place place, ResourceList Queue::*list) {
    std::map<size_t, ResourceList> sums;
    for (size_t i = 0; i < queues_.size(); ++i) {
      const size_t parent = ParentOf(i);
      if (parent == kNone || refused_[i] || refused_[parent]) {
        continue;
      }
      const ResourceList& own = queues_[i].queue.*list;
      const ResourceList& limits = queues_[parent].queue.*list;
      ResourceList& sum = sums[parent];
      for (const auto& [resource, amount] : own) {
        const auto limit = limits.find(resource);
        const int64_t most = limit == limits.end() ? 0 : limit->second;
        const auto before = sum.find(resource);
        const int64_t total = SaturatingAdd(before == sum.end() ? 0 : before->second, amount);
        if (total > most) {
          place.entry = resource;
          Report(i, place, Severity::kRule,
                 "brings the sum of " + std::string(what) + " of the children of " +
                     Excerpt(queues_[parent].queue.name) + " to " + FormatAmount(resource, total) +
                     ", above the parent's " + FormatAmount(resource, most) +
                     (strictness_ == Strictness::kNew ? ": lower it, or raise the parent's"
                                                      : ", which Volcano's admission refuses"));
        }
      }
      if (!refused_[i]) {
        AddTo(sum, own);
      }
    }
  }

  void Report(size_t i, const Place& place, Severity severity, std::string message) {
    const Document& document = *queues_[i].document;
    IssueSink sink;
    sink.object = "Queue/" + Excerpt(queues_[i].queue.name);
    sink.file = document.file;
    Field field(&document.root, "", document.root.mark(), sink);
    for (const std::string_view key : place.path) {
      field = field[key];
    }
    if (!place.entry.empty()) {
      field = field.Entry(place.entry);
    }
    const bool error = severity == Severity::kAlwaysError ||
                       (severity == Severity::kRule && strictness_ == Strictness::kNew);
    if (error) {
      field.Refuse(std::move(message));
      issues_.errors.push_back(std::move(sink.errors.front()));
      refused_[i] = true;
    } else {
      field.Warn(std::move(message));
      issues_.warnings.push_back(std::move(sink.warnings.front()));
    }
  }

  const std::vector<QueueSource>& queues_;
  Strictness strictness_;
  std::map<std::string, size_t, std::less<>> index_;
  std::vector<bool> refused_;
  QueueTreeIssues issues_;
};

}  // namespace

QueueTreeIssues CheckQueueTree(const std::vector<QueueSource>& queues, Strictness strictness) {
  return TreeCheck(queues, strictness).Run();
}

}  // namespace caldera
