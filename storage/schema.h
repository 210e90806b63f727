// The tables of a ledger file and how an older file gets them: migrations, forward only, each in
// one transaction with its `user_version`. A file of a newer version is refused, never changed.
// What each table holds is said in schema.cc beside its SQL.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "federation/result.h"
#include "storage/database.h"

namespace caldera {

/// `CALD`: PRAGMA application_id of every ledger, so that no other SQLite file is taken for one.
inline constexpr int64_t kApplicationId = 0x43414C44;

/// A row of `usage_hours` is about so long, in ms.
inline constexpr int64_t kUsageHour = 3'600'000;

/// Step n brings a file from user_version n to n + 1.
struct Migration {
  std::string sql;
};
const std::vector<Migration>& Migrations();
/// The version that this program writes.
int64_t SchemaVersion();

/// Refuses what is no ledger before anything is written to it: another application's database
/// (kInvalid), no SQLite file at all (kInvalid), a newer schema (kInvalid). An empty file is a
/// ledger of version 0. Returns the version.
Result<int64_t> IdentifyLedger(Database& database, int64_t newest);

/// Runs the steps that are missing. On an error the file stays at the last whole step.
Status Migrate(Database& database, const std::vector<Migration>& migrations);

}  // namespace caldera
