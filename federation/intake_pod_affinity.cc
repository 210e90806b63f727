#include <algorithm>
#include <limits>
#include <set>

#include "federation/intake_pod.h"
#include "federation/intake_read.h"
#include "federation/names.h"

namespace caldera {
namespace {

enum class Selector : uint8_t { kLabels, kNodes, kPreferredNodes };

void CheckKey(const Field& key) {
  if (!IsQualifiedName(TextOf(key))) {
    key.Refuse("must be a label key: " + std::string(kQualifiedNameRule));
  }
}

void CheckValues(const Field& values) {
  for (const Field& value : ItemsOf(values)) {
    if (!IsLabelValue(TextOf(value))) {
      value.Refuse("must be a label value: " + std::string(kLabelValueRule));
    }
  }
}

// One `key operator values` of a selector.
void CheckRequirement(const Field& requirement, Selector kind) {
  const std::string_view op = TextOf(requirement["operator"]);
  const Field values = requirement["values"];
  const size_t count = ItemsOf(values).size();
  if (op == "In" || op == "NotIn") {
    if (count == 0) {
      values.Refuse("is required with operator In or NotIn");
    }
  } else if (op == "Exists" || op == "DoesNotExist") {
    if (count > 0) {
      values.Refuse("must not be set with operator Exists or DoesNotExist");
    }
  } else if (kind != Selector::kLabels && (op == "Gt" || op == "Lt")) {
    if (count != 1) {
      values.Refuse("must be one value with operator Gt or Lt");
    }
  } else {
    requirement["operator"].Refuse(kind == Selector::kLabels
                                       ? "must be In, NotIn, Exists or DoesNotExist"
                                       : "must be In, NotIn, Exists, DoesNotExist, Gt or Lt");
  }
  CheckKey(requirement["key"]);
  if (kind != Selector::kPreferredNodes) {
    CheckValues(values);
  }
}

// Fields of a node: only its name can be matched.
void CheckNodeField(const Field& requirement) {
  CheckChoice(requirement["operator"], {"In", "NotIn"}, true);
  const std::vector<Field> values = ItemsOf(requirement["values"]);
  if (values.size() != 1) {
    requirement["values"].Refuse("must be one value");
  }
  if (TextOf(requirement["key"]) != "metadata.name") {
    requirement["key"].Refuse("must be metadata.name");
    return;
  }
  for (const Field& value : values) {
    if (!IsDnsSubdomain(TextOf(value))) {
      value.Refuse("must be the name of a node: " + std::string(kDnsSubdomainRule));
    }
  }
}

void CheckNodeTerm(const Field& term, Selector kind) {
  for (const Field& requirement : ItemsOf(term["matchExpressions"])) {
    CheckRequirement(requirement, kind);
  }
  for (const Field& requirement : ItemsOf(term["matchFields"])) {
    CheckNodeField(requirement);
  }
}

void CheckNodeAffinity(const Field& affinity) {
  const Field required = affinity["requiredDuringSchedulingIgnoredDuringExecution"];
  if (IsMap(required)) {
    const std::vector<Field> terms = ItemsOf(required["nodeSelectorTerms"]);
    if (terms.empty()) {
      required["nodeSelectorTerms"].Refuse("must have at least one term");
    }
    for (const Field& term : terms) {
      CheckNodeTerm(term, Selector::kNodes);
    }
  }
  for (const Field& term : ItemsOf(affinity["preferredDuringSchedulingIgnoredDuringExecution"])) {
    CheckRange(term["weight"], 1, 100);
    CheckNodeTerm(term["preference"], Selector::kPreferredNodes);
  }
}

// matchLabelKeys and mismatchLabelKeys: label keys, in need of a selector, in one list only.
void CheckLabelKeys(const Field& term) {
  const std::vector<Field> match = ItemsOf(term["matchLabelKeys"]);
  const std::vector<Field> mismatch = ItemsOf(term["mismatchLabelKeys"]);
  const bool has_selector = IsMap(term["labelSelector"]);
  for (const char* const list : {"matchLabelKeys", "mismatchLabelKeys"}) {
    const std::vector<Field> keys = ItemsOf(term[list]);
    if (!keys.empty() && !has_selector) {
      term[list].Refuse("needs a labelSelector beside it");
      continue;
    }
    std::for_each(keys.begin(), keys.end(), CheckKey);
  }
  for (const Field& key : match) {
    if (std::any_of(mismatch.begin(), mismatch.end(),
                    [&](const Field& other) { return TextOf(other) == TextOf(key); })) {
      key.Refuse("is in mismatchLabelKeys too");
    }
  }
}

// The selector that the API server builds from matchLabelKeys must not meet one of the user's on
// the same key twice.
void CheckSelectedTwice(const Field& term) {
  std::set<std::string_view> seen;
  const auto labels = MembersOf(term["labelSelector"]["matchLabels"]);
  for (const auto& [key, value] : labels) {
    seen.insert(key);
  }
  const std::vector<Field> keys = ItemsOf(term["matchLabelKeys"]);
  for (const Field& requirement : ItemsOf(term["labelSelector"]["matchExpressions"])) {
    const std::string_view key = TextOf(requirement["key"]);
    const bool listed = std::any_of(keys.begin(), keys.end(),
                                    [&](const Field& each) { return TextOf(each) == key; });
    if (listed && seen.contains(key)) {
      requirement["key"].Refuse("is in matchLabelKeys and in the labelSelector");
    }
    seen.insert(key);
  }
}

void CheckPodTerm(const Field& term) {
  CheckLabelSelector(term["labelSelector"]);
  CheckLabelSelector(term["namespaceSelector"]);
  for (const Field& ns : ItemsOf(term["namespaces"])) {
    if (!IsDnsLabel(TextOf(ns))) {
      ns.Refuse("must be the name of a namespace: " + std::string(kDnsLabelRule));
    }
  }
  CheckLabelKeys(term);
  CheckSelectedTwice(term);
  CheckKey(term["topologyKey"]);
}

void CheckPodAffinity(const Field& affinity) {
  for (const Field& term : ItemsOf(affinity["requiredDuringSchedulingIgnoredDuringExecution"])) {
    CheckPodTerm(term);
  }
  for (const Field& term : ItemsOf(affinity["preferredDuringSchedulingIgnoredDuringExecution"])) {
    CheckRange(term["weight"], 1, 100);
    CheckPodTerm(term["podAffinityTerm"]);
  }
}

}  // namespace

void CheckLabelSelector(const Field& selector) {
  CheckLabels(selector["matchLabels"]);
  for (const Field& requirement : ItemsOf(selector["matchExpressions"])) {
    CheckRequirement(requirement, Selector::kLabels);
  }
}

void CheckAffinity(const Field& affinity) {
  CheckNodeAffinity(affinity["nodeAffinity"]);
  CheckPodAffinity(affinity["podAffinity"]);
  CheckPodAffinity(affinity["podAntiAffinity"]);
}

void CheckTolerations(const Field& tolerations) {
  for (const Field& toleration : ItemsOf(tolerations)) {
    const std::string_view key = TextOf(toleration["key"]);
    const std::string_view op = TextOf(toleration["operator"]);
    const std::string_view effect = TextOf(toleration["effect"]);
    const Field value = toleration["value"];
    if (!key.empty()) {
      CheckKey(toleration["key"]);
    } else if (op != "Exists") {
      toleration["operator"].Refuse("must be Exists where there is no key");
    }
    CheckChoice(toleration["operator"], {"Equal", "Exists"});
    CheckChoice(toleration["effect"], {"NoSchedule", "PreferNoSchedule", "NoExecute"});
    if (op == "Exists" ? !TextOf(value).empty() : !IsLabelValue(TextOf(value))) {
      value.Refuse(op == "Exists" ? std::string("must be empty with operator Exists")
                                  : "must be a label value: " + std::string(kLabelValueRule));
    }
    if (toleration["tolerationSeconds"].Present() && effect != "NoExecute") {
      toleration["tolerationSeconds"].Refuse("is only for effect NoExecute");
    }
  }
}

void CheckSpread(const Field& constraints) {
  for (const Field& constraint : ItemsOf(constraints)) {
    CheckRange(constraint["maxSkew"], 1, std::numeric_limits<int32_t>::max());
    CheckGiven(constraint["topologyKey"], "the node label that tells the domains apart");
    CheckChoice(constraint["whenUnsatisfiable"], {"DoNotSchedule", "ScheduleAnyway"}, true);
    CheckRange(constraint["minDomains"], 1, std::numeric_limits<int32_t>::max());
    if (constraint["minDomains"].Present() &&
        TextOf(constraint["whenUnsatisfiable"]) != "DoNotSchedule") {
      constraint["minDomains"].Refuse("is only for whenUnsatisfiable DoNotSchedule");
    }
    for (const char* const policy : {"nodeAffinityPolicy", "nodeTaintsPolicy"}) {
      CheckChoice(constraint[policy], {"Ignore", "Honor"}, constraint[policy].Present());
    }
    CheckLabelSelector(constraint["labelSelector"]);
    const std::vector<Field> keys = ItemsOf(constraint["matchLabelKeys"]);
    if (!keys.empty() && !IsMap(constraint["labelSelector"])) {
      constraint["matchLabelKeys"].Refuse("needs a labelSelector beside it");
    }
    std::set<std::string_view> selected;
    const auto labels = MembersOf(constraint["labelSelector"]["matchLabels"]);
    for (const auto& [key, value] : labels) {
      selected.insert(key);
    }
    for (const Field& requirement : ItemsOf(constraint["labelSelector"]["matchExpressions"])) {
      selected.insert(TextOf(requirement["key"]));
    }
    for (const Field& key : keys) {
      CheckKey(key);
      if (selected.contains(TextOf(key))) {
        key.Refuse("is in the labelSelector too");
      }
    }
  }
}

}  // namespace caldera
