// The text of an input before any parser sees it: valid UTF-8, no bytes that YAML or JSON cannot
// carry; and where an offset stands. Used by the readers. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "federation/document.h"

namespace caldera {

struct TextFault {
  size_t offset = 0;
  std::string value;  ///< The offending bytes, as `0xff`.
  std::string message;
};

/// The first byte that is not valid UTF-8 (RFC 3629), or a control character other than tab and
/// line ends; a carriage return must come before a line feed. `text` comes WithoutBom(): another
/// byte order mark at the start of a line is a fault too.
std::optional<TextFault> FindTextFault(std::string_view text);

/// True for valid UTF-8, whatever the characters.
bool IsUtf8(std::string_view text);

/// Line and column (1-based, in bytes) of an offset.
Mark MarkOf(std::string_view text, size_t offset);

/// The line in which `offset` stands, without leading and trailing blanks, as an Excerpt.
std::string LineAt(std::string_view text, size_t offset);

/// `text` without a UTF-8 byte order mark at its start.
std::string_view WithoutBom(std::string_view text);

}  // namespace caldera
