#include "federation/document.h"

#include <algorithm>

#include "federation/assert.h"
#include "federation/excerpt.h"

namespace caldera {
namespace {

std::vector<const Member*> ByKey(const Value::Map& map) {
  std::vector<const Member*> members;
  members.reserve(map.size());
  for (const Member& member : map) {
    members.push_back(&member);
  }
  std::sort(members.begin(), members.end(),
            [](const Member* a, const Member* b) { return a->key < b->key; });
  return members;
}

bool SameMaps(const Value::Map& a, const Value::Map& b) {
  if (a.size() != b.size()) {
    return false;
  }
  const auto left = ByKey(a);
  const auto right = ByKey(b);
  return std::equal(left.begin(), left.end(), right.begin(), [](const Member* x, const Member* y) {
    return x->key == y->key && x->value == y->value;
  });
}

}  // namespace

Value::Value(bool value, Mark mark) : data_(value), mark_(mark) {}
Value::Value(int64_t value, Mark mark) : data_(value), mark_(mark) {}
Value::Value(int value, Mark mark) : data_(int64_t{value}), mark_(mark) {}
Value::Value(Decimal value, Mark mark) : data_(std::move(value)), mark_(mark) {}
Value::Value(std::string value, Mark mark) : data_(std::move(value)), mark_(mark) {}
Value::Value(const char* value, Mark mark) : data_(std::string(value)), mark_(mark) {}
Value::Value(List value, Mark mark) : data_(std::move(value)), mark_(mark) {}
Value::Value(Map value, Mark mark) : data_(std::move(value)), mark_(mark) {}

bool Value::AsBool() const {
  CALDERA_ASSERT(IsBool());
  return std::get<bool>(data_);
}

int64_t Value::AsInteger() const {
  CALDERA_ASSERT(IsInteger());
  return std::get<int64_t>(data_);
}

const std::string& Value::AsString() const {
  CALDERA_ASSERT(IsString());
  return std::get<std::string>(data_);
}

const std::string& Value::AsDecimal() const {
  CALDERA_ASSERT(kind() == Kind::kDecimal);
  return std::get<Decimal>(data_).text;
}

const Value::List& Value::AsList() const {
  CALDERA_ASSERT(IsList());
  return std::get<List>(data_);
}

Value::List& Value::AsList() {
  CALDERA_ASSERT(IsList());
  return std::get<List>(data_);
}

const Value::Map& Value::AsMap() const {
  CALDERA_ASSERT(IsMap());
  return std::get<Map>(data_);
}

Value::Map& Value::AsMap() {
  CALDERA_ASSERT(IsMap());
  return std::get<Map>(data_);
}

const Value* Value::Find(std::string_view key) const {
  if (!IsMap()) {
    return nullptr;
  }
  const Map& map = AsMap();
  const auto member =
      std::find_if(map.begin(), map.end(), [&](const Member& m) { return m.key == key; });
  return member == map.end() ? nullptr : &member->value;
}

Value* Value::Find(std::string_view key) {
  if (!IsMap()) {
    return nullptr;
  }
  Map& map = AsMap();
  const auto member =
      std::find_if(map.begin(), map.end(), [&](const Member& m) { return m.key == key; });
  return member == map.end() ? nullptr : &member->value;
}

const Value* Value::At(std::initializer_list<std::string_view> path) const {
  const Value* value = this;
  for (const std::string_view key : path) {
    value = value == nullptr ? nullptr : value->Find(key);
  }
  return value;
}

Value& Value::Set(std::string_view key, Value value) {
  if (IsNull()) {
    data_ = Map{};
  }
  if (Value* const there = Find(key)) {
    *there = std::move(value);
    return *there;
  }
  Map& map = AsMap();
  map.push_back(Member{std::string(key), std::move(value), Mark{}});
  return map.back().value;
}

void Value::Erase(std::string_view key) {
  if (IsMap()) {
    std::erase_if(AsMap(), [&](const Member& member) { return member.key == key; });
  }
}

std::string Value::Brief() const {
  switch (kind()) {
    case Kind::kNull:
      return "null";
    case Kind::kBool:
      return AsBool() ? "true" : "false";
    case Kind::kInteger:
      return std::to_string(AsInteger());
    case Kind::kDecimal:
      return Excerpt(AsDecimal());
    case Kind::kString:
      return Excerpt(AsString());
    case Kind::kList:
      return AsList().empty() ? "[]" : "[...]";
    case Kind::kMap:
      return AsMap().empty() ? "{}" : "{...}";
  }
  return {};
}

std::string_view Value::KindName(Kind kind) {
  switch (kind) {
    case Kind::kNull:
      return "null";
    case Kind::kBool:
      return "boolean";
    case Kind::kInteger:
      return "integer";
    case Kind::kDecimal:
      return "number";
    case Kind::kString:
      return "string";
    case Kind::kList:
      return "list";
    case Kind::kMap:
      return "map";
  }
  return {};
}

bool operator==(const Value& a, const Value& b) {
  if (a.kind() != b.kind()) {
    return false;
  }
  switch (a.kind()) {
    case Value::Kind::kNull:
      return true;
    case Value::Kind::kBool:
      return a.AsBool() == b.AsBool();
    case Value::Kind::kInteger:
      return a.AsInteger() == b.AsInteger();
    case Value::Kind::kDecimal:
      return a.AsDecimal() == b.AsDecimal();
    case Value::Kind::kString:
      return a.AsString() == b.AsString();
    case Value::Kind::kList:
      return a.AsList() == b.AsList();
    case Value::Kind::kMap:
      return SameMaps(a.AsMap(), b.AsMap());
  }
  return false;
}

}  // namespace caldera
