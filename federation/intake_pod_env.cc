#include <algorithm>
#include <array>

#include "federation/intake_pod.h"
#include "federation/intake_pod_paths.h"
#include "federation/intake_read.h"
#include "federation/names.h"

namespace caldera {
namespace {

bool IsAlnum(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

// The characters of ConfigMap keys and of environment names; neither may look like a path upwards.
bool IsPlain(std::string_view text) {
  return !text.empty() && text != "." && !text.starts_with("..") &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return IsAlnum(c) || c == '-' || c == '.' || c == '_'; });
}

bool IsEnvName(std::string_view text) {
  return IsPlain(text) && !(text.front() >= '0' && text.front() <= '9');
}

// The relaxed form, for keys of an environment file: printable ASCII without '='.
bool IsRelaxedEnvName(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(),
                                      [](char c) { return c >= ' ' && c <= '~' && c != '='; });
}

constexpr std::string_view kEnvNameRule =
    "letters, digits, '_', '-' and '.', not starting with a digit or '..'";

bool IsConfigKey(std::string_view text) { return text.size() <= 253 && IsPlain(text); }

void CheckKeyRef(const Field& reference) {
  if (!IsDnsSubdomain(TextOf(reference["name"]))) {
    reference["name"].Refuse("must be the name of an object: " + std::string(kDnsSubdomainRule));
  }
  if (CheckGiven(reference["key"], "the key in it") && !IsConfigKey(TextOf(reference["key"]))) {
    reference["key"].Refuse("must be letters, digits, '-', '_' and '.'");
  }
}

void CheckFileKeyRef(const Field& reference, const PodParts& parts) {
  if (CheckGiven(reference["key"], "the key in the file") &&
      !IsRelaxedEnvName(TextOf(reference["key"]))) {
    reference["key"].Refuse("must be printable characters without '='");
  }
  if (CheckGiven(reference["volumeName"], "the volume of the file") &&
      !IsDnsLabel(TextOf(reference["volumeName"]))) {
    reference["volumeName"].Refuse("must be " + std::string(kDnsLabelRule));
  } else if (!parts.empty_dirs.contains(TextOf(reference["volumeName"]))) {
    reference["volumeName"].Refuse("must be a volume of this pod that is an emptyDir");
  }
  if (CheckGiven(reference["path"], "the path of the file")) {
    CheckNoBacksteps(reference["path"]);
  }
}

void CheckValueFrom(const Field& variable, const PodParts& parts) {
  const Field source = variable["valueFrom"];
  if (!IsMap(source)) {
    return;
  }
  int sources = 0;
  for (const char* const kind :
       {"fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef", "fileKeyRef"}) {
    sources += source[kind].Present() ? 1 : 0;
  }
  if (IsMap(source["fieldRef"])) {
    CheckFieldRef(source["fieldRef"], false);
  }
  if (IsMap(source["resourceFieldRef"])) {
    CheckResourceFieldRef(source["resourceFieldRef"], false);
  }
  for (const char* const kind : {"configMapKeyRef", "secretKeyRef"}) {
    if (IsMap(source[kind])) {
      CheckKeyRef(source[kind]);
    }
  }
  if (IsMap(source["fileKeyRef"])) {
    CheckFileKeyRef(source["fileKeyRef"], parts);
  }
  if (sources == 0) {
    source.Refuse("must have one of fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef");
  } else if (!TextOf(variable["value"]).empty()) {
    source.Refuse("must not stand beside value");
  } else if (sources > 1) {
    source.Refuse("must have only one source");
  }
}

void CheckEnvFrom(const Field& source) {
  const std::string_view prefix = TextOf(source["prefix"]);
  if (!prefix.empty() && !IsEnvName(prefix)) {
    source["prefix"].Refuse("must be " + std::string(kEnvNameRule));
  }
  int sources = 0;
  for (const char* const kind : {"configMapRef", "secretRef"}) {
    const Field reference = source[kind];
    if (!IsMap(reference)) {
      continue;
    }
    ++sources;
    // A trailing '-' passes here: the rule is that of a prefix.
    std::string name(TextOf(reference["name"]));
    if (name.size() > 1 && name.ends_with('-')) {
      name.back() = 'a';
    }
    if (!IsDnsSubdomain(name)) {
      reference["name"].Refuse("must be the name of an object: " + std::string(kDnsSubdomainRule));
    }
  }
  if (sources != 1) {
    source.Refuse("must have one of configMapRef and secretRef");
  }
}

constexpr std::array<std::string_view, 9> kEnvPaths = {"metadata.name",
                                                       "metadata.namespace",
                                                       "metadata.uid",
                                                       "spec.nodeName",
                                                       "spec.serviceAccountName",
                                                       "status.hostIP",
                                                       "status.hostIPs",
                                                       "status.podIP",
                                                       "status.podIPs"};
constexpr std::array<std::string_view, 5> kVolumePaths = {"metadata.name", "metadata.namespace",
                                                          "metadata.labels", "metadata.annotations",
                                                          "metadata.uid"};
constexpr std::array<std::string_view, 6> kResourcePaths = {
    "limits.cpu",   "limits.memory",   "limits.ephemeral-storage",
    "requests.cpu", "requests.memory", "requests.ephemeral-storage"};

template <size_t N>
bool IsIn(const std::array<std::string_view, N>& list, std::string_view text) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

}  // namespace

void CheckFieldRef(const Field& reference, bool volume) {
  const std::string_view version = TextOf(reference["apiVersion"]);
  if (!version.empty() && version != "v1") {
    reference["apiVersion"].Refuse("must be v1");
    return;
  }
  const Field field = reference["fieldPath"];
  if (!CheckGiven(field, "the path of a field of the pod")) {
    return;
  }
  const std::string_view path = TextOf(field);
  const size_t open = path.find("['");
  if (open != std::string_view::npos && path.ends_with("']")) {
    const std::string_view of = path.substr(0, open);
    std::string key(path.substr(open + 2, path.size() - open - 4));
    if (of == "metadata.annotations") {
      std::transform(key.begin(), key.end(), key.begin(), [](char c) {
        return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
      });
    }
    if ((of != "metadata.annotations" && of != "metadata.labels") || !IsQualifiedName(key)) {
      field.Refuse("must name a label or an annotation: metadata.labels['KEY']");
    }
    return;
  }
  // `spec.host` is an old name of spec.nodeName.
  if (volume ? !IsIn(kVolumePaths, path) : !IsIn(kEnvPaths, path) && path != "spec.host") {
    field.Refuse(volume ? "must be metadata.name, .namespace, .labels, .annotations or .uid"
                        : "must be metadata.name, .namespace or .uid, spec.nodeName or "
                          ".serviceAccountName, status.hostIP, .hostIPs, .podIP or .podIPs");
  }
}

void CheckResourceFieldRef(const Field& reference, bool volume) {
  if (volume && !CheckGiven(reference["containerName"], "the container that is meant")) {
    return;
  }
  const Field resource = reference["resource"];
  if (!CheckGiven(resource, "the resource that is meant, such as limits.cpu")) {
    return;
  }
  const std::string_view name = TextOf(resource);
  const bool huge =
      name.starts_with("requests.hugepages-") || name.starts_with("limits.hugepages-");
  if (!huge && !IsIn(kResourcePaths, name)) {
    resource.Refuse("must be limits or requests of cpu, memory, ephemeral-storage or hugepages-");
    return;
  }
  const auto divisor = AmountOf(reference["divisor"]);
  if (!divisor.has_value() || divisor->Nano() == 0) {
    return;
  }
  const std::string text = divisor->Canonical();
  const bool cpu = name.ends_with(".cpu");
  constexpr std::array<std::string_view, 13> kSizes = {
      "1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei"};
  if (cpu ? text != "1m" && text != "1" : !IsIn(kSizes, text)) {
    reference["divisor"].Refuse(cpu ? "must be 1m or 1"
                                    : "must be 1, or 1 with k to E or Ki to Ei");
  }
}

void CheckEnvironment(const Field& container, const PodParts& parts) {
  for (const Field& variable : ItemsOf(container["env"])) {
    if (CheckGiven(variable["name"], "a name for the variable") &&
        !IsEnvName(TextOf(variable["name"]))) {
      variable["name"].Refuse("must be " + std::string(kEnvNameRule));
    }
    CheckValueFrom(variable, parts);
  }
  for (const Field& source : ItemsOf(container["envFrom"])) {
    CheckEnvFrom(source);
  }
}

}  // namespace caldera
