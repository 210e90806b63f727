#include "controller/kube/rest_transport.h"

#include <doctest/doctest.h>

#include <string>

#include "test/kube/live_world.h"
#include "test/kube/script_server.h"
#include "test/kube/temp_folder.h"

namespace caldera {
namespace {

Result<HttpResponse> Fine(const HttpRequest& /*request*/) {
  return FakeTransport::Response(200, "{}");
}

TEST_CASE("rest transport carries a request and its answer unchanged") {
  LiveWorld world;
  const auto server = world.Serve();
  const auto transport = world.Connect(LiveWorld::ConfigOf(server->url()));
  HttpRequest request = Request("PATCH", "/api/v1/namespaces/a/jobs/x%2Fy", "{\"a\":\"\xc3\xa9\"}");
  request.query = {{"fieldSelector", "a=b,c!=d e&f"}, {"limit", "5"}, {"x", ""}};
  request.headers = {{"content-type", "application/merge-patch+json"},
                     {"accept", "application/json"}};
  HttpRequest seen;
  const auto response = world.Call(*transport, request, [&seen](const HttpRequest& got) {
    seen = got;
    HttpResponse answer{409, {{"Retry-After", "3"}, {"content-type", "application/json"}}, "why"};
    return answer;
  });
  REQUIRE_MESSAGE(response.has_value(), response.error().message);
  CHECK(seen.method == "PATCH");
  CHECK(seen.path == request.path);
  CHECK(seen.query == request.query);
  CHECK(seen.body == request.body);
  CHECK(seen.headers["content-type"] == "application/merge-patch+json");
  CHECK(seen.headers["accept"] == "application/json");
  CHECK(seen.headers["user-agent"] == "caldera");
  CHECK_FALSE(seen.headers.contains("authorization"));
  CHECK(response->status == 409);
  CHECK(response->body == "why");
  CHECK(response->headers.at("retry-after") == "3");
}

}  // namespace
}  // namespace caldera
