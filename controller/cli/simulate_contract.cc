#include <array>
#include <utility>

#include "controller/cli/contract.h"
#include "controller/cli/csv.h"
#include "controller/cli/scenario.h"
#include "controller/cli/simulate_output.h"

namespace caldera {
namespace {

/// Thousandths as a number: `0.873`.
Value Milli(int64_t milli) { return {Value::Decimal{DecimalOf(milli)}}; }

/// Seconds as a number.
Value Seconds(Millis span) {
  return span.count() % 1000 == 0 ? Value(span.count() / 1000) : Milli(span.count());
}

Value TimeOf(const std::optional<Time>& time) {
  return time.has_value() ? Value(FormatTime(*time)) : Value();
}

std::string_view FateName(JobFate fate) {
  switch (fate) {
    case JobFate::kWaiting:
      return "Waiting";
    case JobFate::kRunning:
      return "Running";
    case JobFate::kDone:
      return "Done";
    case JobFate::kDeleted:
      return "Deleted";
  }
  return "Unknown";
}

Value::Map QueueMembers(const QueueFigures& queue, const std::string& resource) {
  return {{"jobs", queue.jobs, {}},
          {"done", queue.done, {}},
          {"running", queue.running, {}},
          {"waiting", queue.waiting, {}},
          {"deleted", queue.deleted, {}},
          {"waitP50Seconds", Seconds(queue.wait.p50), {}},
          {"waitP95Seconds", Seconds(queue.wait.p95), {}},
          {"waitMaxSeconds", Seconds(queue.wait.most), {}},
          {"allocatedSeconds", AmountsValue(queue.allocated), {}},
          {"deservedSeconds", AmountsValue(queue.deserved), {}},
          {"missedSeconds", AmountsValue(queue.missed), {}},
          {"shareError", Milli(ShareErrorMilli(queue, resource)), {}},
          {"evictions", queue.evictions, {}},
          {"shrinks", queue.shrinks, {}},
          {"losses", queue.losses, {}},
          {"lostSeconds", AmountsValue(queue.lost_amounts), {}}};
}

Value TotalValue(const SimulationRecord& record, const SimulationFigures& figures) {
  Value::Map total = QueueMembers(figures.total, figures.resource);
  const auto add = [&](const char* key, Value value) {
    total.push_back({key, std::move(value), {}});
  };
  add("makespanSeconds", figures.makespan.has_value() ? Seconds(*figures.makespan) : Value());
  add("idealSeconds", Seconds(figures.ideal));
  add("makespanOverIdeal",
      figures.makespan.has_value() && figures.ideal > Millis(0)
          ? Milli(Thousandths(figures.makespan->count(), figures.ideal.count()))
          : Value());
  add("utilisation", Milli(Thousandths(AmountIn(figures.allocated, figures.resource),
                                       AmountIn(figures.allocatable, figures.resource))));
  add("lostWork", Milli(Thousandths(AmountIn(figures.total.lost_amounts, figures.resource),
                                    AmountIn(figures.allocated, figures.resource))));
  add("allocatableSeconds", AmountsValue(figures.allocatable));
  add("instants", record.instants);
  add("rounds", record.rounds);
  add("placements", record.placements);
  Value::Map waiting;
  for (const auto& [verdict, count] : record.waiting) {
    waiting.push_back({verdict, count, {}});
  }
  add("stillWaiting", std::move(waiting));
  return {std::move(total)};
}

Value ClusterValue(const ClusterTotals& cluster, const std::string& resource) {
  return {Value::Map{{"cluster", cluster.cluster, {}},
                     {"allocatedSeconds", AmountsValue(cluster.allocated), {}},
                     {"allocatableSeconds", AmountsValue(cluster.allocatable), {}},
                     {"utilisation",
                      Milli(Thousandths(AmountIn(cluster.allocated, resource),
                                        AmountIn(cluster.allocatable, resource))),
                      {}}}};
}

Value SampleValue(const SimulationRecord& record, const Sample& sample) {
  const auto amounts = [&](const ResourceVector& vector) {
    return AmountsValue(ToList(record.resources, vector));
  };
  Value::List queues;
  for (const QueueSample& queue : sample.queues) {
    queues.emplace_back(Value::Map{{"queue", record.queues[queue.queue].queue, {}},
                                   {"waiting", queue.waiting, {}},
                                   {"running", queue.running, {}},
                                   {"allocated", amounts(queue.allocated), {}},
                                   {"deserved", amounts(queue.deserved), {}}});
  }
  Value::List clusters;
  for (size_t c = 0; c < sample.clusters.size(); ++c) {
    clusters.emplace_back(Value::Map{{"cluster", record.clusters[c].cluster, {}},
                                     {"allocated", amounts(sample.clusters[c]), {}}});
  }
  return {Value::Map{{"at", FormatTime(sample.at), {}},
                     {"waiting", sample.waiting, {}},
                     {"running", sample.running, {}},
                     {"total", amounts(sample.total), {}},
                     {"allocated", amounts(sample.allocated), {}},
                     {"queues", std::move(queues), {}},
                     {"clusters", std::move(clusters), {}}}};
}

Value JobValue(const JobRecord& job) {
  return {Value::Map{{"job", job.key.ToString(), {}},
                     {"queue", job.queue, {}},
                     {"fate", std::string(FateName(job.fate)), {}},
                     {"submitted", FormatTime(job.submitted), {}},
                     {"firstStart", TimeOf(job.first_start), {}},
                     {"end", TimeOf(job.end), {}},
                     {"durationSeconds", Seconds(job.duration), {}},
                     {"starts", job.starts, {}},
                     {"evictions", job.evictions, {}},
                     {"shrinks", job.shrinks, {}},
                     {"losses", job.losses, {}},
                     {"lostSeconds", Seconds(job.lost), {}},
                     {"cluster", job.cluster, {}},
                     {"requests", AmountsValue(job.requests), {}}}};
}

// ------------------------------------------------------------------------------------------ CSV

void WriteRow(std::ostream& out, const std::vector<std::string>& cells) { out << CsvRow(cells); }

std::string SecondsText(Millis span) { return Seconds(span).Brief(); }

class CsvWriter {
 public:
  CsvWriter(const SimulationRecord& record, const SimulationFigures& figures, std::ostream& out)
      : record_(record), figures_(figures), out_(out) {}

  void Queues() {
    WriteRow(out_, {"queue", "resource", "jobs", "done", "running", "waiting", "deleted",
                    "waitP50Seconds", "waitP95Seconds", "waitMaxSeconds", "allocatedSeconds",
                    "deservedSeconds", "missedSeconds", "shareError", "evictions", "losses",
                    "lostSeconds", "shrinks"});
    for (const QueueFigures& queue : figures_.queues) {
      WriteRow(out_, {queue.queue, Resource(), std::to_string(queue.jobs),
                      std::to_string(queue.done), std::to_string(queue.running),
                      std::to_string(queue.waiting), std::to_string(queue.deleted),
                      SecondsText(queue.wait.p50), SecondsText(queue.wait.p95),
                      SecondsText(queue.wait.most), Amount(queue.allocated), Amount(queue.deserved),
                      Amount(queue.missed), Milli(ShareErrorMilli(queue, Resource())).Brief(),
                      std::to_string(queue.evictions), std::to_string(queue.losses),
                      Amount(queue.lost_amounts), std::to_string(queue.shrinks)});
    }
  }

  void Clusters() {
    WriteRow(out_,
             {"cluster", "resource", "allocatedSeconds", "allocatableSeconds", "utilisation"});
    for (const ClusterTotals& cluster : record_.clusters) {
      WriteRow(out_,
               {cluster.cluster, Resource(), Amount(cluster.allocated), Amount(cluster.allocatable),
                Milli(Thousandths(AmountIn(cluster.allocated, Resource()),
                                  AmountIn(cluster.allocatable, Resource())))
                    .Brief()});
    }
  }

  void Jobs() {
    WriteRow(out_, {"job", "queue", "fate", "submitted", "firstStart", "end", "durationSeconds",
                    "starts", "evictions", "losses", "lostSeconds", "cluster", "shrinks"});
    const auto time = [](const std::optional<Time>& t) {
      return t.has_value() ? FormatTime(*t) : std::string();
    };
    for (const JobRecord& job : record_.jobs) {
      WriteRow(out_, {job.key.ToString(), job.queue, std::string(FateName(job.fate)),
                      FormatTime(job.submitted), time(job.first_start), time(job.end),
                      SecondsText(job.duration), std::to_string(job.starts),
                      std::to_string(job.evictions), std::to_string(job.losses),
                      SecondsText(job.lost), job.cluster, std::to_string(job.shrinks)});
    }
  }

  void Samples() {
    WriteRow(out_, {"at", "queue", "resource", "waiting", "running", "allocated", "deserved"});
    const ResourceIndex r = record_.resources.Find(Resource());
    const auto amount = [&](const ResourceVector& vector) {
      return FormatAmount(Resource(), r == ResourceCatalog::kNone ? 0 : vector[r]);
    };
    for (const Sample& sample : record_.samples) {
      for (const QueueSample& queue : sample.queues) {
        WriteRow(out_, {FormatTime(sample.at), record_.queues[queue.queue].queue, Resource(),
                        std::to_string(queue.waiting), std::to_string(queue.running),
                        amount(queue.allocated), amount(queue.deserved)});
      }
    }
  }

 private:
  [[nodiscard]] const std::string& Resource() const { return figures_.resource; }
  [[nodiscard]] std::string Amount(const ResourceList& list) const {
    return FormatAmount(Resource(), AmountIn(list, Resource()));
  }

  const SimulationRecord& record_;
  const SimulationFigures& figures_;
  std::ostream& out_;
};

}  // namespace

void WriteSimulation(const SimulationRecord& record, const SimulationFigures& figures,
                     Format format, bool jobs, std::ostream& out) {
  SectionWriter writer(out, format);
  writer.Member("apiVersion", std::string(kScenarioVersion));
  writer.Member("start", FormatTime(record.start));
  writer.Member("end", FormatTime(record.end));
  writer.Member("stopped", record.stopped);
  writer.Member("resource", figures.resource);
  writer.Member("total", TotalValue(record, figures));
  writer.BeginList("queues");
  for (const QueueFigures& queue : figures.queues) {
    Value::Map members = QueueMembers(queue, figures.resource);
    members.insert(members.begin(), {"queue", queue.queue, {}});
    writer.Item(std::move(members));
  }
  writer.EndList();
  writer.BeginList("clusters");
  for (const ClusterTotals& cluster : record.clusters) {
    writer.Item(ClusterValue(cluster, figures.resource));
  }
  writer.EndList();
  writer.BeginList("samples");
  for (const Sample& sample : record.samples) {
    writer.Item(SampleValue(record, sample));
  }
  writer.EndList();
  if (jobs) {
    writer.BeginList("jobs");
    for (const JobRecord& job : record.jobs) {
      writer.Item(JobValue(job));
    }
    writer.EndList();
  }
  writer.End();
}

void WriteSimulationCsv(const SimulationRecord& record, const SimulationFigures& figures,
                        CsvRows rows, std::ostream& out) {
  CsvWriter writer(record, figures, out);
  switch (rows) {
    case CsvRows::kQueues:
      return writer.Queues();
    case CsvRows::kClusters:
      return writer.Clusters();
    case CsvRows::kJobs:
      return writer.Jobs();
    case CsvRows::kSamples:
      return writer.Samples();
  }
}

}  // namespace caldera
