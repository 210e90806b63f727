// What the writers write is read back as the same tree: by hand for the forms that matter to a
// reader's eye, and for many random trees of hostile strings.
#include <doctest/doctest.h>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "controller/kube/json_writer.h"
#include "controller/kube/yaml_writer.h"
#include "test/controller/reading.h"
#include "test/controller/same_marks.h"

namespace caldera {
namespace {

using testing::Json;
using testing::Read;
using testing::Yaml;

Value Wrap(Value value) { return Value(Value::Map{{"v", std::move(value), {}}}); }

void CheckRoundTrip(const Value& root) {
  const std::string yaml = WriteYaml(root);
  CAPTURE(yaml);
  const Read from_yaml = Yaml(yaml);
  REQUIRE(from_yaml.report.errors.empty());
  CHECK(from_yaml.report.warnings.empty());
  REQUIRE(from_yaml.documents.size() == 1);
  REQUIRE(from_yaml.root() == root);
  ReadReport whole;
  ReadYamlWhole(
      yaml, "in.yaml",
      [&](const Document& d) { CHECK(testing::SameTree(d.root, from_yaml.root())); }, whole);
  CHECK((whole.errors.empty() && whole.documents == 1));
  for (const std::string& json : {WriteJson(root), WritePrettyJson(root)}) {
    CAPTURE(json);
    const Read from_json = Json(json);
    REQUIRE(from_json.report.errors.empty());
    REQUIRE(from_json.documents.size() == 1);
    REQUIRE(from_json.root() == root);
    // JSON is YAML too.
    const Read json_as_yaml = Yaml(json);
    if (json_as_yaml.report.errors.empty()) {
      CHECK(json_as_yaml.root() == root);
    }
  }
}

const std::vector<std::string> kHostileStrings = {"",
                                                  " ",
                                                  "a",
                                                  "a b",
                                                  " a",
                                                  "a ",
                                                  "null",
                                                  "Null",
                                                  "~",
                                                  "true",
                                                  "FALSE",
                                                  "yes",
                                                  "No",
                                                  "on",
                                                  "y",
                                                  "n",
                                                  "N",
                                                  "=",
                                                  "<<",
                                                  "-",
                                                  "--",
                                                  "---",
                                                  "...",
                                                  "- a",
                                                  "-a",
                                                  "?",
                                                  "? a",
                                                  ":",
                                                  ": a",
                                                  "a:",
                                                  "a: b",
                                                  "a:b",
                                                  "a #b",
                                                  "a#b",
                                                  "#a",
                                                  "#",
                                                  "&a",
                                                  "*a",
                                                  "!a",
                                                  "|",
                                                  "|a",
                                                  ">",
                                                  "'",
                                                  "''",
                                                  "'a'",
                                                  "\"",
                                                  "\"a\"",
                                                  "%a",
                                                  "@a",
                                                  "`a",
                                                  "[",
                                                  "]",
                                                  "[]",
                                                  "{",
                                                  "}",
                                                  "{}",
                                                  "[a]",
                                                  "{a: b}",
                                                  ",",
                                                  "a,b",
                                                  ", a",
                                                  "0",
                                                  "-0",
                                                  "+1",
                                                  "12",
                                                  "1_000",
                                                  "0x1F",
                                                  "0X1F",
                                                  "0o17",
                                                  "017",
                                                  "09",
                                                  "0b11",
                                                  "1.5",
                                                  ".5",
                                                  "5.",
                                                  "1e3",
                                                  "1E3",
                                                  "+.5e-3",
                                                  ".inf",
                                                  "-.inf",
                                                  ".nan",
                                                  ".NaN",
                                                  "1:30",
                                                  "190:20:30",
                                                  "2026-12-01",
                                                  "2026-12-01T08:00:00Z",
                                                  "2026-12-01 08:00:00",
                                                  "1Gi",
                                                  "500m",
                                                  "1.2.3",
                                                  "10.0.0.1",
                                                  "9223372036854775808",
                                                  "1e999",
                                                  "\n",
                                                  "\n\n",
                                                  "a\n",
                                                  "a\nb",
                                                  "a\nb\n",
                                                  "a\n\nb\n",
                                                  "a\nb\n\n",
                                                  "\na",
                                                  " a\nb",
                                                  "a\n b\n",
                                                  "a\n  \nb",
                                                  "a\n\tb",
                                                  "\ta\nb",
                                                  "a\tb",
                                                  "a\\b",
                                                  "a\\nb",
                                                  "\r",
                                                  "a\r\nb",
                                                  "a\rb",
                                                  "\x01",
                                                  "\x1b[0m",
                                                  "\x7f",
                                                  "a\n---\nb\n",
                                                  "a\n# b\n",
                                                  "# a\nb",
                                                  "a: b\nc: d\n",
                                                  "\xC2\x85",
                                                  "a\xC2\x85z",
                                                  "\xE2\x80\xA8",
                                                  "a\xE2\x80\xA9z\nb",
                                                  "\xEF\xBB\xBF",
                                                  "\xC2\xA0",
                                                  "\xC3\xA9",
                                                  "\xF0\x9F\x98\x80",
                                                  "\xEF\xBF\xBD",
                                                  "nvidia.com/gpu",
                                                  "registry/x:1.2",
                                                  "$(VAR)",
                                                  "--role=master",
                                                  "/bin/sh -c \"echo $X\"",
                                                  "a\\",
                                                  "\"\\",
                                                  "key\n",
                                                  "a\n...\nb",
                                                  "a  b",
                                                  "a :b",
                                                  "<none>",
                                                  "(a)",
                                                  "^a$",
                                                  "a;b",
                                                  "~user",
                                                  std::string(600, 'k'),
                                                  std::string(2000, '"'),
                                                  std::string("a\0b", 3),
                                                  "!!str",
                                                  "!!int 5",
                                                  "*",
                                                  "&",
                                                  "a\n\n",
                                                  "x\n ",
                                                  "x\n \ny",
                                                  " \n",
                                                  "if true; then\n  echo 'x'\nfi\n",
                                                  "\xE4\xB8\xAD\xE6\x96\x87\n\xE6\x96\x87\n"};

TEST_CASE("strings survive as values, items and keys") {
  for (const std::string& text : kHostileStrings) {
    CAPTURE(text);
    CheckRoundTrip(Wrap(Value(text)));
    CheckRoundTrip(Wrap(Value(Value::List{Value(text), Value(Value::List{Value(text)})})));
    CheckRoundTrip(Value(Value::Map{{text, Value(text), {}}, {text + "x", Wrap(Value(1)), {}}}));
  }
}

TEST_CASE("numbers keep their text") {
  for (const char* text :
       {"9223372036854775808", "1.50", "0.1", "1e3", "-0.5e-7", "1E400", "0.0"}) {
    const Value root = Wrap(Value(Value::Decimal{text}));
    CHECK(WriteJson(root) == std::string("{\"v\":") + text + "}");
  }
  CheckRoundTrip(Wrap(Value(INT64_MIN)));
  CheckRoundTrip(Wrap(Value(Value::Decimal{"1.50"})));
}

TEST_CASE("YAML looks as kubectl prints it") {
  const Value root(
      Value::Map{{"kind", Value("Job"), {}},
                 {"empty", Value(Value::Map{}), {}},
                 {"tasks",
                  Value(Value::List{
                      Value(Value::Map{{"name", Value("a"), {}},
                                       {"args", Value(Value::List{Value("x"), Value("1")}), {}}}),
                      Value(Value::List{Value(1), Value(Value::List{})})}),
                  {}},
                 {"script", Value("set -e\n  run\n"), {}},
                 {"last", Value("a\nb"), {}},
                 {"none", Value(), {}}});
  CHECK(WriteYaml(root) ==
        "kind: Job\n"
        "empty: {}\n"
        "tasks:\n"
        "- name: a\n"
        "  args:\n"
        "  - x\n"
        "  - \"1\"\n"
        "- - 1\n"
        "  - []\n"
        "script: |\n"
        "  set -e\n"
        "    run\n"
        "last: |-\n"
        "  a\n"
        "  b\n"
        "none: null\n");
  CheckRoundTrip(root);
  CHECK(WriteYaml(Value(3)) == "3\n");
  CHECK(WriteYaml(Value(Value::Map{})) == "{}\n");
  CHECK(WriteYaml(Value("a\nb")) == "\"a\\nb\"\n");
}

TEST_CASE("JSON is compact or indented by two") {
  const Value root(Value::Map{{"a", Value(Value::List{Value(1), Value("x\"\\\x01\x7f")}), {}},
                              {"b", Value(Value::Map{}), {}},
                              {"c", Value(Value::List{}), {}}});
  CHECK(WriteJson(root) == R"({"a":[1,"x\"\\\u0001\u007f"],"b":{},"c":[]})");
  CHECK(WritePrettyJson(root) ==
        "{\n  \"a\": [\n    1,\n    \"x\\\"\\\\\\u0001\\u007f\"\n  ],\n  \"b\": {},\n  \"c\": "
        "[]\n}\n");
}

class Trees {
 public:
  explicit Trees(uint32_t seed) : random_(seed) {}

  Value Any(int depth) {
    switch (Pick(depth > 0 ? 8 : 6)) {
      case 0:
        return {};
      case 1:
        return {Pick(2) == 0};
      case 2:
        return {static_cast<int64_t>(random_()) - 2'000'000'000};
      case 3:
        return Value(Value::Decimal{std::to_string(Pick(100)) + "." + std::to_string(Pick(100))});
      case 4:
      case 5:
        return {Text()};
      case 6: {
        Value::List list;
        for (size_t n = Pick(4); n > 0; --n) {
          list.push_back(Any(depth - 1));
        }
        return {std::move(list)};
      }
      default:
        return Map(depth - 1);
    }
  }

  Value Map(int depth) {
    Value map{Value::Map{}};
    for (size_t n = Pick(4); n > 0; --n) {
      map.Set(Text(), Any(depth));
    }
    return map;
  }

 private:
  size_t Pick(size_t n) { return random_() % n; }

  // Pieces that mean something to YAML, put together.
  std::string Text() {
    if (Pick(3) == 0) {
      return kHostileStrings.at(Pick(kHostileStrings.size()));
    }
    static const std::vector<std::string> kPieces = {"a",        "b",
                                                     "1",        "0",
                                                     " ",        "  ",
                                                     "\n",       "\n",
                                                     ":",        ": ",
                                                     "#",        " #",
                                                     "-",        "- ",
                                                     "'",        "\"",
                                                     "\\",       "\t",
                                                     ".",        "x",
                                                     "[",        "]",
                                                     "{",        "}",
                                                     ",",        "&",
                                                     "*",        "!",
                                                     "|",        ">",
                                                     "%",        "@",
                                                     "e",        "_",
                                                     "~",        "\r",
                                                     "\xC2\x85", "\xE2\x80\xA8",
                                                     "\xC3\xA9", "?",
                                                     "? ",       "=",
                                                     "---",      "..."};
    std::string text;
    for (size_t n = Pick(8); n > 0; --n) {
      text += kPieces.at(Pick(kPieces.size()));
    }
    return text;
  }

  std::mt19937 random_;
};

TEST_CASE("random trees survive both writers") {
  for (uint32_t seed = 1; seed <= 1500; ++seed) {
    CAPTURE(seed);
    CheckRoundTrip(Trees(seed).Map(4));
  }
}

}  // namespace
}  // namespace caldera
