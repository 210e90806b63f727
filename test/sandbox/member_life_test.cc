#include "test/sandbox/member_life.h"

#include "test/sandbox/life_fixture.h"
#include "test/sandbox/member_life_phase.h"

namespace caldera::sandbox {
namespace {

const std::string kPods = "/api/v1/namespaces/team-a/pods";
const std::string kCommands = "/apis/bus.volcano.sh/v1alpha1/namespaces/team-a/commands";
const std::string kQueuesPath = "/apis/scheduling.volcano.sh/v1beta1/queues";

std::string Quoted(const std::string& text) { return "\"" + text + "\""; }

struct TaskText {
  std::string name = "w";
  int replicas = 2;
  std::string cpu = "1";
  std::string annotations;  ///< Members of a JSON map.
  std::string more;         ///< Further fields of the task.
  std::string restart = "Never";
};

std::string TaskOf(const TaskText& task) {
  return R"({"name":)" + Quoted(task.name) + R"(,"replicas":)" + std::to_string(task.replicas) +
         task.more + R"(,"template":{"metadata":{"annotations":{)" + task.annotations +
         R"(}},"spec":{"restartPolicy":)" + Quoted(task.restart) +
         R"(,"containers":[{"name":"c","image":"x","resources":{"requests":{"cpu":)" +
         Quoted(task.cpu) + "}}}]}}}";
}

/// `more` are further fields of the spec, each with a comma behind it.
std::string JobBody(const std::string& name, const std::vector<TaskText>& tasks,
                    const std::string& more = "") {
  std::string list;
  for (const TaskText& task : tasks) {
    list += (list.empty() ? "" : ",") + TaskOf(task);
  }
  return R"({"apiVersion":"batch.volcano.sh/v1alpha1","kind":"Job","metadata":{"name":)" +
         Quoted(name) + R"(},"spec":{)" + more + R"("tasks":[)" + list + "]}}";
}

const std::string kFiveSeconds = R"("sandbox.caldera.sh/duration":"5s")";

/// One member with two nodes of 4 cpu.
struct MemberFixture : LifeFixture {
  std::optional<MemberLife> life;

  MemberFixture() {
    AddNode("n1");
    AddNode("n2");
    Create(m1, "/api/v1/namespaces", R"({"metadata":{"name":"team-a"}})");
    life.emplace(m1, executor, MemberLifeOptions{});
    m1.SetAdmission(life->Admission());
    life->Start();
    Advance(Millis(100));
  }

  void AddNode(const std::string& name, const std::string& cpu = "4") {
    Create(m1, "/api/v1/nodes",
           R"({"metadata":{"name":)" + Quoted(name) + R"(},"status":{"allocatable":{"cpu":)" +
               Quoted(cpu) + R"(,"pods":"110"},"conditions":[{"type":"Ready","status":"True"}]}})");
  }
  void Submit(const std::string& body) {
    Create(m1, kJobsInTeamA, body);
    Advance(Millis(200));
  }
  Value Job(const std::string& name) { return Get(m1, kJobsInTeamA + "/" + name); }
  std::string Phase(const std::string& name) {
    return TextAt(Job(name), {"status", "state", "phase"});
  }
  Value Pod(const std::string& name) { return Get(m1, kPods + "/" + name); }
  std::string NodeOf(const std::string& pod) { return TextAt(Pod(pod), {"spec", "nodeName"}); }
  size_t PodCount() { return ListAt(Get(m1, kPods), {"items"}).size(); }
  size_t Running() {
    size_t running = 0;
    const Value pods = Get(m1, kPods);
    for (const Value& pod : ListAt(pods, {"items"})) {
      running += TextAt(pod, {"status", "phase"}) == "Running" ? 1U : 0U;
    }
    return running;
  }
  void Command(const std::string& action, const std::string& job) {
    Create(m1, kCommands,
           R"({"metadata":{"generateName":"c-"},"action":)" + Quoted(action) +
               R"(,"target":{"apiVersion":"batch.volcano.sh/v1alpha1","kind":"Job","name":)" +
               Quoted(job) + "}}");
    Advance(Millis(200));
  }
};

}  // namespace

TEST_CASE_FIXTURE(MemberFixture, "a Job runs as a gang and completes; then its counters are gone") {
  Submit(JobBody("train", {{"w", 3, "2", kFiveSeconds, "", "Never"}}));
  CHECK(Phase("train") == "Running");
  Value job = Job("train");
  CHECK(NumberAt(job, {"status", "running"}) == 3);
  CHECK(NumberAt(job, {"status", "minAvailable"}) == 3);
  CHECK(NumberAt(job, {"status", "taskStatusCount", "w", "phase", "Running"}) == 3);
  CHECK(NodeOf("train-w-0") == "n1");
  CHECK(NodeOf("train-w-1") == "n2");
  CHECK(NodeOf("train-w-2") == "n1");
  const Value groups = Get(m1, "/apis/scheduling.volcano.sh/v1beta1/namespaces/team-a/podgroups");
  REQUIRE(ListAt(groups, {"items"}).size() == 1);
  const Value group = ListAt(groups, {"items"})[0];
  CHECK(KeyOf(group).name == "train-" + UidOf(job));
  CHECK(TextAt(group, {"status", "phase"}) == "Running");
  CHECK(NumberAt(group, {"spec", "minMember"}) == 3);
  const Value pod = Pod("train-w-1");
  CHECK(LabelOf(pod, "volcano.sh/job-name") == "train");
  CHECK(LabelOf(pod, "volcano.sh/task-spec") == "w");
  CHECK(ControllerUidOf(pod) == UidOf(job));

  Advance(Millis(6'000));
  CHECK(Phase("train") == "Completed");
  job = Job("train");
  for (const char* const gone : {"running", "succeeded", "pending", "taskStatusCount"}) {
    CAPTURE(gone);
    CHECK(job.At({"status", gone}) == nullptr);
  }
  CHECK(job.At({"status", "runningDuration"}) != nullptr);
  CHECK(ListAt(job, {"status", "conditions"}).size() == 3);
  // Ended pods stay for their logs.
  CHECK(PodCount() == 3);
  CHECK(Running() == 0);
}

TEST_CASE_FIXTURE(MemberFixture, "a gang that does not fit takes nothing until room frees") {
  Submit(JobBody("first", {{"w", 3, "2", kFiveSeconds, "", "Never"}}));
  Submit(JobBody("second", {{"w", 2, "2", kFiveSeconds, "", "Never"}}));
  CHECK(Phase("second") == "Pending");
  CHECK(Running() == 3);
  Submit(JobBody("third", {{"w", 1, "2", kFiveSeconds, "", "Never"}}));
  CHECK(Phase("third") == "Running");
  Advance(Millis(6'000));
  CHECK(Phase("second") == "Running");
}

// Eight devices are all of a small member: 1.2 of few must not round to none.
TEST_CASE_FIXTURE(MemberFixture, "a gang may take every device there is") {
  Create(m1, "/api/v1/nodes",
         R"({"metadata":{"name":"g"},"status":{"allocatable":{"cpu":"64","pods":"110",
            "nvidia.com/gpu":"8"},"conditions":[{"type":"Ready","status":"True"}]}})");
  Submit(R"({"apiVersion":"batch.volcano.sh/v1alpha1","kind":"Job","metadata":{"name":"train"},
            "spec":{"tasks":[{"name":"w","replicas":4,"template":{"spec":{"restartPolicy":"Never",
            "containers":[{"name":"c","image":"x","resources":{"requests":{"nvidia.com/gpu":"2"},
            "limits":{"nvidia.com/gpu":"2"}}}]}}}]}})");
  CHECK(Phase("train") == "Running");
  CHECK(NodeOf("train-w-3") == "g");
  // What needs no device keeps off the node that has them.
  Submit(JobBody("plain", {{}}));
  CHECK(NodeOf("plain-w-0") == "n1");
  CHECK(NodeOf("plain-w-1") == "n2");
}

TEST_CASE_FIXTURE(MemberFixture, "deleting a Job removes its pods") {
  Submit(JobBody("train", {{}}));
  CHECK(PodCount() == 2);
  Delete(m1, kJobsInTeamA + "/train");
  Advance(Millis(1'000));
  CHECK(PodCount() == 0);
}

TEST_CASE_FIXTURE(MemberFixture, "the defaults are admitted and most updates are refused") {
  Submit(JobBody("train", {{}}));
  Value job = Job("train");
  CHECK(TextAt(job, {"spec", "queue"}) == "default");
  CHECK(NumberAt(job, {"spec", "minAvailable"}) == 2);
  CHECK(NumberAt(job, {"spec", "maxRetry"}) == 3);
  const auto patch = [&](const std::string& body) {
    return Do(m1, "PATCH", kJobsInTeamA + "/train", body, "application/merge-patch+json");
  };
  HttpResponse refused = patch(R"({"spec":{"ttlSecondsAfterFinished":5}})");
  CHECK(refused.status == 400);
  CHECK(refused.body.find("job updates may not change fields other than `minAvailable`") !=
        std::string::npos);
  CHECK(patch(R"({"spec":{"queue":"other"}})").status == 400);
  CHECK(patch(R"({"spec":{"minAvailable":1,"priorityClassName":"high"}})").status == 200);
  CHECK(patch(R"({"metadata":{"annotations":{"a":"b"}}})").status == 200);
  CHECK(patch(R"({"spec":{"minAvailable":9}})").status == 400);

  const HttpResponse unknown =
      Do(m1, "POST", kJobsInTeamA, JobBody("lost", {{}}, R"("queue":"nowhere",)"));
  CHECK(unknown.status == 400);
  CHECK(unknown.body.find("unable to find job queue") != std::string::npos);
  CHECK(Do(m1, "POST", kJobsInTeamA, JobBody("Bad_Name", {{}})).status / 100 == 4);
}

TEST_CASE_FIXTURE(MemberFixture, "replicas follow, the highest indexes go first") {
  Submit(JobBody("train", {{"w", 2, "1", "", R"(,"minAvailable":1)", "Never"}}));
  Value job = Job("train");
  const auto scale = [&](int replicas) {
    Value tasks = *Job("train").At({"spec", "tasks"});
    tasks.AsList()[0].Set("replicas", replicas);
    Merge(m1, kJobsInTeamA + "/train",
          WriteJson(MakeMap({{"spec", MakeMap({{"tasks", std::move(tasks)}})}})));
    Advance(Millis(500));
  };
  scale(4);
  CHECK(NumberAt(Job("train"), {"status", "running"}) == 4);
  scale(1);
  CHECK(PodCount() == 1);
  CHECK_FALSE(Pod("train-w-0").IsNull());
  CHECK(NumberAt(Job("train"), {"status", "running"}) == 1);
}

TEST_CASE_FIXTURE(MemberFixture, "a Queue's capability lets so many pods run at a time") {
  Create(m1, kQueuesPath,
         R"({"metadata":{"name":"part"},"spec":{"parent":"root","capability":{"cpu":"3"}}})");
  Advance(Millis(200));
  CHECK(TextAt(Get(m1, kQueuesPath + "/part"), {"status", "state"}) == "Open");
  Submit(JobBody("wave", {{"w", 6, "1", kFiveSeconds, R"(,"minAvailable":1)", "Never"}},
                 R"("queue":"part","minAvailable":1,)"));
  CHECK(Running() == 3);
  CHECK(TextAt(Get(m1, kQueuesPath + "/part"), {"status", "allocated", "cpu"}) == "3");
  Merge(m1, kQueuesPath + "/part", R"({"spec":{"capability":{"cpu":"4"}}})");
  Advance(Millis(200));
  CHECK(Running() == 4);
  Advance(Millis(6'000));
  CHECK(Running() == 2);
  Advance(Millis(6'000));
  CHECK(Phase("wave") == "Completed");
}

TEST_CASE_FIXTURE(MemberFixture,
                  "a Queue gets its parent and its state; a closed one takes no Job") {
  Create(m1, kQueuesPath, R"({"metadata":{"name":"bare"},"spec":{}})");
  Advance(Millis(200));
  CHECK(TextAt(Get(m1, kQueuesPath + "/bare"), {"spec", "parent"}) == "root");
  CHECK_FALSE(Get(m1, kQueuesPath + "/root").IsNull());
  CHECK_FALSE(Get(m1, kQueuesPath + "/default").IsNull());
  Create(
      m1, kCommands,
      R"({"metadata":{"name":"close"},"action":"CloseQueue","target":{"kind":"Queue","name":"bare"}})");
  Advance(Millis(500));
  CHECK(TextAt(Get(m1, kQueuesPath + "/bare"), {"status", "state"}) == "Closed");
  const HttpResponse refused =
      Do(m1, "POST", kJobsInTeamA, JobBody("late", {{}}, R"("queue":"bare",)"));
  CHECK(refused.status == 400);
  CHECK(refused.body.find("can only submit job to queue with state `Open`") != std::string::npos);
}

TEST_CASE_FIXTURE(MemberFixture, "AbortJob and ResumeJob") {
  Submit(JobBody("train", {{"w", 2, "1", kFiveSeconds, "", "Never"}}));
  Command("AbortJob", "train");
  CHECK(Phase("train") == "Aborted");
  CHECK(Running() == 0);
  CHECK(ListAt(Get(m1, kCommands), {"items"}).empty());
  CHECK(Job("train").At({"status", "running"}) == nullptr);
  Advance(Millis(10'000));
  CHECK(Phase("train") == "Aborted");
  Command("ResumeJob", "train");
  Advance(Millis(500));
  CHECK(Phase("train") == "Running");
  CHECK(NumberAt(Job("train"), {"status", "retryCount"}) == 1);
  Advance(Millis(6'000));
  CHECK(Phase("train") == "Completed");
}

TEST_CASE_FIXTURE(MemberFixture, "a pod that fails fails the Job where no policy says otherwise") {
  Submit(JobBody("train", {{"w", 2, "1",
                            kFiveSeconds +
                                R"(,"sandbox.caldera.sh/exit-code":"3",
                                                "sandbox.caldera.sh/fail-index":"1")",
                            "", "Never"}}));
  Advance(Millis(6'000));
  CHECK(Phase("train") == "Failed");
  const Value pod = Pod("train-w-1");
  CHECK(TextAt(pod, {"status", "phase"}) == "Failed");
  CHECK(NumberAt(ListAt(pod, {"status", "containerStatuses"})[0],
                 {"state", "terminated", "exitCode"}) == 3);
}

TEST_CASE_FIXTURE(MemberFixture, "policies restart, complete and abort the Job") {
  const std::string fails = kFiveSeconds + R"(,"sandbox.caldera.sh/exit-code":"3",
                                              "sandbox.caldera.sh/fail-times":"1")";
  SUBCASE("PodFailed restarts the Job") {
    Submit(JobBody("train", {{"w", 2, "1", fails, "", "Never"}},
                   R"("policies":[{"event":"PodFailed","action":"RestartJob"}],)"));
    Advance(Millis(6'000));
    CHECK(Phase("train") == "Running");
    CHECK(NumberAt(Job("train"), {"status", "retryCount"}) >= 1);
    CHECK(NumberAt(Job("train"), {"status", "version"}) >= 1);
    Advance(Millis(8'000));
    CHECK(Phase("train") == "Completed");
  }
  SUBCASE("an exit code is matched") {
    Submit(JobBody("train", {{"w", 2, "1", fails, "", "Never"}},
                   R"("policies":[{"exitCode":4,"action":"RestartJob"},
                                  {"exitCode":3,"action":"AbortJob"}],)"));
    Advance(Millis(7'000));
    CHECK(Phase("train") == "Aborted");
  }
  SUBCASE("a task's policy comes first: TaskCompleted completes the Job") {
    const std::string policy = R"(,"policies":[{"event":"TaskCompleted","action":"CompleteJob"}])";
    Submit(
        JobBody("train",
                {{"master", 1, "1", kFiveSeconds, policy, "Never"}, {"w", 2, "1", "", "", "Never"}},
                R"("policies":[{"event":"TaskCompleted","action":"AbortJob"}],)"));
    CHECK(Running() == 3);
    Advance(Millis(7'000));
    CHECK(Phase("train") == "Completed");
    CHECK(Running() == 0);
  }
  SUBCASE("PodEvicted restarts the task only") {
    Submit(JobBody("train", {{"a", 1, "1", "", "", "Never"}, {"b", 1, "1", "", "", "Never"}},
                   R"("policies":[{"event":"PodEvicted","action":"RestartTask"}],)"));
    const std::string other = UidOf(Pod("train-b-0"));
    const std::string uid = UidOf(Pod("train-a-0"));
    Delete(m1, kPods + "/train-a-0");
    Advance(Millis(2'000));
    CHECK(UidOf(Pod("train-b-0")) == other);
    CHECK(UidOf(Pod("train-a-0")) != uid);
    CHECK(Phase("train") == "Running");
  }
  SUBCASE("a timeout delays the action") {
    Submit(JobBody("train", {{"w", 9, "4", "", "", "Never"}},
                   R"("minAvailable":1,"policies":[{"event":"PodPending","action":"AbortJob",
                                                    "timeout":"1m"}],)"));
    Advance(Millis(50'000));
    CHECK(Phase("train") != "Aborted");
    Advance(Millis(12'000));
    CHECK(Phase("train") == "Aborted");
  }
  SUBCASE("maxRetry ends it") {
    const std::string always = kFiveSeconds + R"(,"sandbox.caldera.sh/exit-code":"3")";
    Submit(JobBody("train", {{"w", 1, "1", always, "", "Never"}},
                   R"("maxRetry":2,"policies":[{"event":"PodFailed","action":"RestartJob"}],)"));
    Advance(Millis(30'000));
    CHECK(Phase("train") == "Failed");
    CHECK(NumberAt(Job("train"), {"status", "retryCount"}) == 2);
  }
}

TEST_CASE_FIXTURE(MemberFixture, "a container that may restart does, and then succeeds") {
  Submit(JobBody("train", {{"w", 1, "1", kFiveSeconds + R"(,"sandbox.caldera.sh/exit-code":"1",
                                             "sandbox.caldera.sh/fail-times":"1")",
                            "", "OnFailure"}}));
  Advance(Millis(6'000));
  CHECK(Phase("train") == "Running");
  CHECK(NumberAt(ListAt(Pod("train-w-0"), {"status", "containerStatuses"})[0], {"restartCount"}) ==
        1);
  Advance(Millis(6'000));
  CHECK(Phase("train") == "Completed");
}

TEST_CASE_FIXTURE(MemberFixture, "a task waits for the one it depends on") {
  Submit(JobBody("train",
                 {{"ps", 1, "1", "", "", "Never"},
                  {"w", 2, "1", "", R"(,"dependsOn":{"name":["ps"]})", "Never"}},
                 R"("minAvailable":1,)"));
  CHECK(Phase("train") == "Running");
  Advance(Millis(1'000));
  CHECK(Running() == 3);
}

TEST_CASE_FIXTURE(MemberFixture, "a hard topology keeps a gang in one HyperNode") {
  for (const char* const name : {"n3", "n4"}) {
    AddNode(name);
  }
  const auto rack = [&](const std::string& name, const std::string& a, const std::string& b) {
    Create(m1, "/apis/topology.volcano.sh/v1alpha1/hypernodes",
           R"({"metadata":{"name":)" + Quoted(name) + R"(},"spec":{"tier":1,"members":[
              {"type":"Node","selector":{"exactMatch":{"name":)" +
               Quoted(a) + R"(}}},
              {"type":"Node","selector":{"exactMatch":{"name":)" +
               Quoted(b) + "}}}]}}");
  };
  rack("r1", "n1", "n2");
  rack("r2", "n3", "n4");
  Submit(JobBody("filler", {{"w", 1, "3", "", "", "Never"}}));
  CHECK(NodeOf("filler-w-0") == "n1");
  const std::string hard = R"("networkTopology":{"mode":"hard","highestTierAllowed":1},)";
  Submit(JobBody("train", {{"w", 2, "4", "", "", "Never"}}, hard));
  CHECK(Phase("train") == "Running");
  CHECK(NodeOf("train-w-0") == "n3");
  CHECK(NodeOf("train-w-1") == "n4");
  Submit(JobBody("more", {{"w", 2, "4", "", "", "Never"}}, hard));
  CHECK(Phase("more") == "Pending");
}

TEST_CASE_FIXTURE(MemberFixture, "a member that was away goes on where it was") {
  Submit(JobBody("train", {{"w", 2, "1", kFiveSeconds, "", "Never"}}));
  life.reset();
  m1.SetAdmission(nullptr);
  Advance(Millis(20'000));
  CHECK(Phase("train") == "Running");
  life.emplace(m1, executor, MemberLifeOptions{});
  life->Start();
  Advance(Millis(2'000));
  CHECK(Phase("train") == "Completed");
  CHECK(PodCount() == 2);
}

// Vectors worked by hand from volcano's state package.
TEST_CASE("the phases of a Job by the counts of its pods") {
  const JobShape a{{{"t", 4, 4}}, 4, 3, std::nullopt};
  const JobShape b{{{"t", 4, 2}}, 2, 3, 1};
  const JobShape c{{{"t", 4, 4}}, 2, 3, std::nullopt};
  const auto next = [](const JobShape& shape, const std::string& phase, JobCounts counts,
                       int64_t retries = 0) {
    counts.by_task["t"]["Succeeded"] = counts.succeeded;
    return PhaseAfter(phase, shape, counts, shape.min_available, retries);
  };
  CHECK(next(a, "Pending", {0 + 1, 3, 0, 0, 0, {}}) == "Pending");
  CHECK(next(a, "Pending", {0, 3, 1, 0, 0, {}}) == "Running");
  CHECK(next(a, "Running", {1, 3, 0, 0, 0, {}}) == "Pending");
  CHECK(next(a, "Running", {0, 0, 3, 1, 0, {}}) == "Failed");
  CHECK(next(a, "Running", {0, 0, 4, 0, 0, {}}) == "Completed");
  CHECK(next(a, "Restarting", {0, 0, 0, 0, 4, {}}, 1) == "Restarting");
  CHECK(next(a, "Restarting", {0, 0, 0, 0, 0, {}}, 1) == "Pending");
  CHECK(next(a, "Restarting", {0, 0, 0, 0, 0, {}}, 3) == "Failed");
  CHECK(next(b, "Running", {0, 3, 1, 0, 0, {}}) == "Completed");
  CHECK(next(b, "Running", {0, 0, 0, 4, 0, {}}) == "Failed");
  CHECK(next(c, "Running", {0, 0, 2, 2, 0, {}}) == "Completed");
  CHECK(next(c, "Running", {0, 0, 1, 3, 0, {}}) == "Failed");
  CHECK(next(c, "Running", {2, 2, 0, 0, 0, {}}) == "Running");
  CHECK(next({{}, 0, 3, std::nullopt}, "Running", {}) == "Running");
}

}  // namespace caldera::sandbox
