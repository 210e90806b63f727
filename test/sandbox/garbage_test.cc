#include "test/sandbox/api_fixture.h"

namespace caldera::sandbox {
namespace {

using Lines = std::vector<std::string>;

std::string OwnedBy(const std::string& name, const Value& owner) {
  return R"({"metadata":{"name":")" + name + R"(","ownerReferences":[{"apiVersion":"v1","kind":")" +
         TextAt(owner, {"kind"}) + R"(","name":")" + TextAt(owner, {"metadata", "name"}) +
         R"(","uid":")" + TextAt(owner, {"metadata", "uid"}) + R"("}]}})";
}

struct Family : ApiFixture {
  Family() {
    CreateNamespace("team-a");
    parent = Create(kConfigMaps, R"({"metadata":{"name":"parent"}})");
    child = Create(kConfigMaps, OwnedBy("child", parent));
    Create(kConfigMaps, OwnedBy("grandchild", child));
    Settle();
  }
  Value parent;
  Value child;
};

TEST_CASE_FIXTURE(Family, "dependents follow a deleted owner") {
  CHECK(Names(kConfigMaps) == Lines{"child", "grandchild", "parent"});
  Must(Do("DELETE", kConfigMaps + "/parent", R"({"propagationPolicy":"Background"})"));
  CHECK(Names(kConfigMaps).empty());
}

TEST_CASE_FIXTURE(Family, "orphaned dependents stay") {
  Must(Do("DELETE", kConfigMaps + "/parent", R"({"propagationPolicy":"Orphan"})"));
  CHECK(Names(kConfigMaps) == Lines{"child", "grandchild"});
  CHECK(Must(Do("GET", kConfigMaps + "/child")).At({"metadata", "ownerReferences"}) == nullptr);
}

TEST_CASE_FIXTURE(Family, "a foreground deletion waits for the dependents") {
  Must(Merge(kConfigMaps + "/grandchild", R"({"metadata":{"finalizers":["a.b/c"]}})"));
  Must(Do("DELETE", kConfigMaps + "/parent?propagationPolicy=Foreground"));
  CHECK(Names(kConfigMaps) == Lines{"child", "grandchild", "parent"});
  CHECK(
      !TextAt(Must(Do("GET", kConfigMaps + "/child")), {"metadata", "deletionTimestamp"}).empty());
  Must(Merge(kConfigMaps + "/grandchild", R"({"metadata":{"finalizers":[]}})"));
  CHECK(Names(kConfigMaps).empty());
}

TEST_CASE_FIXTURE(Family, "with two owners the last one counts") {
  Value other = Create(kConfigMaps, R"({"metadata":{"name":"other"}})");
  const std::string both =
      R"({"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"parent","uid":")" +
      TextAt(parent, {"metadata", "uid"}) +
      R"("},{"apiVersion":"v1","kind":"ConfigMap","name":"other","uid":")" +
      TextAt(other, {"metadata", "uid"}) + R"("}]}})";
  Must(Merge(kConfigMaps + "/child", both));
  Must(Do("DELETE", kConfigMaps + "/parent"));
  CHECK(Names(kConfigMaps) == Lines{"child", "grandchild", "other"});
  CHECK(Must(Do("GET", kConfigMaps + "/child"))
            .At({"metadata", "ownerReferences"})
            ->AsList()
            .size() == 1);
  Must(Do("DELETE", kConfigMaps + "/other"));
  CHECK(Names(kConfigMaps).empty());
}

TEST_CASE_FIXTURE(Family, "an object of an owner that is not there goes") {
  Value ghost = parent;
  ghost.Find("metadata")->Set("uid", "nobody");
  Create(kConfigMaps, OwnedBy("late", ghost));
  CHECK(Do("GET", kConfigMaps + "/late").status == 404);
}

TEST_CASE_FIXTURE(Family, "a deleted namespace takes what is in it") {
  Create(kJobs, R"({"metadata":{"name":"held","finalizers":["a.b/c"]}})");
  const Value ns = Must(Do("DELETE", "/api/v1/namespaces/team-a"));
  CHECK(TextAt(ns, {"status", "phase"}) == "Terminating");
  CHECK(Names(kConfigMaps).empty());
  CHECK(Names(kJobs) == Lines{"held"});
  const HttpResponse refused = Do("POST", kConfigMaps, R"({"metadata":{"name":"new"}})");
  CHECK(refused.status == 403);
  CHECK(Message(refused) ==
        "configmaps \"new\" is forbidden: unable to create new content in namespace team-a because "
        "it is being terminated");
  Must(Merge(kJobs + "/held", R"({"metadata":{"finalizers":null}})"));
  CHECK(Do("GET", "/api/v1/namespaces/team-a").status == 404);
  CreateNamespace("team-a");
  CHECK(Names(kConfigMaps).empty());
}

TEST_CASE_FIXTURE(ApiFixture, "an empty namespace goes at once and the default one never") {
  CreateNamespace("team-a");
  Must(Do("DELETE", "/api/v1/namespaces/team-a"));
  CHECK(Do("GET", "/api/v1/namespaces/team-a").status == 404);
  CHECK(Do("DELETE", "/api/v1/namespaces/default").status == 403);
}

TEST_CASE_FIXTURE(ApiFixture, "a running pod goes when its node says so") {
  CreateNamespace("team-a");
  const std::string pods = "/api/v1/namespaces/team-a/pods";
  Create(pods, R"({"metadata":{"name":"p"},"spec":{"terminationGracePeriodSeconds":5}})");
  Must(Do("POST", pods + "/p/binding", R"({"target":{"kind":"Node","name":"n1"}})"));
  CHECK(Do("POST", pods + "/p/binding", R"({"target":{"name":"n2"}})").status == 409);
  const Value pod = Must(Do("DELETE", pods + "/p"));
  CHECK(TextAt(pod, {"spec", "nodeName"}) == "n1");
  CHECK(TextAt(pod, {"metadata", "deletionTimestamp"}) == "2026-12-01T08:00:05Z");
  Advance(Millis{60'000});
  CHECK(Names(pods) == Lines{"p"});
  Must(Do("DELETE", pods + "/p?gracePeriodSeconds=0"));
  CHECK(Names(pods).empty());
  // One that runs nowhere goes at once.
  Create(pods, R"({"metadata":{"name":"q"},"spec":{}})");
  Must(Do("DELETE", pods + "/q"));
  CHECK(Names(pods).empty());
}

}  // namespace
}  // namespace caldera::sandbox
