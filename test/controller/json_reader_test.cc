#include "controller/kube/json_reader.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <string>

#include "controller/kube/json_writer.h"
#include "test/controller/reading.h"

namespace caldera {
namespace {

using testing::Has;
using testing::Json;
using testing::Read;

std::string FirstError(std::string_view text) {
  const Read read = Json(text);
  REQUIRE_FALSE(read.report.errors.empty());
  const Issue& e = read.error();
  return std::to_string(e.mark.line) + ":" + std::to_string(e.mark.column) + " " + e.field + " " +
         e.value + " | " + e.message;
}

TEST_CASE("JSON values keep their kinds and numbers their text") {
  const Read read = Json(
      R"({"a":null,"b":true,"c":-9223372036854775808,"d":9223372036854775808,"e":1.50,"f":1e3,)"
      R"("g":0.30000000000000004,"h":"12","i":[],"j":{},"k":"\ud83d\ude00\u0000\n","l":-0,"":1})");
  REQUIRE(read.report.errors.empty());
  REQUIRE(read.documents.size() == 1);
  const Value& root = read.root();
  CHECK(root.Find("a")->IsNull());
  CHECK(*root.Find("b") == Value(true));
  CHECK(*root.Find("c") == Value(INT64_MIN));
  CHECK(*root.Find("d") == Value(Value::Decimal{"9223372036854775808"}));
  CHECK(*root.Find("e") == Value(Value::Decimal{"1.50"}));
  CHECK(*root.Find("f") == Value(Value::Decimal{"1e3"}));
  CHECK(*root.Find("g") == Value(Value::Decimal{"0.30000000000000004"}));
  CHECK(*root.Find("h") == Value("12"));
  CHECK(*root.Find("i") == Value(Value::List{}));
  CHECK(*root.Find("j") == Value(Value::Map{}));
  CHECK(*root.Find("k") == Value(std::string("\xf0\x9f\x98\x80\0\n", 6)));
  CHECK(*root.Find("l") == Value(0));
  CHECK(*root.Find("") == Value(1));
}

TEST_CASE("JSON marks stand at the start of each token") {
  const Read read = Json(
      "\xEF\xBB\xBF{\n  \"a\" : [ 1,\n    \"x\\n\", {\"b\":-2.5} ],\r\n \"c\": {}\n}\n{\"d\":1}");
  REQUIRE(read.report.errors.empty());
  REQUIRE(read.documents.size() == 2);
  const Value& root = read.root();
  CHECK(root.mark().line == 1);
  CHECK(root.AsMap().at(0).mark.line == 2);
  CHECK(root.AsMap().at(0).mark.column == 3);
  const Value::List& list = root.Find("a")->AsList();
  CHECK(root.Find("a")->mark().column == 9);
  CHECK(list.at(0).mark().column == 11);
  CHECK(list.at(1).mark().line == 3);
  CHECK(list.at(1).mark().column == 5);
  CHECK(list.at(2).Find("b")->mark().column == 17);
  CHECK(root.Find("c")->mark().line == 4);
  CHECK(root.Find("c")->mark().column == 7);
  CHECK(read.root(1).mark().line == 6);
  CHECK(read.root(1).Find("d")->mark().column == 6);
  CHECK(read.documents[1].index == 1);
}

TEST_CASE("several documents and lists are handed on one by one") {
  const Read read =
      Json("{\"a\":1}{\"b\":2}\n\n{\"kind\":\"List\",\"items\":[{\"c\":3},{\"d\":4}]} null");
  CHECK(read.report.errors.empty());
  CHECK(read.documents.size() == 4);
  CHECK(Json(" \n ").documents.empty());
  CHECK(Json(" \n ").report.errors.empty());
}

TEST_CASE("JSON that is wrong is refused where it is wrong") {
  CHECK(Has(FirstError("{\"a\":1,\n\"b\":2,\n\"a\":3}"),
            "3:1 a a | the key is given twice in this map, first in line 1 and again in line 3"));
  CHECK(Has(FirstError("{\"a\":1,}"), "1:8"));
  CHECK(Has(FirstError("{\"a\":1 \"b\":2}"), "not valid JSON"));
  CHECK(Has(FirstError("{\"a\":tru}"), "not valid JSON"));
  CHECK(Has(FirstError("{\"a\":01}"), "not valid JSON"));
  CHECK(Has(FirstError("{\"a\":NaN}"), "not valid JSON"));
  CHECK(Has(FirstError("{\"a\":1e999}"), "not valid JSON"));
  CHECK(Has(FirstError("{\"a\":\"x"), "not valid JSON"));
  CHECK(Has(FirstError("{\"a\":\"\\ud83d\"}"), "not valid JSON"));
  CHECK(Has(FirstError("{\"a\":\"\\ude00\"}"), "1:6 a"));
  CHECK(Has(FirstError("{\"\\ude00\":1}"), "first half"));
  CHECK(Has(FirstError("{\"a\":\n"), "not valid JSON"));
  CHECK(Has(FirstError("{} ,{}"), "1:4"));
  CHECK(Has(FirstError("{} }"), "not valid JSON"));
  CHECK(Has(FirstError("// x\n{}"), "not valid JSON"));
  CHECK(Has(FirstError("[{}]"), "this is a list"));
  CHECK(Has(FirstError("{\"a\":\"\xff\"}"), "1:7  0xff | not valid UTF-8"));
  CHECK(Has(FirstError("{\"a\":\"x\ny\"}"), "not valid JSON"));
  CHECK(Has(FirstError(std::string_view("{\"a\":1}\0", 8)), "NUL"));
}

TEST_CASE("what nobody reads of an API's answer is left out, and only that") {
  const std::string text =
      R"({"items":[{"metadata":{"name":"a","managedFields":[{"f":{"x":[1,"two",null,true]}},3],)"
      R"("annotations":{"kubectl.kubernetes.io/last-applied-configuration":"{\"a\":1}","b":"c"}},)"
      R"("spec":{"managedFields":1}},{"metadata":{"managedFields":null,"name":"b"}},)"
      R"({"metadata":{"managedFields":[]}},{"metadata":{"managedFields":7.5,"x":false}}],)"
      R"("managedFields":2})";
  CHECK(
      WriteJson(*ParseJson(text, JsonKeep::kWhatIsRead)) ==
      R"({"items":[{"metadata":{"name":"a","annotations":{"b":"c"}},"spec":{"managedFields":1}},)"
      R"({"metadata":{"name":"b"}},{"metadata":{}},{"metadata":{"x":false}}],"managedFields":2})");
  CHECK(ParseJson(text)->Find("items")->AsList()[0].At({"metadata", "managedFields"}) != nullptr);
  // It must be JSON all the same, and marks go on behind it.
  CHECK_FALSE(ParseJson(R"({"metadata":{"managedFields":[1,}})", JsonKeep::kWhatIsRead));
  const auto marked =
      ParseJson(R"({"metadata":{"managedFields":[1,2],"n":5}})", JsonKeep::kWhatIsRead);
  CHECK(marked->At({"metadata", "n"})->mark().column == 40);
}

TEST_CASE("JSON nesting has a bound and a hostile depth is no crash") {
  const auto nested = [](size_t n) {
    return "{\"a\":" + std::string(n, '[') + std::string(n, ']') + "}";
  };
  CHECK(Json(nested(kMaxDepth - 1)).report.errors.empty());
  CHECK(Has(FirstError(nested(kMaxDepth)), "more than 100 deep"));
  CHECK(Has(FirstError(std::string(1'000'000, '[')), "more than 100 deep"));
}

}  // namespace
}  // namespace caldera
