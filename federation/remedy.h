// From a verdict to what would lift it: the knobs to turn next so that one pending job comes closer
// to being placed. Borrows both States.
#pragma once

#include <vector>

#include "federation/explainer.h"
#include "federation/knob.h"
#include "federation/node_pool.h"
#include "federation/split_search.h"
#include "federation/state.h"

namespace caldera {

class Remedy {
 public:
  /// `before`: nothing turned; knobs count from it. `after`: the knobs so far turned and the plan
  /// applied, the job still pending. `target`: the cluster that knobs were turned for so far, or
  /// kNoIndex: work goes on there instead of adding a little everywhere.
  Remedy(const State& before, const State& after, JobIndex job, ClusterIndex target);

  /// Empty where nothing helps.
  std::vector<Knob> Next();
  /// Where that is not enough: of a job that may go to several clusters, room there for what finds
  /// none. Empty likewise.
  std::vector<Knob> ForParts();
  [[nodiscard]] ClusterIndex target() const { return target_; }

 private:
  std::vector<Knob> ForReferences();
  std::vector<Knob> ForMissingQueue();
  std::vector<Knob> ForClosedQueue();
  std::vector<Knob> ForInnerQueue();
  std::vector<Knob> ForBlock(const Block& block);
  std::vector<Knob> ForGuarantees(const Block& block);
  std::vector<Knob> ForSplit(Verdict verdict);
  std::vector<Knob> ForClusters(const ClusterVerdicts& verdicts);
  std::vector<Knob> ForThisRound(const ClusterVerdicts& verdicts);
  std::vector<Knob> ForCluster(const ClusterView& cluster, Verdict verdict);
  std::vector<Knob> ForRoom(const ClusterView& cluster);
  std::vector<Knob> ForSlots(const ClusterView& cluster, const std::vector<NodePool::Task>& gang);
  // Of a job in several clusters, in remedy_split.cc, as ForParts.
  std::vector<Knob> ForPart(const Roomless& part, const SplitSites& sites);
  std::vector<Knob> ForPartIn(const SplitSite& site, const Roomless& part,
                              const ResourceVector& left);
  std::vector<Knob> EnlargeNode(const ClusterView& cluster, const std::string& node,
                                const ResourceVector& free, const NodePool::Task& task);
  std::vector<Knob> ForNodes(const ClusterView& cluster, const NodeConstraint& constraint);
  /// The first node that such pods may use, or empty.
  [[nodiscard]] static std::string NodeFor(const ClusterView& cluster,
                                           const NodeConstraint& constraint);
  /// Turns the knob so far that the limit comes to `limit`.
  [[nodiscard]] static Knob UpTo(Knob knob, int64_t limit);

  const State& before_;
  const State& after_;
  JobIndex job_;
  const JobEntry& entry_;
  Explainer explainer_;
  ClusterIndex target_;
};

}  // namespace caldera
