// The short way reads the manifests that people write, and what it reads it reads as the whole
// reader does; the fuzz target `yaml` says so of everything else.
#include "controller/kube/yaml_simple.h"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

#include "controller/kube/yaml_chunks.h"
#include "controller/kube/yaml_reader.h"
#include "test/controller/same_marks.h"

namespace caldera {
namespace {

constexpr std::string_view kManifest = R"(---
# A job as people write it.
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata:
  name: train          # the name
  annotations:
    federation.caldera.sh/split: "when-needed"
    note: 'a: b'
    script: |
      set -e
        echo 'x: y' # no comment

      run

    short: |-
      one
      two
  creationTimestamp:
spec:
  minAvailable: 3
  ratio: 1.50
  on-error: true
  nothing: ~
  plugins:
    ssh: []
    svc: ["--a=b", "c d", 'e', 5, plain]
    env: {}
  tasks:
  - replicas: 1
    name: master
    policies:
      - event: TaskCompleted
        action: CompleteJob
    template:
      spec:
        containers:
        - image: registry.example/train:1.2
          command: ["/bin/sh", "-c"]
          args:
            - python train.py --epochs=3
            - "two  blanks"
  - name: worker

    replicas: 2
)";

std::vector<Document> Whole(std::string_view text) {
  std::vector<Document> documents;
  ReadReport report;
  ReadYamlWhole(
      text, "in.yaml", [&](Document d) { documents.push_back(std::move(d)); }, report);
  CHECK(report.errors.empty());
  return documents;
}

TEST_CASE("a plain manifest is read the short way and means the same") {
  const std::string text(kManifest);
  const std::vector<YamlChunk> chunks = SplitYaml(text);
  REQUIRE(chunks.size() == 1);
  const auto simple = ReadSimpleYaml(chunks.front());
  REQUIRE(simple.has_value());
  const std::vector<Document> whole = Whole(text);
  REQUIRE(whole.size() == 1);
  CHECK(testing::SameTree(*simple, whole.front().root));
  CHECK(*simple->At({"metadata", "annotations", "script"}) ==
        Value("set -e\n  echo 'x: y' # no comment\n\nrun\n"));
}

TEST_CASE("what is not surely plain is left to the whole reader") {
  for (const char* text : {"a: &x b\n",
                           "a: *x\n",
                           "a: !!str b\n",
                           "a: yes\n",
                           "a: 0644\n",
                           "a: b\n  c\n",
                           "a: \"b\n  c\"\n",
                           "a: \"\\n\"\n",
                           "a: 'b''c'\n",
                           "a: >\n  b\n",
                           "a: |+\n  b\n",
                           "a: |2\n    b\n",
                           "a: {b: c}\n",
                           "a: [b, [c]]\n",
                           "a: [b,\n c]\n",
                           "? a\n: b\n",
                           "<<: {}\n",
                           "1: a\n",
                           "\"a\": b\n",
                           "a: b: c\n",
                           "a:\n\tb: c\n",
                           "a: b\nc\n",
                           "a: b\n- c\n",
                           "- a\n",
                           "a:\n- - b\n",
                           "a:\n-\n  b: c\n",
                           "a: b\n b: c\n",
                           "a: b\na: c\n",
                           "a\n",
                           "a: .inf\n",
                           "a: 1e999\n",
                           "a: [b,,c]\n",
                           "a: [b\n",
                           "a: |\n b\n  \n c\n",
                           "a: |\n\n  b\n",

                           "a: \"b\" c\n",
                           "a: \"b\"#c\n",
                           "a: @b\n",
                           "a: - b\n",
                           "a:\n  b\n",
                           " a: b\n",
                           "a: b #c\n  d\n",
                           "%a\n---\nb: c\n",
                           "a: \"b\n"}) {
    CAPTURE(text);
    for (const YamlChunk& chunk : SplitYaml(text)) {
      CHECK_FALSE(ReadSimpleYaml(chunk).has_value());
    }
  }
}

}  // namespace
}  // namespace caldera
