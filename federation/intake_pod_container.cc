#include <set>

#include "federation/excerpt.h"
#include "federation/intake_pod.h"
#include "federation/intake_read.h"
#include "federation/names.h"

namespace caldera {
namespace {

constexpr int64_t kPortMax = 65535;

bool IsPortName(std::string_view name) {
  bool letter = false;
  for (const char c : name) {
    const bool lower = c >= 'a' && c <= 'z';
    letter = letter || lower;
    if (!lower && !(c >= '0' && c <= '9') && c != '-') {
      return false;
    }
  }
  return letter && name.size() <= 15 && name.front() != '-' && name.back() != '-' &&
         name.find("--") == std::string_view::npos;
}

void CheckPorts(const Field& ports) {
  std::set<std::string_view> names;
  for (const Field& port : ItemsOf(ports)) {
    const std::string_view name = TextOf(port["name"]);
    if (!name.empty() && !IsPortName(name)) {
      port["name"].Refuse(
          "must be at most 15 lower-case letters, digits and single '-', with a "
          "letter, not starting or ending with '-'");
    } else if (!name.empty() && !names.insert(name).second) {
      port["name"].Refuse("is the name of another port of this container");
    }
    CheckRange(port["containerPort"], 1, kPortMax);
    CheckRange(port["hostPort"], 0, kPortMax);
    CheckChoice(port["protocol"], {"TCP", "UDP", "SCTP"});
  }
}

// Ports of the node: two containers of one pod cannot both have one.
void CheckHostPortConflicts(const std::vector<Field>& containers) {
  std::set<std::string> taken;
  for (const Field& container : containers) {
    for (const Field& port : ItemsOf(container["ports"])) {
      const int64_t host = NumberOf(port["hostPort"]).value_or(0);
      const std::string key = std::string(TextOf(port["protocol"])) + "/" +
                              std::string(TextOf(port["hostIP"])) + "/" + std::to_string(host);
      if (host != 0 && !taken.insert(key).second) {
        port["hostPort"].Refuse("is taken by another port of this pod");
      }
    }
  }
}

void CheckResizePolicy(const Field& policies, const PodParts& parts) {
  std::set<std::string_view> resources;
  for (const Field& policy : ItemsOf(policies)) {
    CheckChoice(policy["resourceName"], {"cpu", "memory"}, true);
    CheckChoice(policy["restartPolicy"], {"NotRequired", "RestartContainer"}, true);
    if (!resources.insert(TextOf(policy["resourceName"])).second) {
      policy["resourceName"].Refuse("has a resize policy already");
    }
    if (parts.restart_policy == "Never" && TextOf(policy["restartPolicy"]) != "NotRequired") {
      policy["restartPolicy"].Refuse("must be NotRequired where the pod's restartPolicy is Never");
    }
  }
}

void CheckCommon(const Field& container, const PodParts& parts) {
  const std::string_view name = TextOf(container["name"]);
  if (CheckGiven(container["name"], "a name for the container") && !IsDnsLabel(name)) {
    container["name"].Refuse("is no name of a container: it takes " + std::string(kDnsLabelRule));
  }
  CheckGiven(container["image"], "the image to run");
  CheckChoice(container["terminationMessagePolicy"], {"File", "FallbackToLogsOnError"});
  CheckChoice(container["imagePullPolicy"], {"Always", "IfNotPresent", "Never"});
  CheckPorts(container["ports"]);
  CheckEnvironment(container, parts);
  CheckVolumeMounts(container, parts);
  CheckContainerResources(container["resources"], parts);
  CheckResizePolicy(container["resizePolicy"], parts);
  CheckContainerSecurity(container["securityContext"]);
}

void CheckProbes(const Field& container, const PodParts& parts) {
  CheckLifecycle(container["lifecycle"], parts);
  CheckProbe(container["livenessProbe"], "liveness", parts);
  CheckProbe(container["readinessProbe"], "readiness", parts);
  CheckProbe(container["startupProbe"], "startup", parts);
}

// An init container that restarts (a sidecar) may have probes; one that runs once may not.
void CheckInitContainer(const Field& container, const PodParts& parts) {
  CheckCommon(container, parts);
  const Field restart = container["restartPolicy"];
  CheckChoice(restart, {"Always"}, restart.Present());
  if (!restart.Present() && !ItemsOf(container["restartPolicyRules"]).empty()) {
    restart.Refuse("is required where there are restartPolicyRules");
  }
  if (TextOf(restart) == "Always") {
    CheckProbes(container, parts);
  } else {
    for (const char* const key : {"lifecycle", "livenessProbe", "readinessProbe", "startupProbe"}) {
      if (container[key].Present()) {
        container[key].Refuse(
            "must not be set for an init container, except with restartPolicy Always");
      }
    }
  }
  if (!ItemsOf(container["resizePolicy"]).empty()) {
    container["resizePolicy"].Refuse("must not be set for an init container");
  }
}

}  // namespace

void CheckContainers(const Field& pod_spec, const PodParts& parts) {
  const std::vector<Field> containers = ItemsOf(pod_spec["containers"]);
  if (containers.empty()) {
    const Field list = pod_spec["containers"];
    if (!list.Present() || list.value()->IsList()) {
      list.Refuse("is required: a list of at least one container");
    }
    return;
  }
  std::set<std::string_view> names;
  for (const Field& container : containers) {
    CheckCommon(container, parts);
    CheckProbes(container, parts);
    names.insert(TextOf(container["name"]));
    if (container["restartPolicy"].Present()) {
      container["restartPolicy"].Refuse(
          "must not be set for a container, only for an init container");
    }
  }
  CheckHostPortConflicts(containers);
  for (const Field& container : ItemsOf(pod_spec["initContainers"])) {
    CheckInitContainer(container, parts);
    CheckHostPortConflicts({container});
    const std::string_view name = TextOf(container["name"]);
    if (!name.empty() && names.contains(name)) {
      container["name"].Refuse("is the name of a container of this pod too");
    }
  }
}

}  // namespace caldera
