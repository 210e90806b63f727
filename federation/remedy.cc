#include "federation/remedy.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "federation/amounts.h"
#include "federation/feasibility.h"
#include "federation/gate.h"
#include "federation/split_rules.h"

namespace caldera {

namespace {

/// Which clusters are tried first: those where the least has to be changed.
int Effort(Verdict verdict) {
  switch (verdict) {
    case Verdict::kMissingReference:
    case Verdict::kNameConflict:
    case Verdict::kApplyFailed:
    case Verdict::kStuckInMember:
    case Verdict::kTooLarge:
    case Verdict::kBackoff:
    case Verdict::kTenantQuota:
      return 0;
    case Verdict::kInsufficientResources:
      return 1;
    case Verdict::kClusterNotReady:
      return 2;
    default:
      return 3;
  }
}

}  // namespace

Remedy::Remedy(const State& before, const State& after, JobIndex job, ClusterIndex target)
    : before_(before),
      after_(after),
      job_(job),
      entry_(after.job(job)),
      explainer_(after),
      target_(target) {}

std::vector<Knob> Remedy::Next() {
  const PendingJob pending = explainer_.Explain(job_);
  switch (pending.verdict) {
    case Verdict::kRefused:
      return {};  // What would be right is in the message.
    case Verdict::kHeld:
      return entry_.hold ? std::vector<Knob>{Unhold(before_, job_)} : std::vector<Knob>();
    case Verdict::kSuspended:
      return {Resume(before_, job_)};
    case Verdict::kMissingReference:
      if (std::vector<Knob> references = ForReferences(); !references.empty()) {
        return references;
      }
      break;  // A cluster lacks them.
    case Verdict::kNamespaceNotPropagated:
      return {PropagateNamespace(before_, entry_.tenant)};
    case Verdict::kQueueMissing:
      return ForMissingQueue();
    case Verdict::kQueueClosed:
      return ForClosedQueue();
    case Verdict::kQueueNotLeaf:
      return ForInnerQueue();
    case Verdict::kFifo:
    case Verdict::kBehindPriority:
      return {MakeTraverse(before_, entry_.queue)};
    default:
      break;
  }
  const std::optional<Block> block =
      explainer_.round().limits().Check(entry_.queue, entry_.tenant, after_.facts(entry_.shape));
  if (block && block->verdict == pending.verdict) {
    return ForBlock(*block);
  }
  if (pending.verdict == Verdict::kFairShare) {
    return {LetBorrow(before_, job_)};
  }
  if (pending.verdict == Verdict::kNone) {
    return ForThisRound(pending.clusters);
  }
  std::vector<Knob> knobs = ForSplit(pending.verdict);
  return knobs.empty() ? ForClusters(pending.clusters) : knobs;
}

std::vector<Knob> Remedy::ForReferences() {
  std::vector<Knob> knobs;
  for (const std::string& reference : entry_.rare().missing_references) {
    knobs.push_back(CreateReference(reference));
  }
  if (knobs.empty() && !PriorityValue(after_, entry_.priority).has_value()) {
    knobs.push_back(CreatePriorityClass(after_.priority(entry_.priority).name));
  }
  return knobs;
}

std::vector<Knob> Remedy::ForMissingQueue() {
  // Up the chain to the first that is missing; a chain that comes back to itself is cut.
  std::vector<std::string> chain;
  std::string name = after_.queue(entry_.queue).name;
  while (name != kRootQueue && std::find(chain.begin(), chain.end(), name) == chain.end()) {
    const auto it = after_.queues().find(name);
    if (it == after_.queues().end() || !after_.queue(it->second).object.has_value()) {
      return {CreateQueue(name)};
    }
    chain.push_back(name);
    name = after_.queue(it->second).object->parent;
  }
  const auto job_queue = before_.queues().find(after_.queue(entry_.queue).name);
  if (!before_.queue(job_queue->second).object.has_value()) {
    return {};
  }
  return {MoveUnderRoot(before_, job_queue->second)};
}

std::vector<Knob> Remedy::ForClosedQueue() {
  std::vector<Knob> knobs;
  const QueueTree& tree = explainer_.round().tree();
  for (QueueIndex n = entry_.queue; n != kNoIndex; n = tree.node(n).parent) {
    if (tree.node(n).object().state != QueueState::kOpen) {
      knobs.push_back(OpenQueue(before_, n));
    }
  }
  return knobs;
}

std::vector<Knob> Remedy::ForInnerQueue() {
  const QueueTree& tree = explainer_.round().tree();
  for (const auto& [name, leaf] : after_.queues()) {
    if (tree.Gate(leaf) != Verdict::kNone) {
      continue;
    }
    for (QueueIndex n = leaf; n != kNoIndex; n = tree.node(n).parent) {
      if (n == entry_.queue) {
        return {SetQueue(before_, job_, name)};
      }
    }
  }
  return {};
}

Knob Remedy::UpTo(Knob knob, int64_t limit) {
  knob.by =
      std::clamp<int64_t>(SaturatingSub(limit, knob.from), 1, std::max<int64_t>(knob.most, 1));
  return knob;
}

std::vector<Knob> Remedy::ForBlock(const Block& block) {
  const int64_t limit = SaturatingAdd(block.used, block.requested);
  switch (block.verdict) {
    case Verdict::kTenantQuota:
      return {UpTo(RaiseQuota(before_, block.tenant, block.resource), limit)};
    case Verdict::kQueueCapability:
      return {UpTo(RaiseCapability(before_, block.queue, block.resource), limit)};
    case Verdict::kFairShare:
      return ForGuarantees(block);
    default:
      return {};
  }
}

std::vector<Knob> Remedy::ForGuarantees(const Block& block) {
  const Round& round = explainer_.round();
  const int64_t missing = SaturatingSub(SaturatingAdd(block.used, block.requested), block.limit);
  // The queue that keeps the most room idle, of those that share the level where it is short.
  QueueIndex idlest = kNoIndex;
  int64_t most_idle = 0;
  for (const auto& [name, queue] : before_.queues()) {
    const QueueNode& node = round.tree().node(queue);
    if (!node.attached || !before_.queue(queue).object.has_value()) {
      continue;
    }
    bool above_job = false;
    for (QueueIndex n = entry_.queue; n != kNoIndex; n = round.tree().node(n).parent) {
      above_job = above_job || n == queue;
    }
    const auto& guarantee = node.object().guarantee;
    const auto it = guarantee.find(after_.resources().Name(block.resource));
    if (above_job || it == guarantee.end()) {
      continue;
    }
    const int64_t idle = SaturatingSub(it->second, round.shares()[queue].held[block.resource]);
    if (idle > most_idle) {
      most_idle = idle;
      idlest = queue;
    }
  }
  if (idlest == kNoIndex) {
    return {};
  }
  Knob knob = LowerGuarantee(before_, idlest, block.resource);
  const auto& now = after_.queue(idlest).object->guarantee;
  const int64_t lowered =
      SaturatingSub(knob.from, now.find(after_.resources().Name(block.resource))->second);
  knob.by = std::clamp<int64_t>(SaturatingAdd(lowered, std::min(missing, most_idle)), 1,
                                std::max<int64_t>(knob.most, 1));
  return {knob};
}

/// Of a job that no cluster holds: what keeps it from being split, where it could be.
std::vector<Knob> Remedy::ForSplit(Verdict verdict) {
  const Round& round = explainer_.round();
  const JobSpec& spec = after_.spec(entry_);
  if (spec.kind != JobKind::kJob || !SplitUnsafeBy(spec).empty() ||
      CouldEverFit(after_, round.clusters(), entry_.shape, round.quotas()[entry_.tenant])) {
    return {};
  }
  if (!LetSplit(after_, job_).edits(1).empty()) {
    return {LetSplit(before_, job_)};
  }
  if (verdict != Verdict::kMaxClusters) {
    return {};
  }
  return {UpTo(RaiseMaxClusters(before_, job_), spec.max_clusters + 1)};
}

std::vector<Knob> Remedy::ForClusters(const ClusterVerdicts& verdicts) {
  struct Candidate {
    bool other = false;
    int effort = 0;
    size_t figures = 0;
    size_t position = 0;
    const ClusterView* view = nullptr;
  };
  std::vector<Candidate> candidates;
  for (size_t i = 0; i < verdicts.size(); ++i) {
    if (verdicts[i].verdict == Verdict::kNone) {
      continue;
    }
    const ClusterView& view = explainer_.round().clusters()[i];
    candidates.push_back(
        {view.index != target_, Effort(verdicts[i].verdict), verdicts[i].figures.size(), i, &view});
  }
  std::sort(candidates.begin(), candidates.end(), [](const Candidate& a, const Candidate& b) {
    return std::tie(a.other, a.effort, a.figures, a.position) <
           std::tie(b.other, b.effort, b.figures, b.position);
  });
  for (const Candidate& candidate : candidates) {
    std::vector<Knob> knobs = ForCluster(*candidate.view, verdicts[candidate.position].verdict);
    if (!knobs.empty()) {
      target_ = candidate.view->index;
      return knobs;
    }
  }
  return {};
}

/// It goes in the next round, since what was counted twice in this one (pods that a summary shows
/// as pending may be ours) is not then. With more room it goes in this one.
std::vector<Knob> Remedy::ForThisRound(const ClusterVerdicts& verdicts) {
  const ClusterView* chosen = nullptr;
  for (size_t i = 0; i < verdicts.size(); ++i) {
    const ClusterView& view = explainer_.round().clusters()[i];
    if (verdicts[i].verdict == Verdict::kNone && view.object().has_summary &&
        (chosen == nullptr || view.index == target_)) {
      chosen = &view;
    }
  }
  std::vector<Knob> knobs;
  if (chosen != nullptr) {
    target_ = chosen->index;
    const ShapeFacts& facts = after_.facts(entry_.shape);
    for (const ResourceIndex r : facts.requested) {
      if (chosen->allocatable[r] < kUnlimited) {
        knobs.push_back(UpTo(AddCapacity(before_, chosen->index, r),
                             SaturatingAdd(chosen->allocatable[r], facts.total[r])));
      }
    }
  }
  return knobs;
}

std::vector<Knob> Remedy::ForCluster(const ClusterView& cluster, Verdict verdict) {
  switch (verdict) {
    case Verdict::kTenantQuota: {
      const std::optional<Block> block = explainer_.round().limits().CheckCluster(
          entry_.tenant, cluster.index, after_.facts(entry_.shape));
      return {UpTo(RaiseClusterQuota(before_, entry_.tenant, cluster.index, block->resource),
                   SaturatingAdd(block->used, block->requested))};
    }
    case Verdict::kInsufficientResources:
      return ForRoom(cluster);
    case Verdict::kClusterNotReady:
      return cluster.object().deleting ? std::vector<Knob>()
                                       : std::vector<Knob>{MakeReady(before_, cluster.index)};
    case Verdict::kNoClusterMatches: {
      Knob knob = AllowCluster(before_, job_, cluster.index);
      // Nothing to edit: it is the cluster that does not serve Jobs.
      return knob.edits(1).empty() ? std::vector<Knob>() : std::vector<Knob>{knob};
    }
    case Verdict::kMissingReference:
    case Verdict::kNameConflict:
    case Verdict::kApplyFailed:
    case Verdict::kStuckInMember:
    case Verdict::kTooLarge:
    case Verdict::kBackoff:
      return {EndBackoff(before_, job_, cluster.index)};
    default:
      return {};
  }
}

std::vector<Knob> Remedy::ForRoom(const ClusterView& cluster) {
  const Reason reason = Room(after_, cluster, entry_.shape);
  const bool by_nodes = !cluster.object().has_summary && cluster.nodes.has_value();
  std::vector<Knob> knobs;
  for (const Figure& figure : reason.figures) {
    if (figure.resource.empty()) {
      continue;
    }
    const ResourceIndex r = after_.resources().Find(figure.resource);
    const int64_t limit = SaturatingAdd(figure.used, figure.requested);
    if (!by_nodes) {
      knobs.push_back(UpTo(AddCapacity(before_, cluster.index, r), limit));
      continue;
    }
    const std::string node = NodeFor(cluster, after_.shape(entry_.shape).tasks.front().nodes);
    if (node.empty()) {
      return ForSlots(cluster, GangOf(after_.shape(entry_.shape), after_.facts(entry_.shape)));
    }
    const ResourceList& now = cluster.entry->nodes.at(node).allocatable;
    const auto it = now.find(figure.resource);
    knobs.push_back(
        UpTo(AddNodeCapacity(before_, cluster.index, node, r),
             SaturatingAdd(it == now.end() ? 0 : it->second, SaturatingSub(limit, figure.limit))));
  }
  return knobs.empty()
             ? ForSlots(cluster, GangOf(after_.shape(entry_.shape), after_.facts(entry_.shape)))
             : knobs;
}

/// The first of the tasks that do not all find room on the nodes.
std::vector<Knob> Remedy::ForSlots(const ClusterView& cluster,
                                   const std::vector<NodePool::Task>& gang) {
  if (!cluster.nodes.has_value()) {
    return {};
  }
  NodePool pool = *cluster.nodes;
  NodePool::Task short_of;
  for (const NodePool::Task& task : gang) {
    short_of = task;
    const int64_t missing = task.replicas - pool.PackSome(task);
    short_of.replicas = std::max<int64_t>(missing, 1);
    if (missing > 0) {
      break;
    }
  }
  if (short_of.nodes == nullptr) {
    return {};
  }
  const std::string node = NodeFor(cluster, *short_of.nodes);
  return node.empty() ? ForNodes(cluster, *short_of.nodes)
                      : EnlargeNode(cluster, node, pool.FreeOn(node), short_of);
}

std::vector<Knob> Remedy::EnlargeNode(const ClusterView& cluster, const std::string& node,
                                      const ResourceVector& free, const NodePool::Task& task) {
  const ResourceVector all = CapacityIn(after_, cluster.entry->nodes.at(node).allocatable);
  std::vector<Knob> knobs;
  for (ResourceIndex r = 0; r < task.request.size(); ++r) {
    const int64_t missing =
        SaturatingSub(SaturatingMul(task.request[r], task.replicas), std::max<int64_t>(free[r], 0));
    if (task.request[r] > 0 && missing > 0) {
      knobs.push_back(
          UpTo(AddNodeCapacity(before_, cluster.index, node, r), SaturatingAdd(all[r], missing)));
    }
  }
  return knobs;
}

/// Nodes that would take such pods if they were Ready and not cordoned.
std::vector<Knob> Remedy::ForNodes(const ClusterView& cluster, const NodeConstraint& constraint) {
  for (const auto& [name, node] : cluster.entry->nodes) {
    Node mended = node;
    mended.unschedulable = false;
    mended.ready = true;
    if (!NodeTakes(mended, constraint)) {
      continue;
    }
    std::vector<Knob> knobs;
    if (node.unschedulable) {
      knobs.push_back(Uncordon(before_, cluster.index, name));
    }
    if (!node.ready) {
      knobs.push_back(MakeNodeReady(before_, cluster.index, name));
    }
    return knobs;
  }
  return {};
}

std::string Remedy::NodeFor(const ClusterView& cluster, const NodeConstraint& constraint) {
  for (const auto& [name, node] : cluster.entry->nodes) {
    if (NodeTakes(node, constraint)) {
      return name;
    }
  }
  return {};
}

}  // namespace caldera
