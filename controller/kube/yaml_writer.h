// A Value as YAML text that kubectl and our reader read back as the same Value: block style,
// indented by two, lists flush with their key as kubectl prints them, keys in their order. A string
// that any version of YAML would take for something else is quoted; a string of several lines is a
// block literal where that is exact. Used by `-o yaml` and `--render`. Pure.
#pragma once

#include <string>

#include "federation/document.h"

namespace caldera {

/// One document without a `---` line, a line feed at the end.
std::string WriteYaml(const Value& value);

}  // namespace caldera
