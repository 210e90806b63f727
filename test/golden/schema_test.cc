// The schema in federation/volcano_schema.cc against the real definitions (*.schema.json are the
// specs of Volcano's CustomResourceDefinitions without their descriptions): every field, type,
// bound, choice, default and list key, both ways.
#include <doctest/doctest.h>

#include <set>

#include "federation/volcano_schema.h"
#include "test/golden/compare.h"

using namespace caldera;

namespace {

using Kind = SchemaNode::Kind;

class SchemaComparison {
 public:
  explicit SchemaComparison(bool older) : older_(older) {}

  void Struct(const SchemaStruct& ours, const Value& theirs, const std::string& path) {
    const Value* const properties = theirs.Find("properties");
    REQUIRE_MESSAGE(properties != nullptr, path);
    std::set<std::string> required;
    if (const Value* const list = theirs.Find("required"); list != nullptr) {
      for (const Value& name : list->AsList()) {
        required.insert(name.AsString());
      }
    }
    for (const Member& property : properties->AsMap()) {
      const SchemaMember* const member = ours.Find(property.key);
      INFO(path, ".", property.key);
      REQUIRE(member != nullptr);
      if (!older_) {
        CHECK(member->required == required.contains(property.key));
      }
      Node(VolcanoSchema().Node(member->node), property.value, path + "." + property.key);
    }
    if (!older_) {
      CHECK_MESSAGE(ours.members.size() == properties->AsMap().size(), path);
    }
    ++compared;
  }

  size_t compared = 0;

 private:
  void Node(const SchemaNode& ours, const Value& theirs, const std::string& path) {
    INFO(path);
    Type(ours, theirs, path);
    if (older_) {
      return;  // Its Job spec is an older one: names and types are what it shares.
    }
    const auto bound = [&](std::string_view key, int64_t absent) {
      const Value* const value = theirs.Find(key);
      return value == nullptr ? absent : value->AsInteger();
    };
    if (ours.kind == Kind::kInteger) {
      const int64_t lowest = Text(theirs, "format") == "int32"
                                 ? std::numeric_limits<int32_t>::min()
                                 : std::numeric_limits<int64_t>::min();
      CHECK(ours.min == bound("minimum", lowest));
    }
    if (ours.kind == Kind::kString || ours.kind == Kind::kList) {
      const bool list = ours.kind == Kind::kList;
      CHECK(ours.min_length == static_cast<size_t>(bound(list ? "minItems" : "minLength", 0)));
      CHECK(ours.max_length == static_cast<size_t>(bound(list ? "maxItems" : "maxLength", -1)));
    }
    CHECK((ours.pattern != SchemaNode::Pattern::kNone) ==
          (theirs.Find("pattern") != nullptr && ours.kind == Kind::kString));
    CHECK(ours.choices == Strings(theirs.Find("enum")));
    CHECK(ours.keys == Strings(theirs.Find("x-kubernetes-list-map-keys")));
    CHECK(ours.set == (Text(theirs, "x-kubernetes-list-type") == "set"));
    const Value* const fallback = theirs.Find("default");
    CHECK(ours.fallback.has_value() == (fallback != nullptr));
    if (fallback != nullptr && ours.fallback.has_value()) {
      CHECK(*ours.fallback == *fallback);
    }
    CHECK(theirs.Find("x-kubernetes-validations") == nullptr);
  }

  void Type(const SchemaNode& ours, const Value& theirs, const std::string& path) {
    const std::string type = Text(theirs, "type");
    const bool int_or_string = theirs.Find("x-kubernetes-int-or-string") != nullptr;
    switch (ours.kind) {
      case Kind::kStruct:
        CHECK(type == "object");
        return Struct(VolcanoSchema().StructAt(ours.target), theirs, path);
      case Kind::kMap:
        CHECK(type == "object");
        return Node(VolcanoSchema().Node(ours.target), *theirs.Find("additionalProperties"),
                    path + "{}");
      case Kind::kList:
        CHECK(type == "array");
        return Node(VolcanoSchema().Node(ours.target), *theirs.Find("items"), path + "[]");
      case Kind::kString:
      case Kind::kDuration:
        CHECK(type == "string");
        return;
      case Kind::kBool:
        CHECK(type == "boolean");
        return;
      case Kind::kInteger:
        CHECK(type == "integer");
        return;
      case Kind::kQuantity:
      case Kind::kIntOrString:
        CHECK(int_or_string);
        CHECK((ours.kind == Kind::kQuantity) == (theirs.Find("pattern") != nullptr));
        return;
      case Kind::kAny:
        FAIL("nothing in these definitions is free");
    }
  }

  static std::vector<std::string> Strings(const Value* list) {
    std::vector<std::string> strings;
    for (const Value& text : list == nullptr ? Value::List{} : list->AsList()) {
      strings.push_back(text.AsString());
    }
    return strings;
  }

  bool older_;
};

}  // namespace

TEST_CASE("schema: that of a Job is the one of its CustomResourceDefinition") {
  const Value definition = GoldenDocuments("batch.volcano.sh_jobs.schema.json").front().root;
  SchemaComparison comparison(false);
  comparison.Struct(VolcanoSchema().Struct("JobSpec"), definition, "spec");
  CHECK(comparison.compared > 300);
}

TEST_CASE("schema: a HyperJob's has every field of its CustomResourceDefinition") {
  const Value definition =
      GoldenDocuments("training.volcano.sh_hyperjobs.schema.json").front().root;
  SchemaComparison comparison(true);
  comparison.Struct(VolcanoSchema().Struct("HyperJobSpec"), definition, "spec");
  CHECK(comparison.compared > 250);
}
