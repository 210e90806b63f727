// Evictions over random small federations: they come to an end, nobody takes back what was taken,
// and everybody gets what it deserves.
#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "federation/planner.h"
#include "federation/round.h"
#include "test/property/draws.h"
#include "test/property/small_objects.h"
#include "test/property/world.h"

namespace caldera::property {
namespace {

/// Everything may be evicted at once and any number of times.
State Eager() {
  State state;
  state.Apply(ClockSet{kNow});
  Settings settings;
  settings.min_runtime = Millis(0);
  settings.evictions_a_day = 1'000'000;
  settings.usage_weight = Pick(2) * 500;
  state.Apply(SettingsSet{settings});
  return state;
}

/// One level or two, some with priorities, floors and ceilings.
std::vector<std::string> AddQueues(State& state, bool plain) {
  std::vector<std::string> leaves;
  const int queues = 2 + Pick(3);
  for (int q = 0; q < queues; ++q) {
    Queue queue;
    queue.name = "q" + std::to_string(q);
    queue.parent = "root";
    queue.weight = 1 + Pick(4);
    queue.creation = Time(Millis(q));
    queue.priority = plain ? 0 : Pick(2);
    queue.reclaimable = plain || Pick(6) > 0;
    if (!plain && Pick(4) == 0) {
      queue.capability = {{"cpu", (1 + Pick(12)) * 1000}};
    }
    state.Apply(QueueUpsert{queue});
    if (!plain && Pick(3) == 0) {
      for (const char* name : {"x", "y"}) {
        Queue child = queue;
        child.name = queue.name + name;
        child.parent = queue.name;
        child.capability = {};
        state.Apply(QueueUpsert{child});
        leaves.push_back(child.name);
      }
    } else {
      leaves.push_back(queue.name);
    }
  }
  return leaves;
}

/// Plans until nothing is left to do; whoever is evicted leaves at once. Who was evicted for whom.
std::vector<std::pair<std::string, std::string>> Settle(State& state) {
  std::vector<std::pair<std::string, std::string>> evicted;
  int64_t intent = 1;
  for (int round = 0;; ++round) {
    RC_ASSERT(round < 200);
    const Plan plan = MakePlan(state);
    for (const Change& change : EffectOf(plan, intent)) {
      state.Apply(change);
    }
    intent += static_cast<int64_t>(plan.actions.size());
    for (const Action& action : plan.actions) {
      if (action.action == ActionKind::kEvict) {
        evicted.emplace_back(action.uid, action.beneficiary_uid);
      }
    }
    const std::set<JobIndex> leaving = state.evicting();
    for (const JobIndex job : leaving) {
      state.Apply(Released{state.job(job).key, state.job(job).uid, 0});
    }
    if (plan.actions.empty()) {
      return evicted;
    }
  }
}

TEST_CASE("property: evictions come to an end and no two jobs evict each other") {
  CHECK(rc::check("no cycle", [] {
    State state = Eager();
    state.Apply(PriorityClassUpsert{{"high", 10, false, true}});
    const int clusters = 1 + Pick(3);
    for (int c = 0; c < clusters; ++c) {
      state.Apply(ClusterUpsert{SomeCluster("c" + std::to_string(c), 4 + Pick(12))});
    }
    const std::vector<std::string> leaves = AddQueues(state, false);
    int number = 0;
    for (int wave = 0; wave < 3; ++wave) {
      const int jobs = 1 + Pick(8);
      for (int j = 0; j < jobs; ++j) {
        const std::string& queue =
            leaves[static_cast<size_t>(Pick(static_cast<int>(leaves.size())))];
        Job job = SomeJob(++number, queue, 1 + Pick(8), Time(Millis(number)));
        job.priority_class = Pick(4) == 0 ? "high" : "";
        job.preemptible = Pick(6) > 0;
        state.Apply(JobUpsert{job});
      }
      // Once more is asked for, others may deserve what was taken; until then nobody takes it back.
      const auto evicted = Settle(state);
      const std::set<std::pair<std::string, std::string>> seen(evicted.begin(), evicted.end());
      for (const auto& [victim, claimant] : seen) {
        RC_ASSERT(!seen.contains({claimant, victim}));
      }
    }
  }));
}

/// A federation in which partial jobs give and grow, minutes after minutes.
class GiveAndTake {
 public:
  /// `plain`: one cluster, pods of one core, and nothing but weights tells the queues apart.
  explicit GiveAndTake(bool plain) : state_(Eager()), plain_(plain) {
    Settings settings = state_.settings();
    settings.usage_half_life = Millis(0);  // What was used lately changes by itself.
    state_.Apply(SettingsSet{settings});
    state_.Apply(PriorityClassUpsert{{"high", 10, false, true}});
    const int clusters = plain ? 1 : 1 + Pick(3);
    for (int c = 0; c < clusters; ++c) {
      state_.Apply(ClusterUpsert{SomeCluster("c" + std::to_string(c), 4 + Pick(12))});
    }
    leaves_ = AddQueues(state_, plain);
  }

  void Submit() { Submit(leaves_[static_cast<size_t>(Pick(static_cast<int>(leaves_.size())))]); }
  void Submit(const std::string& queue) {
    ++number_;
    Job job = SomeJob(number_, queue, plain_ ? 1 : 1 + Pick(3), Time(Millis(number_)));
    job.priority_class = !plain_ && Pick(4) == 0 ? "high" : "";
    job.preemptible = plain_ || Pick(8) > 0;
    job.tasks[0].replicas = 1 + Pick(plain_ ? 30 : 8);
    job.tasks[0].min_available = 1 + Pick(job.tasks[0].replicas);
    job.min_available = job.tasks[0].min_available;
    job.elastic = Pick(2) == 0;
    RC_LOG() << job.uid << ": " << job.min_available << " of " << job.tasks[0].replicas
             << " pods of " << job.tasks[0].request["cpu"] << " in " << queue
             << (job.elastic ? ", elastic" : "") << (job.preemptible ? "" : ", not preemptible")
             << " " << job.priority_class << "\n";
    state_.Apply(JobUpsert{job});
  }

  /// Until nothing was decided for longer than anything is waited for.
  void Settle() {
    gave_.clear();
    int quiet = 0;
    for (int turn = 0; quiet < 8; ++turn) {
      RC_ASSERT(turn < 150);
      quiet = Turn() ? 0 : quiet + 1;
    }
    for (const auto& [action, victim, claimant] : gave_) {
      RC_ASSERT(!gave_.contains({action, claimant, victim}));
    }
  }
  [[nodiscard]] int shrinks() const { return shrinks_; }
  [[nodiscard]] const std::vector<std::string>& leaves() const { return leaves_; }
  [[nodiscard]] const State& state() const { return state_; }

  /// The first job that waits although its queue, with the least that it starts with, would hold
  /// no more than it deserves; empty: none, or room is kept for the first job of a queue that
  /// deserves less, and these run for ever. One that made room for a job that runs takes nothing
  /// back from it in a day.
  [[nodiscard]] std::string Starves() const {
    const Round round(state_);
    const ResourceIndex cpu = state_.resources().Find("cpu");
    for (const Reservation& reservation : state_.reservations()) {
      const JobEntry& holder = state_.job(state_.FindJob(reservation.job));
      if (!reservation.cluster.empty() && round.shares()[holder.queue].held[cpu] == 0) {
        return "";
      }
    }
    for (const JobIndex index : state_.JobsByKey()) {
      const JobEntry& job = state_.job(index);
      const QueueShare& share = round.shares()[job.queue];
      const int64_t floor = state_.spec(job).min_available * int64_t{1000};
      if (job.Pending() && !MadeRoomFor(job) && share.held[cpu] + floor <= share.deserved[cpu]) {
        return job.uid;
      }
    }
    return "";
  }

 private:
  /// Somebody who runs.
  [[nodiscard]] bool MadeRoomFor(const JobEntry& job) const {
    const std::vector<Eviction>& evictions = job.rare().evictions;
    return std::any_of(evictions.begin(), evictions.end(), [&](const Eviction& past) {
      const JobIndex other = state_.FindJob(past.beneficiary, past.beneficiary_uid);
      return other != kNoIndex && state_.job(other).charge.has_value();
    });
  }

  /// A round, and what follows until the next one: who was evicted has left, and of jobs in waves
  /// as many pods run as may. Whether anything was decided.
  bool Turn() {
    const Plan plan = MakePlan(state_);
    for (const Action& action : plan.actions) {
      RC_LOG() << FormatTime(state_.now()) << " " << ActionName(action.action) << " " << action.uid
               << " at " << action.shards.front().PodsAtOnce() << " in "
               << action.shards.front().cluster << ": " << action.reason << "\n";
      if (!action.beneficiary.name.empty()) {
        gave_.insert({action.action, action.uid, action.beneficiary_uid});
        shrinks_ += action.action == ActionKind::kShrink ? 1 : 0;
      }
    }
    for (const Change& change : EffectOf(plan, intent_)) {
      state_.Apply(change);
    }
    intent_ += static_cast<int64_t>(plan.actions.size());
    const std::set<JobIndex> leaving = state_.evicting();
    for (const JobIndex job : leaving) {
      state_.Apply(Released{state_.job(job).key, state_.job(job).uid, 0});
    }
    state_.Apply(ClockSet{state_.now() + Millis(150'000)});
    Report();
    return !plan.actions.empty();
  }

  /// The members and their summaries show the pods of jobs in waves; those beyond a lowered grant
  /// end sooner or later.
  void Report() {
    std::map<std::string, int64_t> used;
    const std::set<JobIndex> waves = state_.waves();
    for (const JobIndex index : waves) {
      JobUpsert upsert{state_.Object(index)};
      const Shard& shard = state_.job(index).charge->shards.front();
      const int64_t each = upsert.job.tasks[0].request.at("cpu");
      const int64_t charged = shard.requests.at("cpu") / each;
      const int64_t running = Pick(2) == 0 ? charged : shard.PodsAtOnce();
      used[shard.cluster] += running * each;
      upsert.job.reports = {{"a", static_cast<int32_t>(running), 0}};
      upsert.job.reported = state_.now();
      state_.Apply(upsert);
    }
    for (const auto& [name, index] : State::ByName(state_.clusters())) {
      ClusterUpsert upsert{*state_.cluster(index).object};
      upsert.cluster.allocated = {{"cpu", used[name]}};
      state_.Apply(upsert);
    }
  }

  State state_;
  const bool plain_;
  std::vector<std::string> leaves_;
  int number_ = 0;
  int64_t intent_ = 1;
  int shrinks_ = 0;
  std::set<std::tuple<ActionKind, std::string, std::string>> gave_;  ///< Who to whom.
};

TEST_CASE("property: who gives pods and gets them back comes to rest, and no two take turns") {
  CHECK(rc::check("no turns without end", [] {
    GiveAndTake federation(false);
    for (int wave = 0; wave < 3; ++wave) {
      for (int j = 1 + Pick(8); j > 0; --j) {
        federation.Submit();
      }
      federation.Settle();
    }
    RC_TAG(federation.shrinks());
  }));
}

TEST_CASE("property: no queue within its deserved starves, whatever its jobs ask for at most") {
  CHECK(rc::check("nobody waits whose floor its queue deserves", [] {
    GiveAndTake federation(true);
    // The queues come one by one, each to a federation that others may fill.
    for (const std::string& queue : federation.leaves()) {
      for (int j = Pick(6); j > 0; --j) {
        federation.Submit(queue);
      }
      federation.Settle();
    }
    RC_ASSERT(federation.Starves() == "");
  }));
}

TEST_CASE("property: by reclaim every queue gets what it deserves") {
  CHECK(rc::check("held >= deserved, where jobs are of one size", [] {
    State state = Eager();
    state.Apply(ClusterUpsert{SomeCluster("c0", 6 + Pick(20))});
    const std::vector<std::string> leaves = AddQueues(state, true);
    int number = 0;
    // The queues come one by one, each to a federation that others may fill.
    for (const std::string& queue : leaves) {
      for (int j = Pick(30); j > 0; --j) {
        ++number;
        state.Apply(JobUpsert{SomeJob(number, queue, 1, Time(Millis(number)))});
      }
      Settle(state);
    }
    const Round round(state);
    const ResourceIndex cpu = state.resources().Find("cpu");
    for (const std::string& queue : leaves) {
      const QueueShare& share = round.shares()[state.queues().find(queue)->second];
      RC_ASSERT(share.held[cpu] / 1000 >= share.deserved[cpu] / 1000);
    }
  }));
}

TEST_CASE("property: more quota never hurts a lone queue") {
  CHECK(rc::check("it holds no less", [] {
    const int64_t room = 4 + Pick(20);
    std::vector<int64_t> sizes(static_cast<size_t>(1 + Pick(8)));
    for (int64_t& size : sizes) {
      size = 1 + Pick(8);
    }
    Queue queue;
    queue.name = "alone";
    queue.parent = "root";
    queue.dequeue_strategy = Pick(4) == 0 ? DequeueStrategy::kFifo : DequeueStrategy::kTraverse;
    const int clusters = 1 + Pick(3);
    const int64_t capability = 1 + Pick(20);
    const int64_t more = Pick(10);
    const auto held = [&](int64_t limit) {
      State state = Eager();
      queue.capability = {{"cpu", limit * 1000}};
      state.Apply(QueueUpsert{queue});
      for (int c = 0; c < clusters; ++c) {
        state.Apply(ClusterUpsert{SomeCluster("c" + std::to_string(c), room)});
      }
      int number = 0;
      for (const int64_t size : sizes) {
        ++number;
        state.Apply(JobUpsert{SomeJob(number, "alone", size, Time(Millis(number)))});
      }
      Settle(state);
      const QueueEntry& entry = state.queue(state.queues().find("alone")->second);
      return entry.charged.ToVector()[state.resources().Find("cpu")];
    };
    RC_ASSERT(held(capability) <= held(capability + more));
  }));
}

TEST_CASE("property: when the load has gone, what was used meets the closed form") {
  CHECK(rc::check("u = sum of held x (2^-(end to now)/H - 2^-(start to now)/H)", [] {
    State state = Eager();
    const auto half_life = static_cast<double>(state.settings().usage_half_life.count());
    state.Apply(ClusterUpsert{SomeCluster("c0", 64)});
    struct Stay {
      int64_t cpu = 0;
      Time from;
      Time to;
    };
    std::vector<Stay> stays;
    std::multimap<Time, std::pair<size_t, bool>> events;
    const auto later = [](Time after) { return after + kUsageGrid * (1 + Pick(20'000)); };
    for (int j = 1 + Pick(8); j > 0; --j) {
      const Time from = later(kNow);
      const Stay stay{1 + Pick(8), from, later(from)};
      events.emplace(stay.from, std::pair(stays.size(), true));
      events.emplace(stay.to, std::pair(stays.size(), false));
      stays.push_back(stay);
    }
    for (const auto& [at, event] : events) {
      const auto& [index, comes] = event;
      const auto number = static_cast<int>(index);
      state.Apply(ClockSet{at});
      if (comes) {
        state.Apply(JobUpsert{SomeJob(number, "default", stays[index].cpu, at)});
      } else {
        state.Apply(JobDelete{{"t", "j" + std::to_string(number)}, "u" + std::to_string(number)});
      }
      for (const Change& change : EffectOf(MakePlan(state), number + 1)) {
        state.Apply(change);
      }
    }
    const Time now = later(events.rbegin()->first);
    state.Apply(ClockSet{now});
    double wanted = 0;
    for (const Stay& stay : stays) {
      const auto left = [&](Time since) {
        return std::exp2(-static_cast<double>((now - since).count()) / half_life);
      };
      wanted += static_cast<double>(stay.cpu) * 1000 * (left(stay.to) - left(stay.from));
    }
    const auto used = state.UsedIn(state.queues().find("default")->second);
    const Int128 amount = UsageOf(used.begin()->second, state.resources().Find("cpu"));
    const double found = static_cast<double>(amount) / kUsageOne;
    RC_ASSERT(std::abs(found - wanted) <= 0.01 + wanted * 1e-6);
  }));
}

}  // namespace
}  // namespace caldera::property
