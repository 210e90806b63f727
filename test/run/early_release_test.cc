// What a shard held is given back before its grace period is over where its pods are seen to be
// gone, and not where they may be there: with the Observer alone, and with the whole controller.
#include "storage/queries.h"
#include "storage/replay.h"
#include "test/run/watching.h"
#include "test/run/whole_controller.h"

namespace caldera::testing {
namespace {

// ---------------------------------------------------------------- the observer

std::string PodText(const std::string& name, const std::string& job, const std::string& phase) {
  return "apiVersion: v1\nkind: Pod\nmetadata: {name: " + name + ", namespace: team-a, uid: p-" +
         name + ", labels: {volcano.sh/job-name: " + job +
         "}}\nspec: {nodeName: n1, containers: [{name: c, image: i}]}\nstatus: {phase: " + phase +
         "}\n";
}

/// Job train runs in east with a pod that is seen, unless `pods` says otherwise.
struct Aborted : Watching {
  explicit Aborted(bool pods = true, const std::string& counts = "") {
    Start(JobText().Text());
    work.counts = counts;
    SeeWork(work);
    Step();
    if (pods) {
      SeePod("Running");
    }
    SeeCommand(CommandText("AbortJob", "Job", "train", "u1"));
    Step();
    REQUIRE(Charged());
  }
  void SeePod(const std::string& phase) {
    observer.UpsertMember("east", ObjectOf(PodText("train-worker-0", "train", phase)), now);
    Step();
  }
  void PodGoes() {
    observer.DeleteMember("east", "Pod", "team-a", "train-worker-0");
    Step();
  }
  std::vector<PodCheck> Checks() { return observer.TakePodChecks(now); }

  WorkText work{.applied = "True", .phase = "Running", .counts = "", .grace = 45};
};

TEST_CASE("a member is asked once the Work and the pods that were seen are gone") {
  Aborted w;
  w.PodGoes();
  CHECK(w.Checks().empty());  // Its Work is there: more pods may come.
  w.SeePod("Running");
  w.Later(1).WorkGoes(w.work);
  w.Step();
  CHECK(w.Checks().empty());
  w.SeePod("Succeeded");
  CHECK(w.Checks().empty());  // Finished, and there.
  w.PodGoes();
  const std::vector<PodCheck> checks = w.Checks();
  REQUIRE(checks.size() == 1);
  CHECK(checks[0].job.cluster == "east");
  CHECK(checks[0].job.key == JobKey{"team-a", "train"});
  CHECK(w.Checks().empty());  // Each is asked once.
  w.Step();
  CHECK(w.Charged());
  w.observer.AnswerPodCheck(checks[0], true, w.now);
  w.Step();
  CHECK(!w.Charged());
  CHECK(w.Job()->suspended);
}

TEST_CASE(
    "a member that still has pods, or does not answer, is asked again, until the time is up") {
  Aborted w;
  w.WorkGoes(w.work);
  w.PodGoes();
  for (int i = 0; i < 3; ++i) {
    const std::vector<PodCheck> checks = w.Checks();
    REQUIRE(checks.size() == 1);
    w.observer.AnswerPodCheck(checks[0], false, w.now);
    w.Step();
    CHECK(w.Charged());
    CHECK(w.Checks().empty());
    CHECK(w.observer.NextDue() == w.now + Millis(2'000));
    w.Later(2);
  }
  w.SeePod("Succeeded");
  CHECK(w.Checks().empty());
  CHECK(w.observer.NextDue() == w.now + Millis(49'000));
  w.Later(49);
  w.Step();
  CHECK(!w.Charged());
  CHECK(w.Checks().empty());
}

TEST_CASE("where no pod was ever reported the first ones may be on their way") {
  Aborted unseen(false);
  unseen.WorkGoes(unseen.work);
  unseen.Step();
  CHECK(unseen.Checks().empty());
  CHECK(unseen.Charged());
  Aborted reported(false, "taskStatusCount: {worker: {phase: {Running: 2}}}");
  reported.WorkGoes(reported.work);
  reported.Step();
  CHECK(reported.Checks().size() == 1);
}

TEST_CASE("pods that are seen running are waited for however long it takes") {
  Aborted w;
  w.WorkGoes(w.work);
  w.Step();
  for (int i = 0; i < 100; ++i) {
    w.Later(10);
    w.Step();
    CHECK(w.Checks().empty());
    REQUIRE(w.Charged());
  }
  CHECK(w.observer.NextDue() > w.now);
  w.PodGoes();
  const std::vector<PodCheck> checks = w.Checks();
  REQUIRE(checks.size() == 1);
  w.observer.AnswerPodCheck(checks[0], true, w.now);
  w.Step();
  CHECK(!w.Charged());
}

TEST_CASE("pods that ended, or are in a cluster that is not Ready, are not waited for") {
  Aborted ended;
  ended.WorkGoes(ended.work);
  ended.SeePod("Succeeded");
  ended.Later(56);
  ended.Step();
  CHECK(!ended.Charged());
  Aborted lost;
  lost.WorkGoes(lost.work);
  lost.See(ClusterText("east", "False", "2026-01-10T00:00:00Z"));
  lost.Step();
  lost.Later(56);
  lost.Step();
  lost.Later(31);
  lost.Step();
  CHECK(!lost.Charged());
}

TEST_CASE("an answer about an earlier Work says nothing of the one that went later") {
  Aborted w;
  w.WorkGoes(w.work);
  w.PodGoes();
  const std::vector<PodCheck> first = w.Checks();
  REQUIRE(first.size() == 1);
  w.SeeWork(w.work);
  w.SeePod("Running");
  w.WorkGoes(w.work);
  w.Step();
  w.observer.AnswerPodCheck(first[0], true, w.now);
  w.observer.AnswerPodCheck(first[0], true, w.now);  // Of what is settled.
  w.Step();
  CHECK(w.Charged());
  w.PodGoes();
  const std::vector<PodCheck> second = w.Checks();
  REQUIRE(second.size() == 1);
  w.observer.AnswerPodCheck(second[0], true, w.now);
  w.Step();
  CHECK(!w.Charged());
}

TEST_CASE("after a restart pods that are left are waited for, then what they held is free") {
  Watching before;
  before.Start(JobText().Text());
  Watching after;
  after.cycle.Observe(before.state().Export());
  after.Later(100).Start();
  after.Step();
  REQUIRE(after.Charged());
  CHECK(after.observer.TakePodChecks(after.now).empty());
  after.observer.UpsertMember("east", ObjectOf(PodText("train-worker-0", "train", "Running")),
                              after.now);
  after.Step();
  CHECK(after.observer.TakePodChecks(after.now).empty());
  after.observer.DeleteMember("east", "Pod", "team-a", "train-worker-0");
  after.Step();
  const std::vector<PodCheck> checks = after.observer.TakePodChecks(after.now);
  REQUIRE(checks.size() == 1);
  after.observer.AnswerPodCheck(checks[0], true, after.now);
  after.Step();
  CHECK(after.Job() == nullptr);
}

// ---------------------------------------------------------------- the whole controller

/// Shows nothing of what happens to Pods, but lists them.
class LatePods : public HttpTransport {
 public:
  explicit LatePods(HttpTransport& server) : server_(server) {}
  void Send(HttpRequest request, ResponseHandler done) override {
    server_.Send(std::move(request), std::move(done));
  }
  StreamId OpenStream(HttpRequest request, StreamHandlers handlers) override {
    if (request.path.ends_with("/pods")) {
      handlers.on_line = [](const std::string& /*line*/) {};
    }
    return server_.OpenStream(std::move(request), std::move(handlers));
  }
  void CloseStream(StreamId stream) override { server_.CloseStream(stream); }

 private:
  HttpTransport& server_;
};

/// Job a runs in a member, whose pods stay for as long as Free is not called.
struct Held : Federation {
  explicit Held(MemberView view, bool late = false) : late_pods(karmada) {
    ControllerConfig config;
    config.members = view;
    one =
        std::make_unique<Replica>(executor, late ? static_cast<HttpTransport&>(late_pods) : karmada,
                                  directory.File("ledger.db"), "one", config);
    Advance(kSoon);
    Submit("a", 8);
    Advance(kSoon);
    REQUIRE(Phase("a") == "Running");
    SetFinalizers(R"(["example.com/stays"])");
    Kill();
    Advance(kSoon);
    REQUIRE(Works() == 0);
  }
  void Kill() { Delete(karmada, kJobs + "/a"); }
  void Free() { SetFinalizers("null"); }
  void SetFinalizers(const std::string& list) {
    int pods = 0;
    for (const auto& [name, member] : Members()) {
      const Value there = Get(*member, kPods);
      for (const Value& pod : ListAt(there, {"items"})) {
        ++pods;
        Merge(*member, kPods + "/" + TextAt(pod, {"metadata", "name"}),
              R"({"metadata":{"finalizers":)" + list + "}}");
      }
    }
    REQUIRE(pods == 8);
  }
  bool Charged() const {
    const State& state = one->controller->state();
    const JobIndex job = state.FindJob({"team-a", "a"});
    return job != kNoIndex && state.job(job).charge.has_value();
  }

  inline static const std::string kPods = "/api/v1/namespaces/team-a/pods";
  LatePods late_pods;
  std::unique_ptr<Replica> one;
};

TEST_CASE("A charge is given back as soon as a watched member has no pods of it left") {
  Held fed(MemberView::kNodes);
  fed.Advance(Millis(10'000));
  CHECK(fed.Charged());
  fed.Free();
  fed.Advance(Millis(100));
  CHECK_FALSE(fed.Charged());
  fed.one.reset();
  const LedgerReader reader = Must(LedgerReader::Open(fed.directory.File("ledger.db")));
  const Listing cycles = Must(ListCycles(reader, 0));
  CHECK(cycles.rows.size() > 3);
  for (const std::vector<Datum>& row : cycles.rows) {
    CHECK(Must(Replay(reader, std::get<int64_t>(row[0]))).Same());
  }
}

TEST_CASE("Pods that a watched member shows running keep their charge beyond their grace period") {
  Held fed(MemberView::kNodes);
  fed.Advance(Millis(200'000));
  CHECK(fed.Charged());
  fed.Free();
  fed.Advance(Millis(100));
  CHECK_FALSE(fed.Charged());
}

TEST_CASE("A member that is not watched node by node gives a charge back by time alone") {
  Held fed(MemberView::kSummary);
  fed.Advance(Millis(10'000));
  fed.Free();
  fed.Advance(Millis(20'000));
  CHECK(fed.Charged());
  fed.Advance(Millis(10'000));
  CHECK_FALSE(fed.Charged());
}

TEST_CASE("What a watch that lags behind does not show yet is not taken for gone") {
  Held fed(MemberView::kNodes, true);
  fed.Advance(Millis(20'000));
  CHECK(fed.Charged());
  fed.Free();
  fed.Advance(Millis(2'100));  // Asked again after 2 s.
  CHECK_FALSE(fed.Charged());
}

TEST_CASE("A member that cannot be reached gives a charge back by time alone") {
  Held fed(MemberView::kNodes);
  for (const auto& [name, member] : fed.Members()) {
    member->SetReachable(false);
  }
  fed.Advance(Millis(30'000));
  CHECK(fed.Charged());
  fed.Advance(Millis(90'000));  // By then its Cluster is not Ready.
  CHECK_FALSE(fed.Charged());
}

}  // namespace
}  // namespace caldera::testing
