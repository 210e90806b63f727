#include "controller/kube/yaml_reader.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "test/controller/reading.h"

namespace caldera {
namespace {

using testing::Has;
using testing::Read;
using testing::Yaml;

const Value& Only(const Read& read, const char* key) {
  REQUIRE(read.report.errors.empty());
  REQUIRE(read.documents.size() == 1);
  const Value* value = read.root().Find(key);
  REQUIRE(value != nullptr);
  return *value;
}

std::string FirstError(std::string_view text) {
  const Read read = Yaml(text);
  REQUIRE_FALSE(read.report.errors.empty());
  const Issue& e = read.error();
  return std::to_string(e.mark.line) + ":" + std::to_string(e.mark.column) + " " + e.field + " " +
         e.value + " | " + e.message;
}

TEST_CASE("plain scalars follow the core schema and quoted ones stay strings") {
  struct Row {
    const char* text;
    Value value;
  };
  const std::vector<Row> rows = {
      {"~", Value()},
      {"null", Value()},
      {"", Value()},
      {"true", Value(true)},
      {"False", Value(false)},
      {"12", Value(12)},
      {"-7", Value(-7)},
      {"+7", Value(7)},
      {"0", Value(0)},
      {"0x1F", Value(31)},
      {"0o17", Value(15)},
      {"0644", Value(420)},
      {"089", Value(89)},
      {"9223372036854775807", Value(int64_t{9223372036854775807})},
      {"9223372036854775808", Value(Value::Decimal{"9223372036854775808"})},
      {"1.50", Value(Value::Decimal{"1.50"})},
      {".5", Value(Value::Decimal{"0.5"})},
      {"2.", Value(Value::Decimal{"2.0"})},
      {"1e3", Value(Value::Decimal{"1e3"})},
      {"-0.1E-5", Value(Value::Decimal{"-0.1E-5"})},
      {"0.30000000000000004", Value(Value::Decimal{"0.30000000000000004"})},
      {"1Gi", Value("1Gi")},
      {"500m", Value("500m")},
      {"1.2.3", Value("1.2.3")},
      {"2026-12-01", Value("2026-12-01")},
      {"12:30:45", Value("12:30:45")},
      {"0x", Value("0x")},
      {"0o9", Value("0o9")},
      {"-", Value(Value::List{Value()})},
      {"--flag", Value("--flag")},
      {"nullable", Value("nullable")},
      {"\"12\"", Value("12")},
      {"'true'", Value("true")},
      {"\"\"", Value("")},
      {"!!str 12", Value("12")},
      {"!!str null", Value("null")},
      {"!!str", Value("")},
      {"! 12", Value("12")},
      {"!!int \"12\"", Value(12)},
      {"!!float 1", Value(1)},
      {"!!bool \"true\"", Value(true)},
      {"!!null \"\"", Value()},
      {"!!map {}", Value(Value::Map{})},
      {"!!seq []", Value(Value::List{})},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    const Read read = Yaml(std::string("v:") +
                           (row.text[0] == '-' && row.text[1] == 0 ? "\n" : " ") + row.text + "\n");
    CHECK(Only(read, "v") == row.value);
  }
}

TEST_CASE("words that YAML 1.1 reads otherwise are strings with a warning") {
  for (const char* word : {"yes", "No", "ON", "off", "y", "N", "1_000", "0b11"}) {
    CAPTURE(word);
    const Read read = Yaml(std::string("spec:\n  v: ") + word + "\n");
    REQUIRE(read.report.warnings.size() == 1);
    CHECK(read.warning().mark.line == 2);
    CHECK(read.warning().mark.column == 6);
    CHECK(read.warning().field == "spec.v");
    CHECK(read.warning().value == word);
    CHECK(Has(read.warning().message, "kubectl"));
    CHECK(*read.root().At({"spec", "v"}) == Value(word));
  }
  const Read octal = Yaml("mode: 0644\n");
  REQUIRE(octal.report.warnings.size() == 1);
  CHECK(Has(octal.warning().message, "420"));
  CHECK(Yaml("mode: 00\n").report.warnings.empty());
}

TEST_CASE("what no object can hold is refused") {
  CHECK(Has(FirstError("a: .inf\n"), "1:4 a .inf | not a number"));
  CHECK(Has(FirstError("a: -.Inf\n"), "not a number"));
  CHECK(Has(FirstError("a: .nan\n"), "not a number"));
  CHECK(Has(FirstError("a: 0xFFFFFFFFFFFFFFFFFF\n"), "64 bits"));
  CHECK(Has(FirstError("a: 1e999\n"), "too large"));
  CHECK(Has(FirstError("a: 1" + std::string(400, '0') + "\n"), "too large"));
  CHECK(Has(FirstError("a: !!int x\n"), "!!int"));
  CHECK(Has(FirstError("a: !!binary aGk=\n"), "!!binary"));
  CHECK(Has(FirstError("a: !local x\n"), "!local"));
  CHECK(Has(FirstError("a: !local {}\n"), "!local"));
  CHECK(Has(FirstError("a: !!set {x}\n"), "tag"));
}

TEST_CASE("documents are separated by lines and empty ones skipped") {
  const Read read = Yaml(
      "# only a comment\n---\n---\na: 1\n--- # b\nb: 2\n...\n# c\n---\n\n---\n%x: 1\n--- {c: 3}\n");
  CHECK(read.report.errors.size() == 1);  // `%x` cannot start a text.
  REQUIRE(read.documents.size() == 3);
  CHECK(read.documents[0].index == 0);
  CHECK(read.root(0) == Value(Value::Map{{"a", Value(1), {}}}));
  CHECK(read.documents[2].index == 2);
  CHECK(read.root(2).Find("c")->mark().line == 13);
  CHECK(read.documents[2].file == "in.yaml");
  CHECK(Yaml("").documents.empty());
  CHECK(Yaml("").report.errors.empty());
  CHECK(Yaml("\xEF\xBB\xBF# x\n").documents.empty());
}

TEST_CASE("a document that starts without a separator is refused") {
  CHECK(Has(FirstError("- x\ny: z\n"), "2:1   | a second document starts here"));
  CHECK(Has(FirstError("\"a\"\n\"b\"\n"), "---"));
  CHECK(Yaml("- x\ny: z\n").documents.empty());
}

TEST_CASE("directives stay with their document") {
  const Read read = Yaml("%YAML 1.2\n# c\n---\na: 1\n---\nb: 2\n");
  CHECK(read.report.errors.empty());
  CHECK(read.documents.size() == 2);
}

TEST_CASE("marks count lines and columns from 1 behind CRLF and a byte order mark") {
  const Read read = Yaml("\xEF\xBB\xBF# x\r\na:\r\n  - b\r\n  - \"c\r\n    d\"\r\n---\r\ne: 1\r\n");
  REQUIRE(read.documents.size() == 2);
  const Value& list = *read.root().Find("a");
  CHECK(list.AsList().at(0) == Value("b"));
  CHECK(list.AsList().at(0).mark().line == 3);
  CHECK(list.AsList().at(0).mark().column == 5);
  CHECK(list.AsList().at(1) == Value("c d"));
  CHECK(read.root().AsMap().at(0).mark.line == 2);
  CHECK(read.root(1).Find("e")->mark().line == 7);
  CHECK(read.root(1).Find("e")->mark().column == 4);
}

TEST_CASE("an empty value stands where its key does") {
  const Read read = Yaml("a:\nb: ~\nc: {d: , e: 1}\n");
  CHECK(read.root().Find("a")->mark().line == 1);
  CHECK(read.root().Find("b")->mark().column == 4);
  CHECK(read.root().At({"c", "d"})->mark().column == 5);
}

TEST_CASE("aliases and merge keys are expanded") {
  const Read read = Yaml(
      "base: &b {x: 1, y: [2]}\n"
      "other: &o\n  x: 9\n  z: 3\n"
      "copy: *b\n"
      "one:\n  y: 5\n  <<: *b\n"
      "two:\n  <<: [*b, *o]\n  w: &w k\n"
      "inline:\n  <<: {q: 1}\n"
      "*w : key\n"
      "str: {\"<<\": 1}\n");
  REQUIRE(read.report.errors.empty());
  REQUIRE(read.documents.size() == 1);
  CHECK(*read.root().Find("copy") == *read.root().Find("base"));
  CHECK(read.root().Find("copy")->mark().line == 5);
  CHECK(*read.root().At({"one", "x"}) == Value(1));
  CHECK(*read.root().At({"one", "y"}) == Value(5));
  CHECK(*read.root().At({"two", "x"}) == Value(1));
  CHECK(*read.root().At({"two", "z"}) == Value(3));
  CHECK(read.root().At({"two", "<<"}) == nullptr);
  CHECK(*read.root().At({"inline", "q"}) == Value(1));
  CHECK(*read.root().Find("k") == Value("key"));
  CHECK(*read.root().At({"str", "<<"}) == Value(1));
}

TEST_CASE("aliases cannot grow without bounds") {
  CHECK(Has(FirstError("a: &a [*a]\n"), "1:8 a[0]  | an alias stands inside"));
  CHECK(Has(FirstError("a: *x\n"), "not defined"));
  std::string laughs = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 10; ++i) {
    const std::string before = "*a" + std::to_string(i - 1);
    laughs += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
    for (int j = 0; j < 10; ++j) {
      laughs += (j > 0 ? ", " : "") + before;
    }
    laughs += "]\n";
  }
  CHECK(Has(FirstError(laughs), "200000 values"));
  std::string text = "a: &a " + std::string(1U << 20U, 'x') + "\nb:\n";
  for (int i = 0; i < 20; ++i) {
    text += "- *a\n";
  }
  CHECK(Has(FirstError(text), "16 MiB"));
  std::string deep = "a: &a " + std::string(60, '[') + std::string(60, ']') + "\nb: ";
  deep += std::string(60, '[') + "*a" + std::string(60, ']') + "\n";
  CHECK(Has(FirstError(deep), "100 deep"));
}

TEST_CASE("merge keys take maps only and once") {
  CHECK(Has(FirstError("a: {<<: 1}\n"), "a map or a list of maps"));
  CHECK(Has(FirstError("a: {<<: [1]}\n"), "a map or a list of maps"));
  CHECK(Has(FirstError("a: {<<: {}, <<: {}}\n"), "one merge key"));
}

TEST_CASE("duplicate keys are refused with both lines") {
  CHECK(Has(FirstError("spec:\n  tasks:\n  - name: a\n    replicas: 1\n    name: b\n"),
            "5:5 spec.tasks[0].name name | the key is given twice in this map, first in line 3 and "
            "again in line 5"));
  std::string wide;
  for (int i = 0; i < 40; ++i) {
    wide += "k" + std::to_string(i) + ": 1\n";
  }
  CHECK(Yaml(wide).report.errors.empty());
  const Read read = Yaml(wide + "k7: 2\nk7: 3\n");
  REQUIRE(read.report.errors.size() == 2);
  CHECK(Has(read.error(0).message, "first in line 8 and again in line 41"));
}

TEST_CASE("keys become strings as kubectl has them and others are refused") {
  const Read read = Yaml("1: a\ntrue: b\n0x10: c\n-3: d\n\"q\": e\n? f\n: g\n");
  REQUIRE(read.documents.size() == 1);
  const std::vector<const char*> keys = {"1", "true", "16", "-3", "q", "f"};
  for (const char* key : keys) {
    CAPTURE(key);
    CHECK(read.root().Find(key) != nullptr);
  }
  CHECK(Has(FirstError("? [a]\n: b\n"), "a key must be a string, this is a list"));
  CHECK(Has(FirstError("{a: b}: c\n"), "a key must be a string, this is a map"));
  CHECK(Has(FirstError("1.5: b\n"), "a key must be a string, this is a number"));
  CHECK(Has(FirstError("~: b\n"), "a key must be a string"));
  CHECK(Has(FirstError(": b\n"), "a key must be a string"));
}

TEST_CASE("syntax errors name line and column and what would be right") {
  CHECK(Has(FirstError("a:\n\tb: 1\n"), "2:"));
  CHECK(Has(FirstError("a:\n\tb: 1\n"), "a tab cannot indent"));
  CHECK(Has(FirstError("a:\n  b: 1\n\tc: 2\n"), "3:1  c: 2 | not valid YAML: a tab cannot indent"));
  CHECK(Has(FirstError("a: b: c\n"), "1:5  a: b: c | not valid YAML: a `:` is not allowed here"));
  CHECK(Has(FirstError("a: [1, 2\nb: 3\n"), "opened in line 1, column 4"));
  CHECK(Has(FirstError("a: {b: 1\n"), "`}`"));
  CHECK(Has(FirstError("x: 1\na: \"abc\n"), "2:4  a: \"abc | not valid YAML: the closing quote"));
  CHECK(Has(FirstError("a: \"abc\n---\nb: 1\n"), "1:4"));
  CHECK(Has(FirstError("a: 'abc\n"), "closing quote"));
  CHECK(Has(FirstError("a: @x\n"), "put it in quotes"));
  CHECK(Has(FirstError("a: 1\nb\n"), "2:1 b  | a `:` and a value must come after a key"));
  CHECK(Has(FirstError("a: [1,,2]\n"), "1:7 a[1] , | an item is missing"));
  CHECK(Has(FirstError("a: - b\n"), "a list item"));
  CHECK(Has(FirstError("a: \"\\ud83d\\ude00\"\n"), "invalid unicode"));
}

TEST_CASE("reading goes on behind a document that is wrong") {
  const Read read = Yaml("a: [\n---\nb: 1\n---\nc: 1\nc: 2\n---\nd: 1\n");
  CHECK(read.report.errors.size() == 2);
  REQUIRE(read.documents.size() == 2);
  CHECK(read.root(1).Find("d") != nullptr);
}

TEST_CASE("text that is no UTF-8 is refused where it stands") {
  CHECK(Has(FirstError("a: 1\nb: \xff\n"), "2:4  0xff | not valid UTF-8"));
  CHECK(Has(FirstError("a: \xc0\xaf\n"), "not valid UTF-8"));
  CHECK(Has(FirstError("a: \xed\xa0\x80\n"), "not valid UTF-8"));
  CHECK(Has(FirstError("a: \xf4\x90\x80\x80\n"), "not valid UTF-8"));
  CHECK(Has(FirstError("a: \xe2\x82"), "not valid UTF-8"));
  CHECK(Has(FirstError("\xff\xfe"
                       "a"),
            "UTF-16"));
  CHECK(Has(FirstError(std::string_view("a: b\0c\n", 7)), "1:5  0x00 | a NUL byte"));
  CHECK(Has(FirstError("a: \x04\n"), "control character"));
  CHECK(Has(FirstError("a: 1\rb: 2\n"), "carriage return"));
  CHECK(Yaml("a: \xf0\x9f\x98\x80 \xc3\xa9\n").report.errors.empty());
}

TEST_CASE("nesting has a bound and a hostile depth is no crash") {
  const auto nested = [](size_t n) {
    return "a: " + std::string(n, '[') + std::string(n, ']') + "\n";
  };
  CHECK(Yaml(nested(kMaxDepth - 1)).report.errors.empty());
  CHECK(Has(FirstError(nested(kMaxDepth)), "more than 100 deep"));
  CHECK_FALSE(Yaml(nested(1000)).report.errors.empty());
  CHECK_FALSE(Yaml("a: " + std::string(100'000, '[')).report.errors.empty());
  std::string block;
  for (size_t i = 0; i < 200; ++i) {
    block += std::string(i, ' ') + "a:\n";
  }
  CHECK(Has(FirstError(block), "more than 100 deep"));
}

TEST_CASE("lists are handed on item by item") {
  const Read read = Yaml(
      "apiVersion: v1\nitems:\n- kind: Job\n  a: 1\n- kind: List\n  items:\n  - kind: Queue\nkind: "
      "List\n---\napiVersion: g/v1\nkind: QueueList\nitems:\n- a: 2\n- kind: X\n  apiVersion: "
      "h/v2\n");
  CHECK(read.report.errors.empty());
  REQUIRE(read.documents.size() == 4);
  CHECK(*read.root(1).Find("kind") == Value("Queue"));
  CHECK(*read.root(2).Find("kind") == Value("Queue"));
  CHECK(*read.root(2).Find("apiVersion") == Value("g/v1"));
  CHECK(*read.root(3).Find("apiVersion") == Value("h/v2"));
  CHECK(read.documents[3].index == 3);
  CHECK(Has(FirstError("kind: List\nitems:\n- a\n"), "3:3 items[0] a | an object must be a map"));
  CHECK(Has(FirstError("kind: List\n"), "must have items"));
  CHECK(Has(FirstError("kind: List\nitems: {}\n"), "must have items"));
  CHECK(Yaml("kind: List\nitems: []\n").report.errors.empty());
}

TEST_CASE("a document that is no map is refused") {
  CHECK(Has(FirstError("- a\n"), "separate objects by lines of ---"));
  CHECK(Has(FirstError("just text\n"), "1:1  just text | an object must be a map"));
  CHECK(Has(FirstError("12\n"), "this is a"));
}

TEST_CASE("errors have a bound") {
  std::string text;
  for (int i = 0; i < 500; ++i) {
    text += "---\n- a\n";
  }
  const Read read = Yaml(text);
  CHECK(read.report.errors.size() == kMaxIssues + 1);
  CHECK(Has(read.report.errors.back().message, "more errors"));
}

}  // namespace
}  // namespace caldera
