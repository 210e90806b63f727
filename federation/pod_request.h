// What one pod asks for, from its template, by the scheduler's rules: app containers, sidecars, the
// init peak, pod-level resources, overhead; limits stand in for missing requests. Sources:
// k8s.io/component-helpers resource, Volcano scheduler/api/pod_info.go.
#pragma once

#include "federation/fields.h"

namespace caldera {

/// `pod_spec` is the `spec` of a pod or of a pod template. Amounts round up, with `pods: 1`; no
/// entry is 0. Wrong quantities are reported to the field's sink and count as absent.
ResourceList PodRequest(const Field& pod_spec);

}  // namespace caldera
