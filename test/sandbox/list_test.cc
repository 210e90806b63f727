#include "test/sandbox/api_fixture.h"

namespace caldera::sandbox {
namespace {

using Lines = std::vector<std::string>;

const std::string kPods = "/api/v1/namespaces/team-a/pods";

void AddPod(ApiFixture& api, const std::string& name, const std::string& labels,
            const std::string& node) {
  api.Create(kPods, R"({"metadata":{"name":")" + name + R"(","labels":)" + labels +
                        R"(},"spec":{"nodeName":")" + node + R"("}})");
}

TEST_CASE_FIXTURE(ApiFixture, "label and field selectors choose") {
  CreateNamespace("team-a");
  AddPod(*this, "a", R"({"job":"x","task":"w"})", "n1");
  AddPod(*this, "b", R"({"job":"y","task":"w"})", "n2");
  AddPod(*this, "c", R"({})", "n1");
  Must(Merge(kPods + "/c/status", R"({"status":{"phase":"Running"}})"));
  const auto labels = [&](const std::string& s) { return Names(kPods + "?labelSelector=" + s); };
  const auto fields = [&](const std::string& s) { return Names(kPods + "?fieldSelector=" + s); };
  CHECK(labels("job=x") == Lines{"a"});
  CHECK(labels("job==x,task=w") == Lines{"a"});
  CHECK(labels("job!=x") == Lines{"b", "c"});
  CHECK(labels("job") == Lines{"a", "b"});
  CHECK(labels("!job") == Lines{"c"});
  CHECK(labels("job in (x, z)") == Lines{"a"});
  CHECK(labels("job notin (x),task") == Lines{"b"});
  CHECK(fields("metadata.name=b") == Lines{"b"});
  CHECK(fields("metadata.namespace=team-b").empty());
  CHECK(fields("spec.nodeName=n1") == Lines{"a", "c"});
  CHECK(fields("spec.nodeName=n1,status.phase!=Running") == Lines{"a"});
  CHECK(Do("GET", kPods + "?labelSelector=a b").status == 400);
  CHECK(Do("GET", kPods + "?labelSelector=(x)").status == 400);
  const HttpResponse unknown = Do("GET", kPods + "?fieldSelector=spec.x=1");
  CHECK(unknown.status == 400);
  CHECK(Message(unknown) == "field label not supported: spec.x");
}

TEST_CASE_FIXTURE(ApiFixture, "events are selected by what they are about") {
  CreateNamespace("team-a");
  const std::string events = "/api/v1/namespaces/team-a/events";
  Create(events, R"({"metadata":{"name":"e1"},"reason":"Queued","type":"Normal",
    "source":{"component":"caldera"},
    "involvedObject":{"kind":"Job","name":"train","namespace":"team-a","uid":"u1"}})");
  Create(events, R"({"metadata":{"name":"e2"},"involvedObject":{"kind":"Job","name":"other"}})");
  const auto names = [&](const std::string& s) { return Names(events + "?fieldSelector=" + s); };
  CHECK(names("involvedObject.name=train,involvedObject.uid=u1") == Lines{"e1"});
  CHECK(names("regarding.name=train") == Lines{"e1"});
  CHECK(names("reason=Queued,source=caldera,type=Normal") == Lines{"e1"});
  CHECK(names("involvedObject.kind=Job") == Lines{"e1", "e2"});
}

TEST_CASE_FIXTURE(ApiFixture, "pages show the moment of the first one") {
  CreateNamespace("team-a");
  for (const char* name : {"a", "b", "c", "d", "e"}) {
    Create(kConfigMaps, R"({"metadata":{"name":")" + std::string(name) + R"("}})");
  }
  const Value first = Must(Do("GET", kConfigMaps + "?limit=2"));
  CHECK(first.At({"metadata", "remainingItemCount"})->AsInteger() == 3);
  const std::string token = TextAt(first, {"metadata", "continue"});
  // What happens between two pages is not seen.
  Must(Do("DELETE", kConfigMaps + "/c"));
  Must(Merge(kConfigMaps + "/d", R"({"data":{"k":"new"}})"));
  Create(kConfigMaps, R"({"metadata":{"name":"bb"}})");
  const Value rest = Must(Do("GET", kConfigMaps + "?limit=9&continue=" + token));
  CHECK(rest.At({"metadata", "resourceVersion"})->AsString() ==
        TextAt(first, {"metadata", "resourceVersion"}));
  const Value::List& items = rest.Find("items")->AsList();
  REQUIRE(items.size() == 3);
  CHECK(TextAt(items[0], {"metadata", "name"}) == "c");
  CHECK(items[1].Find("data") == nullptr);
  CHECK(rest.At({"metadata", "continue"}) == nullptr);
  CHECK(Do("GET", kConfigMaps + "?continue=zzz").status == 400);
  server.Compact();
  const HttpResponse expired = Do("GET", kConfigMaps + "?limit=2&continue=" + token);
  CHECK(expired.status == 410);
  CHECK(Reason(expired) == "Expired");
}

TEST_CASE_FIXTURE(ApiFixture,
                  "lists reach over namespaces, items of core kinds without their kind") {
  CreateNamespace("team-a");
  CreateNamespace("team-b");
  for (const char* ns : {"team-b", "team-a"}) {
    Create("/api/v1/namespaces/" + std::string(ns) + "/configmaps", R"({"metadata":{"name":"x"}})");
  }
  const Value all = Must(Do("GET", "/api/v1/configmaps"));
  CHECK(TextAt(all, {"kind"}) == "ConfigMapList");
  REQUIRE(all.Find("items")->AsList().size() == 2);
  const Value& item = all.Find("items")->AsList()[0];
  CHECK(TextAt(item, {"metadata", "namespace"}) == "team-a");
  CHECK(item.Find("kind") == nullptr);
  CHECK(Names(kConfigMaps) == Lines{"x"});
  CHECK(Names("/api/v1/namespaces") ==
        Lines{"default", "kube-node-lease", "kube-public", "kube-system", "team-a", "team-b"});
  Create(kQueues, R"({"metadata":{"name":"q"}})");
  CHECK(TextAt(Must(Do("GET", kQueues)).Find("items")->AsList()[0], {"kind"}) == "Queue");
}

TEST_CASE_FIXTURE(ApiFixture, "a collection is deleted by its selector") {
  CreateNamespace("team-a");
  AddPod(*this, "a", R"({"job":"x"})", "");
  AddPod(*this, "b", R"({"job":"x"})", "");
  AddPod(*this, "c", R"({"job":"y"})", "");
  Must(Do("DELETE", kPods + "?labelSelector=job=x"));
  CHECK(Names(kPods) == Lines{"c"});
}

}  // namespace
}  // namespace caldera::sandbox
