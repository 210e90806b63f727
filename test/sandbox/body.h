// The body of a request as an object, by its Content-Type. Pure.
#pragma once

#include <string>
#include <string_view>

#include "federation/document.h"
#include "test/sandbox/answer.h"

namespace caldera::sandbox {

/// JSON, or YAML or protobuf where the media type says so; an empty body is null. Refused: 400 for
/// what cannot be read, 415 for other media types.
Answer<Value> ParseBody(std::string_view content_type, const std::string& body);

/// The media type of a Content-Type or Accept entry, without its parameters.
std::string_view MediaType(std::string_view header);

}  // namespace caldera::sandbox
