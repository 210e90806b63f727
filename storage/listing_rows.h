// From rows of SQL to a Listing: how queries*.cc read their columns. Private to storage/.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "storage/database.h"
#include "storage/json_text.h"
#include "storage/listing.h"

namespace caldera {

/// What a column of a statement holds.
enum class ColumnType { kText, kInteger, kTime, kAmounts, kTasks };

struct ColumnSpec {
  std::string name;
  ColumnType type = ColumnType::kText;
};

/// What is told of a row of `shards AS s`, in SQL and as a listing.
inline constexpr const char* kShardColumns =
    "s.cluster, s.epoch, s.child, s.min_available, s.tasks, s.requests, s.intent, s.placed, "
    "s.since, s.until";
const std::vector<ColumnSpec>& ShardColumns();

/// Reads all rows of a started statement; its columns are `specs` in order.
Result<Listing> ReadListing(Statement& statement, const std::vector<ColumnSpec>& specs);

}  // namespace caldera
