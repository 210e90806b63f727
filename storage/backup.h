// A copy of a ledger while it is in use: one consistent snapshot, compacted, complete or not there.
#pragma once

#include <string>

#include "federation/result.h"
#include "storage/reader.h"

namespace caldera {

/// Writes the copy beside `target` under a temporary name, syncs it to the disk and renames it. An
/// existing `target` is kept unless `overwrite`. Errors: kConflict (it exists), kInvalid (the
/// ledger itself or a file of it, no regular file, no such directory), kUnavailable (disk full).
Status Backup(const LedgerReader& reader, const std::string& target, bool overwrite);

}  // namespace caldera
