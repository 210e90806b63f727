#include "test/sandbox/patch.h"

#include "test/sandbox/api_fixture.h"

namespace caldera::sandbox {
namespace {

Value J(const std::string& text) {
  Result<Value> value = ParseJson(text);
  REQUIRE_MESSAGE(value.has_value(), text);
  return *value;
}

// The examples of RFC 7386, appendix A.
TEST_CASE("a merge patch is that of RFC 7386") {
  const auto merged = [](const std::string& target, const std::string& patch) {
    Value value = J(target);
    ApplyMergePatch(value, J(patch));
    return WriteJson(value);
  };
  CHECK(merged(R"({"a":"b"})", R"({"a":"c"})") == R"({"a":"c"})");
  CHECK(merged(R"({"a":"b"})", R"({"b":"c"})") == R"({"a":"b","b":"c"})");
  CHECK(merged(R"({"a":"b"})", R"({"a":null})") == "{}");
  CHECK(merged(R"({"a":"b","b":"c"})", R"({"a":null})") == R"({"b":"c"})");
  CHECK(merged(R"({"a":["b"]})", R"({"a":"c"})") == R"({"a":"c"})");
  CHECK(merged(R"({"a":"c"})", R"({"a":["b"]})") == R"({"a":["b"]})");
  CHECK(merged(R"({"a":{"b":"c"}})", R"({"a":{"b":"d","c":null}})") == R"({"a":{"b":"d"}})");
  CHECK(merged(R"({"a":[{"b":"c"}]})", R"({"a":[1]})") == R"({"a":[1]})");
  CHECK(merged(R"(["a","b"])", R"(["c","d"])") == R"(["c","d"])");
  CHECK(merged(R"({"a":"foo"})", "null") == "null");
  CHECK(merged(R"({"e":null})", R"({"a":1})") == R"({"e":null,"a":1})");
  CHECK(merged("[1,2]", R"({"a":"b","c":null})") == R"({"a":"b"})");
  CHECK(merged("{}", R"({"a":{"bb":{"ccc":null}}})") == R"({"a":{"bb":{}}})");
}

std::string JsonPatched(const std::string& target, const std::string& patch) {
  Value value = J(target);
  const Answer<void> applied = ApplyJsonPatch(value, J(patch));
  return applied ? WriteJson(value) : std::to_string(applied.error().code);
}

// The examples of RFC 6902, appendix A.
TEST_CASE("a JSON patch is that of RFC 6902") {
  CHECK(JsonPatched(R"({"foo":"bar"})", R"([{"op":"add","path":"/baz","value":"qux"}])") ==
        R"({"foo":"bar","baz":"qux"})");
  CHECK(
      JsonPatched(R"({"foo":["bar","baz"]})", R"([{"op":"add","path":"/foo/1","value":"qux"}])") ==
      R"({"foo":["bar","qux","baz"]})");
  CHECK(JsonPatched(R"({"baz":"qux","foo":"bar"})", R"([{"op":"remove","path":"/baz"}])") ==
        R"({"foo":"bar"})");
  CHECK(JsonPatched(R"({"foo":["a","b","c"]})", R"([{"op":"remove","path":"/foo/1"}])") ==
        R"({"foo":["a","c"]})");
  CHECK(JsonPatched(R"({"baz":"qux"})", R"([{"op":"replace","path":"/baz","value":1}])") ==
        R"({"baz":1})");
  CHECK(JsonPatched(R"({"foo":{"bar":1},"qux":{}})",
                    R"([{"op":"move","from":"/foo/bar","path":"/qux/thud"}])") ==
        R"({"foo":{},"qux":{"thud":1}})");
  CHECK(JsonPatched(R"({"foo":["a","b","c"]})",
                    R"([{"op":"move","from":"/foo/0","path":"/foo/2"}])") ==
        R"({"foo":["b","c","a"]})");
  CHECK(JsonPatched(R"({"a":{"b":1}})", R"([{"op":"copy","from":"/a","path":"/c"}])") ==
        R"({"a":{"b":1},"c":{"b":1}})");
  CHECK(JsonPatched(R"({"a":[1]})", R"([{"op":"add","path":"/a/-","value":2}])") ==
        R"({"a":[1,2]})");
  CHECK(JsonPatched(R"({"/":9,"~1":10})", R"([{"op":"test","path":"/~01","value":10}])") ==
        R"({"/":9,"~1":10})");
  CHECK(JsonPatched(R"({"a/b":1})", R"([{"op":"replace","path":"/a~1b","value":2}])") ==
        R"({"a/b":2})");
}

TEST_CASE("a JSON patch that does not fit is refused") {
  CHECK(JsonPatched(R"({"a":"qux"})", R"([{"op":"test","path":"/a","value":"bar"}])") == "422");
  CHECK(JsonPatched("{}", R"([{"op":"add","path":"/a/b","value":1}])") == "422");
  CHECK(JsonPatched("{}", R"([{"op":"remove","path":"/a"}])") == "422");
  CHECK(JsonPatched("{}", R"([{"op":"remove","path":""}])") == "422");
  CHECK(JsonPatched("{}", R"([{"op":"replace","path":"/a","value":1}])") == "422");
  CHECK(JsonPatched(R"({"a":[1]})", R"([{"op":"add","path":"/a/3","value":1}])") == "422");
  CHECK(JsonPatched(R"({"a":[1]})", R"([{"op":"add","path":"/a/x","value":1}])") == "422");
  CHECK(JsonPatched(R"({"a":1})", R"([{"op":"add","path":"/a/x","value":1}])") == "422");
  CHECK(JsonPatched("{}", R"([{"op":"move","from":"/x","path":"/y"}])") == "422");
  CHECK(JsonPatched("{}", R"([{"op":"copy","path":"/y"}])") == "422");
  CHECK(JsonPatched("{}", R"([{"op":"frob","path":"/y"}])") == "400");
  CHECK(JsonPatched("{}", R"([{"op":"add","path":"y","value":1}])") == "400");
  CHECK(JsonPatched("{}", R"([{"op":"add"}])") == "400");
  CHECK(JsonPatched("{}", "[1]") == "400");
  CHECK(JsonPatched("{}", "{}") == "400");
}

TEST_CASE("a strategic merge patch merges lists by their key") {
  const auto merged = [](const std::string& target, const std::string& patch) {
    Value value = J(target);
    ApplyStrategicPatch(value, J(patch));
    return WriteJson(value);
  };
  CHECK(merged(R"({"containers":[{"name":"a","image":"x","env":[{"name":"E","value":"1"}]}]})",
               R"({"containers":[{"name":"a","env":[{"name":"F","value":"2"}]},{"name":"b"}]})") ==
        R"({"containers":[{"name":"a","image":"x","env":[{"name":"E","value":"1"},)"
        R"({"name":"F","value":"2"}]},{"name":"b"}]})");
  CHECK(merged(R"({"volumes":[{"name":"a"},{"name":"b"}]})",
               R"({"$setElementOrder/volumes":[{"name":"b"}],)"
               R"("volumes":[{"$patch":"delete","name":"a"},{"$patch":"delete","name":"z"}]})") ==
        R"({"volumes":[{"name":"b"}]})");
  CHECK(merged(R"({"finalizers":["a","b"]})",
               R"({"$deleteFromPrimitiveList/finalizers":["a"],"finalizers":["c"]})") ==
        R"({"finalizers":["b","c"]})");
  CHECK(merged(R"({"data":{"a":"1","b":"2"}})", R"({"data":{"a":null,"c":"3"}})") ==
        R"({"data":{"b":"2","c":"3"}})");
  CHECK(merged(R"({"args":["a"]})", R"({"args":["b"]})") == R"({"args":["b"]})");
  CHECK(merged(R"({"m":{"a":1}})", R"({"m":{"$patch":"replace","b":2}})") == R"({"m":{"b":2}})");
  CHECK(merged(R"({"m":{"a":1},"n":1})", R"({"m":{"$patch":"delete"}})") == R"({"n":1})");
  CHECK(merged(R"({"s":{"type":"A","a":1}})", R"({"s":{"$retainKeys":["type"],"type":"B"}})") ==
        R"({"s":{"type":"B"}})");
  CHECK(merged(R"({"containers":7})", R"({"containers":[1]})") == R"({"containers":[1]})");
}

TEST_CASE_FIXTURE(ApiFixture, "each kind takes the patches that it knows") {
  CreateNamespace("team-a");
  Create(kConfigMaps, R"({"metadata":{"name":"c"},"data":{"a":"1"}})");
  Create(kJobs, R"({"metadata":{"name":"j"},"spec":{"tasks":[{"name":"w","replicas":1}]}})");
  const std::string strategic = "application/strategic-merge-patch+json";
  Value map = Must(Do("PATCH", kConfigMaps + "/c", R"({"data":{"b":"2"}})", strategic));
  CHECK(map.Find("data")->AsMap().size() == 2);
  CHECK(Do("PATCH", kJobs + "/j", "{}", strategic).status == 415);
  CHECK(Do("PATCH", kJobs + "/j", "{}", "text/plain").status == 415);
  CHECK(Merge(kJobs + "/j", "{").status == 400);
  const std::string json = "application/json-patch+json";
  const Value job =
      Must(Do("PATCH", kJobs + "/j",
              R"([{"op":"replace","path":"/spec/tasks/0/replicas","value":4}])", json));
  CHECK(job.At({"metadata", "generation"})->AsInteger() == 2);
  CHECK(Do("PATCH", kJobs + "/j", R"([{"op":"test","path":"/spec/x","value":1}])", json).status ==
        422);
  CHECK(Do("PATCH", kJobs + "/j", R"([{"op":"replace","path":"","value":7}])", json).status == 400);
  const std::string apply = "application/apply-patch+yaml";
  const std::string path = kConfigMaps + "/new?fieldManager=me&force=true";
  CHECK(Do("PATCH", path, "metadata:\n  name: new\ndata:\n  a: x\n", apply).status == 201);
  map = Must(Do("PATCH", path, "metadata:\n  name: new\ndata:\n  b: y\n", apply));
  CHECK(map.Find("data")->AsMap().size() == 2);
}

TEST_CASE_FIXTURE(ApiFixture, "an object may not grow deeper than it can be read") {
  CreateNamespace("team-a");
  Create(kJobs, R"({"metadata":{"name":"j"},"spec":{"a":{}}})");
  std::string deep = R"({"a":{}})";
  std::string path = "/spec/a";
  for (int i = 0; i < 60; ++i) {
    deep = R"({"a":)" + deep + "}";
    path += "/a";
  }
  const std::string json = "application/json-patch+json";
  const auto add = [&](const std::string& at) {
    return Do("PATCH", kJobs + "/j",
              R"([{"op":"add","path":")" + at + R"(","value":)" + deep + "}]", json);
  };
  CHECK(add("/spec/a").status == 200);
  CHECK(add(path).status == 400);
  CHECK(Do("GET", kJobs + "/j").status == 200);
}

TEST_CASE_FIXTURE(ApiFixture, "a Secret's plain text is stored as base64") {
  CreateNamespace("team-a");
  const std::string secrets = "/api/v1/namespaces/team-a/secrets";
  Value secret =
      Create(secrets, R"({"metadata":{"name":"s"},"stringData":{"a":"x","b":"longer text"}})");
  CHECK(TextAt(secret, {"data", "a"}) == "eA==");
  CHECK(TextAt(secret, {"data", "b"}) == "bG9uZ2VyIHRleHQ=");
  CHECK(TextAt(secret, {"type"}) == "Opaque");
  CHECK(secret.Find("stringData") == nullptr);
  secret = Must(Merge(secrets + "/s", R"({"stringData":{"a":"yy"}})"));
  CHECK(TextAt(secret, {"data", "a"}) == "eXk=");
}

}  // namespace
}  // namespace caldera::sandbox
