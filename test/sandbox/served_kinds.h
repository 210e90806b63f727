// Which kinds beside the core ones a Karmada API and a member's API have: those of Karmada's and
// Volcano's CRDs that Caldera touches, or that a user applies beside them.
#pragma once

#include <vector>

#include "controller/kube/client.h"

namespace caldera::sandbox {

const ResourceType& PodGroups();

std::vector<ResourceType> KarmadaKinds();
std::vector<ResourceType> MemberKinds();

}  // namespace caldera::sandbox
