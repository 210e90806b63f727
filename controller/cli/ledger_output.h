// Prints the ledger's answers: a table for people, JSON (an array of objects, one a row, keys are
// the columns) and CSV (RFC 4180, with a heading) for programs. Times are RFC 3339 in UTC, amounts
// canonical quantities; what has no value is null in JSON, empty in CSV, `-` in a table.
#pragma once

#include <string>

#include "controller/cli/terminal.h"
#include "storage/queries.h"

namespace caldera {

enum class LedgerFormat { kTable, kJson, kCsv };

std::string PrintListing(const Listing& listing, LedgerFormat format, const Terminal& terminal);

/// A table has the job and below it shards, intents and verdicts; JSON is one object with these
/// keys beside the job's columns; CSV is the job's row alone.
std::string PrintJob(const JobAnswer& answer, LedgerFormat format, const Terminal& terminal);

/// A table is a text; JSON is one object; CSV is the job's row with its reason.
std::string PrintExplanation(const Explanation& answer, LedgerFormat format,
                             const Terminal& terminal);

}  // namespace caldera
