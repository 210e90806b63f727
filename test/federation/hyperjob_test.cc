// HyperJobs from the manifest to the children: which, where, under which limits, and how they are
// rendered.
#include <doctest/doctest.h>

#include <string>
#include <variant>
#include <vector>

#include "federation/children.h"
#include "federation/codec.h"
#include "federation/explain.h"
#include "federation/invariants.h"
#include "federation/render.h"
#include "test/federation/builders.h"
#include "test/federation/manifests.h"

namespace caldera {
namespace {

using testing::Fed;
using testing::Key;

/// A replicatedJob of `pods` workers of one core.
std::string Replicated(const std::string& name, int replicas, int pods,
                       const std::string& more = "", const std::string& spec = "") {
  return "{name: " + name + ", replicas: " + std::to_string(replicas) + more +
         ", templateSpec: {queue: q, " + spec +
         "tasks: [{name: w, replicas: " + std::to_string(pods) +
         ", template: {spec: {containers: [{name: c, image: i, resources: {requests: {cpu: "
         "1}}}]}}}]}}";
}

constexpr const char* kAuto = ", splitPolicy: {mode: auto}";

Intake TakeHyper(const std::string& jobs, const std::string& spec = "",
                 const std::string& annotations = "") {
  return Take(
      "apiVersion: training.volcano.sh/v1alpha1\nkind: HyperJob\nmetadata: {name: big, namespace: "
      "n, uid: u, labels: {team: a}, annotations: {" +
      annotations + "}}\nspec: {" + spec + "replicatedJobs: [" + jobs + "]}\n");
}

Fed& Add(Fed& fed, const Intake& intake) {
  REQUIRE_MESSAGE(intake.errors.empty(), ListIssues(intake.errors));
  return fed.Do(*intake.change);
}

/// `a-0 east 2/2, a-1 west 2/2`: the children of the only action, pods and minAvailable.
std::string Children(const Plan& plan) {
  std::string text;
  for (const Action& action : plan.actions) {
    text += text.empty() ? "" : " | ";
    for (const Shard& shard : action.shards) {
      text += (text.empty() || text.ends_with("| ") ? "" : ", ") + shard.child + " " +
              shard.cluster + " " + std::to_string(shard.Pods()) + "/" +
              std::to_string(shard.min_available);
    }
  }
  return text;
}

std::string Where(Fed& fed) {
  const Plan plan = MakePlan(fed.state);
  CHECK(CheckPlan(fed.state, plan).empty());
  return Children(plan);
}

PendingJob Why(Fed& fed) {
  for (PendingJob& pending : ExplainPending(fed.state)) {
    if (pending.job == Key("n/big")) {
      return pending;
    }
  }
  FAIL("it does not wait");
  return {};
}

/// The edits that would admit it, one a line.
std::string WouldFit(const Fed& fed) {
  std::string text;
  for (const Edit& edit : WouldFitIf(fed.state, Key("n/big"))) {
    text += edit.object + " " + edit.field + ": " + edit.from + " -> " + edit.to + "\n";
  }
  return text;
}

std::string Text(const State& state) {
  std::string text;
  for (const Change& change : state.Export()) {
    text += EncodeChange(change) + "\n";
  }
  return text;
}

Fed TwoClusters(const std::string& east, const std::string& west) {
  Fed fed;
  fed.AddQueue("q").AddCluster("east", "cpu=" + east + " pods=100");
  fed.AddCluster("west", "cpu=" + west + " pods=100");
  return fed;
}

}  // namespace

TEST_CASE("hyperjob: all children go to one cluster where one holds them") {
  Fed fed = TwoClusters("4", "8");
  Add(fed, TakeHyper(Replicated("a", 2, 2) + ", " + Replicated("b", 1, 3)));
  CHECK(Where(fed) == "a-0 west 2/2, a-1 west 2/2, b-0 west 3/3");
}

TEST_CASE("hyperjob: whole children are spread over clusters and never cut") {
  Fed fed = TwoClusters("5", "5");
  Add(fed, TakeHyper(Replicated("a", 4, 2)));
  // 4 x 2 pods into 5 + 5 cores: two children each, and a core is left in both.
  CHECK(Where(fed) == "a-0 east 2/2, a-1 east 2/2, a-2 west 2/2, a-3 west 2/2");
  Fed tight = TwoClusters("3", "5");
  Add(tight, TakeHyper(Replicated("a", 4, 2)));
  CHECK(Where(tight).empty());  // 3 + 5 cores are 8, yet only three children fit.
  CHECK(Why(tight).verdict == Verdict::kInsufficientResources);
}

TEST_CASE("hyperjob: splitPolicy auto divides a template over clusters exactly") {
  Fed fed = TwoClusters("5", "3");
  Add(fed, TakeHyper(Replicated("a", 1, 8, kAuto, "minAvailable: 6, ")));
  CHECK(Where(fed) == "a-0 east 5/4, a-1 west 3/2");
  Fed one = TwoClusters("9", "3");
  Add(one, TakeHyper(Replicated("a", 2, 4, kAuto)));
  CHECK(Where(one) == "a-0 east 8/8");
}

TEST_CASE("hyperjob: what must not be cut is not divided") {
  const Intake intake = TakeHyper(Replicated("a", 2, 4, kAuto, "plugins: {svc: []}, "), "", "");
  CHECK(FindIssue(intake.warnings, "spec.replicatedJobs[0].splitPolicy.mode",
                  "plugin svc connects") != nullptr);
  Fed fed = TwoClusters("6", "6");
  Add(fed, intake);
  CHECK(Where(fed) == "a-0 east 4/4, a-1 west 4/4");
  const Intake meeting = TakeHyper(Replicated("a", 2, 4, kAuto, "plugins: {svc: []}, "), "",
                                   "federation.caldera.sh/rendezvous: 'a:1'");
  CHECK(std::get<JobUpsert>(*meeting.change).job.replicated_jobs.front().divided);
}

TEST_CASE("hyperjob: clusterNames bind each child and not the others") {
  Fed fed = TwoClusters("20", "20");
  Add(fed, TakeHyper(Replicated("a", 2, 2, ", clusterNames: [west]") + ", " +
                     Replicated("b", 1, 4, std::string(kAuto) + ", clusterNames: [east]")));
  CHECK(Where(fed) == "a-0 west 2/2, a-1 west 2/2, b-0 east 4/4");
  Fed none = TwoClusters("20", "20");
  Add(none, TakeHyper(Replicated("a", 1, 2, ", clusterNames: [north]")));
  CHECK(Where(none).empty());
  const PendingJob why = Why(none);
  REQUIRE(why.clusters.size() == 2);
  CHECK(why.clusters[0].verdict == Verdict::kNoClusterMatches);
  CHECK(why.clusters[0].message.find("clusterNames of a replicatedJob are north") !=
        std::string::npos);
}

TEST_CASE("hyperjob: children whose clusterNames are of no cluster that takes them") {
  const std::string jobs = Replicated("a", 1, 2, ", clusterNames: [north]") + ", " +
                           Replicated("b", 2, 2, ", clusterNames: [east]");
  Fed fed = TwoClusters("3", "20");
  Add(fed, TakeHyper(jobs));
  CHECK(Why(fed).verdict == Verdict::kNoClusterMatches);
  CHECK(Why(fed).message ==
        "children with clusterNames north may go nowhere: there is no such cluster");
  CHECK(WouldFitIf(fed.state, Key("n/big")).empty());

  fed.AddCluster("north", "cpu=1", [](Cluster& c) { c.ready = false; });
  CHECK(Why(fed).verdict == Verdict::kClusterNotReady);
  CHECK(Why(fed).message ==
        "children with clusterNames north may go nowhere: north: it is not "
        "Ready");
  CHECK(WouldFit(fed) ==
        "Cluster/north status.conditions[Ready].status: False -> True\n"
        "Cluster/north status.resourceSummary.allocatable[cpu]: 1 -> 2\n"
        "Cluster/east status.resourceSummary.allocatable[cpu]: 3 -> 4\n");
}

TEST_CASE("hyperjob: what would let children find room on nodes and within an assignment") {
  const std::string jobs = Replicated("a", 1, 3, ", clusterNames: [east]") + ", " +
                           Replicated("b", 2, 2, ", clusterNames: [west]");
  Fed fed;
  fed.AddQueue("q").AddCluster("east", "").AddNode("east", "e1", "cpu=2 pods=10");
  fed.AddCluster("west", "cpu=9 pods=100").AddQuota("n", "cpu=100", [](TenantQuota& quota) {
    quota.per_cluster["west"] = testing::Amounts("cpu=3");
  });
  Add(fed, TakeHyper(jobs));
  CHECK(Why(fed).verdict == Verdict::kInsufficientResources);
  CHECK(WouldFit(fed) ==
        "Node/east/e1 status.allocatable[cpu]: 2 -> 3\n"
        "FederatedResourceQuota/n/quota spec.staticAssignments[west].hard[cpu]: 3 -> 4\n");
}

TEST_CASE(
    "hyperjob: what would let children find room where opening another cluster does not help") {
  const std::string jobs = Replicated("a", 1, 3, ", clusterNames: [east]") + ", " +
                           Replicated("b", 2, 2, ", clusterNames: [west]");
  Fed fed = TwoClusters("2", "9");
  fed.AddCluster("south", "cpu=9 pods=100");
  Add(fed, TakeHyper(jobs, "", "federation.caldera.sh/clusters: 'east,west'"));
  CHECK(Why(fed).verdict == Verdict::kInsufficientResources);
  CHECK(WouldFit(fed) == "Cluster/east status.resourceSummary.allocatable[cpu]: 2 -> 3\n");
}

TEST_CASE("hyperjob: maxDomains and split never bound the clusters") {
  const std::string jobs = Replicated("a", 4, 2);
  Fed most = TwoClusters("5", "5");
  Add(most, TakeHyper(jobs, "maxDomains: 1, "));
  CHECK(Where(most).empty());
  CHECK(Why(most).verdict == Verdict::kMaxClusters);
  Fed never = TwoClusters("5", "5");
  Add(never, TakeHyper(jobs, "", "federation.caldera.sh/split: never"));
  CHECK(Where(never).empty());
}

TEST_CASE("hyperjob: limits hold over all children") {
  const std::string jobs = Replicated("a", 4, 2);
  Fed quota = TwoClusters("5", "5");
  quota.AddQuota("n", "cpu=7");
  Add(quota, TakeHyper(jobs));
  CHECK(Where(quota).empty());
  CHECK(Why(quota).verdict == Verdict::kTenantQuota);
  Fed there = TwoClusters("20", "20");
  there.AddQuota("n", "", [](TenantQuota& q) { q.per_cluster["east"] = {{"cpu", 4000}}; });
  Add(there, TakeHyper(jobs, "", "federation.caldera.sh/clusters: 'east,west'"));
  CHECK(Where(there).find("east") == std::string::npos);
}

TEST_CASE("hyperjob: it is charged once and freed as a whole") {
  Fed fed = TwoClusters("5", "5");
  Add(fed, TakeHyper(Replicated("a", 4, 2)));
  fed.Go();
  CHECK(fed.At("n/big").charge->shards.size() == 4);
  const auto charged = [&](const std::string& cluster) {
    const State& state = fed.state;
    const ClusterEntry& entry = state.cluster(state.clusters().find(cluster)->second);
    return entry.charged.ToVector()[state.resources().Find("cpu")];
  };
  CHECK(charged("east") == 4000);
  CHECK(charged("west") == 4000);
  CHECK(Where(fed).empty());
  State again;
  for (const Change& change : fed.state.Export()) {
    again.Apply(change);
  }
  CHECK(Text(again) == Text(fed.state));
  fed.Do(JobDelete{Key("n/big"), "u"});
  CHECK(charged("east") == 0);
  CHECK(charged("west") == 0);
}

TEST_CASE("hyperjob: pods left over from a child keep it out of that cluster") {
  Fed fed = TwoClusters("20", "20");
  Add(fed, TakeHyper(Replicated("a", 2, 2)));
  const auto pod_of = [](const std::string& job) {
    Pod pod;
    pod.cluster = "east";
    pod.ns = "n";
    pod.name = job + "-w-0";
    pod.job = job;
    return pod;
  };
  fed.Do(PodUpsert{pod_of("big-a-2")});  // It has no child of that number.
  CHECK(fed.state.PodsOf(fed.At("n/big"), fed.state.clusters().find("east")->second) == 0);
  fed.Do(PodUpsert{pod_of("big-a-1")});
  CHECK(fed.state.PodsOf(fed.At("n/big"), fed.state.clusters().find("east")->second) == 1);
  CHECK(Where(fed) == "a-0 west 2/2, a-1 west 2/2");
  fed.Do(PodDelete{"east", "n", "big-a-1-w-0"});
  CHECK(Where(fed).starts_with("a-0 east"));
}

TEST_CASE("hyperjob: as a victim it goes as a whole") {
  Fed fed = TwoClusters("5", "5");
  fed.AddPriorityClass("high", 100);
  Add(fed, TakeHyper(Replicated("a", 4, 2), "", "federation.caldera.sh/min-runtime: 0s"));
  fed.Go();
  fed.AddJob("n/urgent", "q", 5, "cpu=1", [](Job& job) { job.priority_class = "high"; });
  const Plan plan = MakePlan(fed.state);
  CHECK(CheckPlan(fed.state, plan).empty());
  REQUIRE(plan.actions.size() == 1);
  CHECK(plan.actions.front().action == ActionKind::kEvict);
  CHECK(plan.actions.front().kind == JobKind::kHyperJob);
  CHECK(plan.actions.front().shards.size() == 4);
}

TEST_CASE("hyperjob: a template of no replicas makes no child, and none at all is held") {
  Fed fed = TwoClusters("5", "5");
  Add(fed, TakeHyper(Replicated("a", 0, 2)));
  CHECK(Where(fed).empty());
  CHECK(Why(fed).verdict == Verdict::kHeld);
  Fed some = TwoClusters("5", "5");
  Add(some, TakeHyper(Replicated("a", 0, 2) + ", " + Replicated("b", 1, 1)));
  CHECK(Where(some) == "b-0 east 1/1");
}

TEST_CASE("hyperjob: what cannot be one gang is refused") {
  const std::string other =
      "{name: b, templateSpec: {queue: other, tasks: [{name: w, replicas: 1, template: {spec: "
      "{containers: [{name: c, image: i}]}}}]}}";
  CHECK(FindIssue(TakeHyper(Replicated("a", 1, 1) + ", " + other).errors,
                  "spec.replicatedJobs[1].templateSpec.queue", "one gang") != nullptr);
  CHECK(FindIssue(TakeHyper(Replicated("a", 1001, 1)).errors, "spec.replicatedJobs",
                  "at most 1000") != nullptr);
  CHECK(FindIssue(TakeHyper(Replicated("a", 1000, 2147484)).errors, "spec.replicatedJobs",
                  "2147483647 pods") != nullptr);
  CHECK(FindIssue(TakeHyper(Replicated(std::string(60, 'a'), 1, 1)).errors,
                  "spec.replicatedJobs[0].name", "at most 63") != nullptr);
  CHECK(FindIssue(TakeHyper(Replicated("a", 1, 0)).errors,
                  "spec.replicatedJobs[0].templateSpec.tasks", "no pods") != nullptr);
  CHECK(FindIssue(TakeHyper(Replicated("a", 3, 1), "minAvailable: 2, ").warnings,
                  "spec.minAvailable", "all 3 children") != nullptr);
}

TEST_CASE("hyperjob: names of children are read exactly") {
  const Intake intake = TakeHyper(Replicated("a", 2, 1) + ", " + Replicated("a-1", 1, 1, kAuto));
  REQUIRE_MESSAGE(intake.errors.empty(), ListIssues(intake.errors));
  const JobSpec spec = SpecOf(std::get<JobUpsert>(*intake.change).job);
  for (const char* const name : {"big-a-0", "big-a-1", "big-a-1-0", "big-a-1-7"}) {
    CHECK_MESSAGE(IsChildJob(spec, "big", name), name);
  }
  for (const char* const name : {"big", "big-a", "big-a-2", "big-a-", "big-a--1", "big-a-01",
                                 "big-b-0", "bi-a-0", "big-a-1-"}) {
    CHECK_FALSE_MESSAGE(IsChildJob(spec, "big", name), name);
  }
}

TEST_CASE("hyperjob: a child is rendered as a Job that admission takes") {
  const Intake intake = TakeHyper(Replicated("a", 2, 2) + ", " + Replicated("b", 1, 4, kAuto));
  Fed fed = TwoClusters("5", "3");
  Add(fed, intake);
  const Plan plan = MakePlan(fed.state);
  REQUIRE(plan.actions.size() == 1);
  ShardContext context;
  context.job_uid = "u";
  context.all_shards = plan.actions.front().shards;
  REQUIRE(Children(plan) == "a-0 east 2/2, a-1 east 2/2, b-0 east 1/1, b-1 west 3/3");
  context.index = 3;
  const Value job = *RenderShardJob(intake.defaulted, context);
  CHECK(job.At({"kind"})->AsString() == "Job");
  CHECK(job.At({"metadata", "name"})->AsString() == "big-b-1");
  CHECK(job.At({"metadata", "labels", "team"})->AsString() == "a");
  CHECK(job.At({"metadata", "labels", "volcano.sh/hyperjob-name"})->AsString() == "big");
  CHECK(job.At({"metadata", "labels", "volcano.sh/replicatedjob-name"})->AsString() == "b");
  const Value& task = job.At({"spec", "tasks"})->AsList().front();
  CHECK(task.Find("name")->AsString() == "w");
  CHECK(task.Find("replicas")->AsInteger() == 3);
  const Value& container = task.At({"template", "spec", "containers"})->AsList().front();
  std::string env;
  for (const Value& each : container.Find("env")->AsList()) {
    env += each.Find("name")->AsString().substr(8) + "=" + each.Find("value")->AsString() + " ";
  }
  // One pod of the same task stands in b-0.
  CHECK(env == "CLUSTER=west SHARD_INDEX=3 SHARD_COUNT=4 RANK_OFFSET=1 WORLD_SIZE=8 EPOCH=1 ");
  const Value work = RenderWork(job, context);
  CHECK(work.At({"metadata", "name"})->AsString() == "caldera-u-b-1");
  CHECK(work.At({"metadata", "annotations", "federation.caldera.sh/job"})->AsString() == "n/big");
  CHECK(work.At({"spec", "suspendDispatching"})->AsBool());
  Document document;
  document.root = job;
  const Intake child = TakeObject(document, Strictness::kNew, TestNow());
  CHECK_MESSAGE(child.errors.empty(), ListIssues(child.errors));
}

TEST_CASE("hyperjob: its placement is read back by child") {
  Fed fed = TwoClusters("5", "5");
  Add(fed, TakeHyper(Replicated("a", 4, 2)));
  const Plan plan = MakePlan(fed.state);
  REQUIRE(plan.actions.size() == 1);
  const auto read = DecodePlacement(EncodePlacement(plan.actions.front().shards));
  REQUIRE(read.has_value());
  Fed again = TwoClusters("5", "5");
  Intake intake = TakeHyper(Replicated("a", 4, 2));
  std::get<JobUpsert>(*intake.change).job.placement = *read;
  Add(again, intake);
  // What was asked for is added to what the annotation says.
  CHECK(again.At("n/big").charge->shards == plan.actions.front().shards);
}

}  // namespace caldera
