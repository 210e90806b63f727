// What a YAML scalar without quotes means, and which strings need quotes so that nobody reads them
// as something else. Reading follows the core schema of YAML 1.2 (yaml.org/spec/1.2.2, 10.3.2).
// kubectl reads YAML 1.1 as go-yaml v2 does: where the two differ there is a warning; a leading 0
// is octal as kubectl has it, because `defaultMode: 0644` is in many manifests and must not change
// its meaning. Used by the YAML reader and writer. Pure.
#pragma once

#include <string>
#include <string_view>

#include "federation/document.h"

namespace caldera {

/// A scalar with its meaning; at most one of the texts is set.
struct Scalar {
  Value value;
  std::string warning;  ///< Other readers take it otherwise: what to write instead.
  std::string error;    ///< It has no value that JSON can carry.
};

/// A scalar without quotes and without a tag.
Scalar ResolvePlain(std::string_view text);

/// A scalar with one of the tags !!str !!int !!float !!bool !!null (`tag` in its long form,
/// `tag:yaml.org,2002:int`). Any other tag is an error.
Scalar ResolveTagged(std::string_view tag, std::string_view text);

/// True where `text` must be quoted to stay a string in YAML 1.1 and 1.2, in block context.
bool NeedsQuotes(std::string_view text);

}  // namespace caldera
