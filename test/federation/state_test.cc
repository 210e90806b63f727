#include "federation/state.h"

#include <random>

#include "federation/codec.h"
#include "federation/round.h"
#include "test/federation/builders.h"

namespace caldera {
namespace {

using testing::Amounts;
using testing::Fed;
using testing::Key;

std::vector<std::string> Texts(const State& state) {
  std::vector<std::string> texts;
  for (const Change& change : state.Export()) {
    texts.push_back(EncodeChange(change));
  }
  return texts;
}

/// Export rebuilds the State, and its indexes with it: the rebuilt one plans and exports alike.
void CheckRebuilds(const State& state) {
  State rebuilt;
  for (const Change& change : state.Export()) {
    rebuilt.Apply(change);
  }
  CHECK(Texts(rebuilt) == Texts(state));
  CHECK(EncodePlan(MakePlan(rebuilt)) == EncodePlan(MakePlan(state)));
  for (const auto& [name, index] : state.queues()) {
    const auto it = rebuilt.queues().find(name);
    const ResourceList there =
        it == rebuilt.queues().end()
            ? ResourceList()
            : ToList(rebuilt.resources(), rebuilt.queue(it->second).charged.ToVector());
    CHECK(there == ToList(state.resources(), state.queue(index).charged.ToVector()));
  }
}

ResourceList Charged(const Fed& fed, const std::string& queue) {
  const QueueEntry& entry = fed.state.queue(fed.state.queues().find(queue)->second);
  return ToList(fed.state.resources(), entry.charged.ToVector());
}

ResourceList OnTop(const Fed& fed, const std::string& cluster) {
  const ClusterEntry& entry = fed.state.cluster(fed.state.clusters().find(cluster)->second);
  return ToList(fed.state.resources(), entry.on_top.ToVector());
}

/// The job as it is observed again, with an edit.
void Observe(Fed& fed, std::string_view key, const testing::Tweak<Job>& edit = {}) {
  Job job = fed.state.Object(fed.state.FindJob(Key(key)));
  if (edit) {
    edit(job);
  }
  fed.Do(JobUpsert{job});
}

TEST_CASE("state: a charge lasts from Placed to Released") {
  Fed fed;
  fed.AddCluster("east", "cpu=8").AddQueue("gold").AddJob("n/a", "gold", 2, "cpu=1");
  fed.Go();
  CHECK(Charged(fed, "gold") == Amounts("cpu=2 pods=2"));
  Observe(fed, "n/a");  // An observation without a placement does not take it away.
  CHECK(Charged(fed, "gold") == Amounts("cpu=2 pods=2"));
  CHECK(!fed.At("n/a").Pending());
  CheckRebuilds(fed.state);
  fed.Do(Released{Key("n/a"), "uid-n/a", 0});
  CHECK(Charged(fed, "gold").empty());
  CHECK(fed.At("n/a").Pending());
  CheckRebuilds(fed.state);
  const Plan again = fed.Go();
  REQUIRE(again.actions.size() == 1);
  CHECK(again.actions[0].shards[0].epoch == 2);
}

TEST_CASE("state: a terminal job and a deleted job hold nothing") {
  for (const bool deleted : {false, true}) {
    Fed fed;
    fed.AddCluster("east", "cpu=8").AddJob("n/a", "default", 2, "cpu=1");
    fed.Go();
    if (deleted) {
      fed.Do(JobDelete{Key("n/a"), "another uid"});
      CHECK(!Charged(fed, "default").empty());
      fed.Do(JobDelete{Key("n/a"), "uid-n/a"});
      CHECK(fed.state.FindJob(Key("n/a")) == kNoIndex);
    } else {
      Observe(fed, "n/a", [](Job& j) { j.terminal = true; });
      CHECK(!fed.At("n/a").Pending());
    }
    CHECK(Charged(fed, "default").empty());
    CHECK(OnTop(fed, "east").empty());
    CHECK(fed.Go().actions.empty());
    CheckRebuilds(fed.state);
  }
}

TEST_CASE("state: an observed placement is taken over and but not one that was released") {
  Fed fed;
  const auto placed = [](Job& j) { j.placement = {{"east", 3, "", {{"worker", 2, 2}}, 2, {}}}; };
  fed.AddCluster("east", "cpu=8").AddJob("n/a", "default", 2, "cpu=1", placed);
  CHECK(Charged(fed, "default") == Amounts("cpu=2 pods=2"));
  CheckRebuilds(fed.state);
  fed.Do(Released{Key("n/a"), "uid-n/a", 0});
  Observe(fed, "n/a");  // The annotation of epoch 3 is still there.
  CHECK(Charged(fed, "default").empty());
  CHECK(fed.At("n/a").rare().last_epoch == 3);
  CheckRebuilds(fed.state);
  CHECK(fed.Go().actions[0].shards[0].epoch == 4);
}

TEST_CASE("state: a job made again under its name is another job") {
  Fed fed;
  fed.AddCluster("east", "cpu=8").AddJob("n/a", "default", 2, "cpu=1");
  fed.Go();
  fed.AddJob("n/a", "default", 3, "cpu=1", [](Job& j) { j.uid = "second"; });
  CHECK(Charged(fed, "default").empty());
  CHECK(fed.At("n/a").uid == "second");
  fed.Do(JobDelete{Key("n/a"), "uid-n/a"});
  CHECK(fed.At("n/a").uid == "second");
  CHECK(fed.Go().actions[0].shards[0].epoch == 1);
  CHECK(Charged(fed, "default") == Amounts("cpu=3 pods=3"));
}

TEST_CASE("state: a queue deleted and made again starts with what its jobs hold - case c14") {
  Fed fed;
  const auto ten = [](Queue& q) { q.capability = Amounts("cpu=10"); };
  fed.AddCluster("m1", "cpu=32").AddQueue("q", ten).AddJob("n/j1", "q", 8, "cpu=1");
  fed.Go();
  fed.Do(QueueDelete{"q"});
  CHECK(Charged(fed, "q") == Amounts("cpu=8 pods=8"));
  fed.AddJob("n/j2", "q", 1, "cpu=1");
  CHECK(fed.Go().actions.empty());  // QueueMissing.
  fed.Do(JobDelete{Key("n/j2"), "uid-n/j2"});
  fed.AddQueue("q", ten).AddJob("n/j3", "q", 4, "cpu=1");
  CHECK(fed.Go().actions.empty());  // 8 + 4 > 10.
  CheckRebuilds(fed.state);
  Observe(fed, "n/j1", [](Job& j) { j.terminal = true; });
  CHECK(fed.Go().actions.size() == 1);
}

TEST_CASE("state: shards on a deleted cluster stay charged") {
  Fed fed;
  fed.AddCluster("east", "cpu=8").AddQuota("n", "cpu=8").AddJob("n/a", "default", 2, "cpu=1");
  fed.Go();
  fed.Do(ClusterDelete{"east"});
  CHECK(Charged(fed, "default") == Amounts("cpu=2 pods=2"));
  fed.AddCluster("west", "cpu=8").AddJob("n/b", "default", 7, "cpu=1");
  CHECK(fed.Go().actions.empty());  // 2 + 7 of a quota of 8.
  CheckRebuilds(fed.state);
}

TEST_CASE("state: pods are on top until two summary periods after they were reported") {
  Fed fed;
  fed.AddCluster("east", "cpu=8").AddJob("n/a", "default", 4, "cpu=1");
  fed.Go();
  CHECK(OnTop(fed, "east") == Amounts("cpu=4 pods=4"));
  const Time reported = fed.state.now();
  Observe(fed, "n/a", [&](Job& j) {
    j.reports = {{"worker", 2, 1}};
    j.reported = reported;
  });
  CHECK(OnTop(fed, "east") == Amounts("cpu=4 pods=4"));
  fed.Do(ClockSet{reported + Millis(19'999)});
  CHECK(OnTop(fed, "east") == Amounts("cpu=4 pods=4"));
  CheckRebuilds(fed.state);
  fed.Do(ClockSet{reported + Millis(20'000)});
  CHECK(OnTop(fed, "east") == Amounts("cpu=1 pods=1"));
  fed.Do(SettingsSet{{Millis(30'000), Millis(300'000)}});
  CHECK(OnTop(fed, "east") == Amounts("cpu=4 pods=4"));
  fed.Do(ClockSet{reported});  // Time does not go back.
  fed.Do(ClockSet{reported + Millis(60'000)});
  CHECK(OnTop(fed, "east") == Amounts("cpu=1 pods=1"));
  CheckRebuilds(fed.state);
  fed.Do(Released{Key("n/a"), "uid-n/a", 0});
  CHECK(OnTop(fed, "east").empty());
}

TEST_CASE("state: reports from before a job was placed again say nothing of it") {
  Fed fed;
  fed.AddCluster("east", "cpu=8").AddJob("n/a", "default", 4, "cpu=1", [&](Job& j) {
    j.reports = {{"worker", 4, 0}};
    j.reported = testing::kStart;  // It ran before, long ago, and was evicted.
  });
  fed.Go();
  CHECK(OnTop(fed, "east") == Amounts("cpu=4 pods=4"));
  CheckRebuilds(fed.state);
}

TEST_CASE("state: reports of a split job count once they cover all of it") {
  Fed fed;
  fed.AddCluster("east", "cpu=8").AddCluster("west", "cpu=8");
  fed.AddJob("n/a", "default", 4, "cpu=1", [](Job& j) {
    j.placement = {{"east", 1, "", {{"worker", 3, 3}}, 3, {}},
                   {"west", 1, "", {{"worker", 1, 1}}, 1, {}}};
    j.reports = {{"worker", 3, 0}};
  });
  CHECK(OnTop(fed, "east") == Amounts("cpu=3 pods=3"));
  CHECK(OnTop(fed, "west") == Amounts("cpu=1 pods=1"));
  Observe(fed, "n/a", [](Job& j) { j.reports = {{"worker", 3, 1}}; });
  CHECK(OnTop(fed, "east").empty());
  CHECK(OnTop(fed, "west").empty());
}

TEST_CASE("state: a Job and a HyperJob may share a name") {
  Fed fed;
  fed.AddCluster("east", "cpu=8").AddJob("n/a", "default", 1, "cpu=1");
  fed.AddJob("n/a", "default", 1, "cpu=1", [](Job& j) {
    j.kind = JobKind::kHyperJob;
    j.uid = "hyper";
  });
  CHECK(fed.state.job_count() == 2);
  CHECK(fed.At("n/a").uid == "uid-n/a");
  fed.Do(JobDelete{Key("n/a"), "uid-n/a"});
  CHECK(fed.At("n/a").uid == "hyper");
  CheckRebuilds(fed.state);
}

TEST_CASE("state: root and default are there though nobody made them") {
  Fed fed;
  CHECK(fed.state.Export().size() == 2);  // The clock and the settings.
  fed.AddQueue("default", [](Queue& q) { q.weight = 5; });
  fed.Do(QueueDelete{"default"});
  const QueueEntry& entry = fed.state.queue(fed.state.queues().find("default")->second);
  REQUIRE(entry.object.has_value());
  CHECK(entry.object->weight == 1);
  CHECK(fed.state.Export().size() == 2);
}

TEST_CASE("state: deleting what is not there does nothing") {
  Fed fed;
  fed.Do(QueueDelete{"x"}).Do(PriorityClassDelete{"x"}).Do(TenantQuotaDelete{"x", "y"});
  fed.Do(NamespaceDelete{"x"}).Do(ClusterDelete{"x"}).Do(NodeDelete{"x", "y"});
  fed.Do(PodDelete{"x", "y", "z"}).Do(HyperNodeDelete{"x", "y"}).Do(JobDelete{{"x", "y"}, "z"});
  fed.Do(Placed{{"x", "y"}, "z", 1, Time(), {}}).Do(Released{{"x", "y"}, "z", 0});
  CHECK(fed.state.Export().size() == 2);
}

TEST_CASE("state: objects come back whole") {
  Job job;
  Fed fed;
  fed.AddJob("n/a", "gold", 3, "cpu=1 nvidia.com/gpu=2", [&](Job& j) {
    j.priority_class = "high";
    j.topology = {TopologyMode::kHard, 2, ""};
    j.clusters.names = {"b", "a"};
    j.running_estimate = Millis(5);
    j.hold = true;
    j.missing_references = {"Secret/n/s"};
    j.reports = {{"worker", 1, 2}};
    j.split = "never";
    j.rendezvous = "r:1";
    j.max_clusters = 2;
    j.min_shard = 3;
    j.max_distance = "zone";
    j.min_runtime = Millis(7);
    j.preemptible = false;
    j.elastic = true;
    j.checkpoint = "s3";
    job = j;
  });
  CHECK(EncodeChange(JobUpsert{fed.state.Object(fed.state.FindJob(Key("n/a")))}) ==
        EncodeChange(JobUpsert{job}));
}

TEST_CASE("state: jobs of one kind share a spec and a shape and a class") {
  Fed fed;
  for (int i = 0; i < 10; ++i) {
    fed.AddJob("n/a" + std::to_string(i), "gold", 3, "cpu=1");
  }
  fed.AddJob("n/b", "gold", 3, "cpu=1", [](Job& j) { j.rendezvous = "r:1"; });
  fed.AddJob("n/d", "gold", 3, "cpu=1", [](Job& j) { j.min_available = 2; });
  CHECK(fed.At("n/a0").spec == fed.At("n/a9").spec);
  CHECK(fed.At("n/a0").spec != fed.At("n/b").spec);
  CHECK(fed.At("n/a0").shape == fed.At("n/b").shape);
  CHECK(fed.At("n/a0").job_class == fed.At("n/b").job_class);
  CHECK(fed.At("n/a0").shape == fed.At("n/d").shape);
  CHECK(fed.At("n/a0").job_class != fed.At("n/d").job_class);  // It may be partial.
  for (int i = 0; i < 10; ++i) {
    const std::string name = "a" + std::to_string(i);
    fed.Do(JobDelete{{"n", name}, "uid-n/" + name});
  }
  fed.Do(JobDelete{Key("n/b"), "uid-n/b"}).Do(JobDelete{Key("n/d"), "uid-n/d"});
  CHECK(fed.state.job_count() == 0);
  const size_t shapes = fed.state.shape_count();
  fed.AddJob("n/c", "gold", 1, "cpu=7");
  CHECK(fed.state.shape_count() == shapes);  // The slot is used again.
}

TEST_CASE("state: random lives rebuild and and charges return to nothing") {
  std::mt19937 random(5);
  for (int round = 0; round < 30; ++round) {
    Fed fed;
    fed.AddCluster("east", "cpu=40").AddCluster("west", "cpu=40").AddQueue("x").AddQueue("y");
    for (int step = 0; step < 60; ++step) {
      const std::string name = "j" + std::to_string(random() % 12);
      const std::string key = "n/" + name;
      const bool there = fed.state.FindJob(Key(key)) != kNoIndex;
      switch (random() % 6) {
        case 0:
          fed.AddJob(key, random() % 2 == 0 ? "x" : "y", 1 + static_cast<int>(random() % 3),
                     "cpu=2");
          break;
        case 1:
          fed.Go();
          break;
        case 2:
          fed.Do(Released{Key(key), "uid-" + key, 0});
          break;
        case 3:
          fed.Do(JobDelete{Key(key), "uid-" + key});
          break;
        case 4:
          if (there) {
            Observe(fed, key, [&](Job& j) {
              j.reports = {{"worker", 1, 0}};
              j.reported = fed.state.now();
              j.suspended = random() % 4 == 0;
            });
          }
          break;
        default:
          fed.Do(ClockSet{fed.state.now() + Millis(random() % 15'000)});
      }
    }
    CheckRebuilds(fed.state);
    for (int i = 0; i < 12; ++i) {
      const std::string key = "n/j" + std::to_string(i);
      fed.Do(JobDelete{Key(key), "uid-" + key});
    }
    for (const char* queue : {"x", "y"}) {
      CHECK(Charged(fed, queue).empty());
    }
    CHECK(OnTop(fed, "east").empty());
    CHECK(OnTop(fed, "west").empty());
  }
}

}  // namespace
}  // namespace caldera
