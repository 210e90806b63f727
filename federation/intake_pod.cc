#include "federation/intake_pod.h"

#include <algorithm>
#include <limits>

#include "federation/excerpt.h"
#include "federation/intake_read.h"
#include "federation/names.h"

namespace caldera {
namespace {

constexpr size_t kAnnotationBytesMax = size_t{256} * 1024;

void CheckAnnotations(const Field& annotations) {
  size_t bytes = 0;
  for (const auto& [key, value] : MembersOf(annotations)) {
    if (!IsAnnotationKey(key)) {
      value.Refuse("is no annotation key: it takes " + std::string(kQualifiedNameRule));
    }
    bytes += key.size() + TextOf(value).size();
  }
  if (bytes > kAnnotationBytesMax) {
    annotations.Refuse("have " + std::to_string(bytes) + " bytes: at most 262144 are allowed");
  }
}

void CheckSubdomain(const Field& field, std::string_view what) {
  const std::string_view text = TextOf(field);
  if (!text.empty() && !IsDnsSubdomain(text)) {
    field.Refuse("is no name of a " + std::string(what) + ": it takes " +
                 std::string(kDnsSubdomainRule));
  }
}

void CheckLabelName(const Field& field) {
  const std::string_view text = TextOf(field);
  if (!text.empty() && !IsDnsLabel(text)) {
    field.Refuse("must be " + std::string(kDnsLabelRule));
  }
}

void CheckNames(const Field& spec) {
  // serviceAccount is the old name of the field.
  CheckSubdomain(
      spec[TextOf(spec["serviceAccountName"]).empty() ? "serviceAccount" : "serviceAccountName"],
      "ServiceAccount");
  CheckSubdomain(spec["nodeName"], "Node");
  CheckSubdomain(spec["priorityClassName"], "PriorityClass");
  const Field runtime = spec["runtimeClassName"];
  if (runtime.Present() && !IsDnsSubdomain(TextOf(runtime))) {
    runtime.Refuse("is no name of a RuntimeClass: it takes " + std::string(kDnsSubdomainRule));
  }
  CheckLabelName(spec["hostname"]);
  CheckLabelName(spec["subdomain"]);
  const Field override_name = spec["hostnameOverride"];
  if (!override_name.Present()) {
    return;
  }
  if (FlagOf(spec["setHostnameAsFQDN"]) || FlagOf(spec["hostNetwork"])) {
    override_name.Refuse("must not stand beside setHostnameAsFQDN or hostNetwork");
  }
  const std::string_view name = TextOf(override_name);
  if (name.size() > 64 || !IsDnsSubdomain(name)) {
    override_name.Refuse("must be a DNS name of at most 64 characters");
  }
}

void CheckGates(const Field& spec) {
  for (const Field& gate : ItemsOf(spec["readinessGates"])) {
    if (!IsQualifiedName(TextOf(gate["conditionType"]))) {
      gate["conditionType"].Refuse("must be " + std::string(kQualifiedNameRule));
    }
  }
  for (const Field& gate : ItemsOf(spec["schedulingGates"])) {
    if (!IsQualifiedName(TextOf(gate["name"]))) {
      gate["name"].Refuse("must be " + std::string(kQualifiedNameRule));
    }
  }
}

// What a pod claims of dynamic resources; containers refer to the names.
void CheckResourceClaims(const Field& claims, PodParts& parts) {
  for (const Field& claim : ItemsOf(claims)) {
    const std::string_view name = TextOf(claim["name"]);
    if (!name.empty()) {
      parts.claims.emplace(name);
    }
    if (!IsDnsLabel(name)) {
      claim["name"].Refuse("must be " + std::string(kDnsLabelRule));
    }
    const Field by_name = claim["resourceClaimName"];
    const Field by_template = claim["resourceClaimTemplateName"];
    if (by_name.Present() == by_template.Present()) {
      claim.Refuse("must have one of resourceClaimName and resourceClaimTemplateName");
    }
    for (const Field& reference : {by_name, by_template}) {
      if (reference.Present() && !IsDnsSubdomain(TextOf(reference))) {
        reference.Refuse("must be " + std::string(kDnsSubdomainRule));
      }
    }
  }
}

void CheckHostPorts(const Field& spec) {
  if (!FlagOf(spec["hostNetwork"])) {
    return;
  }
  for (const Field& container : ItemsOf(spec["containers"])) {
    for (const Field& port : ItemsOf(container["ports"])) {
      const int64_t host = NumberOf(port["hostPort"]).value_or(0);
      if (host != 0 && host != NumberOf(port["containerPort"]).value_or(0)) {
        port["hostPort"].Refuse("must be the containerPort: the pod is on the host's network");
      }
    }
  }
}

// With a user namespace of its own a pod shares none of the host's.
void CheckHostUsers(const Field& spec) {
  if (!spec["hostUsers"].Present() || FlagOf(spec["hostUsers"])) {
    for (const char* const list : {"containers", "initContainers"}) {
      for (const Field& container : ItemsOf(spec[list])) {
        const Field mount = container["securityContext"]["procMount"];
        if (TextOf(mount) == "Unmasked") {
          mount.Refuse("Unmasked is only for pods with hostUsers: false");
        }
      }
    }
    return;
  }
  for (const char* const flag : {"hostNetwork", "hostPID", "hostIPC"}) {
    if (FlagOf(spec[flag])) {
      spec[flag].Refuse("must not be true where hostUsers is false");
    }
  }
  for (const char* const list : {"containers", "initContainers"}) {
    for (const Field& container : ItemsOf(spec[list])) {
      if (!ItemsOf(container["volumeDevices"]).empty()) {
        container["volumeDevices"].Refuse("must not be set where hostUsers is false");
      }
    }
  }
}

void CheckScheduling(const Field& spec) {
  CheckChoice(spec["restartPolicy"], {"Always", "OnFailure", "Never"});
  CheckChoice(spec["preemptionPolicy"], {"PreemptLowerPriority", "Never"},
              spec["preemptionPolicy"].Present());
  CheckRange(spec["activeDeadlineSeconds"], 1, std::numeric_limits<int32_t>::max());
  CheckLabels(spec["nodeSelector"]);
  CheckAffinity(spec["affinity"]);
  CheckTolerations(spec["tolerations"]);
  CheckSpread(spec["topologySpreadConstraints"]);
  const Field group = spec["schedulingGroup"];
  if (IsMap(group) && !IsDnsSubdomain(TextOf(group["podGroupName"]))) {
    group["podGroupName"].Refuse("must be " + std::string(kDnsSubdomainRule));
  }
}

void CheckPodSpec(const Field& spec) {
  PodParts parts;
  parts.restart_policy = TextOf(spec["restartPolicy"]);
  parts.os = TextOf(spec["os"]["name"]);
  parts.grace_seconds = NumberOf(spec["terminationGracePeriodSeconds"]).value_or(30);
  CheckResourceClaims(spec["resourceClaims"], parts);
  CheckPodVolumes(spec["volumes"], parts);
  CheckContainers(spec, parts);
  if (!ItemsOf(spec["ephemeralContainers"]).empty()) {
    spec["ephemeralContainers"].Refuse("are not allowed in a pod template");
  }
  CheckPodResources(spec, parts);
  CheckHostPorts(spec);
  CheckScheduling(spec);
  CheckSecurity(spec);
  CheckDns(spec);
  CheckGates(spec);
  CheckHostUsers(spec);
  CheckNames(spec);
  CheckOverhead(spec["overhead"]);
  CheckOs(spec);
}

}  // namespace

void CheckLabels(const Field& labels) {
  for (const auto& [key, value] : MembersOf(labels)) {
    if (!IsQualifiedName(key)) {
      value.Refuse("is no label key: it takes " + std::string(kQualifiedNameRule));
    }
    if (!IsLabelValue(TextOf(value))) {
      value.Refuse("is no label value: it takes " + std::string(kLabelValueRule));
    }
  }
}

void CheckPodTemplate(const Field& pod_template) {
  const Field spec = pod_template["spec"];
  if (!IsMap(spec)) {
    // Wrong kinds are the schema's complaint.
    if (!spec.Present()) {
      spec["containers"].Refuse("is required: a list of at least one container");
    }
    return;
  }
  CheckLabels(pod_template["metadata"]["labels"]);
  CheckAnnotations(pod_template["metadata"]["annotations"]);
  CheckPodSpec(spec);
}

}  // namespace caldera
