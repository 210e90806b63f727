#include "storage/schema.h"

namespace caldera {
namespace {

// Times are milliseconds since 1970; `until`, `closed`, `gone` are NULL while it lasts. Amounts are
// in the resource's unit (cpu in thousandths, all else in base units). Lists are JSON.
constexpr const char* kVersion1 = R"sql(
-- What happened, append-only: one row a cycle. `changes` is one canonical Change a line, `digest`
-- the hash over previous, changes and plan. The plan's intents are numbered from first_intent on.
CREATE TABLE journal (
  cycle         INTEGER PRIMARY KEY,
  time          INTEGER NOT NULL,
  first_intent  INTEGER NOT NULL,
  change_count  INTEGER NOT NULL,
  action_count  INTEGER NOT NULL,
  changes       TEXT NOT NULL,
  plan          TEXT NOT NULL,
  previous      TEXT NOT NULL,
  digest        TEXT NOT NULL
) STRICT;
CREATE INDEX journal_time ON journal(time);

-- The State after `cycle`, as the Changes that rebuild it, one a line.
CREATE TABLE checkpoints (
  cycle    INTEGER PRIMARY KEY,
  time     INTEGER NOT NULL,
  changes  TEXT NOT NULL,
  digest   TEXT NOT NULL
) STRICT;

CREATE TABLE queues (
  name              TEXT PRIMARY KEY,
  uid               TEXT NOT NULL,
  parent            TEXT NOT NULL,
  weight            INTEGER NOT NULL,
  priority          INTEGER NOT NULL,
  state             TEXT NOT NULL,
  reclaimable       INTEGER NOT NULL,
  dequeue_strategy  TEXT NOT NULL,
  capability        TEXT NOT NULL,
  guarantee         TEXT NOT NULL,
  deserved          TEXT NOT NULL,
  created           INTEGER NOT NULL,
  updated           INTEGER NOT NULL,
  gone              INTEGER
) STRICT;

-- A tenant (a namespace) may have several quotas; of several the smallest binds.
CREATE TABLE tenants (
  tenant   TEXT NOT NULL,
  quota    TEXT NOT NULL,
  weight   INTEGER NOT NULL,
  updated  INTEGER NOT NULL,
  PRIMARY KEY (tenant, quota)
) STRICT, WITHOUT ROWID;
-- cluster is '' for the tenant's overall quota.
CREATE TABLE tenant_limits (
  tenant    TEXT NOT NULL,
  quota     TEXT NOT NULL,
  cluster   TEXT NOT NULL,
  resource  TEXT NOT NULL,
  amount    INTEGER NOT NULL,
  PRIMARY KEY (tenant, quota, cluster, resource),
  FOREIGN KEY (tenant, quota) REFERENCES tenants(tenant, quota) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

-- What the clusters answered to pending jobs; jobs with the same answer share a row.
CREATE TABLE cluster_verdicts (
  id        INTEGER PRIMARY KEY,
  digest    TEXT NOT NULL UNIQUE,
  clusters  TEXT NOT NULL
) STRICT;

-- verdict, message, figures and clusters say why a pending job waits, `since` since when it is in
-- this state with this verdict. gone: the object was deleted.
CREATE TABLE jobs (
  id              INTEGER PRIMARY KEY,
  namespace       TEXT NOT NULL,
  name            TEXT NOT NULL,
  uid             TEXT NOT NULL,
  kind            TEXT NOT NULL,
  queue           TEXT NOT NULL,
  priority_class  TEXT NOT NULL,
  priority        INTEGER NOT NULL,
  min_available   INTEGER NOT NULL,
  checkpoint      TEXT NOT NULL,
  state           TEXT NOT NULL CHECK (state IN ('pending', 'running', 'finished', 'released')),
  verdict         TEXT NOT NULL,
  message         TEXT NOT NULL,
  figures         TEXT NOT NULL,
  clusters        INTEGER REFERENCES cluster_verdicts(id),
  since           INTEGER NOT NULL,
  created         INTEGER NOT NULL,
  seen            INTEGER NOT NULL,
  placed          INTEGER,
  finished        INTEGER,
  gone            INTEGER
) STRICT;
CREATE UNIQUE INDEX jobs_name ON jobs(name, namespace, kind, uid);
CREATE INDEX jobs_clusters ON jobs(clusters) WHERE clusters IS NOT NULL;

-- The verdicts that a job had before the one it has.
CREATE TABLE verdicts (
  job      INTEGER NOT NULL REFERENCES jobs(id) ON DELETE CASCADE,
  since    INTEGER NOT NULL,
  until    INTEGER NOT NULL,
  verdict  TEXT NOT NULL,
  message  TEXT NOT NULL
) STRICT;
CREATE INDEX verdicts_job ON verdicts(job, since);

-- What was decided and why, recorded before it is done. outcome: open (decided), observed (the
-- object says so), released (what was granted is given back), superseded (a later intent for the
-- job took its place).
CREATE TABLE intents (
  number   INTEGER PRIMARY KEY,
  cycle    INTEGER NOT NULL,
  at       INTEGER NOT NULL,
  job      INTEGER NOT NULL REFERENCES jobs(id),
  uid      TEXT NOT NULL,
  queue    TEXT NOT NULL,
  action   TEXT NOT NULL,
  shards   TEXT NOT NULL,
  reason   TEXT NOT NULL,
  outcome  TEXT NOT NULL CHECK (outcome IN ('open', 'observed', 'released', 'superseded')),
  closed   INTEGER
) STRICT;
CREATE INDEX intents_job ON intents(job);

-- One row for each span in which a (job, cluster) was charged for the same grant to the same queue.
-- placed is when the job came to that cluster, since and until bound this row's charge.
CREATE TABLE shards (
  id             INTEGER PRIMARY KEY,
  job            INTEGER NOT NULL REFERENCES jobs(id),
  intent         INTEGER REFERENCES intents(number),
  queue          TEXT NOT NULL,
  tenant         TEXT NOT NULL,
  cluster        TEXT NOT NULL,
  epoch          INTEGER NOT NULL,
  child          TEXT NOT NULL,
  tasks          TEXT NOT NULL,
  min_available  INTEGER NOT NULL,
  requests       TEXT NOT NULL,
  checkpoint     TEXT NOT NULL,
  placed         INTEGER NOT NULL,
  since          INTEGER NOT NULL,
  until          INTEGER
) STRICT;
CREATE INDEX shards_job ON shards(job);
CREATE INDEX shards_until ON shards(until);

-- Usage over time, exactly: amount x (until - since), summed, is what was used.
CREATE VIEW usage AS
  SELECT s.queue, s.tenant, s.cluster, r.key AS resource, r.value AS amount, s.since, s.until, s.job
  FROM shards AS s, json_each(s.requests) AS r;

-- What usage is folded to when its shards are pruned: in the hour that starts at `hour`, average x
-- 3600000 + rest amount-milliseconds were used (two numbers, since the product may pass 64 bits).
CREATE TABLE usage_hours (
  hour      INTEGER NOT NULL,
  queue     TEXT NOT NULL,
  tenant    TEXT NOT NULL,
  cluster   TEXT NOT NULL,
  resource  TEXT NOT NULL,
  average   INTEGER NOT NULL,
  rest      INTEGER NOT NULL,
  PRIMARY KEY (hour, queue, tenant, cluster, resource)
) STRICT, WITHOUT ROWID;

-- What is charged now, kept beside the shards that it is the sum of; `amounts` is saturated to 64
-- bits and names no resource of which nothing is charged. When all is done the table is empty.
CREATE TABLE charges (
  queue    TEXT NOT NULL,
  tenant   TEXT NOT NULL,
  cluster  TEXT NOT NULL,
  amounts  TEXT NOT NULL,
  PRIMARY KEY (queue, tenant, cluster)
) STRICT, WITHOUT ROWID;
CREATE VIEW balances AS
  SELECT c.queue, c.tenant, c.cluster, r.key AS resource, r.value AS amount
  FROM charges AS c, json_each(c.amounts) AS r;
)sql";

}  // namespace

const std::vector<Migration>& Migrations() {
  static const std::vector<Migration> kMigrations = {{kVersion1}};
  return kMigrations;
}

int64_t SchemaVersion() { return static_cast<int64_t>(Migrations().size()); }

Result<int64_t> IdentifyLedger(Database& database, int64_t newest) {
  auto tables = database.QueryInteger("SELECT count(*) FROM sqlite_master");
  if (!tables.has_value()) {
    Error error = tables.error();
    // SQLITE_NOTADB shows at the first read. A damaged ledger is something else (the quick check).
    if (error.code == ErrorCode::kCorrupt &&
        error.message.find("not a database") != std::string::npos) {
      return Fail(ErrorCode::kInvalid,
                  database.path() + ": this is no ledger: it is not a SQLite file");
    }
    return tl::unexpected<Error>(std::move(error));
  }
  CALDERA_TRY(const int64_t application, database.QueryInteger("PRAGMA application_id"));
  CALDERA_TRY(const int64_t version, database.QueryInteger("PRAGMA user_version"));
  const bool empty = *tables == 0 && application == 0 && version == 0;
  if (!empty && application != kApplicationId) {
    return Fail(ErrorCode::kInvalid,
                database.path() + ": this is no ledger: it is another program's SQLite file");
  }
  if (version > newest) {
    return Fail(ErrorCode::kInvalid, database.path() + ": the ledger has schema version " +
                                         std::to_string(version) +
                                         ", this program knows versions up to " +
                                         std::to_string(newest) + ": use a newer caldera");
  }
  if (version < 0 || (version == 0 && *tables != 0)) {
    return Fail(ErrorCode::kCorrupt, database.path() + ": the ledger has schema version " +
                                         std::to_string(version) +
                                         ", which no ledger has: the file is damaged; restore a "
                                         "backup, or start a new ledger");
  }
  return version;
}

Status Migrate(Database& database, const std::vector<Migration>& migrations) {
  const auto newest = static_cast<int64_t>(migrations.size());
  while (true) {
    // Read inside the transaction: another process may have migrated in the meantime.
    CALDERA_TRY(Transaction transaction, Transaction::Begin(database));
    CALDERA_TRY(const int64_t version, IdentifyLedger(database, newest));
    if (version == newest) {
      return {};
    }
    const std::string step = "migrate to schema version " + std::to_string(version + 1);
    auto status = database.Execute(migrations[static_cast<size_t>(version)].sql);
    if (!status.has_value()) {
      return tl::unexpected<Error>(status.error().Within(step));
    }
    CALDERA_CHECK(database.Execute("PRAGMA application_id = " + std::to_string(kApplicationId) +
                                   "; PRAGMA user_version = " + std::to_string(version + 1)));
    CALDERA_CHECK(transaction.Commit());
  }
}

}  // namespace caldera
