// `caldera plan`: manifests in, an explained plan out, in one round without a cluster.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <tuple>
#include <utility>
#include <vector>

#include "controller/cli/command.h"
#include "controller/cli/manifests.h"
#include "controller/cli/messages.h"
#include "controller/cli/options.h"
#include "controller/cli/plan_contract.h"
#include "controller/cli/plan_result.h"
#include "controller/cli/render_files.h"
#include "controller/run/cycle.h"
#include "federation/codec.h"
#include "federation/relist.h"

namespace caldera {
namespace {

constexpr const char* kPlanExamples = R"(Examples:
  caldera plan -f examples/quickstart
  caldera plan -f cluster-dump.yaml -f jobs/ -o wide
  kubectl get queues,jobs.batch.volcano.sh,clusters -A -o yaml | caldera plan -f -
  caldera plan -f DIR --explain team-a/train    why it waits, and the smallest change that helps
  caldera plan -f DIR --explain all -o json
  caldera plan -f DIR --ledger federation.db    record the plan; run it again as things change
  caldera plan -f DIR --render out/             write each shard's Job as it would be sent
  caldera plan -f DIR --at 2026-12-01T08:00:00Z the same input and time give the same plan

A Job whose status is not terminal and that carries the annotation
federation.caldera.sh/placement counts as running there. With --ledger, what an earlier plan placed
is remembered; a Job that is absent or terminal is released.
Exit code: 0 also when jobs wait or are refused, 2 for unusable input.)";

struct PlanOptions {
  std::vector<std::string> inputs;
  std::string output;
  std::string at;
  std::string ledger;
  std::vector<std::string> explain;
  std::string render;
  std::string render_works;
  bool timings = false;
};

using Clock = std::chrono::steady_clock;

// Where the time went, printed by --timings; the benchmark reads it.
class Stopwatch {
 public:
  void Lap(const std::string& phase) {
    const auto now = Clock::now();
    laps_.emplace_back(phase, now - last_);
    last_ = now;
  }
  // A part of the last lap was another phase.
  void Split(const std::string& phase, std::chrono::nanoseconds part) {
    laps_.back().second -= part;
    laps_.emplace_back(phase, part);
  }
  void Print() const {
    for (const auto& [phase, span] : laps_) {
      std::fprintf(stderr, "timing %s %.3f\n", phase.c_str(),
                   std::chrono::duration<double>(span).count());
    }
  }

 private:
  Clock::time_point last_ = Clock::now();
  std::vector<std::pair<std::string, std::chrono::nanoseconds>> laps_;
};

Result<Time> PlanTime(const std::string& at) {
  if (at.empty()) {
    return std::chrono::floor<Millis>(std::chrono::system_clock::now());
  }
  auto time = ParseTime(at).map_error([](const Error& error) { return error.Within("--at"); });
  if (time.has_value() && *time < Time{}) {
    return Fail(ErrorCode::kInvalid, "--at: " + at + " is before 1970");
  }
  return time;
}

// The jobs that --explain names: `all`, `namespace/name`, or a name that only one of them has.
Result<std::vector<JobKey>> ExplainedJobs(const std::vector<std::string>& names,
                                          const State& before,
                                          const std::vector<PendingJob>& pending) {
  std::vector<JobKey> keys;
  for (const std::string& name : names) {
    if (name == "all") {
      for (const PendingJob& job : pending) {
        keys.push_back(job.job);
      }
      continue;
    }
    std::vector<JobKey> found;
    for (const Change& change : before.Export()) {
      if (const auto* job = std::get_if<JobUpsert>(&change);
          job != nullptr && (job->job.key.ToString() == name || job->job.key.name == name)) {
        found.push_back(job->job.key);
      }
    }
    if (found.size() != 1) {
      return Fail(ErrorCode::kInvalid, "--explain " + name + ": " +
                                           (found.empty() ? "no accepted job has this name"
                                                          : "several namespaces have such a job: "
                                                            "say NAMESPACE/NAME"));
    }
    keys.push_back(found.front());
  }
  return keys;
}

class PlanRun {
 public:
  explicit PlanRun(const PlanOptions& options) : options_(options) {}

  Status Run() {
    CALDERA_TRY(result_.now, PlanTime(options_.at));
    CALDERA_CHECK(Read());
    CALDERA_CHECK(PrepareFolders());
    CALDERA_CHECK(Decide());
    CALDERA_CHECK(Explain());
    CALDERA_CHECK(Render());
    Print();
    return {};
  }

 private:
  Status Read() {
    ReadOptions options;
    options.inputs = options_.inputs;
    options.now = result_.now;
    options.keep_jobs = !options_.render.empty() || !options_.render_works.empty();
    options.progress = ProgressLine();
    CALDERA_TRY(manifests_, ReadManifests(options));
    if (options.progress) {
      options.progress(0);
    }
    watch_.Lap("read");
    watch_.Split("intake", manifests_.intake_time);
    PrintSkipped(manifests_.skipped);
    if (manifests_.objects == 0) {
      return Fail(ErrorCode::kInvalid, "there is no object to plan with in the input");
    }
    result_.refused = Sorted(std::move(manifests_.refused));
    result_.warnings = Sorted(std::move(manifests_.warnings));
    return {};
  }

  // Before the plan is recorded: its placements are rendered by this run only.
  Status PrepareFolders() {
    for (const std::string& directory : {options_.render, options_.render_works}) {
      if (!directory.empty()) {
        CALDERA_CHECK(PrepareFolder(directory));
      }
    }
    std::error_code missing;
    if (std::filesystem::equivalent(options_.render, options_.render_works, missing)) {
      return Fail(ErrorCode::kInvalid, "--render and --render-works name the same folder, " +
                                           options_.render + ": the files have the same names");
    }
    return {};
  }

  static std::vector<Issue> Sorted(std::vector<Issue> issues) {
    std::ranges::stable_sort(issues, {}, [](const Issue& issue) {
      return std::tuple(issue.file, issue.mark.line, issue.mark.column);
    });
    return issues;
  }

  // Nobody watches the jobs that the run before evicted: those without a placement annotation have
  // left by now.
  static std::vector<Change> LeftSince(const State& state) {
    std::vector<Change> left;
    for (const JobIndex index : state.JobsByKey()) {
      const JobEntry& job = state.job(index);
      if (job.Evicting() && job.rare().placement.empty()) {
        left.emplace_back(Released{job.key, job.uid, 0});
      }
    }
    return left;
  }

  // One cycle; with a ledger it goes on from the last State that was recorded.
  Status Decide() {
    std::optional<Ledger> ledger;
    Cycle cycle;
    if (!options_.ledger.empty()) {
      CALDERA_TRY(ledger, Ledger::Open(options_.ledger));
      CALDERA_TRY(cycle, Cycle::Start(*ledger));
    }
    cycle.Observe(Relist(cycle.state(), result_.now, manifests_.changes));
    cycle.Observe(LeftSince(cycle.state()));
    cycle.SetRefusedQueues(RefusedQueues());
    manifests_.changes = {};
    if (!options_.at.empty() && cycle.state().now() != result_.now) {
      std::cerr << "--at " << options_.at
                << " is before the last cycle of the ledger: planned as of "
                << FormatTime(cycle.state().now()) << "\n";
    }
    result_.now = cycle.state().now();
    if (!options_.explain.empty()) {
      before_ = cycle.state();
      // A wrong name is found before anything is recorded.
      CALDERA_CHECK(ExplainedJobs(options_.explain, before_, {}));
    }
    watch_.Lap("state");
    CALDERA_TRY(CycleOutcome outcome, cycle.Decide());
    watch_.Lap("decide");
    result_.digest =
        ledger.has_value() ? ledger->LastDigest() : CycleDigest("", outcome.observed, outcome.plan);
    result_.plan = std::move(outcome.plan);
    result_.pending = std::move(outcome.pending);
    result_.report = MakeReport(cycle.state());
    if (!options_.explain.empty() || !options_.render_works.empty()) {
      after_ = cycle.state();
    }
    first_intent_ = outcome.first_intent;
    DropPlacedFromRunning();
    watch_.Lap("report");
    return {};
  }

  [[nodiscard]] std::map<std::string, std::string> RefusedQueues() const {
    constexpr std::string_view kQueue = "Queue/";
    std::map<std::string, std::string> why;
    for (const Issue& issue : result_.refused) {
      if (issue.object.starts_with(kQueue)) {
        why.try_emplace(issue.object.substr(kQueue.size()),
                        (issue.value.empty() ? issue.field : issue.field + " = " + issue.value) +
                            ": " + issue.message);
      }
    }
    return why;
  }

  // A Queue that is there but refused cannot be created: its mistakes are listed.
  void DropRefused(std::vector<Edit>& edits) const {
    const std::map<std::string, std::string> refused = RefusedQueues();
    const bool creates = std::ranges::any_of(edits, [&](const Edit& edit) {
      constexpr std::string_view kQueue = "Queue/";
      return edit.object.starts_with(kQueue) && edit.field == "metadata.name" &&
             refused.contains(edit.object.substr(kQueue.size()));
    });
    if (creates) {
      edits.clear();
    }
  }

  // What this plan places is listed under placements; running is what ran before.
  void DropPlacedFromRunning() {
    std::vector<JobKey> placed;
    for (const Action& action : result_.plan.actions) {
      placed.push_back(action.job);
    }
    std::ranges::sort(placed);
    std::erase_if(result_.report.running, [&placed](const RunningReport& running) {
      return std::ranges::binary_search(placed, running.job);
    });
  }

  Status Explain() {
    CALDERA_TRY(const std::vector<JobKey> keys,
                ExplainedJobs(options_.explain, before_, result_.pending));
    for (const JobKey& key : keys) {
      const bool waits =
          std::ranges::find(result_.pending, key, &PendingJob::job) != result_.pending.end();
      Explained& more = result_.explained[key];
      if (waits) {
        more = {WouldFitIf(before_, key), WhoIsAhead(after_, key)};
        DropRefused(more.would_fit_if);
      }
    }
    watch_.Lap("wouldFitIf");
    return {};
  }

  Status Render() {
    for (const bool works : {false, true}) {
      const std::string& directory = works ? options_.render_works : options_.render;
      if (!directory.empty()) {
        CALDERA_TRY(
            const size_t written,
            RenderFiles(result_.plan, manifests_.jobs, {directory, works, first_intent_, &after_})
                .map_error([this](Error error) {
                  error.message +=
                      options_.ledger.empty() ? "" : "; the ledger has the plan already";
                  return error;
                }));
        std::cerr << "wrote " << written << (works ? " Works to " : " Jobs to ") << directory
                  << "\n";
      }
    }
    return {};
  }

  void Print() {
    const Format format = FormatOf(options_.output);
    if (format == Format::kJson || format == Format::kYaml) {
      WritePlanContract(result_, format, std::cout);
    } else {
      std::cout << PlanText(result_, Terminal::Of(stdout), format == Format::kWide);
    }
    watch_.Lap("print");
    if (options_.timings) {
      watch_.Print();
    }
  }

  const PlanOptions& options_;
  PlanResult result_;
  Manifests manifests_;
  State before_;  ///< What was planned, for --explain.
  State after_;   ///< What came of it, for --explain and --render-works.
  int64_t first_intent_ = 1;
  Stopwatch watch_;
};

}  // namespace

void AddPlanCommand(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<PlanOptions>();
  CLI::App* command = app.add_subcommand(
      "plan", "Decide which job runs next and where, and say why the others wait");
  command->footer(kPlanExamples);
  AddInputs(*command, options->inputs);
  AddOutput(*command, options->output, "table|wide|json|yaml");
  command->add_option("--at", options->at, "Plan as of this time (RFC 3339); default: now")
      ->type_name("TIME")
      ->check(CheckNotEmpty);
  command
      ->add_option("--explain", options->explain,
                   "A waiting job (NAMESPACE/NAME), or all: also the smallest change that would "
                   "admit it")
      ->type_name("JOB|all")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command->add_option("--ledger", options->ledger, "Record the plan in this ledger")
      ->type_name("FILE")
      ->check(CheckNotEmpty);
  command
      ->add_option("--render", options->render,
                   "Write each shard's Job to NAMESPACE.NAME.CLUSTER.yaml in this folder")
      ->type_name("DIR")
      ->check(CheckNotEmpty);
  command
      ->add_option("--render-works", options->render_works,
                   "Write the Works around them to this folder")
      ->type_name("DIR")
      ->check(CheckNotEmpty);
  command->add_flag("--timings", options->timings, "Print to stderr where the time went");
  command->callback([options, &exit_code] {
    if (const Status status = PlanRun(*options).Run(); !status.has_value()) {
      exit_code = PrintUnusable("plan", status.error());
    }
  });
}

}  // namespace caldera
