// Who may use how much, and whose job matters more: FederatedResourceQuota, PriorityClass,
// Namespace.
#include <algorithm>
#include <limits>

#include "federation/excerpt.h"
#include "federation/intake_kinds.h"
#include "federation/names.h"

namespace caldera {
namespace {

constexpr int64_t kUserPriorityMax = 1'000'000'000;
constexpr int64_t kWeightMax = 65535;
constexpr std::string_view kRequests = "requests.";
constexpr std::string_view kLimits = "limits.";
constexpr std::string_view kStorageClass = ".storageclass.storage.k8s.io/";

// The resource that a quota key counts; empty for what Caldera does not count.
std::string CountedResource(std::string_view key) {
  if (key == "pods" || key == "count/pods") {
    return "pods";
  }
  if (key.substr(0, kRequests.size()) == kRequests) {
    key.remove_prefix(kRequests.size());
  }
  const bool foreign = key.substr(0, kLimits.size()) == kLimits || key == "storage" ||
                       key.find(kStorageClass) != std::string_view::npos;
  const bool counted = !foreign && (key == "cpu" || IsBytes(key) || IsDevice(key));
  return counted ? std::string(key) : std::string();
}

// Both forms of one key: the smaller binds.
ResourceList TakeHard(const Field& map) {
  ResourceList hard;
  for (const auto& [key, quantity] : map.Quantities()) {
    const std::string resource = CountedResource(key);
    if (resource.empty()) {
      map.Entry(key).Warn(
          "is not counted: " + Excerpt(key) +
          " is no request for cpu, memory, ephemeral-storage, hugepages, devices or "
          "pods");
      continue;
    }
    const int64_t amount = CapacityAmount(resource, quantity);
    const auto [there, fresh] = hard.emplace(resource, amount);
    if (!fresh) {
      there->second = std::min(there->second, amount);
    }
  }
  return hard;
}

void TakeAssignment(const Field& item, TenantQuota& quota) {
  item.IsMapOrAbsent();
  WarnUnknown(item, {"clusterName", "hard"});
  const Field name = item["clusterName"];
  const auto cluster = name.String();
  if (!cluster) {
    if (!name.Present()) {
      name.Refuse("is missing: each assignment names its cluster");
    }
    return;
  }
  if (!IsDnsLabel(*cluster)) {
    name.Refuse("is no cluster name: it takes " + std::string(kDnsLabelRule));
  }
  const Field hard = item["hard"];
  if (!hard.Present()) {
    hard.Refuse("is missing: each assignment gives its limits");
  }
  const auto [there, fresh] = quota.per_cluster.emplace(*cluster, TakeHard(hard));
  if (!fresh) {
    name.Refuse("is named twice: give one assignment a cluster");
  }
}

// In any case of letters, as Karmada compares this label.
bool IsTrue(std::string_view text) {
  constexpr std::string_view kTrue = "true";
  return std::equal(text.begin(), text.end(), kTrue.begin(), kTrue.end(), [](char a, char b) {
    return a == b || (a >= 'A' && a <= 'Z' && a - 'A' + 'a' == b);
  });
}

// Karmada's admission: assignments are parts of overall.
void CheckAssignments(const Field& spec, const TenantQuota& quota) {
  ResourceList sum;
  for (const auto& [cluster, hard] : quota.per_cluster) {
    AddTo(sum, hard);
  }
  for (const auto& [resource, amount] : sum) {
    const auto overall = quota.overall.find(resource);
    if (overall == quota.overall.end()) {
      spec["overall"].Refuse("must have " + Excerpt(resource) +
                             " too: staticAssignments give parts of it");
    } else if (overall->second < amount) {
      spec["overall"].Refuse("has " + FormatAmount(resource, overall->second) + " of " +
                             Excerpt(resource) + ": it must be at least the " +
                             FormatAmount(resource, amount) + " of all staticAssignments");
    }
  }
}

}  // namespace

void TakeFederatedResourceQuota(Taking& taking) {
  const Field spec = taking.root["spec"];
  spec.IsMapOrAbsent();
  WarnUnknown(taking.root, {"apiVersion", "kind", "metadata", "spec", "status"});
  WarnUnknown(spec, {"overall", "staticAssignments"});
  TenantQuota quota;
  quota.tenant = taking.meta.ns;
  quota.name = taking.meta.name;
  constexpr size_t kNameMax = 63;
  if (quota.name.size() > kNameMax) {
    taking.root["metadata"]["name"].Refuse(
        "must have at most 63 characters: Karmada uses it as a "
        "label");
  }
  const Field overall = spec["overall"];
  if (!overall.Present()) {
    overall.Refuse("is missing: the limits over all clusters, such as {cpu: \"100\"}");
  }
  quota.overall = TakeHard(overall);
  for (const Field& item : spec["staticAssignments"].Items()) {
    TakeAssignment(item, quota);
  }
  if (taking.strictness == Strictness::kNew) {
    CheckAssignments(spec, quota);
  }
  quota.weight = static_cast<int32_t>(
      IntegerText(OurAnnotation(taking.root, "weight"), 1, kWeightMax).value_or(1));
  taking.out.change = TenantQuotaUpsert{std::move(quota)};
}

void TakePriorityClass(Taking& taking) {
  PriorityClass priority;
  priority.name = taking.meta.name;
  const Field value = taking.root["value"];
  priority.value = static_cast<int32_t>(
      value.Integer(std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max())
          .value_or(0));
  const bool system = priority.name.rfind("system-", 0) == 0;
  if (priority.value > kUserPriorityMax && !system) {
    value.Refuse("must be at most 1000000000: higher ones are for system- classes");
  }
  priority.global_default = taking.root["globalDefault"].Bool().value_or(false);
  const Field policy = taking.root["preemptionPolicy"];
  const auto text = policy.String();
  if (text && *text != "Never" && *text != "PreemptLowerPriority") {
    policy.Refuse("must be Never or PreemptLowerPriority");
  }
  priority.preempts = text != "Never";
  taking.out.change = PriorityClassUpsert{std::move(priority)};
}

void TakeNamespace(Taking& taking) {
  Namespace ns;
  ns.name = taking.meta.name;
  const auto label = taking.meta.labels.find("namespace.karmada.io/skip-auto-propagation");
  ns.skip_auto_propagation = label != taking.meta.labels.end() && IsTrue(label->second);
  taking.out.change = NamespaceUpsert{std::move(ns)};
}

}  // namespace caldera
