#include "federation/report.h"

#include "test/federation/builders.h"

namespace caldera {
namespace {

using testing::Amounts;
using testing::Fed;

TEST_CASE("report: the figures after a plan") {
  Fed fed;
  fed.AddCluster("east", "cpu=10 pods=20", [](Cluster& c) { c.allocated = Amounts("cpu=1"); });
  fed.AddCluster("west", "cpu=5");
  fed.AddQueue("gold", [](Queue& q) {
    q.weight = 3;
    q.priority = 2;
    q.capability = Amounts("cpu=9");
    q.guarantee = Amounts("cpu=2");
  });
  fed.AddQuota("n", "cpu=8", [](TenantQuota& q) { q.per_cluster = {{"east", Amounts("cpu=7")}}; });
  fed.AddJob("n/a", "gold", 3, "cpu=2").AddJob("n/b", "gold", 3, "cpu=2");
  fed.Go();
  const Report report = MakeReport(fed.state);

  REQUIRE(report.queues.size() == 3);
  CHECK(report.queues[0].queue == "default");
  CHECK(report.queues[2].queue == "root");
  const QueueReport& gold = report.queues[1];
  CHECK(gold.queue == "gold");
  CHECK(gold.parent == "root");
  CHECK(gold.weight == 3);
  CHECK(gold.priority == 2);
  CHECK(gold.capability == Amounts("cpu=9"));
  CHECK(gold.guarantee == Amounts("cpu=2"));
  CHECK(gold.demand == Amounts("cpu=12 pods=6"));
  CHECK(gold.deserved == Amounts("cpu=9 pods=6"));
  CHECK(gold.allocated == Amounts("cpu=6 pods=3"));
  CHECK(gold.share_milli == 666);

  REQUIRE(report.tenants.size() == 1);
  CHECK(report.tenants[0].tenant == "n");
  CHECK(report.tenants[0].overall.quota == Amounts("cpu=8"));
  CHECK(report.tenants[0].overall.used == Amounts("cpu=6 pods=3"));
  CHECK(report.tenants[0].clusters.at("east").quota == Amounts("cpu=7"));
  CHECK(report.tenants[0].clusters.at("east").used == Amounts("cpu=6 pods=3"));

  REQUIRE(report.clusters.size() == 2);
  const ClusterReport& east = report.clusters[0];
  CHECK(east.cluster == "east");
  CHECK(east.ready);
  CHECK(east.allocatable == Amounts("cpu=10 pods=20"));
  CHECK(east.allocated == Amounts("cpu=1"));
  CHECK(east.on_top == Amounts("cpu=6 pods=3"));
  CHECK(east.free == Amounts("cpu=3 pods=17"));
  CHECK(report.clusters[1].free == Amounts("cpu=5"));

  REQUIRE(report.running.size() == 1);
  CHECK(report.running[0].job.ToString() == "n/a");
  CHECK(report.running[0].queue == "gold");
  CHECK(report.running[0].shards[0].cluster == "east");
}

TEST_CASE("report: who holds and deserves nothing has an unlimited share") {
  Fed fed;
  fed.AddCluster("east", "cpu=10").AddQueue("q", [](Queue& q) { q.deserved = Amounts("cpu=0"); });
  fed.AddJob("n/a", "q", 1, "cpu=2");
  fed.Go();
  CHECK(MakeReport(fed.state).queues[1].share_milli == kUnlimited);
}

TEST_CASE("report: a queue that is gone is shown while it holds something") {
  Fed fed;
  fed.AddCluster("east", "cpu=10").AddQueue("q").AddJob("n/a", "q", 1, "cpu=2");
  fed.Go();
  fed.Do(QueueDelete{"q"}).AddJob("n/b", "ghost", 1, "cpu=1");
  const Report report = MakeReport(fed.state);
  REQUIRE(report.queues.size() == 3);
  CHECK(report.queues[1].queue == "q");
  CHECK(report.queues[1].state == QueueState::kUnknown);
  CHECK(report.queues[1].allocated == Amounts("cpu=2 pods=1"));
}

}  // namespace
}  // namespace caldera
