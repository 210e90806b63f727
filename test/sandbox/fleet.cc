#include "test/sandbox/fleet.h"

namespace caldera::sandbox {

std::vector<ResourceType> KarmadaTypes() {
  return {
      resource::Queues(),       resource::Jobs(),     resource::HyperJobs(), resource::Commands(),
      resource::TenantQuotas(), resource::Clusters(), resource::Works(),     PodGroups()};
}

std::vector<ResourceType> MemberTypes() {
  return {resource::Queues(), resource::Jobs(), resource::Commands(), resource::HyperNodes(),
          PodGroups()};
}

const ResourceType& PodGroups() {
  static const ResourceType kType{"scheduling.volcano.sh", "v1beta1", "podgroups", "PodGroup",
                                  true};
  return kType;
}

}  // namespace caldera::sandbox
