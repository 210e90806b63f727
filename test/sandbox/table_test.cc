#include "test/sandbox/table.h"

#include "test/sandbox/api_fixture.h"

namespace caldera::sandbox {
namespace {

TEST_CASE("ages are printed as kubectl prints them") {
  const auto age = [](int64_t seconds) { return HumanDuration(Millis{seconds * 1000}); };
  CHECK(age(-5) == "0s");
  CHECK(age(119) == "119s");
  CHECK(age(120) == "2m");
  CHECK(age(185) == "3m5s");
  CHECK(age(600) == "10m");
  CHECK(age(int64_t{179} * 60) == "179m");
  CHECK(age(int64_t{3} * 3600) == "3h");
  CHECK(age(int64_t{7} * 3600 + 720) == "7h12m");
  CHECK(age(int64_t{8} * 3600 + 720) == "8h");
  CHECK(age(int64_t{47} * 3600) == "47h");
  CHECK(age(int64_t{48} * 3600) == "2d");
  CHECK(age(int64_t{76} * 3600) == "3d4h");
  CHECK(age(int64_t{26} * 86400) == "26d");
  CHECK(age(int64_t{760} * 86400) == "2y30d");
  CHECK(age(int64_t{9} * 365 * 86400) == "9y");
}

TEST_CASE("a printer column finds its value") {
  const Value object = *ParseJson(
      R"({"a":{"b":"x","n":3},"l":[{"k":"1","t":"A","s":"yes"},{"k":"2","t":"B","s":"no"}]})");
  CHECK(ValueAtPath(object, ".a.b") == "x");
  CHECK(ValueAtPath(object, ".a.n") == "3");
  CHECK(ValueAtPath(object, ".a.none.b").empty());
  CHECK(ValueAtPath(object, ".l[*].k") == "1,2");
  CHECK(ValueAtPath(object, R"(.l[?(@.t=="B")].s)") == "no");
  CHECK(ValueAtPath(object, R"(.a[?(@.t=="B")].s)").empty());
}

struct Tables : ApiFixture {
  Tables() { CreateNamespace("team-a"); }
  // Titles and the cells of each row, joined with |.
  std::vector<std::string> Print(const std::string& path) {
    HttpRequest request;
    request.path = path;
    request.headers["Accept"] = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";
    const Value table = Must(Ask(server, std::move(request)));
    std::vector<std::string> lines(1);
    for (const Value& column : table.Find("columnDefinitions")->AsList()) {
      lines[0] += (lines[0].empty() ? "" : "|") + TextAt(column, {"name"});
    }
    for (const Value& row : table.Find("rows")->AsList()) {
      std::string& line = lines.emplace_back();
      for (const Value& cell : row.Find("cells")->AsList()) {
        line += (line.empty() ? "" : "|") + cell.Brief();
      }
    }
    return lines;
  }
};

using Lines = std::vector<std::string>;

TEST_CASE_FIXTURE(Tables, "a Job shows phase and queue") {
  Create(kJobs, R"({"metadata":{"name":"train"},"spec":{"queue":"gold"}})");
  Must(Merge(kJobs + "/train/status",
             R"({"status":{"state":{"phase":"Running"},"minAvailable":2,"running":4}})"));
  Create(kJobs, R"({"metadata":{"name":"wait"},"spec":{}})");
  Advance(Millis{65'000});
  CHECK(Print(kJobs) == Lines{"Name|Status|minAvailable|Runnings|Age|Queue",
                              "train|Running|2|4|65s|gold", "wait||null|null|65s|"});
  CHECK(Print(kJobs + "/train").size() == 2);
}

TEST_CASE_FIXTURE(Tables, "pods and nodes show what kubectl shows") {
  const std::string pods = "/api/v1/namespaces/team-a/pods";
  Create(pods, R"({"metadata":{"name":"p"},"spec":{"nodeName":"n1","containers":[{"name":"c"}]}})");
  Must(Merge(pods + "/p/status", R"({"status":{"phase":"Running","podIP":"10.0.0.1",
    "containerStatuses":[{"name":"c","ready":true,"restartCount":2}]}})"));
  CHECK(Print(pods) ==
        Lines{"Name|Ready|Status|Restarts|Age|IP|Node", "p|1/1|Running|2|0s|10.0.0.1|n1"});
  Must(Do("DELETE", pods + "/p"));
  CHECK(Print(pods)[1] == "p|1/1|Terminating|2|0s|10.0.0.1|n1");
  Create("/api/v1/nodes",
         R"({"metadata":{"name":"n1","labels":{"node-role.kubernetes.io/worker":""}},
    "spec":{"unschedulable":true},"status":{"conditions":[{"type":"Ready","status":"True"}],
    "nodeInfo":{"kubeletVersion":"v1.36.3"}}})");
  CHECK(Print("/api/v1/nodes")[1] == "n1|Ready,SchedulingDisabled|worker|v1.36.3|0s");
}

TEST_CASE_FIXTURE(Tables, "Works and Clusters show their condition") {
  const std::string works = "/apis/work.karmada.io/v1alpha1/namespaces/team-a/works";
  Create(
      works,
      R"({"metadata":{"name":"w"},"spec":{"workload":{"manifests":[{"kind":"Job"},{"kind":"Queue"}]}}})");
  Must(Merge(works + "/w/status",
             R"({"status":{"conditions":[{"type":"Applied","status":"True"}]}})"));
  CHECK(Print(works) == Lines{"Name|Workload-Kind|Applied|Age", "w|Job,Queue|True|0s"});
  const std::string clusters = "/apis/cluster.karmada.io/v1alpha1/clusters";
  Create(clusters, R"({"metadata":{"name":"m1"},"spec":{"syncMode":"Push"},
    "status":{"kubernetesVersion":"v1.36.3","conditions":[{"type":"Ready","status":"True"}]}})");
  CHECK(Print(clusters)[1] == "m1|v1.36.3|Push|True|0s|");
}

TEST_CASE_FIXTURE(Tables, "events begin with when they were seen") {
  Create("/api/v1/namespaces/team-a/events",
         R"({"metadata":{"name":"e"},"type":"Normal","reason":"Placed","message":"on m1",
    "involvedObject":{"kind":"Job","name":"train"},"lastTimestamp":"2026-12-01T07:59:00Z"})");
  CHECK(Print("/api/v1/events") ==
        Lines{"Last Seen|Type|Reason|Object|Message|Name", "60s|Normal|Placed|job/train|on m1|e"});
}

}  // namespace
}  // namespace caldera::sandbox
