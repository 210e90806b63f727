// Jobs: from parents, Works and Commands to State, and back out of it.
#include "controller/run/observer.h"

#include "federation/explain.h"
#include "test/run/watching.h"

namespace caldera::testing {
namespace {

const std::string kPlaced =
    R"(federation.caldera.sh/placement: '[{"cluster":"east","epoch":1,"tasks":{"worker":{"replicas":2,"minAvailable":2}}}]')";
const std::string kTwoShards =
    R"(federation.caldera.sh/placement: '[{"cluster":"east","epoch":1,"tasks":{"worker":{"replicas":1,"minAvailable":1}}},)"
    R"({"cluster":"west","epoch":1,"tasks":{"worker":{"replicas":1,"minAvailable":1}}}]')";

bool Has(const std::vector<std::string>& changes, std::string_view piece) {
  return std::any_of(changes.begin(), changes.end(), [&](const std::string& change) {
    return change.find(piece) != std::string::npos;
  });
}

TEST_CASE("what is listed is in State and is planned") {
  Watching w;
  w.Start(JobText().Text());
  REQUIRE(w.Charged());
  CHECK(w.Job()->charge->shards.at(0).cluster == "east");
  REQUIRE(w.observer.FindJob("u1") != nullptr);
  CHECK(w.observer.FindJob("u1")->key == JobKey{"team-a", "train"});
  CHECK(w.observer.FindJob("u2") == nullptr);
}

TEST_CASE("before the first listing is complete nothing is said") {
  Watching w;
  w.See(JobText().Text());
  CHECK(w.Step().empty());
  CHECK(w.observer.NextDue() == Time());
}

TEST_CASE("what changes nothing that matters gives no Change") {
  Watching w;
  JobText job;
  w.Start(job.Text());
  w.Later(1).See(job.Text() + "---\n" + QueueText("gold", "q-uid") + "---\n" + ClusterText("east"));
  CHECK(w.Step().empty());
  // Our own writes come back: claim, status.
  job.labels = "resourcetemplate.karmada.io/claimed-by: caldera";
  job.status = R"(state: {phase: Running, lastTransitionTime: "2026-01-09T00:00:00Z"}, running: 2)";
  w.Later(1).See(job.Text());
  CHECK(w.Step().empty());
  CHECK(w.observer.FindJob("u1")->claimed_by_us);
  CHECK(w.observer.FindJob("u1")->phase == "Running");
  CHECK(w.observer.FindJob("u1")->status_digest.size() == 32);
}

TEST_CASE("an edit of the spec reaches State even while the job is charged") {
  Watching w;
  JobText job;
  w.Start(job.Text());
  job.replicas = 3;
  job.generation = 2;
  w.See(job.Text());
  CHECK(w.Step().size() == 2);  // ClockSet and the upsert.
  CHECK(w.state().spec(*w.Job()).tasks.at(0).replicas == 3);
  CHECK(w.Charged());
}

TEST_CASE("a new annotation is seen although the generation stays") {
  Watching w;
  JobText job;
  job.replicas = 20;  // More than east has.
  w.Start(job.Text());
  REQUIRE(!w.Charged());
  job.annotations = R"(federation.caldera.sh/hold: "true")";
  w.See(job.Text());
  w.Step();
  CHECK(w.Job()->hold);
}

TEST_CASE("jobs that must be looked at are named once") {
  Watching w;
  w.Start(JobText().Text());
  w.observer.TakeDirtyJobs();
  w.See(JobText().Text());
  CHECK(w.observer.TakeDirtyJobs() == std::set<std::string>{"u1"});
  CHECK(w.observer.TakeDirtyJobs().empty());
  w.SeeWork({.job = "gone", .uid = "u9"});
  CHECK(w.observer.TakeDirtyJobs() == std::set<std::string>{"u9"});
  CHECK(w.observer.FindJob("u9") == nullptr);
  CHECK(w.observer.WorksOf("u9").size() == 1);
}

// ---------------------------------------------------------------- refusals

TEST_CASE("a job that is refused from the start is not in State and is named once") {
  Watching w;
  JobText job;
  job.replicas = -1;
  w.Start(job.Text());
  CHECK(w.Job() == nullptr);
  const auto refused = w.observer.TakeRefused();
  REQUIRE(refused.size() == 1);
  CHECK(refused[0].kind == "Job");
  CHECK(refused[0].uid == "u1");
  CHECK(refused[0].message.find("spec.tasks[0].replicas") != std::string::npos);
  w.See(job.Text());
  CHECK(w.observer.TakeRefused().empty());
  job.replicas = 2;
  job.generation = 2;
  w.See(job.Text());
  w.Decide();
  CHECK(w.Charged());
}

void CheckRefused(const Watching& w) {
  const std::vector<PendingJob> pending = ExplainPending(w.state());
  REQUIRE(pending.size() == 1);
  CHECK(pending[0].verdict == Verdict::kRefused);
  CHECK(pending[0].message.find("spec.tasks[0].replicas (-1)") != std::string::npos);
}

TEST_CASE("a waiting job that is edited into something refused keeps its place but is not placed") {
  Watching w;
  JobText job;
  job.replicas = 20;
  w.Start(job.Text());
  job.replicas = -1;
  job.generation = 2;
  w.See(job.Text());
  w.Step();
  REQUIRE(w.Job() != nullptr);
  CheckRefused(w);
  CHECK(!w.Job()->hold);
  CHECK(w.state().spec(*w.Job()).tasks.at(0).replicas == 20);
  CHECK(w.observer.TakeRefused().size() == 1);
  job.replicas = 1;
  job.generation = 3;
  w.See(job.Text());
  w.Decide();
  CHECK(w.Charged());
}

TEST_CASE("a job that is recalled and refused says that it is refused, also after a restart") {
  Watching w;
  JobText job;
  w.Start(job.Text());
  REQUIRE(w.Charged());
  job.replicas = -1;
  job.generation = 2;
  w.See(job.Text());
  w.observer.SetBackoff("u1", {"east", "StuckInMember", "", w.now + Millis(300'000)}, w.now);
  w.Step();
  w.Later(60).Decide();
  CHECK(!w.Charged());
  CheckRefused(w);
  Watching restarted;
  restarted.now = w.now;
  restarted.cycle.Observe(w.state().Export());
  restarted.Start(job.Text());
  CheckRefused(restarted);
  job.replicas = 1;
  job.generation = 3;
  restarted.See(job.Text()).Later(300).Decide();
  CHECK(restarted.Charged());
}

TEST_CASE("a placed job that is edited into something refused goes on as it was") {
  Watching w;
  JobText job;
  w.Start(job.Text());
  job.replicas = -1;
  job.generation = 2;
  job.annotations = kPlaced;
  w.See(job.Text()).SeeWork({.phase = "Running", .counts = "running: 2"});
  w.Step();
  CHECK(w.Charged());
  CHECK(w.Job()->rare().placement.size() == 1);
  w.SeeWork({.phase = "Completed"});
  w.Step();
  CHECK(w.Job()->terminal);
}

TEST_CASE("an object without a uid is refused") {
  Watching w;
  w.Start();
  w.See("apiVersion: v1\nkind: Namespace\nmetadata: {name: team-a}\n");
  CHECK(w.observer.TakeRefused().at(0).message == "has no name or no uid");
}

// ---------------------------------------------------------------- opt-in

TEST_CASE("only namespaces and queues that opted in are looked at") {
  for (const bool by_queue : {false, true}) {
    ObserverOptions options;
    if (by_queue) {
      options.queues = {"silver"};
    } else {
      options.namespaces = {"team-b"};
    }
    Watching w(options);
    w.Start(JobText().Text());
    CHECK(w.Job() == nullptr);
    CHECK(w.observer.FindJob("u1") == nullptr);
    JobText other{.name = "other", .uid = "u2", .queue = "silver"};
    w.See(other.Text());
    w.Step();
    CHECK((w.Job("other") != nullptr) == by_queue);
  }
}

TEST_CASE("a placed job that moves to a queue that did not opt in is kept until it ends") {
  ObserverOptions options;
  options.queues = {"gold"};
  Watching w(options);
  JobText job;
  w.Start(job.Text());
  REQUIRE(w.Charged());
  job.queue = "silver";
  job.generation = 2;
  w.See(job.Text()).SeeWork({.phase = "Running"});
  w.Step();
  CHECK(w.Charged());
  CHECK(w.observer.FindJob("u1") != nullptr);
  w.SeeWork({.phase = "Completed"});
  w.Step();
  CHECK(!w.Charged());
  w.See(job.Text());
  w.Step();
  CHECK(w.Job() == nullptr);
}

// ---------------------------------------------------------------- Works

TEST_CASE("Works say how many pods run and when the job has ended") {
  Watching w;
  w.Start(JobText().Text());
  w.SeeWork({.phase = "Pending"});
  CHECK(w.Step().empty());
  w.Later(1).SeeWork({.phase = "Running", .counts = "running: 1"});
  CHECK(Has(w.Step(), R"("reports":[{"task":"worker","running":1)"));
  CHECK(w.Job()->rare().reported == w.now);
  w.Later(1).SeeWork({.phase = "Running", .counts = "running: 1, pending: 1"});
  CHECK(w.Step().empty());
  w.Later(1).SeeWork({.phase = "Completed"});
  w.Step();
  CHECK(w.Job()->terminal);
  CHECK(!w.Charged());
  // It stays ended when its Work goes.
  w.WorkGoes({});
  CHECK(w.Step().empty());
  CHECK(w.Job()->terminal);
}

TEST_CASE("a Work of another epoch than the charge's says nothing") {
  Watching w;
  w.Start(JobText().Text());
  w.SeeWork({.epoch = 2, .phase = "Completed"});
  CHECK(w.Step().empty());
  CHECK(!w.Job()->terminal);
}

TEST_CASE("a split job has ended when all its shards have") {
  Watching w;
  JobText job;
  job.annotations = kTwoShards;
  w.Start(job.Text() + "---\n" + ClusterText("west"));
  REQUIRE(w.Charged());
  w.SeeWork({.phase = "Running", .counts = "running: 1"})
      .SeeWork({.cluster = "west", .phase = "Running", .counts = "running: 1"});
  w.Step();
  CHECK(w.Job()->rare().reports.at(0).running == 2);
  w.SeeWork({.phase = "Completed"});
  w.Step();
  CHECK(!w.Job()->terminal);
  CHECK(w.Job()->rare().reports.at(0).running == 1);
  CHECK(w.Job()->rare().reports.at(0).finished == 1);
  w.SeeWork({.cluster = "west", .phase = "Completed"});
  w.Step();
  CHECK(w.Job()->terminal);
}

TEST_CASE("a failed shard ends the job once the others are gone") {
  Watching w;
  JobText job;
  job.annotations = kTwoShards;
  w.Start(job.Text() + "---\n" + ClusterText("west"));
  w.SeeWork({.phase = "Failed"}).SeeWork({.cluster = "west", .phase = "Running"});
  job.status = "state: {phase: Failed}";  // Ours, written too early.
  w.See(job.Text());
  w.Step();
  CHECK(!w.Job()->terminal);
  w.WorkGoes({.cluster = "west"});
  w.Step();
  CHECK(!w.Job()->terminal);
  w.Later(39);
  w.Step();
  CHECK(!w.Job()->terminal);
  CHECK(w.observer.NextDue() == w.now + Millis(1000));
  w.Later(1);
  w.Step();
  CHECK(w.Job()->terminal);
}

TEST_CASE("Works that carry references or a Queue are kept apart") {
  Watching w;
  w.Start();
  const std::string text =
      "apiVersion: work.karmada.io/v1alpha1\nkind: Work\nmetadata: {name: caldera-queue-gold, "
      "namespace: karmada-es-east, uid: w9, labels: {app.kubernetes.io/managed-by: caldera, "
      "federation.caldera.sh/work: queue}}\n";
  w.observer.UpsertWork(ObjectOf(text), w.now);
  REQUIRE(w.observer.OtherWorks().size() == 1);
  CHECK(w.observer.OtherWorks().begin()->second.role == WorkRole::kQueue);
  w.observer.DeleteWork("karmada-es-east", "caldera-queue-gold", "another", w.now);
  CHECK(w.observer.OtherWorks().size() == 1);
  w.observer.DeleteWork("karmada-es-east", "caldera-queue-gold", "w9", w.now);
  CHECK(w.observer.OtherWorks().empty());
}

}  // namespace
}  // namespace caldera::testing
