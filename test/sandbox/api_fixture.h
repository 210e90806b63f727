// A sandbox API server in virtual time with short ways to ask it; for the tests of this folder.
#pragma once

#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "controller/kube/client.h"
#include "controller/kube/json_reader.h"
#include "controller/kube/json_writer.h"
#include "test/sandbox/api_server.h"
#include "test/sandbox/store.h"
#include "test/sandbox/virtual_time.h"

namespace caldera::sandbox {

/// A watch's lines as they came.
struct Watched {
  HttpTransport::StreamId id = 0;
  int status = 0;
  std::vector<Value> events;
  std::optional<Status> end;

  /// `ADDED a`, `MODIFIED a`, `BOOKMARK` ...
  [[nodiscard]] std::vector<std::string> Summary() const {
    std::vector<std::string> lines;
    for (const Value& event : events) {
      std::string line = TextAt(event, {"type"});
      const std::string name = TextAt(event, {"object", "metadata", "name"});
      lines.push_back(name.empty() ? line : line + " " + name);
    }
    return lines;
  }
};

struct ApiFixture : VirtualTime {
  static ApiServerOptions Options() {
    ApiServerOptions options;
    options.name = "karmada";
    options.types = {resource::Queues(),       resource::Jobs(),     resource::Commands(),
                     resource::TenantQuotas(), resource::Clusters(), resource::Works()};
    return options;
  }

  ApiServer server{executor, Options()};

  HttpResponse Do(const std::string& method, const std::string& path, const std::string& body = "",
                  const std::string& type = "application/json") {
    HttpRequest request;
    request.method = method;
    request.body = body;
    request.headers["content-type"] = type;
    const size_t mark = path.find('?');
    request.path = path.substr(0, mark);
    std::string rest = mark == std::string::npos ? "" : path.substr(mark + 1);
    while (!rest.empty()) {  // Values are not encoded here.
      const std::string pair = rest.substr(0, rest.find('&'));
      rest = rest.substr(std::min(rest.size(), pair.size() + 1));
      request.query.emplace_back(pair.substr(0, pair.find('=')), pair.substr(pair.find('=') + 1));
    }
    return Ask(server, std::move(request));
  }
  HttpResponse Merge(const std::string& path, const std::string& patch) {
    return Do("PATCH", path, patch, "application/merge-patch+json");
  }
  Value Json(const HttpResponse& response) {
    Result<Value> value = ParseJson(response.body);
    REQUIRE_MESSAGE(value.has_value(), response.body);
    return *value;
  }
  /// What must succeed.
  Value Must(const HttpResponse& response) {
    REQUIRE_MESSAGE(response.status / 100 == 2, response.body);
    return Json(response);
  }
  Value Create(const std::string& path, const std::string& body) {
    return Must(Do("POST", path, body));
  }
  void CreateNamespace(const std::string& name) {
    Create("/api/v1/namespaces", R"({"metadata":{"name":")" + name + R"("}})");
  }
  std::string Reason(const HttpResponse& response) { return TextAt(Json(response), {"reason"}); }
  std::string Message(const HttpResponse& response) { return TextAt(Json(response), {"message"}); }
  std::vector<std::string> Names(const std::string& path) {
    std::vector<std::string> names;
    const Value list = Must(Do("GET", path));
    for (const Value& item : list.Find("items")->AsList()) {
      names.push_back(TextAt(item, {"metadata", "name"}));
    }
    return names;
  }

  /// `query` without watch=1.
  void Watch(const std::string& path, std::vector<std::pair<std::string, std::string>> query,
             Watched& into) {
    HttpRequest request;
    request.path = path;
    request.query = std::move(query);
    request.query.emplace_back("watch", "1");
    StreamHandlers handlers;
    handlers.on_response = [&into](const HttpResponse& r) { into.status = r.status; };
    handlers.on_line = [&into](std::string&& line) {
      Result<Value> event = ParseJson(line);
      REQUIRE(event.has_value());
      into.events.push_back(*std::move(event));
    };
    handlers.on_end = [&into](Status end) { into.end = std::move(end); };
    into.id = server.OpenStream(std::move(request), std::move(handlers));
    Settle();
  }
};

inline const std::string kJobs = "/apis/batch.volcano.sh/v1alpha1/namespaces/team-a/jobs";
inline const std::string kQueues = "/apis/scheduling.volcano.sh/v1beta1/queues";
inline const std::string kConfigMaps = "/api/v1/namespaces/team-a/configmaps";

}  // namespace caldera::sandbox
