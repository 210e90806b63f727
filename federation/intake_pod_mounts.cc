#include <map>
#include <set>

#include "federation/intake_pod.h"
#include "federation/intake_pod_paths.h"
#include "federation/intake_read.h"

namespace caldera {
namespace {

void CheckPropagation(const Field& mount, const Field& container) {
  const Field mode = mount["mountPropagation"];
  CheckChoice(mode, {"None", "HostToContainer", "Bidirectional"}, mode.Present());
  if (TextOf(mode) == "Bidirectional" && !FlagOf(container["securityContext"]["privileged"])) {
    mode.Refuse("Bidirectional is only for privileged containers");
  }
  const Field recursive = mount["recursiveReadOnly"];
  CheckChoice(recursive, {"Disabled", "IfPossible", "Enabled"}, recursive.Present());
  if (TextOf(recursive) == "IfPossible" || TextOf(recursive) == "Enabled") {
    if (!FlagOf(mount["readOnly"])) {
      recursive.Refuse("is only for mounts with readOnly: true");
    }
    if (mode.Present() && TextOf(mode) != "None") {
      recursive.Refuse("must not stand beside mountPropagation");
    }
  }
}

void CheckMount(const Field& mount, const Field& container, const PodParts& parts) {
  if (CheckGiven(mount["name"], "the name of a volume of the pod") &&
      !parts.volumes.contains(TextOf(mount["name"]))) {
    mount["name"].Refuse("is no volume of this pod: name one of spec.volumes");
  }
  CheckGiven(mount["mountPath"], "where the volume is to be seen");
  const Field sub_path = mount["subPath"];
  const Field expression = mount["subPathExpr"];
  CheckDescendingPath(sub_path);
  CheckDescendingPath(expression);
  if (!TextOf(sub_path).empty() && !TextOf(expression).empty()) {
    expression.Refuse("must not stand beside subPath");
  }
  CheckPropagation(mount, container);
}

void CheckDevice(const Field& device, const PodParts& parts) {
  if (CheckGiven(device["name"], "the name of a volume of the pod")) {
    const std::string_view name = TextOf(device["name"]);
    if (!parts.volumes.contains(name)) {
      device["name"].Refuse("is no volume of this pod: name one of spec.volumes");
    } else if (!parts.block_volumes.contains(name)) {
      device["name"].Refuse("must be a volume of a PersistentVolumeClaim");
    }
  }
  if (CheckGiven(device["devicePath"], "where the device is to be seen")) {
    CheckNoBacksteps(device["devicePath"]);
  }
}

}  // namespace

void CheckVolumeMounts(const Field& container, const PodParts& parts) {
  std::set<std::string_view> mount_names;
  std::set<std::string_view> mount_paths;
  for (const Field& mount : ItemsOf(container["volumeMounts"])) {
    CheckMount(mount, container, parts);
    mount_names.insert(TextOf(mount["name"]));
    mount_paths.insert(TextOf(mount["mountPath"]));
  }
  std::set<std::string_view> device_names;
  for (const Field& device : ItemsOf(container["volumeDevices"])) {
    CheckDevice(device, parts);
    const std::string_view name = TextOf(device["name"]);
    if (!device_names.insert(name).second) {
      device["name"].Refuse("is a device of this container already");
    }
    if (mount_names.contains(name) || mount_paths.contains(TextOf(device["devicePath"]))) {
      device.Refuse("is mounted as a file system by the same container: one use only");
    }
  }
}

}  // namespace caldera
