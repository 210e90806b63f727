// The two encodings of a URL that the client needs. Source: RFC 3986, sections 2.1 and 3.4.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace caldera {

/// Everything but the unreserved characters as %XX.
std::string PercentEncode(std::string_view text);
/// `a=b&c=d`, both sides encoded; empty for an empty query.
std::string EncodeQuery(const std::vector<std::pair<std::string, std::string>>& query);

}  // namespace caldera
