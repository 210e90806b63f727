#include "controller/run/manifest_digest.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "controller/kube/json_writer.h"
#include "federation/codec.h"

namespace caldera {
namespace {

Value Canonical(const Value& value) {
  if (value.IsList()) {
    Value::List list;
    list.reserve(value.AsList().size());
    for (const Value& item : value.AsList()) {
      list.push_back(Canonical(item));
    }
    return list;
  }
  if (!value.IsMap()) {
    return value;
  }
  Value::Map map;
  for (const Member& member : value.AsMap()) {
    if (!member.value.IsNull()) {
      map.push_back({member.key, Canonical(member.value), {}});
    }
  }
  std::sort(map.begin(), map.end(), [](const Member& a, const Member& b) { return a.key < b.key; });
  return map;
}

// `work.karmada.io/name` and its like: Karmada puts more of them beside those that it was given.
bool IsOfKarmada(std::string_view key) {
  const std::string_view domain = key.substr(0, key.find('/'));
  return domain == "karmada.io" || domain.ends_with(".karmada.io");
}

Value WithoutKarmada(const Value& labels) {
  Value::Map own;
  for (const Member& label : labels.AsMap()) {
    if (!IsOfKarmada(label.key)) {
      own.push_back(label);
    }
  }
  return own;
}

Value OwnMetadata(const Value& metadata) {
  Value own{Value::Map{}};
  for (const std::string_view field : {"name", "namespace"}) {
    if (const Value* const value = metadata.Find(field); value != nullptr) {
      own.Set(field, *value);
    }
  }
  for (const std::string_view field : {"labels", "annotations"}) {
    const Value* const labels = metadata.Find(field);
    if (labels == nullptr || !labels->IsMap()) {
      continue;
    }
    if (Value kept = WithoutKarmada(*labels); !kept.AsMap().empty()) {
      own.Set(field, std::move(kept));
    }
  }
  return own;
}

}  // namespace

std::string ManifestDigest(const Value& manifest) {
  Value own = manifest;
  own.Erase("status");
  if (const Value* const metadata = manifest.Find("metadata"); metadata != nullptr) {
    own.Set("metadata", OwnMetadata(*metadata));
  }
  const Value* const kind = manifest.Find("kind");
  Value* const spec = own.Find("spec");
  if (spec != nullptr && kind != nullptr && *kind == Value("Job")) {
    spec->Erase("ttlSecondsAfterFinished");
  }
  return Digest(WriteJson(Canonical(own)));
}

std::string StatusDigest(const Value& status) {
  // Half of a SHA-256: a hundred thousand of them are kept.
  constexpr size_t kHexDigits = 32;
  const Value canonical = Canonical(status);
  if (!canonical.IsMap() || canonical.AsMap().empty()) {
    return {};
  }
  return Digest(WriteJson(canonical)).substr(0, kHexDigits);
}

}  // namespace caldera
