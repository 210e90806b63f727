#include "storage/queries.h"

#include <doctest/doctest.h>

#include <utility>

#include "federation/explain.h"
#include "storage/backup.h"
#include "test/storage/scene.h"

namespace caldera::testing {
namespace {

using std::chrono::hours;
using std::chrono::minutes;

std::string Text(const Datum& datum) {
  struct Visitor {
    std::string operator()(std::monostate /*none*/) const { return "-"; }
    std::string operator()(int64_t value) const { return std::to_string(value); }
    std::string operator()(bool value) const { return value ? "yes" : "no"; }
    std::string operator()(const std::string& text) const { return text; }
    std::string operator()(Time time) const { return FormatTime(time); }
    std::string operator()(const ResourceList& amounts) const {
      std::string text;
      for (const auto& [resource, amount] : amounts) {
        text += (text.empty() ? "" : " ") + resource + "=" + FormatAmount(resource, amount);
      }
      return text;
    }
    std::string operator()(const std::vector<TaskGrant>& tasks) const {
      return tasks.empty() ? "" : tasks[0].name + "=" + std::to_string(tasks[0].replicas);
    }
    std::string operator()(const std::vector<Figure>& figures) const {
      return std::to_string(figures.size()) + " figures";
    }
  };
  return std::visit(Visitor(), datum);
}

/// `columns` of every row, `|` between, one row a line.
std::string Rows(const Listing& listing, const std::vector<std::string>& columns) {
  std::string text;
  for (const auto& row : listing.rows) {
    REQUIRE(row.size() == listing.columns.size());
    text += text.empty() ? "" : "\n";
    for (size_t i = 0; i < columns.size(); ++i) {
      const auto found = std::find(listing.columns.begin(), listing.columns.end(), columns[i]);
      REQUIRE_MESSAGE(found != listing.columns.end(), columns[i]);
      text += (i == 0 ? "" : "|") + Text(row[static_cast<size_t>(found - listing.columns.begin())]);
    }
  }
  return text;
}

PendingJob Short(std::string_view key) {
  PendingJob job;
  job.job = Key(key);
  job.verdict = Verdict::kInsufficientResources;
  job.message = "no cluster has room";
  job.figures = {{"Queue/gold", "cpu", 8000, 4000, 10000}, {"Queue/gold", "", 3, 1, 2}};
  job.clusters = ClusterVerdicts({{"east",
                                   Verdict::kInsufficientResources,
                                   "cpu short",
                                   {{"Cluster/east", "cpu", 8000, 4000, 8000}}},
                                  {"west", Verdict::kClusterNotReady, "not ready", {}}});
  return job;
}

/// Two queues; `train` runs in gold, `wide` waits there, `other` runs in silver of team-b.
void Fill(Scene& scene) {
  scene.fed.AddQueue("gold", [](Queue& queue) {
    queue.weight = 3;
    queue.capability = Amounts("cpu=10");
  });
  scene.fed.AddQueue("silver").AddCluster("east", "cpu=8 memory=64Gi pods=100");
  scene.fed.AddQuota("team-a", "cpu=20",
                     [](TenantQuota& quota) { quota.per_cluster["east"] = Amounts("cpu=10"); });
  scene.fed.AddPriorityClass("high", 1000);
  scene.fed.AddJob("team-a/train", "gold", 2, "cpu=2 memory=1Gi",
                   [](Job& job) { job.priority_class = "high"; });
  scene.fed.AddJob("team-a/wide", "gold", 4, "cpu=2");
  scene.fed.AddJob("team-b/other", "silver", 1, "cpu=500m");
  scene.Record({Short("team-a/wide")});
}

TEST_CASE("queues and tenants are listed with what they deserve and hold") {
  Scene scene;
  Fill(scene);
  const LedgerReader reader = scene.Reader();
  const Listing queues = Must(ListQueues(reader));
  const std::string text =
      Rows(queues, {"queue", "parent", "weight", "capability", "allocated", "running", "pending"});
  CHECK(text.find("gold|root|3|cpu=10|cpu=4 memory=2Gi pods=2|1|1") != std::string::npos);
  CHECK(text.find("silver|root|1||cpu=500m pods=1|1|0") != std::string::npos);
  CHECK(text.find("default|root|1||") != std::string::npos);
  CHECK(text.find("root||1||cpu=4500m memory=2Gi pods=3|2|1") != std::string::npos);
  CHECK(Rows(Must(ListTenants(reader)), {"tenant", "cluster", "quota", "used", "running"})
            .find("team-a||cpu=20|cpu=4") != std::string::npos);
  CHECK(Rows(Must(ListTenants(reader)), {"tenant", "cluster", "quota", "running"})
            .find("team-a|east|cpu=10|-") != std::string::npos);
}

TEST_CASE("queues that form a cycle count each job once") {
  Scene scene;
  for (const auto& [name, parent] :
       {std::pair("a", "b"), std::pair("b", "c"), std::pair("c", "a")}) {
    scene.fed.AddQueue(name, [above = parent](Queue& queue) { queue.parent = above; });
  }
  scene.fed.AddJob("n/one", "a", 1, "cpu=1").AddJob("n/two", "a", 1, "cpu=1");
  scene.Record(ExplainPending(scene.fed.state));
  const Listing queues = Must(ListQueues(scene.Reader()));
  for (const auto& row : queues.rows) {
    const auto& name = std::get<std::string>(row.front());
    if (name == "a" || name == "b" || name == "c") {
      CHECK_MESSAGE(std::get<int64_t>(row.back()) == 2, name);
    }
  }
}

TEST_CASE("jobs are listed by queue, tenant and state") {
  Scene scene;
  Fill(scene);
  const std::vector<std::string> columns = {"job",   "kind",    "queue",   "priority",
                                            "state", "verdict", "clusters"};
  CHECK(Rows(Must(ListJobs(scene.Reader(), {})), columns) ==
        "team-a/train|Job|gold|1000|running||east\n"
        "team-a/wide|Job|gold|0|pending|InsufficientResources|\n"
        "team-b/other|Job|silver|0|running||east");
  const auto names = [&scene](const JobFilter& filter) {
    return Rows(Must(ListJobs(scene.Reader(), filter)), {"job"});
  };
  CHECK(names({"silver", "", "", false}) == "team-b/other");
  CHECK(names({"", "team-a", "pending", false}) == "team-a/wide");
  scene.Drop("team-b/other");
  scene.Record();
  CHECK(names({"silver", "", "", false}).empty());
  CHECK(names({"silver", "", "", true}) == "team-b/other");
  CHECK(names({"", "", "released", false}) == "team-b/other");
}

TEST_CASE("placements are listed with what they are charged for") {
  Scene scene;
  Fill(scene);
  const std::vector<std::string> columns = {"job",   "queue",    "cluster", "epoch",
                                            "tasks", "requests", "intent",  "until"};
  CHECK(Rows(Must(ListPlacements(scene.Reader(), {"gold", "", false})), columns) ==
        "team-a/train|gold|east|1|worker=2|cpu=4 memory=2Gi pods=2|1|-");
  CHECK(Must(ListPlacements(scene.Reader(), {"", "west", false})).rows.empty());
  scene.Drop("team-a/train");
  scene.Again("team-a/wide", [](Job& job) { job.hold = true; });
  scene.Record();
  CHECK(Must(ListPlacements(scene.Reader(), {"gold", "", false})).rows.empty());
  CHECK(Must(ListPlacements(scene.Reader(), {"gold", "east", true})).rows.size() == 1);
}

TEST_CASE("usage in a window is exact") {
  Scene scene;
  Fill(scene);
  scene.Tick(hours(30));
  scene.Drop("team-a/train");
  scene.Again("team-a/wide", [](Job& job) { job.hold = true; });
  scene.Record();
  scene.Tick(hours(6));
  scene.fed.AddQueue("silver", [](Queue& queue) { queue.weight = 2; });
  scene.Record();
  const LedgerReader reader = scene.Reader();
  const std::vector<std::string> columns = {"queue",   "resource", "hours",
                                            "average", "now",      "amountMilliseconds"};
  UsageQuery query;
  // Of the last 24 hours gold held 4 cores in the first 18.
  CHECK(Rows(Must(ListUsage(reader, query)), columns) ==
        "gold|cpu|72.000|3.000|0|259200000000\n"
        "gold|memory|36.000Gi|1.500Gi|0|139156940390400000\n"
        "gold|pods|36.000|1.500|0|129600000\n"
        "silver|cpu|12.000|0.500|500m|43200000000\n"
        "silver|pods|24.000|1.000|1|86400000");
  query.window = hours(6);
  query.by = "tenant";
  CHECK(Rows(Must(ListUsage(reader, query)), {"tenant", "resource", "hours"}) ==
        "team-b|cpu|3.000\nteam-b|pods|6.000");
  query.window = minutes(1);
  query.by = "cluster";
  query.until = scene.fed.state.now() - hours(35);
  CHECK(
      Rows(Must(ListUsage(reader, query)), {"cluster", "resource", "amountMilliseconds", "now"}) ==
      "east|cpu|270000000|4500m\neast|memory|128849018880000|2Gi\neast|pods|180000|3");
  query.by = "job";
  CHECK(Must(ListUsage(reader, UsageQuery{})).rows.size() == 5);
  CHECK(ListUsage(reader, query).error().code == ErrorCode::kInvalid);
  query = {"queue", Millis(0), std::nullopt};
  CHECK(ListUsage(reader, query).error().code == ErrorCode::kInvalid);
}

TEST_CASE("usage of the largest amounts passes 64 bits without wrapping") {
  Scene scene;
  scene.fed.AddQueue("gold").AddCluster("east", "cpu=8 pods=100");
  scene.fed.AddJob("team-a/huge", "gold", 1, "cpu=1", [](Job& job) {
    job.tasks[0].request["memory"] = std::numeric_limits<int64_t>::max() - 1;
    job.placement = {{"east", 1, "", {{"worker", 1, 1}}, 1, {}}};
  });
  scene.Record();
  scene.Tick(hours(1000));
  scene.fed.AddQueue("other");
  scene.Record();
  UsageQuery query;
  query.window = hours(1000);
  const std::string text =
      Rows(Must(ListUsage(scene.Reader(), query)), {"resource", "amountMilliseconds"});
  CHECK(text.find("memory|33204139332677192901600000000") != std::string::npos);
}

TEST_CASE("history is the decisions, oldest first, the newest so many") {
  Scene scene;
  Fill(scene);
  scene.Tick(Millis(1000));
  scene.Drop("team-a/train");
  scene.Record();
  const LedgerReader reader = scene.Reader();
  const std::vector<std::string> columns = {"intent", "cycle",    "action", "job",
                                            "queue",  "clusters", "outcome"};
  CHECK(Rows(Must(ListIntents(reader, {})), columns) ==
        "1|1|Place|team-a/train|gold|east|released\n"
        "2|1|Place|team-b/other|silver|east|open");
  CHECK(Rows(Must(ListIntents(reader, {"other", "", 0})), {"intent"}) == "2");
  CHECK(Rows(Must(ListIntents(reader, {"team-a/train", "", 0})), {"intent"}) == "1");
  CHECK(Rows(Must(ListIntents(reader, {"", "silver", 0})), {"intent"}) == "2");
  CHECK(Rows(Must(ListIntents(reader, {"", "", 1})), {"intent"}) == "2");
  CHECK(ListIntents(reader, {"nobody", "", 0}).error().code == ErrorCode::kNotFound);
  CHECK(Rows(Must(ListCycles(reader, 0)), {"cycle", "actions", "firstIntent"}) == "1|2|1\n2|0|3");
  CHECK(Rows(Must(ListCycles(reader, 1)), {"cycle"}) == "2");
}

TEST_CASE("a job is described whole") {
  Scene scene;
  Fill(scene);
  const JobAnswer train = Must(DescribeJob(scene.Reader(), "train"));
  CHECK(Rows(train.job, {"job", "uid", "priorityClass", "minAvailable", "state"}) ==
        "team-a/train|uid-team-a/train|high|2|running");
  CHECK(Rows(train.shards, {"cluster", "tasks", "intent"}) == "east|worker=2|1");
  CHECK(Rows(train.intents, {"intent", "action"}) == "1|Place");
  CHECK(train.verdicts.rows.empty());
  const JobAnswer wide = Must(DescribeJob(scene.Reader(), "team-a/wide"));
  CHECK(Rows(wide.verdicts, {"verdict", "until", "message"}) ==
        "InsufficientResources|-|no cluster has room");
}

TEST_CASE("a waiting job is explained with its figures, a running one with the reason") {
  Scene scene;
  Fill(scene);
  const Explanation wide = Must(ExplainJob(scene.Reader(), "wide"));
  CHECK(Rows(wide.job, {"job", "state", "verdict", "message"}) ==
        "team-a/wide|pending|InsufficientResources|no cluster has room");
  REQUIRE(wide.figures.size() == 2);
  CHECK(wide.figures[0].object == "Queue/gold");
  CHECK(wide.figures[0].limit == 10000);
  CHECK(wide.figures[1].resource.empty());
  CHECK(Rows(wide.clusters, {"cluster", "verdict", "figures"}) ==
        "east|InsufficientResources|1 figures\nwest|ClusterNotReady|0 figures");
  CHECK(wide.shards.rows.empty());
  CHECK(wide.reason.empty());
  const Explanation train = Must(ExplainJob(scene.Reader(), "Job/team-a/train"));
  CHECK(train.reason == scene.plan.actions[0].reason);
  CHECK(!train.reason.empty());
  CHECK(train.shards.rows.size() == 1);
}

TEST_CASE("what the clusters answer is stored once for all jobs that got that answer") {
  Scene scene;
  scene.fed.AddQueue("gold");
  std::vector<PendingJob> pending;
  const ClusterVerdicts shared = Short("ns/any").clusters;
  for (int i = 0; i < 20; ++i) {
    const std::string name = "team-a/job-" + std::to_string(i);
    scene.fed.AddJob(name, "gold", 1, "cpu=1");
    pending.push_back(Short(name));
    if (i < 10) {
      pending.back().clusters = shared;
    }
  }
  scene.Record(pending);
  CHECK(scene.Sql("SELECT count(*) FROM cluster_verdicts") == "1");
  CHECK(Must(ExplainJob(scene.Reader(), "job-19")).clusters.rows.size() == 2);
  for (PendingJob& job : pending) {
    job.clusters = {};
  }
  scene.fed.AddQueue("silver");
  scene.Record(pending);
  CHECK(scene.Sql("SELECT count(*) FROM cluster_verdicts") == "0");
  CHECK(Must(ExplainJob(scene.Reader(), "job-19")).clusters.rows.empty());
}

TEST_CASE("a job's name may be short where it is clear") {
  Scene scene;
  Fill(scene);
  scene.fed.AddJob("team-b/train", "gold", 1, "cpu=1");
  scene.Record();
  const auto several = FindJobRow(scene.Reader(), "train");
  REQUIRE(!several.has_value());
  CHECK(several.error().code == ErrorCode::kInvalid);
  CHECK(several.error().message.find("team-a/train") != std::string::npos);
  CHECK(several.error().message.find("team-b/train") != std::string::npos);
  CHECK(FindJobRow(scene.Reader(), "team-b/train").has_value());
  scene.Drop("team-a/train");
  scene.Record();
  CHECK(Must(FindJobRow(scene.Reader(), "train")) ==
        Must(FindJobRow(scene.Reader(), "team-b/train")));
  CHECK(FindJobRow(scene.Reader(), "team-a/train").has_value());
  CHECK(FindJobRow(scene.Reader(), "nobody").error().code == ErrorCode::kNotFound);
  for (const char* wrong : {"", "a/b/c/d", "Pod/team-a/train", "team-a/"}) {
    CHECK(FindJobRow(scene.Reader(), wrong).error().code == ErrorCode::kInvalid);
  }
}

TEST_CASE("a name means the newest job of it, also one that waits for that name") {
  Scene scene;
  scene.fed.AddQueue("gold").AddCluster("east", "cpu=8 pods=100");
  scene.fed.AddJob("team-a/train", "gold", 2, "cpu=1", [](Job& job) { job.uid = "u1"; });
  scene.Record();
  const JobIndex train = scene.fed.state.FindJob(Key("team-a/train"));
  REQUIRE(scene.fed.state.job(train).charge.has_value());
  const std::string uid = "u1";
  const Time later = scene.fed.state.now() + minutes(1);
  scene.Again("team-a/train", [&](Job& job) {
    job.suspended = true;
    job.successor = Successor{"u2", "silver", later, Time()};
  });
  scene.Record();
  for (const std::string name : {"train", "team-a/train", "Job/team-a/train"}) {
    const JobAnswer newest = Must(DescribeJob(scene.Reader(), name));
    CHECK(Rows(newest.job, {"job", "uid", "queue", "state", "verdict", "created", "placed"}) ==
          "team-a/train|u2|silver|pending|NameConflict|" + FormatTime(later) + "|-");
    CHECK(newest.shards.rows.empty());
    CHECK(newest.intents.rows.empty());
    const Explanation why = Must(ExplainJob(scene.Reader(), name));
    CHECK(Rows(why.job, {"job", "kind", "state", "message"}) ==
          "team-a/train|Job|pending|an earlier job of this name (uid " + uid +
              ") still holds what it was granted in cluster east: its Work there is being deleted");
    CHECK(why.shards.rows.empty());
    CHECK(why.reason.empty());
  }
  const JobAnswer first = Must(DescribeJob(scene.Reader(), uid));
  CHECK(Rows(first.job, {"uid", "state"}) == uid + "|running");
  CHECK(first.shards.rows.size() == 1);
  CHECK(Must(ListIntents(scene.Reader(), {uid, "", 0})).rows.size() == 1);
  scene.Again("team-a/train", [&](Job& job) { job.successor->clear = later; });
  scene.Record();
  CHECK(Rows(Must(ExplainJob(scene.Reader(), "train")).job, {"message"})
            .ends_with("its pods there are gone by " + FormatTime(later) + " at the latest"));
  SUBCASE("which may be deleted in turn") {
    scene.Again("team-a/train", [](Job& job) { job.successor.reset(); });
    scene.Record();
    CHECK(Rows(Must(DescribeJob(scene.Reader(), "train")).job, {"uid", "message"}) == uid + "|");
  }
  SUBCASE("which comes once the first has given back what it held") {
    scene.fed.Do(JobDelete{Key("team-a/train"), uid});
    scene.fed.AddJob("team-a/train", "gold", 2, "cpu=1", [](Job& job) { job.uid = "u2"; });
    scene.Record();
    CHECK(Rows(Must(DescribeJob(scene.Reader(), "train")).job, {"uid", "state"}) == "u2|running");
    CHECK(Rows(Must(DescribeJob(scene.Reader(), uid)).job, {"uid", "state"}) == uid + "|released");
  }
}

TEST_CASE("a queue that the ledger does not know is not found, one that it knew is") {
  Scene scene;
  Fill(scene);
  const LedgerReader reader = scene.Reader();
  for (const auto& code : {ListJobs(reader, {"nope", "", "", false}).error().code,
                           ListPlacements(reader, {"nope", "", false}).error().code,
                           ListIntents(reader, {"", "nope", 10}).error().code}) {
    CHECK(code == ErrorCode::kNotFound);
  }
  for (const char* const known : {"", "gold", "root", "default"}) {
    CHECK(CheckQueue(reader, known).has_value());
  }
  scene.fed.Do(QueueDelete{"silver"});
  scene.fed.AddJob("team-a/ghostly", "ghost", 1, "cpu=1");
  scene.Record();
  CHECK(CheckQueue(scene.Reader(), "silver").has_value());
  CHECK(Must(ListJobs(scene.Reader(), {"ghost", "", "", false})).rows.size() == 1);
}

TEST_CASE("SQL reads, and does nothing else") {
  Scene scene;
  Fill(scene);
  const Listing listing = Must(
      RunSql(scene.path, "SELECT name AS job, created, NULL AS missing FROM jobs ORDER BY 1;"));
  CHECK(listing.columns == std::vector<std::string>{"job", "created", "missing"});
  CHECK(Rows(listing, {"job", "missing"}) == "other|-\ntrain|-\nwide|-");
  CHECK(Must(RunSql(scene.path, "PRAGMA table_info(jobs)")).rows.size() > 10);
  CHECK(Must(RunSql(scene.path,
                    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n "
                    "WHERE i < 5) SELECT sum(i) FROM n"))
            .rows.size() == 1);
  CHECK(Must(RunSql(scene.path, "SELECT 1 AS a, 2 AS a, 3 AS b, 4 AS a")).columns ==
        std::vector<std::string>{"a", "a:1", "b", "a:2"});
  CHECK(Must(RunSql(scene.path, "SELECT 1 AS 'a:1', 2 AS a, 3 AS a")).columns ==
        std::vector<std::string>{"a:1", "a", "a:2"});
  const std::string copy = scene.directory.File("copy.db");
  for (const std::string& wrong :
       {std::string("DELETE FROM jobs"), std::string("UPDATE jobs SET name = ''"),
        std::string("INSERT INTO charges VALUES ('', '', '', '')"),
        std::string("CREATE TABLE t(x)"), std::string("CREATE TEMP TABLE t(x)"),
        std::string("DROP TABLE jobs"), "ATTACH '" + copy + "' AS other",
        "VACUUM INTO '" + copy + "'", std::string("PRAGMA user_version = 5"),
        std::string("PRAGMA writable_schema = 1"), std::string("PRAGMA journal_mode = DELETE"),
        std::string("BEGIN"), std::string("SELECT load_extension('x')"),
        std::string("SELECT 1; SELECT 2"), std::string("SELEKT 1"),
        std::string("SELECT nothing FROM jobs"), std::string(""), std::string("-- nothing")}) {
    const auto refused = RunSql(scene.path, wrong);
    REQUIRE_MESSAGE(!refused.has_value(), wrong);
    CHECK_MESSAGE(refused.error().code == ErrorCode::kInvalid, wrong);
  }
  CHECK(!std::filesystem::exists(copy));
  CHECK(scene.Sql("SELECT count(*) FROM jobs") == "3");
}

TEST_CASE("a backup is a ledger that can be read and written on") {
  Scene scene;
  Fill(scene);
  const std::string copy = scene.directory.File("copy.db");
  Must(Backup(scene.Reader(), copy, false));
  scene.fed.AddJob("team-a/late", "gold", 1, "cpu=1");
  scene.Record();
  CHECK(Rows(Must(ListCycles(Must(LedgerReader::Open(copy)), 0)), {"cycle"}) == "1");
  const auto exists = Backup(scene.Reader(), copy, false);
  REQUIRE(!exists.has_value());
  CHECK(exists.error().code == ErrorCode::kConflict);
  Must(Backup(scene.Reader(), copy, true));
  Ledger restored = Must(Ledger::Open(copy));
  CHECK(restored.LastDigest() == scene.ledger->LastDigest());
  CHECK(Exported(Must(restored.Load())) == Exported(scene.fed.state));
  for (const std::string& wrong : {scene.path, scene.directory.path(),
                                   scene.directory.File("no/such/copy.db"), std::string()}) {
    CHECK(Backup(scene.Reader(), wrong, true).error().code == ErrorCode::kInvalid);
  }
  size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(scene.directory.path())) {
    files += entry.path().string().find(".tmp-") != std::string::npos ? 1U : 0U;
  }
  CHECK(files == 0);
}

}  // namespace
}  // namespace caldera::testing
