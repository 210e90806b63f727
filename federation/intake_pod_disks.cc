// Volumes of storage systems: what each kind needs. Most are of drivers that left Kubernetes, but
// the API still takes and checks them. Source: k8s.io/kubernetes pkg/apis/core/validation, and the
// defaults that come before it (pkg/apis/core/v1).
#include <algorithm>
#include <vector>

#include "federation/intake_pod.h"
#include "federation/intake_pod_paths.h"
#include "federation/intake_read.h"
#include "federation/names.h"

namespace caldera {
namespace {

constexpr int64_t kPartitionMax = 255;

// Text that a kind of volume must have. The names are those of the API.
struct Needs {
  std::string_view kind;
  std::vector<std::string_view> texts;
};

void CheckGivenTexts(const Field& volume) {
  static const std::vector<Needs> kNeeds = {
      {"awsElasticBlockStore", {"volumeID"}},
      {"azureDisk", {"diskName", "diskURI"}},
      {"azureFile", {"secretName", "shareName"}},
      {"cinder", {"volumeID"}},
      {"configMap", {"name"}},
      {"csi", {"driver"}},
      {"flexVolume", {"driver"}},
      {"gcePersistentDisk", {"pdName"}},
      {"gitRepo", {"repository"}},
      {"glusterfs", {"endpoints", "path"}},
      {"hostPath", {"path"}},
      {"iscsi", {"targetPortal", "iqn"}},
      {"nfs", {"server", "path"}},
      {"persistentVolumeClaim", {"claimName"}},
      {"photonPersistentDisk", {"pdID"}},
      {"portworxVolume", {"volumeID"}},
      {"quobyte", {"registry", "volume"}},
      {"rbd", {"image"}},
      {"scaleIO", {"gateway", "system", "volumeName"}},
      {"secret", {"secretName"}},
      {"storageos", {"volumeName"}},
      {"vsphereVolume", {"volumePath"}},
  };
  for (const Needs& needs : kNeeds) {
    if (!IsMap(volume[needs.kind])) {
      continue;
    }
    for (const std::string_view text : needs.texts) {
      CheckGiven(volume[needs.kind][text], "it must not be empty");
    }
  }
}

bool IsAlphanumeric(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  });
}

bool AreDigits(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// After `iqn`: `.YYYY-MM.` and the naming authority, `:` and a name of its own.
bool IsQualifiedIscsiName(std::string_view text) {
  constexpr size_t kDate = 9;
  if (text.size() < kDate || text.front() != '.' || !AreDigits(text.substr(1, 4)) ||
      text[5] != '-' || !AreDigits(text.substr(6, 2)) || text[8] != '.') {
    return false;
  }
  text.remove_prefix(kDate);
  const size_t colon = text.find(':');
  if (colon == 0 || colon == std::string_view::npos || colon + 1 == text.size()) {
    return false;
  }
  const std::string_view authority = text.substr(0, colon);
  const bool named = std::all_of(authority.begin(), authority.end(), [](char c) {
    return c == '-' || c == '.' || IsAlphanumeric({&c, 1});
  });
  return named &&
         text.substr(colon + 1).find_first_of(",;*&$| \t\n\r\f\v") == std::string_view::npos;
}

bool IsIscsiName(std::string_view text) {
  constexpr size_t kPrefix = 3;
  constexpr size_t kEuiDigits = 16;
  constexpr size_t kNaaDigits = 32;
  if (text.starts_with("iqn")) {
    return IsQualifiedIscsiName(text.substr(kPrefix));
  }
  // One character, a point as a rule, parts the digits from the prefix.
  const std::string_view digits = text.substr(std::min(text.size(), kPrefix + 1));
  return IsAlphanumeric(digits) && ((text.starts_with("eui") && digits.size() == kEuiDigits) ||
                                    (text.starts_with("naa") && digits.size() == kNaaDigits));
}

void CheckIscsi(const Field& iscsi) {
  CheckRange(iscsi["lun"], 0, kPartitionMax);
  for (const Field& name : {iscsi["iqn"], iscsi["initiatorName"]}) {
    const bool given = name.path().ends_with(".iqn") ? !TextOf(name).empty() : name.Present();
    if (given && !IsIscsiName(TextOf(name))) {
      name.Refuse("must be an iSCSI name, such as iqn.2001-04.com.example:storage");
    }
  }
  if ((FlagOf(iscsi["chapAuthDiscovery"]) || FlagOf(iscsi["chapAuthSession"])) &&
      !iscsi["secretRef"].Present()) {
    iscsi["secretRef"].Refuse("is required where CHAP is used: the Secret with its keys");
  }
}

void CheckFibreChannel(const Field& channel) {
  const bool names = !ItemsOf(channel["targetWWNs"]).empty();
  const bool ids = !ItemsOf(channel["wwids"]).empty();
  if (names == ids) {
    channel.Refuse("must have one of targetWWNs and wwids");
  }
  if (!names) {
    return;
  }
  if (!channel["lun"].Present()) {
    channel["lun"].Refuse("is required beside targetWWNs");
  }
  CheckRange(channel["lun"], 0, kPartitionMax);
}

void CheckAzureDisk(const Field& disk) {
  CheckChoice(disk["cachingMode"], {"None", "ReadOnly", "ReadWrite"},
              disk["cachingMode"].Present());
  const Field kind = disk["kind"];
  CheckChoice(kind, {"Shared", "Dedicated", "Managed"}, kind.Present());
  // Without a kind it is Shared.
  const std::string_view start = TextOf(kind) == "Managed" ? "/subscriptions/" : "https://";
  const Field place = disk["diskURI"];
  if (!TextOf(place).empty() && !TextOf(place).starts_with(start)) {
    place.Refuse("must start with " + std::string(start) + " for a disk of this kind");
  }
}

// `host:port`, the host in brackets where it has colons itself.
bool IsHostAndPort(std::string_view text) {
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) {
    return false;
  }
  std::string_view host = text.substr(0, colon);
  if (host.starts_with('[')) {
    if (!host.ends_with(']')) {
      return false;
    }
    host = host.substr(1, host.size() - 2);
  } else if (host.find(':') != std::string_view::npos) {
    return false;
  }
  return host.find_first_of("[]") == std::string_view::npos &&
         text.substr(colon).find_first_of("[]") == std::string_view::npos;
}

void CheckQuobyte(const Field& quobyte) {
  constexpr size_t kTenantMax = 64;
  if (TextOf(quobyte["tenant"]).size() > kTenantMax) {
    quobyte["tenant"].Refuse("must have at most 64 characters");
  }
  std::string_view registry = TextOf(quobyte["registry"]);
  bool right = true;
  while (!registry.empty() && right) {
    const size_t comma = registry.find(',');
    right = IsHostAndPort(registry.substr(0, comma));
    if (comma == std::string_view::npos) {
      break;
    }
    registry.remove_prefix(comma + 1);
    right = right && !registry.empty();
  }
  if (!right) {
    quobyte["registry"].Refuse("must be HOST:PORT, or several joined by ','");
  }
}

void CheckFlocker(const Field& flocker) {
  const std::string_view name = TextOf(flocker["datasetName"]);
  if (name.empty() == TextOf(flocker["datasetUUID"]).empty()) {
    flocker.Refuse("must have one of datasetName and datasetUUID");
  }
  if (name.find('/') != std::string_view::npos) {
    flocker["datasetName"].Refuse("must not contain /");
  }
}

void CheckStorageos(const Field& storageos) {
  for (const char* const key : {"volumeName", "volumeNamespace"}) {
    const std::string_view text = TextOf(storageos[key]);
    if (!text.empty() && !IsDnsLabel(text)) {
      storageos[key].Refuse("must be " + std::string(kDnsLabelRule));
    }
  }
}

std::string Lower(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return lower;
}

void CheckCsi(const Field& csi) {
  constexpr size_t kDriverMax = 63;
  const Field driver = csi["driver"];
  const std::string name = Lower(TextOf(driver));
  if (!name.empty() && (name.size() > kDriverMax || !IsDnsSubdomain(name))) {
    driver.Refuse("must be the name of a CSI driver: a DNS name of at most 63 characters");
  }
  const Field secret = csi["nodePublishSecretRef"]["name"];
  if (!TextOf(secret).empty() && !IsDnsSubdomain(TextOf(secret))) {
    secret.Refuse("is no name of a Secret: it takes " + std::string(kDnsSubdomainRule));
  }
}

// Options of the API's own domains are not for users.
void CheckFlexOptions(const Field& options) {
  for (const auto& [key, value] : MembersOf(options)) {
    const std::string domain = "." + Lower(std::string_view(key).substr(0, key.find('/')));
    if (domain.ends_with(".kubernetes.io") || domain.ends_with(".k8s.io")) {
      value.Refuse("is an option of Kubernetes itself");
    }
  }
}

void CheckSecretReferences(const Field& volume) {
  for (const auto& [kind, key] :
       {std::pair{"cinder", "secretRef"}, std::pair{"storageos", "secretRef"},
        std::pair{"csi", "nodePublishSecretRef"}}) {
    const Field reference = volume[kind][key];
    if (IsMap(reference)) {
      CheckGiven(reference["name"], "the name of the Secret");
    }
  }
}

}  // namespace

void CheckDisks(const Field& volume) {
  CheckGivenTexts(volume);
  CheckSecretReferences(volume);
  const Field nfs_path = volume["nfs"]["path"];
  if (!TextOf(nfs_path).empty() && !TextOf(nfs_path).starts_with('/')) {
    nfs_path.Refuse("must be an absolute path");
  }
  CheckDescendingPath(volume["gitRepo"]["directory"]);
  CheckRange(volume["gcePersistentDisk"]["partition"], 0, kPartitionMax);
  CheckRange(volume["awsElasticBlockStore"]["partition"], 0, kPartitionMax);
  for (const char* const kind : {"cephfs", "rbd"}) {
    if (IsMap(volume[kind]) && ItemsOf(volume[kind]["monitors"]).empty() &&
        volume[kind]["monitors"].Present()) {
      volume[kind]["monitors"].Refuse("must have at least one monitor");
    }
  }
  const auto check = [&](const char* kind, void (*rule)(const Field&)) {
    if (IsMap(volume[kind])) {
      rule(volume[kind]);
    }
  };
  check("iscsi", CheckIscsi);
  check("fc", CheckFibreChannel);
  check("azureDisk", CheckAzureDisk);
  check("quobyte", CheckQuobyte);
  check("flocker", CheckFlocker);
  check("storageos", CheckStorageos);
  check("csi", CheckCsi);
  CheckFlexOptions(volume["flexVolume"]["options"]);
}

}  // namespace caldera
