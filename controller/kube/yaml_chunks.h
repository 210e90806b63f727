// Splits a YAML stream into its documents at the lines `---` and `...`, which mean just that
// wherever they stand. One parser per piece finds documents that begin without a separator, and
// goes on behind a broken one. Used by the YAML reader. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace caldera {

struct YamlChunk {
  std::string_view text;    ///< From its separator (if it has one) to before the next.
  uint32_t first_line = 0;  ///< 0-based, in the stream.
  /// Offset of a line in it that starts with `%` where no directive may stand; npos for none.
  /// yaml-cpp would take it for one and drop it.
  size_t stray_directive = std::string_view::npos;
};

/// The pieces of `text` that hold more than blanks and comments, in order. Directives (`%YAML`)
/// stay with the document they precede.
std::vector<YamlChunk> SplitYaml(std::string_view text);

}  // namespace caldera
