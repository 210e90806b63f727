// Lists of queues, tenants, jobs and placements, and SQL.
#include "storage/queries.h"

#include <algorithm>
#include <map>
#include <set>

#include "federation/queue_state.h"
#include "federation/report.h"
#include "storage/job_fold.h"
#include "storage/listing_rows.h"

namespace caldera {
namespace {

struct JobCounts {
  int64_t running = 0;
  int64_t pending = 0;
};

/// By queue or by namespace.
Result<std::map<std::string, JobCounts>> CountJobs(Database& database, const std::string& column) {
  CALDERA_TRY(
      Statement rows,
      database.Prepare("SELECT " + column + ", count(*) FILTER (WHERE state = 'running'), " +
                       "count(*) FILTER (WHERE state = 'pending') FROM jobs " +
                       "WHERE gone IS NULL GROUP BY 1"));
  std::map<std::string, JobCounts> counts;
  while (true) {
    CALDERA_TRY(const bool row, rows.Step());
    if (!row) {
      return counts;
    }
    counts[rows.Text(0)] = {rows.Integer(1), rows.Integer(2)};
  }
}

/// Each queue's own jobs also count in every queue above it.
void AddToParents(const std::vector<QueueReport>& queues,
                  std::map<std::string, JobCounts>& counts) {
  std::map<std::string, std::string> parents;
  for (const QueueReport& queue : queues) {
    parents[queue.queue] = queue.parent;
  }
  const std::map<std::string, JobCounts> own = counts;
  for (const auto& [name, jobs] : own) {
    // A chain that goes in a circle ends where it comes to a queue again.
    std::set<std::string> seen = {name};
    for (std::string above = parents[name]; !above.empty() && seen.insert(above).second;
         above = parents[above]) {
      counts[above].running += jobs.running;
      counts[above].pending += jobs.pending;
    }
  }
}

/// In a limit, what is unlimited is absent.
ResourceList Finite(ResourceList limits) {
  std::erase_if(limits, [](const auto& entry) { return entry.second == kUnlimited; });
  return limits;
}

/// Keys of a row must differ.
std::vector<std::string> ColumnNames(const Statement& statement) {
  std::vector<std::string> names;
  for (int column = 0; column < statement.Columns(); ++column) {
    const std::string given = statement.ColumnName(column);
    std::string name = given;
    for (int n = 1; std::find(names.begin(), names.end(), name) != names.end(); ++n) {
      name = given + ":" + std::to_string(n);
    }
    names.push_back(std::move(name));
  }
  return names;
}

}  // namespace

Result<Listing> ListQueues(const LedgerReader& reader) {
  CALDERA_TRY(const State state, reader.Load());
  CALDERA_TRY(auto counts, CountJobs(reader.database(), "queue"));
  Listing listing{{"queue", "parent", "state", "weight", "priority", "capability", "guarantee",
                   "demand", "deserved", "allocated", "share", "running", "pending"},
                  {}};
  const Report report = MakeReport(state);
  AddToParents(report.queues, counts);
  for (const QueueReport& queue : report.queues) {
    const JobCounts& jobs = counts[queue.queue];
    listing.rows.push_back({queue.queue, queue.parent, std::string(QueueStateName(queue.state)),
                            int64_t{queue.weight}, int64_t{queue.priority},
                            Finite(queue.capability), queue.guarantee, queue.demand, queue.deserved,
                            queue.allocated, ShareText(queue.share_milli), jobs.running,
                            jobs.pending});
  }
  return listing;
}

Result<Listing> ListTenants(const LedgerReader& reader) {
  CALDERA_TRY(const State state, reader.Load());
  CALDERA_TRY(auto counts, CountJobs(reader.database(), "namespace"));
  Listing listing{{"tenant", "cluster", "quota", "used", "running", "pending"}, {}};
  for (const TenantReport& tenant : MakeReport(state).tenants) {
    const JobCounts& jobs = counts[tenant.tenant];
    listing.rows.push_back({tenant.tenant, std::string(), tenant.overall.quota, tenant.overall.used,
                            jobs.running, jobs.pending});
    for (const auto& [cluster, usage] : tenant.clusters) {
      listing.rows.push_back({tenant.tenant, cluster, usage.quota, usage.used, Datum(), Datum()});
    }
  }
  return listing;
}

Status CheckQueue(const LedgerReader& reader, const std::string& queue) {
  if (queue.empty() || queue == kRootQueue || queue == kDefaultQueue) {
    return {};
  }
  CALDERA_TRY(Statement known,
              reader.database().Prepare("SELECT EXISTS (SELECT 1 FROM queues WHERE name = ?1) OR "
                                        "EXISTS (SELECT 1 FROM jobs WHERE queue = ?1) OR "
                                        "EXISTS (SELECT 1 FROM intents WHERE queue = ?1)"));
  known.Start(queue);
  CALDERA_TRY(const bool row, known.Step());
  if (row && known.Integer(0) == 0) {
    return Fail(ErrorCode::kNotFound, "the ledger has no queue `" + queue + "`");
  }
  return {};
}

Result<Listing> ListJobs(const LedgerReader& reader, const JobFilter& filter) {
  CALDERA_CHECK(CheckQueue(reader, filter.queue));
  CALDERA_TRY(
      Statement rows,
      reader.database().Prepare(
          "SELECT namespace || '/' || name, kind, queue, priority, state, verdict, since, "
          "nullif(created, 0), placed, coalesce((SELECT group_concat(cluster, ' ') FROM "
          "(SELECT DISTINCT cluster FROM shards WHERE job = jobs.id AND until IS NULL "
          "ORDER BY cluster)), ''), message FROM jobs "
          "WHERE (?1 = '' OR queue = ?1) AND (?2 = '' OR namespace = ?2) AND "
          "(?3 = '' OR state = ?3) AND (?4 OR gone IS NULL) ORDER BY namespace, name, kind, id"));
  rows.Start(filter.queue, filter.tenant, filter.state, filter.gone || filter.state == "released");
  return ReadListing(rows, {{"job"},
                            {"kind"},
                            {"queue"},
                            {"priority", ColumnType::kInteger},
                            {"state"},
                            {"verdict"},
                            {"since", ColumnType::kTime},
                            {"created", ColumnType::kTime},
                            {"placed", ColumnType::kTime},
                            {"clusters"},
                            {"message"}});
}

Result<Listing> ListPlacements(const LedgerReader& reader, const PlacementFilter& filter) {
  CALDERA_CHECK(CheckQueue(reader, filter.queue));
  CALDERA_TRY(
      Statement rows,
      reader.database().Prepare(
          std::string("SELECT j.namespace || '/' || j.name, j.kind, s.queue, ") + kShardColumns +
          " FROM shards AS s JOIN jobs AS j ON j.id = s.job "
          "WHERE (?1 = '' OR s.queue = ?1) AND (?2 = '' OR s.cluster = ?2) AND "
          "(?3 OR s.until IS NULL) ORDER BY j.namespace, j.name, j.kind, s.id"));
  rows.Start(filter.queue, filter.cluster, filter.ended);
  std::vector<ColumnSpec> columns = {{"job"}, {"kind"}, {"queue"}};
  columns.insert(columns.end(), ShardColumns().begin(), ShardColumns().end());
  return ReadListing(rows, columns);
}

Result<Listing> RunSql(const std::string& path, const std::string& sql, const ReadLimits& limits) {
  // A connection of its own: what may be prepared on it is restricted for good.
  CALDERA_TRY(const LedgerReader reader, LedgerReader::Open(path, limits));
  Database& database = reader.database();
  database.AllowOnlyReading();
  if (limits.bytes > 0) {
    database.LimitValues(limits.bytes);
  }
  auto statement = database.Prepare(sql);
  if (!statement.has_value()) {
    Error error = statement.error();
    if (error.message.find("not authorized") != std::string::npos) {
      error = {ErrorCode::kInvalid,
               "only statements that read are allowed: SELECT, and PRAGMA "
               "table_list and table_info"};
    }
    return tl::unexpected<Error>(error);
  }
  Listing listing{ColumnNames(*statement), {}};
  int64_t bytes = 0;
  while (true) {
    CALDERA_TRY(const bool found, statement->Step());
    if (!found) {
      return listing;
    }
    std::vector<Datum> row;
    for (int column = 0; column < statement->Columns(); ++column) {
      if (statement->IsNull(column)) {
        row.emplace_back();
      } else if (statement->IsInteger(column)) {
        row.emplace_back(statement->Integer(column));
      } else {
        row.emplace_back(statement->Text(column));
        bytes += std::ssize(std::get<std::string>(row.back()));
      }
    }
    listing.rows.push_back(std::move(row));
    if (limits.rows > 0 && std::ssize(listing.rows) > limits.rows) {
      return Fail(ErrorCode::kInvalid,
                  "the answer has more than " + std::to_string(limits.rows) + " rows: add a LIMIT");
    }
    if (limits.bytes > 0 && bytes > limits.bytes) {
      return Fail(ErrorCode::kInvalid, "the answer has more than " + std::to_string(limits.bytes) +
                                           " bytes: add a LIMIT, or ask for fewer columns");
    }
  }
}

}  // namespace caldera
