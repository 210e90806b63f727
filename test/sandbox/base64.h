// Base64 of Secrets' data and of continue tokens. Source: RFC 4648, section 4. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace caldera::sandbox {

std::string EncodeBase64(std::string_view bytes);
/// nullopt where the text is no base64.
std::optional<std::string> DecodeBase64(std::string_view text);

}  // namespace caldera::sandbox
