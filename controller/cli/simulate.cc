// `caldera simulate`: the federation of `-f` through a scenario, in virtual time, by the planner of
// the live controller.
#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "controller/cli/command.h"
#include "controller/cli/issue_text.h"
#include "controller/cli/messages.h"
#include "controller/cli/options.h"
#include "controller/cli/scenario.h"
#include "controller/cli/simulate_output.h"
#include "controller/cli/simulate_plot.h"

namespace caldera {
namespace {

constexpr const char* kSimulateExamples = R"(Examples:
  caldera simulate -f examples/simulate --scenario examples/simulate/scenario.yaml
  caldera simulate -f DIR --scenario week.yaml --plot week.svg
  caldera simulate -f DIR --scenario week.yaml --until 24h --seed 7
  caldera simulate -f DIR --scenario week.yaml -o json | jq .total
  caldera simulate -f DIR --scenario week.yaml -o csv --rows jobs > jobs.csv

The scenario says which jobs come when, how long they run, and what happens to clusters, queues and
quotas meanwhile; examples/simulate/README.md describes it. Everything is decided as the controller
would decide it. Equal input and seed give equal output.
Exit code: 0 done, 2 for unusable input.)";

struct SimulateOptions {
  std::vector<std::string> inputs;
  std::string scenario;
  std::string output;
  std::string until;
  std::string plot;
  std::optional<int64_t> seed;
  std::string resource;
  std::string rows = "queues";
  bool jobs = false;
  bool timings = false;
};

using Clock = std::chrono::steady_clock;

double SecondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// A bar on stderr where that is a terminal, drawn at most ten times a second.
class ProgressBar {
 public:
  explicit ProgressBar(size_t jobs) : jobs_(jobs), shown_(static_cast<bool>(ProgressLine())) {}
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;
  ProgressBar(ProgressBar&&) = delete;
  ProgressBar& operator=(ProgressBar&&) = delete;
  ~ProgressBar() {
    if (shown_) {
      std::cerr << "\r\x1b[K";
      std::cerr.flush();
    }
  }

  void Show(Millis since, size_t ended) {
    constexpr size_t kWidth = 30;
    constexpr std::chrono::milliseconds kStep(100);
    if (!shown_ || Clock::now() - drawn_ < kStep) {
      return;
    }
    drawn_ = Clock::now();
    const size_t full = jobs_ == 0 ? 0 : ended * kWidth / jobs_;
    std::cerr << "\r\x1b[K[" << std::string(full, '#') << std::string(kWidth - full, '.') << "] "
              << ended << " of " << jobs_ << " jobs, at " << ShortSpan(since);
    std::cerr.flush();
  }

 private:
  size_t jobs_;
  bool shown_;
  Clock::time_point drawn_;
};

CsvRows RowsOf(const std::string& rows) {
  if (rows == "clusters") {
    return CsvRows::kClusters;
  }
  if (rows == "jobs") {
    return CsvRows::kJobs;
  }
  return rows == "samples" ? CsvRows::kSamples : CsvRows::kQueues;
}

/// The scenario's events, as the picture shows them.
std::vector<PlotMark> MarksOf(const Scenario& scenario) {
  std::vector<PlotMark> marks;
  for (const EventRule& event : scenario.events) {
    PlotMark mark{scenario.start + event.at, std::nullopt, event.object};
    if (event.kind == EventRule::Kind::kOutage) {
      mark.until = mark.from + event.span;
      mark.label += " out";
    } else if (event.kind == EventRule::Kind::kDelete) {
      mark.label += " deleted";
    } else if (event.kind == EventRule::Kind::kApply) {
      const Value& object = *event.place["apply"].value();
      const Value* kind = object.Find("kind");
      const Value* name = object.At({"metadata", "name"});
      mark.label =
          (kind == nullptr ? "" : kind->Brief()) + "/" + (name == nullptr ? "" : name->Brief());
    }
    marks.push_back(std::move(mark));
  }
  return marks;
}

class SimulateRun {
 public:
  explicit SimulateRun(const SimulateOptions& options) : options_(options) {}

  Status Run() {
    const auto start = Clock::now();
    // A folder that is not there is told before the work, not after it.
    std::ofstream plot;
    if (!options_.plot.empty()) {
      plot.open(options_.plot, std::ios::binary);
      if (!plot) {
        return CannotWrite();
      }
    }
    CALDERA_TRY(SimulationScript script, Read());
    const double read = SecondsSince(start);
    CALDERA_TRY(const SimulationRecord record, Play(script));
    const double played = SecondsSince(start) - read;
    const SimulationFigures figures = FiguresOf(record, scenario_->resource);
    Print(record, figures);
    if (!options_.plot.empty() &&
        !(plot << PlotSimulation(record, figures, MarksOf(*scenario_))).flush()) {
      return CannotWrite();
    }
    if (options_.timings) {
      std::fprintf(stderr, "timing read %.3f\ntiming simulate %.3f\ntiming print %.3f\n", read,
                   played, SecondsSince(start) - read - played);
    }
    return {};
  }

 private:
  Result<SimulationScript> Read() {
    CALDERA_TRY(scenario_, ReadScenario(options_.scenario));
    if (!options_.until.empty()) {
      const auto until = ParseDuration(options_.until);
      if (!until.has_value() || *until <= Millis(0)) {
        return Fail(ErrorCode::kInvalid,
                    "--until " + options_.until + ": must be a duration above 0, such as 24h");
      }
      scenario_->until = *until;
    }
    if (options_.seed.has_value()) {
      scenario_->seed = static_cast<uint64_t>(*options_.seed);
    }
    if (!options_.resource.empty()) {
      scenario_->resource = options_.resource;
    }
    ReadOptions read;
    read.inputs = options_.inputs;
    read.now = scenario_->start;
    read.keep_documents = !scenario_->events.empty();
    read.progress = ProgressLine();
    CALDERA_TRY(Manifests manifests, ReadManifests(read));
    if (read.progress) {
      read.progress(0);
    }
    // The scenario may lie in the folder that it is about.
    manifests.skipped.erase(std::string(kScenarioKind) + " (" + std::string(kScenarioVersion) +
                            ")");
    PrintSkipped(manifests.skipped);
    for (const Issue& issue : manifests.refused) {
      std::cerr << "refused " << IssueLine(issue) << "\n";
    }
    return MakeScript(*scenario_, manifests);
  }

  static Result<SimulationRecord> Play(SimulationScript& script) {
    ProgressBar bar(script.submissions.size());
    script.progress = [&bar, start = script.start](Time now, size_t ended) {
      bar.Show(now - start, ended);
    };
    return Simulate(script);
  }

  [[nodiscard]] tl::unexpected<Error> CannotWrite() const {
    return Fail(ErrorCode::kInvalid, "--plot " + options_.plot +
                                         ": cannot be written: is there such a folder, and may "
                                         "you write there?");
  }

  void Print(const SimulationRecord& record, const SimulationFigures& figures) const {
    if (options_.output == "csv") {
      WriteSimulationCsv(record, figures, RowsOf(options_.rows), std::cout);
      return;
    }
    const Format format = FormatOf(options_.output);
    if (format == Format::kTable) {
      std::cout << SimulationText(record, figures, Terminal::Of(stdout));
    } else {
      WriteSimulation(record, figures, format, options_.jobs, std::cout);
    }
  }

  const SimulateOptions& options_;
  std::unique_ptr<Scenario> scenario_;
};

}  // namespace

void AddSimulateCommand(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<SimulateOptions>();
  CLI::App* command =
      app.add_subcommand("simulate", "Run a scenario in virtual time, as the controller decides");
  command->footer(kSimulateExamples);
  AddInputs(*command, options->inputs);
  command->add_option("--scenario", options->scenario, "What happens: a YAML file, - for stdin")
      ->required()
      ->type_name("FILE")
      ->check(CheckNotEmpty);
  AddOutput(*command, options->output, "table|json|yaml|csv");
  command->add_option("--until", options->until, "Stop after this much virtual time, such as 24h")
      ->type_name("DURATION")
      ->check(CheckNotEmpty);
  command
      ->add_option("--plot", options->plot,
                   "Write a picture of shares, waiting jobs and clusters over time (SVG)")
      ->type_name("FILE")
      ->check(CheckNotEmpty);
  command->add_option("--seed", options->seed, "Other arrivals and durations than the scenario's")
      ->type_name("NUMBER")
      ->check(CLI::NonNegativeNumber);
  command
      ->add_option("--resource", options->resource,
                   "Whose time is shown; default: the one that is used most")
      ->type_name("NAME")
      ->check(CheckNotEmpty);
  command->add_option("--rows", options->rows, "What -o csv prints")
      ->type_name("queues|clusters|jobs|samples")
      ->check(CLI::IsMember(std::vector<std::string>{"queues", "clusters", "jobs", "samples"}));
  command->add_flag("--jobs", options->jobs, "Also list every job (json, yaml)");
  command->add_flag("--timings", options->timings, "Print to stderr where the time went");
  command->callback([options, &exit_code] {
    if (const Status status = SimulateRun(*options).Run(); !status.has_value()) {
      exit_code = PrintUnusable("simulate", status.error());
    }
  });
}

}  // namespace caldera
