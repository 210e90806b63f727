// Another hand in the Works: what they carry, what stands on them, their labels.
#include "controller/run/manifest_digest.h"
#include "controller/run/stray_works.h"
#include "test/run/control_plane.h"

namespace caldera::testing {
namespace {

constexpr Millis kAWhile{20'000};
const std::string kWorks = "/apis/work.karmada.io/v1alpha1/namespaces/karmada-es-east/works/";

Value ManifestOf(const Value& work) {
  return work.At({"spec", "workload", "manifests"})->AsList().front();
}

/// A running Job `train` of two pods in cluster east, and the Work that carries it.
struct Running {
  Running() {
    plane.Fleet({"east"});
    controller.emplace(plane.server, plane.executor, plane.ledger);
    uid = plane.Submit("train", 2);
    name = "caldera-" + uid;
    plane.Advance(kAWhile);
    REQUIRE(plane.Phase("train") == "Running");
    written = plane.Work("east", name);
    controller->wire.counts.clear();
  }
  /// What the Work would have to say for the job never to have been disturbed.
  void CheckAsWritten() {
    plane.Advance(kAWhile);
    const Value now = plane.Work("east", name);
    REQUIRE(!now.IsNull());
    CHECK(ManifestOf(now) == ManifestOf(written));
    for (const std::string_view field : {"uid", "labels", "annotations", "finalizers"}) {
      CHECK(*now.At({"metadata", field}) == *written.At({"metadata", field}));
    }
    CHECK(plane.started["karmada-es-east/" + name] == 1);
    CHECK(plane.Phase("train") == "Running");
  }
  void Edit(const std::string& patch) { plane.Merge(kWorks + name, patch); }
  /// Its only manifest with `from` written as `to`.
  void EditManifest(const std::string& from, const std::string& to) {
    std::string text = WriteJson(ManifestOf(written));
    const size_t at = text.find(from);
    REQUIRE(at != std::string::npos);
    text.replace(at, from.size(), to);
    Edit(R"({"spec":{"workload":{"manifests":[)" + text + "]}}}");
  }

  ControlPlane plane;
  std::optional<Controller> controller;
  std::string uid;
  std::string name;
  Value written;
};

TEST_CASE("what another hand changes in a Work is put back once and said") {
  for (const auto& edit : {std::pair(R"("replicas":2)", R"("replicas":9)"),
                           std::pair(R"("image":"i")", R"("image":"other")"),
                           std::pair(R"("maxRetry":3)", R"("maxRetry":5)")}) {
    CAPTURE(edit.first);
    Running running;
    running.EditManifest(edit.first, edit.second);
    running.CheckAsWritten();
    CHECK(running.controller->wire.counts["PATCH works"] == 1);
    CHECK(running.plane.Reasons().count("WorkEdited") == 1);
    CHECK(running.plane.Reasons().count("SpecChangeHeld") == 0);
  }
}

TEST_CASE("a Work that carries nothing, or more than its job, is put back") {
  for (const std::string manifests :
       {"[]", R"([{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"}},{}])"}) {
    Running running;
    running.Edit(R"({"spec":{"workload":{"manifests":)" + manifests + "}}}");
    running.CheckAsWritten();
  }
}

TEST_CASE("an edit of the parent and one by hand both lead to what the parent wants") {
  Running running;
  running.plane.Merge(ControlPlane::kJobs + "/train", R"({"spec":{"maxRetry":7}})");
  running.plane.Advance(kAWhile);
  running.EditManifest(R"("replicas":2)", R"("replicas":9)");
  running.plane.Advance(kAWhile);
  CHECK(WriteJson(ManifestOf(running.plane.Work("east", running.name))).find(R"("replicas":2)") !=
        std::string::npos);
  const int writes = running.controller->wire.counts["PATCH works"];
  running.plane.Advance(Millis(120'000));
  CHECK(running.controller->wire.counts["PATCH works"] == writes);
}

TEST_CASE("a Work without its labels is taken back") {
  for (const std::string patch : {
           R"({"metadata":{"labels":null}})",
           R"({"metadata":{"labels":{"app.kubernetes.io/managed-by":"helm"}}})",
           R"({"metadata":{"labels":null,"annotations":null}})",
           R"({"metadata":{"annotations":null}})",
           R"({"metadata":{"annotations":{"federation.caldera.sh/epoch":"x"}}})",
       }) {
    CAPTURE(patch);
    Running running;
    running.Edit(patch);
    running.CheckAsWritten();
    CHECK(running.plane.Reasons().count("WorkEdited") == 1);
  }
}

TEST_CASE("a Work that says neither whose it is nor carries what it should is made anew") {
  Running running;
  running.EditManifest(R"("replicas":2)", R"("replicas":9)");
  running.Edit(R"({"metadata":{"labels":null,"annotations":null}})");
  running.plane.Advance(Millis(120'000));
  const Value now = running.plane.Work("east", running.name);
  REQUIRE(!now.IsNull());
  CHECK(ManifestOf(now) == ManifestOf(running.written));
  CHECK(*now.At({"metadata", "labels"}) == *running.written.At({"metadata", "labels"}));
}

TEST_CASE("a Work that lost its labels while nobody looked goes with its parent") {
  Running running;
  running.controller.reset();
  running.Edit(R"({"metadata":{"labels":null}})");
  running.plane.Ask("DELETE", ControlPlane::kJobs + "/train");
  running.controller.emplace(running.plane.server, running.plane.executor, running.plane.ledger);
  running.plane.Advance(Millis(120'000));
  CHECK(running.plane.Work("east", running.name).IsNull());
  CHECK(running.controller->errors.empty());
}

TEST_CASE("a member's Queue that another hand changes follows the federation's again") {
  Running running;
  const std::string queue = kWorks + "caldera-queue.gold";
  const Value before = running.plane.Get(queue);
  std::string text = WriteJson(ManifestOf(before));
  text.replace(text.find(R"("weight":3)"), 10, R"("weight":4)");
  running.plane.Merge(queue, R"({"spec":{"workload":{"manifests":[)" + text + "]}}}");
  running.plane.Submit("next", 1);
  running.plane.Advance(kAWhile);
  CHECK(ManifestOf(running.plane.Get(queue)) == ManifestOf(before));
  running.plane.Merge(queue, R"({"metadata":{"labels":null}})");
  running.plane.Submit("last", 1);
  running.plane.Advance(kAWhile);
  CHECK(running.plane.Phase("last") == "Running");
  CHECK(*running.plane.Get(queue).At({"metadata", "labels"}) == *before.At({"metadata", "labels"}));
}

/// An API server that keeps images in a form of its own.
class Rewriting : public HttpTransport {
 public:
  explicit Rewriting(HttpTransport& server) : server_(server) {}
  void Send(HttpRequest request, ResponseHandler done) override {
    const std::string from = R"("image":"i")";
    const size_t at = request.path.find("/works") == std::string::npos ? std::string::npos
                                                                       : request.body.find(from);
    if (at != std::string::npos) {
      request.body.replace(at, from.size(), R"("image":"i:latest")");
    }
    server_.Send(std::move(request), std::move(done));
  }
  StreamId OpenStream(HttpRequest request, StreamHandlers handlers) override {
    return server_.OpenStream(std::move(request), std::move(handlers));
  }
  void CloseStream(StreamId stream) override { server_.CloseStream(stream); }

 private:
  HttpTransport& server_;
};

TEST_CASE("what a server keeps in a form of its own is not fought over") {
  ControlPlane plane;
  plane.Fleet({"east"});
  Rewriting server(plane.server);
  std::optional<Controller> controller;
  controller.emplace(server, plane.executor, plane.ledger);
  plane.Submit("train", 2);
  plane.Advance(kAWhile);
  REQUIRE(plane.Phase("train") == "Running");
  CHECK(controller->wire.counts["PATCH works"] == 0);
  controller.reset();
  controller.emplace(server, plane.executor, plane.ledger);
  plane.Advance(Millis(120'000));
  CHECK(controller->wire.counts["PATCH works"] <= 1);
}

TEST_CASE("only what is ours by name and annotations gets our labels") {
  const auto patch = [](const std::string& metadata) {
    return LabelsBack(
        *ParseJson(R"({"metadata":{"uid":"w","namespace":"karmada-es-east",)" + metadata + "}}"));
  };
  const std::string prefix = R"("annotations":{"federation.caldera.sh/)";
  CHECK(patch(R"("name":"caldera-u1",)" + prefix + R"(job-uid":"u1"})").has_value());
  CHECK(patch(R"("name":"caldera-u1-a-0",)" + prefix + R"(job-uid":"u1"})").has_value());
  CHECK(!patch(R"("name":"caldera-u2",)" + prefix + R"(job-uid":"u1"})").has_value());
  CHECK(!patch(R"("name":"caldera-6d8f7c9b5d")").has_value());
  const auto queue = patch(R"("name":"caldera-queue.gold",)" + prefix + R"(object":"Queue/gold"})");
  REQUIRE(queue.has_value());
  CHECK(*queue->At({"metadata", "labels"}) == WorkLabels(WorkRole::kQueue));
  CHECK(!patch(R"("name":"caldera-queue.gold","labels":)" +
               WriteJson(WorkLabels(WorkRole::kQueue)) + "," + prefix + R"(object":"Queue/gold"})")
             .has_value());
}

TEST_CASE("a manifest's digest leaves out what Karmada adds and takes away") {
  const auto digest = [](const std::string& text) { return ManifestDigest(*ParseJson(text)); };
  const std::string plain =
      digest(R"({"kind":"Job","metadata":{"name":"j","labels":{"a":"b"}},"spec":{"x":1}})");
  CHECK(plain == digest(R"({"metadata":{"labels":{"work.karmada.io/permanent-id":"7","a":"b"},)"
                        R"("annotations":{"resourcetemplate.karmada.io/managed-labels":"a"},)"
                        R"("name":"j"},"spec":{"ttlSecondsAfterFinished":9,"x":1,"y":null},)"
                        R"("kind":"Job","status":{"s":1}})"));
  CHECK(plain != digest(R"({"kind":"Job","metadata":{"name":"j"},"spec":{"x":1}})"));
  CHECK(plain !=
        digest(R"({"kind":"Job","metadata":{"name":"j","labels":{"a":"b"}},"spec":{"x":2}})"));
}

}  // namespace
}  // namespace caldera::testing
