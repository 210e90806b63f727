#include <doctest/doctest.h>

#include <variant>

#include "federation/intake_selector.h"
#include "test/federation/manifests.h"

using namespace caldera;

namespace {

Intake TakeAnnotated(const std::string& annotations) {
  return Take(
      "apiVersion: batch.volcano.sh/v1alpha1\n"
      "kind: Job\n"
      "metadata:\n"
      "  name: train\n"
      "  namespace: team-a\n"
      "  annotations: {" +
      annotations +
      "}\n"
      "spec:\n"
      "  tasks:\n"
      "  - {name: w, replicas: 2, template: {spec: {containers: [{name: c, image: i}]}}}\n");
}

std::string Ours(const std::string& name, const std::string& value) {
  return "\"federation.caldera.sh/" + name + "\": " + value;
}

Job AnnotatedJob(const std::string& annotations) {
  const Intake intake = TakeAnnotated(annotations);
  REQUIRE_MESSAGE(intake.change.has_value(), ListIssues(intake.errors));
  return std::get<JobUpsert>(*intake.change).job;
}

std::string FieldOf(const std::string& name) {
  return "metadata.annotations[federation.caldera.sh/" + name + "]";
}

bool Refuses(const std::string& name, const std::string& value) {
  const Intake intake = TakeAnnotated(Ours(name, value));
  return FindIssue(intake.errors, FieldOf(name), "") != nullptr && !intake.change.has_value();
}

bool WarnsOnly(const std::string& name, const std::string& value) {
  const Intake intake = TakeAnnotated(Ours(name, value));
  return intake.errors.empty() &&
         FindIssue(intake.warnings, FieldOf(name), "not in effect") != nullptr;
}

}  // namespace

TEST_CASE("annotations: without any a job has the defaults") {
  const Job job = AnnotatedJob("");
  CHECK_FALSE(job.hold);
  CHECK(job.clusters == ClusterConstraint{});
  CHECK(job.split == "when-needed");
  CHECK(job.max_distance == "any");
  CHECK(job.preemptible);
  CHECK_FALSE(job.elastic);
  CHECK(job.placement.empty());
}

TEST_CASE("annotations: hold is true or false and in effect") {
  CHECK(AnnotatedJob(Ours("hold", "\"true\"")).hold);
  CHECK_FALSE(AnnotatedJob(Ours("hold", "\"false\"")).hold);
  CHECK(Refuses("hold", "\"yes\""));
  CHECK(Refuses("hold", "\"\""));
  CHECK(Refuses("hold", "true"));  // No string: annotations are strings.
  CHECK(TakeAnnotated(Ours("hold", "\"true\"")).warnings.empty());
}

TEST_CASE("annotations: clusters are names in order of preference") {
  CHECK(AnnotatedJob(Ours("clusters", "\"west, east\"")).clusters.names ==
        std::vector<std::string>{"west", "east"});
  CHECK(Refuses("clusters", "\"\""));
  CHECK(Refuses("clusters", "\"west,,east\""));
  CHECK(Refuses("clusters", "\"West\""));
  CHECK(Refuses("clusters", "\"west,west\""));
}

TEST_CASE("annotations: the cluster selector is a label selector") {
  const auto selector =
      AnnotatedJob(Ours("cluster-selector",
                        "\"gpu=h100,zone in (a, b),region!=eu,tier notin (edge),fast,!old,x==y\""))
          .clusters.selector;
  const std::vector<LabelRequirement> wanted = {
      {"gpu", "In", {"h100"}},     {"zone", "In", {"a", "b"}}, {"region", "NotIn", {"eu"}},
      {"tier", "NotIn", {"edge"}}, {"fast", "Exists", {}},     {"old", "DoesNotExist", {}},
      {"x", "In", {"y"}}};
  CHECK(selector == wanted);
  for (const char* const bad : {"\"\"", "\"a b\"", "\"a in b\"", "\"a in (b\"", "\"=b\"",
                                "\"a=b c\"", "\"a,,b\"", "\"a>1\"", "\"!\""}) {
    CHECK_MESSAGE(Refuses("cluster-selector", bad), bad);
  }
}

TEST_CASE("annotations: keys that begin like an operator are keys") {
  const auto selector = ParseLabelSelector("in,notin,inside=yes,in in (a)");
  REQUIRE(selector.has_value());
  const std::vector<LabelRequirement> wanted = {{"in", "Exists", {}},
                                                {"notin", "Exists", {}},
                                                {"inside", "In", {"yes"}},
                                                {"in", "In", {"a"}}};
  CHECK(*selector == wanted);
}

TEST_CASE("annotations: cluster tolerations are written as kubectl writes taints") {
  const auto tolerations =
      AnnotatedJob(Ours("cluster-tolerations", "\"a=b:NoSchedule,c:NoExecute,d=e,f,*\""))
          .clusters.tolerations;
  const std::vector<Toleration> wanted = {{"a", "Equal", "b", "NoSchedule"},
                                          {"c", "Exists", "", "NoExecute"},
                                          {"d", "Equal", "e", ""},
                                          {"f", "Exists", "", ""},
                                          {"", "Exists", "", ""}};
  CHECK(tolerations == wanted);
  for (const char* const bad : {"\"\"", "\"a:Never\"", "\"a=b=c\"", "\":NoSchedule\"", "\"a b\""}) {
    CHECK_MESSAGE(Refuses("cluster-tolerations", bad), bad);
  }
}

TEST_CASE("annotations: the placement that Caldera wrote is read back") {
  const Job job = AnnotatedJob(
      Ours("placement",
           "'[{\"cluster\":\"east\",\"epoch\":2,\"tasks\":{\"w\":{\"replicas\":2,\"minAvailable\":"
           "1}},\"minAvailable\":1}]'"));
  REQUIRE(job.placement.size() == 1);
  CHECK(job.placement.front().cluster == "east");
  CHECK(job.placement.front().epoch == 2);
  REQUIRE(job.placement.front().tasks.size() == 1);
  CHECK(job.placement.front().tasks.front() == TaskGrant{"w", 2, 1});
  CHECK(Refuses("placement", "'[{]'"));
  CHECK(Refuses("placement", "'east'"));
}

TEST_CASE("annotations: those of later releases are checked and warned about") {
  for (const auto& entry : std::vector<std::pair<std::string, std::string>>{
           {"accelerators", "'H100=1.0,A100=0.45'"},
           {"checkpoint", "s3://bucket/run-7"},
           {"policies", "'ClusterLost=MoveShard:5m,ShardFailed=RestartJob'"}}) {
    CHECK_MESSAGE(WarnsOnly(entry.first, entry.second), entry.first, " ", entry.second);
  }
}

TEST_CASE("annotations: those of splitting and evictions are taken without a warning") {
  for (const auto& entry :
       std::vector<std::pair<std::string, std::string>>{{"split", "never"},
                                                        {"split", "allowed"},
                                                        {"rendezvous", "trainer.example.org:29500"},
                                                        {"rendezvous", "10.1.2.3"},
                                                        {"rendezvous", "'[2001:db8::1]:29500'"},
                                                        {"max-clusters", "\"3\""},
                                                        {"min-shard", "\"8\""},
                                                        {"max-distance", "region"},
                                                        {"min-runtime", "10m"},
                                                        {"elastic", "\"true\""},
                                                        {"preemptible", "\"false\""}}) {
    const Intake intake = TakeAnnotated(Ours(entry.first, entry.second));
    CHECK_MESSAGE(intake.errors.empty(), entry.first, " ", entry.second);
    CHECK_MESSAGE(intake.warnings.empty(), entry.first, " ", entry.second);
  }
}

TEST_CASE("annotations: wrong values of later releases are refused all the same") {
  for (const auto& entry : std::vector<std::pair<std::string, std::string>>{
           {"split", "sometimes"},
           {"split", "\"\""},
           {"rendezvous", "\"a b\""},
           {"rendezvous", "host:0"},
           {"rendezvous", "host:70000"},
           {"rendezvous", "\"\""},
           {"max-clusters", "\"0\""},
           {"max-clusters", "\"-1\""},
           {"max-clusters", "\"1.5\""},
           {"max-clusters", "\"many\""},
           {"min-shard", "\"99999999999\""},
           {"max-distance", "planet"},
           {"accelerators", "H100"},
           {"accelerators", "'H100=0'"},
           {"accelerators", "'H100=-1'"},
           {"accelerators", "'H100=1,H100=2'"},
           {"accelerators", "'H100=fast'"},
           {"checkpoint", "\"\""},
           {"policies", "'ClusterLost'"},
           {"policies", "'ClusterLost=Panic'"},
           {"policies", "'ClusterLost=Wait:soon'"},
           {"policies", "'Rain=Wait'"},
           {"policies", "'ClusterLost=Wait,ClusterLost=Wait'"},
           {"min-runtime", "\"10\""},
           {"min-runtime", "\"-5m\""},
           {"preemptible", "maybe"},
           {"elastic", "\"1\""}}) {
    CHECK_MESSAGE(Refuses(entry.first, entry.second), entry.first, " ", entry.second);
  }
}

TEST_CASE("annotations: values of later releases reach the job") {
  const Job job =
      AnnotatedJob(Ours("split", "never") + ", " + Ours("max-clusters", "\"3\"") + ", " +
                   Ours("min-shard", "\"8\"") + ", " + Ours("min-runtime", "90s") + ", " +
                   Ours("checkpoint", "run-7") + ", " + Ours("elastic", "\"true\"") + ", " +
                   Ours("rendezvous", "host:1"));
  CHECK(job.split == "never");
  CHECK(job.max_clusters == 3);
  CHECK(job.min_shard == 8);
  CHECK(job.min_runtime == Millis(90'000));
  CHECK(job.checkpoint == "run-7");
  CHECK(job.elastic);
  CHECK(job.rendezvous == "host:1");
}

TEST_CASE("annotations: an unknown one of ours is warned about and no other") {
  const Intake intake = TakeAnnotated(Ours("cluster", "east") + ", example.org/owner: me");
  CHECK(intake.errors.empty());
  REQUIRE(intake.warnings.size() == 1);
  CHECK(FindIssue(intake.warnings, FieldOf("cluster"), "clusters") != nullptr);
}

TEST_CASE("annotations: Volcano's own preemptable is honoured and ours wins") {
  CHECK_FALSE(AnnotatedJob("volcano.sh/preemptable: \"false\"").preemptible);
  CHECK(AnnotatedJob("volcano.sh/preemptable: \"false\", " + Ours("preemptible", "\"true\""))
            .preemptible);
  const Intake odd = TakeAnnotated("volcano.sh/preemptable: perhaps");
  CHECK(odd.errors.empty());
  CHECK(FindIssue(odd.warnings, "metadata.annotations[volcano.sh/preemptable]", "no effect") !=
        nullptr);
}
