// Internal to the writers: the scalars that JSON and YAML write alike.
#pragma once

#include <string>

#include "federation/document.h"

namespace caldera {

/// Appends null, a boolean or a number; false, and nothing appended, for the other kinds.
inline bool AppendPlainScalar(std::string& out, const Value& value) {
  switch (value.kind()) {
    case Value::Kind::kNull:
      out += "null";
      return true;
    case Value::Kind::kBool:
      out += value.AsBool() ? "true" : "false";
      return true;
    case Value::Kind::kInteger:
      out += std::to_string(value.AsInteger());
      return true;
    case Value::Kind::kDecimal:
      out += value.AsDecimal();
      return true;
    case Value::Kind::kString:
    case Value::Kind::kList:
    case Value::Kind::kMap:
      break;
  }
  return false;
}

}  // namespace caldera
