#include "federation/intake.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "federation/excerpt.h"
#include "federation/intake_kinds.h"
#include "federation/names.h"
#include "federation/value_at.h"

namespace caldera {
namespace {

// kMember...: an object of a member cluster, named with it.
enum class Scope : uint8_t { kCluster, kNamespaced, kMember, kMemberNamespaced };

struct Kind {
  std::string_view api_version;
  std::string_view kind;
  Scope scope;
  bool (*valid_name)(std::string_view);
  std::string_view name_rule;
  void (*take)(Taking&);
};

// Karmada refuses longer cluster names, and no dots: the execution namespace carries the name.
bool IsClusterName(std::string_view name) { return name.size() <= 48 && IsDnsLabel(name); }

constexpr std::string_view kClusterNameRule =
    "lower-case letters, digits and '-', starting and ending with a letter or digit, at most 48 "
    "characters";

constexpr std::array<Kind, 10> kKinds{{
    {"scheduling.volcano.sh/v1beta1", "Queue", Scope::kCluster, IsDnsSubdomain, kDnsSubdomainRule,
     TakeQueue},
    {"batch.volcano.sh/v1alpha1", "Job", Scope::kNamespaced, IsDnsSubdomain, kDnsSubdomainRule,
     TakeJob},
    {"training.volcano.sh/v1alpha1", "HyperJob", Scope::kNamespaced, IsDnsSubdomain,
     kDnsSubdomainRule, TakeHyperJob},
    {"scheduling.k8s.io/v1", "PriorityClass", Scope::kCluster, IsDnsSubdomain, kDnsSubdomainRule,
     TakePriorityClass},
    {"policy.karmada.io/v1alpha1", "FederatedResourceQuota", Scope::kNamespaced, IsDnsSubdomain,
     kDnsSubdomainRule, TakeFederatedResourceQuota},
    {"cluster.karmada.io/v1alpha1", "Cluster", Scope::kCluster, IsClusterName, kClusterNameRule,
     TakeCluster},
    {"v1", "Namespace", Scope::kCluster, IsDnsLabel, kDnsLabelRule, TakeNamespace},
    {"v1", "Node", Scope::kMember, IsDnsSubdomain, kDnsSubdomainRule, TakeNode},
    {"v1", "Pod", Scope::kMemberNamespaced, IsDnsSubdomain, kDnsSubdomainRule, TakePod},
    {"topology.volcano.sh/v1alpha1", "HyperNode", Scope::kMember, IsDnsSubdomain, kDnsSubdomainRule,
     TakeHyperNode},
}};

bool IsNamespaced(const Kind& kind) {
  return kind.scope == Scope::kNamespaced || kind.scope == Scope::kMemberNamespaced;
}

bool IsMember(const Kind& kind) {
  return kind.scope == Scope::kMember || kind.scope == Scope::kMemberNamespaced;
}

const Kind* FindKind(std::string_view api_version, std::string_view kind) {
  const auto* const found = std::find_if(kKinds.begin(), kKinds.end(), [&](const Kind& known) {
    return known.api_version == api_version && known.kind == kind;
  });
  return found == kKinds.end() ? nullptr : found;
}

// `Job/team-a/train`, `Queue/gold`, `Node/east/n1`, `?` for what cannot be read.
std::string ObjectName(const Value& root, const Kind* kind) {
  const auto or_unknown = [](const std::string& text) {
    return text.empty() ? std::string("?") : Excerpt(text);
  };
  std::string name = or_unknown(TextAt(root, {"kind"})) + "/";
  const std::string ns = TextAt(root, {"metadata", "namespace"});
  if (kind != nullptr && IsMember(*kind)) {
    name += or_unknown(ClusterOfMember(root)) + "/";
  }
  if (kind != nullptr && IsNamespaced(*kind)) {
    name += (ns.empty() ? "default" : Excerpt(ns)) + "/";
  } else if (kind == nullptr && !ns.empty()) {
    name += Excerpt(ns) + "/";
  }
  return name + or_unknown(TextAt(root, {"metadata", "name"}));
}

uint64_t Fnv1a(std::string_view text, uint64_t seed) {
  uint64_t hash = seed;
  for (const char c : text) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3ULL;
  }
  return hash;
}

// An object that was never in an API has no uid; this one is the same in every run.
std::string DerivedUid(const Kind& kind, const std::string& ns, const std::string& name) {
  const std::string key = std::string(kind.kind) + "/" + ns + "/" + name;
  const uint64_t high = Fnv1a(key, 0xCBF29CE484222325ULL);
  const uint64_t low = Fnv1a(key, 0x9AE16A3B2F90404FULL);
  std::array<char, 40> buffer{};
  // The form of a UUID of version 8 (made by a rule of one's own).
  std::snprintf(buffer.data(), buffer.size(), "%08llx-%04llx-8%03llx-%04llx-%012llx",
                static_cast<unsigned long long>(high >> 32U),
                static_cast<unsigned long long>((high >> 16U) & 0xFFFFU),
                static_cast<unsigned long long>(high & 0xFFFU),
                static_cast<unsigned long long>(((low >> 48U) & 0x3FFFU) | 0x8000U),
                static_cast<unsigned long long>(low & 0xFFFFFFFFFFFFULL));
  return buffer.data();
}

std::string TakeName(const Field& metadata, const Kind& kind) {
  const Field field = metadata["name"];
  if (!field.Present()) {
    field.Refuse(metadata["generateName"].Present()
                     ? "is missing: generateName is for an API server only, give a name"
                     : "is missing: every object needs a name");
    return {};
  }
  auto name = field.String();
  if (name && !kind.valid_name(*name)) {
    field.Refuse("is no name of a " + std::string(kind.kind) + ": it takes " +
                 std::string(kind.name_rule));
  }
  return name.value_or("");
}

std::string TakeNamespaceOf(const Field& metadata, const Kind& kind) {
  const Field field = metadata["namespace"];
  if (!IsNamespaced(kind)) {
    if (field.Present()) {
      field.Warn("is ignored: a " + std::string(kind.kind) + " is not in a namespace");
    }
    return {};
  }
  auto ns = field.String();
  if (!ns || ns->empty()) {
    return "default";
  }
  if (!IsDnsLabel(*ns)) {
    field.Refuse("is no namespace: its name takes " + std::string(kDnsLabelRule));
  }
  return *std::move(ns);
}

std::string TakeUid(const Field& field) {
  auto uid = field.String();
  // It becomes part of the names of Works.
  if (uid && !uid->empty() && !IsDnsLabel(*uid)) {
    field.Refuse("is no uid: it takes " + std::string(kDnsLabelRule) + ", as in a UUID");
  }
  return uid.value_or("");
}

Labels TakeAnnotations(const Field& map) {
  constexpr size_t kBytesMax = size_t{256} * 1024;
  Labels annotations;
  size_t bytes = 0;
  for (const auto& [key, field] : map.Members()) {
    if (!IsAnnotationKey(key)) {
      field.Refuse("\"" + Excerpt(key) + "\" is no annotation key: it takes " +
                   std::string(kQualifiedNameRule));
    }
    std::string value = field.String().value_or("");
    bytes += key.size() + value.size();
    annotations.emplace(key, std::move(value));
  }
  if (bytes > kBytesMax) {
    map.Refuse("has " + std::to_string(bytes) + " bytes: at most 262144 are allowed");
  }
  return annotations;
}

ObjectMeta TakeMeta(const Field& root, const Kind& kind, Time now) {
  const Field metadata = root["metadata"];
  metadata.IsMapOrAbsent();
  ObjectMeta meta;
  meta.name = TakeName(metadata, kind);
  meta.ns = TakeNamespaceOf(metadata, kind);
  meta.uid = TakeUid(metadata["uid"]);
  if (meta.uid.empty()) {
    meta.uid = DerivedUid(kind, meta.ns, meta.name);
  }
  meta.creation = TakeTime(metadata["creationTimestamp"]).value_or(now);
  meta.deleting = TakeTime(metadata["deletionTimestamp"]).has_value();
  meta.labels = TakeLabels(metadata["labels"]);
  meta.annotations = TakeAnnotations(metadata["annotations"]);
  return meta;
}

// A likely slip: the right kind under another version or group.
void WarnOtherVersion(const Field& root, const std::string& api_version, const std::string& kind) {
  for (const Kind& known : kKinds) {
    const std::string_view group = known.api_version.substr(0, known.api_version.find('/'));
    if (known.kind == kind && api_version != known.api_version &&
        std::string_view(api_version).substr(0, group.size()) == group) {
      root["apiVersion"].Warn("is not read for a " + kind + ": " + std::string(known.api_version) +
                              " is");
    }
  }
}

}  // namespace

Intake TakeObject(const Document& document, Strictness strictness, Time now) {
  Intake out;
  IssueSink sink;
  sink.file = document.file;
  const Field root(&document.root, "", document.root.mark(), sink);
  const std::string api_version = TextAt(document.root, {"apiVersion"});
  const std::string kind_name = TextAt(document.root, {"kind"});
  const Kind* const kind = FindKind(api_version, kind_name);
  sink.object = out.object = ObjectName(document.root, kind);
  out.kind = Excerpt(kind_name);
  if (kind != nullptr) {
    out.known = true;
    out.defaulted = document.root;
    Taking taking{document, root, TakeMeta(root, *kind, now), strictness, now, out};
    if (IsNamespaced(*kind) && root["metadata"].value() != nullptr &&
        root["metadata"].value()->IsMap() && !root["metadata"]["namespace"].Present()) {
      out.defaulted.Find("metadata")->Set("namespace", taking.meta.ns);
    }
    kind->take(taking);
    if (!sink.errors.empty()) {
      out.change.reset();
      out.job.reset();
    }
  } else {
    root.IsMapOrAbsent();
    for (const std::string_view key : {"apiVersion", "kind"}) {
      const auto text = root[key].String();
      if (!root[key].Present() || text == "") {
        root[key].Refuse("is missing: every object needs apiVersion and kind");
      }
    }
    WarnOtherVersion(root, api_version, kind_name);
  }
  out.errors = std::move(sink.errors);
  out.warnings = std::move(sink.warnings);
  return out;
}

std::vector<std::string> KnownKinds() {
  std::vector<std::string> kinds;
  kinds.reserve(kKinds.size());
  for (const Kind& kind : kKinds) {
    kinds.push_back(std::string(kind.api_version) + " " + std::string(kind.kind));
  }
  return kinds;
}

}  // namespace caldera
