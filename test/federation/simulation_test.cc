#include "federation/simulation.h"

#include <string>
#include <vector>

#include "test/federation/builders.h"

namespace caldera {
namespace {

using std::chrono::seconds;
using testing::Amounts;
using testing::MakeTask;

/// A script in words: times are seconds from the start.
class Scene {
 public:
  Scene() { script.start = testing::kStart; }

  Scene& AddCluster(const std::string& name, std::string_view allocatable) {
    script.initial.emplace_back(ClusterUpsert{MakeCluster(name, allocatable)});
    return *this;
  }
  static Cluster MakeCluster(const std::string& name, std::string_view allocatable) {
    Cluster cluster;
    cluster.name = name;
    cluster.ready = true;
    cluster.ready_changed = testing::kStart;
    cluster.has_summary = true;
    cluster.allocatable = Amounts(allocatable);
    return cluster;
  }
  Scene& AddQueue(const std::string& name, int32_t weight) {
    Queue queue;
    queue.name = name;
    queue.parent = std::string(kRootQueue);
    queue.weight = weight;
    script.initial.emplace_back(QueueUpsert{queue});
    return *this;
  }
  /// Jobs of `replicas` pods.
  uint32_t AddTemplate(const std::string& queue, int32_t replicas, std::string_view request,
                       int checkpoint = 0) {
    JobTemplate source;
    source.job.queue = queue;
    source.job.tasks.push_back(MakeTask("worker", replicas, request));
    source.job.min_available = replicas;
    source.checkpoint_every = seconds(checkpoint);
    script.templates.push_back(std::move(source));
    return static_cast<uint32_t>(script.templates.size() - 1);
  }
  Scene& Submit(const std::string& name, uint32_t source, int at, int duration) {
    script.submissions.push_back({After(at), source, {"n", name}, seconds(duration), {}});
    return *this;
  }
  Scene& Do(int at, Change change) {
    script.changes.push_back({After(at), std::move(change)});
    return *this;
  }
  [[nodiscard]] Time After(int time) const { return script.start + seconds(time); }

  SimulationRecord Run() {
    auto record = Simulate(script);
    REQUIRE_MESSAGE(record.has_value(), record.error().message);
    return *std::move(record);
  }
  [[nodiscard]] std::string Error() const {
    const auto record = Simulate(script);
    return record.has_value() ? "" : record.error().message;
  }

  SimulationScript script;
};

/// `a 0-10 b 10-20`: first start and end of each job.
std::string Lives(const SimulationRecord& record) {
  const auto text = [&](const std::optional<Time>& time) {
    return time.has_value()
               ? std::to_string(std::chrono::duration_cast<seconds>(*time - record.start).count())
               : std::string();
  };
  std::string lives;
  for (const JobRecord& job : record.jobs) {
    lives += (lives.empty() ? "" : " ") + job.key.name + " " + text(job.first_start) + "-" +
             text(job.end);
  }
  return lives;
}

int64_t Of(const ResourceList& list, const std::string& resource) {
  const auto it = list.find(resource);
  return it == list.end() ? 0 : it->second;
}

TEST_CASE("jobs that fill a cluster run one after another") {
  Scene scene;
  scene.AddCluster("east", "cpu=8");
  const uint32_t job = scene.AddTemplate("default", 4, "cpu=2");
  scene.Submit("a", job, 0, 10).Submit("b", job, 0, 10).Submit("c", job, 5, 10);
  const SimulationRecord record = scene.Run();
  CHECK(Lives(record) == "a 0-10 b 10-20 c 20-30");
  CHECK(record.end == scene.After(30));
  CHECK_FALSE(record.stopped);
  CHECK(record.placements == 3);
  REQUIRE(record.clusters.size() == 1);
  CHECK(Of(record.clusters[0].allocated, "cpu") == 30 * 8000);
  CHECK(Of(record.clusters[0].allocatable, "cpu") == 30 * 8000);
  REQUIRE(record.queues.size() == 1);
  CHECK(record.queues[0].queue == "default");
  CHECK(Of(record.queues[0].allocated, "cpu") == 30 * 8000);
  CHECK(Of(record.queues[0].deserved, "cpu") == 30 * 8000);
  CHECK(Of(record.queues[0].missed, "cpu") == 0);
  CHECK(record.waiting.empty());
}

TEST_CASE("others' pods are no capacity of ours") {
  Scene scene;
  Cluster cluster = Scene::MakeCluster("east", "cpu=8");
  cluster.allocated = Amounts("cpu=3");
  scene.script.initial.emplace_back(ClusterUpsert{cluster});
  const uint32_t job = scene.AddTemplate("default", 1, "cpu=5");
  scene.Submit("a", job, 0, 10).Submit("b", job, 0, 10);
  const SimulationRecord record = scene.Run();
  CHECK(Lives(record) == "a 0-10 b 10-20");
  CHECK(Of(record.clusters[0].allocatable, "cpu") == 20 * 5000);
}

TEST_CASE("under load, queues hold by their weights") {
  Scene scene;
  scene.AddCluster("east", "cpu=12").AddQueue("one", 1).AddQueue("two", 2).AddQueue("three", 3);
  for (const std::string queue : {"one", "two", "three"}) {
    const uint32_t job = scene.AddTemplate(queue, 1, "cpu=1");
    for (int i = 0; i < 200; ++i) {
      scene.Submit(queue + std::to_string(i), job, 0, 10);
    }
  }
  scene.script.until = scene.After(150);
  const SimulationRecord record = scene.Run();
  CHECK(record.stopped);
  CHECK(record.end == scene.After(150));
  REQUIRE(record.queues.size() == 4);
  CHECK(Of(record.queues[1].allocated, "cpu") == 150 * 2000);
  CHECK(Of(record.queues[2].allocated, "cpu") == 150 * 6000);
  CHECK(Of(record.queues[3].allocated, "cpu") == 150 * 4000);
  CHECK(Of(record.queues[2].deserved, "cpu") == 150 * 6000);
  const Sample& last = record.samples.back();
  CHECK(last.running == 12);
  CHECK(last.waiting == 600 - 15 * 12);
  CHECK(record.waiting.size() == 1);
  CHECK(record.waiting[0].second == last.waiting);
}

TEST_CASE("pods start after a delay, during which the room is taken") {
  Scene scene;
  scene.AddCluster("east", "cpu=1");
  const uint32_t job = scene.AddTemplate("default", 1, "cpu=1");
  scene.Submit("a", job, 0, 10).Submit("b", job, 0, 10);
  scene.script.start_delay = seconds(5);
  const SimulationRecord record = scene.Run();
  CHECK(Lives(record) == "a 5-15 b 20-30");
  CHECK(Of(record.queues[0].allocated, "cpu") == 30 * 1000);
}

TEST_CASE("a cluster that is cut off keeps its jobs, and their ends are seen at its return") {
  Scene scene;
  scene.AddCluster("east", "cpu=1");
  const uint32_t job = scene.AddTemplate("default", 1, "cpu=1");
  scene.Submit("a", job, 0, 60).Submit("b", job, 0, 10);
  scene.script.outages.push_back({"east", scene.After(50), scene.After(90), false});
  const SimulationRecord record = scene.Run();
  CHECK(Lives(record) == "a 0-60 b 90-100");
  CHECK(record.jobs[0].losses == 0);
}

TEST_CASE("a cluster that loses its pods begins again from the last checkpoint") {
  Scene scene;
  scene.AddCluster("east", "cpu=2");
  const uint32_t saves = scene.AddTemplate("default", 1, "cpu=1", 30);
  const uint32_t forgets = scene.AddTemplate("default", 1, "cpu=1");
  scene.Submit("saves", saves, 0, 100).Submit("forgets", forgets, 0, 100);
  scene.script.outages.push_back({"east", scene.After(50), scene.After(70), true});
  const SimulationRecord record = scene.Run();
  CHECK(Lives(record) == "saves 0-140 forgets 0-170");
  CHECK(record.jobs[0].lost == seconds(20));
  CHECK(record.jobs[1].lost == seconds(50));
  CHECK(record.jobs[0].losses == 1);
  CHECK(record.jobs[0].starts == 1);
}

TEST_CASE("jobs of a cluster that is removed wait again and go elsewhere") {
  Scene scene;
  scene.AddCluster("east", "cpu=1");
  const uint32_t job = scene.AddTemplate("default", 1, "cpu=1");
  scene.Submit("a", job, 0, 60);
  scene.Do(40, ClusterDelete{"east"}).Do(50, ClusterUpsert{Scene::MakeCluster("west", "cpu=1")});
  const SimulationRecord record = scene.Run();
  CHECK(Lives(record) == "a 0-110");
  CHECK(record.jobs[0].cluster == "west");
  CHECK(record.jobs[0].starts == 2);
  CHECK(record.jobs[0].lost == seconds(40));
  REQUIRE(record.clusters.size() == 2);
  CHECK(Of(record.clusters[0].allocatable, "cpu") == 40 * 1000);
  CHECK(Of(record.clusters[1].allocatable, "cpu") == 60 * 1000);
}

TEST_CASE("queues, quotas and jobs change on the way") {
  Scene scene;
  scene.AddCluster("east", "cpu=4").AddQueue("gold", 1);
  const uint32_t job = scene.AddTemplate("gold", 1, "cpu=2");
  scene.Submit("a", job, 0, 100).Submit("b", job, 0, 100).Submit("c", job, 0, 100);
  Queue closed;
  closed.name = "gold";
  closed.parent = std::string(kRootQueue);
  closed.state = QueueState::kClosed;
  Queue open = closed;
  open.state = QueueState::kOpen;
  TenantQuota quota;
  quota.tenant = "n";
  quota.name = "q";
  quota.overall = Amounts("cpu=2");
  scene.Do(10, QueueUpsert{closed});
  scene.Do(20, JobDelete{{"n", "a"}, ""});
  scene.Do(50, TenantQuotaUpsert{quota}).Do(50, QueueUpsert{open});
  const SimulationRecord record = scene.Run();
  CHECK(Lives(record) == "a 0-20 b 0-100 c 100-200");
  CHECK(record.jobs[0].fate == JobFate::kDeleted);
  CHECK(record.jobs[2].fate == JobFate::kDone);
}

TEST_CASE("a job that is edited while it runs is resized") {
  Scene scene;
  scene.AddCluster("east", "cpu=4");
  const uint32_t job = scene.AddTemplate("default", 2, "cpu=1");
  scene.Submit("a", job, 0, 100);
  Job wider = scene.script.templates[job].job;
  wider.key = {"n", "a"};
  wider.tasks[0].replicas = 4;
  wider.tasks[0].min_available = 4;
  wider.min_available = 4;
  scene.Do(40, JobUpsert{wider});
  const SimulationRecord record = scene.Run();
  CHECK(Lives(record) == "a 0-100");
  CHECK(Of(record.queues[0].allocated, "cpu") == 40 * 2000 + 60 * 4000);
}

TEST_CASE("with summaries by period, room that was freed is seen at the next one") {
  Scene scene;
  scene.AddCluster("east", "cpu=1");
  const uint32_t job = scene.AddTemplate("default", 1, "cpu=1");
  scene.Submit("a", job, 0, 65).Submit("b", job, 0, 10);
  scene.script.summary_every = seconds(10);
  const SimulationRecord record = scene.Run();
  CHECK(Lives(record) == "a 0-65 b 70-80");
}

TEST_CASE("rounds can be kept apart") {
  Scene scene;
  scene.AddCluster("east", "cpu=2");
  const uint32_t job = scene.AddTemplate("default", 1, "cpu=1");
  scene.Submit("a", job, 0, 5).Submit("b", job, 10, 5).Submit("c", job, 70, 5);
  scene.script.cycle = seconds(60);
  CHECK(Lives(scene.Run()) == "a 0-5 b 60-65 c 120-125");
}

TEST_CASE("borrowed room is given back after the grace period, and what is not saved is lost") {
  Scene scene;
  scene.AddCluster("east", "cpu=4").AddQueue("a", 1).AddQueue("b", 1);
  Settings settings;
  settings.usage_half_life = Millis(0);
  settings.min_runtime = Millis(0);
  scene.script.initial.emplace_back(SettingsSet{settings});
  scene.script.grace = seconds(20);
  const uint32_t borrower = scene.AddTemplate("a", 1, "cpu=1", 30);
  const uint32_t owner = scene.AddTemplate("b", 1, "cpu=1");
  for (const std::string name : {"a1", "a2", "a3", "a4"}) {
    scene.Submit(name, borrower, 0, 1000);
  }
  scene.Submit("b1", owner, 100, 100);
  const SimulationRecord record = scene.Run();
  CHECK(record.evictions == 1);
  int64_t evicted = 0;
  for (const JobRecord& job : record.jobs) {
    if (job.queue == "b") {
      CHECK(job.first_start == scene.After(120));
      CHECK(job.end == scene.After(220));
    } else if (job.evictions > 0) {
      ++evicted;
      CHECK(job.lost == seconds(10));
      CHECK(job.starts == 2);
      CHECK(job.end == scene.After(220 + 1000 - 90));
    } else {
      CHECK(job.end == scene.After(1000));
    }
  }
  CHECK(evicted == 1);
  // The victim stays charged until it is gone.
  CHECK(Of(record.queues[0].allocated, "cpu") == (3 * 1000 + 120 + 910) * 1000);
}

TEST_CASE("a job that cannot run does not keep the end from coming") {
  Scene scene;
  scene.AddCluster("east", "cpu=1");
  const uint32_t job = scene.AddTemplate("default", 1, "cpu=2");
  scene.Submit("a", job, 0, 5);
  const SimulationRecord record = scene.Run();
  CHECK(record.jobs[0].fate == JobFate::kWaiting);
  REQUIRE(record.waiting.size() == 1);
  CHECK(record.waiting[0].first == "LargerThanFederation");
}

TEST_CASE("samples are thinned, sums stay exact") {
  Scene scene;
  scene.AddCluster("east", "cpu=1");
  scene.script.samples = 8;
  const uint32_t job = scene.AddTemplate("default", 1, "cpu=1");
  for (int i = 0; i < 500; ++i) {
    scene.Submit("j" + std::to_string(i), job, 20 * i, 10);
  }
  const SimulationRecord record = scene.Run();
  CHECK(record.samples.size() <= 17);
  CHECK(record.samples.front().at == record.start);
  CHECK(record.samples.back().at == record.end);
  CHECK(Of(record.queues[0].allocated, "cpu") == 500 * 10 * 1000);
}

TEST_CASE("a script that contradicts itself is refused") {
  Scene scene;
  scene.AddCluster("east", "cpu=1");
  const uint32_t job = scene.AddTemplate("default", 1, "cpu=1");
  SUBCASE("no duration") {
    scene.Submit("a", job, 0, 0);
    CHECK(scene.Error() == "job n/a: its duration is less than 1ms");
  }
  SUBCASE("the same job twice at once") {
    scene.Submit("a", job, 0, 10).Submit("a", job, 5, 10);
    CHECK(scene.Error() == "job n/a is submitted while one of that name is there");
  }
  SUBCASE("the same name again once it is free") {
    scene.Submit("a", job, 0, 10).Submit("a", job, 10, 10);
    CHECK(scene.Error().empty());
  }
  SUBCASE("out of order") {
    scene.Submit("a", job, 5, 10).Submit("b", job, 0, 10);
    CHECK(scene.Error() == "job n/b: submissions are not in order of time, or before the start");
  }
  SUBCASE("an unknown template") {
    scene.Submit("a", job + 1, 0, 10);
    CHECK(scene.Error() == "job n/a: there is no such template");
  }
  SUBCASE("outages that overlap") {
    scene.script.outages.push_back({"east", scene.After(0), scene.After(20), false});
    scene.script.outages.push_back({"east", scene.After(10), scene.After(30), false});
    CHECK(scene.Error() == "cluster east: outages overlap, or end before they begin");
  }
}

/// Of eight pods one is enough.
uint32_t AddPartial(Scene& scene, bool elastic) {
  const uint32_t source = scene.AddTemplate("a", 8, "cpu=1");
  Job& job = scene.script.templates[source].job;
  job.tasks[0].min_available = job.min_available = 1;
  job.elastic = elastic;
  job.split = "never";
  return source;
}

TEST_CASE("a trainer gives pods at once, works slower without them, and gets them back") {
  Scene scene;
  scene.AddCluster("east", "cpu=8").AddQueue("a", 1).AddQueue("b", 1);
  scene.Submit("trainer", AddPartial(scene, true), 0, 1000);
  scene.Submit("urgent", scene.AddTemplate("b", 4, "cpu=1"), 700, 100);
  // Of 1000 s 700 at 8 pods, 300 s at 4 of them until it may grow, then the rest at 8.
  CHECK(Lives(scene.Run()) == "trainer 0-1150 urgent 700-800");
}

TEST_CASE("what runs in waves gives its room when the wave ends") {
  Scene scene;
  scene.AddCluster("east", "cpu=4").AddQueue("a", 1).AddQueue("b", 1);
  scene.script.summary_every = seconds(10);
  scene.Submit("waves", AddPartial(scene, false), 0, 200);
  scene.Submit("urgent", scene.AddTemplate("b", 2, "cpu=1"), 30, 50);
  const SimulationRecord record = scene.Run();
  CAPTURE(Lives(record));
  REQUIRE(record.jobs.size() == 2);
  REQUIRE(record.jobs[1].first_start.has_value());
  CHECK(*record.jobs[1].first_start >= scene.After(200));
  CHECK(*record.jobs[1].first_start <= scene.After(220));
  CHECK(record.evictions == 0);
  CHECK(record.shrinks == 1);
  CHECK(record.jobs[0].shrinks == 1);
  CHECK(record.jobs[1].shrinks == 0);
}

}  // namespace
}  // namespace caldera
