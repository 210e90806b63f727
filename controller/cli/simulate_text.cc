#include <algorithm>
#include <array>

#include "controller/cli/amounts_text.h"
#include "controller/cli/simulate_output.h"
#include "controller/cli/table.h"

namespace caldera {
namespace {

constexpr int64_t kSecondsPerHour = 3600;
constexpr size_t kBarWidth = 24;
// Beyond this many queues, those with the most jobs are shown.
constexpr size_t kQueuesShown = 30;

std::string Grouped(int64_t number) {
  std::string text = std::to_string(number);
  for (size_t at = text.size(); at > 3; at -= 3) {
    text.insert(at - 3, 1, ',');
  }
  return text;
}

std::string Plural(int64_t n, const std::string& noun) {
  return Grouped(n) + " " + noun + (n == 1 ? "" : "s");
}

/// `87.3%`.
std::string Percent(int64_t milli) {
  return std::to_string(milli / 10) + "." + std::to_string(milli % 10) + "%";
}

/// Amount-seconds as amount-hours: `4.2` GPU-hours, core-hours, `1.5Ti` hours of memory.
std::string Hours(const std::string& resource, int64_t seconds) {
  if (IsBytes(resource)) {
    return FormatAmount(resource, seconds / kSecondsPerHour);
  }
  const int64_t tenths = seconds * 10 / (kSecondsPerHour * (IsMilli(resource) ? 1000 : 1));
  const bool small = tenths < 1000;
  return Grouped(tenths / 10) + (small ? "." + std::to_string(tenths % 10) : "");
}

/// `gpu` of `nvidia.com/gpu`.
std::string ShortName(const std::string& resource) {
  return resource.substr(resource.rfind('/') + 1);
}

/// `##########......`.
std::string WideBar(int64_t milli) {
  const auto full = static_cast<size_t>(
      std::clamp<int64_t>((milli * static_cast<int64_t>(kBarWidth) + 500) / 1000, 0, kBarWidth));
  return std::string(full, '#') + std::string(kBarWidth - full, '.');
}

class Printer {
 public:
  Printer(const SimulationRecord& record, const SimulationFigures& figures,
          const Terminal& terminal)
      : record_(record), figures_(figures), terminal_(terminal) {}

  std::string Print() {
    Summary();
    Queues();
    Clusters();
    Totals();
    return std::move(out_);
  }

 private:
  [[nodiscard]] const std::string& Resource() const { return figures_.resource; }

  void Heading(const std::string& title, const std::string& note) {
    out_ += "\n" + terminal_.Painted(title, Paint::kBold);
    out_ += note.empty() ? "\n" : "  " + terminal_.Painted(note, Paint::kDim) + "\n";
  }

  void Summary() {
    const QueueFigures& total = figures_.total;
    out_ += "Simulated " + ShortSpan(figures_.span) + " from " + FormatTime(record_.start) + ": " +
            Plural(total.jobs, "job") + ", " + Grouped(total.done) + " done";
    for (const auto& [count, what] :
         {std::pair(total.running, "running"), std::pair(total.waiting, "waiting"),
          std::pair(total.deleted, "deleted")}) {
      out_ += count > 0 ? ", " + Grouped(count) + " " + what : "";
    }
    out_ += record_.stopped ? " (stopped there).\n" : ".\n";
  }

  [[nodiscard]] std::string PartOf(const ResourceList& part, const ResourceList& whole) const {
    return Percent(Thousandths(AmountIn(part, Resource()), AmountIn(whole, Resource())));
  }

  void AddRow(Table& table, const QueueFigures& queue, Paint paint) const {
    const auto number = [](int64_t n) { return n == 0 ? std::string("-") : Grouped(n); };
    const int64_t error = ShareErrorMilli(queue, Resource());
    const int64_t lost = AmountIn(queue.lost_amounts, Resource());
    table.Add({{queue.queue.empty() ? "all" : queue.queue, paint},
               {Grouped(queue.jobs), paint},
               {Grouped(queue.done), paint},
               {ShortSpan(queue.wait.p50), paint},
               {ShortSpan(queue.wait.p95), paint},
               {ShortSpan(queue.wait.most), paint},
               {Hours(Resource(), AmountIn(queue.allocated, Resource())), paint},
               {PartOf(queue.allocated, figures_.total.allocated), paint},
               {PartOf(queue.deserved, figures_.total.deserved), paint},
               {Percent(error), error > 100 ? Paint::kYellow : paint},
               {number(queue.evictions + queue.losses), paint},
               {lost == 0 ? std::string("-") : Hours(Resource(), lost), paint}});
  }

  void Queues() {
    const std::string unit = ShortName(Resource()) + "-hours";
    std::vector<const QueueFigures*> shown;
    for (const QueueFigures& queue : figures_.queues) {
      shown.push_back(&queue);
    }
    if (shown.size() > kQueuesShown) {
      std::stable_sort(shown.begin(), shown.end(),
                       [](const auto* a, const auto* b) { return a->jobs > b->jobs; });
      shown.resize(kQueuesShown);
    }
    Heading("QUEUES",
            "shares of " + Resource() + " over time; missed: what it deserved and did not have");
    Table table({{"QUEUE"},
                 {"JOBS", true},
                 {"DONE", true},
                 {"WAIT P50", true},
                 {"P95", true},
                 {"MAX", true},
                 {Upper(unit), true},
                 {"HAD", true},
                 {"DESERVED", true},
                 {"MISSED", true},
                 {"EVICTED", true},
                 {"LOST", true}});
    for (const QueueFigures* queue : shown) {
      AddRow(table, *queue, Paint::kPlain);
    }
    if (figures_.queues.size() > 1) {
      AddRow(table, figures_.total, Paint::kBold);
    }
    out_ += table.Text(terminal_);
    if (shown.size() < figures_.queues.size()) {
      out_ += "(" + std::to_string(figures_.queues.size() - shown.size()) +
              " queues with fewer jobs are not shown: -o csv has all)\n";
    }
  }

  static std::string Upper(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(),
                   [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
    return text;
  }

  void Clusters() {
    Heading("CLUSTERS", "");
    Table table({{"CLUSTER"}, {Upper(ShortName(Resource())), true}, {"USED", true}, {""}});
    for (const ClusterTotals& cluster : record_.clusters) {
      const int64_t allocatable = AmountIn(cluster.allocatable, Resource());
      const int64_t used = Thousandths(AmountIn(cluster.allocated, Resource()), allocatable);
      const int64_t span = std::max<int64_t>(figures_.span.count(), 1);
      const auto mean = static_cast<int64_t>(Int128{allocatable} * 1000 / span);
      table.Add({cluster.cluster,
                 FormatAmount(Resource(), mean),
                 Percent(used),
                 {WideBar(used), used > 800 ? Paint::kGreen : Paint::kPlain}});
    }
    out_ += table.Text(terminal_);
  }

  void Line(const std::string& name, const std::string& text) {
    constexpr size_t kNameWidth = 14;
    out_ += terminal_.Painted(name, Paint::kDim) + std::string(kNameWidth - name.size(), ' ') +
            text + "\n";
  }

  void Totals() {
    Heading("TOTAL", "");
    if (figures_.makespan.has_value()) {
      const int64_t ratio =
          Thousandths(figures_.makespan->count(), std::max<int64_t>(figures_.ideal.count(), 1));
      Line("makespan", ShortSpan(*figures_.makespan) + ", " + DecimalOf(ratio) + " of the ideal " +
                           ShortSpan(figures_.ideal));
    } else {
      Line("makespan", "not all jobs have ended; the ideal for those that have is " +
                           ShortSpan(figures_.ideal));
    }
    Line("utilisation", Percent(Thousandths(AmountIn(figures_.allocated, Resource()),
                                            AmountIn(figures_.allocatable, Resource()))) +
                            " of " + Resource());
    Line("share error", Percent(ShareErrorMilli(figures_.total, Resource())) +
                            " of what was deserved was not had");
    const int64_t lost = AmountIn(figures_.total.lost_amounts, Resource());
    const int64_t had = AmountIn(figures_.total.allocated, Resource());
    Line("evictions", Grouped(figures_.total.evictions) + ", and " +
                          Grouped(figures_.total.losses) + " by lost clusters; " +
                          Hours(Resource(), lost) + " " + ShortName(Resource()) +
                          "-hours of work lost (" + Percent(Thousandths(lost, had)) + ")");
    if (figures_.total.shrinks > 0) {
      Line("shrinks", Grouped(figures_.total.shrinks) + " of jobs that gave pods and stayed");
    }
    Line("decided",
         Plural(record_.placements, "placement") + " at " + Plural(record_.instants, "instant"));
    std::string waiting;
    for (const auto& [verdict, count] : record_.waiting) {
      waiting += (waiting.empty() ? "" : ", ") + verdict + " " + Grouped(count);
    }
    if (!waiting.empty()) {
      Line("still waiting", waiting);
    }
  }

  const SimulationRecord& record_;
  const SimulationFigures& figures_;
  const Terminal& terminal_;
  std::string out_;
};

}  // namespace

std::string ShortSpan(Millis span) {
  struct Unit {
    int64_t millis;
    const char* name;
  };
  constexpr std::array<Unit, 4> kUnits{
      {{86'400'000, "d"}, {3'600'000, "h"}, {60'000, "m"}, {1000, "s"}}};
  const int64_t millis = span.count();
  for (size_t k = 0; k < kUnits.size(); ++k) {
    if (millis < kUnits[k].millis) {
      continue;
    }
    std::string text = std::to_string(millis / kUnits[k].millis) + kUnits[k].name;
    if (k + 1 < kUnits.size()) {
      const int64_t rest = millis % kUnits[k].millis / kUnits[k + 1].millis;
      text += rest > 0 ? std::to_string(rest) + kUnits[k + 1].name : "";
    }
    return text;
  }
  return millis == 0 ? "0s" : std::to_string(millis) + "ms";
}

std::string SimulationText(const SimulationRecord& record, const SimulationFigures& figures,
                           const Terminal& terminal) {
  return Printer(record, figures, terminal).Print();
}

}  // namespace caldera
