// YAML to documents, for manifests as kubectl takes them. Plain scalars follow yaml_scalar.h;
// several documents are separated by lines of `---`; aliases and merge keys are expanded within the
// bounds of reading.h. Marks count lines from 1 and columns in bytes from 1. Any thread.
#pragma once

#include <string>
#include <string_view>

#include "controller/kube/reading.h"

namespace caldera {

/// Reads every document in `text` and hands it to `visit` as soon as it is complete. What is wrong
/// goes to `report` with line, column, field and what would be right; reading goes on behind a
/// document that is wrong. `text` must outlive the call only.
void ReadYaml(std::string_view text, const std::string& file, const DocumentVisitor& visit,
              ReadReport& report);

/// The same by yaml-cpp alone, without the short way of yaml_simple.h: what tests compare with.
void ReadYamlWhole(std::string_view text, const std::string& file, const DocumentVisitor& visit,
                   ReadReport& report);

}  // namespace caldera
