#include <algorithm>
#include <map>

#include "federation/excerpt.h"
#include "federation/intake_pod.h"
#include "federation/intake_read.h"
#include "federation/names.h"

namespace caldera {
namespace {

using Amounts = std::map<std::string, Quantity, std::less<>>;

bool IsHugePages(std::string_view name) { return name.starts_with("hugepages-"); }

// Without a domain, or in one of Kubernetes' own.
bool IsNative(std::string_view name) {
  return name.find('/') == std::string_view::npos ||
         name.find("kubernetes.io/") != std::string_view::npos;
}

// May be asked for beyond its limit: not devices, not huge pages.
bool MayOvercommit(std::string_view name) { return IsNative(name) && !IsHugePages(name); }

bool IsStandard(std::string_view name) {
  return name == "cpu" || name == "memory" || name == "ephemeral-storage" || IsHugePages(name);
}

// The API server rounds requests and limits up to thousandths before it compares them.
Int128 Milli(const Quantity& amount) {
  constexpr Int128 kNanoPerMilli = 1'000'000;
  const Int128 nano = amount.Nano();
  const Int128 down = nano / kNanoPerMilli;
  return down + (nano % kNanoPerMilli > 0 ? 1 : nano % kNanoPerMilli < 0 ? -1 : 0);
}

void CheckContainerName(const std::string& name, const Field& field) {
  if (!IsQualifiedName(name)) {
    field.Refuse("is no resource name: it takes " + std::string(kQualifiedNameRule));
  } else if (name.find('/') == std::string::npos) {
    if (!IsStandard(name)) {
      field.Refuse(
          "is no resource of a container: cpu, memory, ephemeral-storage and hugepages-SIZE "
          "are, others have a domain, as nvidia.com/gpu");
    }
  } else if (!IsNative(name) &&
             (name.starts_with("requests.") || !IsQualifiedName("requests." + name))) {
    field.Refuse("is no name of an extended resource: DOMAIN/NAME, not starting with requests.");
  }
}

void CheckPodName(const std::string& name, const Field& field) {
  if (name != "cpu" && name != "memory" && !IsHugePages(name)) {
    field.Refuse("cannot be asked for at pod level: cpu, memory and hugepages-SIZE can");
  }
}

void CheckHugePages(std::string_view name, const Quantity& amount, const Field& field) {
  const auto page = Quantity::Parse(name.substr(std::string_view("hugepages-").size()));
  if (!page.has_value() || page->Nano() <= 0) {
    field.Refuse("names no page size: hugepages-2Mi does");
  } else if (Int128{amount.Value()} % page->Value() != 0) {
    field.Refuse("must be a multiple of the page size " + page->Canonical());
  }
}

// One list of requests or limits: names, signs, whole devices, whole pages.
Amounts CheckList(const Field& list, bool pod_level) {
  Amounts amounts;
  for (const auto& [name, field] : MembersOf(list)) {
    const auto amount = AmountOf(field);
    if (!amount.has_value()) {
      continue;  // The schema's complaint.
    }
    pod_level ? CheckPodName(name, field) : CheckContainerName(name, field);
    if (amount->Negative()) {
      field.Refuse("must not be negative");
    } else if (!IsNative(name) && Milli(*amount) % 1000 != 0) {
      field.Refuse("must be a whole number: " + Excerpt(name) + " is handed out whole");
    }
    if (IsHugePages(name)) {
      CheckHugePages(name, *amount, field);
    }
    amounts.emplace(name, *amount);
  }
  return amounts;
}

void CheckRequests(const Field& resources, const Amounts& requests, const Amounts& limits) {
  for (const auto& [name, field] : MembersOf(resources["requests"])) {
    const auto request = requests.find(name);
    if (request == requests.end()) {
      continue;
    }
    const auto limit = limits.find(name);
    if (limit == limits.end()) {
      if (!MayOvercommit(name)) {
        field.Refuse("needs a limit of the same amount: " + Excerpt(name) +
                     " cannot be shared beyond it");
      }
    } else if (!MayOvercommit(name) && Milli(request->second) != Milli(limit->second)) {
      field.Refuse("must be equal to its limit " + limit->second.Canonical());
    } else if (Milli(request->second) > Milli(limit->second)) {
      field.Refuse("must not be more than its limit " + limit->second.Canonical());
    }
  }
}

void CheckRequirements(const Field& resources, const PodParts& parts, bool pod_level) {
  const Amounts limits = CheckList(resources["limits"], pod_level);
  const Amounts requests = CheckList(resources["requests"], pod_level);
  CheckRequests(resources, requests, limits);
  const auto has = [&](auto&& wanted) {
    return std::any_of(limits.begin(), limits.end(),
                       [&](const auto& e) { return wanted(e.first); }) ||
           std::any_of(requests.begin(), requests.end(),
                       [&](const auto& e) { return wanted(e.first); });
  };
  if (has(IsHugePages) &&
      !has([](const std::string& name) { return name == "cpu" || name == "memory"; })) {
    resources.Refuse("must have cpu or memory beside huge pages");
  }
  for (const Field& claim : ItemsOf(resources["claims"])) {
    const std::string_view name = TextOf(claim["name"]);
    if (!parts.claims.contains(name)) {
      claim["name"].Refuse("is no claim of the pod: name one of spec.resourceClaims");
    }
    const std::string_view request = TextOf(claim["request"]);
    if (!request.empty() && !IsDnsLabel(request)) {
      claim["request"].Refuse("must be " + std::string(kDnsLabelRule));
    }
  }
}

Quantity Zero() { return {}; }

void Add(Amounts& into, const Amounts& from) {
  for (const auto& [name, amount] : from) {
    const auto [at, fresh] = into.emplace(name, Zero());
    at->second = at->second + amount;
  }
}

void Raise(Amounts& into, const Amounts& from) {
  for (const auto& [name, amount] : from) {
    const auto [at, fresh] = into.emplace(name, amount);
    if (at->second < amount) {
      at->second = amount;
    }
  }
}

Amounts ReadList(const Field& list) {
  Amounts amounts;
  for (const auto& [name, field] : MembersOf(list)) {
    if (const auto amount = AmountOf(field); amount.has_value()) {
      amounts.emplace(name, *amount);
    }
  }
  return amounts;
}

// What the containers of a pod ask for together, as written: all containers and sidecars at once,
// or one init container beside the sidecars before it.
Amounts Together(const Field& pod_spec, std::string_view which) {
  Amounts running;
  for (const Field& container : ItemsOf(pod_spec["containers"])) {
    Add(running, ReadList(container["resources"][which]));
  }
  Amounts sidecars;
  Amounts peak;
  for (const Field& container : ItemsOf(pod_spec["initContainers"])) {
    Amounts now = ReadList(container["resources"][which]);
    if (TextOf(container["restartPolicy"]) == "Always") {
      Add(running, now);
      Add(sidecars, now);
      now = sidecars;
    } else {
      Add(now, sidecars);
    }
    Raise(peak, now);
  }
  Raise(running, peak);
  return running;
}

void CheckPodRequests(const Field& pod_spec) {
  const Field requests = pod_spec["resources"]["requests"];
  for (const auto& [name, sum] : Together(pod_spec, "requests")) {
    const auto pod = AmountOf(requests[name]);
    if (pod.has_value() && Milli(sum) > Milli(*pod)) {
      requests[name].Refuse("must not be less than what its containers request, " +
                            sum.Canonical());
    }
  }
}

void CheckPodLimits(const Field& pod_spec) {
  const Field limits = pod_spec["resources"]["limits"];
  for (const auto& [name, sum] : Together(pod_spec, "limits")) {
    const auto pod = AmountOf(limits[name]);
    if (IsHugePages(name) && pod.has_value() && Milli(sum) > Milli(*pod)) {
      limits[name].Refuse("must not be less than the limits of its containers, " + sum.Canonical());
    }
  }
  for (const Field& container : ItemsOf(pod_spec["containers"])) {
    for (const auto& [name, field] : MembersOf(container["resources"]["limits"])) {
      const auto limit = AmountOf(field);
      const auto pod = AmountOf(limits[name]);
      if (limit.has_value() && pod.has_value() && Milli(*limit) > Milli(*pod)) {
        field.Refuse("must not be more than the pod's limit " + pod->Canonical());
      }
    }
  }
}

}  // namespace

void CheckContainerResources(const Field& resources, const PodParts& parts) {
  if (IsMap(resources)) {
    CheckRequirements(resources, parts, false);
  }
}

void CheckPodResources(const Field& pod_spec, const PodParts& parts) {
  const Field resources = pod_spec["resources"];
  if (!IsMap(resources)) {
    return;
  }
  if (parts.os == "windows") {
    resources.Refuse("must not be set for a pod with os windows");
    return;
  }
  if (resources["claims"].Present()) {
    resources["claims"].Refuse("must not be set at pod level");
    return;
  }
  CheckRequirements(resources, parts, true);
  CheckPodRequests(pod_spec);
  CheckPodLimits(pod_spec);
}

void CheckOverhead(const Field& overhead) {
  const Amounts amounts = CheckList(overhead, false);
  const bool huge = std::any_of(amounts.begin(), amounts.end(),
                                [](const auto& entry) { return IsHugePages(entry.first); });
  if (huge && !amounts.contains("cpu") && !amounts.contains("memory")) {
    overhead.Refuse("must have cpu or memory beside huge pages");
  }
}

}  // namespace caldera
