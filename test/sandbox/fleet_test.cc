#include "test/sandbox/fleet.h"

#include <doctest/doctest.h>

#include <fstream>

#include "test/kube/temp_folder.h"
#include "test/sandbox/tree.h"

namespace caldera::sandbox {
namespace {

std::string FolderFile(const TempFolder& folder, const std::string& text) {
  return folder.Write("fleet.yaml", text);
}

}  // namespace

TEST_CASE("the quickstart's Clusters become members with equal nodes") {
  const auto fleet = ReadFleet({CALDERA_TEST_DATA "/../examples/quickstart/clusters.yaml"});
  REQUIRE_MESSAGE(fleet.has_value(), fleet.error().message);
  REQUIRE(fleet->size() == 4);
  const FleetMember& frankfurt = fleet->at("frankfurt");
  REQUIRE(frankfurt.nodes.size() == 4);
  CHECK(TextAt(frankfurt.nodes[0], {"status", "allocatable", "cpu"}) == "64");
  CHECK(TextAt(frankfurt.nodes[0], {"status", "allocatable", "memory"}) == "256Gi");
  CHECK(TextAt(frankfurt.nodes[0], {"status", "allocatable", "nvidia.com/gpu"}) == "4");
  CHECK(frankfurt.pods.size() == 4);
  CHECK(frankfurt.reachable);
  CHECK(frankfurt.cluster.At({"status", "resourceSummary"}) == nullptr);

  // Three nodes would cut a GPU.
  const FleetMember& dublin = fleet->at("dublin");
  CHECK(dublin.nodes.size() == 2);
  // As its annotation says, not as its summary does.
  const Value& pod = dublin.pods.at(0);
  const Value& container = ListAt(pod, {"spec", "containers"})[0];
  CHECK(TextAt(container, {"resources", "requests", "cpu"}) == "8");
  CHECK_FALSE(fleet->at("tokyo").reachable);
}

TEST_CASE("Nodes and HyperNodes of a fleet go where they say") {
  const TempFolder folder;
  const std::string file = FolderFile(folder, R"(
apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: a}
---
apiVersion: v1
kind: Node
metadata: {name: n1, annotations: {federation.caldera.sh/cluster: a}}
status: {allocatable: {cpu: "4", volcano.sh/vgpu-number: "40"}}
---
apiVersion: topology.volcano.sh/v1alpha1
kind: HyperNode
metadata: {name: r1, labels: {federation.caldera.sh/cluster: a}}
spec: {tier: 1, members: [{type: Node, selector: {exactMatch: {name: n1}}}]}
)");
  const auto fleet = ReadFleet({file});
  REQUIRE_MESSAGE(fleet.has_value(), fleet.error().message);
  CHECK(fleet->at("a").nodes.size() == 1);
  CHECK(fleet->at("a").hyper_nodes.size() == 1);
  CHECK(fleet->at("a").pods.empty());
}

TEST_CASE("what is wrong with a fleet is said") {
  const TempFolder folder;
  const auto complaint = [&](const std::string& text) {
    const auto fleet = ReadFleet({FolderFile(folder, text)});
    REQUIRE_FALSE(fleet.has_value());
    return fleet.error().message;
  };
  const auto has = [](const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  };
  CHECK(has(complaint("{apiVersion: v1, kind: Node, metadata: {name: n}}"),
            "must say in annotation federation.caldera.sh/cluster"));
  CHECK(has(complaint("{apiVersion: v1, kind: Secret, metadata: {name: s}}"), "not Secret/s"));
  CHECK(
      has(complaint("{apiVersion: v1, kind: Cluster, metadata: {name: a}}"), "neither a Node nor"));
  CHECK(has(complaint("{apiVersion: v1, kind: Node, metadata: {name: n, annotations: "
                      "{federation.caldera.sh/cluster: a}}}"),
            "there is no Cluster/a"));
  CHECK(has(complaint("{apiVersion: v1, kind: Cluster, metadata: {name: a, annotations: "
                      "{sandbox.caldera.sh/foreign: \"cpu\"}}, status: {resourceSummary: "
                      "{allocatable: {cpu: 4}}}}"),
            "must be RESOURCE=QUANTITY"));
  CHECK(ReadFleet({"/no/such/fleet.yaml"}).has_value() == false);
}

TEST_CASE("members by name alone are equal") {
  const Fleet fleet = MakeFleet({"m1", "m2"});
  REQUIRE(fleet.size() == 2);
  CHECK(fleet.at("m2").nodes.size() == 4);
  CHECK(TextAt(fleet.at("m1").nodes[3], {"metadata", "name"}) == "m1-4");
}

}  // namespace caldera::sandbox
