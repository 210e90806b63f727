// Text from outside, made fit for a message: short, on one line, valid UTF-8. Names of 1 MiB and
// control characters must not reach a terminal or a log.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace caldera {

inline constexpr size_t kExcerptLimit = 64;

/// Bytes of the UTF-8 character at the start of `text` (RFC 3629), 0 where there is none.
size_t Utf8Length(std::string_view text);

/// For a sentence: `an integer`, `a map`, `null`.
std::string WithArticle(std::string_view kind);

/// `text` with control characters and invalid UTF-8 as `\xNN`; where it is longer than `limit`
/// characters, its start and `...`, together `limit` characters.
std::string Excerpt(std::string_view text, size_t limit = kExcerptLimit);

}  // namespace caldera
