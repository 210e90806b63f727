#include "federation/fields.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "test/federation/manifests.h"

namespace caldera {
namespace {

/// A document and the Field at its root.
struct Fixture {
  explicit Fixture(const std::string& yaml) : document(OneDocument(yaml)) {
    sink.object = "Queue/gold";
    sink.file = document.file;
  }
  [[nodiscard]] Field Root() { return {&document.root, "", document.root.mark(), sink}; }

  Document document;
  IssueSink sink;
};

TEST_CASE("fields: paths and places") {
  Fixture it("spec:\n  tasks:\n  - name: a\n    replicas: x\n  labels: {nvidia.com/gpu: 1}\n");
  const Field spec = it.Root()["spec"];
  const Field task = spec["tasks"].Items().at(0);
  CHECK(task["replicas"].path() == "spec.tasks[0].replicas");
  CHECK(spec["labels"]["nvidia.com/gpu"].path() == "spec.labels[nvidia.com/gpu]");
  CHECK(spec["labels"].Members().at(0).second.path() == "spec.labels[nvidia.com/gpu]");
  CHECK(spec["none"]["below"].path() == "spec.none.below");
  CHECK(!spec["none"]["below"].Present());

  CHECK(!task["replicas"].Integer(0, 10).has_value());
  REQUIRE(it.sink.errors.size() == 1);
  const Issue& issue = it.sink.errors.front();
  CHECK(issue.object == "Queue/gold");
  CHECK(issue.file == "test.yaml");
  CHECK(issue.mark.line == 4);
  CHECK(issue.mark.column == 15);
  CHECK(issue.field == "spec.tasks[0].replicas");
  CHECK(issue.value == "x");
  CHECK(issue.message == "must be an integer from 0 to 10, not a string: write it without quotes");

  task["image"].Refuse("is missing");
  CHECK(it.sink.errors.back().mark.line == 3);
  CHECK(it.sink.errors.back().value.empty());
}

TEST_CASE("fields: scalars") {
  Fixture it(
      "text: abc\nno: false\nnumber: 7\ndecimal: 1.5\nwhole: 2.0\nbig: 99999999999999999999\n"
      "quoted: '3'\nnothing: null\nlist: []\nmap: {}\n");
  const Field root = it.Root();
  CHECK(root["text"].String() == "abc");
  CHECK(root["no"].Bool() == false);
  CHECK(root["number"].Integer(1, 10) == 7);
  CHECK(root["whole"].Integer(1, 10) == 2);
  CHECK(!root["nothing"].String().has_value());
  CHECK(!root["nothing"].Integer(0, 1).has_value());
  CHECK(!root["absent"].Bool().has_value());
  CHECK(it.sink.errors.empty());

  struct Row {
    std::string field;
    std::string message;
  };
  CHECK(!root["number"].String().has_value());
  CHECK(!root["no"].String().has_value());
  CHECK(!root["list"].String().has_value());
  CHECK(!root["text"].Bool().has_value());
  CHECK(!root["decimal"].Integer(0, 10).has_value());
  CHECK(!root["big"].Integer(0, 10).has_value());
  CHECK(!root["quoted"].Integer(0, 10).has_value());
  CHECK(!root["map"].Integer(0, 10).has_value());
  CHECK(!root["number"].Integer(8, 10).has_value());
  const std::vector<Row> rows{
      {"number", "must be a string, not an integer: write it in quotes, \"7\""},
      {"no", "must be a string, not a boolean: write it in quotes, \"false\""},
      {"list", "must be a string, not a list"},
      {"text", "must be true or false, not a string"},
      {"decimal", "must be an integer from 0 to 10"},
      {"big", "must be an integer from 0 to 10"},
      {"quoted", "must be an integer from 0 to 10, not a string: write it without quotes"},
      {"map", "must be an integer from 0 to 10, not a map"},
      {"number", "must be an integer from 8 to 10"},
  };
  REQUIRE(it.sink.errors.size() == rows.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    CHECK(it.sink.errors[i].field == rows[i].field);
    CHECK(it.sink.errors[i].message == rows[i].message);
  }
}

TEST_CASE("fields: lists and maps") {
  Fixture it("names: [a, b]\nmixed: [a, 1, null]\nlabels: {x: y, z: null, n: 1}\ntext: abc\n");
  const Field root = it.Root();
  CHECK(root["names"].StringList() == std::vector<std::string>{"a", "b"});
  CHECK(root["absent"].Items().empty());
  CHECK(root["absent"].IsMapOrAbsent());
  CHECK(it.sink.errors.empty());
  CHECK(root["mixed"].StringList() == std::vector<std::string>{"a"});
  CHECK(FindIssue(it.sink.errors, "mixed[1]", "must be a string") != nullptr);
  CHECK(FindIssue(it.sink.errors, "mixed[2]", "not null") != nullptr);
  const std::vector<std::pair<std::string, std::string>> labels{{"x", "y"}, {"z", ""}};
  CHECK(root["labels"].Strings() == labels);
  CHECK(FindIssue(it.sink.errors, "labels[n]", "in quotes, \"1\"") != nullptr);
  CHECK(root["text"].Items().empty());
  CHECK(FindIssue(it.sink.errors, "text", "must be a list, not a string") != nullptr);
  CHECK(!root["text"].IsMapOrAbsent());
  CHECK(root["text"].Members().empty());
  CHECK(FindIssue(it.sink.errors, "text", "must be a map, not a string") != nullptr);
  CHECK(it.sink.errors.size() == 5);
}

TEST_CASE("fields: quantities as integers, decimals and strings") {
  Fixture it(
      "good: {cpu: 0.5, memory: 1Gi, nvidia.com/gpu: '8', pods: 16, ephemeral-storage: 1.5}\n"
      "bad: {cpu: -1, memory: lots, nvidia.com/gpu: 0.5, 'a b': 1, pods: [1], storage: null}\n");
  const Field root = it.Root();
  CHECK(root["good"].Resources(true) == ResourceList{{"cpu", 500},
                                                     {"memory", 1'073'741'824},
                                                     {"nvidia.com/gpu", 8},
                                                     {"pods", 16},
                                                     {"ephemeral-storage", 2}});
  CHECK(root["good"].Resources(false).at("ephemeral-storage") == 1);
  CHECK(it.sink.errors.empty());
  CHECK(root["bad"].Resources(true).empty());
  CHECK(FindIssue(it.sink.errors, "bad[cpu]", "negative") != nullptr);
  CHECK(FindIssue(it.sink.errors, "bad[memory]", "\"lots\" is no quantity") != nullptr);
  CHECK(FindIssue(it.sink.errors, "bad[nvidia.com/gpu]", "whole number") != nullptr);
  CHECK(FindIssue(it.sink.errors, "bad[a b]", "no resource name") != nullptr);
  CHECK(FindIssue(it.sink.errors, "bad[pods]", "not a list") != nullptr);
  CHECK(FindIssue(it.sink.errors, "bad[storage]", "not null") != nullptr);
}

TEST_CASE("fields: what grows without bound is cut") {
  Value::List many(kListMax + 1, Value("x"));
  IssueSink sink;
  const Value value(std::move(many));
  CHECK(Field(&value, "spec.list", {}, sink).Items().empty());
  REQUIRE(sink.errors.size() == 1);
  CHECK(sink.errors[0].message.find("at most 10000") != std::string::npos);

  const Value wrong(Value::List(kListMax, Value(1)));
  CHECK(Field(&wrong, "spec.names", {}, sink).StringList().empty());
  CHECK(sink.errors.size() == kIssuesMax);

  const std::string key(size_t{1} << 20U, 'k');
  const Value named(Value::Map{{key, 1, {}}});
  const Field field = Field(&named, "labels", {}, sink).Members().at(0).second;
  CHECK(field.path().size() < 200);
}

TEST_CASE("fields: the same complaint is kept once") {
  Fixture it("spec: 3\n");
  CHECK(!it.Root()["spec"].IsMapOrAbsent());
  CHECK(!it.Root()["spec"].IsMapOrAbsent());
  CHECK(it.sink.errors.size() == 1);
}

}  // namespace
}  // namespace caldera
