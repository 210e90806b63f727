#include "federation/invariants.h"

#include "test/federation/builders.h"

namespace caldera {
namespace {

using testing::Amounts;
using testing::Fed;
using testing::Tweak;

/// A sound plan of one job, spoilt.
std::vector<std::string> Spoilt(const Fed& fed, const std::function<void(Plan&)>& spoil) {
  Plan plan = MakePlan(fed.state);
  REQUIRE(!plan.actions.empty());
  CHECK(CheckPlan(fed.state, plan).empty());
  spoil(plan);
  return CheckPlan(fed.state, plan);
}

/// The plan made for one State, checked against another that differs in what is done to it.
void Breaks(Fed fed, const std::function<void(Fed&)>& worsen, const std::string& rule) {
  const Plan plan = MakePlan(fed.state);
  REQUIRE(!plan.actions.empty());
  worsen(fed);
  const std::vector<std::string> broken = CheckPlan(fed.state, plan);
  REQUIRE(!broken.empty());
  CHECK(broken[0].find(rule) != std::string::npos);
}

Fed Small() {
  Fed fed;
  fed.AddCluster("east", "cpu=8").AddQueue("q").AddJob("n/a", "q", 4, "cpu=1");
  return fed;
}

TEST_CASE("invariants: a spoilt action is seen") {
  const Fed fed = Small();
  using P = Plan;
  CHECK(!Spoilt(fed, [](P& p) { p.actions[0].rank = 2; }).empty());
  CHECK(!Spoilt(fed, [](P& p) { p.actions[0].uid = "other"; }).empty());
  CHECK(!Spoilt(fed, [](P& p) { p.actions[0].job.name = "other"; }).empty());
  CHECK(!Spoilt(fed, [](P& p) { p.actions[0].action = ActionKind::kEvict; }).empty());
  CHECK(!Spoilt(fed, [](P& p) { p.actions[0].shards.clear(); }).empty());
  CHECK(!Spoilt(fed, [](P& p) { p.actions[0].shards[0].epoch = 0; }).empty());
  CHECK(!Spoilt(fed, [](P& p) { p.actions[0].shards[0].cluster = "west"; }).empty());
  CHECK(!Spoilt(fed, [](P& p) { p.actions[0].shards[0].tasks[0].replicas = 3; }).empty());
  CHECK(!Spoilt(fed, [](P& p) { p.actions[0].shards[0].requests["cpu"] = 1; }).empty());
  CHECK(!Spoilt(fed, [](P& p) {
           p.actions.push_back(p.actions[0]);
           p.actions[1].rank = 2;
         }).empty());
}

TEST_CASE("invariants: each rule is kept apart from the planner") {
  const Fed fed = Small();
  const auto queue = [](const Tweak<Queue>& edit) {
    return [=](Fed& f) { f.AddQueue("q", edit); };
  };
  const auto cluster = [](const char* all, const Tweak<Cluster>& edit) {
    return [=](Fed& f) { f.AddCluster("east", all, edit); };
  };
  Breaks(fed, queue([](Queue& q) { q.state = QueueState::kClosed; }), "not Open");
  Breaks(fed, queue([](Queue& q) { q.parent = "gone"; }), "lead to the root");
  Breaks(fed, queue([](Queue& q) { q.capability = Amounts("cpu=3"); }), "capability of queue q");
  Breaks(
      fed, [](Fed& f) { f.AddQueue("child", [](Queue& q) { q.parent = "q"; }); }, "no leaf");
  Breaks(
      fed, [](Fed& f) { f.AddQuota("n", "cpu=3"); }, "quota");
  Breaks(
      fed,
      [](Fed& f) {
        f.AddQuota("n", "", [](TenantQuota& q) { q.per_cluster = {{"east", Amounts("cpu=3")}}; });
      },
      "in east");
  Breaks(fed, cluster("cpu=3", {}), "no room");
  Breaks(fed, cluster("cpu=8", [](Cluster& c) { c.ready = false; }), "not Ready");
  Breaks(fed,
         cluster("cpu=8",
                 [](Cluster& c) {
                   c.taints = {{"t", "", "NoSchedule"}};
                 }),
         "tainted");
  Breaks(
      fed,
      [](Fed& f) {
        f.Do(NamespaceUpsert{{"n", true}});
      },
      "namespace");
  Breaks(
      fed, [](Fed& f) { f.AddQueue("vip", [](Queue& q) { q.guarantee = Amounts("cpu=6"); }); },
      "guaranteed");
  Breaks(
      fed, [](Fed& f) { f.AddJob("n/a", "q", 4, "cpu=1", [](Job& j) { j.hold = true; }); },
      "held back");
  Breaks(
      fed, [](Fed& f) { f.AddJob("n/a", "q", 4, "cpu=1", [](Job& j) { j.refused = "no"; }); },
      "refused");
  Breaks(
      fed,
      [](Fed& f) { f.AddJob("n/a", "q", 4, "cpu=1", [](Job& j) { j.clusters.names = {"west"}; }); },
      "does not name");
}

}  // namespace
}  // namespace caldera
