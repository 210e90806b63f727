#include <algorithm>
#include <array>
#include <limits>
#include <set>

#include "federation/intake_pod.h"
#include "federation/intake_pod_paths.h"
#include "federation/intake_read.h"
#include "federation/names.h"

namespace caldera {
namespace {

constexpr int64_t kModeMax = 0777;

bool HasBackstep(std::string_view path) {
  while (true) {
    const size_t slash = path.find('/');
    if (path.substr(0, slash) == "..") {
      return true;
    }
    if (slash == std::string_view::npos) {
      return false;
    }
    path.remove_prefix(slash + 1);
  }
}

void CheckMode(const Field& mode) {
  const auto number = NumberOf(mode);
  if (number.has_value() && (*number < 0 || *number > kModeMax)) {
    mode.Refuse("must be a file mode from 0 to 0777 (511)");
  }
}

// key -> path, of a Secret or ConfigMap; `paths` are those of the whole volume.
void CheckItems(const Field& items, std::set<std::string_view>* paths) {
  for (const Field& item : ItemsOf(items)) {
    CheckGiven(item["key"], "the key to project");
    if (CheckGiven(item["path"], "the file to project it to")) {
      CheckLocalPath(item["path"]);
      if (paths != nullptr && !paths->insert(TextOf(item["path"])).second) {
        item["path"].Refuse("is written by another source of this volume");
      }
    }
    CheckMode(item["mode"]);
  }
}

void CheckDownwardItems(const Field& items, std::set<std::string_view>* paths) {
  for (const Field& item : ItemsOf(items)) {
    if (CheckGiven(item["path"], "the file to write")) {
      CheckLocalPath(item["path"]);
      if (paths != nullptr && !paths->insert(TextOf(item["path"])).second) {
        item["path"].Refuse("is written by another source of this volume");
      }
    }
    if (item["fieldRef"].Present() == item["resourceFieldRef"].Present()) {
      item.Refuse("must have one of fieldRef and resourceFieldRef");
    }
    if (IsMap(item["fieldRef"])) {
      CheckFieldRef(item["fieldRef"], true);
    } else if (IsMap(item["resourceFieldRef"])) {
      CheckResourceFieldRef(item["resourceFieldRef"], true);
    }
    CheckMode(item["mode"]);
  }
}

void CheckToken(const Field& token) {
  // 0 or absent is an hour.
  const auto seconds = NumberOf(token["expirationSeconds"]);
  if (seconds.has_value() && (*seconds < 600 || *seconds > (int64_t{1} << 32))) {
    token["expirationSeconds"].Refuse("must be from 600 (ten minutes) to 4294967296 seconds");
  }
  if (CheckGiven(token["path"], "the file to write the token to")) {
    CheckLocalPath(token["path"]);
  }
}

void CheckProjected(const Field& projected) {
  CheckMode(projected["defaultMode"]);
  std::set<std::string_view> paths;
  for (const Field& source : ItemsOf(projected["sources"])) {
    int kinds = 0;
    for (const char* const kind : {"secret", "configMap", "downwardAPI", "serviceAccountToken",
                                   "clusterTrustBundle", "podCertificate"}) {
      kinds += source[kind].Present() ? 1 : 0;
    }
    if (kinds > 1) {
      source.Refuse("must have only one kind of source");
    }
    for (const char* const kind : {"secret", "configMap"}) {
      if (IsMap(source[kind])) {
        CheckGiven(source[kind]["name"], "the name of the object");
        CheckItems(source[kind]["items"], &paths);
      }
    }
    CheckDownwardItems(source["downwardAPI"]["items"], &paths);
    if (IsMap(source["serviceAccountToken"])) {
      CheckToken(source["serviceAccountToken"]);
    }
    const Field bundle = source["clusterTrustBundle"];
    if (IsMap(bundle)) {
      if (bundle["name"].Present() == bundle["signerName"].Present()) {
        bundle.Refuse("must have one of name and signerName");
      }
      if (CheckGiven(bundle["path"], "the file to write the bundle to")) {
        CheckLocalPath(bundle["path"]);
      }
    }
  }
}

void CheckClaimTemplate(const Field& claim) {
  const Field spec = claim["spec"];
  CheckLabels(claim["metadata"]["labels"]);
  const std::vector<Field> modes = ItemsOf(spec["accessModes"]);
  if (modes.empty()) {
    spec["accessModes"].Refuse("is required: at least one access mode");
  }
  bool alone = false;
  for (const Field& mode : modes) {
    CheckChoice(mode, {"ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod"}, true);
    alone = alone || TextOf(mode) == "ReadWriteOncePod";
  }
  if (alone && modes.size() > 1 && std::any_of(modes.begin(), modes.end(), [](const Field& mode) {
        return TextOf(mode) != "ReadWriteOncePod";
      })) {
    spec["accessModes"].Refuse("must have ReadWriteOncePod alone");
  }
  const Field storage = spec["resources"]["requests"]["storage"];
  const auto amount = AmountOf(storage);
  if (!storage.Present() || (amount.has_value() && amount->Nano() <= 0)) {
    storage.Refuse("is required: how much storage, more than 0");
  }
  CheckLabelSelector(spec["selector"]);
  CheckChoice(spec["volumeMode"], {"Filesystem", "Block"}, spec["volumeMode"].Present());
  for (const char* const key : {"storageClassName", "volumeAttributesClassName"}) {
    const std::string_view name = TextOf(spec[key]);
    if (!name.empty() && !IsDnsSubdomain(name)) {
      spec[key].Refuse("must be the name of a class: " + std::string(kDnsSubdomainRule));
    }
  }
}

void CheckSources(const Field& volume) {
  CheckDisks(volume);
  for (const char* const kind : {"secret", "configMap"}) {
    CheckMode(volume[kind]["defaultMode"]);
    CheckItems(volume[kind]["items"], nullptr);
  }
  CheckMode(volume["downwardAPI"]["defaultMode"]);
  CheckDownwardItems(volume["downwardAPI"]["items"], nullptr);
  if (IsMap(volume["projected"])) {
    CheckProjected(volume["projected"]);
  }
  const Field limit = volume["emptyDir"]["sizeLimit"];
  if (const auto amount = AmountOf(limit); amount.has_value() && amount->Negative()) {
    limit.Refuse("must not be negative");
  }
  CheckNoBacksteps(volume["hostPath"]["path"]);
  CheckChoice(volume["hostPath"]["type"], {"DirectoryOrCreate", "Directory", "FileOrCreate", "File",
                                           "Socket", "CharDevice", "BlockDevice"});
  CheckChoice(volume["image"]["pullPolicy"], {"Always", "IfNotPresent", "Never"});
  const Field ephemeral = volume["ephemeral"];
  if (IsMap(ephemeral)) {
    if (IsMap(ephemeral["volumeClaimTemplate"])) {
      CheckClaimTemplate(ephemeral["volumeClaimTemplate"]);
    } else if (!ephemeral["volumeClaimTemplate"].Present()) {
      ephemeral["volumeClaimTemplate"].Refuse("is required: the claim to make");
    }
  }
}

}  // namespace

void CheckNoBacksteps(const Field& path) {
  if (HasBackstep(TextOf(path))) {
    path.Refuse("must not contain ..");
  }
}

void CheckDescendingPath(const Field& path) {
  if (TextOf(path).starts_with('/')) {
    path.Refuse("must be a relative path");
  }
  CheckNoBacksteps(path);
}

void CheckLocalPath(const Field& path) {
  CheckDescendingPath(path);
  const std::string_view text = TextOf(path);
  if (text.starts_with("..") && !HasBackstep(text)) {
    path.Refuse("must not start with ..");
  }
}

namespace {

constexpr std::array<std::string_view, 30> kKinds = {"awsElasticBlockStore",
                                                     "azureDisk",
                                                     "azureFile",
                                                     "cephfs",
                                                     "cinder",
                                                     "configMap",
                                                     "csi",
                                                     "downwardAPI",
                                                     "emptyDir",
                                                     "ephemeral",
                                                     "fc",
                                                     "flexVolume",
                                                     "flocker",
                                                     "gcePersistentDisk",
                                                     "gitRepo",
                                                     "glusterfs",
                                                     "hostPath",
                                                     "image",
                                                     "iscsi",
                                                     "nfs",
                                                     "persistentVolumeClaim",
                                                     "photonPersistentDisk",
                                                     "portworxVolume",
                                                     "projected",
                                                     "quobyte",
                                                     "rbd",
                                                     "scaleIO",
                                                     "secret",
                                                     "storageos",
                                                     "vsphereVolume"};

}  // namespace

void CheckPodVolumes(const Field& volumes, PodParts& parts) {
  for (const Field& volume : ItemsOf(volumes)) {
    const std::string name(TextOf(volume["name"]));
    if (CheckGiven(volume["name"], "a name for the volume") && !IsDnsLabel(name)) {
      volume["name"].Refuse("is no name of a volume: it takes " + std::string(kDnsLabelRule));
    }
    // A volume of no kind is an emptyDir.
    const auto kinds = std::count_if(kKinds.begin(), kKinds.end(),
                                     [&](std::string_view kind) { return volume[kind].Present(); });
    if (kinds > 1) {
      volume.Refuse("must have only one kind of source");
    }
    CheckSources(volume);
    parts.volumes.insert(name);
    if (kinds == 0 || volume["emptyDir"].Present()) {
      parts.empty_dirs.insert(name);
    }
    if (volume["persistentVolumeClaim"].Present() || volume["ephemeral"].Present()) {
      parts.block_volumes.insert(name);
    }
  }
}

}  // namespace caldera
