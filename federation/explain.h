// Why each pending job waits, from the State after a plan was applied, and on request the smallest
// change that would admit it. Pure; used by the CLI, Events and the ledger alike.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "federation/model.h"
#include "federation/state.h"
#include "federation/verdict.h"

namespace caldera {

struct ClusterVerdict {
  std::string cluster;
  Verdict verdict = Verdict::kNone;
  std::string message;
  std::vector<Figure> figures;
};

/// What the clusters answer to such jobs, sorted by name. All jobs that get the same answer share
/// one list: with 20,000 jobs and 100 clusters, copies would be half a gigabyte. Never changed once
/// made.
class ClusterVerdicts {
 public:
  using List = std::vector<ClusterVerdict>;
  ClusterVerdicts() = default;
  explicit ClusterVerdicts(List list) : list_(std::make_shared<const List>(std::move(list))) {}

  [[nodiscard]] const List& list() const {
    static const List kNone;
    return list_ == nullptr ? kNone : *list_;
  }
  // NOLINTNEXTLINE(google-explicit-constructor): it is that list.
  operator const List&() const { return list(); }
  [[nodiscard]] List::const_iterator begin() const { return list().begin(); }
  [[nodiscard]] List::const_iterator end() const { return list().end(); }
  [[nodiscard]] size_t size() const { return list().size(); }
  [[nodiscard]] bool empty() const { return list().empty(); }
  const ClusterVerdict& operator[](size_t i) const { return list()[i]; }

 private:
  std::shared_ptr<const List> list_;
};

/// One change of the admitting set. `object` as in Figure, `field` a path in that object
/// (`spec.capability[cpu]`), `from`/`to` as a user would write them (`absent` where it is not
/// there).
struct Edit {
  std::string object;
  std::string field;
  std::string from;
  std::string to;
};

struct PendingJob {
  /// Who is next if room appears: 1-based among the pending; jobs that are no candidates come last.
  int32_t rank = 0;
  JobKey job;
  JobKind kind = JobKind::kJob;
  std::string queue;
  Verdict verdict = Verdict::kNone;
  std::string message;
  std::vector<Figure> figures;
  ClusterVerdicts clusters;  ///< Where clusters were looked at.
};

/// Every pending job with its verdict, in rank order. `after` is a State to which the plan's effect
/// was applied. Jobs of one class share the work of finding the verdict.
std::vector<PendingJob> ExplainPending(const State& after);

/// The smallest change that admits `job`, the jobs ahead of it included: applied to a copy of
/// `before` and planned again, the job is placed (verified, else the result is empty). `before` is
/// the State that was planned. Empty too where no single knob helps (a job that is claimed
/// elsewhere).
std::vector<Edit> WouldFitIf(const State& before, const JobKey& job);

}  // namespace caldera
