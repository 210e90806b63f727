// Placed jobs whose replicas or minAvailable are edited.
#include "federation/resize.h"

#include <doctest/doctest.h>

#include "federation/codec.h"
#include "federation/invariants.h"
#include "federation/report.h"
#include "test/federation/builders.h"

namespace caldera::testing {
namespace {

/// The job `key` as it is, edited.
void EditJob(Fed& fed, std::string_view key, const std::function<void(Job&)>& edit) {
  Job job = fed.state.Object(fed.state.FindJob(Key(key)));
  edit(job);
  fed.Do(JobUpsert{job});
}

void Scale(Fed& fed, std::string_view key, int32_t replicas) {
  EditJob(fed, key, [replicas](Job& job) {
    job.tasks[0].replicas = replicas;
    job.tasks[0].min_available = std::min(job.tasks[0].min_available, replicas);
    job.min_available = std::min(job.min_available, replicas);
  });
}

/// `n/a` runs two pods of 2 cpu in `east`, which has 16.
Fed Running(const std::function<void(Fed&)>& before = {}) {
  Fed fed;
  fed.AddCluster("east", "cpu=16");
  if (before) {
    before(fed);
  }
  fed.AddJob("n/a", "default", 2, "cpu=2");
  REQUIRE(Placements(fed.Go()) == Names{"n/a@east"});
  return fed;
}

int64_t ChargedCpu(const Fed& fed) {
  return ToList(fed.state.resources(),
                fed.state.queue(fed.state.queues().find("default")->second).charged.ToVector())
      .find("cpu")
      ->second;
}

TEST_CASE("fewer replicas shrink at once, in place") {
  Fed fed = Running();
  const Charge before = *fed.At("n/a").charge;
  fed.Do(ClockSet{fed.state.now() + std::chrono::minutes(1)});
  Scale(fed, "n/a", 1);
  CHECK(fed.state.resizes().size() == 1);
  const Plan plan = fed.Go();
  REQUIRE(plan.actions.size() == 1);
  CHECK(plan.actions[0].action == ActionKind::kShrink);
  CHECK(plan.actions[0].rank == 1);
  CHECK(plan.actions[0].reason ==
        "the job was edited: replicas of worker 2 -> 1, minAvailable of worker 2 -> 1, "
        "minAvailable 2 -> 1");
  const Charge& after = *fed.At("n/a").charge;
  CHECK(after.intent > before.intent);
  CHECK(after.at == before.at);
  REQUIRE(after.shards.size() == 1);
  CHECK(after.shards[0].cluster == "east");
  CHECK(after.shards[0].epoch == before.shards[0].epoch);
  CHECK(after.shards[0].tasks == std::vector<TaskGrant>{{"worker", 1, 1}});
  CHECK(after.shards[0].requests == Amounts("cpu=2 pods=1"));
  CHECK(ChargedCpu(fed) == 2000);
  CHECK(fed.state.resizes().empty());
  CHECK(fed.Go().actions.empty());
}

TEST_CASE("more replicas grow where there is room, ahead of new jobs") {
  Fed fed = Running();
  fed.AddJob("n/new", "default", 1, "cpu=12");
  Scale(fed, "n/a", 4);
  const Plan plan = fed.Go();
  REQUIRE(plan.actions.size() == 1);
  CHECK(plan.actions[0].action == ActionKind::kGrow);
  CHECK(plan.actions[0].shards[0].epoch == 1);
  CHECK(plan.actions[0].shards[0].tasks == std::vector<TaskGrant>{{"worker", 4, 2}});
  CHECK(ChargedCpu(fed) == 8000);
  CHECK(ExplainResizes(fed.state).empty());
  CHECK(ExplainPending(fed.state)[0].verdict == Verdict::kInsufficientResources);
}

TEST_CASE("growth is all or nothing and says what it lacks") {
  struct Case {
    std::string name;
    std::function<void(Fed&)> limit;
    int32_t replicas;
    Verdict verdict;
    std::string object;
  };
  const auto capability = [](Fed& fed) {
    fed.AddQueue("root", [](Queue& queue) { queue.capability = Amounts("cpu=6"); });
  };
  const std::vector<Case> cases = {
      {"room", {}, 9, Verdict::kInsufficientResources, "Cluster/east"},
      {"quota", [](Fed& fed) { fed.AddQuota("n", "cpu=6"); }, 4, Verdict::kTenantQuota, "Tenant/n"},
      {"assignment",
       [](Fed& fed) {
         fed.AddQuota("n", "", [](TenantQuota& q) { q.per_cluster["east"] = Amounts("cpu=6"); });
       },
       4, Verdict::kTenantQuota, "Tenant/n"},
      {"capability of an ancestor", capability, 4, Verdict::kQueueCapability, "Queue/root"},
      {"guarantee of another",
       [](Fed& fed) {
         fed.AddQueue("other", [](Queue& queue) { queue.guarantee = Amounts("cpu=10"); });
       },
       4, Verdict::kFairShare, "Queue/root"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.name);
    Fed fed = Running(c.limit);
    Scale(fed, "n/a", c.replicas);
    CHECK(fed.Go().actions.empty());
    CHECK(ChargedCpu(fed) == 4000);
    const std::vector<WaitingResize> waiting = ExplainResizes(fed.state);
    REQUIRE(waiting.size() == 1);
    CHECK(waiting[0].job == Key("n/a"));
    CHECK(waiting[0].wanted.tasks[0].replicas == c.replicas);
    CHECK(waiting[0].verdict == c.verdict);
    CHECK_FALSE(waiting[0].message.empty());
    REQUIRE_FALSE(waiting[0].figures.empty());
    CHECK(waiting[0].figures[0].object == c.object);
    CHECK(waiting[0].figures[0].requested + waiting[0].figures[0].used >
          waiting[0].figures[0].limit);
    Scale(fed, "n/a", 3);
    CHECK(fed.Go().actions.size() == 1);
    CHECK(ChargedCpu(fed) == 6000);
  }
}

TEST_CASE("growth needs the cluster Ready and its queue Open, and node slots") {
  Fed fed = Running();
  Scale(fed, "n/a", 3);
  fed.AddCluster("east", "cpu=16", [](Cluster& cluster) { cluster.ready = false; });
  CHECK(fed.Go().actions.empty());
  CHECK(ExplainResizes(fed.state)[0].verdict == Verdict::kClusterNotReady);
  fed.AddCluster("east", "cpu=16");
  fed.AddQueue("default", [](Queue& queue) { queue.state = QueueState::kClosed; });
  CHECK(fed.Go().actions.empty());
  CHECK(ExplainResizes(fed.state)[0].verdict == Verdict::kQueueClosed);
  fed.AddQueue("default");
  fed.AddNode("east", "n1", "cpu=3").AddNode("east", "n2", "cpu=3").AddNode("east", "n3", "cpu=1");
  CHECK(fed.Go().actions.empty());
  const std::vector<WaitingResize> waiting = ExplainResizes(fed.state);
  CHECK(waiting[0].verdict == Verdict::kInsufficientResources);
  CHECK(waiting[0].message == "the nodes of cluster east hold 0 of 1 more such pods, node by node");
  fed.AddNode("east", "n3", "cpu=2");
  CHECK(fed.Go().actions.size() == 1);
}

TEST_CASE("what takes from one task and adds to another is one Grow of both") {
  Fed fed;
  fed.AddCluster("east", "cpu=8").AddJob("n/a", "default", 2, "cpu=2", [](Job& job) {
    job.tasks.push_back(MakeTask("extra", 2, "cpu=1"));
  });
  fed.Go();
  EditJob(fed, "n/a", [](Job& job) {
    job.tasks[0].replicas = 3;
    job.tasks[1].replicas = 1;
    job.tasks[1].min_available = 1;
  });
  const Plan plan = fed.Go();
  REQUIRE(plan.actions.size() == 1);
  CHECK(plan.actions[0].action == ActionKind::kGrow);
  CHECK(ChargedCpu(fed) == 7000);
}

TEST_CASE("minAvailable alone follows at once") {
  Fed fed = Running();
  EditJob(fed, "n/a", [](Job& job) { job.min_available = 1; });
  const Plan plan = fed.Go();
  REQUIRE(plan.actions.size() == 1);
  CHECK(plan.actions[0].action == ActionKind::kShrink);
  CHECK(fed.At("n/a").charge->shards[0].min_available == 1);
  CHECK(ChargedCpu(fed) == 4000);
}

TEST_CASE("other edits are no resize") {
  const std::vector<std::function<void(Job&)>> edits = {
      [](Job& job) { job.tasks.push_back(MakeTask("new", 1, "cpu=1")); },
      [](Job& job) { job.tasks[0].name = "renamed"; },
      [](Job& job) {
        job.tasks[0].request = Amounts("cpu=3 pods=1");
        job.tasks[0].replicas = 1;
      },
      [](Job& job) {
        job.suspended = true;
        job.tasks[0].replicas = 1;
      },
      [](Job& job) {
        job.terminal = true;
        job.tasks[0].replicas = 1;
      },
  };
  for (const auto& edit : edits) {
    Fed fed = Running();
    EditJob(fed, "n/a", edit);
    CHECK(fed.Go().actions.empty());
    CHECK(ExplainResizes(fed.state).empty());
  }
}

TEST_CASE("of two that grow the higher priority goes first, and shrinks come before") {
  Fed fed;
  fed.AddCluster("east", "cpu=8").AddPriorityClass("high", 10);
  fed.AddJob("n/low", "default", 1, "cpu=2");
  fed.AddJob("n/high", "default", 1, "cpu=2", [](Job& job) { job.priority_class = "high"; });
  fed.AddJob("n/less", "default", 2, "cpu=1");
  CHECK(fed.Go().actions.size() == 3);
  Scale(fed, "n/low", 2);
  Scale(fed, "n/high", 2);
  Scale(fed, "n/less", 1);
  const Plan plan = fed.Go();
  CHECK(Placements(plan) == Names{"n/less@east", "n/high@east"});
  CHECK(plan.actions[0].action == ActionKind::kShrink);
  CHECK(plan.actions[1].rank == 2);
  CHECK(ExplainResizes(fed.state)[0].job == Key("n/low"));
}

TEST_CASE("a resize survives an export and the canonical text") {
  Fed fed = Running();
  Scale(fed, "n/a", 9);
  State again;
  for (const Change& change : fed.state.Export()) {
    again.Apply(*DecodeChange(EncodeChange(change)));
  }
  CHECK(again.resizes().size() == 1);
  Scale(fed, "n/a", 4);
  const Plan plan = fed.Go();
  CHECK(EncodePlan(*DecodePlan(EncodePlan(plan))) == EncodePlan(plan));
  State later;
  for (const Change& change : fed.state.Export()) {
    later.Apply(change);
  }
  CHECK(later.job(later.FindJob(Key("n/a"))).charge->at == fed.At("n/a").charge->at);
  CHECK(later.resizes().empty());
}

TEST_CASE("CheckPlan finds resizes that are none") {
  Fed fed = Running();
  Scale(fed, "n/a", 4);
  const Plan good = MakePlan(fed.state);
  CHECK(CheckPlan(fed.state, good).empty());
  const auto broken = [&](const std::function<void(Action&)>& edit) {
    Plan plan = good;
    edit(plan.actions[0]);
    return !CheckPlan(fed.state, plan).empty();
  };
  CHECK(broken([](Action& a) { a.action = ActionKind::kShrink; }));
  CHECK(broken([](Action& a) { a.action = ActionKind::kPlace; }));
  CHECK(broken([](Action& a) { a.shards[0].epoch = 2; }));
  CHECK(broken([](Action& a) { a.shards[0].cluster = "west"; }));
  CHECK(broken([](Action& a) { a.shards[0].tasks[0].replicas = 5; }));
  CHECK(broken([](Action& a) { a.shards[0].requests["cpu"] = 1; }));
  fed.AddQuota("n", "cpu=7");
  CHECK_FALSE(CheckPlan(fed.state, good).empty());
}

TEST_CASE("a placed job that changes its queue moves its charge, and grows in the new one") {
  Fed fed = Running([](Fed& f) {
    f.AddQueue("a").AddQueue("b", [](Queue& queue) { queue.capability = Amounts("cpu=3"); });
  });
  EditJob(fed, "n/a", [](Job& job) { job.queue = "b"; });
  const auto charged = [&](const std::string& queue) {
    return fed.state.queue(fed.state.queues().find(queue)->second).charged_jobs;
  };
  CHECK(charged("default") == 0);
  CHECK(charged("b") == 1);
  // Above its capability by now: what is there stays, nothing is added.
  CHECK(fed.Go().actions.empty());
  Scale(fed, "n/a", 3);
  CHECK(fed.Go().actions.empty());
  CHECK(ExplainResizes(fed.state)[0].verdict == Verdict::kQueueCapability);
  EditJob(fed, "n/a", [](Job& job) { job.queue = "a"; });
  CHECK(fed.Go().actions.size() == 1);
  fed.Do(Released{Key("n/a"), "uid-n/a", 0});
  for (const QueueReport& queue : MakeReport(fed.state).queues) {
    CHECK(queue.allocated.empty());
  }
}

}  // namespace
}  // namespace caldera::testing
