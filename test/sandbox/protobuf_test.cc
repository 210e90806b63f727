#include "test/sandbox/protobuf.h"

#include "test/sandbox/api_fixture.h"

namespace caldera::sandbox {
namespace {

// A length-delimited field with a short content.
std::string Bytes(char field, const std::string& content) {
  return std::string{static_cast<char>((field << 3) | 2), static_cast<char>(content.size())} +
         content;
}

std::string Envelope(const std::string& kind, const std::string& raw) {
  return std::string("k8s\0", 4) + Bytes(1, Bytes(1, "v1") + Bytes(2, kind)) + Bytes(2, raw) +
         Bytes(3, "") + Bytes(4, "");
}

std::string Parsed(const std::string& body) {
  const Answer<Value> value = ParseProtobuf(body);
  return value ? WriteJson(*value) : std::to_string(value.error().code);
}

TEST_CASE("bodies of kubectl create are read") {
  const std::string label = Bytes(11, Bytes(1, "k") + Bytes(2, "v"));
  CHECK(Parsed(Envelope("ConfigMap", Bytes(1, Bytes(1, "c") + Bytes(2, "") + label) +
                                         Bytes(2, Bytes(1, "a") + Bytes(2, "x")))) ==
        R"({"metadata":{"name":"c","labels":{"k":"v"}},"data":{"a":"x"},)"
        R"("apiVersion":"v1","kind":"ConfigMap"})");
  CHECK(Parsed(Envelope("Secret", Bytes(2, Bytes(1, "a") + Bytes(2, "x")))) ==
        R"({"data":{"a":"eA=="},"apiVersion":"v1","kind":"Secret"})");
  // A number below 0 takes ten bytes.
  CHECK(Parsed(Envelope("PriorityClass", "\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x18\x01")) ==
        R"({"value":-1,"globalDefault":true,"apiVersion":"v1","kind":"PriorityClass"})");
  CHECK(Parsed(Envelope("Role", Bytes(2, Bytes(1, "get") + Bytes(1, "list") + Bytes(2, "")))) ==
        R"({"rules":[{"verbs":["get","list"],"apiGroups":[""]}],"apiVersion":"v1","kind":"Role"})");
}

TEST_CASE("bodies that cannot be read are refused") {
  CHECK(Parsed("") == "400");
  CHECK(Parsed("{}") == "400");
  CHECK(Parsed(Envelope("Pod", "")) == "415");
  CHECK(Parsed(Envelope("ConfigMap", Bytes(9, "x"))) == "400");
  CHECK(Parsed(Envelope("ConfigMap", "\x08\x01")) == "400");
  const std::string whole = Envelope("Namespace", Bytes(1, Bytes(1, "team")));
  CHECK(Parsed(whole.substr(0, 20)) == "400");
}

TEST_CASE_FIXTURE(ApiFixture, "a namespace can be created by protobuf") {
  const std::string body = Envelope("Namespace", Bytes(1, Bytes(1, "team-a")) + Bytes(2, ""));
  Must(Do("POST", "/api/v1/namespaces", body, "application/vnd.kubernetes.protobuf"));
  CHECK(Do("GET", "/api/v1/namespaces/team-a").status == 200);
}

}  // namespace
}  // namespace caldera::sandbox
