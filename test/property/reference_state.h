// What the reference planner knows, read from Export() alone into plain maps: no shapes, classes or
// indexes, everything by name. Slow and simple on purpose; the rules are those of the headers of
// capacity.h, node_pool.h and shares.h, written again from their words.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "federation/change.h"
#include "federation/resources.h"

namespace caldera::property {

struct RefCluster;

struct RefJob {
  Job object;
  std::optional<Placed> charge;
  int64_t last_epoch = 0;
  /// Charged instead of their number, of a part that runs in waves with pods of several kinds.
  std::optional<int64_t> charged_pods{};
  [[nodiscard]] std::string QueueName() const;
  /// Of its Job in a member: of a child, or its own.
  [[nodiscard]] JobKey MemberKey(const std::string& child) const;
  /// Of all that it has or may get.
  [[nodiscard]] std::set<JobKey> MemberKeys() const;
  /// All of it: names, selector, taints, API, and the clusters of its templates that have pods.
  [[nodiscard]] bool MayGoTo(const RefCluster& cluster) const;
  [[nodiscard]] ResourceList Total() const;
  /// What it asks for, with its totals.
  [[nodiscard]] ResourceList Requested() const;
  /// What it may be granted where all of it is too much: the job as if it had only those pods, the
  /// most first, its floor last. Nothing of one that goes whole or not at all.
  [[nodiscard]] std::vector<RefJob> Parts() const;
  /// `whole`, which is its only shard, with the pods of `part` at a time.
  [[nodiscard]] Shard PartOf(Shard whole, const RefJob& part) const;
  /// All of it in one cluster, at the next epoch: one shard, or all children of a HyperJob.
  [[nodiscard]] std::vector<Shard> WholeIn(const std::string& cluster) const;
  /// What was reported of its pods since it was placed where it is.
  [[nodiscard]] std::vector<TaskReport> Reports() const;
};

struct RefNode {
  Node object;
  ResourceList free;
};

struct RefCluster {
  Cluster object;
  std::map<std::string, RefNode> nodes;
  std::vector<Pod> pods;
  bool lost = false;
  ResourceList allocatable;
  ResourceList free;
  ResourceList foreign;
  [[nodiscard]] bool Offers() const { return object.ready && !object.deleting; }
};

/// By resource; what somebody used lately.
using RefUsage = std::map<std::string, Int128>;

struct RefState {
  Time now;
  Settings settings;
  std::map<std::string, Queue> queues;
  std::map<std::string, PriorityClass> priorities;
  std::map<std::string, Namespace> namespaces;
  std::vector<TenantQuota> quotas;
  std::map<std::string, RefCluster> clusters;
  std::map<std::pair<JobKey, JobKind>, RefJob> jobs;

  std::vector<UsageSet> anchors;

  explicit RefState(const std::vector<Change>& exported);
  /// At `now`, of one tenant's jobs in one queue.
  [[nodiscard]] RefUsage UsedBy(const std::string& queue, const std::string& tenant) const;
  /// (1 - h) held + h used, in usage's unit times 1000.
  [[nodiscard]] Int128 Blend(int64_t held, Int128 used) const;
};

/// 0 where it is absent.
int64_t At(const ResourceList& list, const std::string& resource);
/// kUnlimited where it is absent.
int64_t LimitAt(const ResourceList& list, const std::string& resource);
/// Of a capacity: as At, but pods that nobody counts are unlimited.
int64_t CapacityAt(const ResourceList& list, const std::string& resource);
void Take(ResourceList& from, const ResourceList& amounts);

bool RefMatches(const LabelRequirement& requirement, const Labels& labels);
bool RefTolerates(const std::vector<Toleration>& tolerations, const std::vector<Taint>& taints);
/// Names, selector, taints, API.
bool RefAllowed(const RefCluster& cluster, const ClusterConstraint& constraint);

struct RefGangTask {
  const NodeConstraint* nodes = nullptr;
  ResourceList request;
  int64_t replicas = 0;
};
bool RefFits(const ResourceList& total, const ResourceList& room);
std::vector<RefGangTask> GangOfJob(const Job& job);
/// Packs all of it and takes the room, or leaves everything as it was.
bool RefPack(std::map<std::string, RefNode>& nodes, std::vector<RefGangTask> gang);
/// As many of the pods as fit, each onto the node that it fills best; returns how many.
int64_t RefFill(std::map<std::string, RefNode>& nodes, const RefGangTask& task);
/// What a node or cluster with this allocatable offers, by every name that counts there.
ResourceList RefCapacity(const ResourceList& allocatable);
ResourceList SumOfNodes(const std::map<std::string, RefNode>& nodes);
/// Whether it would; always where no node is known.
bool RefPacks(const std::map<std::string, RefNode>& nodes, const Job& job);

}  // namespace caldera::property
