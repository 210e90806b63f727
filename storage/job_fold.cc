#include "storage/job_fold.h"

#include <algorithm>
#include <set>
#include <type_traits>
#include <variant>

#include "federation/codec.h"
#include "storage/json_text.h"

namespace caldera {
namespace {

int64_t Count(Time time) { return time.time_since_epoch().count(); }

std::string_view StateName(const JobEntry& job) {
  if (job.terminal) {
    return "finished";
  }
  return job.charge.has_value() ? "running" : "pending";
}

const std::string& PriorityClassOf(const State& state, const JobEntry& job) {
  static const std::string kNone;
  return job.priority == kNoIndex ? kNone : state.priority(job.priority).name;
}

int64_t PriorityOf(const State& state, const JobEntry& job) {
  if (job.priority == kNoIndex) {
    return 0;
  }
  const PriorityEntry& entry = state.priority(job.priority);
  return entry.object.has_value() ? entry.object->value : 0;
}

/// The jobs that a cycle names; true where the object itself changed.
std::map<std::pair<JobKey, JobKind>, bool> JobsOf(const std::vector<Change>& changes,
                                                  const Plan& plan) {
  std::map<std::pair<JobKey, JobKind>, bool> jobs;
  // These name a job by its key alone: it may be of either kind.
  const auto touch = [&jobs](const JobKey& key) {
    jobs.try_emplace({key, JobKind::kJob}, false);
    jobs.try_emplace({key, JobKind::kHyperJob}, false);
  };
  for (const Change& change : changes) {
    if (const auto* upsert = std::get_if<JobUpsert>(&change)) {
      jobs[{upsert->job.key, upsert->job.kind}] = true;
    } else if (const auto* gone = std::get_if<JobDelete>(&change)) {
      touch(gone->key);
    } else if (const auto* placed = std::get_if<Placed>(&change)) {
      touch(placed->key);
    } else if (const auto* released = std::get_if<Released>(&change)) {
      touch(released->key);
    }
  }
  for (const Action& action : plan.actions) {
    jobs.try_emplace({action.job, action.kind}, false);
  }
  return jobs;
}

}  // namespace

/// One (job, cluster) that is charged, as its row says.
struct OpenShard {
  int64_t id = 0;
  std::string queue;
  std::string cluster;
  std::string child;
  std::string tasks;
  std::string requests;
  int64_t epoch = 0;
  int64_t min_available = 0;
  int64_t placed = 0;

  [[nodiscard]] bool SamePlace(const Shard& shard) const {
    return cluster == shard.cluster && child == shard.child && epoch == shard.epoch;
  }
};

namespace {

/// When the job came to hold what it holds; a placement that was only observed counts from now on.
Time PlacedAt(const State& after, const Charge& charge) {
  return charge.at == Time() ? after.now() : charge.at;
}

/// The object itself says that it runs where it was placed, with as many pods.
bool Observed(const JobEntry& entry) {
  if (!entry.charge.has_value() || entry.rare().placement.empty()) {
    return false;
  }
  const std::vector<Shard>& charged = entry.charge->shards;
  return std::all_of(charged.begin(), charged.end(), [&entry](const Shard& shard) {
    return std::any_of(entry.rare().placement.begin(), entry.rare().placement.end(),
                       [&shard](const Shard& seen) {
                         return seen.cluster == shard.cluster && seen.epoch == shard.epoch &&
                                seen.child == shard.child && seen.tasks == shard.tasks;
                       });
  });
}

}  // namespace

/// What FoldRow needs of a job's row; id 0: there is none.
struct JobRow {
  int64_t id = 0;
  std::string state;
  bool was_placed = false;
  bool has_verdict = false;
  bool has_message = false;
};

struct JobFold::Statements {
  Statement find;
  Statement insert;
  Statement update_object;
  Statement update_state;
  Statement put_message;
  Statement close;
  Statement end_verdict;
  Statement open_shards;
  Statement insert_shard;
  Statement close_shard;
  Statement insert_intent;
  Statement close_intents;
  Statement observe_intents;
  Statement find_verdict;
  Statement put_verdict;
  Statement put_clusters;
  Statement drop_clusters;

  /// The rows of a job: its name's one that is not gone, and its own one, of `uid`, which may be
  /// the same or may be gone.
  struct Rows {
    JobRow live;
    JobRow own;
  };
  Result<Rows> Find(const JobKey& name, JobKind kind, std::string_view uid);
  Result<std::vector<OpenShard>> OpenShards(int64_t job);
};

Result<JobFold::Statements::Rows> JobFold::Statements::Find(const JobKey& name, JobKind kind,
                                                            std::string_view uid) {
  Rows rows;
  find.Start(name.name, name.ns, JobKindText(kind), uid);
  while (true) {
    CALDERA_TRY(const bool found, find.Step());
    if (!found) {
      return rows;
    }
    const bool live = find.Integer(6) != 0;
    JobRow row{find.Integer(0), live ? find.Text(2) : "", find.Integer(3) != 0,
               find.Integer(4) != 0, find.Integer(5) != 0};
    if (find.TextView(1) == uid) {
      rows.own = row;
    }
    if (live) {
      rows.live = std::move(row);
    }
  }
}

Result<std::vector<OpenShard>> JobFold::Statements::OpenShards(int64_t job) {
  std::vector<OpenShard> rows;
  open_shards.Start(job);
  while (true) {
    CALDERA_TRY(const bool row, open_shards.Step());
    if (!row) {
      return rows;
    }
    rows.push_back({open_shards.Integer(0), open_shards.Text(1), open_shards.Text(2),
                    open_shards.Text(3), open_shards.Text(4), open_shards.Text(5),
                    open_shards.Integer(6), open_shards.Integer(7), open_shards.Integer(8)});
  }
}

void JobFold::Deleter::operator()(Statements* statements) const { delete statements; }

std::string_view JobKindText(JobKind kind) { return kind == JobKind::kJob ? "Job" : "HyperJob"; }

Result<JobFold> JobFold::Open(Database& database) {
  std::unique_ptr<Statements, Deleter> sql(new Statements());
  const std::initializer_list<std::pair<Statement*, const char*>> all = {
      {&sql->find,
       "SELECT id, uid, state, placed IS NOT NULL, verdict <> '', message <> '', gone IS NULL "
       "FROM jobs WHERE name = ?1 AND namespace = ?2 AND kind = ?3 AND "
       "(gone IS NULL OR uid = ?4)"},
      {&sql->insert,
       "INSERT INTO jobs(namespace, name, uid, kind, queue, priority_class, priority, "
       "min_available, checkpoint, state, verdict, message, figures, since, created, "
       "seen, placed, finished) VALUES "
       "(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, '', '', '[]', ?11, ?12, ?11, ?13, ?14)"},
      {&sql->update_object,
       "UPDATE jobs SET queue = ?2, priority_class = ?3, priority = ?4, min_available = ?5, "
       "checkpoint = ?6, created = ?7, gone = NULL WHERE id = ?1"},
      {&sql->update_state,
       "UPDATE jobs SET state = ?2, since = ?3, verdict = '', message = '', figures = '[]', "
       "clusters = NULL, placed = coalesce(?4, placed), finished = ?5 WHERE id = ?1"},
      {&sql->put_message, "UPDATE jobs SET message = ?2 WHERE id = ?1 AND message <> ?2"},
      {&sql->close,
       "UPDATE jobs SET state = ?2, since = ?3, gone = ?3, verdict = '', message = '', "
       "figures = '[]', clusters = NULL WHERE id = ?1"},
      {&sql->end_verdict,
       "INSERT INTO verdicts(job, since, until, verdict, message) "
       "SELECT id, since, ?2, verdict, message FROM jobs WHERE id = ?1 AND verdict <> ''"},
      {&sql->open_shards,
       "SELECT id, queue, cluster, child, tasks, requests, epoch, min_available, placed "
       "FROM shards WHERE job = ?1 AND until IS NULL"},
      {&sql->insert_shard,
       "INSERT INTO shards(job, intent, queue, tenant, cluster, epoch, child, tasks, "
       "min_available, requests, checkpoint, placed, since) VALUES "
       "(?1, CASE WHEN ?14 THEN ?2 ELSE (SELECT number FROM intents WHERE number = ?2) END, ?3, "
       "?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)"},
      {&sql->close_shard, "UPDATE shards SET until = ?2 WHERE id = ?1"},
      {&sql->insert_intent,
       "INSERT INTO intents(number, cycle, at, job, uid, queue, action, shards, reason, outcome) "
       "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, 'open')"},
      {&sql->close_intents,
       "UPDATE intents SET outcome = ?2, closed = ?3 WHERE job = ?1 AND closed IS NULL"},
      {&sql->observe_intents,
       "UPDATE intents SET outcome = 'observed' WHERE job = ?1 AND outcome = 'open'"},
      {&sql->find_verdict,
       "SELECT id, verdict, message, figures, clusters FROM jobs WHERE name = ?1 "
       "AND namespace = ?2 AND kind = ?3 AND gone IS NULL AND state = 'pending'"},
      {&sql->put_verdict,
       "UPDATE jobs SET verdict = ?2, message = ?3, figures = ?4, clusters = ?5, "
       "since = coalesce(?6, since) WHERE id = ?1"},
      {&sql->put_clusters,
       "INSERT INTO cluster_verdicts(digest, clusters) VALUES (?1, ?2) "
       "ON CONFLICT DO UPDATE SET digest = digest RETURNING id"},
      {&sql->drop_clusters,
       "DELETE FROM cluster_verdicts WHERE NOT EXISTS "
       "(SELECT 1 FROM jobs WHERE jobs.clusters = cluster_verdicts.id)"},
  };
  for (const auto& [statement, text] : all) {
    CALDERA_TRY(*statement, database.Prepare(text));
  }
  JobFold fold(database);
  fold.sql_ = std::move(sql);
  return fold;
}

Status JobFold::Apply(const Cycle& cycle, const std::vector<Change>& changes, const Plan& plan,
                      Balances& balances) {
  balances_ = &balances;
  TouchedJobs touched;
  for (const auto& [key, upserted] : JobsOf(changes, plan)) {
    CALDERA_CHECK(FoldRow(cycle.after, key, upserted, touched));
  }
  CALDERA_CHECK(PutIntents(cycle, plan, touched));
  for (const auto& [key, job] : touched) {
    CALDERA_CHECK(PutShards(cycle, plan, job));
  }
  return {};
}

Status JobFold::FoldRow(const State& after, const std::pair<JobKey, JobKind>& key, bool upserted,
                        TouchedJobs& touched) {
  const auto& [name, kind] = key;
  const JobIndex index = after.FindJob(name, kind);
  const JobEntry* entry = index == kNoIndex ? nullptr : &after.job(index);
  CALDERA_TRY(const Statements::Rows rows,
              sql_->Find(name, kind, entry == nullptr ? std::string_view() : entry->uid));
  const bool same = entry != nullptr && rows.own.id == rows.live.id;
  if (rows.live.id != 0 && !same) {
    CALDERA_CHECK(CloseRow(rows.live.id, rows.live.state, name.ns, after.now()));
  }
  if (entry == nullptr) {
    return {};
  }
  // Its own may be one that is gone: an offline Job keeps its uid when it is deleted and made
  // again.
  Touched job{entry, rows.own.id, rows.own.state == "running", rows.own.was_placed};
  if (job.id == 0) {
    CALDERA_CHECK(InsertRow(after, *entry, kind, job.id));
  } else {
    if (upserted || !same) {
      CALDERA_CHECK(UpdateObject(after, *entry, job.id));
    }
    if (rows.own.state != StateName(*entry)) {
      if (rows.own.has_verdict) {
        CALDERA_CHECK(sql_->end_verdict.Run(job.id, Count(after.now())));
      }
      CALDERA_CHECK(UpdateState(after, *entry, job.id));
    }
  }
  const bool waited_for = after.SuccessorOf(index) != nullptr;
  if (!entry->Pending() && (waited_for || rows.own.has_message)) {
    CALDERA_CHECK(sql_->put_message.Run(
        job.id,
        waited_for ? "its object is gone; a later job of its name waits for what it holds" : ""));
  }
  touched.emplace(key, job);
  return {};
}

Status JobFold::CloseRow(int64_t id, const std::string& state, const std::string& tenant,
                         Time now) {
  CALDERA_CHECK(sql_->end_verdict.Run(id, Count(now)));
  CALDERA_CHECK(sql_->close.Run(id, state == "finished" ? "finished" : "released", Count(now)));
  return state == "running" ? CloseShards(id, tenant, now) : Status();
}

Status JobFold::InsertRow(const State& after, const JobEntry& entry, JobKind kind, int64_t& id) {
  const JobSpec& spec = after.spec(entry);
  Statement& insert = sql_->insert;
  const int64_t now = Count(after.now());
  insert.Start(entry.key.ns, entry.key.name, entry.uid, JobKindText(kind),
               after.queue(entry.queue).name, PriorityClassOf(after, entry),
               PriorityOf(after, entry), spec.min_available, entry.rare().checkpoint,
               StateName(entry), now, Count(entry.creation));
  insert.BindOne(13, nullptr);
  insert.BindOne(14, nullptr);
  if (entry.charge.has_value()) {
    insert.BindOne(13, Count(PlacedAt(after, *entry.charge)));
  }
  if (entry.terminal) {
    insert.BindOne(14, now);
  }
  CALDERA_TRY(const bool row, insert.Step());
  static_cast<void>(row);
  id = database_->LastInsertId();
  return {};
}

Status JobFold::UpdateObject(const State& after, const JobEntry& entry, int64_t id) {
  const JobSpec& spec = after.spec(entry);
  return sql_->update_object.Run(id, after.queue(entry.queue).name, PriorityClassOf(after, entry),
                                 PriorityOf(after, entry), spec.min_available,
                                 entry.rare().checkpoint, Count(entry.creation));
}

Status JobFold::UpdateState(const State& after, const JobEntry& entry, int64_t id) {
  const int64_t now = Count(after.now());
  Statement& update = sql_->update_state;
  update.Start(id, StateName(entry), now, nullptr, nullptr);
  if (entry.charge.has_value()) {
    update.BindOne(4, Count(PlacedAt(after, *entry.charge)));
  }
  if (entry.terminal) {
    update.BindOne(5, now);
  }
  CALDERA_TRY(const bool row, update.Step());
  static_cast<void>(row);
  return {};
}

Status JobFold::PutIntents(const Cycle& cycle, const Plan& plan, const TouchedJobs& touched) {
  int64_t number = cycle.first_intent;
  for (const Action& action : plan.actions) {
    const auto found = touched.find({action.job, action.kind});
    if (found == touched.end()) {
      return Fail(ErrorCode::kInternal,
                  "the plan names job " + action.job.ToString() + ", which State does not have");
    }
    const Touched& job = found->second;
    if (job.was_placed) {
      CALDERA_CHECK(sql_->close_intents.Run(job.id, "superseded", Count(plan.now)));
    }
    CALDERA_CHECK(sql_->insert_intent.Run(number, cycle.number, Count(plan.now), job.id, action.uid,
                                          action.queue, ActionName(action.action),
                                          EncodePlacement(action.shards), action.reason));
    ++number;
  }
  return {};
}

Status JobFold::PutShards(const Cycle& cycle, const Plan& plan, const Touched& job) {
  std::vector<OpenShard> old;
  if (job.had_shards) {
    CALDERA_TRY(old, sql_->OpenShards(job.id));
  }
  const JobEntry& entry = *job.entry;
  const std::string& queue = cycle.after.queue(entry.queue).name;
  const int64_t now = Count(cycle.after.now());
  static const std::vector<Shard> kNone;
  const std::vector<Shard>& shards = entry.charge.has_value() ? entry.charge->shards : kNone;
  std::set<int64_t> kept;
  for (const Shard& shard : shards) {
    const std::string tasks = TasksText(shard.tasks);
    const std::string requests = AmountsText(shard.requests);
    const auto place = std::find_if(
        old.begin(), old.end(), [&shard](const OpenShard& row) { return row.SamePlace(shard); });
    if (place != old.end() && place->queue == queue && place->tasks == tasks &&
        place->requests == requests && place->min_available == shard.min_available &&
        kept.insert(place->id).second) {
      continue;
    }
    const int64_t placed =
        place != old.end() ? place->placed : Count(PlacedAt(cycle.after, *entry.charge));
    const int64_t intent = entry.charge->intent;
    const bool of_this_cycle =
        intent >= cycle.first_intent &&
        intent < cycle.first_intent + static_cast<int64_t>(plan.actions.size());
    CALDERA_CHECK(sql_->insert_shard.Run(
        job.id, intent, queue, entry.key.ns, shard.cluster, shard.epoch, shard.child, tasks,
        shard.min_available, requests, entry.rare().checkpoint, placed, now, of_this_cycle));
    balances_->Stage({queue, entry.key.ns, shard.cluster}, shard.requests,
                     Balances::Direction::kCharge);
  }
  for (const OpenShard& row : old) {
    if (!kept.contains(row.id)) {
      CALDERA_CHECK(CloseShard(row, entry.key.ns, now));
    }
  }
  if (shards.empty() && job.was_placed) {
    return sql_->close_intents.Run(job.id, "released", now);
  }
  return Observed(entry) ? sql_->observe_intents.Run(job.id) : Status();
}

Status JobFold::CloseShards(int64_t job, const std::string& tenant, Time now) {
  CALDERA_TRY(const std::vector<OpenShard> open, sql_->OpenShards(job));
  for (const OpenShard& row : open) {
    CALDERA_CHECK(CloseShard(row, tenant, Count(now)));
  }
  return sql_->close_intents.Run(job, "released", Count(now));
}

Status JobFold::CloseShard(const OpenShard& shard, const std::string& tenant, int64_t now) {
  CALDERA_CHECK(sql_->close_shard.Run(shard.id, now));
  CALDERA_TRY(const ResourceList requests, ParseAmounts(shard.requests));
  balances_->Stage({shard.queue, tenant, shard.cluster}, requests, Balances::Direction::kRelease);
  return {};
}

Result<std::optional<int64_t>> JobFold::PutClusters(const ClusterVerdicts& clusters,
                                                    ClusterRows& rows) {
  if (clusters.empty()) {
    return std::nullopt;
  }
  const auto [row, first] = rows.try_emplace(&clusters.list(), 0);
  if (first) {
    const std::string text = ClusterVerdictsText(clusters);
    const std::string digest = Digest(text);
    sql_->put_clusters.Start(digest, text);
    CALDERA_TRY(const bool found, sql_->put_clusters.Step());
    row->second = found ? sql_->put_clusters.Integer(0) : 0;
    sql_->put_clusters.Reset();
  }
  return row->second;
}

Status JobFold::PutVerdicts(const std::vector<PendingJob>& pending, Time now) {
  ClusterRows rows;
  for (const PendingJob& job : pending) {
    CALDERA_CHECK(PutVerdict(job, now, rows));
  }
  return pending.empty() ? Status() : sql_->drop_clusters.Run();
}

Status JobFold::PutVerdict(const PendingJob& job, Time now, ClusterRows& rows) {
  Statement& find = sql_->find_verdict;
  find.Start(job.job.name, job.job.ns, JobKindText(job.kind));
  CALDERA_TRY(const bool found, find.Step());
  if (!found) {
    return {};
  }
  const int64_t id = find.Integer(0);
  const std::string_view verdict = VerdictName(job.verdict);
  const std::string figures = FiguresText(job.figures);
  const bool had_one = !find.TextView(1).empty();
  const bool same_verdict = find.TextView(1) == verdict;
  const bool same_text = find.TextView(2) == job.message && find.TextView(3) == figures;
  // Set in two steps: g++ 12 takes a conditional one for uninitialized at -O2.
  std::optional<int64_t> old_clusters;
  if (!find.IsNull(4)) {
    old_clusters.emplace(find.Integer(4));
  }
  find.Reset();
  CALDERA_TRY(const std::optional<int64_t> clusters, PutClusters(job.clusters, rows));
  if (same_verdict && same_text && clusters == old_clusters) {
    return {};
  }
  const bool episode_ends = had_one && !same_verdict;
  if (episode_ends) {
    CALDERA_CHECK(sql_->end_verdict.Run(id, Count(now)));
  }
  Statement& put = sql_->put_verdict;
  put.Start(id, verdict, job.message, figures, nullptr, nullptr);
  if (clusters.has_value()) {
    put.BindOne(5, *clusters);
  }
  if (episode_ends) {
    put.BindOne(6, Count(now));
  }
  CALDERA_TRY(const bool row, put.Step());
  static_cast<void>(row);
  return {};
}

}  // namespace caldera
