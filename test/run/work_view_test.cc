#include "controller/run/work_view.h"

#include "controller/kube/json_reader.h"
#include "controller/run/manifest_digest.h"
#include "federation/render.h"
#include "test/run/watching.h"

namespace caldera::testing {
namespace {

WorkView Read(const WorkText& text) {
  auto view = ReadWork(ObjectOf(text.Text()));
  REQUIRE(view.has_value());
  return *std::move(view);
}

std::string Refusal(std::string text, const std::string& piece, const std::string& other) {
  text.replace(text.find(piece), piece.size(), other);
  const auto view = ReadWork(ObjectOf(text));
  REQUIRE(!view.has_value());
  return view.error().message;
}

Value Json(std::string_view text) {
  auto value = ParseJson(text);
  REQUIRE(value.has_value());
  return *std::move(value);
}

TEST_CASE("a Work that render wrote is read back") {
  ShardContext context;
  context.job_uid = "u-1";
  context.intent = 12;
  context.all_shards = {{"east", 3, "", {{"worker", 2, 2}}, 2, {}}};
  const Value job = ObjectOf(JobText{.grace = 90}.Text());
  Value work = RenderWork(*RenderShardJob(job, context), context);
  work.Find("metadata")->Set("uid", "w-1");
  const auto view = ReadWork(work);
  REQUIRE(view.has_value());
  CHECK(view->role == WorkRole::kShard);
  CHECK(view->cluster == "east");
  CHECK(view->job_uid == "u-1");
  CHECK(view->job == JobKey{"team-a", "train"});
  CHECK(view->child.empty());
  CHECK(view->epoch == 3);
  CHECK(view->intent == 12);
  CHECK(view->grace == Millis(90'000));
  CHECK(!view->suspended);
  CHECK(!view->reported);
  CHECK(view->applied == WorkView::Applied::kUnknown);
}

TEST_CASE("a Work's conditions and what the member reported are read") {
  const WorkView view = Read({.applied = "False",
                              .phase = "Running",
                              .counts = "running: 3, failed: 1, taskStatusCount: {}",
                              .meta = "deletionTimestamp: \"2026-01-02T00:00:00Z\""});
  CHECK(view.applied == WorkView::Applied::kFalse);
  CHECK(view.applied_message == "said");
  CHECK(view.deleting);
  CHECK(view.reported);
  CHECK(view.phase == "Running");
  CHECK(view.phase_since == *ParseTime("2026-01-02T00:00:00Z"));
  REQUIRE(view.tasks.size() == 1);
  CHECK(view.tasks[0].task == "worker");
  CHECK(view.tasks[0].running == 3);
  CHECK(view.tasks[0].finished == 1);
  CHECK(view.job_status.Find("running")->AsInteger() == 3);
  CHECK(view.grace == Millis(30'000));
}

TEST_CASE("counters by task are read where they are") {
  const WorkView view = Read(
      {.phase = "Running",
       .counts = "running: 5, taskStatusCount: {ps: {phase: {Running: 1}}, main: {phase: {Running: "
                 "2, Succeeded: 1, Failed: 1, Pending: 4}}}"});
  REQUIRE(view.tasks.size() == 2);
  CHECK(view.tasks[0].task == "main");
  CHECK(view.tasks[0].running == 2);
  CHECK(view.tasks[0].finished == 2);
  CHECK(view.tasks[1].running == 1);
}

TEST_CASE("what has no pods is told") {
  CHECK(HasNoPods(Read({.applied = "True", .phase = "Completed"})));
  CHECK(HasNoPods(Read({.applied = "False"})));
  CHECK(!HasNoPods(Read({.applied = "False", .phase = "Running"})));
  CHECK(!HasNoPods(Read({.applied = "True"})));
  CHECK(!HasNoPods(Read({})));
  CHECK(!HasNoPods(Read({.applied = "True", .phase = "Aborted"})));
}

TEST_CASE("what the dispatcher writes beside is read") {
  std::string text = WorkText().Text();
  const std::string at = "federation.caldera.sh/epoch";
  text.insert(text.find(at),
              "federation.caldera.sh/digest: d1, federation.caldera.sh/generation: \"4\", "
              "federation.caldera.sh/uses: 'Secret/team-a/token,Queue/gold', ");
  const auto view = ReadWork(ObjectOf(text));
  REQUIRE(view.has_value());
  CHECK(view->digest == "d1");
  CHECK(view->generation == 4);
  CHECK(view->uses == std::vector<std::string>{"Secret/team-a/token", "Queue/gold"});
}

TEST_CASE("a Work that is none of ours or cannot be read says why") {
  const std::string text = WorkText().Text();
  CHECK(Refusal(text, "managed-by: caldera", "managed-by: helm").find("none of ours") !=
        std::string::npos);
  CHECK(Refusal(text, "karmada-es-east", "elsewhere").find("no execution namespace") !=
        std::string::npos);
  CHECK(Refusal(text, "epoch: \"1\"", "epoch: \"x\"").find("epoch is \"x\"") != std::string::npos);
  CHECK(Refusal(text, "job: team-a/train", "job: train").find("NAMESPACE/NAME") !=
        std::string::npos);
  CHECK(Refusal(text, "job-uid: u1", "job-uid: u").find("not that of a Work of job u") !=
        std::string::npos);
  CHECK(Refusal(text, "work: shard", "work: toy").find("shard, reference, queue or access") !=
        std::string::npos);
  CHECK(Refusal(text, "uid: w-u1-east", "uid: ''").find("is missing") != std::string::npos);
}

TEST_CASE("a parent's view has what a write to it needs") {
  const JobView view =
      ReadJobView(ObjectOf(JobText{.generation = 3,
                                   .annotations = "federation.caldera.sh/placement: '[]'",
                                   .labels = "resourcetemplate.karmada.io/claimed-by: caldera",
                                   .meta = "resourceVersion: \"77\"",
                                   .status = "state: {phase: Running}",
                                   .grace = 5}
                               .Text()));
  CHECK(view.key == JobKey{"team-a", "train"});
  CHECK(view.uid == "u1");
  CHECK(view.kind == JobKind::kJob);
  CHECK(view.resource_version == "77");
  CHECK(view.generation == 3);
  CHECK(view.claimed_by_us);
  CHECK(view.placement == "[]");
  CHECK(view.phase == "Running");
  CHECK(!view.ttl.has_value());
  CHECK(!view.deleting);
  CHECK(view.grace == Millis(5000));
  const JobView hyper = ReadJobView(
      Json(R"({"kind":"HyperJob","metadata":{"name":"h"},"spec":{"ttlSecondsAfterFinished":9,)"
           R"("replicatedJobs":[{"templateSpec":{"tasks":[{"template":{"spec":)"
           R"({"terminationGracePeriodSeconds":70}}}]}}]}})"));
  CHECK(hyper.kind == JobKind::kHyperJob);
  CHECK(hyper.ttl == Millis(9000));
  CHECK(hyper.grace == Millis(70'000));
}

TEST_CASE("a status' digest depends on its content alone") {
  const std::string digest = StatusDigest(Json(R"({"a":1,"b":{"c":[1,{"d":2,"e":3}],"f":null}})"));
  CHECK(digest == StatusDigest(Json(R"({"b":{"c":[1,{"e":3,"d":2}]},"a":1,"g":null})")));
  CHECK(digest != StatusDigest(Json(R"({"a":1,"b":{"c":[1,{"d":2,"e":4}]}})")));
  CHECK(digest.size() == 32);
  CHECK(StatusDigest(Value()).empty());
  CHECK(StatusDigest(Json("{}")).empty());
}

}  // namespace
}  // namespace caldera::testing
