#include "federation/pod_request.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "test/federation/manifests.h"

namespace caldera {
namespace {

ResourceList RequestOf(const std::string& yaml, IssueSink& sink) {
  const Document document = OneDocument(yaml);
  return PodRequest(Field(&document.root, "spec", document.root.mark(), sink));
}

ResourceList RequestOf(const std::string& yaml) {
  IssueSink sink;
  ResourceList list = RequestOf(yaml, sink);
  CHECK_MESSAGE(sink.errors.empty(), ListIssues(sink.errors));
  return list;
}

std::string Container(const std::string& cpu, bool sidecar = false) {
  return "{name: c, resources: {requests: {cpu: " + cpu + "}}" +
         (sidecar ? ", restartPolicy: Always}" : "}");
}

TEST_CASE("pod requests: containers, init peak and sidecars") {
  struct Row {
    std::string yaml;
    int64_t cpu;
  };
  const std::string c1 = Container("1");
  const std::string c2 = Container("2");
  const std::string c5 = Container("5");
  const std::string side = Container("1", true);
  const std::vector<Row> rows{
      {"{containers: [" + c2 + "," + c1 + "], initContainers: [" + c2 + "," + c2 + "]}", 3000},
      {"{containers: [" + c1 + "], initContainers: [" + c5 + "]}", 5000},
      {"{containers: [" + c1 + "], initContainers: [" + side + "," + c5 + "]}", 6000},
      {"{containers: [" + c1 + "], initContainers: [" + c5 + "," + side + "]}", 5000},
      {"{containers: [" + c2 + "], initContainers: [" + side + "," + side + "]}", 4000},
      {"{containers: [" + c1 + "," + c1 + "], resources: {requests: {cpu: 3}}}", 3000},
      {"{containers: [" + c1 + "," + c1 +
           "], resources: {requests: {cpu: 3}}, overhead: {cpu: 250m}}",
       3250},
      {"{containers: [" + c2 + "], resources: {requests: {cpu: 1}}}", 1000},
  };
  for (const Row& row : rows) {
    CAPTURE(row.yaml);
    CHECK(RequestOf(row.yaml) == ResourceList{{"cpu", row.cpu}, {"pods", 1}});
  }
}

TEST_CASE("pod requests: pod-level resources replace only what they may") {
  CHECK(RequestOf("containers: [{resources: {requests: {cpu: 1, memory: 1G}}}]\n"
                  "resources: {requests: {cpu: 2}}\n") ==
        ResourceList{{"cpu", 2000}, {"memory", 1'000'000'000}, {"pods", 1}});
  CHECK(RequestOf("containers: [{resources: {requests: {nvidia.com/gpu: 4}}}]\n"
                  "resources: {requests: {nvidia.com/gpu: 8, hugepages-2Mi: 4Mi}}\n") ==
        ResourceList{{"hugepages-2Mi", 4'194'304}, {"nvidia.com/gpu", 4}, {"pods", 1}});
  CHECK(RequestOf("containers: [{resources: {requests: {cpu: 1}}}]\n"
                  "resources: {limits: {cpu: 4, memory: 1Gi}}\n") ==
        ResourceList{{"cpu", 1000}, {"memory", 1'073'741'824}, {"pods", 1}});
}

TEST_CASE("pod requests: limits stand in per resource") {
  CHECK(RequestOf("containers:\n"
                  "- resources: {requests: {cpu: 500m}, limits: {cpu: 2, memory: 64Gi, "
                  "nvidia.com/gpu: 8, hugepages-1Gi: 2Gi}}\n") ==
        ResourceList{{"cpu", 500},
                     {"hugepages-1Gi", 2'147'483'648},
                     {"memory", 68'719'476'736},
                     {"nvidia.com/gpu", 8},
                     {"pods", 1}});
  CHECK(RequestOf("containers: [{resources: {requests: {cpu: 0}, limits: {cpu: 2}}}]\n") ==
        ResourceList{{"pods", 1}});
}

TEST_CASE("pod requests: rounded once for the whole pod") {
  CHECK(RequestOf("containers: [" + Container("100500u") + "," + Container("100500u") + "]") ==
        ResourceList{{"cpu", 201}, {"pods", 1}});
}

TEST_CASE("pod requests: nothing asked for is one pod") {
  CHECK(RequestOf("containers: [{name: c}]") == ResourceList{{"pods", 1}});
  CHECK(RequestOf("{}") == ResourceList{{"pods", 1}});
}

TEST_CASE("pod requests: wrong quantities are named and count as absent") {
  IssueSink sink;
  CHECK(RequestOf("containers:\n- resources: {requests: {cpu: 1 core, memory: 1Gi}}\n"
                  "- resources: none\n- text\n",
                  sink) == ResourceList{{"memory", 1'073'741'824}, {"pods", 1}});
  CHECK(FindIssue(sink.errors, "spec.containers[0].resources.requests[cpu]", "\"1 core\"") !=
        nullptr);
  CHECK(FindIssue(sink.errors, "spec.containers[1].resources", "must be a map") != nullptr);
}

}  // namespace
}  // namespace caldera
