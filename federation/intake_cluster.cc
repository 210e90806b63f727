// Cluster, as Karmada's API keeps it: where it is, whether it is Ready, what it serves and what its
// last summary said.
#include <algorithm>
#include <limits>

#include "federation/intake_kinds.h"

namespace caldera {
namespace {

void TakeConditions(const Field& conditions, Cluster& cluster) {
  for (const Field& condition : conditions.Items()) {
    condition.IsMapOrAbsent();
    if (condition["type"].String() != "Ready") {
      continue;
    }
    const auto status = condition["status"].String();
    if (status && *status != "True" && *status != "False" && *status != "Unknown") {
      condition["status"].Refuse(R"(must be "True", "False" or "Unknown")");
    }
    cluster.ready = status == "True";
    cluster.ready_changed = TakeTime(condition["lastTransitionTime"]).value_or(Time{});
  }
}

// Only Volcano's groups are kept: nothing asks for the others, and a member serves hundreds of
// kinds whose changes would each count as a change of the Cluster.
bool IsKept(std::string_view group_version) {
  constexpr std::string_view kSuffix = ".volcano.sh";
  const std::string_view group = group_version.substr(0, group_version.find('/'));
  return group.size() > kSuffix.size() && group.substr(group.size() - kSuffix.size()) == kSuffix;
}

void TakeApis(const Field& enablements, Cluster& cluster) {
  cluster.apis_known = enablements.Present();
  for (const Field& enablement : enablements.Items()) {
    enablement.IsMapOrAbsent();
    const auto group_version = enablement["groupVersion"].String();
    if (!group_version || !IsKept(*group_version)) {
      continue;
    }
    for (const Field& resource : enablement["resources"].Items()) {
      resource.IsMapOrAbsent();
      if (const auto kind = resource["kind"].String()) {
        cluster.apis.push_back(*group_version + "/" + *kind);
      }
    }
  }
  std::sort(cluster.apis.begin(), cluster.apis.end());
  cluster.apis.erase(std::unique(cluster.apis.begin(), cluster.apis.end()), cluster.apis.end());
}

void TakeSummary(const Field& summary, Cluster& cluster) {
  summary.IsMapOrAbsent();
  cluster.has_summary = summary.Present();
  cluster.allocatable = summary["allocatable"].Resources(false);
  cluster.allocated = summary["allocated"].Resources(true);
  cluster.allocating = summary["allocating"].Resources(true);
}

}  // namespace

void TakeCluster(Taking& taking) {
  const Field spec = taking.root["spec"];
  const Field status = taking.root["status"];
  spec.IsMapOrAbsent();
  status.IsMapOrAbsent();

  Cluster cluster;
  cluster.name = taking.meta.name;
  cluster.uid = taking.meta.uid;
  cluster.labels = taking.meta.labels;
  cluster.deleting = taking.meta.deleting;
  cluster.taints = TakeTaints(spec["taints"]);
  cluster.zones = spec["zones"].StringList();
  if (const auto zone = spec["zone"].String(); cluster.zones.empty() && zone && !zone->empty()) {
    cluster.zones.push_back(*zone);
  }
  cluster.region = spec["region"].String().value_or("");
  cluster.provider = spec["provider"].String().value_or("");
  cluster.cost =
      IntegerText(OurAnnotation(taking.root, "cost"), 0, std::numeric_limits<int32_t>::max())
          .value_or(0);
  TakeConditions(status["conditions"], cluster);
  TakeApis(status["apiEnablements"], cluster);
  TakeSummary(status["resourceSummary"], cluster);
  taking.out.change = ClusterUpsert{std::move(cluster)};
}

}  // namespace caldera
