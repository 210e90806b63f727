#include "test/sandbox/api_fixture.h"

namespace caldera::sandbox {
namespace {

using Lines = std::vector<std::string>;

void AddQueue(ApiFixture& api, const std::string& name, const std::string& labels = "{}") {
  api.Create(kQueues, R"({"metadata":{"name":")" + name + R"(","labels":)" + labels + "}}");
}

std::string VersionOf(ApiFixture& api, const std::string& path) {
  return TextAt(api.Must(api.Do("GET", path)), {"metadata", "resourceVersion"});
}

TEST_CASE_FIXTURE(ApiFixture, "a watch without a version begins with what is there") {
  AddQueue(*this, "a");
  Watched all;
  Watched zero;
  Watch(kQueues, {}, all);
  Watch(kQueues, {{"resourceVersion", "0"}}, zero);
  CHECK(all.status == 200);
  AddQueue(*this, "b");
  Must(Merge(kQueues + "/a", R"({"spec":{"weight":2}})"));
  Must(Do("DELETE", kQueues + "/a"));
  const Lines expected{"ADDED a", "ADDED b", "MODIFIED a", "DELETED a"};
  CHECK(all.Summary() == expected);
  CHECK(zero.Summary() == expected);
  // The deleted object carries the version of its deletion.
  CHECK(TextAt(all.events.back(), {"object", "metadata", "resourceVersion"}) ==
        VersionOf(*this, kQueues));
}

TEST_CASE_FIXTURE(ApiFixture, "a watch from a version replays what came after it") {
  AddQueue(*this, "a");
  const std::string version = VersionOf(*this, kQueues);
  AddQueue(*this, "b");
  Must(Do("DELETE", kQueues + "/a"));
  Watched watched;
  Watch(kQueues, {{"resourceVersion", version}}, watched);
  CHECK(watched.Summary() == Lines{"ADDED b", "DELETED a"});
  Watched wrong;
  Watch(kQueues, {{"resourceVersion", "x"}}, wrong);
  CHECK(wrong.status == 400);
  CHECK(wrong.end.has_value());
}

TEST_CASE_FIXTURE(ApiFixture, "a watch keeps to its namespace and to its kind") {
  CreateNamespace("team-a");
  CreateNamespace("team-b");
  Watched watched;
  Watch(kConfigMaps, {}, watched);
  Create("/api/v1/namespaces/team-b/configmaps", R"({"metadata":{"name":"b"}})");
  Create(kConfigMaps, R"({"metadata":{"name":"a"}})");
  AddQueue(*this, "q");
  CHECK(watched.Summary() == Lines{"ADDED a"});
}

TEST_CASE_FIXTURE(ApiFixture, "an object that a selector no longer matches is deleted") {
  Watched watched;
  Watch(kQueues, {{"labelSelector", "tier=gold"}}, watched);
  AddQueue(*this, "a", R"({"tier":"gold"})");
  AddQueue(*this, "b");
  Must(Merge(kQueues + "/a", R"({"metadata":{"labels":{"tier":"tin"}}})"));
  Must(Merge(kQueues + "/b", R"({"metadata":{"labels":{"tier":"gold"}}})"));
  Must(Do("DELETE", kQueues + "/a"));
  CHECK(watched.Summary() == Lines{"ADDED a", "DELETED a", "ADDED b"});
  const Value& gone = watched.events[1];
  CHECK(TextAt(gone, {"object", "metadata", "labels", "tier"}) == "gold");
  CHECK(TextAt(gone, {"object", "metadata", "resourceVersion"}) >
        TextAt(watched.events[0], {"object", "metadata", "resourceVersion"}));
}

TEST_CASE_FIXTURE(ApiFixture, "bookmarks tell how far a quiet watch is") {
  Watched watched;
  Watched plain;
  Watch(kQueues, {{"allowWatchBookmarks", "true"}, {"timeoutSeconds", "100"}}, watched);
  Watch(kQueues, {{"timeoutSeconds", "100"}}, plain);
  CreateNamespace("team-a");
  Advance(Millis{60'000});
  REQUIRE(watched.Summary() == Lines{"BOOKMARK"});
  CHECK(TextAt(watched.events[0], {"object", "kind"}) == "Queue");
  CHECK(TextAt(watched.events[0], {"object", "metadata", "resourceVersion"}) ==
        VersionOf(*this, kQueues));
  CHECK(!watched.end.has_value());
  Advance(Millis{40'000});
  CHECK(watched.Summary() == Lines{"BOOKMARK", "BOOKMARK"});
  REQUIRE(watched.end.has_value());
  CHECK(watched.end->has_value());
  CHECK(plain.events.empty());
  CHECK(plain.end.has_value());
}

TEST_CASE_FIXTURE(ApiFixture, "initial events end with a marked bookmark where asked") {
  AddQueue(*this, "a");
  Watched watched;
  Watch(kQueues,
        {{"sendInitialEvents", "true"},
         {"resourceVersionMatch", "NotOlderThan"},
         {"allowWatchBookmarks", "true"}},
        watched);
  REQUIRE(watched.Summary() == Lines{"ADDED a", "BOOKMARK"});
  CHECK(TextAt(watched.events[1],
               {"object", "metadata", "annotations", "k8s.io/initial-events-end"}) == "true");
}

TEST_CASE_FIXTURE(ApiFixture, "a watch from a forgotten version gets 410 as an event") {
  AddQueue(*this, "a");
  const std::string version = VersionOf(*this, kQueues);
  AddQueue(*this, "b");
  server.Compact();
  Watched watched;
  Watch(kQueues, {{"resourceVersion", version}}, watched);
  REQUIRE(watched.Summary() == Lines{"ERROR"});
  CHECK(watched.events[0].At({"object", "code"})->AsInteger() == 410);
  CHECK(TextAt(watched.events[0], {"object", "reason"}) == "Expired");
  CHECK(watched.end.has_value());
  Watched current;
  Watch(kQueues, {{"resourceVersion", VersionOf(*this, kQueues)}}, current);
  CHECK(current.events.empty());
  CHECK(!current.end.has_value());
  // And as a status, on demand.
  server.FailNext("WATCH", 410, 1);
  Watched refused;
  Watch(kQueues, {}, refused);
  CHECK(refused.status == 410);
  CHECK(refused.end.has_value());
}

TEST_CASE("the history holds as many changes as it is given") {
  ManualClock clock(*ParseTime("2026-12-01T08:00:00Z"));
  Executor executor(clock);
  std::vector<uint64_t> versions;
  Store store(2, [&](const Change& change) { versions.push_back(change.object->version); });
  const Catalog catalog({});
  const Kind& kind = *catalog.Find("", "v1", "configmaps");
  for (const char* name : {"a", "b", "c"}) {
    store.Put(kind, Value::Map{{"metadata", Value::Map{{"name", name, {}}}, {}}});
  }
  size_t seen = 0;
  const auto count = [&](const Change&) { ++seen; };
  CHECK(store.VisitSince(versions[0], count));
  CHECK(seen == 2);
  CHECK(!store.VisitSince(versions[0] - 1, count));
  CHECK(store.ObjectsAt(kind, versions[1])->size() == 2);
}

TEST_CASE_FIXTURE(ApiFixture, "a closed watch hears nothing more") {
  Watched watched;
  Watch(kQueues, {{"timeoutSeconds", "10"}}, watched);
  AddQueue(*this, "a");
  server.CloseStream(watched.id);
  AddQueue(*this, "b");
  Advance(Millis{60'000});
  CHECK(watched.Summary() == Lines{"ADDED a"});
  CHECK(!watched.end.has_value());
  // Closed before its first step, and by its own handler.
  HttpRequest request;
  request.path = kQueues;
  request.query = {{"watch", "1"}};
  int calls = 0;
  StreamHandlers handlers;
  handlers.on_response = [&](const HttpResponse&) { ++calls; };
  handlers.on_end = [&](const Status&) { ++calls; };
  server.CloseStream(server.OpenStream(request, handlers));
  Settle();
  CHECK(calls == 0);
  HttpTransport::StreamId id = 0;
  handlers.on_line = [&](std::string&&) {
    ++calls;
    server.CloseStream(id);
  };
  id = server.OpenStream(request, handlers);
  Settle();
  CHECK(calls == 2);
}

TEST_CASE_FIXTURE(ApiFixture, "a server that goes away ends its watches with an error") {
  Watched watched;
  Watch(kQueues, {}, watched);
  server.SetReachable(false);
  REQUIRE(watched.end.has_value());
  CHECK(watched.end->error().code == ErrorCode::kUnavailable);
  Watched refused;
  Watch(kQueues, {}, refused);
  CHECK(refused.status == 0);
  REQUIRE(refused.end.has_value());
  CHECK(!refused.end->has_value());
}

TEST_CASE_FIXTURE(ApiFixture, "a watch of Tables sends columns once") {
  AddQueue(*this, "a");
  HttpRequest request;
  request.path = kQueues;
  request.query = {{"watch", "1"}};
  request.headers["Accept"] = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";
  std::vector<Value> events;
  StreamHandlers handlers;
  handlers.on_response = [](const HttpResponse&) {};
  handlers.on_line = [&](std::string&& line) { events.push_back(*ParseJson(line)); };
  handlers.on_end = [](const Status&) {};
  server.OpenStream(request, handlers);
  Settle();
  AddQueue(*this, "b");
  REQUIRE(events.size() == 2);
  CHECK(events[0].At({"object", "columnDefinitions"})->AsList().size() == 3);
  CHECK(events[1].At({"object", "columnDefinitions"})->AsList().empty());
  CHECK(events[1].At({"object", "rows"})->AsList()[0].Find("cells")->AsList()[0] == Value("b"));
}

}  // namespace
}  // namespace caldera::sandbox
