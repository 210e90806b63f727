// Jobs from their creation to their end at an API server, seen from there.
#include "controller/run/dispatcher.h"

#include "test/run/control_plane.h"
#include "test/run/cut_run.h"

namespace caldera::testing {
namespace {

constexpr Millis kAWhile{20'000};

std::string OurAnnotation(const Value& object, const std::string& name) {
  return TextAt(object, {"metadata", "annotations", "federation.caldera.sh/" + name});
}

std::string Claim(const Value& job) {
  return TextAt(job, {"metadata", "labels", "resourcetemplate.karmada.io/claimed-by"});
}

TEST_CASE("a job that is placed at once takes four writes to Running") {
  ControlPlane plane;
  plane.Fleet({"east"});
  Controller controller(plane.server, plane.executor, plane.ledger);
  plane.Submit("first", 1);  // Brings the member's Queue.
  plane.Advance(kAWhile);
  controller.wire.counts.clear();
  const std::string uid = plane.Submit("train", 2);
  plane.Advance(kAWhile);
  CHECK(plane.Phase("train") == "Running");
  std::map<std::string, int> counts = controller.wire.counts;
  std::erase_if(counts, [](const auto& count) { return count.first == "PATCH queues/status"; });
  CHECK(counts ==
        std::map<std::string, int>{
            {"PATCH jobs", 1}, {"PATCH jobs/status", 1}, {"POST events", 1}, {"POST works", 1}});
  const Value job = plane.Job("train");
  CHECK(Claim(job) == "caldera");
  CHECK(OurAnnotation(job, "placement") ==
        R"([{"cluster":"east","epoch":1,"tasks":{"worker":{"replicas":2,"minAvailable":2}},)"
        R"("minAvailable":2}])");
  CHECK(NumberAt(job, {"status", "running"}) == 2);
  const Value work = plane.Work("east", "caldera-" + uid);
  CHECK(OurAnnotation(work, "uses") == "Queue/gold");
  CHECK(OurAnnotation(work, "digest").size() == 64);
  CHECK(OurAnnotation(work, "generation") == "1");
  CHECK(plane.Reasons() == std::multiset<std::string>{"Placed", "Placed"});
  CHECK(controller.errors.empty());
}

TEST_CASE("the member's Queue goes ahead once and follows the federation's") {
  ControlPlane plane;
  plane.Fleet({"east"});
  Controller controller(plane.server, plane.executor, plane.ledger);
  plane.Submit("a", 2);
  plane.Submit("b", 2);
  plane.Advance(kAWhile);
  CHECK(controller.wire.counts["POST works"] == 3);
  const Value work = plane.Work("east", "caldera-queue.gold");
  const Value& queue = work.At({"spec", "workload", "manifests"})->AsList().front();
  CHECK(*queue.Find("spec") == *ParseJson(R"({"parent":"root","weight":3,"reclaimable":false})"));
  CHECK(TextAt(queue, {"metadata", "labels", "karmada.io/managed"}) == "true");
  plane.Merge(ControlPlane::kQueues + "/gold", R"({"spec":{"weight":5}})");
  plane.Advance(kAWhile);
  const Value after = plane.Work("east", "caldera-queue.gold");
  CHECK(NumberAt(after.At({"spec", "workload", "manifests"})->AsList().front(),
                 {"spec", "weight"}) == 5);
  // The federation's Queue goes: the member's stays as long as it is used.
  REQUIRE(plane.Ask("DELETE", ControlPlane::kQueues + "/gold").status == 200);
  plane.Advance(kAWhile);
  CHECK(!plane.Work("east", "caldera-queue.gold").IsNull());
  plane.Ask("DELETE", ControlPlane::kJobs + "/a");
  plane.Ask("DELETE", ControlPlane::kJobs + "/b");
  plane.Advance(kAWhile);
  CHECK(plane.Works().empty());
}

TEST_CASE("a waiting job is claimed at once and told why once it has waited") {
  ControlPlane plane;
  plane.Fleet({"east"}, "2");
  Controller controller(plane.server, plane.executor, plane.ledger);
  plane.Submit("first", 2);
  plane.Submit("second", 2);
  plane.Advance(Millis(1'000));
  CHECK(Claim(plane.Job("second")) == "caldera");
  CHECK(plane.Reasons() == std::multiset<std::string>{"Placed"});
  plane.Advance(Millis(8'000));
  CHECK(plane.Reasons() == std::multiset<std::string>{"Placed", "Queued"});
  CHECK(plane.Phase("second").empty());
  CHECK(plane.Works().size() == 2);
}

TEST_CASE("a job that waits takes one write more to Running") {
  ControlPlane plane;
  plane.Fleet({"east"}, "2");
  Controller controller(plane.server, plane.executor, plane.ledger);
  plane.Submit("first", 2);
  plane.Advance(Millis(4'000));
  controller.wire.counts.clear();
  const std::string uid = plane.Submit("second", 2);
  plane.Advance(Millis(4'000));
  // Now the first goes: what it takes itself is not counted.
  REQUIRE(plane.Reasons() == std::multiset<std::string>{"Placed", "Queued"});
  plane.Ask("DELETE", ControlPlane::kJobs + "/first");
  plane.Advance(Millis(60'000));
  CHECK(plane.Phase("second") == "Running");
  std::map<std::string, int> counts = controller.wire.counts;
  std::erase_if(counts, [](const auto& count) {
    return count.first == "PATCH queues/status" || count.first.starts_with("DELETE ");
  });
  // The claim, and once there is room the placement; the Event said why it waited.
  CHECK(counts ==
        std::map<std::string, int>{
            {"PATCH jobs", 2}, {"PATCH jobs/status", 1}, {"POST events", 1}, {"POST works", 1}});
  CHECK(OurAnnotation(plane.Job("second"), "placement").find("east") != std::string::npos);
}

TEST_CASE("a job that waits less than an Event needs is said to be placed") {
  ControlPlane plane;
  plane.Fleet({"east"}, "2");
  plane.takes_time = Millis(5'000);
  Controller controller(plane.server, plane.executor, plane.ledger);
  plane.Submit("first", 2);
  plane.Advance(Millis(4'000));
  plane.Submit("second", 2);
  plane.Advance(Millis(3'000));
  CHECK(plane.Phase("second") == "Running");
  CHECK(plane.Reasons() == std::multiset<std::string>{"Completed", "Placed", "Placed"});
}

TEST_CASE("a job that ended keeps its Work suspended until its time is up") {
  ControlPlane plane;
  plane.takes_time = Millis(5'000);
  plane.Fleet({"east"});
  Controller controller(plane.server, plane.executor, plane.ledger);
  const std::string uid = plane.Submit("train", 2, "", R"(,"ttlSecondsAfterFinished":60)");
  plane.Advance(kAWhile);
  CHECK(plane.Phase("train") == "Completed");
  CHECK(NumberAt(plane.Job("train"), {"status", "succeeded"}) == 2);
  const Value work = plane.Work("east", "caldera-" + uid);
  CHECK(work.At({"spec", "suspendDispatching"})->AsBool());
  CHECK(plane.Reasons() == std::multiset<std::string>{"Completed", "Placed"});
  CHECK(!OurAnnotation(plane.Job("train"), "placement").empty());
  plane.Advance(Millis(120'000));
  CHECK(plane.Job("train").IsNull());
  CHECK(plane.Works() == std::vector<std::string>{"karmada-es-east/caldera-queue.gold"});
}

TEST_CASE("a deleted parent takes its Works along") {
  ControlPlane plane;
  plane.Fleet({"east"});
  Controller controller(plane.server, plane.executor, plane.ledger);
  plane.Submit("train", 2);
  plane.Advance(kAWhile);
  REQUIRE(plane.Works().size() == 2);
  plane.Ask("DELETE", ControlPlane::kJobs + "/train");
  plane.Advance(Millis(2'000));
  CHECK(plane.Works() == std::vector<std::string>{"karmada-es-east/caldera-queue.gold"});
}

TEST_CASE("an aborted job holds nothing and comes back when it is resumed") {
  ControlPlane plane;
  plane.Fleet({"east"});
  Controller controller(plane.server, plane.executor, plane.ledger);
  const std::string uid = plane.Submit("train", 2);
  plane.Advance(kAWhile);
  controller.SetSuspended(uid, "AbortJob", "train");
  plane.Advance(Millis(3'000));
  CHECK(plane.Phase("train") == "Aborted");
  CHECK(OurAnnotation(plane.Job("train"), "placement").empty());
  CHECK(Claim(plane.Job("train")) == "caldera");
  CHECK(plane.Works().size() == 1);
  plane.Advance(Millis(60'000));
  controller.SetSuspended(uid, "ResumeJob", "train");
  plane.Advance(kAWhile);
  CHECK(plane.Phase("train") == "Running");
  CHECK(OurAnnotation(plane.Work("east", "caldera-" + uid), "epoch") == "2");
}

TEST_CASE("a name that is taken sends the job to another cluster") {
  ControlPlane plane;
  plane.Fleet({"east", "west"});
  plane.taken = {"east"};
  Controller controller(plane.server, plane.executor, plane.ledger);
  const std::string uid = plane.Submit("train", 2);
  plane.Advance(Millis(90'000));
  CHECK(plane.Work("east", "caldera-" + uid).IsNull());
  CHECK(!plane.Work("west", "caldera-" + uid).IsNull());
  CHECK(plane.Phase("train") == "Running");
  CHECK(plane.Reasons().count("Recalled") == 1);
}

TEST_CASE("what a job refers to goes ahead of it and goes with the last user") {
  ControlPlane plane;
  plane.Fleet({"east"});
  plane.Create("/api/v1/namespaces/team-a/configmaps",
               R"({"metadata":{"name":"cfg"},"data":{"a":"b"}})");
  plane.Create("/api/v1/namespaces/team-a/serviceaccounts",
               R"({"metadata":{"name":"robot"},"imagePullSecrets":[{"name":"pull"}]})");
  plane.Create("/api/v1/namespaces/team-a/secrets", R"({"metadata":{"name":"pull"},"data":{}})");
  const std::string pod =
      R"(,"serviceAccountName":"robot","volumes":[{"name":"v","configMap":{"name":"cfg"}}])";
  Controller controller(plane.server, plane.executor, plane.ledger);
  plane.Submit("a", 2, pod);
  plane.Submit("b", 2, pod);
  plane.Advance(kAWhile);
  CHECK(plane.Phase("a") == "Running");
  CHECK(plane.Phase("b") == "Running");
  CHECK(controller.wire.counts["POST works"] == 6);
  const Value work = plane.Work("east", "caldera-configmap.team-a.cfg");
  const Value& config = work.At({"spec", "workload", "manifests"})->AsList().front();
  CHECK(TextAt(config, {"data", "a"}) == "b");
  CHECK(TextAt(config, {"kind"}) == "ConfigMap");
  plane.Ask("DELETE", ControlPlane::kJobs + "/a");
  plane.Advance(kAWhile);
  CHECK(!plane.Work("east", "caldera-configmap.team-a.cfg").IsNull());
  plane.Ask("DELETE", ControlPlane::kJobs + "/b");
  plane.Advance(kAWhile);
  CHECK(plane.Works() == std::vector<std::string>{"karmada-es-east/caldera-queue.gold"});
}

TEST_CASE("the access to a member is delivered as set and goes when it is not") {
  ControlPlane plane;
  plane.Fleet({"east", "west"});
  DispatcherOptions options;
  options.reader_of = [](const std::string& cluster) {
    return cluster == "east" ? "system:serviceaccount:ours:us" : "";
  };
  auto controller =
      std::make_unique<Controller>(plane.server, plane.executor, plane.ledger, options);
  plane.Advance(kAWhile);
  const std::string role = "caldera-clusterrole.caldera-reader";
  const std::string binding = "caldera-clusterrolebinding.caldera-reader";
  CHECK(plane.Works() ==
        std::vector<std::string>{"karmada-es-east/" + role, "karmada-es-east/" + binding});
  const Value work = plane.Work("east", binding);
  CHECK(TextAt(work, {"metadata", "labels", "federation.caldera.sh/work"}) == "access");
  const Value& manifest = work.At({"spec", "workload", "manifests"})->AsList().front();
  CHECK(TextAt(manifest.Find("subjects")->AsList().front(), {"name"}) ==
        "system:serviceaccount:ours:us");

  // Somebody deletes it, and it is made again; then the setting is taken back.
  plane.Ask("DELETE", "/apis/work.karmada.io/v1alpha1/namespaces/karmada-es-east/works/" + role);
  plane.Advance(kAWhile);
  plane.Submit("train", 1);  // A cycle.
  plane.Advance(kAWhile);
  CHECK(plane.Works().size() == 4);
  plane.Ask("DELETE", ControlPlane::kJobs + "/train");
  plane.Advance(kAWhile);
  controller.reset();
  controller = std::make_unique<Controller>(plane.server, plane.executor, plane.ledger);
  plane.Advance(kAWhile);
  CHECK(plane.Works() == std::vector<std::string>{"karmada-es-east/caldera-queue.gold"});
}

TEST_CASE("references without users go after a restart too") {
  ControlPlane plane;
  plane.Fleet({"east"});
  plane.Create("/api/v1/namespaces/team-a/configmaps", R"({"metadata":{"name":"cfg"}})");
  {
    Controller controller(plane.server, plane.executor, plane.ledger);
    plane.Submit("a", 2, R"(,"volumes":[{"name":"v","configMap":{"name":"cfg"}}])");
    plane.Advance(kAWhile);
    REQUIRE(plane.Works().size() == 3);
  }
  plane.Ask("DELETE", ControlPlane::kJobs + "/a");
  Controller controller(plane.server, plane.executor, plane.ledger);
  plane.Advance(kAWhile);
  CHECK(plane.Works() == std::vector<std::string>{"karmada-es-east/caldera-queue.gold"});
}

TEST_CASE("a missing reference holds the job until it is there") {
  ControlPlane plane;
  plane.Fleet({"east"});
  Controller controller(plane.server, plane.executor, plane.ledger);
  plane.Submit("train", 2, R"(,"volumes":[{"name":"v","secret":{"secretName":"token"}}])");
  plane.Advance(kAWhile);
  CHECK(plane.Works().empty());
  CHECK(OurAnnotation(plane.Job("train"), "placement").empty());
  CHECK(plane.Reasons().count("Queued") == 1);
  plane.Create("/api/v1/namespaces/team-a/secrets", R"({"metadata":{"name":"token"}})");
  plane.Advance(Millis(120'000));
  CHECK(plane.Phase("train") == "Running");
}

TEST_CASE("an optional reference that is missing holds nothing") {
  ControlPlane plane;
  plane.Fleet({"east"});
  Controller controller(plane.server, plane.executor, plane.ledger);
  plane.Submit("train", 2,
               R"(,"volumes":[{"name":"v","secret":{"secretName":"token","optional":true}}])");
  plane.Advance(kAWhile);
  CHECK(plane.Phase("train") == "Running");
}

TEST_CASE("edits that Volcano would refuse are held and said") {
  ControlPlane plane;
  plane.Fleet({"east"});
  Controller controller(plane.server, plane.executor, plane.ledger);
  const std::string uid = plane.Submit("train", 2);
  plane.Advance(kAWhile);
  const Value before = plane.Work("east", "caldera-" + uid);
  plane.Merge(ControlPlane::kJobs + "/train",
              R"({"spec":{"priorityClassName":"system-node-critical","maxRetry":7}})");
  plane.Advance(kAWhile);
  CHECK(plane.Reasons().count("SpecChangeHeld") == 1);
  const Value after = plane.Work("east", "caldera-" + uid);
  const Value& job = after.At({"spec", "workload", "manifests"})->AsList().front();
  CHECK(TextAt(job, {"spec", "priorityClassName"}) == "system-node-critical");
  CHECK(NumberAt(job, {"spec", "maxRetry"}) == 3);
  CHECK(OurAnnotation(after, "generation") == "2");
  CHECK(OurAnnotation(after, "digest") != OurAnnotation(before, "digest"));
}

TEST_CASE("a job of another controller is left alone") {
  ControlPlane plane;
  plane.Fleet({"east"});
  Controller controller(plane.server, plane.executor, plane.ledger);
  plane.Create(
      ControlPlane::kJobs,
      R"({"apiVersion":"batch.volcano.sh/v1alpha1","kind":"Job","metadata":{"name":"theirs",)"
      R"("labels":{"propagationpolicy.karmada.io/permanent-id":"x"}},"spec":{"queue":"gold",)"
      R"("tasks":[{"name":"w","replicas":1,"template":{"spec":{"containers":)"
      R"([{"name":"c","image":"i"}]}}}]}})");
  plane.Advance(kAWhile);
  CHECK(Claim(plane.Job("theirs")).empty());
  CHECK(plane.Reasons().empty());
  CHECK(plane.Works().empty());
}

TEST_CASE("while it observes nothing is written") {
  ControlPlane plane;
  plane.Fleet({"east"});
  DispatcherOptions options;
  options.observe = true;
  Controller controller(plane.server, plane.executor, plane.ledger, options);
  plane.Submit("train", 2);
  plane.Advance(kAWhile);
  CHECK(controller.wire.writes() == 0);
  CHECK(controller.state().job_count() == 1);
}

TEST_CASE("a cluster without a namespace for Works is waited for") {
  ControlPlane plane;
  plane.Fleet({"north"});
  Controller controller(plane.server, plane.executor, plane.ledger);
  plane.Submit("train", 2);
  plane.Advance(kAWhile);
  CHECK(plane.Works().empty());
  CHECK(!controller.errors.empty());
  plane.Create("/api/v1/namespaces", R"({"metadata":{"name":"karmada-es-north"}})");
  plane.Advance(Millis(120'000));
  CHECK(plane.Phase("train") == "Running");
}

TEST_CASE("a job whose Work cannot be stored is refused by every cluster") {
  ControlPlane plane;
  plane.Fleet({"east", "west"});
  Controller controller(plane.server, plane.executor, plane.ledger);
  plane.Submit("train", 2,
               R"(,"initContainers":[{"name":"i","image":"i","env":[{"name":"A","value":")" +
                   std::string(1'100'000, 'x') + R"("}]}])");
  plane.Advance(kAWhile);
  CHECK(plane.Works().empty());
  CHECK(plane.Reasons().count("Recalled") == 1);
  CHECK(OurAnnotation(plane.Job("train"), "placement").empty());
}

TEST_CASE("what a member does not take is recalled after a while unless it runs") {
  ControlPlane plane;
  plane.Fleet({"east", "west"});
  plane.runs = false;
  Controller controller(plane.server, plane.executor, plane.ledger);
  const std::string uid = plane.Submit("train", 2);
  plane.Advance(Millis(5'000));
  const std::string refused =
      R"({"status":{"conditions":[{"type":"Applied","status":"False","message":"denied",)"
      R"("lastTransitionTime":"2026-12-01T08:00:05Z"}]}})";
  plane.Report("east", "caldera-" + uid, refused);
  plane.Advance(Millis(20'000));
  CHECK(!plane.Work("east", "caldera-" + uid).IsNull());
  plane.Advance(Millis(60'000));
  CHECK(plane.Work("east", "caldera-" + uid).IsNull());
  CHECK(!plane.Work("west", "caldera-" + uid).IsNull());
  plane.Report("west", "caldera-" + uid,
               R"({"status":{"manifestStatuses":[{"identifier":{"kind":"Job"},"status":)"
               R"({"state":{"phase":"Running"},"running":2}}]}})");
  plane.Report("west", "caldera-" + uid, refused);
  plane.Advance(Millis(60'000));
  CHECK(!plane.Work("west", "caldera-" + uid).IsNull());
  CHECK(plane.Phase("train") == "Running");
  CHECK(plane.Reasons().count("ApplyFailed") == 1);
}

TEST_CASE("a Work that somebody deletes is made again") {
  ControlPlane plane;
  plane.Fleet({"east"});
  Controller controller(plane.server, plane.executor, plane.ledger);
  const std::string uid = plane.Submit("train", 2);
  plane.Advance(kAWhile);
  plane.Ask("DELETE",
            "/apis/work.karmada.io/v1alpha1/namespaces/karmada-es-east/works/caldera-" + uid);
  plane.Advance(kAWhile);
  CHECK(!plane.Work("east", "caldera-" + uid).IsNull());
}

TEST_CASE("errors of the server are followed by another try") {
  ControlPlane plane;
  plane.Fleet({"east"});
  Controller controller(plane.server, plane.executor, plane.ledger);
  plane.Advance(Millis(1'000));
  plane.server.FailNext("PATCH", 500, 7);
  plane.Submit("train", 2);
  plane.server.FailNext("POST", 503, 9);
  plane.Advance(Millis(120'000));
  CHECK(plane.Phase("train") == "Running");
  CHECK(plane.Works().size() == 2);
}

// Two jobs with a reference: one stays, one is deleted on the way. The first controller is cut off
// at its write `cut`; a second one goes on.
Ended Run(int cut, bool arrives) {
  ControlPlane plane;
  plane.Fleet({"east"});
  plane.Create("/api/v1/namespaces/team-a/configmaps", R"({"metadata":{"name":"cfg"}})");
  const std::string pod = R"(,"volumes":[{"name":"v","configMap":{"name":"cfg"}}])";
  const std::string other_pod =
      R"(,"volumes":[{"name":"v","configMap":{"name":"only-b","optional":true}}])";
  plane.Create("/api/v1/namespaces/team-a/configmaps", R"({"metadata":{"name":"only-b"}})");
  std::map<std::string, std::string> names;
  auto controller = std::make_unique<Controller>(plane.server, plane.executor, plane.ledger);
  controller->wire.CutAt(cut, arrives);
  names[plane.Submit("a", 2, pod)] = "uid-a";
  names[plane.Submit("b", 2, other_pod)] = "uid-b";
  plane.Advance(Millis(8'000));
  plane.Ask("DELETE", ControlPlane::kJobs + "/b");
  plane.Advance(Millis(8'000));
  Ended ended;
  ended.writes = controller->wire.writes();
  if (controller->wire.is_cut()) {
    controller.reset();
    controller = std::make_unique<Controller>(plane.server, plane.executor, plane.ledger);
  }
  plane.Advance(Millis(90'000));
  Collect(plane, names, ended);
  return ended;
}

TEST_CASE("a run that is cut at any write and started again ends the same") {
  const Ended whole = Run(1'000, false);
  REQUIRE(whole.started == std::map<std::string, int>{{"karmada-es-east/caldera-uid-a", 1},
                                                      {"karmada-es-east/caldera-uid-b", 1}});
  CheckEveryCut(whole, [](int cut, bool arrives) {
    Ended ended = Run(cut, arrives);
    CHECK(ended.started.at("karmada-es-east/caldera-uid-a") == 1);
    return ended;
  });
}

}  // namespace
}  // namespace caldera::testing
