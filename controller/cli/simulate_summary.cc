#include "controller/cli/simulate_summary.h"

#include <algorithm>
#include <map>

#include "federation/quantity.h"

namespace caldera {
namespace {

constexpr int64_t kMilli = 1000;

WaitFigures WaitsOf(std::vector<Millis> waits) {
  if (waits.empty()) {
    return {};
  }
  std::sort(waits.begin(), waits.end());
  const auto rank = [&](size_t percent) { return waits[(waits.size() * percent + 99) / 100 - 1]; };
  return {rank(50), rank(95), waits.back()};
}

/// amount x span in amount-seconds.
ResourceList SecondsOf(const ResourceList& amounts, Millis span) {
  ResourceList seconds;
  for (const auto& [resource, amount] : amounts) {
    const Int128 sum = Int128{amount} * span.count() / kMilli;
    if (sum > 0) {
      seconds.emplace(resource, static_cast<int64_t>(std::min<Int128>(sum, kUnlimited)));
    }
  }
  return seconds;
}

void Count(const JobRecord& job, QueueFigures& figures) {
  ++figures.jobs;
  figures.done += job.fate == JobFate::kDone ? 1 : 0;
  figures.running += job.fate == JobFate::kRunning ? 1 : 0;
  figures.waiting += job.fate == JobFate::kWaiting ? 1 : 0;
  figures.deleted += job.fate == JobFate::kDeleted ? 1 : 0;
  figures.evictions += job.evictions;
  figures.shrinks += job.shrinks;
  figures.losses += job.losses;
  figures.lost += job.lost;
  if (job.lost > Millis(0)) {
    AddTo(figures.lost_amounts, SecondsOf(job.requests, job.lost));
  }
}

/// The earliest end of all that could be: see SimulationFigures::ideal.
Millis IdealOf(const SimulationRecord& record) {
  std::map<std::string, int64_t> capacity;
  for (const Sample& sample : record.samples) {
    for (ResourceIndex r = 0; r < sample.total.size(); ++r) {
      int64_t& most = capacity[record.resources.Name(r)];
      most = std::max(most, sample.total[r]);
    }
  }
  Int128 ideal = 0;
  std::map<std::string, Int128> work;
  // From the last to the first: what comes from a submission on.
  for (auto job = record.jobs.rbegin(); job != record.jobs.rend(); ++job) {
    if (job->fate != JobFate::kDone) {
      continue;
    }
    const int64_t after = (job->submitted - record.start).count();
    ideal = std::max<Int128>(ideal, Int128{after} + job->duration.count());
    for (const auto& [resource, amount] : job->requests) {
      const auto most = capacity.find(resource);
      Int128& sum = work[resource];
      sum += Int128{amount} * job->duration.count();
      if (most != capacity.end() && most->second > 0 && most->second != kUnlimited) {
        ideal = std::max(ideal, after + sum / most->second);
      }
    }
  }
  return Millis(static_cast<int64_t>(ideal));
}

/// The resource of which the largest part was used.
std::string Busiest(const SimulationFigures& figures) {
  std::string busiest = "cpu";
  int64_t most = 0;
  for (const auto& [resource, allocated] : figures.allocated) {
    const int64_t used = Thousandths(allocated, AmountIn(figures.allocatable, resource));
    if (resource != "pods" && used > most) {
      busiest = resource;
      most = used;
    }
  }
  return busiest;
}

}  // namespace

std::string DecimalOf(int64_t milli) {
  const std::string digits = std::to_string(1000 + milli % 1000);
  return std::to_string(milli / 1000) + "." + digits.substr(1);
}

int64_t Thousandths(int64_t part, int64_t whole) {
  return whole <= 0 ? 0 : static_cast<int64_t>((Int128{part} * kMilli + whole / 2) / whole);
}

int64_t AmountIn(const ResourceList& list, const std::string& resource) {
  const auto it = list.find(resource);
  return it == list.end() ? 0 : it->second;
}

int64_t ShareErrorMilli(const QueueFigures& figures, const std::string& resource) {
  return Thousandths(AmountIn(figures.missed, resource), AmountIn(figures.deserved, resource));
}

SimulationFigures FiguresOf(const SimulationRecord& record, const std::string& resource) {
  SimulationFigures figures;
  std::map<std::string, QueueFigures> queues;
  std::map<std::string, std::vector<Millis>> waits;
  std::vector<Millis> all_waits;
  for (const QueueTotals& totals : record.queues) {
    QueueFigures& queue = queues[totals.queue];
    queue.allocated = totals.allocated;
    queue.deserved = totals.deserved;
    queue.missed = totals.missed;
    AddTo(figures.total.allocated, totals.allocated);
    AddTo(figures.total.deserved, totals.deserved);
    AddTo(figures.total.missed, totals.missed);
  }
  Time last = record.start;
  bool all_ended = !record.stopped;
  for (const JobRecord& job : record.jobs) {
    Count(job, queues[job.queue]);
    Count(job, figures.total);
    if (job.first_start.has_value()) {
      const Millis wait = *job.first_start - job.submitted;
      waits[job.queue].push_back(wait);
      all_waits.push_back(wait);
    }
    all_ended = all_ended && job.end.has_value();
    last = std::max(last, job.end.value_or(last));
  }
  for (auto& [name, queue] : queues) {
    queue.queue = name;
    queue.wait = WaitsOf(std::move(waits[name]));
    // A queue that nobody used says nothing.
    if (queue.jobs > 0 || !queue.allocated.empty()) {
      figures.queues.push_back(std::move(queue));
    }
  }
  figures.total.wait = WaitsOf(std::move(all_waits));
  for (const ClusterTotals& cluster : record.clusters) {
    AddTo(figures.allocated, cluster.allocated);
    AddTo(figures.allocatable, cluster.allocatable);
  }
  figures.span = record.end - record.start;
  if (all_ended) {
    figures.makespan = last - record.start;
  }
  figures.ideal = IdealOf(record);
  figures.resource = resource.empty() ? Busiest(figures) : resource;
  return figures;
}

}  // namespace caldera
