#include <initializer_list>
#include <string_view>

#include "federation/intake_pod.h"
#include "federation/intake_read.h"

namespace caldera {
namespace {

constexpr std::string_view kNotForWindows = "must not be set for a pod with os windows";

void RefusePresent(const Field& map, std::initializer_list<std::string_view> keys) {
  for (const std::string_view key : keys) {
    if (map[key].Present()) {
      map[key].Refuse(std::string(kNotForWindows));
    }
  }
}

void CheckWindowsPod(const Field& spec) {
  for (const char* const key : {"hostPID", "hostIPC"}) {
    if (FlagOf(spec[key])) {
      spec[key].Refuse(std::string(kNotForWindows));
    }
  }
  RefusePresent(spec, {"hostUsers", "shareProcessNamespace"});
  const Field context = spec["securityContext"];
  RefusePresent(context, {"appArmorProfile", "seLinuxOptions", "seccompProfile", "fsGroup",
                          "fsGroupChangePolicy", "runAsUser", "runAsGroup", "supplementalGroups",
                          "supplementalGroupsPolicy", "seLinuxChangePolicy"});
  if (!ItemsOf(context["sysctls"]).empty()) {
    context["sysctls"].Refuse(std::string(kNotForWindows));
  }
  for (const char* const list : {"containers", "initContainers"}) {
    for (const Field& container : ItemsOf(spec[list])) {
      RefusePresent(container["securityContext"],
                    {"appArmorProfile", "seLinuxOptions", "seccompProfile", "capabilities",
                     "readOnlyRootFilesystem", "privileged", "allowPrivilegeEscalation",
                     "procMount", "runAsUser", "runAsGroup"});
    }
  }
}

void CheckLinuxPod(const Field& spec) {
  const auto check = [](const Field& options) {
    if (options.Present()) {
      options.Refuse("must not be set for a pod with os linux");
    }
  };
  check(spec["securityContext"]["windowsOptions"]);
  for (const char* const list : {"containers", "initContainers"}) {
    for (const Field& container : ItemsOf(spec[list])) {
      check(container["securityContext"]["windowsOptions"]);
    }
  }
}

// Containers that run as processes of a Windows host: all or none, and on the host's network.
void CheckHostProcess(const Field& spec) {
  const Field of_pod = spec["securityContext"]["windowsOptions"]["hostProcess"];
  size_t containers = 0;
  size_t host_processes = 0;
  for (const char* const list : {"containers", "initContainers"}) {
    for (const Field& container : ItemsOf(spec[list])) {
      const Field own = container["securityContext"]["windowsOptions"]["hostProcess"];
      ++containers;
      host_processes += FlagOf(own.Present() ? own : of_pod) ? 1U : 0U;
      if (own.Present() && of_pod.Present() && FlagOf(own) != FlagOf(of_pod)) {
        own.Refuse("must be what the pod has");
      }
    }
  }
  if (host_processes > 0 && host_processes != containers) {
    spec["containers"].Refuse("must all be host processes where one is");
  }
  if (host_processes > 0 && !FlagOf(spec["hostNetwork"])) {
    spec["hostNetwork"].Refuse("must be true for host processes");
  }
}

}  // namespace

void CheckOs(const Field& pod_spec) {
  CheckHostProcess(pod_spec);
  const Field os = pod_spec["os"];
  if (!IsMap(os)) {
    return;
  }
  CheckChoice(os["name"], {"linux", "windows"}, true);
  if (TextOf(os["name"]) == "linux") {
    CheckLinuxPod(pod_spec);
  } else if (TextOf(os["name"]) == "windows") {
    CheckWindowsPod(pod_spec);
  }
}

}  // namespace caldera
