// A Value as JSON text. Keys keep their order, numbers their exact text. Used by `-o json`, the
// Kubernetes client and tests. Pure.
#pragma once

#include <string>

#include "federation/document.h"

namespace caldera {

/// One line without blanks.
std::string WriteJson(const Value& value);
/// Indented by two, a line feed at the end. Empty maps and lists stay on one line.
std::string WritePrettyJson(const Value& value);

}  // namespace caldera
