#include "test/sandbox/work_executor.h"

#include "test/sandbox/life_fixture.h"

namespace caldera::sandbox {
namespace {

const std::string kTrain = kJobsInTeamA + "/train";
const std::string kWork = kWorksOfM1 + "/w";
const std::string kJobApi = "batch.volcano.sh/v1alpha1";

std::string JobManifest(const std::string& replicas = "2") {
  return "{" + Managed(kJobApi, "Job", "train", "w") +
         R"(,"spec":{"tasks":[{"name":"t","replicas":)" + replicas + "}]}}";
}

std::string ConditionOf(const Value& object, const std::string& type, const std::string& field) {
  const Value* const conditions = object.At({"status", "conditions"});
  const Value* const found = conditions == nullptr ? nullptr : FindCondition(*conditions, type);
  return found == nullptr ? "" : TextAt(*found, {field});
}

struct WorksFixture : LifeFixture {
  WorksFixture() { StartWorks(); }
};

}  // namespace

TEST_CASE("a Cluster gets its execution namespace and says what its member is like") {
  LifeFixture f;
  f.Create(f.m1, "/api/v1/nodes",
           R"({"metadata":{"name":"n1"},"status":{"allocatable":{"cpu":"8","pods":"110",
              "nvidia.com/gpu":"4"},"conditions":[{"type":"Ready","status":"True"}]}})");
  f.StartWorks();
  CHECK_FALSE(f.Get(f.karmada, "/api/v1/namespaces/karmada-es-m1").IsNull());
  Value cluster = f.Get(f.karmada, kClusters + "/m1");
  CHECK(ConditionOf(cluster, "Ready", "status") == "True");
  CHECK(NumberAt(cluster, {"status", "nodeSummary", "readyNum"}) == 1);
  CHECK(TextAt(cluster, {"status", "resourceSummary", "allocatable", "cpu"}) == "8");
  bool has_jobs = false;
  for (const Value& group : ListAt(cluster, {"status", "apiEnablements"})) {
    has_jobs = has_jobs || TextAt(group, {"groupVersion"}) == kJobApi;
  }
  CHECK(has_jobs);

  f.Create(f.m1, "/api/v1/namespaces/default/pods",
           R"({"metadata":{"name":"bound"},"spec":{"nodeName":"n1","containers":[{"name":"c",
              "image":"x","resources":{"requests":{"cpu":"3","nvidia.com/gpu":"1"}}}]}})");
  f.Create(f.m1, "/api/v1/namespaces/default/pods",
           R"({"metadata":{"name":"free"},"spec":{"containers":[{"name":"c","image":"x",
              "resources":{"requests":{"cpu":"1"}}}]}})");
  f.Advance(Millis(20'000));
  cluster = f.Get(f.karmada, kClusters + "/m1");
  CHECK(TextAt(cluster, {"status", "resourceSummary", "allocated", "cpu"}) == "3");
  CHECK(TextAt(cluster, {"status", "resourceSummary", "allocated", "nvidia.com/gpu"}) == "1");
  CHECK(TextAt(cluster, {"status", "resourceSummary", "allocating", "cpu"}) == "1");
}

TEST_CASE_FIXTURE(WorksFixture, "a Work's Job appears in the member and its status comes back") {
  Create(karmada, kWorksOfM1, WorkBody("w", JobManifest()));
  CHECK_FALSE(Get(m1, kTrain).IsNull());
  CHECK(Get(m2, kTrain).IsNull());
  Value work = Get(karmada, kWork);
  CHECK(ConditionOf(work, "Applied", "status") == "True");
  CHECK(ConditionOf(work, "Dispatching", "status") == "True");

  Merge(m1, kTrain + "/status",
        R"({"status":{"state":{"phase":"Running"},"running":2,"other":"not reflected"}})");
  work = Get(karmada, kWork);
  const Value::List& statuses = ListAt(work, {"status", "manifestStatuses"});
  REQUIRE(statuses.size() == 1);
  CHECK(TextAt(statuses[0], {"identifier", "name"}) == "train");
  CHECK(TextAt(statuses[0], {"status", "state", "phase"}) == "Running");
  CHECK(NumberAt(statuses[0], {"status", "running"}) == 2);
  CHECK(statuses[0].At({"status", "other"}) == nullptr);
  CHECK(TextAt(statuses[0], {"health"}) == "Healthy");

  // What Volcano drops is dropped here too.
  Merge(m1, kTrain + "/status", R"({"status":{"state":{"phase":"Completed"},"running":null}})");
  work = Get(karmada, kWork);
  CHECK(ListAt(work, {"status", "manifestStatuses"})[0].At({"status", "running"}) == nullptr);
}

TEST_CASE_FIXTURE(WorksFixture, "a manifest without label reports nothing and is not put back") {
  Create(karmada, kWorksOfM1,
         WorkBody("w", R"({"apiVersion":"batch.volcano.sh/v1alpha1","kind":"Job",
                    "metadata":{"name":"train","namespace":"team-a"},"spec":{}})"));
  CHECK_FALSE(Get(m1, kTrain).IsNull());
  Merge(m1, kTrain + "/status", R"({"status":{"state":{"phase":"Running"}}})");
  CHECK(ListAt(Get(karmada, kWork), {"status", "manifestStatuses"}).empty());
  Delete(m1, kTrain);
  Advance(Millis(30'000));
  CHECK(Get(m1, kTrain).IsNull());
}

TEST_CASE_FIXTURE(WorksFixture, "edits and deletions in the member are put back") {
  Create(karmada, kWorksOfM1, WorkBody("w", JobManifest()));
  Merge(m1, kTrain, R"({"metadata":{"labels":{"theirs":"stays"}},"spec":{"queue":"other"}})");
  Value job = Get(m1, kTrain);
  CHECK(job.At({"spec", "queue"}) == nullptr);
  CHECK(LabelOf(job, "theirs") == "stays");
  const std::string uid = UidOf(job);
  Delete(m1, kTrain);
  job = Get(m1, kTrain);
  CHECK_FALSE(job.IsNull());
  CHECK(UidOf(job) != uid);
}

TEST_CASE_FIXTURE(WorksFixture, "an edit of the Work follows in the member") {
  Create(karmada, kWorksOfM1, WorkBody("w", JobManifest()));
  Merge(karmada, kWork, R"({"spec":{"workload":{"manifests":[)" + JobManifest("5") + "]}}}");
  CHECK(NumberAt(ListAt(Get(m1, kTrain), {"spec", "tasks"})[0], {"replicas"}) == 5);
}

TEST_CASE_FIXTURE(WorksFixture, "a manifest without the member's defaults runs; changes fail") {
  m1.SetAdmission([](const ResourceType& type, const Value* before, Value& object) -> Status {
    if (type.kind != "Job") {
      return {};
    }
    if (before == nullptr) {
      object.Find("spec")->Set("queue", "default");
    } else if (!(*before->Find("spec") == *object.Find("spec"))) {
      return Fail(ErrorCode::kInvalid, "job updates may not change fields");
    }
    return {};
  });
  Create(karmada, kWorksOfM1, WorkBody("w", JobManifest()));
  Merge(m1, kTrain + "/status", R"({"status":{"state":{"phase":"Running"}}})");
  Advance(Millis(30'000));
  CHECK(ConditionOf(Get(karmada, kWork), "Applied", "status") == "True");
  CHECK(TextAt(Get(m1, kTrain), {"status", "state", "phase"}) == "Running");

  Merge(karmada, kWork, R"({"spec":{"workload":{"manifests":[)" + JobManifest("5") + "]}}}");
  const Value work = Get(karmada, kWork);
  CHECK(ConditionOf(work, "Applied", "status") == "False");
  CHECK(ConditionOf(work, "Applied", "message").find("job updates may not change fields") !=
        std::string::npos);
  CHECK(NumberAt(ListAt(Get(m1, kTrain), {"spec", "tasks"})[0], {"replicas"}) == 2);
}

TEST_CASE_FIXTURE(WorksFixture, "suspendDispatching applies nothing but deletes and reports") {
  Create(karmada, kWorksOfM1, WorkBody("w", JobManifest(), R"("suspendDispatching":true,)"));
  CHECK(Get(m1, kTrain).IsNull());
  CHECK(ConditionOf(Get(karmada, kWork), "Dispatching", "status") == "False");
  CHECK(ConditionOf(Get(karmada, kWork), "Applied", "status").empty());

  Merge(karmada, kWork, R"({"spec":{"suspendDispatching":false}})");
  CHECK_FALSE(Get(m1, kTrain).IsNull());
  CHECK(ConditionOf(Get(karmada, kWork), "Dispatching", "status") == "True");

  Merge(karmada, kWork, R"({"spec":{"suspendDispatching":true}})");
  Merge(m1, kTrain + "/status", R"({"status":{"state":{"phase":"Completed"}}})");
  CHECK(TextAt(ListAt(Get(karmada, kWork), {"status", "manifestStatuses"})[0],
               {"status", "state", "phase"}) == "Completed");
  Delete(m1, kTrain);
  CHECK(Get(m1, kTrain).IsNull());
  Delete(karmada, kWork);
  CHECK(Get(karmada, kWork).IsNull());
}

TEST_CASE_FIXTURE(WorksFixture, "deleting a Work deletes what it brought") {
  Create(karmada, kWorksOfM1, WorkBody("w", JobManifest()));
  Delete(karmada, kWork);
  CHECK(Get(m1, kTrain).IsNull());
  CHECK(Get(karmada, kWork).IsNull());

  Create(karmada, kWorksOfM1,
         WorkBody("w", JobManifest(), R"("preserveResourcesOnDeletion":true,)"));
  Delete(karmada, kWork);
  CHECK_FALSE(Get(m1, kTrain).IsNull());
  CHECK(Get(karmada, kWork).IsNull());
}

TEST_CASE_FIXTURE(WorksFixture, "a Work without the finalizer leaves behind what it brought") {
  Create(karmada, kWorksOfM1,
         R"({"metadata":{"name":"w"},"spec":{"workload":{"manifests":[)" + JobManifest() + "]}}}");
  CHECK(ListAt(Get(karmada, kWork), {"metadata", "finalizers"}).empty());
  CHECK_FALSE(Get(m1, kTrain).IsNull());
  Delete(karmada, kWork);
  CHECK(Get(karmada, kWork).IsNull());
  Advance(Millis(30'000));
  CHECK_FALSE(Get(m1, kTrain).IsNull());
}

TEST_CASE_FIXTURE(WorksFixture, "a Work that changes while it is deleted goes none the less") {
  Create(karmada, kWorksOfM1, WorkBody("w", JobManifest()));
  int conflicts = 2;
  karmada.SetAdmission([&](const ResourceType& type, const Value*, Value& after) -> Status {
    const bool last = type.kind == "Work" && ListAt(after, {"metadata", "finalizers"}).empty();
    return last && conflicts-- > 0 ? Fail(ErrorCode::kConflict, "it has been modified") : Status();
  });
  Delete(karmada, kWork);
  CHECK(IsDeleting(Get(karmada, kWork)));
  Advance(Millis(5'000));
  CHECK(Get(karmada, kWork).IsNull());
}

TEST_CASE_FIXTURE(WorksFixture, "a foreign object of that name is left alone") {
  Create(m1, kJobsInTeamA, R"({"metadata":{"name":"train"},"spec":{"queue":"theirs"}})");
  Create(karmada, kWorksOfM1, WorkBody("w", JobManifest()));
  Value work = Get(karmada, kWork);
  CHECK(ConditionOf(work, "Applied", "status") == "False");
  CHECK(ConditionOf(work, "Applied", "message").find("already exists") != std::string::npos);
  CHECK(
      ConditionOf(work, "Applied", "message").find("conflict-resolution strategy value is empty") !=
      std::string::npos);
  CHECK(TextAt(Get(m1, kTrain), {"spec", "queue"}) == "theirs");
  Delete(karmada, kWork);
  CHECK(Get(karmada, kWork).IsNull());
  CHECK_FALSE(Get(m1, kTrain).IsNull());

  // It goes, and the Work is tried again.
  Create(karmada, kWorksOfM1, WorkBody("w", JobManifest()));
  Delete(m1, kTrain);
  Advance(Millis(30'000));
  work = Get(karmada, kWork);
  CHECK(ConditionOf(work, "Applied", "status") == "True");
}

TEST_CASE_FIXTURE(WorksFixture, "several manifests are applied in order and one is reported") {
  const std::string config =
      "{" + Managed("v1", "ConfigMap", "settings", "w") + R"(,"data":{"a":"b"}})";
  Create(karmada, kWorksOfM1, WorkBody("w", config + "," + JobManifest()));
  Merge(m1, kTrain + "/status", R"({"status":{"state":{"phase":"Running"}}})");
  CHECK_FALSE(Get(m1, "/api/v1/namespaces/team-a/configmaps/settings").IsNull());
  const Value work = Get(karmada, kWork);
  const Value::List& statuses = ListAt(work, {"status", "manifestStatuses"});
  REQUIRE(statuses.size() == 1);
  CHECK(TextAt(statuses[0], {"identifier", "kind"}) == "Job");
  CHECK(NumberAt(statuses[0], {"identifier", "ordinal"}) == 1);
}

TEST_CASE_FIXTURE(WorksFixture, "namespaces appear in every member unless they say otherwise") {
  CHECK_FALSE(Get(m1, "/api/v1/namespaces/team-a").IsNull());
  CHECK_FALSE(Get(m2, "/api/v1/namespaces/team-a").IsNull());
  Create(
      karmada, "/api/v1/namespaces",
      R"({"metadata":{"name":"here-only","labels":{"namespace.karmada.io/skip-auto-propagation":"true"}}})");
  Create(karmada, "/api/v1/namespaces", R"({"metadata":{"name":"karmada-own"}})");
  CHECK(Get(m1, "/api/v1/namespaces/here-only").IsNull());
  CHECK(Get(m1, "/api/v1/namespaces/karmada-own").IsNull());
  Delete(karmada, "/api/v1/namespaces/team-a");
  Advance(Millis(30'000));
  CHECK(Get(m1, "/api/v1/namespaces/team-a").IsNull());
}

TEST_CASE_FIXTURE(WorksFixture, "Queues and PriorityClasses come and go with their Works") {
  const std::string queue = "/apis/scheduling.volcano.sh/v1beta1/queues/gold";
  Create(karmada, kWorksOfM1,
         WorkBody("q", "{" + Managed("scheduling.volcano.sh/v1beta1", "Queue", "gold", "q") +
                           R"(,"spec":{"weight":1,"parent":"root"}})"));
  Create(karmada, kWorksOfM1,
         WorkBody("p", "{" + Managed("scheduling.k8s.io/v1", "PriorityClass", "high", "p") +
                           R"(,"value":5})"));
  CHECK_FALSE(Get(m1, queue).IsNull());
  CHECK(NumberAt(Get(m1, "/apis/scheduling.k8s.io/v1/priorityclasses/high"), {"value"}) == 5);
  Merge(karmada, kWorksOfM1 + "/q",
        R"({"spec":{"workload":{"manifests":[{)" +
            Managed("scheduling.volcano.sh/v1beta1", "Queue", "gold", "q") +
            R"(,"spec":{"weight":7,"parent":"root"}}]}}})");
  CHECK(NumberAt(Get(m1, queue), {"spec", "weight"}) == 7);
  Delete(karmada, kWorksOfM1 + "/q");
  CHECK(Get(m1, queue).IsNull());
}

TEST_CASE_FIXTURE(WorksFixture, "an unreachable member is not Ready and fences its Works") {
  Create(karmada, kWorksOfM1, WorkBody("w", JobManifest()));
  m1.SetReachable(false);
  Advance(Millis(20'000));
  CHECK(ConditionOf(Get(karmada, kClusters + "/m1"), "Ready", "status") == "True");
  Advance(Millis(30'000));
  Value cluster = Get(karmada, kClusters + "/m1");
  CHECK(ConditionOf(cluster, "Ready", "status") == "False");
  const Value::List& taints = ListAt(cluster, {"spec", "taints"});
  REQUIRE(taints.size() == 1);
  CHECK(TextAt(taints[0], {"key"}) == "cluster.karmada.io/not-ready");
  CHECK(TextAt(taints[0], {"effect"}) == "NoSchedule");

  Delete(karmada, kWork);
  Advance(Millis(60'000));
  CHECK(IsDeleting(Get(karmada, kWork)));
  m1.SetReachable(true);
  Advance(Millis(60'000));
  cluster = Get(karmada, kClusters + "/m1");
  CHECK(ConditionOf(cluster, "Ready", "status") == "True");
  CHECK(ListAt(cluster, {"spec", "taints"}).empty());
  CHECK(Get(karmada, kWork).IsNull());
  CHECK(Get(m1, kTrain).IsNull());
}

TEST_CASE_FIXTURE(WorksFixture, "what the member refuses is said, and tried again") {
  bool refuse = true;
  m1.SetAdmission([&](const ResourceType& type, const Value*, Value&) -> Status {
    if (refuse && type.kind == "Job") {
      return Fail(ErrorCode::kInvalid, "no such luck");
    }
    return {};
  });
  Create(karmada, kWorksOfM1, WorkBody("w", JobManifest()));
  Value work = Get(karmada, kWork);
  CHECK(ConditionOf(work, "Applied", "status") == "False");
  CHECK(ConditionOf(work, "Applied", "reason") == "AppliedFailed");
  CHECK(ConditionOf(work, "Applied", "message").find("no such luck") != std::string::npos);
  refuse = false;
  Advance(Millis(30'000));
  CHECK(ConditionOf(Get(karmada, kWork), "Applied", "status") == "True");

  Create(
      karmada, kWorksOfM1,
      WorkBody("x", R"({"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":"t"}})"));
  work = Get(karmada, kWorksOfM1 + "/x");
  CHECK(ConditionOf(work, "Applied", "message").find("no matches for kind \"Thing\"") !=
        std::string::npos);
}

}  // namespace caldera::sandbox
