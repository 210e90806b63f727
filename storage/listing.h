// An answer of the ledger: named columns and rows of typed values, which the command line prints as
// a table, JSON or CSV. Column names are a stable contract; columns are only ever added.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "federation/model.h"
#include "federation/resources.h"
#include "federation/time.h"
#include "federation/verdict.h"

namespace caldera {

/// monostate: there is no value.
using Datum = std::variant<std::monostate, int64_t, bool, std::string, Time, ResourceList,
                           std::vector<TaskGrant>, std::vector<Figure>>;

struct Listing {
  std::vector<std::string> columns;
  std::vector<std::vector<Datum>> rows;
};

}  // namespace caldera
