#include "federation/report.h"

#include <algorithm>

#include "federation/amounts.h"
#include "federation/round.h"
#include "federation/share.h"

namespace caldera {

namespace {

ResourceList Limited(const State& state, const ResourceLimits& limits) {
  ResourceList list;
  for (ResourceIndex r = 0; r < limits.size(); ++r) {
    if (limits[r] != kUnlimited) {
      list.emplace(state.resources().Name(r), limits[r]);
    }
  }
  return list;
}

/// `amounts` of the resources that `of` has, with those that are 0 and without what is unlimited.
ResourceList Known(const State& state, const ResourceVector& of, const ResourceVector& amounts) {
  ResourceList list;
  for (const ResourceIndex r : state.resources().ByName()) {
    if (of[r] != 0 && of[r] != kUnlimited) {
      list.emplace(state.resources().Name(r), amounts[r]);
    }
  }
  return list;
}

/// The largest held / deserved of any resource, in thousandths.
int64_t ShareMilli(const State& state, const QueueShare& share) {
  constexpr int64_t kMilli = 1000;
  int64_t largest = 0;
  for (ResourceIndex r = 0; r < state.resources().size(); ++r) {
    if (share.held[r] <= 0 || state.resources().Name(r) == "pods") {
      continue;
    }
    const int64_t deserved = share.deserved[r];
    const Int128 milli =
        deserved <= 0 ? Int128{kUnlimited} : Int128{share.held[r]} * kMilli / deserved;
    largest = std::max(largest, static_cast<int64_t>(std::min<Int128>(milli, kUnlimited)));
  }
  return largest;
}

QueueReport ReportQueue(const Round& round, QueueIndex i) {
  const State& state = round.state();
  const QueueNode& node = round.tree().node(i);
  const QueueShare& share = round.shares()[i];
  QueueReport report;
  report.queue = node.entry->name;
  report.state = QueueState::kUnknown;
  if (node.entry->object.has_value()) {
    report.parent = node.object().parent;
    report.weight = node.object().weight;
    report.priority = node.object().priority;
    report.state = node.object().state;
  }
  report.capability = Limited(state, node.capability);
  report.guarantee = ToList(state.resources(), share.guarantee);
  report.demand = ToList(state.resources(), share.demand);
  report.deserved = ToList(state.resources(), share.deserved);
  report.allocated = ToList(state.resources(), share.charged);
  report.share_milli = ShareMilli(state, share);
  return report;
}

/// The smallest limit of several quotas, per resource.
void Tighten(ResourceList& limits, const ResourceList& other) {
  for (const auto& [name, limit] : other) {
    const auto [it, added] = limits.emplace(name, limit);
    it->second = std::min(it->second, limit);
  }
}

TenantReport ReportTenant(const State& state, const TenantEntry& tenant) {
  TenantReport report;
  report.tenant = tenant.name;
  report.overall.used = ToList(state.resources(), tenant.charged.ToVector());
  for (const auto& [name, quota] : tenant.quotas) {
    Tighten(report.overall.quota, quota.overall);
    for (const auto& [cluster, limits] : quota.per_cluster) {
      Tighten(report.clusters[cluster].quota, limits);
    }
  }
  for (auto& [cluster, usage] : report.clusters) {
    const auto it = tenant.charged_in.find(state.clusters().find(cluster)->second);
    if (it != tenant.charged_in.end()) {
      usage.used = ToList(state.resources(), it->second.ToVector());
    }
  }
  return report;
}

ClusterReport ReportCluster(const State& state, const ClusterView& cluster) {
  ClusterReport report;
  report.cluster = cluster.name();
  report.ready = cluster.object().ready;
  report.allocatable = Known(state, cluster.allocatable, cluster.allocatable);
  report.allocated = ToList(state.resources(), cluster.allocated);
  report.on_top = ToList(state.resources(), cluster.on_top);
  report.free = Known(state, cluster.allocatable, cluster.free);
  return report;
}

}  // namespace

std::string ShareText(int64_t milli) {
  if (milli == kUnlimited) {
    return "over";
  }
  std::string rest = std::to_string(milli % 1000);
  rest.insert(0, 3 - rest.size(), '0');
  return std::to_string(milli / 1000) + "." + rest;
}

Report MakeReport(const State& state) {
  const Round round(state);
  Report report;
  for (const auto& [name, i] : state.queues()) {
    const QueueEntry& queue = state.queue(i);
    if (queue.object.has_value() || queue.charged_jobs > 0) {
      report.queues.push_back(ReportQueue(round, i));
    }
  }
  for (const auto& [name, i] : state.tenants()) {
    const TenantEntry& tenant = state.tenant(i);
    if (!tenant.quotas.empty() || !tenant.charged.IsZero()) {
      report.tenants.push_back(ReportTenant(state, tenant));
    }
  }
  for (const ClusterView& cluster : round.clusters()) {
    report.clusters.push_back(ReportCluster(state, cluster));
  }
  for (const JobIndex i : state.JobsByKey()) {
    const JobEntry& job = state.job(i);
    if (job.charge.has_value()) {
      report.running.push_back(
          {job.key, state.spec(job).kind, state.queue(job.charge_queue).name, job.charge->shards});
    }
  }
  return report;
}

}  // namespace caldera
