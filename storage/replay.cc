#include "storage/replay.h"

#include <algorithm>

#include "federation/codec.h"
#include "federation/planner.h"

namespace caldera {
namespace {

std::string Describe(const Action& action) {
  std::string text(ActionName(action.action));
  text += " " + action.job.ToString() + " in queue " + action.queue + " on ";
  text += action.shards.empty() ? "no cluster" : EncodePlacement(action.shards);
  return text + " (" + action.reason + ")";
}

std::string FirstDifference(const Plan& recorded, const Plan& replayed) {
  const size_t count = std::max(recorded.actions.size(), replayed.actions.size());
  for (size_t i = 0; i < count; ++i) {
    const std::string was =
        i < recorded.actions.size() ? Describe(recorded.actions[i]) : "no such action";
    const std::string is =
        i < replayed.actions.size() ? Describe(replayed.actions[i]) : "no such action";
    if (was != is) {
      return ("action " + std::to_string(i + 1))
          .append(": recorded ")
          .append(was)
          .append("; replayed ")
          .append(is);
    }
  }
  if (recorded.now != replayed.now) {
    return "the plan's time: recorded " + FormatTime(recorded.now) + "; replayed " +
           FormatTime(replayed.now);
  }
  return EncodePlan(recorded) == EncodePlan(replayed)
             ? "the plans are the same, but the recorded digest is not that of what is recorded"
             : "the plans differ in a field that does not change what is done";
}

}  // namespace

Result<ReplayReport> Replay(const LedgerReader& reader, int64_t cycle) {
  Database& database = reader.database();
  CALDERA_TRY(const ReadTransaction view, ReadTransaction::Begin(database));
  CALDERA_TRY(const JournalRow row, ReadJournalRow(database, cycle));
  CALDERA_TRY(State state, ReadState(database, cycle - 1));
  CALDERA_CHECK(ApplyChanges(state, row));
  CALDERA_TRY(const Plan recorded, DecodePlan(row.plan));
  const Plan replayed = MakePlan(state);
  const std::vector<std::string_view> changes = SplitLines(row.changes);

  ReplayReport report;
  report.cycle = cycle;
  report.time = row.time;
  report.changes = static_cast<int64_t>(changes.size());
  report.actions = static_cast<int64_t>(recorded.actions.size());
  report.recorded = row.digest;
  report.replayed = CycleDigest(row.previous, changes, EncodePlan(replayed));
  if (!report.Same()) {
    report.difference = FirstDifference(recorded, replayed);
  }
  return report;
}

}  // namespace caldera
