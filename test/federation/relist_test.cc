#include "federation/relist.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "federation/codec.h"

namespace caldera {
namespace {

Time At(int64_t ms) { return Time(Millis(ms)); }

Job MakeJob(const std::string& name, const std::string& uid) {
  Job job;
  job.key = {"ns", name};
  job.uid = uid;
  job.queue = "default";
  job.creation = At(1);
  job.min_available = 2;
  job.tasks = {{"t", 2, 2, {{"cpu", 1000}, {"pods", 1}}, {}, {}, {}}};
  return job;
}

Queue MakeQueue(const std::string& name) {
  Queue queue;
  queue.name = name;
  queue.parent = "root";
  return queue;
}

Cluster MakeCluster(const std::string& name) {
  Cluster cluster;
  cluster.name = name;
  return cluster;
}

std::vector<std::string> Texts(const std::vector<Change>& changes) {
  std::vector<std::string> texts;
  texts.reserve(changes.size());
  for (const Change& change : changes) {
    texts.push_back(EncodeChange(change));
  }
  return texts;
}

void ApplyAll(State& state, const std::vector<Change>& changes) {
  for (const Change& change : changes) {
    state.Apply(change);
  }
}

TEST_CASE("relist: what refers comes after what it refers to, deletes the other way round") {
  const std::vector<Change> observed = {JobUpsert{MakeJob("j", "u")},
                                        PodUpsert{{"c", "ns", "p", "n", {}, false, "", ""}},
                                        NodeUpsert{{"c", "n", {}, {}, false, true, {}}},
                                        ClusterUpsert{MakeCluster("c")},
                                        TenantQuotaUpsert{{"ns", "q", {}, {}, 1}},
                                        QueueUpsert{MakeQueue("gold")},
                                        NamespaceUpsert{{"ns", false}},
                                        PriorityClassUpsert{{"high", 1, false, true}},
                                        HyperNodeUpsert{{"c", "s0", 1, "", {}}}};
  State state;
  const std::vector<Change> all = Relist(state, At(10), observed);
  std::vector<std::string> kinds;
  for (const std::string& text : Texts(all)) {
    kinds.push_back(text.substr(11, text.find('"', 11) - 11));
  }
  CHECK(kinds == std::vector<std::string>{"ClockSet", "PriorityClassUpsert", "NamespaceUpsert",
                                          "QueueUpsert", "TenantQuotaUpsert", "ClusterUpsert",
                                          "NodeUpsert", "HyperNodeUpsert", "PodUpsert",
                                          "JobUpsert"});
  ApplyAll(state, all);
  CHECK(Texts(Relist(state, At(20), observed)) ==
        std::vector<std::string>{EncodeChange(ClockSet{At(20)})});
  CHECK(Texts(Relist(state, At(30), {})) ==
        Texts({ClockSet{At(30)}, JobDelete{{"ns", "j"}, "u"}, PodDelete{"c", "ns", "p"},
               HyperNodeDelete{"c", "s0"}, NodeDelete{"c", "n"}, ClusterDelete{"c"},
               TenantQuotaDelete{"ns", "q"}, QueueDelete{"gold"}, NamespaceDelete{"ns"},
               PriorityClassDelete{"high"}}));
  // The order of observation does not matter.
  std::vector<Change> reversed(observed.rbegin(), observed.rend());
  CHECK(Texts(Relist(State(), At(10), reversed)) == Texts(all));
}

TEST_CASE("relist: only what differs is sent") {
  State state;
  Queue gold = MakeQueue("gold");
  ApplyAll(state, Relist(state, At(1), {QueueUpsert{gold}, QueueUpsert{MakeQueue("iron")}}));
  gold.weight = 7;
  CHECK(Texts(Relist(state, At(2), {QueueUpsert{MakeQueue("iron")}, QueueUpsert{gold}})) ==
        Texts({ClockSet{At(2)}, QueueUpsert{gold}}));
}

TEST_CASE("relist: what a job holds outlives a listing without its placement") {
  State state;
  const std::vector<Change> observed = {JobUpsert{MakeJob("j", "u")}};
  ApplyAll(state, Relist(state, At(1), observed));
  state.Apply(
      Placed{{"ns", "j"}, "u", 1, At(1), {{"c", 1, "", {{"t", 2, 2}}, 2, {{"cpu", 2000}}}}});
  CHECK(Relist(state, At(2), observed).size() == 1);
  REQUIRE(state.job(state.FindJob({"ns", "j"})).charge.has_value());

  Job done = MakeJob("j", "u");
  done.terminal = true;
  const std::vector<Change> ended = Relist(state, At(3), {JobUpsert{done}});
  CHECK(Texts(ended) == Texts({ClockSet{At(3)}, JobUpsert{done}}));
  ApplyAll(state, ended);
  CHECK_FALSE(state.job(state.FindJob({"ns", "j"})).charge.has_value());
}

TEST_CASE("relist: a job made again under the same name is another job") {
  State state;
  ApplyAll(state, Relist(state, At(1), {JobUpsert{MakeJob("j", "u1")}}));
  CHECK(Texts(Relist(state, At(2), {JobUpsert{MakeJob("j", "u2")}})) ==
        Texts({ClockSet{At(2)}, JobDelete{{"ns", "j"}, "u1"}, JobUpsert{MakeJob("j", "u2")}}));
}

TEST_CASE("relist: an object without a creation time keeps its place") {
  State state;
  Job job = MakeJob("j", "u");
  job.creation = At(5);  // What intake gives at 5 to a job that carries none.
  ApplyAll(state, Relist(state, At(5), {JobUpsert{job}}));
  job.creation = At(9);
  CHECK(Relist(state, At(9), {JobUpsert{job}}).size() == 1);
  job.hold = true;
  const std::vector<Change> held = Relist(state, At(9), {JobUpsert{job}});
  REQUIRE(held.size() == 2);
  CHECK(std::get<JobUpsert>(held[1]).job.creation == At(5));
}

TEST_CASE("relist: settings change only where they are given") {
  State state;
  state.Apply(SettingsSet{{Millis(1), Millis(2)}});
  CHECK(Relist(state, At(1), {}).size() == 1);
  CHECK(Relist(state, At(1), {SettingsSet{{Millis(1), Millis(2)}}}).size() == 1);
  CHECK(Texts(Relist(state, At(1), {SettingsSet{{Millis(1), Millis(3)}}})) ==
        Texts({ClockSet{At(1)}, SettingsSet{{Millis(1), Millis(3)}}}));
}

TEST_CASE("relist: the queues that exist by themselves are not deleted") {
  CHECK(Relist(State(), At(1), {}).size() == 1);
  State state;
  state.Apply(QueueUpsert{MakeQueue("default")});
  CHECK(Texts(Relist(state, At(1), {})) == Texts({ClockSet{At(1)}, QueueDelete{"default"}}));
}

}  // namespace
}  // namespace caldera
