#include "federation/document.h"

#include <doctest/doctest.h>

#include <string>

namespace caldera {
namespace {

Value Sample() {
  return Value::Map{{"a", 1, {}},
                    {"b", Value::Map{{"c", "x", {}}, {"d", Value::List{true, "y"}, {}}}, {}}};
}

TEST_CASE("values: kinds and their contents") {
  CHECK(Value().IsNull());
  CHECK(Value("text").AsString() == "text");
  CHECK(Value(true).AsBool());
  CHECK(Value(int64_t{1} << 40U).AsInteger() == int64_t{1} << 40U);
  CHECK(Value(Value::Decimal{"0.5"}).AsDecimal() == "0.5");
  CHECK(Value(Value::List{1, 2}).AsList().size() == 2);
  CHECK(Value("text", Mark{3, 4}).mark().column == 4);
  CHECK(Value::KindName(Value(Value::Decimal{"1.5"}).kind()) == "number");
  CHECK(Value::KindName(Value::Kind::kNull) == "null");
}

TEST_CASE("values: finding, setting and erasing keys") {
  Value value = Sample();
  REQUIRE(value.At({"b", "c"}) != nullptr);
  CHECK(value.At({"b", "c"})->AsString() == "x");
  CHECK(value.At({"b", "x"}) == nullptr);
  CHECK(value.At({"a", "c"}) == nullptr);
  CHECK(value.At({"x", "y", "z"}) == nullptr);
  CHECK(Value(1).Find("a") == nullptr);
  value.Set("a", "new");
  value.Set("z", 9);
  CHECK(value.AsMap().size() == 3);
  CHECK(value.AsMap().front().value.AsString() == "new");
  CHECK(value.AsMap().back().key == "z");
  value.Erase("b");
  value.Erase("not there");
  CHECK(value.Find("b") == nullptr);
  Value null;
  null.Set("k", 1);
  CHECK(null.IsMap());
  Value scalar = 3;
  scalar.Erase("k");
  CHECK(scalar.AsInteger() == 3);
}

TEST_CASE("values: equal in any order of keys, whatever the marks") {
  const Value other = Value::Map{
      {"b",
       Value(Value::Map{{"d", Value::List{true, "y"}, {}}, {"c", Value("x", Mark{9, 9}), {}}}),
       {}},
      {"a", 1, {7, 7}}};
  CHECK(Sample() == other);
  Value changed = other;
  changed.Find("b")->Set("c", "z");
  CHECK(!(Sample() == changed));
  CHECK(!(Value(1) == Value("1")));
  CHECK(!(Value(Value::List{1, 2}) == Value(Value::List{2, 1})));
  CHECK(!(Value(Value::Map{{"a", 1, {}}}) == Value(Value::Map{{"b", 1, {}}})));
}

TEST_CASE("values: briefly") {
  CHECK(Value().Brief() == "null");
  CHECK(Value(false).Brief() == "false");
  CHECK(Value(-7).Brief() == "-7");
  CHECK(Value(Value::Decimal{"1.50"}).Brief() == "1.50");
  CHECK(Value("a\tb").Brief() == "a\\x09b");
  CHECK(Value(std::string(1000, 'x')).Brief().size() == 64);
  CHECK(Value(Value::List{}).Brief() == "[]");
  CHECK(Value(Value::List{1}).Brief() == "[...]");
  CHECK(Value(Value::Map{}).Brief() == "{}");
  CHECK(Sample().Brief() == "{...}");
}

}  // namespace
}  // namespace caldera
