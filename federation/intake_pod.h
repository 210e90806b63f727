// Checks of a pod template, as the API server's own validation of pod templates makes them
// (Volcano's webhook calls it with every optional relaxation off). Kinds of values, required fields
// and the uniqueness of list items are the schema's (schema.h). What is not checked here is the
// member's word. Source: k8s.io/kubernetes pkg/apis/core/validation.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "federation/fields.h"

namespace caldera {

/// The template of a task: metadata and pod spec.
void CheckPodTemplate(const Field& pod_template);

// The parts, each in its own file.

/// What containers may refer to in their pod.
struct PodParts {
  std::set<std::string, std::less<>> volumes;        ///< Sound volumes, by name.
  std::set<std::string, std::less<>> block_volumes;  ///< Those of a claim: they can be devices.
  std::set<std::string, std::less<>> empty_dirs;     ///< Those that are an emptyDir.
  std::set<std::string, std::less<>> claims;         ///< spec.resourceClaims, by name.
  std::string restart_policy;
  std::string os;
  int64_t grace_seconds = 30;
};

void CheckPodVolumes(const Field& volumes, PodParts& parts);
/// The kinds of volumes of storage systems, of one entry of spec.volumes.
void CheckDisks(const Field& volume);
void CheckContainers(const Field& pod_spec, const PodParts& parts);
void CheckContainerResources(const Field& resources, const PodParts& parts);
void CheckPodResources(const Field& pod_spec, const PodParts& parts);
/// Limits of `overhead` obey the rules of a container's limits.
void CheckOverhead(const Field& overhead);
void CheckProbe(const Field& probe, std::string_view kind, const PodParts& parts);
void CheckLifecycle(const Field& lifecycle, const PodParts& parts);
void CheckEnvironment(const Field& container, const PodParts& parts);
/// Where a value is taken from a field or a resource of the pod; `volume`: for a file of a volume.
void CheckFieldRef(const Field& reference, bool volume);
void CheckResourceFieldRef(const Field& reference, bool volume);
void CheckVolumeMounts(const Field& container, const PodParts& parts);
void CheckSecurity(const Field& pod_spec);
void CheckContainerSecurity(const Field& context);
void CheckAffinity(const Field& affinity);
void CheckTolerations(const Field& tolerations);
void CheckSpread(const Field& constraints);
void CheckDns(const Field& pod_spec);
/// What the operating system of the pod rules out, and Windows host processes.
void CheckOs(const Field& pod_spec);
/// A label selector of the API: keys, operators, values.
void CheckLabelSelector(const Field& selector);
void CheckLabels(const Field& labels);

}  // namespace caldera
