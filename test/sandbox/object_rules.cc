#include "test/sandbox/object_rules.h"

#include <algorithm>
#include <array>

#include "controller/kube/reading.h"
#include "federation/names.h"
#include "test/sandbox/base64.h"

namespace caldera::sandbox {
namespace {

// Parsing what is stored must never fail, so trees stay below what the reader takes.
constexpr size_t kDeepest = kMaxDepth - 10;

bool DeeperThan(const Value& value, size_t levels) {
  if (value.IsList()) {
    return levels == 0 || std::any_of(value.AsList().begin(), value.AsList().end(),
                                      [&](const Value& v) { return DeeperThan(v, levels - 1); });
  }
  return value.IsMap() &&
         (levels == 0 || std::any_of(value.AsMap().begin(), value.AsMap().end(),
                                     [&](auto& m) { return DeeperThan(m.value, levels - 1); }));
}

bool IsTextMap(const Value* map) {
  return map == nullptr || map->IsNull() ||
         (map->IsMap() && std::all_of(map->AsMap().begin(), map->AsMap().end(),
                                      [](const Member& m) { return m.value.IsString(); }));
}

bool IsNameOf(const Kind& kind, const std::string& name) {
  const std::string& group = kind.type.group;
  if (group == "rbac.authorization.k8s.io") {
    return !name.empty() && name.find('/') == std::string::npos && name != "." && name != "..";
  }
  return kind.type.kind == "Namespace" ? IsDnsLabel(name) : IsDnsSubdomain(name);
}

Answer<void> CheckLabels(const Kind& kind, const std::string& name, const Value& metadata) {
  const Value* labels = metadata.Find("labels");
  if (!IsTextMap(labels) || !IsTextMap(metadata.Find("annotations"))) {
    return tl::unexpected(Invalid(kind, name, "metadata",
                                  "Invalid value: labels and annotations are maps of strings"));
  }
  if (labels == nullptr || labels->IsNull()) {
    return {};
  }
  for (const Member& label : labels->AsMap()) {
    if (!IsQualifiedName(label.key)) {
      return tl::unexpected(Invalid(kind, name, "metadata.labels",
                                    "Invalid value: \"" + label.key + "\": name part must be " +
                                        std::string(kQualifiedNameRule)));
    }
    if (!IsLabelValue(label.value.AsString())) {
      return tl::unexpected(Invalid(kind, name, "metadata.labels",
                                    "Invalid value: \"" + label.value.AsString() +
                                        "\": a label's value must be " +
                                        std::string(kLabelValueRule)));
    }
  }
  return {};
}

Answer<void> CheckLists(const Kind& kind, const std::string& name, const Value& metadata) {
  const Value* finalizers = metadata.Find("finalizers");
  if (finalizers != nullptr && !finalizers->IsNull() &&
      (!finalizers->IsList() ||
       !std::all_of(finalizers->AsList().begin(), finalizers->AsList().end(), [](const Value& v) {
         return v.IsString() && IsQualifiedName(v.AsString());
       }))) {
    return tl::unexpected(Invalid(kind, name, "metadata.finalizers",
                                  "Invalid value: a list of qualified names is needed"));
  }
  const Value* owners = metadata.Find("ownerReferences");
  if (owners != nullptr && !owners->IsNull() &&
      (!owners->IsList() ||
       !std::all_of(owners->AsList().begin(), owners->AsList().end(), [](const Value& v) {
         return !TextAt(v, {"uid"}).empty() && !TextAt(v, {"name"}).empty() &&
                !TextAt(v, {"kind"}).empty() && !TextAt(v, {"apiVersion"}).empty();
       }))) {
    return tl::unexpected(
        Invalid(kind, name, "metadata.ownerReferences",
                "Invalid value: each needs apiVersion, kind, name and uid, not empty"));
  }
  return {};
}

// Secrets take plain text beside base64.
void EncodeStringData(Value& secret) {
  const Value* plain = secret.Find("stringData");
  if (plain == nullptr || !plain->IsMap()) {
    return;
  }
  const Value copy = *plain;
  secret.Erase("stringData");
  const Value* there = secret.Find("data");
  if (there == nullptr || !there->IsMap()) {
    secret.Set("data", Value::Map{});
  }
  for (const Member& member : copy.AsMap()) {
    if (member.value.IsString()) {
      secret.Find("data")->Set(member.key, EncodeBase64(member.value.AsString()));
    }
  }
}

void SetDefault(Value& map, std::string_view key, Value value) {
  if (map.Find(key) == nullptr) {
    map.Set(key, std::move(value));
  }
}

void DefaultCoreKind(const Kind& kind, Value& object) {
  if (!kind.type.group.empty()) {
    return;
  }
  if (kind.type.kind == "Namespace") {
    Value& metadata = *object.Find("metadata");
    const std::string name = TextAt(metadata, {"name"});
    SetDefault(metadata, "labels", Value::Map{});
    metadata.Find("labels")->Set("kubernetes.io/metadata.name", name);
    object.Set("spec", Value::Map{{"finalizers", Value::List{"kubernetes"}, {}}});
    object.Set("status", Value::Map{{"phase", "Active", {}}});
  } else if (kind.type.kind == "Pod" || kind.type.kind == "PersistentVolumeClaim") {
    object.Set("status", Value::Map{{"phase", "Pending", {}}});
  } else if (kind.type.kind == "Secret") {
    SetDefault(object, "type", "Opaque");
  }
}

Value WithoutMetadataAndStatus(const Value& object) {
  Value rest = object;
  rest.Erase("metadata");
  rest.Erase("status");
  return rest;
}

bool SpecDiffers(const Value& old, const Value& object, bool has_status) {
  Value a = WithoutMetadataAndStatus(old);
  Value b = WithoutMetadataAndStatus(object);
  if (!has_status) {
    const Value none;
    a.Set("status", old.Find("status") != nullptr ? *old.Find("status") : none);
    b.Set("status", object.Find("status") != nullptr ? *object.Find("status") : none);
  }
  return !(a == b);
}

void TakeFrom(const Value& source, std::string_view key, Value& target) {
  if (const Value* value = source.Find(key)) {
    target.Set(key, *value);
  } else {
    target.Erase(key);
  }
}

}  // namespace

std::string MetaTime(Time time) {
  return FormatTime(std::chrono::floor<std::chrono::seconds>(time));
}

Answer<void> FitToPath(const Kind& kind, const std::string& ns, Value& object) {
  if (!object.IsMap()) {
    return tl::unexpected(BadRequest("the object provided is no map"));
  }
  if (DeeperThan(object, kDeepest)) {
    return tl::unexpected(BadRequest("the object provided is nested too deeply"));
  }
  SetDefault(object, "apiVersion", kind.type.ApiVersion());
  SetDefault(object, "kind", kind.type.kind);
  const std::string version = TextAt(object, {"apiVersion"});
  if (version != kind.type.ApiVersion()) {
    return tl::unexpected(BadRequest("the API version in the data (" + version +
                                     ") does not match the expected API version (" +
                                     kind.type.ApiVersion() + ")"));
  }
  if (TextAt(object, {"kind"}) != kind.type.kind) {
    return tl::unexpected(BadRequest("the kind in the data (" + TextAt(object, {"kind"}) +
                                     ") does not match the expected kind (" + kind.type.kind +
                                     ")"));
  }
  SetDefault(object, "metadata", Value::Map{});
  Value& metadata = *object.Find("metadata");
  if (!metadata.IsMap()) {
    return tl::unexpected(BadRequest("metadata is no map"));
  }
  const std::string given = TextAt(metadata, {"namespace"});
  if (kind.type.namespaced && !given.empty() && given != ns) {
    return tl::unexpected(BadRequest(
        "the namespace of the provided object does not match the namespace sent on the request"));
  }
  metadata.Erase("namespace");
  if (kind.type.namespaced) {
    metadata.Set("namespace", ns);
  }
  return {};
}

Answer<void> CheckObject(const Kind& kind, const Value& object) {
  const Value& metadata = *object.Find("metadata");
  const std::string name = TextAt(metadata, {"name"});
  if (name.empty()) {
    return tl::unexpected(
        Invalid(kind, name, "metadata.name", "Required value: name or generateName is required"));
  }
  if (!IsNameOf(kind, name)) {
    return tl::unexpected(Invalid(kind, name, "metadata.name",
                                  "Invalid value: \"" + name + "\": a name must consist of " +
                                      std::string(kDnsSubdomainRule)));
  }
  if (Answer<void> labels = CheckLabels(kind, name, metadata); !labels) {
    return labels;
  }
  return CheckLists(kind, name, metadata);
}

Answer<void> PrepareCreate(const Kind& kind, const Birth& birth, Value& object) {
  Value& metadata = *object.Find("metadata");
  if (!TextAt(metadata, {"resourceVersion"}).empty()) {
    return tl::unexpected(BadRequest("resourceVersion should not be set on objects to be created"));
  }
  const std::string prefix = TextAt(metadata, {"generateName"});
  if (TextAt(metadata, {"name"}).empty() && !prefix.empty()) {
    metadata.Set("name", prefix + birth.name_suffix);
  }
  if (Answer<void> checked = CheckObject(kind, object); !checked) {
    return checked;
  }
  for (const char* key : {"resourceVersion", "managedFields", "selfLink", "deletionTimestamp",
                          "deletionGracePeriodSeconds", "generation"}) {
    metadata.Erase(key);
  }
  metadata.Set("uid", birth.uid);
  metadata.Set("creationTimestamp", MetaTime(birth.now));
  if (kind.generation) {
    metadata.Set("generation", 1);
  }
  if (kind.has_status && !kind.born_with_status) {
    object.Erase("status");
  }
  if (kind.type.kind == "Secret") {
    EncodeStringData(object);
  }
  DefaultCoreKind(kind, object);
  return {};
}

void PrepareUpdate(const Kind& kind, const Value& old, bool status, Value& object) {
  if (status) {
    Value wished = old;
    TakeFrom(object, "status", wished);
    object = std::move(wished);
    return;
  }
  if (kind.has_status) {
    TakeFrom(old, "status", object);
  }
  if (kind.type.kind == "Secret") {
    EncodeStringData(object);
  }
  const Value& before = *old.Find("metadata");
  Value& metadata = *object.Find("metadata");
  for (const char* key : {"name", "namespace", "uid", "creationTimestamp", "generation",
                          "generateName", "deletionTimestamp", "deletionGracePeriodSeconds"}) {
    TakeFrom(before, key, metadata);
  }
  for (const char* key : {"managedFields", "selfLink"}) {
    metadata.Erase(key);
  }
  if (kind.type.kind == "Namespace") {
    TakeFrom(old, "spec", object);
  }
  if (kind.generation && SpecDiffers(old, object, kind.has_status)) {
    const Value* generation = before.Find("generation");
    const bool counted = generation != nullptr && generation->IsInteger();
    metadata.Set("generation", counted ? generation->AsInteger() + 1 : int64_t{1});
  }
}

bool Differs(const Value& old, const Value& object) {
  Value a = old;
  Value b = object;
  a.Find("metadata")->Erase("resourceVersion");
  b.Find("metadata")->Erase("resourceVersion");
  return !(a == b);
}

}  // namespace caldera::sandbox
