#include "test/sandbox/api_server.h"

#include "controller/kube/reflector.h"
#include "test/sandbox/api_fixture.h"

namespace caldera::sandbox {
namespace {

const char* const kJob = R"({"apiVersion":"batch.volcano.sh/v1alpha1","kind":"Job",
  "metadata":{"name":"train"},"spec":{"queue":"gold","tasks":[{"name":"w","replicas":2}]}})";

TEST_CASE_FIXTURE(ApiFixture, "a created object has what only the server sets") {
  CreateNamespace("team-a");
  const Value job = Create(kJobs, kJob);
  CHECK(TextAt(job, {"metadata", "namespace"}) == "team-a");
  CHECK(TextAt(job, {"metadata", "creationTimestamp"}) == "2026-12-01T08:00:00Z");
  CHECK(TextAt(job, {"metadata", "uid"}).size() == 36);
  CHECK(job.At({"metadata", "generation"})->AsInteger() == 1);
  CHECK(!TextAt(job, {"metadata", "resourceVersion"}).empty());
  CHECK(Must(Do("GET", kJobs + "/train")) == job);
}

TEST_CASE_FIXTURE(ApiFixture, "uids of two servers and of two objects differ") {
  ApiServerOptions options = Options();
  options.name = "m1";
  CreateNamespace("team-a");
  const std::string one = TextAt(Create(kJobs, kJob), {"metadata", "uid"});
  Must(Do("DELETE", kJobs + "/train"));
  CHECK(TextAt(Create(kJobs, kJob), {"metadata", "uid"}) != one);
}

TEST_CASE_FIXTURE(ApiFixture, "creates are refused as Kubernetes refuses them") {
  HttpResponse response = Do("POST", kJobs, kJob);
  CHECK(response.status == 404);
  CHECK(Message(response) == "namespaces \"team-a\" not found");
  CreateNamespace("team-a");
  Create(kJobs, kJob);
  response = Do("POST", kJobs, kJob);
  CHECK(response.status == 409);
  CHECK(Reason(response) == "AlreadyExists");
  CHECK(Message(response) == "jobs.batch.volcano.sh \"train\" already exists");
  CHECK(TextAt(Json(response), {"details", "group"}) == "batch.volcano.sh");
  CHECK(TextAt(Json(response), {"details", "kind"}) == "jobs");

  const auto refused = [&](const std::string& body) {
    const HttpResponse r = Do("POST", kJobs, body);
    return std::to_string(r.status) + " " + Reason(r);
  };
  CHECK(refused("{") == "400 BadRequest");
  CHECK(refused("[]") == "400 BadRequest");
  CHECK(refused(R"({"kind":"Queue","metadata":{"name":"a"}})") == "400 BadRequest");
  CHECK(refused(R"({"metadata":{"name":"a","namespace":"b"}})") == "400 BadRequest");
  CHECK(refused(R"({"metadata":{"name":"a","resourceVersion":"1"}})") == "400 BadRequest");
  CHECK(refused(R"({"metadata":[]})") == "400 BadRequest");
  CHECK(refused(R"({"metadata":{}})") == "422 Invalid");
  CHECK(refused(R"({"metadata":{"name":"A_b"}})") == "422 Invalid");
  CHECK(refused(R"({"metadata":{"name":"a","labels":{"k":"no blanks"}}})") == "422 Invalid");
  CHECK(refused(R"({"metadata":{"name":"a","labels":{"k":1}}})") == "422 Invalid");
  CHECK(refused(R"({"metadata":{"name":"a","finalizers":[1]}})") == "422 Invalid");
  CHECK(refused(R"({"metadata":{"name":"a","ownerReferences":[{"uid":"x"}]}})") == "422 Invalid");
  CHECK(Do("POST", kJobs, std::string(size_t{4} << 20U, ' ')).status == 413);
  CHECK(Do("POST", kJobs + "/train", kJob).status == 405);
  CHECK(Do("GET", "/apis/batch.volcano.sh/v1/namespaces/team-a/jobs").status == 404);
  CHECK(Do("POST", "/apis/batch.volcano.sh/v1alpha1/jobs", kJob).status == 405);
}

TEST_CASE_FIXTURE(ApiFixture, "generateName makes names that differ") {
  CreateNamespace("team-a");
  const char* const body = R"({"metadata":{"generateName":"e-"}})";
  const std::string one = TextAt(Create(kConfigMaps, body), {"metadata", "name"});
  const std::string two = TextAt(Create(kConfigMaps, body), {"metadata", "name"});
  CHECK(one.starts_with("e-"));
  CHECK(one.size() == 7);
  CHECK(one != two);
}

TEST_CASE_FIXTURE(ApiFixture, "an update needs the newest resourceVersion") {
  CreateNamespace("team-a");
  Value job = Create(kJobs, kJob);
  const Value old = job;
  job.Find("spec")->Set("queue", "silver");
  Value updated = Must(Do("PUT", kJobs + "/train", WriteJson(job)));
  CHECK(updated.At({"metadata", "generation"})->AsInteger() == 2);
  const HttpResponse stale = Do("PUT", kJobs + "/train", WriteJson(old));
  CHECK(stale.status == 409);
  CHECK(Message(stale) ==
        "Operation cannot be fulfilled on jobs.batch.volcano.sh \"train\": the object has been "
        "modified; please apply your changes to the latest version and try again");
  job.Find("metadata")->Erase("resourceVersion");
  CHECK(Do("PUT", kJobs + "/train", WriteJson(job)).status == 422);
  CHECK(Do("PUT", kJobs + "/other", WriteJson(updated)).status == 404);
  updated.Find("metadata")->Set("uid", "another");
  CHECK(Reason(Do("PUT", kJobs + "/train", WriteJson(updated))) == "Conflict");
}

TEST_CASE_FIXTURE(ApiFixture, "a write that changes nothing leaves the resourceVersion") {
  CreateNamespace("team-a");
  const Value job = Create(kJobs, kJob);
  CHECK(Must(Merge(kJobs + "/train", R"({"spec":{"queue":"gold"}})")) == job);
}

TEST_CASE_FIXTURE(ApiFixture, "status and spec are written apart") {
  CreateNamespace("team-a");
  Create(kJobs, R"({"metadata":{"name":"train"},"spec":{"a":1},"status":{"state":"made up"}})");
  CHECK(Must(Do("GET", kJobs + "/train")).Find("status") == nullptr);
  Value job = Must(
      Merge(kJobs + "/train/status", R"({"spec":{"a":2},"status":{"state":{"phase":"Running"}}})"));
  CHECK(TextAt(job, {"status", "state", "phase"}) == "Running");
  CHECK(job.At({"spec", "a"})->AsInteger() == 1);
  CHECK(job.At({"metadata", "generation"})->AsInteger() == 1);
  job = Must(Merge(kJobs + "/train", R"({"spec":{"a":3},"status":{"state":null}})"));
  CHECK(TextAt(job, {"status", "state", "phase"}) == "Running");
  CHECK(job.At({"spec", "a"})->AsInteger() == 3);
  CHECK(job.At({"metadata", "generation"})->AsInteger() == 2);
  CHECK(Merge("/api/v1/namespaces/team-a/configmaps/x/status", "{}").status == 404);
}

TEST_CASE_FIXTURE(ApiFixture, "uid and resourceVersion in a patch are preconditions") {
  CreateNamespace("team-a");
  const Value job = Create(kJobs, kJob);
  HttpResponse response = Merge(kJobs + "/train", R"({"metadata":{"uid":"x"},"spec":{"a":1}})");
  CHECK(response.status == 409);
  response = Merge(kJobs + "/train", R"({"metadata":{"resourceVersion":"1"},"spec":{"a":1}})");
  CHECK(response.status == 409);
  CHECK(Must(Do("GET", kJobs + "/train")) == job);
  Value right;
  right.Set("metadata", *job.Find("metadata"));
  right.Set("spec", Value::Map{{"a", 1, {}}});
  Must(Merge(kJobs + "/train", WriteJson(right)));
  CHECK(Merge(kJobs + "/none", "{}").status == 404);
  CHECK(Merge(kJobs + "/train", R"({"metadata":{"name":"other"}})").status == 400);
  CHECK(Merge(kJobs + "/train", R"({"metadata":null})").status == 400);
}

TEST_CASE_FIXTURE(ApiFixture, "a deletion heeds its preconditions") {
  CreateNamespace("team-a");
  const Value job = Create(kJobs, kJob);
  CHECK(Do("DELETE", kJobs + "/train", R"({"preconditions":{"uid":"x"}})").status == 409);
  CHECK(Do("DELETE", kJobs + "/train", R"({"preconditions":{"resourceVersion":"1"}})").status ==
        409);
  const std::string uid = TextAt(job, {"metadata", "uid"});
  const Value gone =
      Must(Do("DELETE", kJobs + "/train", R"({"preconditions":{"uid":")" + uid + R"("}})"));
  CHECK(TextAt(gone, {"status"}) == "Success");
  CHECK(TextAt(gone, {"details", "uid"}) == uid);
  CHECK(Do("GET", kJobs + "/train").status == 404);
  CHECK(Do("DELETE", kJobs + "/train").status == 404);
}

TEST_CASE_FIXTURE(ApiFixture, "a finalizer holds a deleted object") {
  CreateNamespace("team-a");
  Create(kJobs, R"({"metadata":{"name":"train","finalizers":["a.b/c"]},"spec":{}})");
  Value job = Must(Do("DELETE", kJobs + "/train"));
  CHECK(TextAt(job, {"metadata", "deletionTimestamp"}) == "2026-12-01T08:00:00Z");
  CHECK(Must(Do("DELETE", kJobs + "/train")) == job);
  CHECK(Merge(kJobs + "/train", R"({"metadata":{"finalizers":["a.b/c","d.e/f"]}})").status == 422);
  Must(Merge(kJobs + "/train", R"({"metadata":{"deletionTimestamp":null}})"));
  CHECK(Do("GET", kJobs + "/train").status == 200);
  Must(Merge(kJobs + "/train", R"({"metadata":{"finalizers":null}})"));
  CHECK(Do("GET", kJobs + "/train").status == 404);
}

TEST_CASE_FIXTURE(ApiFixture, "a dry run answers and changes nothing") {
  CreateNamespace("team-a");
  CHECK(Do("POST", kJobs + "?dryRun=All", kJob).status == 201);
  CHECK(Names(kJobs).empty());
  const Value job = Create(kJobs, kJob);
  const Value dry = Must(Merge(kJobs + "/train?dryRun=All", R"({"spec":{"queue":"silver"}})"));
  CHECK(TextAt(dry, {"spec", "queue"}) == "silver");
  Must(Do("DELETE", kJobs + "/train?dryRun=All"));
  CHECK(Must(Do("GET", kJobs + "/train")) == job);
}

TEST_CASE_FIXTURE(ApiFixture, "an admission may change and refuse what is written") {
  CreateNamespace("team-a");
  server.SetAdmission([](const ResourceType& type, const Value* before, Value& object) -> Status {
    if (type.kind != "Job") {
      return {};
    }
    if (before != nullptr) {
      return Fail(ErrorCode::kInvalid, "job updates may not change fields");
    }
    object.Find("spec")->Set("maxRetry", 3);
    return {};
  });
  CHECK(Create(kJobs, kJob).At({"spec", "maxRetry"})->AsInteger() == 3);
  const HttpResponse refused = Merge(kJobs + "/train", R"({"spec":{"queue":"b"}})");
  CHECK(refused.status == 400);
  CHECK(Message(refused) == "job updates may not change fields");
  Must(Merge(kJobs + "/train/status", R"({"status":{"a":1}})"));
}

TEST_CASE_FIXTURE(ApiFixture, "failures come on demand") {
  server.FailNext("GET", 503, 2);
  const HttpResponse response = Do("GET", kQueues);
  CHECK(response.status == 503);
  CHECK(Reason(response) == "ServiceUnavailable");
  CHECK(response.headers.at("retry-after") == "1");
  CHECK(Do("GET", kQueues).status == 503);
  CHECK(Do("GET", kQueues).status == 200);

  server.SetReachable(false);
  std::optional<Result<HttpResponse>> answer;
  server.Send({}, [&](Result<HttpResponse> r) { answer = std::move(r); });
  Settle();
  REQUIRE(answer.has_value());
  REQUIRE(!answer->has_value());
  CHECK(answer->error().code == ErrorCode::kUnavailable);
}

TEST_CASE_FIXTURE(ApiFixture, "a Client and a Reflector live on it") {
  CreateNamespace("team-a");
  Client client(server, executor, ClientOptions{});
  std::vector<std::string> seen;
  ReflectorHandlers handlers;
  handlers.on_upsert = [&](Value&& object) {
    seen.push_back("have " + TextAt(object, {"metadata", "name"}));
  };
  handlers.on_delete = [&](const std::string&, const std::string& name, const std::string&) {
    seen.push_back("lost " + name);
  };
  handlers.on_synced = [&] { seen.emplace_back("synced"); };
  handlers.on_error = [&](const Error& error) { seen.push_back(error.message); };
  ReflectorOptions options;
  options.type = resource::Queues();
  options.page_size = 2;
  Reflector reflector(client, options, std::move(handlers));
  for (const char* name : {"a", "b", "c"}) {
    Create(kQueues, R"({"metadata":{"name":")" + std::string(name) + R"("}})");
  }
  reflector.Start();
  Settle();
  CHECK(seen == std::vector<std::string>{"have a", "have b", "have c", "synced"});
  seen.clear();
  Must(Merge(kQueues + "/b", R"({"spec":{"weight":2}})"));
  Must(Do("DELETE", kQueues + "/a"));
  CHECK(seen == std::vector<std::string>{"have b", "lost a"});

  seen.clear();
  server.SetReachable(false);
  Settle();
  server.SetReachable(true);
  Create(kQueues, R"({"metadata":{"name":"d"}})");
  server.Compact();
  for (int i = 0; i < 100; ++i) {
    Advance(Millis{1000});
  }
  CHECK(reflector.size() == 3);
  CHECK(seen.back() == "synced");
}

}  // namespace
}  // namespace caldera::sandbox
