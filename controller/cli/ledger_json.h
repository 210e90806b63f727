// Listings and what is in them as JSON texts.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "storage/listing.h"

namespace caldera {

/// `text` quoted for JSON; bytes that are no UTF-8 become U+FFFD.
std::string JsonString(std::string_view text);
std::string JsonOf(const Datum& datum);
std::string JsonOf(const std::vector<Figure>& figures);
/// `"queue":"gold","weight":3`: the row's columns, without braces.
std::string JsonMembers(const Listing& listing, size_t row);
/// `[{...},{...}]`, one row a line behind `indent`.
std::string JsonRows(const Listing& listing, const std::string& indent);

}  // namespace caldera
