#include "storage/audit_tables.h"

#include <array>
#include <set>
#include <string_view>
#include <utility>

#include "federation/codec.h"
#include "storage/balances.h"
#include "storage/job_fold.h"
#include "storage/journal.h"
#include "storage/object_fold.h"
#include "storage/schema.h"

namespace caldera {
namespace {

using Findings = std::vector<std::string>;

/// An empty ledger in memory with `state` folded into it.
Result<Database> Folded(const State& state) {
  CALDERA_TRY(Database database, Database::Open(":memory:", Database::Mode::kCreate, Millis(0)));
  CALDERA_CHECK(Migrate(database, Migrations()));
  CALDERA_TRY(ObjectFold objects, ObjectFold::Open(database));
  CALDERA_TRY(Balances balances, Balances::Open(database));
  CALDERA_TRY(JobFold jobs, JobFold::Open(database));
  CALDERA_TRY(Transaction transaction, Transaction::Begin(database));
  const std::vector<Change> changes = state.Export();
  for (const Change& change : changes) {
    CALDERA_CHECK(objects.Apply(change, state.now()));
  }
  CALDERA_CHECK(jobs.Apply({1, 1, state}, changes, Plan{}, balances));
  CALDERA_CHECK(transaction.Commit());
  return database;
}

/// What of a table, or of the schema itself, follows from State: one text a row.
struct Folding {
  const char* table;
  const char* rows;
};
constexpr std::array<Folding, 5> kFoldings = {{
    {"schema", "SELECT json_array(type, name, tbl_name, sql) FROM sqlite_schema"},
    {"queues",
     "SELECT json_array(name, uid, parent, weight, priority, state, reclaimable, "
     "dequeue_strategy, capability, guarantee, deserved, created) FROM queues WHERE gone IS NULL"},
    {"tenants", "SELECT json_array(tenant, quota, weight) FROM tenants"},
    {"tenant_limits",
     "SELECT json_array(tenant, quota, cluster, resource, amount) FROM tenant_limits"},
    {"jobs",
     "SELECT json_array(namespace, name, kind, uid, queue, priority_class, min_available, "
     "checkpoint, state, created) FROM jobs WHERE gone IS NULL"},
}};

Result<std::set<std::string>> RowsOf(Database& database, const char* sql) {
  CALDERA_TRY(Statement statement, database.Prepare(sql));
  std::set<std::string> rows;
  while (true) {
    CALDERA_TRY(const bool row, statement.Step());
    if (!row) {
      return rows;
    }
    rows.insert(statement.Text(0));
  }
}

void Compare(const std::string& table, const std::set<std::string>& is,
             const std::set<std::string>& by_journal, Findings& findings) {
  for (const std::string& row : is) {
    if (!by_journal.contains(row)) {
      findings.push_back(
          std::string(table).append(": the row ").append(row).append(" is not by the journal"));
    }
  }
  for (const std::string& row : by_journal) {
    if (!is.contains(row)) {
      findings.push_back(std::string(table)
                             .append(": by the journal there is a row ")
                             .append(row)
                             .append(", which is missing"));
    }
  }
}

/// The intents of one cycle's plan, as their rows should be, ordered by number.
Status CheckIntents(Statement& rows, int64_t first, std::string_view plan_text,
                    Findings& findings) {
  const auto plan = DecodePlan(plan_text);
  if (!plan.has_value()) {
    return {};  // Its digest is a finding already.
  }
  for (size_t i = 0; i < plan->actions.size(); ++i) {
    const Action& action = plan->actions[i];
    const int64_t number = first + static_cast<int64_t>(i);
    rows.Start(number);
    CALDERA_TRY(const bool found, rows.Step());
    // A prune takes closed ones sooner than their cycle.
    if (found &&
        (rows.TextView(0) != action.uid || rows.TextView(1) != action.queue ||
         rows.TextView(2) != ActionName(action.action) ||
         rows.TextView(3) != EncodePlacement(action.shards) || rows.TextView(4) != action.reason ||
         rows.TextView(5) != action.job.name || rows.TextView(6) != action.job.ns)) {
      findings.push_back("intents: decision " + std::to_string(number) +
                         " is not what the journal says");
    }
    rows.Reset();
  }
  return {};
}

}  // namespace

Status CheckObjects(Database& database, const State& state, Findings& findings) {
  CALDERA_TRY(Database expected, Folded(state));
  for (const Folding& folding : kFoldings) {
    CALDERA_TRY(const auto is, RowsOf(database, folding.rows));
    CALDERA_TRY(const auto by_journal, RowsOf(expected, folding.rows));
    Compare(folding.table, is, by_journal, findings);
  }
  return {};
}

Status CheckDecisions(Database& database, Findings& findings) {
  CALDERA_TRY(Statement intents,
              database.Prepare("SELECT i.uid, i.queue, i.action, i.shards, i.reason, j.name, "
                               "j.namespace FROM intents AS i JOIN jobs AS j ON j.id = i.job "
                               "WHERE i.number = ?1"));
  CALDERA_TRY(Statement plans, database.Prepare("SELECT first_intent, plan FROM journal "
                                                "WHERE action_count > 0 ORDER BY cycle"));
  while (true) {
    CALDERA_TRY(const bool row, plans.Step());
    if (!row) {
      break;
    }
    CALDERA_CHECK(CheckIntents(intents, plans.Integer(0), plans.TextView(1), findings));
  }
  CALDERA_TRY(Statement answers,
              database.Prepare("SELECT id, digest, clusters FROM cluster_verdicts"));
  while (true) {
    CALDERA_TRY(const bool row, answers.Step());
    if (!row) {
      return {};
    }
    if (Digest(answers.TextView(2)) != answers.TextView(1)) {
      findings.push_back("cluster_verdicts: row " + answers.Text(0) + " does not match its digest");
    }
  }
}

}  // namespace caldera
