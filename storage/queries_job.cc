// One job, and the history of decisions.
#include <map>
#include <optional>
#include <utility>

#include "federation/successor.h"
#include "storage/job_fold.h"
#include "storage/journal.h"
#include "storage/listing_rows.h"
#include "storage/queries.h"

namespace caldera {
namespace {

const std::vector<ColumnSpec>& IntentColumns() {
  static const std::vector<ColumnSpec> kColumns = {{"intent", ColumnType::kInteger},
                                                   {"cycle", ColumnType::kInteger},
                                                   {"at", ColumnType::kTime},
                                                   {"action"},
                                                   {"job"},
                                                   {"kind"},
                                                   {"queue"},
                                                   {"clusters"},
                                                   {"outcome"},
                                                   {"closed", ColumnType::kTime},
                                                   {"reason"}};
  return kColumns;
}

constexpr const char* kIntentRows =
    "SELECT i.number AS number, i.cycle, i.at, i.action, j.namespace || '/' || j.name, j.kind, "
    "i.queue, coalesce((SELECT group_concat(value ->> 'cluster', ' ') FROM json_each(i.shards)), "
    "''), i.outcome, i.closed, i.reason FROM intents AS i JOIN jobs AS j ON j.id = i.job ";

/// The parts of NAME, NAMESPACE/NAME or KIND/NAMESPACE/NAME; what is not given is empty.
struct NameParts {
  std::string kind;
  std::string ns;
  std::string name;
};

Result<NameParts> ParseName(const std::string& text) {
  NameParts parts;
  const size_t last = text.rfind('/');
  if (last == std::string::npos) {
    parts.name = text;
  } else {
    parts.name = text.substr(last + 1);
    const std::string front = text.substr(0, last);
    const size_t first = front.find('/');
    parts.ns = first == std::string::npos ? front : front.substr(first + 1);
    parts.kind = first == std::string::npos ? "" : front.substr(0, first);
  }
  const bool bad_kind = !parts.kind.empty() && parts.kind != "Job" && parts.kind != "HyperJob";
  if (parts.name.empty() || bad_kind || parts.ns.find('/') != std::string::npos) {
    return Fail(ErrorCode::kInvalid, "`" + text + "` is no name of a job; it is NAME, " +
                                         "NAMESPACE/NAME or KIND/NAMESPACE/NAME, with KIND Job " +
                                         "or HyperJob");
  }
  return parts;
}

/// A figure in the columns from `first` on.
Figure FigureOf(const Statement& row, int first) {
  return {row.Text(first), row.Text(first + 1), row.Integer(first + 2), row.Integer(first + 3),
          row.Integer(first + 4)};
}

Result<std::vector<Figure>> ReadFigures(Database& database, int64_t job) {
  CALDERA_TRY(Statement rows,
              database.Prepare("SELECT f.value ->> 'object', f.value ->> 'resource', "
                               "f.value ->> 'requested', f.value ->> 'used', f.value ->> 'limit' "
                               "FROM jobs, json_each(jobs.figures) AS f WHERE jobs.id = ?1"));
  rows.Start(job);
  std::vector<Figure> figures;
  while (true) {
    CALDERA_TRY(const bool found, rows.Step());
    if (!found) {
      return figures;
    }
    figures.push_back(FigureOf(rows, 0));
  }
}

Result<Listing> ReadClusters(Database& database, int64_t job) {
  CALDERA_TRY(
      Statement rows,
      database.Prepare(
          "SELECT c.key, c.value ->> 'cluster', c.value ->> 'verdict', c.value ->> 'message', "
          "f.value ->> 'object', f.value ->> 'resource', f.value ->> 'requested', "
          "f.value ->> 'used', f.value ->> 'limit' "
          "FROM jobs JOIN cluster_verdicts AS v ON v.id = jobs.clusters "
          "JOIN json_each(v.clusters) AS c "
          "LEFT JOIN json_each(c.value, '$.figures') AS f "
          "WHERE jobs.id = ?1 ORDER BY c.key, f.key"));
  rows.Start(job);
  Listing listing{{"cluster", "verdict", "message", "figures"}, {}};
  int64_t current = -1;
  while (true) {
    CALDERA_TRY(const bool found, rows.Step());
    if (!found) {
      return listing;
    }
    if (rows.Integer(0) != current) {
      current = rows.Integer(0);
      listing.rows.push_back({rows.Text(1), rows.Text(2), rows.Text(3), std::vector<Figure>()});
    }
    if (!rows.IsNull(4)) {
      std::get<std::vector<Figure>>(listing.rows.back().back()).push_back(FigureOf(rows, 4));
    }
  }
}

Result<Listing> ReadShards(Database& database, int64_t job, bool ended) {
  CALDERA_TRY(Statement rows,
              database.Prepare(std::string("SELECT ") + kShardColumns +
                               " FROM shards AS s WHERE s.job = ?1 AND (?2 OR s.until IS NULL) "
                               "ORDER BY s.id"));
  rows.Start(job, ended);
  return ReadListing(rows, ShardColumns());
}

Result<Listing> ReadVerdicts(Database& database, int64_t job) {
  CALDERA_TRY(Statement rows,
              database.Prepare("SELECT verdict, since, until, message FROM verdicts "
                               "WHERE job = ?1 UNION ALL SELECT verdict, since, NULL, message "
                               "FROM jobs WHERE id = ?1 AND verdict <> '' ORDER BY since, until"));
  rows.Start(job);
  return ReadListing(
      rows, {{"verdict"}, {"since", ColumnType::kTime}, {"until", ColumnType::kTime}, {"message"}});
}

/// A job of the name that was asked for that is in no row yet.
struct NotYetThere {
  std::string uid;
  Time created;
  PendingJob waits;
};

/// The newest job of the name `asked`, where that is not the one of row `id`: it waits for what
/// that one holds. Nothing too where `asked` is that one's uid.
Result<std::optional<NotYetThere>> SuccessorOf(Database& database, int64_t id,
                                               const std::string& asked) {
  CALDERA_TRY(Statement row,
              database.Prepare("SELECT namespace, name, uid FROM jobs WHERE id = ?1 AND uid <> ?2 "
                               "AND gone IS NULL AND state <> 'pending' AND message <> ''"));
  row.Start(id, asked);
  CALDERA_TRY(const bool found, row.Step());
  if (!found) {
    return std::nullopt;
  }
  CALDERA_TRY(const JournalEnd end, ReadJournalEnd(database));
  CALDERA_TRY(const State state, ReadState(database, end.cycle));
  const JobIndex earlier = state.FindJob({row.Text(0), row.Text(1)}, row.Text(2));
  const Successor* const successor = earlier == kNoIndex ? nullptr : state.SuccessorOf(earlier);
  if (successor == nullptr) {
    return std::nullopt;
  }
  return NotYetThere{successor->uid, successor->creation, ExplainSuccessor(state, earlier)};
}

/// One row of those columns; what is not known of it is null.
Listing RowOf(const NotYetThere& job, std::vector<std::string> columns) {
  const std::map<std::string, Datum> known = {
      {"job", job.waits.job.ToString()},
      {"kind", std::string(JobKindText(job.waits.kind))},
      {"uid", job.uid},
      {"queue", job.waits.queue.empty() ? std::string(kDefaultQueue) : job.waits.queue},
      {"state", std::string("pending")},
      {"verdict", std::string(VerdictName(job.waits.verdict))},
      {"since", job.created},
      {"created", job.created},
      {"message", job.waits.message}};
  std::vector<Datum> row;
  row.reserve(columns.size());
  for (const std::string& column : columns) {
    const auto datum = known.find(column);
    row.push_back(datum == known.end() ? Datum() : datum->second);
  }
  return {std::move(columns), {std::move(row)}};
}

/// Of all jobs that ever were; 0: none. Not by an index, so only for what is no name.
Result<int64_t> FindUid(Database& database, const std::string& uid) {
  CALDERA_TRY(Statement row,
              database.Prepare("SELECT id FROM jobs WHERE uid = ?1 ORDER BY id DESC LIMIT 1"));
  row.Start(uid);
  CALDERA_TRY(const bool found, row.Step());
  return found ? row.Integer(0) : 0;
}

}  // namespace

Result<int64_t> FindJobRow(const LedgerReader& reader, const std::string& name) {
  CALDERA_TRY(const NameParts parts, ParseName(name));
  CALDERA_TRY(Statement rows,
              reader.database().Prepare(
                  "SELECT id, namespace, gone IS NULL, kind FROM jobs WHERE name = ?1 AND "
                  "(?2 = '' OR namespace = ?2) AND (?3 = '' OR kind = ?3) "
                  "ORDER BY gone IS NULL DESC, kind = 'Job' DESC, id DESC"));
  rows.Start(parts.name, parts.ns, parts.kind);
  int64_t best = 0;
  bool best_there = false;
  std::string best_namespace;
  std::string others;
  while (true) {
    CALDERA_TRY(const bool found, rows.Step());
    if (!found) {
      break;
    }
    if (best == 0) {
      best = rows.Integer(0);
      best_namespace = rows.Text(1);
      best_there = rows.Integer(2) != 0;
    } else if (rows.TextView(1) != best_namespace && (rows.Integer(2) != 0) == best_there) {
      others += ", " + rows.Text(1) + "/" + parts.name;
    }
  }
  if (best == 0 && parts.ns.empty()) {
    CALDERA_TRY(best, FindUid(reader.database(), parts.name));
  }
  if (best == 0) {
    return Fail(ErrorCode::kNotFound, "the ledger has no job `" + name +
                                          "`; one whose manifest is refused is in none: its Events "
                                          "and `caldera validate` say why");
  }
  if (!others.empty()) {
    return Fail(ErrorCode::kInvalid, "there are several jobs `" + name + "`: " + best_namespace +
                                         "/" + parts.name + others + "; say which");
  }
  return best;
}

Result<Listing> ListIntents(const LedgerReader& reader, const HistoryFilter& filter) {
  CALDERA_TRY(const ReadTransaction view, ReadTransaction::Begin(reader.database()));
  CALDERA_CHECK(CheckQueue(reader, filter.queue));
  NameParts parts;
  if (!filter.job.empty()) {
    // All jobs of that name: history is also of those that are gone.
    CALDERA_CHECK(FindJobRow(reader, filter.job));
    CALDERA_TRY(parts, ParseName(filter.job));
  }
  CALDERA_TRY(
      Statement rows,
      reader.database().Prepare(
          std::string("SELECT * FROM (") + kIntentRows +
          "WHERE (?1 = '' OR j.name = ?1 OR j.uid = ?1) AND (?2 = '' OR j.namespace = ?2) AND "
          "(?3 = '' OR i.queue = ?3) AND (?5 = '' OR j.kind = ?5) "
          "ORDER BY i.number DESC LIMIT ?4) ORDER BY number"));
  rows.Start(parts.name, parts.ns, filter.queue, filter.limit == 0 ? -1 : filter.limit, parts.kind);
  return ReadListing(rows, IntentColumns());
}

Result<Listing> ListCycles(const LedgerReader& reader, int64_t limit) {
  CALDERA_TRY(Statement rows,
              reader.database().Prepare(
                  "SELECT * FROM (SELECT cycle, time, change_count, action_count, first_intent, "
                  "digest FROM journal ORDER BY cycle DESC LIMIT ?1) ORDER BY cycle"));
  rows.Start(limit == 0 ? -1 : limit);
  return ReadListing(rows, {{"cycle", ColumnType::kInteger},
                            {"time", ColumnType::kTime},
                            {"changes", ColumnType::kInteger},
                            {"actions", ColumnType::kInteger},
                            {"firstIntent", ColumnType::kInteger},
                            {"digest"}});
}

Result<JobAnswer> DescribeJob(const LedgerReader& reader, const std::string& name) {
  Database& database = reader.database();
  CALDERA_TRY(const ReadTransaction view, ReadTransaction::Begin(database));
  CALDERA_TRY(int64_t id, FindJobRow(reader, name));
  JobAnswer answer;
  CALDERA_TRY(
      Statement job,
      database.Prepare("SELECT namespace || '/' || name, kind, uid, queue, priority_class, "
                       "priority, min_available, state, verdict, since, nullif(created, 0), "
                       "placed, finished, gone, checkpoint, message "
                       "FROM jobs WHERE id = ?1"));
  job.Start(id);
  CALDERA_TRY(answer.job, ReadListing(job, {{"job"},
                                            {"kind"},
                                            {"uid"},
                                            {"queue"},
                                            {"priorityClass"},
                                            {"priority", ColumnType::kInteger},
                                            {"minAvailable", ColumnType::kInteger},
                                            {"state"},
                                            {"verdict"},
                                            {"since", ColumnType::kTime},
                                            {"created", ColumnType::kTime},
                                            {"placed", ColumnType::kTime},
                                            {"finished", ColumnType::kTime},
                                            {"gone", ColumnType::kTime},
                                            {"checkpoint"},
                                            {"message"}}));
  CALDERA_TRY(const auto newest, SuccessorOf(database, id, name));
  if (newest.has_value()) {
    answer.job = RowOf(*newest, std::move(answer.job.columns));
    id = 0;  // There is nothing of it yet.
  }
  CALDERA_TRY(answer.shards, ReadShards(database, id, true));
  CALDERA_TRY(Statement intents,
              database.Prepare(std::string(kIntentRows) + "WHERE i.job = ?1 ORDER BY i.number"));
  intents.Start(id);
  CALDERA_TRY(answer.intents, ReadListing(intents, IntentColumns()));
  CALDERA_TRY(answer.verdicts, ReadVerdicts(database, id));
  return answer;
}

Result<Explanation> ExplainJob(const LedgerReader& reader, const std::string& name) {
  Database& database = reader.database();
  CALDERA_TRY(const ReadTransaction view, ReadTransaction::Begin(database));
  CALDERA_TRY(int64_t id, FindJobRow(reader, name));
  Explanation answer;
  CALDERA_TRY(Statement job,
              database.Prepare("SELECT namespace || '/' || name, kind, queue, state, verdict, "
                               "since, message FROM jobs WHERE id = ?1"));
  job.Start(id);
  CALDERA_TRY(answer.job, ReadListing(job, {{"job"},
                                            {"kind"},
                                            {"queue"},
                                            {"state"},
                                            {"verdict"},
                                            {"since", ColumnType::kTime},
                                            {"message"}}));
  CALDERA_TRY(const auto newest, SuccessorOf(database, id, name));
  if (newest.has_value()) {
    answer.job = RowOf(*newest, std::move(answer.job.columns));
    id = 0;  // There is nothing of it yet.
  }
  CALDERA_TRY(answer.figures, ReadFigures(database, id));
  CALDERA_TRY(answer.clusters, ReadClusters(database, id));
  CALDERA_TRY(answer.shards, ReadShards(database, id, false));
  CALDERA_TRY(Statement reason,
              database.Prepare("SELECT reason FROM intents WHERE job = ?1 AND closed IS NULL "
                               "ORDER BY number DESC LIMIT 1"));
  reason.Start(id);
  CALDERA_TRY(const bool found, reason.Step());
  answer.reason = found ? reason.Text(0) : "";
  return answer;
}

}  // namespace caldera
