#include "controller/cli/plan_contract.h"

#include "controller/cli/contract.h"

namespace caldera {
namespace {

Value QueueValue(const QueueReport& queue) {
  return {Value::Map{{"queue", queue.queue, {}},
                     {"parent", queue.parent, {}},
                     {"weight", queue.weight, {}},
                     {"priority", queue.priority, {}},
                     {"capability", AmountsValue(queue.capability), {}},
                     {"guarantee", AmountsValue(queue.guarantee), {}},
                     {"demand", AmountsValue(queue.demand), {}},
                     {"deserved", AmountsValue(queue.deserved), {}},
                     {"allocated", AmountsValue(queue.allocated), {}},
                     {"share", std::to_string(queue.share_milli), {}}}};
}

Value UsageValue(const TenantReport::Usage& usage) {
  return {
      Value::Map{{"quota", AmountsValue(usage.quota), {}}, {"used", AmountsValue(usage.used), {}}}};
}

Value TenantValue(const TenantReport& tenant) {
  Value::Map clusters;
  for (const auto& [cluster, usage] : tenant.clusters) {
    clusters.push_back({cluster, UsageValue(usage), {}});
  }
  return {Value::Map{{"tenant", tenant.tenant, {}},
                     {"quota", AmountsValue(tenant.overall.quota), {}},
                     {"used", AmountsValue(tenant.overall.used), {}},
                     {"clusters", std::move(clusters), {}}}};
}

Value ClusterValue(const ClusterReport& cluster) {
  return {Value::Map{{"cluster", cluster.cluster, {}},
                     {"ready", cluster.ready, {}},
                     {"allocatable", AmountsValue(cluster.allocatable), {}},
                     {"allocated", AmountsValue(cluster.allocated), {}},
                     {"onTop", AmountsValue(cluster.on_top), {}},
                     {"free", AmountsValue(cluster.free), {}}}};
}

Value RunningValue(const RunningReport& running) {
  return {Value::Map{{"job", running.job.ToString(), {}},
                     {"kind", std::string(JobKindName(running.kind)), {}},
                     {"queue", running.queue, {}},
                     {"shards", ShardsValue(running.shards), {}}}};
}

Value PlacementValue(const Action& action) {
  Value value{Value::Map{{"rank", action.rank, {}},
                         {"job", action.job.ToString(), {}},
                         {"kind", std::string(JobKindName(action.kind)), {}},
                         {"queue", action.queue, {}},
                         {"action", std::string(ActionName(action.action)), {}},
                         {"topologyUnchecked", action.topology_unchecked, {}},
                         {"shards", ShardsValue(action.shards), {}},
                         {"reason", action.reason, {}}}};
  if (!action.beneficiary.name.empty()) {
    value.Set("beneficiary", action.beneficiary.ToString());
  }
  return value;
}

void WritePending(SectionWriter& writer, const PlanResult& result) {
  const Explained not_asked;
  writer.BeginList("pending");
  for (const PendingJob& job : result.pending) {
    const auto asked = result.explained.find(job.job);
    const Explained& more = asked == result.explained.end() ? not_asked : asked->second;
    writer.BeginItem();
    writer.Field("rank", job.rank);
    writer.Field("job", job.job.ToString());
    writer.Field("kind", std::string(JobKindName(job.kind)));
    writer.Field("queue", job.queue);
    writer.Field("verdict", std::string(VerdictName(job.verdict)));
    writer.Field("message", job.message);
    writer.Field("figures", FiguresValue(job.figures));
    writer.SharedField("clusters", &job.clusters.list(),
                       [&job] { return ClusterVerdictsValue(job.clusters); });
    writer.Field("ahead", AheadValue(more.ahead));
    writer.Field("turn", TurnValue(more.ahead));
    writer.Field("wouldFitIf", EditsValue(more.would_fit_if));
    writer.EndItem();
  }
  writer.EndList();
}

template <typename Range, typename ToValue>
void WriteList(SectionWriter& writer, std::string_view key, const Range& range,
               const ToValue& to_value) {
  writer.BeginList(key);
  for (const auto& item : range) {
    writer.Item(to_value(item));
  }
  writer.EndList();
}

}  // namespace

void WritePlanContract(const PlanResult& result, Format format, std::ostream& out) {
  SectionWriter writer(out, format);
  writer.Member("apiVersion", "caldera.plan/v1");
  writer.Member("now", FormatTime(result.now));
  writer.Member("digest", result.digest);
  WriteList(writer, "queues", result.report.queues, QueueValue);
  WriteList(writer, "tenants", result.report.tenants, TenantValue);
  WriteList(writer, "clusters", result.report.clusters, ClusterValue);
  WriteList(writer, "running", result.report.running, RunningValue);
  WriteList(writer, "placements", result.plan.actions, PlacementValue);
  WritePending(writer, result);
  WriteList(writer, "refused", result.refused, IssueValue);
  WriteList(writer, "warnings", result.warnings, IssueValue);
  writer.End();
}

}  // namespace caldera
