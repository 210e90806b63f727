#include "controller/run/metrics.h"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <array>
#include <set>
#include <tuple>
#include <utility>

namespace caldera {
namespace {

using prometheus::BuildCounter;
using prometheus::BuildGauge;
using prometheus::BuildHistogram;
using prometheus::Counter;
using prometheus::Family;
using prometheus::Gauge;
using prometheus::Histogram;

double AsDouble(uint64_t count) { return static_cast<double>(count); }

/// The gauges of a family whose labels come and go: what a round does not set is taken out.
class Roster {
 public:
  explicit Roster(Family<Gauge>& family) : family_(family) {}

  void Set(const std::map<std::string, std::string>& labels, double value) {
    Gauge& gauge = family_.Add(labels);
    gauge.Set(value);
    now_.insert(&gauge);
  }
  void EndRound() {
    for (Gauge* const gauge : before_) {
      if (!now_.contains(gauge)) {
        family_.Remove(gauge);
      }
    }
    before_ = std::exchange(now_, {});
  }

 private:
  Family<Gauge>& family_;
  std::set<Gauge*> before_;
  std::set<Gauge*> now_;
};

}  // namespace

class Metrics::Impl {
 public:
  Family<Histogram>& MakeHistogram(const char* name, const char* help) {
    return BuildHistogram().Name(name).Help(help).Register(registry);
  }
  Family<Counter>& MakeCounter(const char* name, const char* help) {
    return BuildCounter().Name(name).Help(help).Register(registry);
  }
  Family<Gauge>& MakeGauge(const char* name, const char* help) {
    return BuildGauge().Name(name).Help(help).Register(registry);
  }

  prometheus::Registry registry;
  // The table: every metric with its labels and meaning.
  Family<Histogram>& cycle_seconds = MakeHistogram(
      "caldera_cycle_duration_seconds", "From the changes of a cycle to its plan on disk.");
  Family<Counter>& cycles = MakeCounter(
      "caldera_cycles_total", "Cycles by result: success, error (the ledger was not written).");
  Family<Counter>& changes = MakeCounter("caldera_changes_total", "Changes that were observed.");
  Family<Counter>& actions = MakeCounter("caldera_actions_total", "Actions that plans decided.");
  Family<Counter>& refused =
      MakeCounter("caldera_refused_objects_total", "Objects that intake refused, by kind.");
  Family<Counter>& requests =
      MakeCounter("caldera_api_requests_total",
                  "Requests to API servers by verb, kind and code (0: none came).");
  Roster jobs{
      MakeGauge("caldera_queue_jobs", "Jobs by queue and phase: pending, placed, terminal.")};
  Roster clusters{MakeGauge("caldera_cluster_ready", "1 where the cluster is Ready, by cluster.")};
  Family<Gauge>& singles = MakeGauge("caldera_controller_state", "State of this replica, by name.");

  Histogram& cycle_histogram = cycle_seconds.Add(
      {}, Histogram::BucketBoundaries{0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 5});

  void SetSingle(const char* name, double value) { singles.Add({{"name", name}}).Set(value); }

  static void RaiseTo(Counter& counter, double total) {
    if (total > counter.Value()) {
      counter.Increment(total - counter.Value());
    }
  }
};

Metrics::Metrics() : impl_(std::make_unique<Impl>()) {}
Metrics::~Metrics() = default;

void Metrics::CycleDone(double seconds, size_t changes, size_t actions, size_t pending) {
  impl_->cycle_histogram.Observe(seconds);
  impl_->cycles.Add({{"result", "success"}}).Increment();
  impl_->changes.Add({}).Increment(AsDouble(changes));
  impl_->actions.Add({}).Increment(AsDouble(actions));
  impl_->SetSingle("pending_jobs", AsDouble(pending));
}

void Metrics::CycleFailed() { impl_->cycles.Add({{"result", "error"}}).Increment(); }

void Metrics::RefusedObject(const std::string& kind) {
  impl_->refused.Add({{"kind", kind}}).Increment();
}

void Metrics::SetLeader(bool leading) { impl_->SetSingle("leader", leading ? 1 : 0); }
void Metrics::SetSynced(bool synced) { impl_->SetSingle("synced", synced ? 1 : 0); }

void Metrics::SetLedger(int64_t cycle, int64_t wal_bytes) {
  impl_->SetSingle("ledger_cycle", static_cast<double>(cycle));
  impl_->SetSingle("ledger_wal_bytes", static_cast<double>(wal_bytes));
}

void Metrics::SetUnobservedFailures(uint64_t count) {
  impl_->SetSingle("unobserved_failures", AsDouble(count));
}

void Metrics::SetRequests(const std::map<RequestCount, uint64_t>& counts) {
  for (const auto& [key, total] : counts) {
    Impl::RaiseTo(
        impl_->requests.Add(
            {{"verb", key.verb}, {"kind", key.kind}, {"code", std::to_string(key.status)}}),
        AsDouble(total));
  }
}

void Metrics::SetState(const State& state) {
  std::map<QueueIndex, std::array<uint64_t, 3>> by_queue;
  state.VisitJobs([&](JobIndex /*index*/, const JobEntry& job) {
    ++by_queue[job.queue].at(job.terminal ? 2 : job.charge.has_value() ? 1 : 0);
  });
  constexpr std::array<const char*, 3> kPhases = {"pending", "placed", "terminal"};
  for (const auto& [name, index] : state.queues()) {
    const auto counts = by_queue.find(index);
    if (counts == by_queue.end() && !state.queue(index).object.has_value()) {
      continue;  // A name that only jobs gone by now have used.
    }
    for (size_t phase = 0; phase < kPhases.size(); ++phase) {
      impl_->jobs.Set({{"queue", name}, {"phase", kPhases.at(phase)}},
                      counts == by_queue.end() ? 0 : AsDouble(counts->second.at(phase)));
    }
  }
  impl_->jobs.EndRound();
  for (const auto& [name, index] : state.clusters()) {
    const auto& object = state.cluster(index).object;
    if (object.has_value()) {
      impl_->clusters.Set({{"cluster", name}}, object->ready ? 1 : 0);
    }
  }
  impl_->clusters.EndRound();
}

std::string Metrics::Text() const {
  return prometheus::TextSerializer().Serialize(impl_->registry.Collect());
}

}  // namespace caldera
