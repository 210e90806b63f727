// The encodings of a URL. Source: RFC 3986, sections 2.1 and 3.4.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace caldera {

/// Everything but the unreserved characters as %XX.
std::string PercentEncode(std::string_view text);
/// The bytes that `text` stands for; nothing where a %XX is none. `+` stays what it is.
std::optional<std::string> PercentDecode(std::string_view text);
/// `a=b&c=d`, both sides encoded; empty for an empty query.
std::string EncodeQuery(const std::vector<std::pair<std::string, std::string>>& query);

}  // namespace caldera
