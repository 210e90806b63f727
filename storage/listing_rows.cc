#include "storage/listing_rows.h"

namespace caldera {
namespace {

Result<Datum> ReadDatum(const Statement& statement, int column, ColumnType type) {
  if (statement.IsNull(column)) {
    return Datum();
  }
  switch (type) {
    case ColumnType::kInteger:
      return Datum(statement.Integer(column));
    case ColumnType::kTime:
      return Datum(Time(Millis(statement.Integer(column))));
    case ColumnType::kAmounts: {
      CALDERA_TRY(ResourceList amounts, ParseAmounts(statement.TextView(column)));
      return Datum(std::move(amounts));
    }
    case ColumnType::kTasks: {
      CALDERA_TRY(std::vector<TaskGrant> tasks, ParseTasks(statement.TextView(column)));
      return Datum(std::move(tasks));
    }
    case ColumnType::kText:
      break;
  }
  return Datum(statement.Text(column));
}

}  // namespace

const std::vector<ColumnSpec>& ShardColumns() {
  static const std::vector<ColumnSpec> kColumns = {{"cluster"},
                                                   {"epoch", ColumnType::kInteger},
                                                   {"child"},
                                                   {"minAvailable", ColumnType::kInteger},
                                                   {"tasks", ColumnType::kTasks},
                                                   {"requests", ColumnType::kAmounts},
                                                   {"intent", ColumnType::kInteger},
                                                   {"placed", ColumnType::kTime},
                                                   {"since", ColumnType::kTime},
                                                   {"until", ColumnType::kTime}};
  return kColumns;
}

Result<Listing> ReadListing(Statement& statement, const std::vector<ColumnSpec>& specs) {
  Listing listing;
  for (const ColumnSpec& spec : specs) {
    listing.columns.push_back(spec.name);
  }
  while (true) {
    CALDERA_TRY(const bool found, statement.Step());
    if (!found) {
      return listing;
    }
    std::vector<Datum> row;
    row.reserve(specs.size());
    for (const ColumnSpec& spec : specs) {
      CALDERA_TRY(Datum datum, ReadDatum(statement, static_cast<int>(row.size()), spec.type));
      row.push_back(std::move(datum));
    }
    listing.rows.push_back(std::move(row));
  }
}

}  // namespace caldera
