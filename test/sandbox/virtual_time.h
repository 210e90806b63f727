// A clock that tests move, an executor on it, and short ways to ask API servers that run on that.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "controller/kube/executor.h"
#include "controller/kube/http.h"
#include "controller/kube/json_reader.h"

namespace caldera::sandbox {

struct VirtualTime {
  ManualClock clock{*ParseTime("2026-12-01T08:00:00Z")};
  Executor executor{clock};

  /// Runs what is due now.
  void Settle() {
    while (executor.RunDue()) {
    }
  }
  /// Timer by timer, so that whatever was due on the way has happened at its own time.
  void Advance(Millis span) {
    const Time end = clock.Now() + span;
    Settle();
    for (Time next = executor.NextTimer(); next != Time() && next <= end;
         next = executor.NextTimer()) {
      clock.Set(std::max(next, clock.Now()));
      Settle();
    }
    clock.Set(end);
    Settle();
  }

  /// What follows from the request has happened too.
  HttpResponse Ask(HttpTransport& server, HttpRequest request) {
    std::optional<Result<HttpResponse>> answer;
    server.Send(std::move(request), [&](Result<HttpResponse> r) { answer = std::move(r); });
    Settle();
    REQUIRE(answer.has_value());
    REQUIRE(answer->has_value());
    return **answer;
  }
  HttpResponse Do(HttpTransport& server, const std::string& method, const std::string& path,
                  const std::string& body = "", const std::string& type = "application/json") {
    HttpRequest request;
    request.method = method;
    request.path = path;
    request.body = body;
    request.headers["content-type"] = type;
    return Ask(server, std::move(request));
  }
  Value Create(HttpTransport& server, const std::string& path, const std::string& body) {
    const HttpResponse response = Do(server, "POST", path, body);
    REQUIRE_MESSAGE(response.status == 201, response.body);
    return *ParseJson(response.body);
  }
  Value Merge(HttpTransport& server, const std::string& path, const std::string& patch) {
    const HttpResponse response = Do(server, "PATCH", path, patch, "application/merge-patch+json");
    REQUIRE_MESSAGE(response.status == 200, response.body);
    return *ParseJson(response.body);
  }
  void Delete(HttpTransport& server, const std::string& path) {
    const HttpResponse response = Do(server, "DELETE", path);
    REQUIRE_MESSAGE(response.status / 100 == 2, response.body);
  }
  /// Null where there is none.
  Value Get(HttpTransport& server, const std::string& path) {
    const HttpResponse response = Do(server, "GET", path);
    if (response.status == 404) {
      return {};
    }
    REQUIRE_MESSAGE(response.status == 200, response.body);
    return *ParseJson(response.body);
  }
};

}  // namespace caldera::sandbox
