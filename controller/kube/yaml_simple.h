// The part of YAML that nearly every manifest keeps to, read at a hundred times the speed of
// yaml-cpp: block maps and lists, scalars of one line, `|` literals, lists of scalars in brackets,
// comments. Whatever is not surely of that part, and whatever is wrong, is left to the whole
// reader, which then also explains it. Used by the YAML reader; the fuzz target `yaml` compares the
// two.
#pragma once

#include <optional>

#include "controller/kube/yaml_chunks.h"
#include "federation/document.h"

namespace caldera {

/// The document in `chunk`, with the marks that the whole reader gives; nullopt: not read.
/// `chunk.text` has passed FindTextFault.
std::optional<Value> ReadSimpleYaml(const YamlChunk& chunk);

}  // namespace caldera
