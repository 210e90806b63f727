#include "storage/journal.h"

#include <utility>

#include "federation/codec.h"

namespace caldera {
namespace {

constexpr const char* kRowColumns =
    "SELECT cycle, time, first_intent, changes, plan, previous, digest FROM journal ";

JournalRow RowOf(const Statement& statement) {
  return {statement.Integer(0), Time(Millis(statement.Integer(1))),
          statement.Integer(2), statement.Text(3),
          statement.Text(4),    statement.Text(5),
          statement.Text(6)};
}

tl::unexpected<Error> Corrupt(int64_t cycle, const Error& error) {
  return Fail(ErrorCode::kCorrupt, "ledger cycle " + std::to_string(cycle) + ": " + error.message);
}

/// Applies the newest checkpoint at or before `cycle`; returns its cycle, 0 where there is none.
Result<int64_t> ApplyCheckpoint(Database& database, int64_t cycle, State& state) {
  CALDERA_TRY(Statement newest,
              database.Prepare("SELECT cycle, changes, digest FROM checkpoints WHERE cycle <= ?1 "
                               "ORDER BY cycle DESC LIMIT 1"));
  newest.Start(cycle);
  CALDERA_TRY(const bool found, newest.Step());
  if (!found) {
    return 0;
  }
  const int64_t at = newest.Integer(0);
  const std::string_view text = newest.TextView(1);
  if (Digest(text) != newest.TextView(2)) {
    return Fail(ErrorCode::kCorrupt,
                "the checkpoint of cycle " + std::to_string(at) + " does not match its digest");
  }
  for (const std::string_view line : SplitLines(text)) {
    auto change = DecodeChange(line);
    if (!change.has_value()) {
      return Corrupt(at, change.error().Within("checkpoint"));
    }
    state.Apply(*change);
  }
  return at;
}

}  // namespace

std::string JoinLines(const std::vector<std::string>& lines) {
  size_t size = 0;
  for (const std::string& line : lines) {
    size += line.size() + 1;
  }
  std::string text;
  text.reserve(size);
  for (const std::string& line : lines) {
    text += text.empty() ? "" : "\n";
    text += line;
  }
  return text;
}

std::vector<std::string_view> SplitLines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

Result<std::vector<Change>> DecodeChanges(std::string_view lines) {
  std::vector<Change> changes;
  for (const std::string_view line : SplitLines(lines)) {
    CALDERA_TRY(Change change, DecodeChange(line));
    changes.push_back(std::move(change));
  }
  return changes;
}

Result<JournalEnd> ReadJournalEnd(Database& database) {
  CALDERA_TRY(Statement last,
              database.Prepare("SELECT cycle, time, first_intent + action_count, digest "
                               "FROM journal ORDER BY cycle DESC LIMIT 1"));
  CALDERA_TRY(const bool found, last.Step());
  if (!found) {
    return JournalEnd{};
  }
  return JournalEnd{last.Integer(0), Time(Millis(last.Integer(1))), last.Integer(2), last.Text(3)};
}

Result<JournalRow> ReadJournalRow(Database& database, int64_t cycle) {
  CALDERA_TRY(Statement row, database.Prepare(std::string(kRowColumns) + "WHERE cycle = ?1"));
  row.Start(cycle);
  CALDERA_TRY(const bool found, row.Step());
  if (!found) {
    CALDERA_TRY(const int64_t first, database.QueryInteger("SELECT min(cycle) FROM journal"));
    CALDERA_TRY(const int64_t last, database.QueryInteger("SELECT max(cycle) FROM journal"));
    if (cycle >= 1 && cycle < first) {
      return Fail(ErrorCode::kNotFound, "cycle " + std::to_string(cycle) +
                                            " was pruned: the journal begins with cycle " +
                                            std::to_string(first));
    }
    return Fail(ErrorCode::kNotFound, "the ledger has no cycle " + std::to_string(cycle) +
                                          (last == 0 ? "; it is empty"
                                                     : "; it has cycles " + std::to_string(first) +
                                                           " to " + std::to_string(last)));
  }
  return RowOf(row);
}

Status ApplyChanges(State& state, const JournalRow& row) {
  for (const std::string_view line : SplitLines(row.changes)) {
    auto change = DecodeChange(line);
    if (!change.has_value()) {
      return Corrupt(row.cycle, change.error());
    }
    state.Apply(*change);
  }
  return {};
}

Status ApplyPlan(State& state, const JournalRow& row) {
  auto plan = DecodePlan(row.plan);
  if (!plan.has_value()) {
    return Corrupt(row.cycle, plan.error());
  }
  for (const Change& change : EffectOf(*plan, row.first_intent)) {
    state.Apply(change);
  }
  return {};
}

Result<State> ReadState(Database& database, int64_t cycle) {
  State state;
  CALDERA_TRY(int64_t at, ApplyCheckpoint(database, cycle, state));
  CALDERA_TRY(Statement rows, database.Prepare(std::string(kRowColumns) +
                                               "WHERE cycle > ?1 AND cycle <= ?2 ORDER BY cycle"));
  rows.Start(at, cycle);
  while (true) {
    CALDERA_TRY(const bool found, rows.Step());
    if (!found) {
      break;
    }
    const JournalRow row = RowOf(rows);
    if (row.cycle != at + 1) {
      break;
    }
    CALDERA_CHECK(ApplyChanges(state, row));
    CALDERA_CHECK(ApplyPlan(state, row));
    at = row.cycle;
  }
  if (at != cycle) {
    return Fail(ErrorCode::kNotFound, "the journal of cycle " + std::to_string(at + 1) +
                                          " is missing, without it there is no State after cycle " +
                                          std::to_string(cycle));
  }
  return state;
}

std::string CheckpointText(const State& state) {
  std::vector<std::string> lines;
  for (const Change& change : state.Export()) {
    lines.push_back(EncodeChange(change));
  }
  return JoinLines(lines);
}

}  // namespace caldera
