// The figures of a State for people and programs: what `plan` prints and the ledger's balances
// keep. All lists are sorted by name. Pure.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "federation/model.h"
#include "federation/state.h"

namespace caldera {

struct QueueReport {
  std::string queue;
  std::string parent;
  int32_t weight = 1;
  int32_t priority = 0;
  QueueState state = QueueState::kOpen;
  ResourceList capability;  ///< Effective: clamped by the parents'.
  ResourceList guarantee;   ///< Effective: scaled where the federation is smaller.
  ResourceList demand;
  ResourceList deserved;
  ResourceList allocated;
  int64_t share_milli = 0;  ///< share * 1000 rounded down; kUnlimited where deserved is 0.
};

struct TenantReport {
  struct Usage {
    ResourceList quota;
    ResourceList used;
  };
  std::string tenant;
  Usage overall;
  std::map<std::string, Usage> clusters;  ///< Those with a static assignment.
};

struct ClusterReport {
  std::string cluster;
  bool ready = false;
  ResourceList allocatable;
  ResourceList allocated;  ///< By its summary.
  ResourceList on_top;     ///< Ours, not yet in the summary.
  ResourceList free;
};

struct RunningReport {
  JobKey job;
  JobKind kind = JobKind::kJob;
  std::string queue;
  std::vector<Shard> shards;
};

struct Report {
  std::vector<QueueReport> queues;
  std::vector<TenantReport> tenants;
  std::vector<ClusterReport> clusters;
  std::vector<RunningReport> running;  ///< Every charged job.
};

Report MakeReport(const State& state);

/// A share in thousandths for people, `1.250`; `over` for kUnlimited.
std::string ShareText(int64_t milli);

}  // namespace caldera
