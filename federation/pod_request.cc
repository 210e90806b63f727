#include "federation/pod_request.h"

#include <map>

namespace caldera {
namespace {

// Exact until the very end: rounding each container would add up.
using Amounts = std::map<std::string, Quantity, std::less<>>;

void Add(Amounts& into, const Amounts& from) {
  for (const auto& [name, quantity] : from) {
    Quantity& sum = into[name];
    sum = sum + quantity;
  }
}

void Raise(Amounts& into, const Amounts& from) {
  for (const auto& [name, quantity] : from) {
    Quantity& most = into[name];
    if (most < quantity) {
      most = quantity;
    }
  }
}

// requests, and limits for the resources that have none: what the API server defaults in a pod, and
// what nobody defaults in a pod template.
Amounts ContainerRequest(const Field& container) {
  const Field resources = container["resources"];
  resources.IsMapOrAbsent();
  Amounts requests = resources["requests"].Quantities();
  requests.merge(resources["limits"].Quantities());
  return requests;
}

bool IsPodLevel(std::string_view resource) {
  constexpr std::string_view kHugePages = "hugepages-";
  return resource == "cpu" || resource == "memory" ||
         resource.substr(0, kHugePages.size()) == kHugePages;
}

// spec.resources: a request there replaces the sum; a limit there stands in where no container
// asks for that resource either.
void ApplyPodLevel(const Field& resources, Amounts& request) {
  for (const auto& [name, quantity] : resources["requests"].Quantities()) {
    if (IsPodLevel(name)) {
      request[name] = quantity;
    }
  }
  for (const auto& [name, quantity] : resources["limits"].Quantities()) {
    if (IsPodLevel(name)) {
      request.emplace(name, quantity);
    }
  }
}

}  // namespace

ResourceList PodRequest(const Field& pod_spec) {
  Amounts request;
  for (const Field& container : pod_spec["containers"].Items()) {
    Add(request, ContainerRequest(container));
  }
  // Init containers run one after the other, beside the sidecars started before them; sidecars
  // stay beside the app.
  Amounts sidecars;
  Amounts peak;
  for (const Field& container : pod_spec["initContainers"].Items()) {
    const Amounts own = ContainerRequest(container);
    const Value* const restart =
        container.value()->IsMap() ? container.value()->Find("restartPolicy") : nullptr;
    if (restart != nullptr && restart->IsString() && restart->AsString() == "Always") {
      Add(sidecars, own);
      Add(request, own);
      Raise(peak, sidecars);
    } else {
      Amounts beside = sidecars;
      Add(beside, own);
      Raise(peak, beside);
    }
  }
  Raise(request, peak);
  ApplyPodLevel(pod_spec["resources"], request);
  Add(request, pod_spec["overhead"].Quantities());

  ResourceList list;
  for (const auto& [name, quantity] : request) {
    if (const int64_t amount = RequestAmount(name, quantity); amount != 0) {
      list.emplace(name, amount);
    }
  }
  list["pods"] = 1;
  return list;
}

}  // namespace caldera
