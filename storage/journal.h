// The journal's rows as values, and the State that they fold to. Used by the writer, by readers and
// by replay alike.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "federation/change.h"
#include "federation/plan.h"
#include "federation/state.h"
#include "storage/database.h"

namespace caldera {

/// One row of `journal`.
struct JournalRow {
  int64_t cycle = 0;
  Time time;
  int64_t first_intent = 1;
  std::string changes;
  std::string plan;
  std::string previous;
  std::string digest;
};

/// Where the journal ends; all 0 and empty for an empty one.
struct JournalEnd {
  int64_t cycle = 0;
  Time time;
  int64_t next_intent = 1;
  std::string digest;
};

/// Canonical texts of Changes, one a line.
std::string JoinLines(const std::vector<std::string>& lines);
std::vector<std::string_view> SplitLines(std::string_view text);
/// Error: kCorrupt.
Result<std::vector<Change>> DecodeChanges(std::string_view lines);

Result<JournalEnd> ReadJournalEnd(Database& database);
/// Error: kNotFound, saying which cycles there are.
Result<JournalRow> ReadJournalRow(Database& database, int64_t cycle);

/// Applies what a cycle saw and decided. Error: kCorrupt.
Status ApplyChanges(State& state, const JournalRow& row);
Status ApplyPlan(State& state, const JournalRow& row);

/// The State after `cycle`: the newest checkpoint at or before it, then the later rows. `cycle` 0
/// is the empty State. Errors: kNotFound (pruned away), kCorrupt.
Result<State> ReadState(Database& database, int64_t cycle);

/// The State's canonical text, as `checkpoints` keeps it.
std::string CheckpointText(const State& state);

}  // namespace caldera
