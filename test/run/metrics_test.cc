#include "controller/run/metrics.h"

#include <doctest/doctest.h>

#include <string>

#include "test/federation/builders.h"

using namespace caldera;

namespace {

bool Shows(const Metrics& metrics, const std::string& line) {
  return metrics.Text().find(line) != std::string::npos;
}

}  // namespace

TEST_CASE("clusters and queues that are gone leave the metrics") {
  testing::Fed fed;
  fed.AddCluster("east", "cpu=8").AddQueue("gold").AddJob("a/train", "misspelled", 1, "cpu=1");
  Metrics metrics;
  metrics.SetState(fed.state);
  CHECK(Shows(metrics, "caldera_cluster_ready{cluster=\"east\"} 1"));
  CHECK(Shows(metrics, "caldera_queue_jobs{phase=\"pending\",queue=\"gold\"} 0"));
  CHECK(Shows(metrics, "caldera_queue_jobs{phase=\"pending\",queue=\"misspelled\"} 1"));
  const std::string uid = fed.At("a/train").uid;
  fed.Do(ClusterDelete{"east"}).Do(QueueDelete{"gold"}).Do(JobDelete{testing::Key("a/train"), uid});
  metrics.SetState(fed.state);
  CHECK(!Shows(metrics, "east"));
  CHECK(!Shows(metrics, "gold"));
  CHECK(!Shows(metrics, "misspelled"));
  CHECK(Shows(metrics, "caldera_queue_jobs{phase=\"pending\",queue=\"default\"} 0"));
}
