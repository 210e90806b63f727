// `caldera validate` from outside.
#include <doctest/doctest.h>

#include "test/cli/run_program.h"

namespace caldera::test {
namespace {

TEST_CASE("mistakes are refused, each with its place, value and what would be right") {
  for (const std::string format : {"table", "json", "yaml"}) {
    const Said said = RunCaldera({"validate", "-f", "examples/mistakes", "-o", format});
    CHECK(said.exit_code == 1);
    CHECK(said.err.empty());
    CheckGolden("mistakes." + format, said.out);
  }
}

TEST_CASE("the quickstart is accepted") {
  const Said said = RunCaldera({"validate", "-f", "examples/quickstart"});
  CHECK(said.exit_code == 0);
  CheckGolden("quickstart.validate", said.out);
}

TEST_CASE("a Job comes back with its defaults, its gang and its demand") {
  const Said said = RunCaldera({"validate", "-f", "-", "-o", "json"}, JobYaml("j", "gold", 3, 2));
  REQUIRE(said.exit_code == 0);
  const Value result = ParseJson(said.out).Find("results")->AsList().at(0);
  CHECK(TextAt(result, {"object"}) == "Job/team/j");
  CHECK(result.Find("accepted")->AsBool());
  CHECK(result.Find("minMember")->AsInteger() == 3);
  CHECK(TextAt(result, {"defaulted", "spec", "schedulerName"}) == "volcano");
  CHECK(TextAt(result, {"demand", "perPod", "main", "cpu"}) == "2");
  CHECK(TextAt(result, {"demand", "full", "cpu"}) == "6");
  CHECK(TextAt(result, {"minResources", "cpu"}) == "6");
}

TEST_CASE("every result has the same members, whatever its kind and its fate") {
  const Said said =
      RunCaldera({"validate", "-f", "-", "-o", "json"},
                 QueueYaml("q", "weight: 70000") + ClusterYaml("c", 1) + JobYaml("j", "q", 1, 1));
  CHECK(said.exit_code == 1);
  const Value plan = ParseJson(said.out);
  const Value& results = *plan.Find("results");
  REQUIRE(results.AsList().size() == 3);
  for (const Value& result : results.AsList()) {
    std::string keys;
    for (const Member& member : result.AsMap()) {
      keys += member.key + " ";
    }
    CHECK(keys ==
          "object accepted kind errors warnings defaulted minMember minTaskMember minResources "
          "subGroupPolicy networkTopology demand ");
  }
}

TEST_CASE("relations between queues are checked over the whole input") {
  const Said said = RunCaldera({"validate", "-f", "-", "-o", "json"},
                               QueueYaml("parent", "capability: {cpu: 10}") +
                                   QueueYaml("child", "parent: parent, capability: {cpu: 20}"));
  CHECK(said.exit_code == 1);
  const Value plan = ParseJson(said.out);
  CHECK_FALSE(ItemOf(*plan.Find("results"), "object", "Queue/child").Find("accepted")->AsBool());
}

TEST_CASE("unusable input is 2") {
  CHECK(RunCaldera({"validate", "-f", "-"}, "").exit_code == 2);
  CHECK(RunCaldera({"validate", "-f", "-"}, "a: b: c").exit_code == 2);
  CHECK(RunCaldera({"validate", "-f", "no-such-file"}).exit_code == 2);
}

}  // namespace
}  // namespace caldera::test
