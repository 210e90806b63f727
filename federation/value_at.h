// What stands at a path of map keys, for readers that take what is missing or of another kind for
// empty. Intake does not: it says what is wrong. Pure.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "federation/document.h"

namespace caldera {

/// Empty unless a string is there; lives as long as `value`.
const std::string& TextAt(const Value& value, std::initializer_list<std::string_view> path);
/// `fallback` unless a whole number is there.
int64_t NumberAt(const Value& value, std::initializer_list<std::string_view> path,
                 int64_t fallback = 0);
/// False unless `true` is there.
bool FlagAt(const Value& value, std::initializer_list<std::string_view> path);
/// Empty unless a list is there; lives as long as `value`.
const Value::List& ListAt(const Value& value, std::initializer_list<std::string_view> path);

}  // namespace caldera
