#include "test/sandbox/api_fixture.h"

namespace caldera::sandbox {
namespace {

std::vector<std::string> NamesIn(const Value& list) {
  std::vector<std::string> names;
  for (const Value& item : list.AsList()) {
    names.push_back(TextAt(item, {"name"}));
  }
  return names;
}

TEST_CASE_FIXTURE(ApiFixture, "groups and kinds can be discovered") {
  CHECK(TextAt(Must(Do("GET", "/version")), {"major"}) == "1");
  CHECK(Do("GET", "/healthz").body == "ok");
  CHECK(TextAt(Must(Do("GET", "/api")), {"kind"}) == "APIVersions");
  const std::vector<std::string> groups = NamesIn(*Must(Do("GET", "/apis")).Find("groups"));
  CHECK(std::find(groups.begin(), groups.end(), "batch.volcano.sh") != groups.end());
  CHECK(TextAt(Must(Do("GET", "/apis/batch.volcano.sh")), {"preferredVersion", "version"}) ==
        "v1alpha1");
  const Value jobs = Must(Do("GET", "/apis/batch.volcano.sh/v1alpha1"));
  CHECK(NamesIn(*jobs.Find("resources")) == std::vector<std::string>{"jobs", "jobs/status"});
  CHECK(TextAt(jobs.Find("resources")->AsList()[0], {"singularName"}) == "job");
  CHECK(Do("GET", "/apis/none.example").status == 404);
  CHECK(Do("GET", "/apis/batch.volcano.sh/v9").status == 404);
  CHECK(Do("GET", "/").status == 404);
}

TEST_CASE_FIXTURE(ApiFixture, "every kind says that its patches take fieldValidation") {
  const Value index = Must(Do("GET", "/openapi/v3"));
  const Value* url = index.At({"paths", "apis/batch.volcano.sh/v1alpha1", "serverRelativeURL"});
  REQUIRE(url != nullptr);
  const Value document = Must(Do("GET", url->AsString()));
  const Value* patch = document.At(
      {"paths", "/apis/batch.volcano.sh/v1alpha1/namespaces/{namespace}/jobs/{name}", "patch"});
  REQUIRE(patch != nullptr);
  CHECK(NamesIn(*patch->Find("parameters")).back() == "fieldValidation");
  CHECK(TextAt(*patch, {"x-kubernetes-group-version-kind", "kind"}) == "Job");
  CHECK(Must(Do("GET", "/openapi/v3/api/v1")).At({"paths", "/api/v1/nodes/{name}"}) != nullptr);
  CHECK(Do("GET", "/openapi/v3/apis/none/v1").status == 404);
  CHECK(Do("GET", "/openapi/v2").status == 404);
}

TEST_CASE_FIXTURE(ApiFixture, "the cluster proxy leads to the member") {
  ApiServerOptions options;
  options.name = "m1";
  ApiServer member(executor, options);
  const std::string proxy = "/apis/cluster.karmada.io/v1alpha1/clusters/m1/proxy";
  CHECK(Do("GET", proxy + "/api/v1/nodes").status == 404);
  Create("/apis/cluster.karmada.io/v1alpha1/clusters", R"({"metadata":{"name":"m1"}})");
  CHECK(Do("GET", proxy + "/api/v1/nodes").status == 503);
  server.AddMember("m1", member);
  Watched watched;
  Watch(proxy + "/api/v1/nodes", {}, watched);
  Create(proxy + "/api/v1/nodes", R"({"metadata":{"name":"n1"}})");
  CHECK(Names(proxy + "/api/v1/nodes") == std::vector<std::string>{"n1"});
  CHECK(Names("/api/v1/nodes").empty());
  CHECK(watched.Summary() == std::vector<std::string>{"ADDED n1"});
  server.CloseStream(watched.id);
  Create(proxy + "/api/v1/nodes", R"({"metadata":{"name":"n2"}})");
  CHECK(watched.events.size() == 1);
  member.SetReachable(false);
  CHECK(Do("GET", proxy + "/api/v1/nodes").status == 503);
  Watched refused;
  Watch(proxy + "/api/v1/nodes", {}, refused);
  CHECK(refused.status == 503);
  CHECK(refused.end.has_value());
}

}  // namespace
}  // namespace caldera::sandbox
