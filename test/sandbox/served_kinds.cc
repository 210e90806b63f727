#include "test/sandbox/served_kinds.h"

namespace caldera::sandbox {

const ResourceType& PodGroups() {
  static const ResourceType kType{"scheduling.volcano.sh", "v1beta1", "podgroups", "PodGroup",
                                  true};
  return kType;
}

std::vector<ResourceType> KarmadaKinds() {
  return {
      resource::Queues(),
      PodGroups(),
      resource::Jobs(),
      resource::HyperJobs(),
      resource::Commands(),
      resource::TenantQuotas(),
      resource::Clusters(),
      resource::Works(),
      {"policy.karmada.io", "v1alpha1", "propagationpolicies", "PropagationPolicy", true},
      {"policy.karmada.io", "v1alpha1", "clusterpropagationpolicies", "ClusterPropagationPolicy",
       false},
      {"work.karmada.io", "v1alpha2", "resourcebindings", "ResourceBinding", true},
  };
}

std::vector<ResourceType> MemberKinds() {
  return {resource::Queues(), PodGroups(), resource::Jobs(), resource::Commands(),
          resource::HyperNodes()};
}

}  // namespace caldera::sandbox
