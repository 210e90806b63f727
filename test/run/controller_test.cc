// Jobs from their creation to their end, replicas that come and go, with the whole controller.
#include "storage/queries.h"
#include "storage/replay.h"
#include "test/run/whole_controller.h"

namespace caldera::testing {
namespace {

using sandbox::ApiServer;

/// Nothing is charged any more.
bool Settled(const State& state) {
  for (const auto& [name, queue] : state.queues()) {
    if (!state.queue(queue).charged.IsZero()) {
      return false;
    }
  }
  return true;
}

TEST_CASE("Jobs run to their end, and who waits goes when room frees") {
  Federation fed;
  const auto one = fed.StartReplica();
  REQUIRE(one->controller->leading());
  fed.Submit("a", 8);
  fed.Submit("b", 8);
  fed.Submit("c", 8);
  fed.Advance(kSoon);
  CHECK(fed.Phase("a") == "Running");
  CHECK(fed.Phase("b") == "Running");
  CHECK(fed.Running().size() == 2);
  fed.Advance(kRun + Millis(30'000));
  CHECK(fed.Phase("a") == "Completed");
  CHECK(fed.Phase("c") == "Running");
  fed.Advance(kRun + Millis(30'000));
  CHECK(fed.Phase("c") == "Completed");
  CHECK(Settled(one->controller->state()));
  for (const std::string name : {"a", "b", "c"}) {
    fed.Delete(fed.karmada, kJobs + "/" + name);
  }
  fed.Advance(Millis(30'000));
  CHECK(fed.Works() == 0);
  CHECK(fed.Running().empty());
  CHECK(one->controller->idle());
}

TEST_CASE("A deleted Job's shard goes, and its room is another's") {
  Federation fed;
  const auto one = fed.StartReplica();
  fed.Submit("a", 8);
  fed.Submit("b", 8);
  fed.Submit("c", 8);
  fed.Advance(kSoon);
  fed.Delete(fed.karmada, kJobs + "/a");
  fed.Advance(Millis(50'000));
  CHECK(fed.Phase("c") == "Running");
  CHECK(fed.Running().size() == 2);
}

TEST_CASE(
    "A controller that is killed loses and doubles nothing, whether its ledger is there or not") {
  for (int64_t after = 0; after <= 2'000; after += 250) {
    for (const bool keeps : {true, false}) {
      CAPTURE(after);
      CAPTURE(keeps);
      Federation fed;
      auto one = fed.StartReplica();
      fed.Submit("a", 8);
      fed.Submit("b", 5);
      fed.Submit("c", 4);
      fed.Advance(Millis(after));
      one.reset();
      fed.Advance(Millis(500));
      one = fed.StartReplica("two", keeps ? "ledger.db" : "another.db");
      fed.Advance(Millis(25'000));  // The Lease of the first has to end.
      REQUIRE(one->controller->leading());
      CHECK(fed.Running().size() == 2);
      CHECK(fed.Works() == 2);
      fed.Advance(4 * kRun);
      for (const std::string name : {"a", "b", "c"}) {
        CHECK(fed.Phase(name) == "Completed");
      }
      CHECK(Settled(one->controller->state()));
    }
  }
}

TEST_CASE("Without a ledger the Works say where a job runs, whatever was done to its annotation") {
  const std::string key = R"("federation.caldera.sh/placement":)";
  const std::string elsewhere =
      R"("[{\"cluster\":\"nowhere\",\"epoch\":1,\"tasks\":{\"worker\":{\"replicas\":8,\"minAvailable\":8}},)"
      R"(\"minAvailable\":8}]")";
  for (const std::string& value : {std::string("null"), elsewhere}) {
    CAPTURE(value);
    Federation fed;
    auto one = fed.StartReplica();
    fed.Submit("a", 8);
    fed.Submit("b", 12);  // Over both, but one is taken: it waits.
    fed.Advance(kSoon);
    const std::multiset<std::string> before = fed.Running();
    REQUIRE(before.size() == 1);
    one.reset();
    fed.Merge(fed.karmada, kJobs + "/a", R"({"metadata":{"annotations":{)" + key + value + "}}}");
    one = fed.StartReplica("two", "another.db");
    fed.Advance(Millis(25'000));
    REQUIRE(one->controller->leading());
    CHECK(fed.Running() == before);
    CHECK(fed.Phase("a") == "Running");
    fed.Advance(Millis(20'000));
    CHECK(fed.Phase("a") == "Completed");
    CHECK(fed.Phase("b") == "Running");
    CHECK(fed.Running().size() == 3);  // The finished one, and both shards.
    one.reset();
    fed.Merge(fed.karmada, kJobs + "/b", R"({"metadata":{"annotations":{)" + key + value + "}}}");
    one = fed.StartReplica("three", "third.db");
    fed.Advance(Millis(25'000));
    CHECK(fed.Phase("b") == "Running");
    CHECK(fed.Running().size() == 3);
    fed.Advance(Millis(60'000));
    CHECK(fed.Phase("b") == "Completed");
    CHECK(Settled(one->controller->state()));
  }
}

TEST_CASE("A job in waves is held to its grant by a Queue of its own, which follows and goes") {
  const std::string queues = "/apis/scheduling.volcano.sh/v1beta1/queues";
  Federation fed;
  fed.Merge(fed.karmada, queues + "/gold", R"({"spec":{"capability":{"cpu":"3"}}})");
  auto one = fed.StartReplica();
  const Value job = fed.Create(
      fed.karmada, kJobs,
      R"({"apiVersion":"batch.volcano.sh/v1alpha1","kind":"Job","metadata":{"name":"w"},)"
      R"("spec":{"queue":"gold","minAvailable":2,"tasks":[{"name":"worker","replicas":8,)"
      R"("template":{"spec":{"containers":[{"name":"c","image":"i","resources":)"
      R"({"requests":{"cpu":"1"}}}]}}}]}})");
  const std::string own = queues + "/caldera-" + std::string(TextAt(job, {"metadata", "uid"}));
  fed.Advance(kSoon);
  REQUIRE(fed.Running() == std::multiset<std::string>{"east/w"});
  const auto running = [&] {
    const Value there = fed.Get(fed.east, kJobs + "/w");
    const Value* const count = there.At({"status", "running"});
    return count == nullptr ? 0 : count->AsInteger();
  };
  CHECK(fed.Phase("w") == "Running");
  CHECK(running() == 3);
  CHECK(TextAt(fed.Get(fed.east, kJobs + "/w"), {"spec", "queue"}) ==
        own.substr(own.rfind('/') + 1));
  CHECK(*fed.Get(fed.east, own).Find("spec") ==
        *ParseJson(R"({"parent":"root","weight":1,"reclaimable":false,"capability":{"cpu":"3"}})"));
  // A lost ledger is rebuilt from the Works: the grant is not forgotten, nor taken for all pods.
  one.reset();
  one = fed.StartReplica("two", "another.db");
  fed.Advance(Millis(25'000));
  REQUIRE(one->controller->leading());
  const State& state = one->controller->state();
  const QueueIndex gold = state.queues().at("gold");
  CHECK(state.queue(gold).charged[state.resources().Find("cpu")] == 3'000);
  CHECK(running() == 3);
  fed.Merge(fed.karmada, queues + "/gold", R"({"spec":{"capability":{"cpu":"5"}}})");
  fed.Advance(Millis(5'000));
  CHECK(state.queue(gold).charged[state.resources().Find("cpu")] == 5'000);
  CHECK(TextAt(fed.Get(fed.east, own), {"spec", "capability", "cpu"}) == "5");
  CHECK(running() == 5);
  fed.Advance(2 * kRun);
  CHECK(fed.Phase("w") == "Completed");
  CHECK(*fed.Get(fed.karmada, kJobs + "/w").At({"status", "succeeded"}) == Value(int64_t{8}));
  CHECK(Settled(state));
  fed.Delete(fed.karmada, kJobs + "/w");
  fed.Advance(Millis(30'000));
  CHECK(fed.Works() == 0);
  CHECK(fed.Get(fed.east, own).IsNull());
}

TEST_CASE("What cannot be recorded is not done; it is done once it can") {
  Federation fed;
  const auto one = fed.StartReplica();
  auto other =
      Must(Database::Open(fed.directory.File("ledger.db"), Database::Mode::kReadWrite, Millis(0)));
  Must(other.Execute("BEGIN IMMEDIATE"));
  fed.Submit("a", 8);
  fed.Advance(kSoon);
  CHECK(fed.Works() == 0);
  CHECK(fed.Phase("a").empty());
  CHECK(one->controller->NotReady() == std::vector<std::string>{"the ledger cannot be written"});
  Must(other.Execute("ROLLBACK"));
  fed.Advance(Millis(10'000));
  CHECK(fed.Phase("a") == "Running");
  CHECK(one->controller->NotReady().empty());
}

TEST_CASE("One leads, another takes over when it is gone, and the first writes nothing more") {
  Federation fed;
  auto one = fed.StartReplica("one", "one.db");
  const auto two = fed.StartReplica("two", "two.db");
  CHECK(one->controller->leading());
  CHECK_FALSE(two->controller->leading());
  fed.Submit("a", 8);
  fed.Advance(kSoon);
  CHECK(fed.Phase("a") == "Running");
  SUBCASE("gracefully: at once") {
    bool done = false;
    one->controller->Stop([&] { done = true; });
    fed.Advance(kSoon);
    CHECK(done);
  }
  SUBCASE("killed: when its Lease has ended") {
    one.reset();
    fed.Advance(Millis(25'000));
  }
  CHECK(two->controller->leading());
  fed.Submit("b", 8);
  fed.Advance(kSoon);
  CHECK(fed.Phase("b") == "Running");
  CHECK(fed.Running().size() == 2);
}

TEST_CASE("A short outage of a member restarts nothing, and what comes meanwhile goes elsewhere") {
  Federation fed;
  const auto one = fed.StartReplica();
  fed.Submit("a", 8);
  fed.Advance(kSoon);
  const std::multiset<std::string> before = fed.Running();
  REQUIRE(before.size() == 1);
  const bool in_east = before.contains("east/a");
  ApiServer& there = in_east ? fed.east : fed.west;
  there.SetReachable(false);
  fed.Advance(kRun / 2);
  fed.Submit("b", 4);
  fed.Advance(kSoon);
  CHECK(fed.Phase("b") == "Running");
  there.SetReachable(true);
  fed.Advance(Millis(20'000));
  CHECK(fed.Running() ==
        std::multiset<std::string>{in_east ? "east/a" : "west/a", in_east ? "west/b" : "east/b"});
  fed.Advance(2 * kRun);
  CHECK(fed.Phase("a") == "Completed");
  CHECK(fed.Phase("b") == "Completed");
}

TEST_CASE("Only what is opted in is touched: namespaces and queues") {
  Federation fed;
  fed.Create(fed.karmada, "/apis/scheduling.volcano.sh/v1beta1/queues",
             R"({"metadata":{"name":"silver"},"spec":{"weight":1}})");
  fed.Submit("a", 2);
  fed.Submit("b", 2, "silver");
  const auto version = [&](const std::string& job) {
    return TextAt(fed.Get(fed.karmada, kJobs + "/" + job), {"metadata", "resourceVersion"});
  };
  const std::string before_a = version("a");
  const std::string before_b = version("b");
  ControllerConfig config;
  bool takes_a = false;
  SUBCASE("its queue") {
    config.queues = {"gold"};
    takes_a = true;
  }
  SUBCASE("its namespace and its queue") {
    config.namespaces = {"team-a"};
    config.queues = {"gold"};
    takes_a = true;
  }
  SUBCASE("its queue, not its namespace") {
    config.namespaces = {"team-b"};
    config.queues = {"gold"};
  }
  const auto one = fed.StartReplica("one", "ledger.db", config);
  fed.Advance(Millis(10'000));
  CHECK(fed.Phase("a") == (takes_a ? "Running" : ""));
  CHECK((version("a") == before_a) == !takes_a);
  CHECK(version("b") == before_b);
  CHECK(fed.Works() == (takes_a ? 1 : 0));
  const Value events = fed.Get(fed.karmada, "/api/v1/namespaces/team-a/events");
  for (const Value& event : ListAt(events, {"items"})) {
    CHECK(TextAt(event, {"regarding", "name"}) != "b");
    CHECK(TextAt(event, {"involvedObject", "name"}) != "b");
  }
}

TEST_CASE("A bad edit of a job that runs is said once, whoever finds it") {
  Federation fed;
  const auto one = fed.StartReplica();
  fed.Submit("a", 2);
  fed.Advance(kSoon);
  REQUIRE(fed.Phase("a") == "Running");
  fed.Merge(fed.karmada, kJobs + "/a", R"({"spec":{"minAvailable":-3}})");
  // So that the Job is looked at, and sent again.
  const Value works = fed.Get(fed.karmada, "/apis/work.karmada.io/v1alpha1/works");
  for (const Value& work : ListAt(works, {"items"})) {
    fed.Delete(fed.karmada, "/apis/work.karmada.io/v1alpha1/namespaces/" +
                                TextAt(work, {"metadata", "namespace"}) + "/works/" +
                                TextAt(work, {"metadata", "name"}));
  }
  fed.Advance(Millis(30'000));
  std::vector<std::string> said;
  const Value events = fed.Get(fed.karmada, "/api/v1/namespaces/team-a/events");
  for (const Value& event : ListAt(events, {"items"})) {
    if (TextAt(event, {"reason"}) == "Refused") {
      said.push_back(TextAt(event, {"message"}));
    }
  }
  CHECK(said == std::vector<std::string>{
                    "spec.minAvailable (-3) must be a whole number from 0 to 2147483647"});
}

TEST_CASE("A refused job whose Work somebody deletes gives back what it held, and goes again") {
  Federation fed;
  const auto one = fed.StartReplica();
  fed.Submit("a", 8);
  fed.Submit("b", 8);
  fed.Submit("c", 8);
  fed.Advance(kSoon);
  REQUIRE(fed.Phase("a") == "Running");
  REQUIRE(fed.Running().size() == 2);
  fed.Merge(fed.karmada, kJobs + "/a", R"({"spec":{"minAvailable":-3}})");
  fed.Advance(Millis(5'000));
  CHECK(fed.Running().size() == 2);  // What runs stays.
  const Value works = fed.Get(fed.karmada, "/apis/work.karmada.io/v1alpha1/works");
  for (const Value& work : ListAt(works, {"items"})) {
    if (TextAt(work, {"metadata", "annotations", "federation.caldera.sh/job"}) == "team-a/a") {
      fed.Delete(fed.karmada, "/apis/work.karmada.io/v1alpha1/namespaces/" +
                                  TextAt(work, {"metadata", "namespace"}) + "/works/" +
                                  TextAt(work, {"metadata", "name"}));
    }
  }
  fed.Advance(Millis(20'000));
  const State& state = one->controller->state();
  REQUIRE(state.FindJob({"team-a", "a"}) != kNoIndex);
  CHECK(state.job(state.FindJob({"team-a", "a"})).charge.has_value());  // Pods may be left.
  fed.Advance(Millis(25'000));
  CHECK_FALSE(state.job(state.FindJob({"team-a", "a"})).charge.has_value());
  CHECK(fed.Phase("a") == "Pending");
  CHECK(fed.Phase("c") == "Running");
  fed.Merge(fed.karmada, kJobs + "/a", R"({"spec":{"minAvailable":8}})");
  fed.Advance(3 * kRun);
  CHECK(fed.Phase("a") == "Completed");
  CHECK(Settled(state));
}

TEST_CASE(
    "A job made again under its name says what it waits for, and goes when that is given back") {
  Federation fed;
  const auto one = fed.StartReplica();
  fed.Submit("a", 8);
  fed.Advance(kSoon);
  REQUIRE(fed.Phase("a") == "Running");
  const auto uid = [&] { return TextAt(fed.Get(fed.karmada, kJobs + "/a"), {"metadata", "uid"}); };
  const std::string first = uid();
  const std::string cluster = fed.Running().begin()->substr(0, 4);
  fed.Delete(fed.karmada, kJobs + "/a");
  fed.Submit("a", 4);
  const std::string second = uid();
  REQUIRE(first != second);
  fed.Advance(Millis(5'000));
  CHECK(fed.Phase("a") == "Pending");
  std::set<std::string> said;
  const Value events = fed.Get(fed.karmada, "/api/v1/namespaces/team-a/events");
  for (const Value& event : ListAt(events, {"items"})) {
    if (TextAt(event, {"regarding", "uid"}) == second ||
        TextAt(event, {"involvedObject", "uid"}) == second) {
      said.insert(TextAt(event, {"reason"}));
    }
  }
  CHECK(said == std::set<std::string>{"Queued"});
  const LedgerReader reader = Must(LedgerReader::Open(fed.directory.File("ledger.db")));
  const auto job = [&](const std::string& name, size_t column) {
    const Listing& row = Must(ExplainJob(reader, name)).job;
    return std::get<std::string>(row.rows.at(0).at(column));
  };
  CHECK(job("a", 3) == "pending");
  CHECK(job("a", 4) == "NameConflict");
  CHECK(job("a", 6).starts_with("an earlier job of this name (uid " + first +
                                ") still holds what it was granted in cluster " + cluster +
                                ": its pods there are gone by 2026-"));
  CHECK(job(first, 3) == "running");
  fed.Advance(Millis(45'000));
  CHECK(fed.Phase("a") == "Running");
  CHECK(one->controller->state().job(one->controller->state().FindJob({"team-a", "a"})).uid ==
        second);
  CHECK(job("a", 3) == "running");
  CHECK(job(first, 3) == "released");
  for (const std::vector<Datum>& row : Must(ListCycles(reader, 0)).rows) {
    CHECK(Must(Replay(reader, std::get<int64_t>(row[0]))).Same());
  }
}

TEST_CASE("A job that no Work can hold is told so, left alone, and goes once it is edited") {
  Federation fed;
  const auto one = fed.StartReplica();
  fed.Submit("a", 2, "gold",
             R"(,"initContainers":[{"name":"i","image":"i","args":[")" +
                 std::string(1'100'000, 'x') + R"("]}])");
  fed.Advance(Millis(30'000));
  const State& state = one->controller->state();
  const auto entry = [&]() -> const JobEntry& { return state.job(state.FindJob({"team-a", "a"})); };
  CHECK(fed.Works() == 0);
  CHECK_FALSE(entry().charge.has_value());
  REQUIRE(entry().rare().backoffs.size() == 2);
  CHECK(entry().rare().backoffs.front().reason == "TooLarge");
  CHECK(entry().rare().last_epoch == 1);
  fed.Advance(Millis(1'800'000));
  CHECK(entry().rare().last_epoch == 1);  // It was not tried again.
  fed.Merge(fed.karmada, kJobs + "/a",
            R"({"metadata":{"labels":{"a":"b"}}})");  // That makes it no smaller.
  fed.Advance(kSoon);
  CHECK(entry().rare().last_epoch == 1);
  fed.Merge(fed.karmada, kJobs + "/a",
            R"({"spec":{"tasks":[{"name":"worker","replicas":2,"template":{"spec":{"containers":)"
            R"([{"name":"c","image":"i","resources":{"requests":{"cpu":"1"}}}]}}}]}})");
  fed.Advance(kSoon);
  CHECK(fed.Phase("a") == "Running");
}

TEST_CASE("A job that waits for a name is forgotten when it is deleted") {
  Federation fed;
  const auto one = fed.StartReplica();
  fed.Submit("a", 8);
  fed.Advance(kSoon);
  fed.Delete(fed.karmada, kJobs + "/a");
  fed.Submit("a", 4);
  fed.Advance(Millis(5'000));
  const State& state = one->controller->state();
  REQUIRE(state.SuccessorOf(state.FindJob({"team-a", "a"})) != nullptr);
  fed.Delete(fed.karmada, kJobs + "/a");
  fed.Advance(Millis(1'000));
  CHECK(state.SuccessorOf(state.FindJob({"team-a", "a"})) == nullptr);
  fed.Advance(Millis(45'000));
  CHECK(state.FindJob({"team-a", "a"}) == kNoIndex);
  CHECK(Settled(state));
}

TEST_CASE("Members that are watched node by node are asked for a job's claims") {
  Federation fed;
  ControllerConfig config;
  config.members = MemberView::kNodes;
  const auto one = fed.StartReplica("one", "ledger.db", config);
  fed.Submit("a", 2, "gold",
             R"(,"volumes":[{"name":"v","persistentVolumeClaim":{"claimName":"data"}}])");
  fed.Advance(Millis(60'000));
  CHECK(fed.Works() == 0);
  fed.Create(fed.west, "/api/v1/namespaces/team-a/persistentvolumeclaims",
             R"({"metadata":{"name":"data"},"spec":{"accessModes":["ReadWriteMany"]}})");
  fed.Advance(Millis(120'000));
  CHECK(fed.Running() == std::multiset<std::string>{"west/a"});
}

}  // namespace
}  // namespace caldera::testing
