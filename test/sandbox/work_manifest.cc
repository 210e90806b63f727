#include "test/sandbox/work_manifest.h"

#include <algorithm>
#include <array>

namespace caldera::sandbox {
namespace {

bool IsVolcanoJob(const Value& object) {
  return TextAt(object, {"kind"}) == "Job" &&
         TextAt(object, {"apiVersion"}).starts_with("batch.volcano.sh/");
}

// What only the API server, or a controller beside it, writes.
Value Pruned(const Value& object) {
  Value pruned = object;
  pruned.Erase("status");
  if (Value* const metadata = pruned.Find("metadata")) {
    for (const char* const field :
         {"creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "generation",
          "managedFields", "resourceVersion", "selfLink", "uid", "finalizers", "ownerReferences"}) {
      metadata->Erase(field);
    }
  }
  if (TextAt(object, {"kind"}) == "Job") {
    if (Value* const spec = pruned.Find("spec")) {
      spec->Erase("ttlSecondsAfterFinished");
    }
  }
  return pruned;
}

void RetainMap(Value& wanted, const Value& observed, std::string_view field) {
  const Value* const there = observed.At({"metadata", field});
  if (there == nullptr || !there->IsMap()) {
    return;
  }
  Value& metadata = *wanted.Find("metadata");
  if (metadata.Find(field) == nullptr) {
    metadata.Set(field, Value::Map{});
  }
  for (const Member& member : there->AsMap()) {
    if (metadata.Find(field)->Find(member.key) == nullptr) {
      metadata.Find(field)->Set(member.key, member.value);
    }
  }
}

void RetainField(Value& wanted, const Value& observed, std::initializer_list<std::string_view> path,
                 std::string_view parent, std::string_view field) {
  const Value* const there = observed.At(path);
  if (there == nullptr) {
    return;
  }
  Value* const into = parent.empty() ? &wanted : wanted.Find(parent);
  if (into != nullptr && into->Find(field) == nullptr) {
    into->Set(field, *there);
  }
}

// What a member gives an object of these kinds for life.
void RetainOfKind(Value& wanted, const Value& observed) {
  const std::string kind = TextAt(wanted, {"kind"});
  if (kind == "ServiceAccount") {
    RetainField(wanted, observed, {"secrets"}, "", "secrets");
  } else if (kind == "Service") {
    RetainField(wanted, observed, {"spec", "clusterIP"}, "spec", "clusterIP");
    RetainField(wanted, observed, {"spec", "clusterIPs"}, "spec", "clusterIPs");
  } else if (kind == "PersistentVolumeClaim") {
    RetainField(wanted, observed, {"spec", "volumeName"}, "spec", "volumeName");
  }
}

Value Reflected(const Value& object) {
  const Value* const status = object.Find("status");
  if (status == nullptr || !status->IsMap() || !IsVolcanoJob(object)) {
    return status == nullptr ? Value() : *status;
  }
  constexpr std::array<std::string_view, 14> kFields = {
      "minAvailable", "pending",    "running",         "succeeded",          "failed",
      "terminating",  "unknown",    "version",         "retryCount",         "runningDuration",
      "state",        "conditions", "taskStatusCount", "controlledResources"};
  Value reflected{Value::Map{}};
  for (const std::string_view field : kFields) {
    if (const Value* const value = status->Find(field)) {
      reflected.Set(field, *value);
    }
  }
  return reflected;
}

std::string HealthOf(const Value& object) {
  if (!IsVolcanoJob(object)) {
    return "Healthy";
  }
  const std::string phase = TextAt(object, {"status", "state", "phase"});
  return phase.empty() || phase == "Failed" ? "Unhealthy" : "Healthy";
}

int64_t OrdinalOf(const Value& work, const Value& object) {
  const Value::List& manifests = ListAt(work, {"spec", "workload", "manifests"});
  const auto found = std::find_if(manifests.begin(), manifests.end(), [&](const Value& manifest) {
    return TextAt(manifest, {"apiVersion"}) == TextAt(object, {"apiVersion"}) &&
           TextAt(manifest, {"kind"}) == TextAt(object, {"kind"}) &&
           KeyOf(manifest) == KeyOf(object);
  });
  return found == manifests.end() ? -1 : found - manifests.begin();
}

}  // namespace

std::string ClusterOfNamespace(const std::string& ns) {
  return ns.starts_with(kExecutionPrefix) ? ns.substr(kExecutionPrefix.size()) : "";
}

bool IsManaged(const Value& object) { return LabelOf(object, "karmada.io/managed") == "true"; }

std::optional<ObjectKey> WorkOf(const Value& object) {
  ObjectKey key{AnnotationOf(object, "work.karmada.io/namespace"),
                AnnotationOf(object, "work.karmada.io/name")};
  const bool named = IsManaged(object) && !key.ns.empty() && !key.name.empty();
  return named ? std::optional<ObjectKey>(std::move(key)) : std::nullopt;
}

Value PrunedManifest(const Value& manifest) { return Pruned(manifest); }

std::optional<Value> WantedUpdate(const Value& manifest, const Value& observed) {
  Value wanted = Pruned(manifest);
  if (wanted.Find("metadata") == nullptr) {
    return std::nullopt;
  }
  RetainMap(wanted, observed, "labels");
  RetainMap(wanted, observed, "annotations");
  RetainOfKind(wanted, observed);
  if (wanted == Pruned(observed)) {
    return std::nullopt;
  }
  for (const std::string_view field :
       {"uid", "resourceVersion", "finalizers", "ownerReferences", "creationTimestamp"}) {
    if (const Value* const value = observed.At({"metadata", field})) {
      wanted.Find("metadata")->Set(field, *value);
    }
  }
  return wanted;
}

Value ManifestStatus(const Value& work, const Value& object) {
  const std::string api_version = TextAt(object, {"apiVersion"});
  const size_t slash = api_version.find('/');
  Value identifier = MakeMap(
      {{"ordinal", OrdinalOf(work, object)},
       {"group", slash == std::string::npos ? "" : api_version.substr(0, slash)},
       {"version", slash == std::string::npos ? api_version : api_version.substr(slash + 1)},
       {"kind", TextAt(object, {"kind"})},
       {"resource", ""},
       {"namespace", KeyOf(object).ns},
       {"name", KeyOf(object).name}});
  Value status = MakeMap({{"identifier", std::move(identifier)}, {"health", HealthOf(object)}});
  if (Value reflected = Reflected(object); !reflected.IsNull()) {
    status.Set("status", std::move(reflected));
  }
  return status;
}

}  // namespace caldera::sandbox
