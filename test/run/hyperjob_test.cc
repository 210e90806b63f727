// HyperJobs seen from the API server: a Work for each child, all of them released together, one
// status, one end; and a crash at any write leaves no half.
#include <algorithm>

#include "test/run/control_plane.h"
#include "test/run/cut_run.h"

namespace caldera::testing {
namespace {

constexpr Millis kAWhile{20'000};

/// `pods` one-CPU pods a child; `pod` is more of the pod's spec.
std::string Replicated(const std::string& name, int replicas, int pods,
                       const std::string& mode = "static", const std::string& pod = "") {
  const std::string count = std::to_string(pods);
  return R"({"name":")" + name + R"(","replicas":)" + std::to_string(replicas) +
         R"(,"splitPolicy":{"mode":")" + mode +
         R"("},"templateSpec":{"queue":"gold","minAvailable":)" + count +
         R"(,"tasks":[{"name":"worker","replicas":)" + count +
         R"(,"template":{"spec":{"containers":[{"name":"c","image":"i","resources":)"
         R"({"requests":{"cpu":"1"}}}])" +
         pod + "}}}]}}";
}

/// Its uid.
std::string Submit(ControlPlane& plane, const std::string& name,
                   const std::vector<std::string>& replicated) {
  std::string list;
  for (const std::string& each : replicated) {
    list += (list.empty() ? "" : ",") + each;
  }
  const Value job = plane.Create(
      ControlPlane::kHyperJobs,
      R"({"apiVersion":"training.volcano.sh/v1alpha1","kind":"HyperJob","metadata":{"name":")" +
          name + R"(","namespace":"team-a"},"spec":{"replicatedJobs":[)" + list + "]}}");
  return TextAt(job, {"metadata", "uid"});
}

/// Two children of two pods, and twelve pods that are divided: more than one cluster holds.
std::string SubmitBig(ControlPlane& plane) {
  return Submit(plane, "big", {Replicated("a", 2, 2), Replicated("b", 1, 12, "auto")});
}

Value HyperJob(ControlPlane& plane, const std::string& name) {
  return plane.Get(ControlPlane::kHyperJobs + "/" + name);
}

/// Type and reason of its conditions that are True.
std::string Conditions(ControlPlane& plane, const std::string& name) {
  const Value job = HyperJob(plane, name);
  const Value* const list = job.At({"status", "conditions"});
  std::string text;
  if (list != nullptr && list->IsList()) {
    for (const Value& condition : list->AsList()) {
      CHECK(TextAt(condition, {"status"}) == "True");
      CHECK(!TextAt(condition, {"message"}).empty());
      CHECK(ParseTime(TextAt(condition, {"lastTransitionTime"})).has_value());
      text += TextAt(condition, {"type"}) + "/" + TextAt(condition, {"reason"}) + " ";
    }
  }
  return text;
}

/// `a-0@east` of its Works that stay, in order; with `!` where one is suspended.
std::string Children(ControlPlane& plane, const std::string& uid) {
  std::set<std::string> children;
  for (const Value& work : plane.List("/apis/work.karmada.io/v1alpha1/works")) {
    const std::string name = TextAt(work, {"metadata", "name"});
    if (!name.starts_with("caldera-" + uid + "-") ||
        !TextAt(work, {"metadata", "deletionTimestamp"}).empty()) {
      continue;
    }
    const Value* const suspended = work.At({"spec", "suspendDispatching"});
    children.insert(name.substr(uid.size() + 9) + "@" +
                    TextAt(work, {"metadata", "namespace"}).substr(11) +
                    (suspended != nullptr && suspended->AsBool() ? "!" : ""));
  }
  std::string text;
  for (const std::string& child : children) {
    text += (text.empty() ? "" : " ") + child;
  }
  return text;
}

void ReportPhase(ControlPlane& plane, const std::string& cluster, const std::string& work,
                 const std::string& phase) {
  plane.Report(cluster, work,
               R"({"status":{"manifestStatuses":[{"identifier":{"kind":"Job"},"status":)"
               R"({"state":{"phase":")" +
                   phase +
                   R"(","message":"said","lastTransitionTime":"2026-12-01T08:00:40Z"}}}]}})");
}

const std::string kPlaces = "a-0@east a-1@east b-0@east b-1@west";

TEST_CASE("the children of a HyperJob run as one") {
  ControlPlane plane;
  plane.takes_time = Millis(5'000);
  plane.Fleet({"east", "west"});
  Controller controller(plane.server, plane.executor, plane.ledger);
  const std::string uid = SubmitBig(plane);
  plane.Advance(Millis(3'000));
  CHECK(Children(plane, uid) == kPlaces);
  const Value parent = HyperJob(plane, "big");
  CHECK(TextAt(parent, {"metadata", "labels", "resourcetemplate.karmada.io/claimed-by"}) ==
        "caldera");
  const Value* const status = parent.Find("status");
  REQUIRE(status != nullptr);
  CHECK(*status->Find("splitCount") == Value(int64_t{4}));
  CHECK(*status->Find("observedGeneration") == Value(int64_t{1}));
  CHECK(status->Find("conditions") == nullptr);
  const auto& templates = status->Find("replicatedJobsStatus")->AsList();
  REQUIRE(templates.size() == 2);
  CHECK(TextAt(templates[0], {"name"}) == "a");
  CHECK(*templates[0].Find("running") == Value(int64_t{4}));
  CHECK(TextAt(templates[0], {"jobStates", "big-a-1", "phase"}) == "Running");
  CHECK(templates[1].Find("jobStates")->AsMap().size() == 2);
  const Value work = plane.Work("west", "caldera-" + uid + "-b-1");
  const Value& job = work.At({"spec", "workload", "manifests"})->AsList().front();
  CHECK(TextAt(job, {"kind"}) == "Job");
  CHECK(TextAt(job, {"metadata", "name"}) == "big-b-1");
  plane.Advance(kAWhile);
  CHECK(Conditions(plane, "big") == "Completed/AllJobsCompleted ");
  const Value ended = HyperJob(plane, "big");
  CHECK(*ended.At({"status", "replicatedJobsStatus"})->AsList()[1].Find("succeeded") ==
        Value(int64_t{12}));
  CHECK(plane.Reasons() == std::multiset<std::string>{"Completed", "Placed"});
  CHECK(plane.started.size() == 4);
  CHECK(controller.state().job(controller.state().FindJob({"team-a", "big"})).terminal);
  CHECK(controller.errors.empty());
  // Nothing is written any more.
  const int writes = controller.wire.writes();
  plane.Advance(Millis(120'000));
  CHECK(controller.wire.writes() == writes);
}

TEST_CASE("a child that fails takes the others along") {
  for (const std::string phase : {"Failed", "Terminated"}) {
    ControlPlane plane;
    plane.Fleet({"east", "west"});
    Controller controller(plane.server, plane.executor, plane.ledger);
    const std::string uid = SubmitBig(plane);
    plane.Advance(kAWhile);
    ReportPhase(plane, "west", "caldera-" + uid + "-b-1", phase);
    plane.Advance(Millis(120'000));
    CHECK(Conditions(plane, "big") == "Failed/JobFailed ");
    CHECK(Children(plane, uid) == "b-1@west!");
    const Value parent = HyperJob(plane, "big");
    const Value& condition = parent.At({"status", "conditions"})->AsList().front();
    CHECK(TextAt(condition, {"message"}) == "Job big-b-1 in cluster west is " + phase + ": said");
    CHECK(TextAt(parent.At({"status", "replicatedJobsStatus"})->AsList()[0],
                 {"jobStates", "big-a-0", "phase"}) == "Terminated");
    CHECK(controller.state().cluster(controller.state().clusters().at("east")).jobs.empty());
    CHECK(plane.Reasons().count("Failed") == 1);
  }
}

TEST_CASE("a HyperJob that is deleted takes its children along, and then only frees its room") {
  ControlPlane plane;
  plane.Fleet({"east", "west"});
  Controller controller(plane.server, plane.executor, plane.ledger);
  const std::string uid = SubmitBig(plane);
  plane.Advance(kAWhile);
  REQUIRE(Children(plane, uid) == kPlaces);
  plane.Ask("DELETE", ControlPlane::kHyperJobs + "/big");
  plane.Advance(Millis(10'000));
  CHECK(Children(plane, uid).empty());
  CHECK(controller.state().FindJob({"team-a", "big"}) != kNoIndex);
  plane.Advance(Millis(60'000));
  CHECK(controller.state().FindJob({"team-a", "big"}) == kNoIndex);
}

TEST_CASE("a HyperJob is aborted and resumed by Commands, also where the ledger is lost") {
  ControlPlane plane;
  plane.Fleet({"east", "west"});
  auto controller = std::make_unique<Controller>(plane.server, plane.executor, plane.ledger);
  const std::string uid = SubmitBig(plane);
  plane.Advance(kAWhile);
  controller->SetSuspended(uid, "AbortJob", "big", resource::HyperJobs());
  plane.Advance(Millis(120'000));
  CHECK(Children(plane, uid).empty());
  CHECK(Conditions(plane, "big") == "Suspended/Aborted ");
  controller.reset();
  controller =
      std::make_unique<Controller>(plane.server, plane.executor, plane.directory.File("new.db"));
  plane.Advance(kAWhile);
  CHECK(Children(plane, uid).empty());
  controller->SetSuspended(uid, "ResumeJob", "big", resource::HyperJobs());
  plane.Advance(kAWhile);
  CHECK(Children(plane, uid) == kPlaces);
  CHECK(Conditions(plane, "big").empty());
}

TEST_CASE("a lost ledger is rebuilt from the children's Works") {
  ControlPlane plane;
  plane.Fleet({"east", "west"});
  auto controller = std::make_unique<Controller>(plane.server, plane.executor, plane.ledger);
  const std::string uid = SubmitBig(plane);
  plane.Advance(kAWhile);
  controller.reset();
  const auto started = plane.started;
  controller =
      std::make_unique<Controller>(plane.server, plane.executor, plane.directory.File("new.db"));
  plane.Advance(kAWhile);
  CHECK(Children(plane, uid) == kPlaces);
  CHECK(plane.started == started);
  const State& state = controller->state();
  const JobEntry& job = state.job(state.FindJob({"team-a", "big"}));
  REQUIRE(job.charge.has_value());
  CHECK(job.charge->shards.size() == 4);
  CHECK(ToList(state.resources(), state.queue(state.queues().at("gold")).charged.ToVector()) ==
        ResourceList{{"cpu", 16'000}, {"pods", 16}});
}

TEST_CASE("where a child's name is taken all of the HyperJob goes elsewhere") {
  ControlPlane plane;
  plane.Create("/api/v1/namespaces", R"({"metadata":{"name":"karmada-es-north"}})");
  plane.Fleet({"east", "north", "west"});
  plane.taken = {"east"};
  Controller controller(plane.server, plane.executor, plane.ledger);
  const std::string uid = SubmitBig(plane);
  plane.Advance(Millis(120'000));
  CHECK(plane.Reasons().count("Recalled") == 1);
  CHECK(Children(plane, uid) == "a-0@north a-1@north b-0@north b-1@west");
  for (const auto& started : plane.started) {
    CHECK_MESSAGE(!started.first.starts_with("karmada-es-east/"), started.first);
  }
}

TEST_CASE("a member gets what its own children refer to, and no more") {
  ControlPlane plane;
  plane.Fleet({"east", "west"});
  for (const std::string name : {"for-a", "for-b"}) {
    plane.Create("/api/v1/namespaces/team-a/configmaps",
                 R"({"metadata":{"name":")" + name + R"("}})");
  }
  const auto volume = [](const std::string& name) {
    return R"(,"volumes":[{"name":"v","configMap":{"name":")" + name + R"("}}])";
  };
  Controller controller(plane.server, plane.executor, plane.ledger);
  const std::string uid = Submit(plane, "big",
                                 {Replicated("a", 2, 2, "static", volume("for-a")),
                                  Replicated("b", 1, 12, "auto", volume("for-b"))});
  plane.Advance(kAWhile);
  REQUIRE(Children(plane, uid) == kPlaces);
  CHECK(!plane.Work("east", "caldera-configmap.team-a.for-a").IsNull());
  CHECK(!plane.Work("east", "caldera-configmap.team-a.for-b").IsNull());
  CHECK(plane.Work("west", "caldera-configmap.team-a.for-a").IsNull());
  CHECK(!plane.Work("west", "caldera-configmap.team-a.for-b").IsNull());
  CHECK(TextAt(plane.Work("east", "caldera-" + uid + "-a-0"),
               {"metadata", "annotations", "federation.caldera.sh/uses"}) ==
        "Queue/gold,ConfigMap/team-a/for-a");
}

TEST_CASE("a HyperJob that refers to what is not there waits for it") {
  ControlPlane plane;
  plane.Fleet({"east", "west"});
  Controller controller(plane.server, plane.executor, plane.ledger);
  const std::string uid = Submit(
      plane, "big",
      {Replicated("a", 2, 2),
       Replicated("b", 1, 12, "auto", R"(,"volumes":[{"name":"v","secret":{"secretName":"s"}}])")});
  plane.Advance(kAWhile);
  CHECK(Children(plane, uid).empty());
  plane.Create("/api/v1/namespaces/team-a/secrets", R"({"metadata":{"name":"s"}})");
  plane.Advance(Millis(180'000));
  CHECK(Children(plane, uid) == kPlaces);
}

Value EditedSpec(ControlPlane& plane, const std::string& name,
                 const std::function<void(Value::List& templates)>& edit) {
  Value spec = *HyperJob(plane, name).Find("spec");
  edit(spec.Find("replicatedJobs")->AsList());
  return Value(Value::Map{{"spec", std::move(spec), {}}});
}

TEST_CASE("edits of a HyperJob that runs are held and said") {
  ControlPlane plane;
  plane.Fleet({"east", "west"});
  Controller controller(plane.server, plane.executor, plane.ledger);
  const std::string uid = SubmitBig(plane);
  plane.Advance(kAWhile);
  const auto edit = [&](const std::function<void(Value::List & templates)>& change) {
    plane.Merge(ControlPlane::kHyperJobs + "/big", WriteJson(EditedSpec(plane, "big", change)));
    plane.Advance(kAWhile);
    CHECK(Children(plane, uid) == kPlaces);
  };
  SUBCASE("more children") {
    edit([](Value::List& templates) { templates[0].Set("replicas", int64_t{3}); });
  }
  SUBCASE("another image in a template whose children are not the first") {
    edit([](Value::List& templates) {
      Value& task = templates[1].Find("templateSpec")->Find("tasks")->AsList().front();
      task.Find("template")->Find("spec")->Find("containers")->AsList().front().Set("image", "j");
    });
  }
  SUBCASE("a template less") {
    edit([](Value::List& templates) { templates.erase(templates.begin()); });
  }
  CHECK(plane.Reasons().count("SpecChangeHeld") == 1);
  CHECK(plane.started.size() == 4);
  CHECK(*HyperJob(plane, "big").At({"status", "observedGeneration"}) == Value(int64_t{2}));
  CHECK(controller.errors.empty());
}

TEST_CASE("a HyperJob whose template goes between placement and dispatch is placed as it is now") {
  ControlPlane plane;
  plane.Fleet({"east", "west"});
  Controller controller(plane.server, plane.executor, plane.ledger);
  controller.wire.refused = "PATCH hyperjobs";
  const std::string uid = SubmitBig(plane);
  plane.Advance(Millis(1'000));
  const State& state = controller.state();
  const auto shards = [&] {
    const JobEntry& job = state.job(state.FindJob({"team-a", "big"}));
    return job.charge.has_value() ? job.charge->shards.size() : 0;
  };
  REQUIRE(shards() == 4);
  plane.Merge(ControlPlane::kHyperJobs + "/big",
              WriteJson(EditedSpec(plane, "big", [](Value::List& templates) {
                templates.erase(templates.begin());
              })));
  controller.wire.refused.clear();
  plane.Advance(Millis(180'000));
  CHECK(Children(plane, uid) == "b-0@east b-1@west");
  CHECK(shards() == 2);
  CHECK(plane.Reasons().count("Recalled") == 1);
  CHECK(plane.started.size() == 2);
}

TEST_CASE("where pods are seen a child without nodes calls all of the HyperJob back") {
  for (const bool bound : {true, false}) {
    CAPTURE(bound);
    ControlPlane plane;
    plane.Fleet({"east", "west"});
    plane.runs = false;
    Controller controller(plane.server, plane.executor, plane.ledger);
    const std::string uid = Submit(plane, "big", {Replicated("a", 2, 1)});
    plane.Advance(kAWhile);
    REQUIRE(Children(plane, uid) == "a-0@east a-1@east");
    const auto member = [&](const std::string& object) {
      controller.observer.UpsertMember("east", *ParseJson(object), plane.clock.Now());
    };
    member(R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"n"},"status":)"
           R"({"allocatable":{"cpu":"8","pods":"9"},"conditions":)"
           R"([{"type":"Ready","status":"True"}]}})");
    for (const std::string job : {"big-a-0", "big-a-1"}) {
      member(R"({"apiVersion":"v1","kind":"Pod","metadata":{"namespace":"team-a","name":")" + job +
             R"(","labels":{"volcano.sh/job-name":")" + job + R"("}},"spec":{)" +
             (bound || job == "big-a-0" ? R"("nodeName":"n",)" : "") +
             R"("containers":[{"name":"c"}]},"status":{"phase":"Pending"}})");
    }
    // The watch would have done this.
    plane.Report("east", "caldera-" + uid + "-a-0", R"({"status":{"conditions":[]}})");
    plane.Advance(Millis(310'000));
    for (const std::string pod : {"big-a-0", "big-a-1"}) {
      if (!bound) {
        controller.observer.DeleteMember("east", "Pod", "team-a", pod);  // With their Job.
      }
    }
    plane.Advance(Millis(90'000));
    CHECK(Children(plane, uid) == (bound ? "a-0@east a-1@east" : "a-0@west a-1@west"));
    CHECK(plane.Reasons().count("Recalled") == (bound ? 0 : 1));
  }
}

TEST_CASE("a HyperJob whose placement names children that it has not is placed anew") {
  ControlPlane plane;
  plane.Fleet({"east", "west"});
  // A placement that somebody wrote, of children that it never had.
  plane.Create(ControlPlane::kHyperJobs,
               R"({"apiVersion":"training.volcano.sh/v1alpha1","kind":"HyperJob","metadata":)"
               R"({"name":"big","namespace":"team-a","annotations":)"
               R"({"federation.caldera.sh/placement":"[{\"cluster\":\"east\",\"epoch\":3,)"
               R"(\"child\":\"gone-0\",\"tasks\":{\"gone/w\":{\"replicas\":1}}}]"}},)"
               R"("spec":{"replicatedJobs":[)" +
                   Replicated("a", 2, 2) + "]}}");
  Controller controller(plane.server, plane.executor, plane.ledger);
  plane.Advance(Millis(120'000));
  const std::string uid = TextAt(HyperJob(plane, "big"), {"metadata", "uid"});
  CHECK(Children(plane, uid) == "a-0@east a-1@east");
  CHECK(TextAt(plane.Work("east", "caldera-" + uid + "-a-0"),
               {"metadata", "annotations", "federation.caldera.sh/epoch"}) == "4");
  CHECK(plane.Reasons().count("Recalled") == 1);
}

TEST_CASE("placements that name no child of a HyperJob, or a child of a Job, are placed anew") {
  ControlPlane plane;
  plane.Fleet({"east", "west"});
  const auto placement = [](const std::string& child) {
    return R"("annotations":{"federation.caldera.sh/placement":"[{\"cluster\":\"east\",)"
           R"(\"epoch\":3,)" +
           child + R"(\"tasks\":{\"worker\":{\"replicas\":2}}}]"})";
  };
  plane.Create(ControlPlane::kHyperJobs,
               R"({"apiVersion":"training.volcano.sh/v1alpha1","kind":"HyperJob","metadata":)"
               R"({"name":"big","namespace":"team-a",)" +
                   placement("") + R"(},"spec":{"replicatedJobs":[)" + Replicated("a", 1, 2) +
                   "]}}");
  const std::string job = plane.Submit("train", 2);
  plane.Merge(ControlPlane::kJobs + "/train",
              R"({"metadata":{)" + placement(R"(\"child\":\"a-0\",)") + "}}");
  Controller controller(plane.server, plane.executor, plane.ledger);
  plane.Advance(Millis(120'000));
  const std::string uid = TextAt(HyperJob(plane, "big"), {"metadata", "uid"});
  CHECK(Children(plane, uid).starts_with("a-0@"));
  CHECK(plane.Work("east", "caldera-" + uid).IsNull());
  CHECK(plane.Phase("train") == "Running");
}

TEST_CASE("a HyperJob of many children is sent in one look") {
  constexpr int kChildren = 180;  // A cluster here takes 100 pods.
  ControlPlane plane;
  plane.Fleet({"east", "west"}, "100");
  Controller controller(plane.server, plane.executor, plane.ledger);
  const std::string uid = Submit(plane, "big", {Replicated("a", kChildren, 1)});
  plane.Advance(Millis(5'000));
  CHECK(controller.errors.empty());
  CHECK(std::ssize(plane.Works()) == kChildren + 2);  // A Queue in each of two clusters.
  CHECK(*HyperJob(plane, "big").At({"status", "splitCount"}) == Value(int64_t{kChildren}));
}

// The first controller is cut off at its write `cut`; before the second one begins, no child runs
// while another one is missing.
Ended Run(int cut, bool arrives) {
  ControlPlane plane;
  plane.Fleet({"east", "west"}, "6");
  plane.Create("/api/v1/namespaces/team-a/configmaps", R"({"metadata":{"name":"cfg"}})");
  const std::string uid = Submit(
      plane, "big",
      {Replicated("a", 2, 2),
       Replicated("b", 1, 8, "auto", R"(,"volumes":[{"name":"v","configMap":{"name":"cfg"}}])")});
  const std::map<std::string, std::string> names{{uid, "uid-1"}};
  auto controller = std::make_unique<Controller>(plane.server, plane.executor, plane.ledger);
  controller->wire.CutAt(cut, arrives);
  plane.Advance(Millis(8'000));
  Ended ended;
  ended.writes = controller->wire.writes();
  const std::string children = Children(plane, uid);
  const auto there = std::count(children.begin(), children.end(), '@');
  const auto suspended = std::count(children.begin(), children.end(), '!');
  CHECK((suspended == there || there == 4));
  if (controller->wire.is_cut()) {
    controller.reset();
    controller = std::make_unique<Controller>(plane.server, plane.executor, plane.ledger);
  }
  plane.Advance(Millis(60'000));
  CHECK(Children(plane, uid) == "a-0@east a-1@east b-0@east b-1@west");
  Collect(plane, names, ended);
  return ended;
}

TEST_CASE("no child of a HyperJob is lost or made twice whatever is cut off") {
  const Ended whole = Run(1'000, false);
  REQUIRE(whole.started.size() == 4);
  CheckEveryCut(whole, Run);
}

}  // namespace
}  // namespace caldera::testing
