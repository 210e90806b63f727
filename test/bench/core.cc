// bench_core OUT.json [--smoke]: the decision alone, in memory: the rows of the Speed table
// that need no disk, each the least of five runs. --smoke takes a thousandth of the jobs, once.
#include <malloc.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "federation/planner.h"
#include "federation/round.h"
#include "federation/shares.h"
#include "test/bench/arguments.h"
#include "test/bench/bench_world.h"
#include "test/bench/report.h"

namespace caldera::bench {
namespace {

constexpr double kMilli = 1e3;
constexpr double kMicro = 1e6;

class Core {
 public:
  explicit Core(bool smoke)
      : scale_(smoke ? 1000 : 1), runs_(smoke ? 1 : 5), events_(smoke ? 5 : 100) {}

  std::vector<Measure> Run() {
    Rounds();
    Ripe();
    Entitlement(1000);
    Entitlement(10'000);
    Armada("b4_round", 100, 10, 32'000);
    Armada("b5_round", 1000, 1, 320'000);
    return std::move(measures_);
  }

 private:
  void Add(const std::string& name, double value, const char* unit) {
    measures_.push_back({name, value, unit});
  }

  [[nodiscard]] WorldSize Size(int64_t pending, int shapes) const {
    WorldSize size;
    size.pending = pending / scale_;
    size.shapes = shapes;
    if (scale_ > 1) {
      size.queues = 100;
      size.clusters = 4;
    }
    return size;
  }

  static size_t Allocated() {
    const struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
  }

  /// A State with its jobs, and what each costs, names apart.
  State Loaded(const WorldSize& size, bool measure) {
    State state = EmptyWorld(size);
    const size_t before = Allocated();
    const double start = ProcessorSeconds();
    double names = 0;
    for (int64_t i = 0; i < size.pending; ++i) {
      const JobUpsert upsert{WorldJob(size, i)};
      names += static_cast<double>(upsert.job.key.ns.size() + upsert.job.key.name.size() +
                                   upsert.job.uid.size());
      state.Apply(upsert);
    }
    if (measure) {
      const double bytes = static_cast<double>(Allocated() - before) - names;
      Add("bytes_per_pending", bytes / static_cast<double>(size.pending), "B");
      Add("load_1m", (ProcessorSeconds() - start) * kMilli, "ms");
    }
    return state;
  }

  double RoundOf(const State& state, size_t& placed) const {
    return Least(runs_, [&] { placed = MakePlan(state).actions.size(); });
  }

  /// The full round, and what follows it.
  void Rounds() {
    size_t placed = 0;
    {
      const State state = Loaded(Size(1'000'000, 1024), false);
      Add("round_1m_s1024", RoundOf(state, placed) * kMilli, "ms");
    }
    const WorldSize size = Size(1'000'000, 64);
    State state = Loaded(size, true);
    const double round = RoundOf(state, placed);
    Add("round_1m_s64", round * kMilli, "ms");
    Add("round_1m_s64.placements", static_cast<double>(placed), "jobs");
    int64_t intent = 1;
    GrowthOfRound(round / static_cast<double>(std::max<size_t>(placed, 1)));
    Fill(state, intent);
    const double nothing = RoundOf(state, placed);
    Add("nothing_fits_1m", nothing * kMicro, "us");
    Events(state, intent, "");
    Fill(state, intent);
    KeepWaiting(state, 10'000 / scale_);
    Add("growth_nothing_fits", nothing / RoundOf(state, placed), "x");
  }

  /// The same once everybody has run for long enough to be evicted.
  void Ripe() {
    State state = Loaded(Size(1'000'000, 64), false);
    int64_t intent = 1;
    Fill(state, intent);
    Ripen(state, intent);
    size_t placed = 0;
    Add("nothing_fits_1m_ripe", RoundOf(state, placed) * kMicro, "us");
    Events(state, intent, "_ripe");
  }

  void Events(State& state, int64_t& intent, const std::string& suffix) {
    double median = 1e9;
    double most = 1e9;
    for (int run = 0; run < runs_; ++run) {
      const std::vector<double> spans = EventSpans(state, intent);
      median = std::min(median, spans[spans.size() / 2]);
      most = std::min(most, spans[(spans.size() - 1) * 99 / 100]);
    }
    Add("event_p50" + suffix, median * kMicro, "us");
    Add("event_p99" + suffix, most * kMicro, "us");
  }

  /// A job ends: until the plan that follows is in effect. Ascending.
  [[nodiscard]] std::vector<double> EventSpans(State& state, int64_t& intent) const {
    std::vector<std::pair<JobKey, std::string>> running;
    for (const JobIndex job : state.JobsByKey()) {
      if (state.job(job).charge.has_value()) {
        running.emplace_back(state.job(job).key, state.job(job).uid);
      }
    }
    std::vector<double> spans;
    const size_t step = std::max<size_t>(running.size() / static_cast<size_t>(events_), 1);
    for (size_t k = 0; k < running.size() && spans.size() < static_cast<size_t>(events_);
         k += step) {
      const double start = ProcessorSeconds();
      state.Apply(JobDelete{running[k].first, running[k].second});
      TakeEffect(state, MakePlan(state), intent);
      spans.push_back(ProcessorSeconds() - start);
    }
    std::sort(spans.begin(), spans.end());
    return spans;
  }

  /// What a placement costs among so many, over what it costs among a tenth of them.
  void GrowthOfRound(double per_placement_1m) {
    const State state = Loaded(Size(100'000, 64), false);
    size_t placed = 0;
    const double round = RoundOf(state, placed);
    const double per_placement = round / static_cast<double>(std::max<size_t>(placed, 1));
    Add("growth_round", per_placement_1m / per_placement, "x");
  }

  /// So many of those that wait stay.
  static void KeepWaiting(State& state, int64_t count) {
    std::vector<Change> gone;
    for (const JobIndex index : state.JobsByKey()) {
      const JobEntry& job = state.job(index);
      if (job.Pending() && --count < 0) {
        gone.emplace_back(JobDelete{job.key, job.uid});
      }
    }
    for (const Change& change : gone) {
      state.Apply(change);
    }
  }

  /// Shares over the whole tree, demand and clusters given.
  void Entitlement(int queues) {
    WorldSize size = Size(20'000, 64);
    size.queues = queues;
    size.pending = 20'000;
    const State state = Loaded(size, false);
    const QueueTree tree(state);
    const std::vector<ClusterView> clusters = ViewClusters(state);
    std::vector<ResourceVector> demand(tree.size());
    for (const Lane& lane : state.lanes()) {
      if (!lane.waiting.empty()) {
        demand[lane.queue].Add(lane.asked.ToVector());
      }
    }
    const double span =
        Least(4 * runs_, [&] { static_cast<void>(ShareOut(state, tree, clusters, demand)); });
    Add(queues == 1000 ? "entitlement_1000" : "entitlement_10000", span * kMicro, "us");
  }

  /// Armada's steady state: nodes of 32 cores, all taken, so many jobs of a core in each queue.
  void Armada(const char* name, int64_t nodes, int queues, int64_t jobs) {
    State state;
    state.Apply(ClockSet{Time(std::chrono::hours(24 * 365 * 50))});
    ClusterUpsert cluster;
    cluster.cluster.name = "armada";
    cluster.cluster.ready = true;
    cluster.cluster.has_summary = true;
    cluster.cluster.allocatable = {{"cpu", nodes * 32'000}, {"memory", (nodes * 128) << 30U}};
    state.Apply(cluster);
    for (int q = 0; q < queues; ++q) {
      QueueUpsert queue;
      queue.queue.name = "q" + std::to_string(q);
      queue.queue.parent = std::string(kRootQueue);
      state.Apply(queue);
      JobUpsert job;
      job.job.queue = queue.queue.name;
      job.job.min_available = 1;
      job.job.tasks.resize(1);
      job.job.tasks[0].name = "main";
      job.job.tasks[0].replicas = 1;
      job.job.tasks[0].min_available = 1;
      job.job.tasks[0].request = {{"cpu", 1000}, {"memory", int64_t{4} << 30U}, {"pods", 1}};
      for (int64_t i = 0; i < jobs / scale_; ++i) {
        job.job.key = {"bench", queue.queue.name + "-" + std::to_string(i)};
        job.job.uid = job.job.key.name;
        state.Apply(job);
      }
    }
    int64_t intent = 1;
    Fill(state, intent);
    size_t placed = 0;
    Add(name, RoundOf(state, placed) * kMilli, "ms");
  }

  int scale_;
  int runs_;
  int events_;
  std::vector<Measure> measures_;
};

}  // namespace
}  // namespace caldera::bench

int main(int argc, char** argv) {
  using namespace caldera::bench;
  const auto arguments = ReadArguments(argc, argv, 1, 1, SmallRun::kSmoke);
  if (!arguments.has_value()) {
    std::fputs("usage: bench_core OUT.json [--smoke]\n", stderr);
    return 2;
  }
  return Report(arguments->words[0], Core(arguments->smoke).Run()) ? 0 : 1;
}
