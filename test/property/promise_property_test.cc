// Reservations over random queues in virtual time: no start that was promised is missed.
#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <string>

#include "federation/planner.h"
#include "federation/reservations.h"
#include "federation/round.h"
#include "test/property/draws.h"
#include "test/property/small_objects.h"

namespace caldera::property {
namespace {

/// One queue in virtual time: jobs come, run for as long as they say (or not quite), and go.
class Line {
 public:
  /// `wrong`: each runs for half to twice as long as it says.
  explicit Line(bool wrong) : wrong_(wrong) {
    Settings settings;
    settings.evictions_a_day = 0;
    state_.Apply(ClockSet{kNow});
    state_.Apply(SettingsSet{settings});
    const int clusters = 1 + Pick(2);
    for (int c = 0; c < clusters; ++c) {
      state_.Apply(ClusterUpsert{SomeCluster("c" + std::to_string(c), 8)});
    }
    const int jobs = 4 + Pick(16);
    for (int j = 0; j < jobs; ++j) {
      Job job = SomeJob(j, "default", 1 + Pick(8), kNow + std::chrono::minutes(Pick(120)));
      job.running_estimate = std::chrono::minutes(1 + Pick(90));
      arrivals_.emplace(job.creation, job);
    }
  }

  /// Until all have run. No start that was promised is missed by more than all that ran over.
  void Run() {
    while (!arrivals_.empty() || !ends_.empty()) {
      Time next = arrivals_.empty() ? ends_.begin()->first : arrivals_.begin()->first;
      next = ends_.empty() ? next : std::min(next, ends_.begin()->first);
      state_.Apply(ClockSet{next});
      while (!ends_.empty() && ends_.begin()->first <= next) {
        state_.Apply(JobDelete{ends_.begin()->second, "u" + ends_.begin()->second.name.substr(1)});
        ends_.erase(ends_.begin());
      }
      while (!arrivals_.empty() && arrivals_.begin()->first <= next) {
        state_.Apply(JobUpsert{arrivals_.begin()->second});
        arrivals_.erase(arrivals_.begin());
      }
      Decide();
    }
    RC_ASSERT(promised_.empty());
  }

 private:
  void Decide() {
    const Plan plan = MakePlan(state_);
    for (const Change& change : EffectOf(plan, intent_)) {
      state_.Apply(change);
    }
    intent_ += static_cast<int64_t>(plan.actions.size());
    for (const Action& action : plan.actions) {
      const JobEntry& job = state_.job(state_.FindJob(action.job));
      const Millis says = *state_.spec(job).running_estimate;
      const Millis runs = wrong_ ? says * (50 + Pick(151)) / 100 : says;
      over_ += std::max(runs - says, Millis(0));
      ends_.emplace(state_.now() + runs, action.job);
      if (const auto promise = promised_.find(action.job); promise != promised_.end()) {
        RC_ASSERT(state_.now() <= promise->second + over_);
        promised_.erase(promise);
      }
    }
    const Round round(state_);
    const Reservations reservations(round);
    for (const Reservations::Booking& booking : reservations.bookings()) {
      if (booking.start.has_value()) {
        Time& promise =
            promised_.try_emplace(booking.reservation.job, *booking.start).first->second;
        promise = std::min(promise, *booking.start);
      }
    }
  }

  const bool wrong_;
  Millis over_{0};  ///< What jobs ran longer than they said, of all that have started.
  State state_;
  int64_t intent_ = 1;
  std::multimap<Time, Job> arrivals_;
  std::multimap<Time, JobKey> ends_;
  std::map<JobKey, Time> promised_;
};

TEST_CASE("property: no start that was promised is missed where estimates are right") {
  CHECK(rc::check("start <= promise, and every reservation ends", [] { Line(false).Run(); }));
}

TEST_CASE("property: wrong estimates delay a promised start by no more than they are wrong") {
  CHECK(rc::check("start <= promise + all overruns", [] { Line(true).Run(); }));
}

}  // namespace
}  // namespace caldera::property
