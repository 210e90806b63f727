// Commands, deletion, recall and restart: how what a job held is given back.
#include "test/run/watching.h"

namespace caldera::testing {
namespace {

const std::string kPlaced =
    R"(federation.caldera.sh/placement: '[{"cluster":"east","epoch":1,"tasks":{"worker":{"replicas":2,"minAvailable":2}}}]')";

bool Has(const std::vector<std::string>& changes, std::string_view piece) {
  return std::any_of(changes.begin(), changes.end(), [&](const std::string& change) {
    return change.find(piece) != std::string::npos;
  });
}

TEST_CASE("an aborted job gives back what it held once its pods are gone") {
  Watching w;
  JobText job;
  w.Start(job.Text());
  job.annotations = kPlaced;
  const WorkText work{.applied = "True", .phase = "Running", .counts = "running: 2", .grace = 45};
  w.See(job.Text()).SeeWork(work);
  w.Step();
  w.SeeCommand(CommandText("AbortJob", "Job", "train", "u1"));
  CHECK(w.observer.TakeObeyed().empty());  // Not before it is taken into State.
  w.Step();
  CHECK(w.Job()->suspended);
  CHECK(w.Charged());
  const auto obeyed = w.observer.TakeObeyed();
  REQUIRE(obeyed.size() == 1);
  CHECK(obeyed[0].uid == "uid-of-do");
  w.WorkGoes(work);
  w.Later(55);
  w.Step();
  CHECK(w.Charged());  // The annotation is still there.
  job.annotations.clear();
  w.See(job.Text());
  w.Step();
  CHECK(!w.Charged());
  CHECK(w.Job()->suspended);
  CHECK(w.Decide().actions.empty());
}

TEST_CASE("the grace period and the margin are waited for") {
  Watching w;
  w.Start(JobText().Text());
  const WorkText work{.applied = "True", .phase = "Running", .grace = 45};
  w.SeeWork(work);
  w.SeeCommand(CommandText("AbortJob", "Job", "train", "u1"));
  w.Step();
  w.Later(5).WorkGoes(work);
  w.Step();
  CHECK(w.observer.NextDue() == w.now + Millis(55'000));
  w.Later(54);
  w.Step();
  CHECK(w.Charged());
  w.Later(1);
  CHECK(Has(w.Step(), "Released"));
  CHECK(!w.Charged());
}

TEST_CASE("a Work that was never applied is given back at once") {
  Watching w;
  w.Start(JobText().Text());
  const WorkText work{.applied = "False"};
  w.SeeWork(work);
  w.SeeCommand(CommandText("AbortJob", "Job", "train", "u1"));
  w.Step();
  CHECK(w.Charged());
  w.WorkGoes(work);
  w.Step();
  CHECK(!w.Charged());
}

TEST_CASE("a job whose Work was not seen yet waits for the margin alone") {
  Watching w;
  w.Start(JobText().Text());
  w.SeeCommand(CommandText("AbortJob", "Job", "train", "u1"));
  w.Step();
  CHECK(w.Charged());
  w.Later(10);
  w.Step();
  CHECK(!w.Charged());
}

TEST_CASE("a job is resumed once what it held is given back and is placed with a later epoch") {
  Watching w;
  w.Start(JobText().Text());
  w.SeeWork({.applied = "False"});
  w.SeeCommand(CommandText("AbortJob", "Job", "train", "u1"));
  w.Step();
  w.observer.TakeObeyed();
  w.SeeCommand(CommandText("ResumeJob", "Job", "train", "u1", "again"));
  w.Step();
  CHECK(w.Job()->suspended);
  CHECK(w.observer.TakeObeyed().empty());
  w.WorkGoes({});
  w.Step();
  REQUIRE(!w.Charged());
  CHECK(w.observer.NextDue() == w.now);
  w.Decide();
  CHECK(w.observer.TakeObeyed().size() == 1);
  REQUIRE(w.Charged());
  CHECK(w.Job()->charge->shards.at(0).epoch == 2);
}

TEST_CASE("what State knows of suspension holds over the status") {
  Watching w;
  JobText job;
  job.replicas = 20;
  w.Start(job.Text());
  job.status = "state: {phase: Aborted}";
  w.See(job.Text());
  w.Step();
  CHECK(!w.Job()->suspended);
  // At first sight the status is all there is.
  w.See(JobText{.name = "old", .uid = "u2", .status = "state: {phase: Aborted}"}.Text());
  w.Step();
  CHECK(w.Job("old")->suspended);
}

TEST_CASE("Commands that cannot be obeyed are said on their target and deleted") {
  Watching w;
  w.Start(JobText().Text());
  w.SeeCommand(CommandText("RestartJob", "Job", "train", "u1", "c1"))
      .SeeCommand(CommandText("ResumeJob", "Job", "train", "u1", "c2"))
      .SeeCommand(CommandText("AbortJob", "Queue", "gold", "q-uid", "c3"))
      .SeeCommand(CommandText("CloseQueue", "Job", "train", "u1", "c4"));
  w.Step();
  const auto refused = w.observer.TakeRefused();
  REQUIRE(refused.size() == 4);
  CHECK(refused[0].message.find("RestartJob is not known here") != std::string::npos);
  CHECK(refused[0].uid == "u1");
  CHECK(refused[0].ns == "team-a");
  CHECK(refused[1].message.find("not aborted") != std::string::npos);
  CHECK(refused[2].message.find("is for a Job or HyperJob") != std::string::npos);
  CHECK(refused[3].message.find("is for a Queue") != std::string::npos);
  CHECK(w.observer.TakeObeyed().size() == 4);
  CHECK(w.Charged());
}

TEST_CASE("a Command may come before its Job and is given up after a while") {
  Watching w;
  w.Start();
  w.SeeCommand(CommandText("AbortJob", "Job", "train", "u1"))
      .SeeCommand(CommandText("AbortJob", "Job", "never", "u5", "lost"));
  w.Step();
  CHECK(w.observer.TakeObeyed().empty());
  w.See(JobText().Text());
  CHECK(w.Decide().actions.empty());
  CHECK(w.Job()->suspended);
  CHECK(w.observer.TakeObeyed().size() == 1);
  CHECK(w.observer.NextDue() == w.now + Millis(30'000));
  w.Later(30);
  w.Step();
  CHECK(w.observer.TakeObeyed().size() == 1);
  CHECK(w.observer.TakeRefused().at(0).message.find("no such Job") != std::string::npos);
}

TEST_CASE("a Command is obeyed once and handed out again while it is there") {
  Watching w;
  w.Start(JobText().Text());
  const std::string command = CommandText("AbortJob", "Job", "train", "u1");
  w.SeeCommand(command).SeeCommand(command);
  w.Step();
  CHECK(w.observer.TakeObeyed().size() == 1);
  w.SeeCommand(command);
  CHECK(w.Step().empty());
  CHECK(w.observer.TakeObeyed().size() == 1);
  w.observer.Delete("Command", "team-a", "do", "uid-of-do", w.now);
  CHECK(w.observer.TakeObeyed().empty());
}

TEST_CASE("Commands are obeyed in the order in which they were made") {
  Watching w;
  JobText job;
  job.replicas = 20;
  w.Start(job.Text());
  const auto at = [](const std::string& text, const std::string& version) {
    std::string made = text;
    made.replace(made.find("namespace:"), 0, "resourceVersion: \"" + version + "\", ");
    return made;
  };
  w.SeeCommand(at(CommandText("ResumeJob", "Job", "train", "u1", "a-resume"), "12"))
      .SeeCommand(at(CommandText("AbortJob", "Job", "train", "u1", "b-abort"), "9"));
  w.Step();
  CHECK(!w.Job()->suspended);
  CHECK(w.observer.TakeRefused().empty());
}

TEST_CASE("a Command names its target by its owner where it has no target of its own") {
  Watching w;
  w.Start(JobText().Text());
  w.SeeCommand(
      "apiVersion: bus.volcano.sh/v1alpha1\nkind: Command\nmetadata: {name: x, namespace: team-a, "
      "uid: c1, ownerReferences: [{kind: Queue, name: q, uid: q1}, {kind: Job, name: train, uid: "
      "u1, controller: true}]}\naction: AbortJob\n");
  w.Step();
  CHECK(w.Job()->suspended);
  w.SeeCommand(
      "apiVersion: bus.volcano.sh/v1alpha1\nkind: Command\nmetadata: {name: y, namespace: team-a, "
      "uid: c2}\naction: AbortJob\n");
  CHECK(w.observer.TakeRefused().at(0).message.find("no target") != std::string::npos);
}

TEST_CASE("a job that has ended is neither aborted nor resumed") {
  Watching w;
  w.Start(JobText().Text());
  w.SeeWork({.phase = "Completed"});
  w.Step();
  w.SeeCommand(CommandText("AbortJob", "Job", "train", "u1"));
  CHECK(w.Step().empty());
  CHECK(w.observer.TakeRefused().at(0).message.find("has ended") != std::string::npos);
  CHECK(w.observer.TakeObeyed().size() == 1);
}

TEST_CASE("a Work of ours that cannot be read any more gives nothing back") {
  Watching w;
  w.Start(JobText().Text());
  w.SeeWork({.applied = "False"});
  w.SeeCommand(CommandText("AbortJob", "Job", "train", "u1"));
  w.Step();
  std::string text = WorkText().Text();
  text.replace(text.find("epoch: \"1\""), 10, "epoch: none");
  w.observer.UpsertWork(ObjectOf(text), w.now);
  w.Later(1000);
  w.Step();
  CHECK(w.Charged());
  CHECK(w.observer.TakeRefused().at(0).kind == "Work");
}

// ---------------------------------------------------------------- deletion

TEST_CASE("a waiting job that is deleted is gone at once") {
  Watching w;
  JobText job;
  job.replicas = 20;
  w.Start(job.Text());
  w.JobGoes();
  CHECK(Has(w.Step(), "JobDelete"));
  CHECK(w.Job() == nullptr);
}

TEST_CASE("a placed job that is deleted stays charged until its pods are gone") {
  Watching w;
  JobText job;
  w.Start(job.Text());
  job.annotations = kPlaced;
  w.See(job.Text()).SeeWork({.applied = "True", .phase = "Running"});
  w.Step();
  w.Later(1).JobGoes();
  w.Step();
  CHECK(w.observer.FindJob("u1") == nullptr);
  CHECK(w.observer.WorksOf("u1").size() == 1);
  REQUIRE(w.Charged());
  CHECK(w.Job()->suspended);
  w.Later(1).WorkGoes({});
  w.Step();
  CHECK(w.Charged());
  w.Later(40);
  CHECK(Has(w.Step(), "JobDelete"));
  CHECK(w.Job() == nullptr);
  w.Later(1000);
  CHECK(w.Step().empty());
  CHECK(w.observer.NextDue() == Time());
}

TEST_CASE("a job made again under the name of one that still holds something waits for it") {
  Watching w;
  w.Start(JobText().Text());
  w.SeeWork({.applied = "True", .phase = "Running"});
  w.Step();
  w.See(JobText{.uid = "u2"}.Text());  // Also says that u1 is gone.
  w.Step();
  REQUIRE(w.Job() != nullptr);
  CHECK(w.Job()->uid == "u1");
  CHECK(w.observer.FindJob("u1") == nullptr);
  CHECK(w.observer.FindJob("u2") != nullptr);
  w.WorkGoes({});
  w.Step();
  w.Later(40);
  w.Decide();
  CHECK(w.Job()->uid == "u2");
  CHECK(w.Charged());
}

TEST_CASE("a finished job that is deleted is gone at once although its Work is there") {
  Watching w;
  w.Start(JobText().Text());
  w.SeeWork({.phase = "Completed"});
  w.Step();
  w.JobGoes();
  w.Step();
  CHECK(w.Job() == nullptr);
  CHECK(w.observer.WorksOf("u1").size() == 1);
}

TEST_CASE("a job that is being deleted is not placed") {
  Watching w;
  w.Start(JobText{.meta = R"(deletionTimestamp: "2026-01-10T00:00:00Z")"}.Text());
  CHECK(!w.Charged());
  CHECK(w.observer.FindJob("u1")->deleting);
}

// ---------------------------------------------------------------- restart

TEST_CASE("after a restart a charge of a job that is gone is given back once its pods are") {
  Watching before;
  before.Start(JobText().Text());
  REQUIRE(before.Charged());
  for (const bool work_left : {true, false}) {
    Watching w;
    w.cycle.Observe(before.state().Export());
    w.Later(100);
    if (work_left) {
      w.SeeWork({.applied = "True", .phase = "Running"});
    }
    w.Start();
    CHECK(w.Charged());
    CHECK(w.Job()->suspended);
    if (work_left) {
      w.Later(500);
      w.Step();
      CHECK(w.Charged());
      w.WorkGoes({});
      w.Step();
    }
    w.Later(39);
    w.Step();
    CHECK(w.Charged());
    w.Later(1);
    w.Step();
    CHECK(w.Job() == nullptr);
  }
}

TEST_CASE("after a restart State holds over statuses and nothing is planned twice") {
  Watching before;
  before.Start(JobText().Text());
  Watching w;
  w.cycle.Observe(before.state().Export());
  w.Later(100).SeeWork({.applied = "True", .phase = "Running"});
  w.Start(JobText{.annotations = kPlaced}.Text());
  CHECK(w.Charged());
  CHECK(w.Job()->charge->intent == before.Job()->charge->intent);
  CHECK(!w.Job()->suspended);
  CHECK(w.Step().empty());
}

TEST_CASE("without a ledger the placements that are there are taken over") {
  Watching w;
  w.SeeWork({.applied = "True", .phase = "Running", .counts = "running: 2"});
  w.Start(JobText{.annotations = kPlaced}.Text());
  REQUIRE(w.Charged());
  CHECK(w.Job()->charge->intent == 0);
  CHECK(w.Job()->rare().reports.at(0).running == 2);
  w.SeeWork({.phase = "Completed"});
  w.Step();
  CHECK(w.Job()->terminal);
}

TEST_CASE("a cluster that could not take a job gives it back and is not tried again for a while") {
  Watching w;
  JobText job;
  w.Start(job.Text() + "---\n" + ClusterText("west", "True", "2026-01-01T00:00:00Z", "9", "c2"));
  REQUIRE(w.Charged());
  const std::string first = w.Job()->charge->shards.at(0).cluster;
  const WorkText work{.cluster = first, .applied = "False"};
  job.annotations = kPlaced;
  w.See(job.Text()).SeeWork(work);
  w.Step();
  CHECK(!IsRecalled(*w.Job()));
  w.Later(1);
  w.observer.SetBackoff(
      "u1", {first, "NameConflict", "a Job of that name is there", w.now + Millis(300'000)}, w.now);
  w.Step();
  CHECK(IsRecalled(*w.Job()));
  CHECK(w.Charged());
  w.WorkGoes(work);
  job.annotations.clear();
  w.See(job.Text());
  w.Step();
  CHECK(!w.Charged());
  w.Decide();
  REQUIRE(w.Charged());
  CHECK(!IsRecalled(*w.Job()));
  CHECK(w.Job()->charge->shards.at(0).cluster != first);
  CHECK(w.Job()->charge->shards.at(0).epoch == 2);
  // It is over when its time has come, and is forgotten when the job is looked at again.
  w.SeeWork({.cluster = first == "east" ? "west" : "east", .epoch = 2, .applied = "False"});
  CHECK(w.Job()->rare().backoffs.size() == 1);
}

TEST_CASE("a backoff replaces an earlier one of its cluster and ends by the clock") {
  Watching w;
  w.Start();
  w.See(JobText{.annotations = R"(federation.caldera.sh/hold: "true")"}.Text());
  w.Step();
  w.observer.SetBackoff("u1", {"east", "ApplyFailed", "one", w.now + Millis(5'000)}, w.now);
  w.observer.SetBackoff("u1", {"east", "ApplyFailed", "two", w.now + Millis(60'000)}, w.now);
  w.Step();
  REQUIRE(w.Job()->rare().backoffs.size() == 1);
  CHECK(w.Job()->rare().backoffs[0].message == "two");
  w.See(JobText{.labels = "a: b"}.Text());
  CHECK(w.Decide().actions.empty());
  CHECK(w.observer.NextDue() == w.now + Millis(60'000));
  w.Later(60);
  CHECK(w.Step().size() == 1);  // The clock alone: the backoff has ended.
  CHECK(w.Decide().actions.size() == 1);
}

TEST_CASE("references that are missing hold a job until they are there") {
  Watching w;
  JobText job;
  job.replicas = 20;
  w.Start(job.Text());
  w.observer.SetMissingReferences("u1", {"Secret/team-a/token"}, w.now);
  w.Step();
  CHECK(w.Job()->rare().missing_references == std::vector<std::string>{"Secret/team-a/token"});
  w.See(job.Text());
  CHECK(w.Step().empty());
  w.observer.SetMissingReferences("u1", {}, w.now);
  w.Step();
  CHECK(w.Job()->rare().missing_references.empty());
}

}  // namespace
}  // namespace caldera::testing
