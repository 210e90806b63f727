#include "federation/value_at.h"

namespace caldera {

const std::string& TextAt(const Value& value, std::initializer_list<std::string_view> path) {
  static const std::string kEmpty;
  const Value* const text = value.At(path);
  return text != nullptr && text->IsString() ? text->AsString() : kEmpty;
}

int64_t NumberAt(const Value& value, std::initializer_list<std::string_view> path,
                 int64_t fallback) {
  const Value* const number = value.At(path);
  return number != nullptr && number->IsInteger() ? number->AsInteger() : fallback;
}

bool FlagAt(const Value& value, std::initializer_list<std::string_view> path) {
  const Value* const flag = value.At(path);
  return flag != nullptr && flag->IsBool() && flag->AsBool();
}

const Value::List& ListAt(const Value& value, std::initializer_list<std::string_view> path) {
  static const Value::List kNone;
  const Value* const list = value.At(path);
  return list != nullptr && list->IsList() ? list->AsList() : kNone;
}

}  // namespace caldera
