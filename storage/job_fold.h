// Folds what a cycle did to jobs into `jobs`, `shards`, `intents`, `verdicts` and the balances,
// inside the caller's transaction. What a job holds is read from the State after the cycle, so that
// table and State cannot disagree on what a Change means; only jobs that a Change or an action
// names are looked at, so a cycle costs what happened in it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "federation/explain.h"
#include "federation/plan.h"
#include "federation/state.h"
#include "storage/balances.h"
#include "storage/database.h"

namespace caldera {

std::string_view JobKindText(JobKind kind);

struct OpenShard;

class JobFold {
 public:
  static Result<JobFold> Open(Database& database);

  struct Cycle {
    int64_t number = 0;
    int64_t first_intent = 0;
    const State& after;
  };
  /// Writes the rows of every job that `changes` or `plan` names.
  Status Apply(const Cycle& cycle, const std::vector<Change>& changes, const Plan& plan,
               Balances& balances);
  /// Writes the verdicts that differ from what stands there. Jobs that are not pending are skipped.
  Status PutVerdicts(const std::vector<PendingJob>& pending, Time now);

 private:
  /// A job that the cycle touched, and its row.
  struct Touched {
    const JobEntry* entry = nullptr;
    int64_t id = 0;
    bool had_shards = false;  ///< The row says so; it may still hold the same ones.
    bool was_placed = false;  ///< Ever: only then there are earlier intents.
  };
  using TouchedJobs = std::map<std::pair<JobKey, JobKind>, Touched>;
  struct Statements;
  struct Deleter {
    void operator()(Statements* statements) const;
  };

  explicit JobFold(Database& database) : database_(&database) {}
  Status FoldRow(const State& after, const std::pair<JobKey, JobKind>& key, bool upserted,
                 TouchedJobs& touched);
  Status CloseRow(int64_t id, const std::string& state, const std::string& tenant, Time now);
  Status InsertRow(const State& after, const JobEntry& entry, JobKind kind, int64_t& id);
  Status UpdateObject(const State& after, const JobEntry& entry, int64_t id);
  Status UpdateState(const State& after, const JobEntry& entry, int64_t id);
  Status PutIntents(const Cycle& cycle, const Plan& plan, const TouchedJobs& touched);
  Status PutShards(const Cycle& cycle, const Plan& plan, const Touched& job);
  Status CloseShard(const OpenShard& shard, const std::string& tenant, int64_t now);
  Status CloseShards(int64_t job, const std::string& tenant, Time now);

  /// Rows of `cluster_verdicts` by the list that they were written for.
  using ClusterRows = std::map<const ClusterVerdicts::List*, int64_t>;
  Status PutVerdict(const PendingJob& job, Time now, ClusterRows& rows);
  Result<std::optional<int64_t>> PutClusters(const ClusterVerdicts& clusters, ClusterRows& rows);

  Database* database_;
  Balances* balances_ = nullptr;  ///< Only within Apply.
  std::unique_ptr<Statements, Deleter> sql_;
};

}  // namespace caldera
