#include "federation/amounts.h"

namespace caldera {

ResourceVector AmountsIn(const State& state, const ResourceList& list) {
  ResourceVector amounts;
  for (const auto& [name, amount] : list) {
    if (const ResourceIndex r = state.resources().Find(name); r != ResourceCatalog::kNone) {
      amounts.Set(r, amount);
    }
  }
  return amounts;
}

ResourceLimits LimitsIn(const State& state, const ResourceList& list) {
  ResourceLimits limits;
  for (const auto& [name, amount] : list) {
    if (const ResourceIndex r = state.resources().Find(name); r != ResourceCatalog::kNone) {
      limits.Set(r, amount);
    }
  }
  return limits;
}

ResourceVector CapacityIn(const State& state, const ResourceList& list) {
  ResourceVector amounts = AmountsIn(state, list);
  const ResourceIndex pods = state.resources().Find("pods");
  if (pods != ResourceCatalog::kNone && list.find("pods") == list.end()) {
    amounts.Set(pods, kUnlimited);
  }
  return amounts;
}

ResourceKinds::ResourceKinds(const ResourceCatalog& resources) : pods(resources.Find("pods")) {
  for (ResourceIndex r = 0; r < resources.size(); ++r) {
    device.push_back(IsDevice(resources.Name(r)));
  }
}

}  // namespace caldera
