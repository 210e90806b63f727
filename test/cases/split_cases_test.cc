// What is decided in the cases c18 c23 c24 about jobs that are larger than a cluster.
#include <map>

#include "federation/divide.h"
#include "test/cases/case.h"

namespace caldera {
namespace {

/// `walk-big m1 8, m2 2`, an action a line.
std::string Decided(const Plan& plan) {
  std::string text;
  for (const Action& action : plan.actions) {
    text += (text.empty() ? "" : "; ") + action.job.name;
    for (size_t s = 0; s < action.shards.size(); ++s) {
      text += (s == 0 ? " " : ", ") + action.shards[s].cluster + " " +
              std::to_string(action.shards[s].tasks.front().replicas);
    }
  }
  return text;
}

void Submit(Case& fed, const std::string& annotations) {
  const std::string first = "2026-01-01T00:00:00Z";
  const std::string later = "2026-01-01T00:00:01Z";
  fed.AddJob("walk-big", "walk", 10, "cpu: '8'", {"", annotations, first});
  fed.AddJob("strict-big", "strict", 10, "cpu: '8'", {"", annotations, first});
  fed.AddJob("walk-small", "walk", 1, "cpu: '8'", {"", annotations, later});
  fed.AddJob("strict-small", "strict", 1, "cpu: '8'", {"", annotations, later});
}

TEST_CASE("c18: what must stay whole waits until a cluster holds it") {
  Case fed;
  fed.Load("c18-bigger-than-every-cluster");
  fed.AddCluster("m1", "cpu: '64', pods: '100'");
  fed.AddCluster("m2", "cpu: '48', pods: '100'");
  Submit(fed, "federation.caldera.sh/split: never");
  CHECK(Decided(fed.Go()) == "walk-small m2 1");
  const PendingJob big = fed.Waiting("walk-big");
  CHECK(big.verdict == Verdict::kInsufficientResources);
  CHECK(big.message.find("larger than every cluster that may take it") == 0);
  CHECK(fed.Waiting("strict-small").verdict == Verdict::kFifo);
  fed.AddCluster("m3", "cpu: '96', pods: '100'");
  CHECK(Decided(fed.Go()) == "strict-big m3 10; strict-small m3 1");
  CHECK(fed.Waiting("walk-big").verdict == Verdict::kInsufficientResources);
}

TEST_CASE("c18: what may be split goes to both clusters") {
  Case fed;
  fed.Load("c18-bigger-than-every-cluster");
  fed.AddCluster("m1", "cpu: '64', pods: '100'");
  fed.AddCluster("m2", "cpu: '48', pods: '100'");
  Submit(fed, "");
  // 14 pods find room: one gang of 10, and the small one of a queue that is not held up.
  CHECK(Decided(fed.Go()) == "strict-big m1 8, m2 2; walk-small m2 1; strict-small m2 1");
  CHECK(fed.Waiting("walk-big").message.find("of its 10 pods find room now") != std::string::npos);
}

TEST_CASE("c23: of two gangs that each could take half one gets all and the other nothing") {
  for (const bool turned : {false, true}) {
    Case fed;
    fed.Load("c23-two-gangs-half-each");
    fed.AddText(
        "{apiVersion: scheduling.volcano.sh/v1beta1, kind: Queue, metadata: {name: q}, "
        "spec: {weight: 1, capability: {cpu: '1000'}}}");
    for (const std::string cluster : {"m1", "m2"}) {
      fed.AddCluster(cluster, "cpu: '50', pods: '1000'");
      for (int n = 0; n < 50; ++n) {
        fed.AddText("{apiVersion: v1, kind: Node, metadata: {name: n" + std::to_string(n) +
                    ", annotations: {federation.caldera.sh/cluster: " + cluster +
                    "}}, status: {allocatable: {cpu: '1', pods: '10'}, conditions: "
                    "[{type: Ready, status: 'True'}]}}");
      }
    }
    const auto submit = [&](const std::string& name, const std::string& uid) {
      fed.AddText(
          "{apiVersion: batch.volcano.sh/v1alpha1, kind: Job, metadata: {name: " + name +
          ", namespace: n, uid: " + uid +
          ", creationTimestamp: '2026-01-01T00:00:00Z'}, spec: {queue: q, minAvailable: 100, "
          "tasks: [{name: t, replicas: 100, template: {spec: {restartPolicy: Never, containers: "
          "[{name: c, image: x, resources: {requests: {cpu: '1'}}}]}}}]}}");
    };
    submit(turned ? "g1" : "g2", turned ? "uaaa" : "ubbb");
    submit(turned ? "g2" : "g1", turned ? "ubbb" : "uaaa");
    CHECK(Decided(fed.Go()) == "g1 m1 50, m2 50");
    CHECK(fed.Waiting("g2").verdict == Verdict::kInsufficientResources);
    CHECK(Decided(fed.Go()).empty());
    // 500 s: the winner is done.
    fed.state.Apply(Released{{"n", "g1"}, "uaaa", 1});
    fed.state.Apply(JobDelete{{"n", "g1"}, "uaaa"});
    CHECK(Decided(fed.Go()) == "g2 m1 50, m2 50");
  }
}

TEST_CASE("c24: weighted division is exact and takes nothing away when there is more") {
  const std::map<std::string, std::map<std::string, int64_t>> expected = {
      {"r5", {{"a", 2}, {"b", 2}, {"c", 1}}}, {"r6", {{"a", 3}, {"b", 2}, {"c", 1}}},
      {"r7", {{"a", 4}, {"b", 2}, {"c", 1}}}, {"r8", {{"a", 4}, {"b", 3}, {"c", 1}}},
      {"two-one", {{"a", 1}, {"b", 1}}},      {"tie", {{"m1", 1}, {"m2", 1}, {"m3", 0}}},
      {"zeroweight", {{"a", 3}, {"b", 0}}},   {"allzero", {{"a", 0}, {"b", 0}}},
      {"none", {{"a", 0}, {"b", 0}}},         {"capped", {{"a", 4}, {"b", 6}}}};
  std::istringstream nothing;
  size_t rows = 0;
  const auto check = [&](const Value& row) {
    std::vector<Claim> claims;
    std::vector<std::string> names;
    const Value* const most = row.Find("maxPer");
    for (const Member& weight : row.Find("weights")->AsMap()) {
      const Value* const cap = most == nullptr ? nullptr : most->Find(weight.key);
      names.push_back(weight.key);
      claims.push_back({weight.value.AsInteger(), cap == nullptr ? 1'000 : cap->AsInteger()});
    }
    const std::vector<int64_t> given = DivideByWeight(row.Find("total")->AsInteger(), claims);
    std::map<std::string, int64_t> named;
    for (size_t i = 0; i < names.size(); ++i) {
      named[names[i]] = given[i];
    }
    const std::string id = row.Find("id")->AsString();
    CHECK_MESSAGE(named == expected.at(id), id);
    ++rows;
  };
  ReadInput({std::string(CALDERA_TEST_DATA) + "/cases/c24-replica-division.yaml"}, nothing,
            [&](const Document& document) {
              for (const Value& row : document.root.At({"spec", "rows"})->AsList()) {
                check(row);
              }
            });
  CHECK(rows == expected.size());
}

}  // namespace
}  // namespace caldera
