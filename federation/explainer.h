// The verdicts on the pending jobs of one State: gate, limits, clusters, order, in that precedence.
// What jobs have in common is found once: limits by class, clusters by shape. Used by explain.cc
// and, one job at a time, by would_fit.cc. Borrows the State.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "federation/explain.h"
#include "federation/limits.h"
#include "federation/reason.h"
#include "federation/reservations.h"
#include "federation/round.h"
#include "federation/state.h"

namespace caldera {

class Explainer {
 public:
  explicit Explainer(const State& after);

  /// Every pending job: candidates in the order in which the planner would take them if everything
  /// fitted, then the others by creation, key and kind.
  [[nodiscard]] const std::vector<JobIndex>& Ranking() const { return ranking_; }
  /// The verdict on a job that is pending; `rank` stays 0.
  [[nodiscard]] PendingJob Explain(JobIndex job);

  [[nodiscard]] const Round& round() const { return round_; }
  /// The first candidate of a fifo queue, which holds back the others; kNoIndex elsewhere.
  [[nodiscard]] JobIndex FifoHead(QueueIndex queue) const;

 private:
  /// What all jobs of a class are told, the order inside of a fifo queue apart.
  struct Answer {
    Reason reason;  ///< kNone: limits and some cluster would take it.
    ClusterVerdicts clusters;
  };

  const Answer& AnswerFor(ClassIndex job_class);
  /// `job`: whom clusters back off for, else nullptr.
  Answer Judge(const JobClass& job_class, const JobEntry* job);
  const ClusterVerdicts& AskClusters(const JobClass& job_class);
  [[nodiscard]] ClusterVerdict AskCluster(const ClusterView& cluster,
                                          const JobClass& job_class) const;
  [[nodiscard]] ClassIndex IndexOf(const JobClass& job_class) const;
  [[nodiscard]] Reason NeverBorrows(const JobClass& job_class) const;
  [[nodiscard]] Reason KeptFor(const JobEntry& job) const;
  [[nodiscard]] Reason KeptFromIt(const ClusterView& cluster, const JobClass& job_class) const;
  [[nodiscard]] Reason SumUp(const JobClass& job_class, const ClusterVerdicts& clusters) const;
  [[nodiscard]] std::optional<Reason> ChildrenNowhere(ShapeIndex shape) const;
  [[nodiscard]] std::optional<Reason> NotSplit(const JobClass& job_class) const;
  [[nodiscard]] ClusterVerdicts WithBackoffs(const ClusterVerdicts& clusters,
                                             const JobEntry& job) const;
  [[nodiscard]] std::optional<Reason> FirstBackoff(const ClusterVerdicts& clusters,
                                                   const JobEntry& job) const;
  [[nodiscard]] std::optional<Reason> LargerThanFederation(ShapeIndex shape) const;
  [[nodiscard]] std::optional<Reason> LargerThanEveryCluster(ShapeIndex shape) const;

  const State& state_;
  Round round_;
  Reservations reservations_;
  std::vector<JobIndex> ranking_;
  std::map<QueueIndex, JobIndex> fifo_heads_;
  std::map<ClassIndex, Answer> answers_;
  /// By shape, by tenant where its quotas tell clusters apart, and by class where room is kept
  /// (else kNoIndex).
  std::map<std::tuple<ShapeIndex, TenantIndex, ClassIndex>, ClusterVerdicts> clusters_;
};

}  // namespace caldera
