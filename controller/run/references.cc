#include "controller/run/references.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <utility>

#include "controller/run/manifest_digest.h"
#include "controller/run/stray_works.h"
#include "federation/codec.h"
#include "federation/intake.h"
#include "federation/render.h"
#include "federation/value_at.h"

namespace caldera {
namespace {

bool OptionalAt(const Value* source) {
  const Value* const optional = source == nullptr ? nullptr : source->Find("optional");
  return optional != nullptr && optional->IsBool() && optional->AsBool();
}

// Collects references of one namespace; one that is needed once is needed.
class Collector {
 public:
  explicit Collector(std::string ns) : ns_(std::move(ns)) {}

  void Add(const std::string& kind, const std::string& name, bool optional) {
    if (name.empty() || IsOfMember(kind, name)) {
      return;
    }
    const std::string ns = kind == "PriorityClass" ? "" : ns_;
    const auto [at, inserted] = found_.try_emplace({kind, ns, name}, optional);
    at->second = at->second && optional;
  }
  // A `{name: ..., optional: ...}` below `key`.
  void AddNamed(const std::string& kind, const Value& holder, std::string_view key) {
    if (const Value* const source = holder.Find(key); source != nullptr) {
      Add(kind, TextAt(*source, {"name"}), OptionalAt(source));
    }
  }

  [[nodiscard]] std::vector<Reference> Take() const {
    std::vector<Reference> references;
    for (const auto& [key, optional] : found_) {
      references.push_back({key[0], key[1], key[2], optional});
    }
    return references;
  }

 private:
  static bool IsOfMember(const std::string& kind, const std::string& name) {
    return (kind == "ServiceAccount" && name == "default") ||
           (kind == "ConfigMap" && name == "kube-root-ca.crt") ||
           (kind == "PriorityClass" && name.starts_with("system-"));
  }

  std::string ns_;
  std::map<std::array<std::string, 3>, bool> found_;
};

void AddProjected(const Value& volume, Collector& found) {
  for (const Value& source : ListAt(volume, {"projected", "sources"})) {
    found.AddNamed("Secret", source, "secret");
    found.AddNamed("ConfigMap", source, "configMap");
  }
}

void AddVolume(const Value& volume, Collector& found) {
  found.AddNamed("ConfigMap", volume, "configMap");
  if (const Value* const secret = volume.Find("secret"); secret != nullptr) {
    found.Add("Secret", TextAt(*secret, {"secretName"}), OptionalAt(secret));
  }
  found.Add("Secret", TextAt(volume, {"azureFile", "secretName"}), false);
  found.Add("PersistentVolumeClaim", TextAt(volume, {"persistentVolumeClaim", "claimName"}), false);
  for (const std::string_view driver :
       {"cephfs", "cinder", "flexVolume", "iscsi", "rbd", "scaleIO", "storageos"}) {
    found.Add("Secret", TextAt(volume, {driver, "secretRef", "name"}), false);
  }
  found.Add("Secret", TextAt(volume, {"csi", "nodePublishSecretRef", "name"}), false);
  AddProjected(volume, found);
}

void AddContainer(const Value& container, Collector& found) {
  for (const Value& variable : ListAt(container, {"env"})) {
    if (const Value* const from = variable.Find("valueFrom"); from != nullptr) {
      found.AddNamed("Secret", *from, "secretKeyRef");
      found.AddNamed("ConfigMap", *from, "configMapKeyRef");
    }
  }
  for (const Value& source : ListAt(container, {"envFrom"})) {
    found.AddNamed("Secret", source, "secretRef");
    found.AddNamed("ConfigMap", source, "configMapRef");
  }
}

void AddPod(const Value& pod, Collector& found) {
  for (const Value& volume : ListAt(pod, {"volumes"})) {
    AddVolume(volume, found);
  }
  for (const std::string_view list : {"containers", "initContainers"}) {
    for (const Value& container : ListAt(pod, {list})) {
      AddContainer(container, found);
    }
  }
  for (const Value& secret : ListAt(pod, {"imagePullSecrets"})) {
    found.Add("Secret", TextAt(secret, {"name"}), false);
  }
  const std::string account = TextAt(pod, {"serviceAccountName"});
  found.Add("ServiceAccount", account.empty() ? TextAt(pod, {"serviceAccount"}) : account, false);
  found.Add("PriorityClass", TextAt(pod, {"priorityClassName"}), false);
}

bool IsUnderPolicy(const Value& object) {
  for (const std::string_view map : {"labels", "annotations"}) {
    const Value* const keys = object.At({"metadata", map});
    if (keys == nullptr || !keys->IsMap()) {
      continue;
    }
    const bool found =
        std::any_of(keys->AsMap().begin(), keys->AsMap().end(), [](const Member& member) {
          return member.key.starts_with("propagationpolicy.karmada.io/") ||
                 member.key.starts_with("clusterpropagationpolicy.karmada.io/");
        });
    if (found) {
      return true;
    }
  }
  return false;
}

// Of a Job's spec.
std::vector<Reference> OfSpec(const std::string& ns, const Value& spec) {
  Collector found(ns);
  found.Add("PriorityClass", TextAt(spec, {"priorityClassName"}), false);
  for (const Value& volume : ListAt(spec, {"volumes"})) {
    // With a volumeClaim, the member's Volcano makes the claim itself.
    if (const Value* const claim = volume.Find("volumeClaim");
        claim == nullptr || claim->IsNull()) {
      found.Add("PersistentVolumeClaim", TextAt(volume, {"volumeClaimName"}), false);
    }
  }
  for (const Value& task : ListAt(spec, {"tasks"})) {
    if (const Value* const pod = task.At({"template", "spec"}); pod != nullptr) {
      AddPod(*pod, found);
    }
  }
  return found.Take();
}

std::string ObjectName(const std::string& kind, const std::string& ns, const std::string& name) {
  return kind + "/" + (ns.empty() ? "" : ns + "/") + name;
}

}  // namespace

std::string Reference::ToString() const { return ObjectName(kind, ns, name); }

std::string Carrier::Use() const { return ObjectName(kind, ns, name); }

std::vector<Reference> ReferencesOf(const Value& job) {
  const Value* const spec = job.Find("spec");
  return spec == nullptr ? std::vector<Reference>()
                         : OfSpec(TextAt(job, {"metadata", "namespace"}), *spec);
}

std::map<std::string, std::vector<Reference>> ReferencesByTemplate(const Value& job) {
  if (TextAt(job, {"kind"}) != resource::HyperJobs().kind) {
    return {{"", ReferencesOf(job)}};
  }
  std::map<std::string, std::vector<Reference>> references;
  for (const Value& each : ListAt(job, {"spec", "replicatedJobs"})) {
    if (const Value* const spec = each.Find("templateSpec"); spec != nullptr) {
      references[TextAt(each, {"name"})] = OfSpec(TextAt(job, {"metadata", "namespace"}), *spec);
    }
  }
  return references;
}
std::vector<Reference> ReferencesOfAccount(const Value& account) {
  Collector found(TextAt(account, {"metadata", "namespace"}));
  for (const Value& secret : ListAt(account, {"imagePullSecrets"})) {
    // A pod starts without it where the image is public, and the kubelet only warns.
    found.Add("Secret", TextAt(secret, {"name"}), true);
  }
  for (const Value& secret : ListAt(account, {"secrets"})) {
    found.Add("Secret", TextAt(secret, {"name"}), true);
  }
  return found.Take();
}

std::vector<Reference> Merged(std::vector<Reference> a, const std::vector<Reference>& b) {
  std::map<std::array<std::string, 3>, bool> all;
  a.insert(a.end(), b.begin(), b.end());
  for (const Reference& reference : a) {
    const auto [at, inserted] =
        all.try_emplace({reference.kind, reference.ns, reference.name}, reference.optional);
    at->second = at->second && reference.optional;
  }
  std::vector<Reference> merged;
  merged.reserve(all.size());
  for (const auto& [key, optional] : all) {
    merged.push_back({key[0], key[1], key[2], optional});
  }
  return merged;
}

Reference ReferenceOf(const std::string& use) {
  const size_t first = use.find('/');
  if (first == std::string::npos) {
    return {};
  }
  const size_t second = use.find('/', first + 1);
  if (second == std::string::npos) {
    return {use.substr(0, first), "", use.substr(first + 1), false};
  }
  return {use.substr(0, first), use.substr(first + 1, second - first - 1), use.substr(second + 1),
          false};
}

ObjectRef WhereIs(const Reference& reference) {
  const ResourceType* type = nullptr;
  for (const ResourceType* const candidate :
       {&resource::ConfigMaps(), &resource::Secrets(), &resource::ServiceAccounts(),
        &resource::PriorityClasses(), &resource::PersistentVolumeClaims()}) {
    if (candidate->kind == reference.kind) {
      type = candidate;
    }
  }
  return {type, reference.ns, reference.name};
}

Carriage CarriageOf(const Reference& reference, const Value& object) {
  if (reference.kind == "PersistentVolumeClaim") {
    return Carriage::kUsers;
  }
  if (reference.kind == "Secret" &&
      TextAt(object, {"type"}) == "kubernetes.io/service-account-token") {
    return Carriage::kOwn;
  }
  return IsUnderPolicy(object) ? Carriage::kOthers : Carriage::kSend;
}

std::string CarrierName(const std::string& kind, const std::string& ns, const std::string& name) {
  constexpr size_t kLongest = 253;
  constexpr size_t kHash = 16;
  std::string full = "caldera-";
  std::transform(kind.begin(), kind.end(), std::back_inserter(full), [](char c) {
    return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  });
  // Neither a kind nor a namespace has a dot, so that no two objects give the same text.
  full += "." + (ns.empty() ? "" : ns + ".") + name;
  if (full.size() <= kLongest) {
    return full;
  }
  const std::string hash = Digest(full).substr(0, kHash);
  return full.substr(0, kLongest - kHash - 2) + "-x" + hash;
}

std::string CarrierNameOfUse(const std::string& use) {
  const size_t first = use.find('/');
  if (first == std::string::npos) {
    return {};
  }
  const size_t second = use.find('/', first + 1);
  const std::string kind = use.substr(0, first);
  return second == std::string::npos
             ? CarrierName(kind, "", use.substr(first + 1))
             : CarrierName(kind, use.substr(first + 1, second - first - 1), use.substr(second + 1));
}

Carrier MakeReferenceCarrier(const Reference& reference, const Value& object,
                             const std::string& cluster) {
  Carrier carrier{
      WorkRole::kReference, reference.kind, reference.ns, reference.name, cluster, {}, {}};
  carrier.manifest =
      RenderManifest(object, CarrierName(reference.kind, reference.ns, reference.name), cluster);
  const ObjectRef ref = WhereIs(reference);
  // A GET's answer carries both; a list's item would not.
  carrier.manifest.Set("apiVersion", ref.type->ApiVersion());
  carrier.manifest.Set("kind", ref.type->kind);
  if (reference.kind == "ServiceAccount") {
    // Those of this API server mean nothing in the member, which makes its own.
    carrier.manifest.Erase("secrets");
  }
  carrier.digest = ManifestDigest(carrier.manifest);
  return carrier;
}

std::pair<std::string, std::string> KeyOf(const Carrier& carrier) {
  return {ExecutionNamespace(carrier.cluster), CarrierName(carrier.kind, carrier.ns, carrier.name)};
}

Value RenderCarrier(const Carrier& carrier) {
  const auto key = [](std::string_view name) {
    return std::string(kAnnotationPrefix) + std::string(name);
  };
  Value metadata{Value::Map{}};
  metadata.Set("name", CarrierName(carrier.kind, carrier.ns, carrier.name));
  metadata.Set("namespace", ExecutionNamespace(carrier.cluster));
  metadata.Set("labels", WorkLabels(carrier.role));
  metadata.Set("annotations",
               Value::Map{{key("object"), carrier.Use(), {}}, {key("digest"), carrier.digest, {}}});
  metadata.Set("finalizers", WorkFinalizers());
  Value work{Value::Map{}};
  work.Set("apiVersion", resource::Works().ApiVersion());
  work.Set("kind", resource::Works().kind);
  work.Set("metadata", std::move(metadata));
  work.Set(
      "spec",
      Value::Map{{"workload", Value::Map{{"manifests", Value::List{carrier.manifest}, {}}}, {}}});
  return work;
}

}  // namespace caldera
