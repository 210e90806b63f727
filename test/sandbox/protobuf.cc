#include "test/sandbox/protobuf.h"

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include "test/sandbox/base64.h"

namespace caldera::sandbox {
namespace {

enum class FieldType { kString, kNumber, kFlag, kMessage, kTextMap, kBytesMap, kIgnored };

struct Message;

struct Field {
  uint64_t number;
  const char* name;
  FieldType type;
  bool repeated = false;
  const Message* message = nullptr;
};

struct Message {
  std::vector<Field> fields;
};

using Kinds = std::map<std::string, const Message*, std::less<>>;

// Every message lives as long as the program, since they point to one another.
const Kinds& KnownKinds() {
  using enum FieldType;
  static const Message kOwner{{{1, "kind", kString},
                               {3, "name", kString},
                               {4, "uid", kString},
                               {5, "apiVersion", kString},
                               {6, "controller", kFlag},
                               {7, "blockOwnerDeletion", kFlag}}};
  static const Message kMeta{{{1, "name", kString},
                              {2, "generateName", kString},
                              {3, "namespace", kString},
                              {4, "selfLink", kString},
                              {5, "uid", kString},
                              {6, "resourceVersion", kString},
                              {7, "generation", kIgnored},
                              {8, "creationTimestamp", kIgnored},
                              {11, "labels", kTextMap},
                              {12, "annotations", kTextMap},
                              {13, "ownerReferences", kMessage, true, &kOwner},
                              {14, "finalizers", kString, true}}};
  static const Field kMetadata{1, "metadata", kMessage, false, &kMeta};
  static const Message kNamespace{{kMetadata, {2, "spec", kIgnored}, {3, "status", kIgnored}}};
  static const Message kConfigMap{
      {kMetadata, {2, "data", kTextMap}, {3, "binaryData", kBytesMap}, {4, "immutable", kFlag}}};
  static const Message kSecret{{kMetadata,
                                {2, "data", kBytesMap},
                                {3, "type", kString},
                                {4, "stringData", kTextMap},
                                {5, "immutable", kFlag}}};
  static const Message kReference{{{1, "name", kString}}};
  static const Message kAccount{{kMetadata,
                                 {3, "imagePullSecrets", kMessage, true, &kReference},
                                 {4, "automountServiceAccountToken", kFlag}}};
  static const Message kClass{{kMetadata,
                               {2, "value", kNumber},
                               {3, "globalDefault", kFlag},
                               {4, "description", kString},
                               {5, "preemptionPolicy", kString}}};
  static const Message kRule{{{1, "verbs", kString, true},
                              {2, "apiGroups", kString, true},
                              {3, "resources", kString, true},
                              {4, "resourceNames", kString, true},
                              {5, "nonResourceURLs", kString, true}}};
  static const Message kRole{{kMetadata, {2, "rules", kMessage, true, &kRule}}};
  static const Message kSubject{{{1, "kind", kString},
                                 {2, "apiGroup", kString},
                                 {3, "name", kString},
                                 {4, "namespace", kString}}};
  static const Message kRoleRef{
      {{1, "apiGroup", kString}, {2, "kind", kString}, {3, "name", kString}}};
  static const Message kBinding{{kMetadata,
                                 {2, "subjects", kMessage, true, &kSubject},
                                 {3, "roleRef", kMessage, false, &kRoleRef}}};
  static const Kinds kKinds{{"Namespace", &kNamespace}, {"ConfigMap", &kConfigMap},
                            {"Secret", &kSecret},       {"ServiceAccount", &kAccount},
                            {"PriorityClass", &kClass}, {"ClusterRole", &kRole},
                            {"Role", &kRole},           {"ClusterRoleBinding", &kBinding},
                            {"RoleBinding", &kBinding}};
  return kKinds;
}

// One field on the wire: a number, or bytes.
struct Wire {
  uint64_t field = 0;
  bool is_bytes = false;
  uint64_t number = 0;
  std::string_view bytes;
};

std::optional<uint64_t> TakeVarint(std::string_view& text) {
  uint64_t number = 0;
  for (unsigned shift = 0; shift < 64 && !text.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(text.front());
    text.remove_prefix(1);
    number |= (byte & uint64_t{127}) << shift;
    if (byte < 128) {
      return number;
    }
  }
  return std::nullopt;
}

std::optional<Wire> TakeField(std::string_view& text) {
  const auto tag = TakeVarint(text);
  if (!tag) {
    return std::nullopt;
  }
  Wire wire;
  wire.field = *tag >> 3U;
  const auto number = TakeVarint(text);
  if (!number) {
    return std::nullopt;
  }
  wire.number = *number;
  if ((*tag & 7U) == 0) {
    return wire;
  }
  if ((*tag & 7U) != 2 || *number > text.size()) {
    return std::nullopt;
  }
  wire.is_bytes = true;
  wire.bytes = text.substr(0, *number);
  text.remove_prefix(*number);
  return wire;
}

Refusal Malformed() { return BadRequest("error decoding the body: malformed protobuf"); }

Answer<Value> ParseMessage(const Message& message, std::string_view text);

bool AddEntry(std::string_view entry, bool encode, Value& map) {
  std::string key;
  std::string value;
  while (!entry.empty()) {
    const auto wire = TakeField(entry);
    if (!wire || !wire->is_bytes) {
      return false;
    }
    (wire->field == 1 ? key : value) = wire->bytes;
  }
  map.Set(key, encode ? EncodeBase64(value) : value);
  return true;
}

Answer<Value> ScalarOf(const Field& field, const Wire& wire) {
  switch (field.type) {
    case FieldType::kString:
      return Value(std::string(wire.bytes));
    case FieldType::kNumber:
      return Value(static_cast<int64_t>(wire.number));
    case FieldType::kFlag:
      return Value(wire.number != 0);
    case FieldType::kMessage:
      return ParseMessage(*field.message, wire.bytes);
    default:
      return tl::unexpected(Malformed());
  }
}

Answer<void> SetField(const Field& field, const Wire& wire, Value& object) {
  const bool number = field.type == FieldType::kNumber || field.type == FieldType::kFlag;
  if (field.type == FieldType::kIgnored) {
    return {};
  }
  if (wire.is_bytes == number) {
    return tl::unexpected(Malformed());
  }
  Value* const there = object.Find(field.name);
  if (field.type == FieldType::kTextMap || field.type == FieldType::kBytesMap) {
    Value& map = there != nullptr ? *there : object.Set(field.name, Value::Map{});
    return AddEntry(wire.bytes, field.type == FieldType::kBytesMap, map)
               ? Answer<void>()
               : tl::unexpected(Malformed());
  }
  Answer<Value> value = ScalarOf(field, wire);
  if (!value) {
    return tl::unexpected(std::move(value).error());
  }
  if (field.repeated) {
    Value& list = there != nullptr ? *there : object.Set(field.name, Value::List{});
    list.AsList().push_back(*std::move(value));
  } else if (!value->IsString() || !value->AsString().empty()) {
    object.Set(field.name, *std::move(value));  // An empty text stands for none.
  }
  return {};
}

Answer<Value> ParseMessage(const Message& message, std::string_view text) {
  Value object = Value::Map{};
  while (!text.empty()) {
    const auto wire = TakeField(text);
    if (!wire) {
      return tl::unexpected(Malformed());
    }
    const auto field = std::find_if(message.fields.begin(), message.fields.end(),
                                    [&](const Field& f) { return f.number == wire->field; });
    if (field == message.fields.end()) {
      return tl::unexpected(BadRequest("the sandbox does not know protobuf field " +
                                       std::to_string(wire->field) + "; send JSON"));
    }
    if (Answer<void> set = SetField(*field, *wire, object); !set) {
      return tl::unexpected(std::move(set).error());
    }
  }
  return object;
}

}  // namespace

Answer<Value> ParseProtobuf(std::string_view body) {
  using enum FieldType;
  constexpr std::string_view kMagic("k8s\0", 4);
  static const Message kType{{{1, "apiVersion", kString}, {2, "kind", kString}}};
  if (!body.starts_with(kMagic)) {
    return tl::unexpected(Malformed());
  }
  body.remove_prefix(kMagic.size());
  Answer<Value> type = Value::Map{};
  std::string_view raw;
  while (!body.empty()) {
    const auto wire = TakeField(body);
    if (!wire || !wire->is_bytes) {
      return tl::unexpected(Malformed());
    }
    if (wire->field == 1) {
      type = ParseMessage(kType, wire->bytes);
    } else if (wire->field == 2) {
      raw = wire->bytes;
    }
  }
  if (!type) {
    return type;
  }
  const Value* kind = type->Find("kind");
  const auto known = kind == nullptr ? KnownKinds().end() : KnownKinds().find(kind->AsString());
  if (known == KnownKinds().end()) {
    return tl::unexpected(UnsupportedMediaType("application/json, application/yaml"));
  }
  Answer<Value> object = ParseMessage(*known->second, raw);
  if (object) {
    for (const Member& member : type->AsMap()) {
      object->Set(member.key, member.value);
    }
  }
  return object;
}

}  // namespace caldera::sandbox
