// Another hand in the Works: what they carry, what stands on them, their labels.
#include <map>

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

constexpr Millis kAtOnce{500};

TEST_CASE("what is taken off a Work, with an edit or alone, is put back at once") {
  const std::string ours = R"("federation.caldera.sh/)";
  for (const std::string& patch :
       {R"({"metadata":{"annotations":{)" + ours + R"(digest":null}}})",
        R"({"metadata":{"annotations":{)" + ours + R"(uses":null}}})",
        R"({"metadata":{"annotations":{)" + ours + R"(generation":null}}})",
        R"({"metadata":{"annotations":{)" + ours + R"(intent":"99"}}})",
        R"({"metadata":{"annotations":{)" + ours + R"(epoch":"7"}}})",
        R"({"metadata":{"annotations":{)" + ours + R"(job":"team-a/other"}}})",
        std::string(R"({"metadata":{"finalizers":null}})"),
        std::string(R"({"spec":{"preserveResourcesOnDeletion":true}})")}) {
    CAPTURE(patch);
    Running running;
    running.Edit(patch);
    running.plane.Advance(kAtOnce);
    const Value now = running.plane.Work("east", running.name);
    CHECK(*now.At({"metadata", "annotations"}) == *running.written.At({"metadata", "annotations"}));
    CHECK(*now.At({"metadata", "finalizers"}) == *running.written.At({"metadata", "finalizers"}));
    CHECK(now.At({"spec", "preserveResourcesOnDeletion"}) == nullptr);
    running.CheckAsWritten();
    CHECK(running.controller->wire.counts["PATCH works"] == 1);
    CHECK(running.plane.Reasons().count("WorkEdited") == 1);
    CHECK(!running.plane.Get(kWorks + "caldera-queue.gold").IsNull());
  }
}

TEST_CASE("an edit that takes the digest with it is put back all the same") {
  for (const bool restarted : {false, true}) {
    CAPTURE(restarted);
    Running running;
    if (restarted) {
      running.controller.reset();
    }
    running.EditManifest(R"("image":"i")", R"("image":"other")");
    running.Edit(R"({"metadata":{"annotations":{"federation.caldera.sh/digest":null}}})");
    if (restarted) {
      running.controller.emplace(running.plane.server, running.plane.executor,
                                 running.plane.ledger);
    }
    running.CheckAsWritten();
    CHECK(running.plane.Reasons().count("WorkEdited") > 0);
  }
}

TEST_CASE("the finalizers of others stay, and Karmada's is there before a Work is deleted") {
  Running running;
  running.controller.reset();
  running.Edit(R"({"metadata":{"finalizers":["other/one"]},)"
               R"("spec":{"preserveResourcesOnDeletion":true}})");
  running.plane.Ask("DELETE", ControlPlane::kJobs + "/train");
  running.controller.emplace(running.plane.server, running.plane.executor, running.plane.ledger);
  running.plane.let_go = false;
  running.plane.Advance(kAWhile);
  const Value now = running.plane.Work("east", running.name);
  REQUIRE(!now.IsNull());
  CHECK(!TextAt(now, {"metadata", "deletionTimestamp"}).empty());
  CHECK(now.At({"spec", "preserveResourcesOnDeletion"}) == nullptr);
  const Value::List& finalizers = ListAt(now, {"metadata", "finalizers"});
  CHECK(finalizers == Value::List{Value("karmada.io/execution-controller"), Value("other/one")});
}

/// A job `wide` that runs in waves in cluster east, and one that uses a ConfigMap and a Secret.
struct Carried {
  Carried() {
    plane.Fleet({"east"});
    plane.Merge(ControlPlane::kQueues + "/gold", R"({"spec":{"capability":{"cpu":"4"}}})");
    plane.Create("/api/v1/namespaces/team-a/configmaps",
                 R"({"metadata":{"name":"cfg"},"data":{"a":"b"}})");
    plane.Create("/api/v1/namespaces/team-a/secrets",
                 R"({"metadata":{"name":"token"},"data":{"a":"Yg=="}})");
    controller.emplace(plane.server, plane.executor, plane.ledger);
    plane.Submit("train", 1,
                 R"(,"volumes":[{"name":"v","configMap":{"name":"cfg"}},)"
                 R"({"name":"s","secret":{"secretName":"token"}}])");
    plane.Advance(kAWhile);
    const std::string uid =
        TextAt(plane.Create(ControlPlane::kJobs,
                            R"({"apiVersion":"batch.volcano.sh/v1alpha1","kind":"Job",)"
                            R"("metadata":{"name":"wide","namespace":"team-a"},)"
                            R"("spec":{"queue":"gold","minAvailable":2,"tasks":[{"name":"worker",)"
                            R"("replicas":12,"template":{"spec":{"containers":[{"name":"c",)"
                            R"("image":"i","resources":{"requests":{"cpu":"1"}}}]}}}]}})"),
               {"metadata", "uid"});
    plane.Advance(kAWhile);
    works = {"caldera-queue.gold", "caldera-queue.caldera-" + uid, "caldera-configmap.team-a.cfg",
             "caldera-secret.team-a.token"};
    for (const std::string& work : works) {
      CAPTURE(work);
      written[work] = plane.Get(kWorks + work);
      REQUIRE(!written[work].IsNull());
    }
    controller->wire.counts.clear();
  }
  void CheckAsWritten(const std::string& work) {
    plane.Advance(kAtOnce);
    const Value now = plane.Get(kWorks + work);
    REQUIRE(!now.IsNull());
    CHECK(ManifestOf(now) == ManifestOf(written[work]));
    for (const std::string_view field : {"labels", "annotations", "finalizers"}) {
      CHECK(*now.At({"metadata", field}) == *written[work].At({"metadata", field}));
    }
    CHECK(now.At({"spec", "preserveResourcesOnDeletion"}) == nullptr);
    CHECK(!FlagAt(now, {"spec", "suspendDispatching"}));
  }

  ControlPlane plane;
  std::optional<Controller> controller;
  std::vector<std::string> works;
  std::map<std::string, Value> written;
};

TEST_CASE("what carries Queues and references is put back at once, whatever is done to it") {
  Carried carried;
  for (const std::string& work : carried.works) {
    for (const std::string patch : {
             R"({"metadata":{"labels":null}})",
             R"({"metadata":{"labels":{"federation.caldera.sh/work":"shard"}}})",
             R"({"metadata":{"annotations":null}})",
             R"({"metadata":{"labels":null,"annotations":null}})",
             R"({"metadata":{"annotations":{"federation.caldera.sh/digest":null}}})",
             R"({"metadata":{"finalizers":null}})",
             R"({"spec":{"preserveResourcesOnDeletion":true}})",
             R"({"spec":{"suspendDispatching":true}})",
             R"({"spec":{"workload":{"manifests":[]}}})",
         }) {
      CAPTURE(work);
      CAPTURE(patch);
      carried.plane.Merge(kWorks + work, patch);
      carried.CheckAsWritten(work);
      carried.plane.Advance(kAWhile);
    }
  }
  CHECK(carried.plane.Reasons().count("WorkEdited") > 0);
  CHECK(carried.controller->errors.empty());
  CHECK(carried.plane.Phase("train") == "Running");
  CHECK(carried.plane.Phase("wide") == "Running");
}

TEST_CASE("a Queue's Work whose object was edited is put back at once, its capability too") {
  Carried carried;
  for (size_t i = 0; i < 2; ++i) {
    const std::string& work = carried.works[i];
    Value manifest = ManifestOf(carried.written[work]);
    Value* const spec = manifest.Find("spec");
    spec->Set("weight", int64_t{77});
    if (i == 1) {
      REQUIRE(spec->Find("capability") != nullptr);
      spec->Erase("capability");
    }
    carried.plane.Merge(kWorks + work,
                        R"({"spec":{"workload":{"manifests":[)" + WriteJson(manifest) + "]}}}");
    carried.CheckAsWritten(work);
  }
}

TEST_CASE("a Work whose ConfigMap or Secret was edited or stripped is put back at once") {
  Carried carried;
  for (const std::string& work : {carried.works[2], carried.works[3]}) {
    for (const std::string patch : {R"({"data":{"a":"Yw=="}})", R"({"data":null})",
                                    R"({"metadata":{"name":"other"}})", R"({"kind":"Pod"})"}) {
      CAPTURE(work);
      CAPTURE(patch);
      Value manifest = ManifestOf(carried.written[work]);
      const Value changes = *ParseJson(patch);
      for (const Member& member : changes.AsMap()) {
        manifest.Set(member.key, member.value);
      }
      carried.plane.Merge(kWorks + work,
                          R"({"spec":{"workload":{"manifests":[)" + WriteJson(manifest) + "]}}}");
      carried.CheckAsWritten(work);
      carried.plane.Advance(kAWhile);
    }
  }
  CHECK(carried.plane.Reasons().count("WorkEdited") > 0);
}

TEST_CASE("what could not be put back for a moment is put back soon after") {
  for (const std::string patch :
       {R"({"metadata":{"annotations":null}})", R"({"metadata":{"labels":null}})",
        R"({"spec":{"workload":{"manifests":[]}}})"}) {
    Carried carried;
    for (const std::string& work : carried.works) {
      CAPTURE(work);
      CAPTURE(patch);
      carried.controller->wire.forbidden = "/configmaps/";
      carried.controller->wire.refused = "PATCH works";
      carried.plane.Merge(kWorks + work, patch);
      carried.plane.Advance(kAtOnce);
      carried.controller->wire.forbidden = "";
      carried.controller->wire.refused = "";
      carried.plane.Advance(Millis(5'000));
      carried.CheckAsWritten(work);
    }
  }
}

TEST_CASE("a Work that jobs use is made again when it was deleted, and not when nobody does") {
  Carried carried;
  for (const std::string& work : carried.works) {
    CAPTURE(work);
    carried.plane.Ask("DELETE", kWorks + work);
    carried.CheckAsWritten(work);
    CHECK(carried.plane.Get(kWorks + work).At({"metadata", "uid"})->AsString() !=
          carried.written[work].At({"metadata", "uid"})->AsString());
  }
  carried.plane.Ask("DELETE", ControlPlane::kJobs + "/train");
  carried.plane.Ask("DELETE", ControlPlane::kJobs + "/wide");
  carried.plane.Advance(Millis(120'000));
  CHECK(carried.plane.Works() == std::vector<std::string>{"karmada-es-east/caldera-queue.gold"});
  carried.plane.Ask("DELETE", kWorks + "caldera-queue.gold");
  carried.plane.Advance(kAWhile);
  CHECK(carried.plane.Works().empty());
}

TEST_CASE("what was done while no controller looked is put back when one begins") {
  Carried carried;
  carried.controller.reset();
  carried.plane.Merge(kWorks + carried.works[0], R"({"metadata":{"labels":null}})");
  carried.plane.Merge(kWorks + carried.works[1],
                      R"({"metadata":{"labels":null,"annotations":null}})");
  carried.plane.Ask("DELETE", kWorks + carried.works[2]);
  carried.controller.emplace(carried.plane.server, carried.plane.executor, carried.plane.ledger);
  carried.plane.Advance(kAWhile);
  for (const std::string& work : carried.works) {
    CAPTURE(work);
    carried.CheckAsWritten(work);
  }
}

TEST_CASE("who edits a Work again and again is answered less and less often") {
  Carried carried;
  for (int i = 0; i < 200; ++i) {
    carried.plane.Merge(kWorks + "caldera-queue.gold",
                        R"({"metadata":{"annotations":{"federation.caldera.sh/digest":"x"}}})");
    carried.plane.Advance(Millis(100));
  }
  CHECK(carried.controller->wire.counts["PATCH works"] < 15);
  carried.plane.Advance(Millis(120'000));
  carried.CheckAsWritten("caldera-queue.gold");
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
