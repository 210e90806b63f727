#include "controller/cli/simulate_plot.h"

#include <algorithm>
#include <array>
#include <functional>

#include "controller/cli/simulate_output.h"
#include "controller/cli/svg.h"
#include "federation/quantity.h"

namespace caldera {
namespace {

// In tenths of a pixel.
constexpr int64_t kWidth = 9600;
constexpr int64_t kLeft = 640;
constexpr int64_t kRight = 240;
constexpr int64_t kTop = 740;  ///< Of the first panel: title and two rows of legend are above.
constexpr int64_t kPanel = 1500;
constexpr int64_t kGap = 520;
constexpr int64_t kRow = 180;  ///< Of a cluster.
constexpr int64_t kPlotWidth = kWidth - kLeft - kRight;
constexpr size_t kClustersShown = 24;
constexpr int64_t kColumns = 164;  ///< Of a cluster's row.
constexpr size_t kMarksLabelled = 8;

/// One coloured series: a queue, or all those that have no colour of their own.
struct Series {
  std::string name;
  std::vector<uint32_t> queues;  ///< Indexes into SimulationRecord::queues.
};

class Plot {
 public:
  Plot(const SimulationRecord& record, const SimulationFigures& figures,
       const std::vector<PlotMark>& marks)
      : record_(record),
        figures_(figures),
        marks_(marks),
        resource_(record.resources.Find(figures.resource)),
        span_(std::max<int64_t>((record.end - record.start).count(), 1)),
        clusters_(std::min(record.clusters.size(), kClustersShown)),
        height_(kTop + 3 * (kPanel + kGap) + static_cast<int64_t>(clusters_) * kRow + kGap),
        svg_(kWidth, height_, "Simulation of " + std::to_string(record.jobs.size()) + " jobs") {
    ChooseSeries();
  }

  std::string Draw() {
    Head();
    const int64_t capacity = Capacity();
    Panel(0, "What each queue had", capacity, [this](const Sample& sample, const QueueSample& q) {
      return Amount(q.allocated, sample);
    });
    TotalLine(0, capacity);
    Panel(
        1, "What each queue deserved", capacity,
        [this](const Sample& sample, const QueueSample& q) { return Amount(q.deserved, sample); });
    TotalLine(1, capacity);
    const auto waiting = [](const Sample& /*sample*/, const QueueSample& q) {
      return int64_t{q.waiting};
    };
    Panel(2, "Jobs that wait", Most(waiting), waiting);
    Clusters();
    return svg_.Finish();
  }

 private:
  using Measure = std::function<int64_t(const Sample&, const QueueSample&)>;

  [[nodiscard]] int64_t Amount(const ResourceVector& amounts, const Sample& /*sample*/) const {
    return resource_ == ResourceCatalog::kNone ? 0 : std::max<int64_t>(amounts[resource_], 0);
  }

  /// The largest first, so that names in the legend are those that matter.
  void ChooseSeries() {
    std::vector<uint32_t> order;
    for (uint32_t q = 0; q < record_.queues.size(); ++q) {
      if (!record_.queues[q].allocated.empty() || !record_.queues[q].deserved.empty()) {
        order.push_back(q);
      }
    }
    std::stable_sort(order.begin(), order.end(), [this](uint32_t a, uint32_t b) {
      return AmountIn(record_.queues[a].allocated, figures_.resource) >
             AmountIn(record_.queues[b].allocated, figures_.resource);
    });
    for (const uint32_t q : order) {
      if (series_.size() + 1 < Svg::kColours || order.size() == Svg::kColours - 1) {
        series_.push_back({record_.queues[q].queue, {q}});
        continue;
      }
      if (series_.size() + 1 == Svg::kColours) {
        series_.push_back({"", {}});
      }
      series_.back().queues.push_back(q);
      series_.back().name = std::to_string(series_.back().queues.size()) + " others";
    }
    series_of_.assign(record_.queues.size(), 0);
    for (size_t s = 0; s < series_.size(); ++s) {
      for (const uint32_t q : series_[s].queues) {
        series_of_[q] = s;
      }
    }
  }

  [[nodiscard]] int64_t X(Time at) const {
    const Int128 since = (at - record_.start).count();
    return kLeft + static_cast<int64_t>(since * kPlotWidth / span_);
  }
  [[nodiscard]] static int64_t PanelTop(int64_t panel) { return kTop + panel * (kPanel + kGap); }
  [[nodiscard]] static int64_t Y(int64_t panel, int64_t value, int64_t most) {
    return PanelTop(panel) + kPanel -
           static_cast<int64_t>(Int128{value} * kPanel / std::max<int64_t>(most, 1));
  }

  void Head() {
    svg_.Text({kLeft, 220},
              std::to_string(record_.jobs.size()) + " jobs, " + ShortSpan(figures_.span) +
                  " from " + FormatTime(record_.start) + ", shares of " + figures_.resource,
              "title");
    int64_t x = kLeft;
    int64_t y = 310;
    for (size_t s = 0; s < series_.size(); ++s) {
      const int64_t width = 150 + LabelWidth(series_[s].name) + 200;
      if (x > kLeft && x + width > kWidth) {
        x = kLeft;
        y += 170;
      }
      svg_.Rect({x, y}, {100, 100}, "c" + std::to_string(s));
      svg_.Text({x + 150, y + 90}, series_[s].name, "label");
      x += width;
    }
  }

  [[nodiscard]] int64_t Capacity() const {
    int64_t most = 1;
    for (const Sample& sample : record_.samples) {
      most = std::max({most, Amount(sample.total, sample), Amount(sample.allocated, sample)});
    }
    return most;
  }

  [[nodiscard]] int64_t Most(const Measure& measure) const {
    int64_t most = 1;
    for (const Sample& sample : record_.samples) {
      int64_t sum = 0;
      for (const QueueSample& queue : sample.queues) {
        sum += measure(sample, queue);
      }
      most = std::max(most, sum);
    }
    return most;
  }

  /// 1, 2 or 5 times a power of ten (or of two, for bytes), so that there are about four.
  [[nodiscard]] int64_t TickStep(int64_t panel, int64_t most) const {
    const bool amounts = panel < 2;
    if (amounts && IsBytes(figures_.resource)) {
      int64_t step = 1;
      while (most / step > 5) {
        step *= 2;
      }
      return step;
    }
    int64_t step = amounts && IsMilli(figures_.resource) ? 1000 : 1;
    constexpr std::array<int64_t, 3> kFactors{2, 5, 10};
    const int64_t base = step;
    for (int64_t power = 1; most / step > 5; power *= 10) {
      for (const int64_t factor : kFactors) {
        step = base * power * factor;
        if (most / step <= 5) {
          break;
        }
      }
    }
    return step;
  }

  void Panel(int64_t panel, const std::string& title, int64_t most, const Measure& measure) {
    svg_.Text({kLeft, PanelTop(panel) - 100}, title, "head");
    Stack(panel, most, measure);
    const int64_t step = TickStep(panel, most);
    for (int64_t tick = 0; tick <= most; tick += step) {
      const int64_t y = Y(panel, tick, most);
      svg_.Line({kLeft, y}, {kLeft + kPlotWidth, y}, tick == 0 ? "axis" : "grid");
      svg_.Text({kLeft - 60, y + 40},
                panel < 2 ? FormatAmount(figures_.resource, tick) : std::to_string(tick), "dim",
                Svg::Anchor::kEnd);
    }
    Marks(panel);
    TimeAxis(PanelTop(panel) + kPanel);
  }

  /// Each series upon the ones before it; what a sample says holds until the next.
  void Stack(int64_t panel, int64_t most, const Measure& measure) {
    const size_t count = record_.samples.size();
    std::vector<std::vector<int64_t>> tops(series_.size() + 1, std::vector<int64_t>(count));
    for (size_t k = 0; k < count; ++k) {
      for (const QueueSample& queue : record_.samples[k].queues) {
        tops[series_of_[queue.queue] + 1][k] += measure(record_.samples[k], queue);
      }
      for (size_t s = 1; s < tops.size(); ++s) {
        tops[s][k] += tops[s - 1][k];
      }
    }
    for (size_t s = 0; s < series_.size(); ++s) {
      std::vector<Svg::Point> points;
      for (size_t k = 0; k < count; ++k) {
        AddStep(points, k, Y(panel, tops[s + 1][k], most));
      }
      std::vector<Svg::Point> floor;
      for (size_t k = 0; k < count; ++k) {
        AddStep(floor, k, Y(panel, tops[s][k], most));
      }
      points.insert(points.end(), floor.rbegin(), floor.rend());
      svg_.Area(points, "c" + std::to_string(s), series_[s].name);
    }
  }

  void AddStep(std::vector<Svg::Point>& points, size_t k, int64_t y) const {
    const std::vector<Sample>& samples = record_.samples;
    const int64_t from = X(samples[k].at);
    const int64_t to = X(k + 1 < samples.size() ? samples[k + 1].at : record_.end);
    if (points.empty() || points.back().y != y) {
      points.push_back({from, y});
    }
    points.push_back({to, y});
  }

  /// What the federation has.
  void TotalLine(int64_t panel, int64_t most) {
    std::vector<Svg::Point> points;
    for (size_t k = 0; k < record_.samples.size(); ++k) {
      const Sample& sample = record_.samples[k];
      AddStep(points, k, Y(panel, Amount(sample.total, sample), most));
    }
    svg_.Path(points, "total");
  }

  void Marks(int64_t panel) {
    for (const PlotMark& mark : marks_) {
      if (mark.from > record_.end) {
        continue;
      }
      const int64_t from = X(mark.from);
      const Svg::Point top{from, PanelTop(panel)};
      if (mark.until.has_value()) {
        const int64_t to = X(std::min(*mark.until, record_.end));
        svg_.Rect(top, {std::max<int64_t>(to - from, 10), kPanel}, "band", mark.label);
      } else {
        svg_.Line(top, {from, PanelTop(panel) + kPanel}, "mark");
      }
      if (panel == 0 && marks_.size() <= kMarksLabelled) {
        const bool right = from + LabelWidth(mark.label) > kLeft + kPlotWidth;
        svg_.Text({from + (right ? -20 : 20), PanelTop(0) - 25}, mark.label, "dim",
                  right ? Svg::Anchor::kEnd : Svg::Anchor::kStart);
      }
    }
  }

  void TimeAxis(int64_t y) {
    constexpr std::array<int64_t, 23> kSeconds{
        1,    2,    5,     10,    15,    30,    60,     120,    300,     600,     900,    1800,
        3600, 7200, 10800, 21600, 43200, 86400, 172800, 604800, 1209600, 2419200, 7257600};
    int64_t step = kSeconds.back() * 1000;
    for (const int64_t seconds : kSeconds) {
      if (span_ / (seconds * 1000) <= 12) {
        step = seconds * 1000;
        break;
      }
    }
    for (int64_t at = 0; at <= span_; at += step) {
      const int64_t x = X(record_.start + Millis(at));
      svg_.Line({x, y}, {x, y + 40}, "axis");
      svg_.Text({x, y + 160}, ShortSpan(Millis(at)), "dim", Svg::Anchor::kMiddle);
    }
  }

  /// How full a cluster is on average in each of kColumns spans, in percent.
  [[nodiscard]] std::vector<int64_t> Fullness(size_t cluster) const {
    const int64_t allocatable = AmountIn(record_.clusters[cluster].allocatable, figures_.resource);
    const auto capacity = static_cast<int64_t>(Int128{allocatable} * 1000 / span_);
    std::vector<Int128> sums(kColumns);
    const std::vector<Sample>& samples = record_.samples;
    const auto edge = [this](int64_t column) {
      return static_cast<int64_t>(Int128{span_} * column / kColumns);
    };
    for (size_t k = 0; k + 1 < samples.size(); ++k) {
      const int64_t from = (samples[k].at - record_.start).count();
      const int64_t to = (samples[k + 1].at - record_.start).count();
      const int64_t amount = Amount(samples[k].clusters[cluster], samples[k]);
      const auto first = static_cast<int64_t>(Int128{from} * kColumns / span_);
      for (int64_t column = first; column < kColumns && edge(column) < to; ++column) {
        const int64_t part = std::min(to, edge(column + 1)) - std::max(from, edge(column));
        sums[static_cast<size_t>(column)] += Int128{amount} * std::max<int64_t>(part, 0);
      }
    }
    std::vector<int64_t> percents;
    for (int64_t column = 0; column < kColumns; ++column) {
      const Int128 whole = Int128{capacity} * (edge(column + 1) - edge(column));
      percents.push_back(whole == 0 ? 0
                                    : static_cast<int64_t>(std::min<Int128>(
                                          sums[static_cast<size_t>(column)] * 100 / whole, 100)));
    }
    return percents;
  }

  void Clusters() {
    const int64_t top = PanelTop(3);
    svg_.Text({kLeft, top - 90}, "How full each cluster was", "head");
    for (size_t c = 0; c < clusters_; ++c) {
      const int64_t y = top + static_cast<int64_t>(c) * kRow;
      const ClusterTotals& cluster = record_.clusters[c];
      const int64_t used = Thousandths(AmountIn(cluster.allocated, figures_.resource),
                                       AmountIn(cluster.allocatable, figures_.resource));
      svg_.Rect({kLeft, y}, {kPlotWidth, kRow - 30}, "frame",
                cluster.cluster + ": " + std::to_string(used / 10) + "% used");
      const std::vector<int64_t> percents = Fullness(c);
      for (int64_t column = 0; column < kColumns;) {
        // Neighbours that look alike are one piece.
        const int64_t level = (percents[static_cast<size_t>(column)] + 4) / 5 * 5;
        int64_t end = column + 1;
        while (end < kColumns && (percents[static_cast<size_t>(end)] + 4) / 5 * 5 == level) {
          ++end;
        }
        if (level > 0) {
          const int64_t from = kPlotWidth * column / kColumns;
          const int64_t to = kPlotWidth * end / kColumns;
          svg_.Shade({kLeft + from, y}, {to - from, kRow - 30}, "c0", level);
        }
        column = end;
      }
      const std::string name =
          cluster.cluster.size() > 9 ? cluster.cluster.substr(0, 8) + "~" : cluster.cluster;
      svg_.Text({kLeft - 60, y + 115}, name, "dim", Svg::Anchor::kEnd);
    }
    const int64_t bottom = top + static_cast<int64_t>(clusters_) * kRow;
    if (clusters_ < record_.clusters.size()) {
      svg_.Text({kWidth - kRight, top - 90},
                "the first " + std::to_string(clusters_) + " of " +
                    std::to_string(record_.clusters.size()),
                "dim", Svg::Anchor::kEnd);
    }
    TimeAxis(bottom);
  }

  const SimulationRecord& record_;
  const SimulationFigures& figures_;
  const std::vector<PlotMark>& marks_;
  ResourceIndex resource_;
  int64_t span_;
  size_t clusters_;
  int64_t height_;
  Svg svg_;
  std::vector<Series> series_;
  std::vector<size_t> series_of_;  ///< By queue.
};

}  // namespace

std::string PlotSimulation(const SimulationRecord& record, const SimulationFigures& figures,
                           const std::vector<PlotMark>& marks) {
  return Plot(record, figures, marks).Draw();
}

}  // namespace caldera
