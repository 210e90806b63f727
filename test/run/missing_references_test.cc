// Jobs that refer to what is not there: they wait for it, hold nothing and say so.
#include <algorithm>

#include "federation/explain.h"
#include "test/run/control_plane.h"
#include "test/run/watching.h"

namespace caldera::testing {
namespace {

constexpr Millis kAtOnce{200};
const std::string kCore = "/api/v1/namespaces/team-a/";

/// A cluster of 8 CPUs and a job `train` that wants them all, and an object that is not there.
struct Lacking {
  explicit Lacking(const std::string& volume) {
    plane.Fleet({"east"});
    controller.emplace(plane.server, plane.executor, plane.ledger);
    uid = plane.Submit("train", 8, R"(,"volumes":[{"name":"v",)" + volume + "}]");
  }
  [[nodiscard]] bool Charged() const {
    const JobIndex job = controller->state().FindJob({"team-a", "train"});
    return job != kNoIndex && controller->state().job(job).charge.has_value();
  }
  [[nodiscard]] std::vector<PendingJob> Pending() const {
    return ExplainPending(controller->state());
  }

  ControlPlane plane;
  std::optional<Controller> controller;
  std::string uid;
};

TEST_CASE("a job whose ConfigMap or claim is missing waits at once, holds nothing and says why") {
  struct Row {
    std::string volume;
    std::string use;
    std::string plural;
  };
  const std::vector<Row> rows = {
      {R"("configMap":{"name":"cfg"})", "ConfigMap/team-a/cfg", "configmaps"},
      {R"("persistentVolumeClaim":{"claimName":"cfg"})", "PersistentVolumeClaim/team-a/cfg",
       "persistentvolumeclaims"}};
  for (const Row& row : rows) {
    CAPTURE(row.use);
    Lacking lacking(row.volume);
    lacking.plane.Advance(kAtOnce);
    CHECK(!lacking.Charged());
    REQUIRE(lacking.Pending().size() == 1);
    CHECK(lacking.Pending()[0].verdict == Verdict::kMissingReference);
    CHECK(lacking.Pending()[0].message == "it refers to what is not there: " + row.use);
    // What it would have held others have.
    lacking.plane.Submit("other", 8);
    lacking.plane.Advance(Millis(2'000));
    CHECK(lacking.plane.Phase("other") == "Running");
    CHECK(lacking.plane.Works() ==
          std::vector<std::string>{
              "karmada-es-east/caldera-" + TextAt(lacking.plane.Job("other"), {"metadata", "uid"}),
              "karmada-es-east/caldera-queue.gold"});
    lacking.plane.Ask("DELETE", ControlPlane::kJobs + "/other");
    lacking.plane.Create(kCore + row.plural, R"({"metadata":{"name":"cfg"},"data":{"a":"b"}})");
    lacking.plane.Advance(Millis(60'000));
    CHECK(lacking.plane.Phase("train") == "Running");
    CHECK(lacking.controller->errors.empty());
  }
}

TEST_CASE("an edit that takes the reference away is followed at once") {
  Lacking lacking(R"("configMap":{"name":"cfg"})");
  lacking.plane.Advance(kAtOnce);
  Value spec = *lacking.plane.Job("train").Find("spec");
  spec.Find("tasks")->AsList().front().Find("template")->Find("spec")->Erase("volumes");
  lacking.plane.Merge(ControlPlane::kJobs + "/train", R"({"spec":)" + WriteJson(spec) + "}");
  lacking.plane.Advance(Millis(2'000));
  CHECK(lacking.plane.Phase("train") == "Running");
}

TEST_CASE("a job of which a Work may be on its way gives back nothing before the margin") {
  for (const bool sent : {false, true}) {
    CAPTURE(sent);
    Watching w;
    w.Start(JobText().Text());
    REQUIRE(w.Charged());
    w.observer.SetBackoff("u1", {"east", "MissingReference", "", w.now + Millis(5'000)}, w.now);
    if (!sent) {
      w.observer.SetNothingSent("u1");
    }
    w.Later(1).Step();
    CHECK(w.Charged() == sent);
    w.Later(10).Step();
    CHECK(!w.Charged());
  }
}

TEST_CASE("what an earlier process may have sent is waited for, whatever this one sent") {
  Watching before;
  before.Start(JobText().Text());
  REQUIRE(before.Charged());
  Watching w;
  w.now = before.now;
  w.cycle.Observe(before.state().Export());
  w.Start(JobText().Text());
  REQUIRE(w.Charged());
  w.Step();
  w.observer.SetBackoff("u1", {"east", "MissingReference", "", w.now + Millis(5'000)}, w.now);
  w.observer.SetNothingSent("u1");
  w.Later(20).Step();
  CHECK(w.Charged());
  w.Later(60).Step();
  CHECK(!w.Charged());
}

}  // namespace
}  // namespace caldera::testing
