#include "storage/audit.h"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <utility>

#include "federation/codec.h"
#include "storage/audit_tables.h"
#include "storage/balances.h"
#include "storage/job_fold.h"
#include "storage/json_text.h"

namespace caldera {
namespace {

using Findings = std::vector<std::string>;

std::string Cycle(int64_t cycle) { return "cycle " + std::to_string(cycle); }

/// SQLite's finding on one line.
std::string OnOneLine(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  return text;
}

Status CheckFile(Database& database, AuditReport& report) {
  Findings& findings = report.findings;
  CALDERA_TRY(Statement integrity, database.Prepare("PRAGMA integrity_check(20)"));
  while (true) {
    CALDERA_TRY(const bool row, integrity.Step());
    if (!row) {
      break;
    }
    if (integrity.TextView(0) != "ok") {
      findings.push_back("file: " + OnOneLine(integrity.Text(0)));
    }
  }
  CALDERA_TRY(Statement keys, database.Prepare("PRAGMA foreign_key_check"));
  while (true) {
    CALDERA_TRY(const bool row, keys.Step());
    if (!row) {
      return {};
    }
    findings.push_back("foreign key: row " + keys.Text(1) + " of " + keys.Text(0) +
                       " refers to a row of " + keys.Text(2) + " that is not there");
  }
}

Status CheckJournal(Database& database, AuditReport& report) {
  CALDERA_TRY(Statement rows,
              database.Prepare("SELECT cycle, previous, changes, plan, digest, first_intent, "
                               "action_count FROM journal ORDER BY cycle"));
  CALDERA_TRY(const int64_t pruned,
              database.QueryInteger("SELECT coalesce(max(cycle), 0) FROM checkpoints WHERE cycle < "
                                    "(SELECT min(cycle) FROM journal)"));
  int64_t next_intent = 0;
  int64_t last = 0;
  while (true) {
    CALDERA_TRY(const bool row, rows.Step());
    if (!row) {
      return {};
    }
    const int64_t cycle = rows.Integer(0);
    if (last == 0 && cycle != pruned + 1) {
      report.findings.push_back("journal: it begins with " + Cycle(cycle) +
                                ", and there is no checkpoint of the cycle before it");
    }
    if (last != 0 && cycle != last + 1) {
      report.findings.push_back("journal: " + Cycle(cycle) + " follows " + Cycle(last));
    }
    if (last != 0 && rows.TextView(1) != report.digest) {
      report.findings.push_back("journal: " + Cycle(cycle) +
                                " does not continue from the digest of the cycle before it");
    }
    if (CycleDigest(rows.TextView(1), SplitLines(rows.TextView(2)), rows.TextView(3)) !=
        rows.TextView(4)) {
      report.findings.push_back("journal: " + Cycle(cycle) +
                                " was changed after it was written: its digest does not match");
    }
    if (last != 0 && rows.Integer(5) != next_intent) {
      report.findings.push_back("journal: " + Cycle(cycle) + " begins with intent " +
                                std::to_string(rows.Integer(5)) + " instead of " +
                                std::to_string(next_intent));
    }
    next_intent = rows.Integer(5) + rows.Integer(6);
    last = cycle;
    report.digest = rows.Text(4);
    ++report.cycles;
  }
}

Status CheckCheckpoints(Database& database, AuditReport& report) {
  CALDERA_TRY(Statement rows, database.Prepare("SELECT cycle, changes, digest FROM checkpoints"));
  while (true) {
    CALDERA_TRY(const bool row, rows.Step());
    if (!row) {
      return {};
    }
    if (Digest(rows.TextView(1)) != rows.TextView(2)) {
      report.findings.push_back("checkpoint of " + Cycle(rows.Integer(0)) +
                                " does not match its digest");
    }
    ++report.checkpoints;
  }
}

std::string Name(const BalanceKey& key) {
  return "balance: queue " + key.queue + ", tenant " + key.tenant + ", cluster " + key.cluster;
}

Status CheckBalances(Database& database, AuditReport& report) {
  CALDERA_TRY(Balances::Map expected, Balances::Recompute(database));
  CALDERA_TRY(Statement rows,
              database.Prepare("SELECT queue, tenant, cluster, amounts FROM charges"));
  while (true) {
    CALDERA_TRY(const bool row, rows.Step());
    if (!row) {
      break;
    }
    const BalanceKey key{rows.Text(0), rows.Text(1), rows.Text(2)};
    const auto wanted = expected.find(key);
    const std::string sum =
        wanted == expected.end() ? "nothing, and has no row" : AmountsText(wanted->second);
    if (rows.TextView(3) != sum) {
      report.findings.push_back(Name(key) + " is " + rows.Text(3) + ", its shards sum to " + sum);
    }
    if (wanted != expected.end()) {
      expected.erase(wanted);
    }
    ++report.balances;
  }
  for (const auto& [key, amounts] : expected) {
    report.findings.push_back(Name(key) + " is missing, its shards sum to " + AmountsText(amounts));
  }
  return {};
}

/// What identifies an open shard, in words, and what it is charged for.
using Charges = std::map<std::string, std::string>;

Charges ChargesOf(const State& state) {
  Charges charges;
  for (const JobIndex index : state.JobsByKey()) {
    const JobEntry& job = state.job(index);
    if (!job.charge.has_value()) {
      continue;
    }
    for (const Shard& shard : job.charge->shards) {
      charges[std::string(JobKindText(state.spec(job).kind)) + "/" + job.key.ToString() + " on " +
              shard.cluster + " epoch " + std::to_string(shard.epoch) + " " + shard.child] =
          state.queue(job.queue).name + " " + AmountsText(shard.requests) + " for " +
          TasksText(shard.tasks) + " of at least " + std::to_string(shard.min_available);
    }
  }
  return charges;
}

Status CheckShards(Database& database, AuditReport& report) {
  CALDERA_TRY(const JournalEnd end, ReadJournalEnd(database));
  auto state = ReadState(database, end.cycle);
  if (!state.has_value()) {
    report.findings.push_back("state: " + state.error().message);
    return {};
  }
  CALDERA_CHECK(CheckObjects(database, *state, report.findings));
  Charges expected = ChargesOf(*state);
  CALDERA_TRY(
      Statement rows,
      database.Prepare("SELECT j.kind || '/' || j.namespace || '/' || j.name || ' on ' || "
                       "s.cluster || ' epoch ' || s.epoch || ' ' || s.child, "
                       "s.queue || ' ' || s.requests || ' for ' || s.tasks || ' of at least ' "
                       "|| s.min_available FROM shards AS s "
                       "JOIN jobs AS j ON j.id = s.job WHERE s.until IS NULL"));
  while (true) {
    CALDERA_TRY(const bool row, rows.Step());
    if (!row) {
      break;
    }
    const auto wanted = expected.find(rows.Text(0));
    if (wanted == expected.end()) {
      report.findings.push_back("shard: " + rows.Text(0) + " is charged, but not by the journal");
    } else {
      if (wanted->second != rows.TextView(1)) {
        report.findings.push_back("shard: " + rows.Text(0) + " is charged " + rows.Text(1) +
                                  ", by the journal " + wanted->second);
      }
      expected.erase(wanted);
    }
    ++report.open_shards;
  }
  for (const auto& [name, charge] : expected) {
    report.findings.push_back(std::string("shard: ")
                                  .append(name)
                                  .append(" is missing, by the journal it is charged ")
                                  .append(charge));
  }
  return {};
}

}  // namespace

Result<AuditReport> Audit(const LedgerReader& reader) {
  Database& database = reader.database();
  CALDERA_TRY(const ReadTransaction view, ReadTransaction::Begin(database));
  AuditReport report;
  using Check = Status (*)(Database&, AuditReport&);
  constexpr std::array<std::pair<const char*, Check>, 6> kChecks = {
      {{"file", CheckFile},
       {"journal", CheckJournal},
       {"checkpoints", CheckCheckpoints},
       {"balances", CheckBalances},
       {"shards", CheckShards},
       {"decisions",
        [](Database& file, AuditReport& to) { return CheckDecisions(file, to.findings); }}}};
  for (const auto& [name, check] : kChecks) {
    const Status checked = check(database, report);
    if (checked.has_value()) {
      continue;
    }
    // A damaged file is an answer of this check; what else is wrong can still be found.
    if (checked.error().code != ErrorCode::kCorrupt) {
      return tl::unexpected<Error>(checked.error());
    }
    report.findings.push_back(std::string(name) + ": cannot be read: " + checked.error().message);
  }
  return report;
}

}  // namespace caldera
