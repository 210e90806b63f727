// Comma-separated values, RFC 4180.
#pragma once

#include <string>
#include <vector>

namespace caldera {

/// One line of cells, quoted where they must be, with its line end.
std::string CsvRow(const std::vector<std::string>& cells);

}  // namespace caldera
