// `caldera ledger`: asks a ledger file, also while a controller writes it, or that controller. All
// of it only reads, but `prune`.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "controller/cli/ask.h"
#include "controller/cli/command.h"
#include "controller/cli/ledger_output.h"
#include "controller/cli/options.h"
#include "storage/audit.h"
#include "storage/backup.h"
#include "storage/prune.h"
#include "storage/queries.h"
#include "storage/replay.h"

namespace caldera {
namespace {

constexpr const char* kLedgerExamples = R"(Examples:
  caldera plan -f examples/quickstart --ledger federation.db
  caldera ledger queues --ledger federation.db        what each queue deserves and holds
  caldera ledger explain vision/detect --ledger federation.db
                                                      why it waits, or why it runs there
  caldera ledger usage --by tenant --window 24h -o csv --ledger federation.db
  caldera ledger history --queue training --ledger federation.db
  caldera ledger replay 1 --ledger federation.db      plan cycle 1 again: the same digest?
  caldera ledger sql "SELECT name, verdict FROM jobs" --ledger federation.db
  caldera ledger prune --keep 90 --dry-run --ledger federation.db
                                                      what retention would remove
  caldera ledger jobs --server http://127.0.0.1:8080  ask a running controller
  export CALDERA_LEDGER=federation.db                 instead of --ledger
  export CALDERA_SERVER=http://127.0.0.1:8080         instead of --server

A job is NAME, NAMESPACE/NAME or KIND/NAMESPACE/NAME (the newest of that name), or a uid.
Times are RFC 3339. JSON is an array of objects, one a row; its keys and the headings of CSV are
stable, and only ever added to.
Exit code: 0 done, 1 the answer is no (check or replay found a difference), 2 wrong usage or no
such ledger, job or cycle.)";

/// Between two steps of `prune` its writer gets a turn.
constexpr std::chrono::milliseconds kBetweenSteps{10};
constexpr int64_t kMostDays = 36'500;
/// What a statement on a file may cost: it is held in memory until it is printed.
constexpr int64_t kMostRows = 1'000'000;
constexpr int64_t kMostBytes = int64_t{256} << 20U;
constexpr Millis kLongestSql{86'400'000};

struct Options {
  AskOptions ask;
  std::string output = "table";
  JobFilter jobs;
  PlacementFilter placements;
  HistoryFilter history;
  bool cycles = false;
  std::string by = "queue";
  std::string window = "24h";
  std::string until;
  std::string name;
  int64_t cycle = 0;
  std::string sql;
  std::string timeout = "30s";
  std::string target;
  bool force = false;
  int64_t keep_days = 90;
  bool dry_run = false;
};

class LedgerQuestion {
 public:
  LedgerQuestion(const Options& options, const LedgerReader& reader, const Asker& asker,
                 std::string path)
      : options_(options),
        reader_(reader),
        asker_(asker),
        path_(std::move(path)),
        terminal_(asker.terminal) {}

  Result<Printed> Queues() { return Print(ListQueues(reader_)); }
  Result<Printed> Tenants() { return Print(ListTenants(reader_)); }
  Result<Printed> Jobs() { return Print(ListJobs(reader_, options_.jobs)); }
  Result<Printed> Placements() { return Print(ListPlacements(reader_, options_.placements)); }
  Result<Printed> History() {
    return Print(options_.cycles ? ListCycles(reader_, options_.history.limit)
                                 : ListIntents(reader_, options_.history));
  }
  Result<Printed> Sql() {
    ReadLimits limits = asker_.limits;
    limits.rows = limits.rows > 0 ? limits.rows : kMostRows;
    limits.bytes = limits.bytes > 0 ? limits.bytes : kMostBytes;
    if (limits.give_up) {
      return Print(RunSql(path_, options_.sql, limits));  // A controller's own limit holds.
    }
    CALDERA_TRY(const Millis span, SqlTime());
    const auto end = std::chrono::steady_clock::now() + span;
    auto gave_up = std::make_shared<bool>(false);
    limits.give_up = [end, gave_up] {
      *gave_up = *gave_up || std::chrono::steady_clock::now() >= end;
      return *gave_up;
    };
    const Result<Listing> listing = RunSql(path_, options_.sql, limits);
    if (!listing.has_value() && *gave_up) {
      return Fail(ErrorCode::kUnavailable, "the statement was ended, since it took longer than " +
                                               FormatDuration(span) +
                                               ": ask for less, or allow it more with --timeout");
    }
    return Print(listing);
  }

  Result<Printed> Usage() {
    UsageQuery query;
    query.by = options_.by;
    CALDERA_TRY(query.window, ParseDuration(options_.window));
    CALDERA_TRY(query.until, UsageEnd());
    CALDERA_TRY(const Listing listing, ListUsage(reader_, query));
    std::string text;
    if (Format() == LedgerFormat::kTable) {
      text = "Charged by " + query.by + " from " + FormatTime(*query.until - query.window) +
             " to " + FormatTime(*query.until) + "\n\n";
    }
    return Printed{text + PrintListing(listing, Format(), terminal_)};
  }

  Result<Printed> Job() {
    CALDERA_TRY(const JobAnswer answer, DescribeJob(reader_, options_.name));
    return Printed{PrintJob(answer, Format(), terminal_)};
  }

  Result<Printed> Explain() {
    CALDERA_TRY(const Explanation answer, ExplainJob(reader_, options_.name));
    return Printed{PrintExplanation(answer, Format(), terminal_)};
  }

  Result<Printed> ReplayCycle() {
    CALDERA_TRY(const ReplayReport report, Replay(reader_, options_.cycle));
    const int code = report.Same() ? kExitOk : kExitRefused;
    if (Format() != LedgerFormat::kTable) {
      const Listing listing{
          {"cycle", "time", "changes", "actions", "recorded", "replayed", "same", "difference"},
          {{report.cycle, report.time, report.changes, report.actions, report.recorded,
            report.replayed, report.Same(), report.difference}}};
      return Printed{PrintListing(listing, Format(), terminal_), code};
    }
    std::string text = "cycle " + std::to_string(report.cycle) + " at " + FormatTime(report.time) +
                       ": " + std::to_string(report.changes) + " changes, " +
                       std::to_string(report.actions) + " actions\nrecorded  " +
                       Harmless(report.recorded) + "\nreplayed  " + report.replayed + "\n";
    text += report.Same() ? terminal_.Painted("the same digest", Paint::kGreen) + "\n"
                          : terminal_.Painted("not the same: ", Paint::kRed) +
                                Harmless(report.difference) + "\n";
    return Printed{std::move(text), code};
  }

  Result<Printed> Check() {
    CALDERA_TRY(const AuditReport report, Audit(reader_));
    const int code = report.findings.empty() ? kExitOk : kExitRefused;
    if (Format() != LedgerFormat::kTable) {
      Listing listing{{"finding"}, {}};
      for (const std::string& finding : report.findings) {
        listing.rows.push_back({finding});
      }
      return Printed{PrintListing(listing, Format(), terminal_), code};
    }
    std::string text = std::to_string(report.cycles) + " cycles, " +
                       std::to_string(report.checkpoints) + " checkpoints, " +
                       std::to_string(report.open_shards) + " charged shards, " +
                       std::to_string(report.balances) + " balances; digest " +
                       (report.digest.empty() ? "-" : Harmless(report.digest)) + "\n";
    for (const std::string& finding : report.findings) {
      text += terminal_.Painted("wrong: ", Paint::kRed) + Harmless(finding) + "\n";
    }
    text += report.findings.empty() ? terminal_.Painted("all is well", Paint::kGreen) + "\n" : "";
    return Printed{std::move(text), code};
  }

  Result<Printed> BackUp() {
    if (!asker_.served.empty()) {
      return Fail(ErrorCode::kInvalid,
                  "a backup is written where the ledger is: run it there, with --ledger FILE");
    }
    CALDERA_CHECK(Backup(reader_, options_.target, options_.force));
    return Printed{"wrote " + options_.target + "\n"};
  }

  Result<Printed> PruneOld() {
    if (!asker_.served.empty()) {
      return Fail(ErrorCode::kInvalid,
                  "a ledger is pruned where its file is: run it there, with --ledger FILE");
    }
    PruneOptions prune;
    prune.keep = std::chrono::hours(24) * options_.keep_days;
    prune.dry_run = options_.dry_run;
    prune.between = [] { std::this_thread::sleep_for(kBetweenSteps); };
    CALDERA_TRY(const PruneReport report, Prune(path_, prune));
    if (Format() != LedgerFormat::kTable) {
      const Listing listing{
          {"before", "firstCycle", "cycles", "checkpoints", "shards", "intents", "verdicts", "jobs",
           "dryRun"},
          {{report.before, report.first_cycle, report.cycles, report.checkpoints, report.shards,
            report.intents, report.verdicts, report.jobs, options_.dry_run}}};
      return Printed{PrintListing(listing, Format(), terminal_)};
    }
    return Printed{PruneText(report)};
  }

 private:
  [[nodiscard]] Result<Millis> SqlTime() const {
    CALDERA_TRY(const Millis span,
                ParseDuration(options_.timeout).map_error([](const Error& error) {
                  return error.Within("--timeout");
                }));
    if (span <= Millis(0) || span > kLongestSql) {
      return Fail(ErrorCode::kInvalid, "--timeout: must be more than nothing and at most " +
                                           FormatDuration(kLongestSql) + ", not " +
                                           options_.timeout);
    }
    return span;
  }
  [[nodiscard]] std::string PruneText(const PruneReport& report) const {
    const std::string done = options_.dry_run ? "would go" : "went";
    std::string text = "Older than " + FormatTime(report.before) + " " + done + ":\n";
    for (const auto& [count, what] :
         {std::pair{report.cycles, " cycles of the journal"},
          std::pair{report.checkpoints, " checkpoints"},
          std::pair{report.shards, " charges, to usage by the hour"},
          std::pair{report.intents, " decisions"}, std::pair{report.verdicts, " verdicts"},
          std::pair{report.jobs, " deleted jobs"}}) {
      text += "  " + std::to_string(count) + what + "\n";
    }
    const std::string begins = options_.dry_run ? "would begin" : "begins";
    text += report.first_cycle == 0 ? "The journal is empty.\n"
                                    : "The journal " + begins + " with cycle " +
                                          std::to_string(report.first_cycle) + ".\n";
    return text;
  }
  /// What is charged goes on after the last cycle, so the window ends now; except in a ledger that
  /// was written ahead of the clock (`plan --at`).
  Result<Time> UsageEnd() {
    if (!options_.until.empty()) {
      return ParseTime(options_.until).map_error([](const Error& error) {
        return error.Within("--until");
      });
    }
    CALDERA_TRY(const JournalEnd end, reader_.End());
    return std::max(end.time, std::chrono::floor<Millis>(std::chrono::system_clock::now()));
  }
  [[nodiscard]] LedgerFormat Format() const {
    if (options_.output == "json") {
      return LedgerFormat::kJson;
    }
    return options_.output == "csv" ? LedgerFormat::kCsv : LedgerFormat::kTable;
  }
  Result<Printed> Print(const Result<Listing>& listing) {
    if (!listing.has_value()) {
      return tl::unexpected<Error>(listing.error());
    }
    return Printed{PrintListing(*listing, Format(), terminal_)};
  }

  const Options& options_;
  const LedgerReader& reader_;
  const Asker& asker_;
  const std::string path_;
  Terminal terminal_;
};

using Question = Result<Printed> (LedgerQuestion::*)();

class LedgerCommand {
 public:
  LedgerCommand(CLI::App& app, int& exit_code, const Asker& asker)
      : options_(std::make_shared<Options>()),
        exit_code_(exit_code),
        asker_(std::make_shared<const Asker>(asker)),
        ledger_(*app.add_subcommand("ledger", "Ask a ledger what happened, what is owed and why")) {
  }

  void Add() {
    ledger_.footer(kLedgerExamples);
    ledger_.require_subcommand(1);
    AddAskOptions(ledger_, options_->ask);
    AddOutput(ledger_, options_->output, "table|json|csv");
    AddLists();
    AddJobQuestions();
    AddAudits();
  }

 private:
  CLI::App& Sub(const std::string& name, const std::string& about, Question question) {
    CLI::App* sub = ledger_.add_subcommand(name, about);
    // So that --ledger and -o may also stand behind the subcommand.
    sub->fallthrough();
    sub->callback([options = options_, asker = asker_, &exit_code = exit_code_, name, question] {
      const auto answer = [&](const LedgerReader& reader, const std::string& path) {
        LedgerQuestion asked(*options, reader, *asker, path);
        return (asked.*question)();
      };
      exit_code = Ask(*asker, options->ask, "ledger " + name, answer);
    });
    return *sub;
  }

  void AddLists() {
    Options& to = *options_;
    Sub("queues", "What each queue deserves and holds", &LedgerQuestion::Queues);
    Sub("tenants", "What each tenant uses of its quota", &LedgerQuestion::Tenants);

    CLI::App& jobs = Sub("jobs", "Jobs with their state and verdict", &LedgerQuestion::Jobs);
    jobs.add_option("--queue", to.jobs.queue, "Only of this queue");
    jobs.add_option("--tenant,-n,--namespace", to.jobs.tenant, "Only of this namespace");
    jobs.add_option("--state", to.jobs.state, "Only in this state")
        ->check(CLI::IsMember({"pending", "running", "finished", "released"}));
    jobs.add_flag("--all", to.jobs.gone, "Also jobs that were deleted");

    CLI::App& placements =
        Sub("placements", "What runs where, and since when", &LedgerQuestion::Placements);
    placements.add_option("--queue", to.placements.queue, "Only of this queue");
    placements.add_option("--cluster", to.placements.cluster, "Only on this cluster");
    placements.add_flag("--all", to.placements.ended, "Also what has ended");

    CLI::App& usage = Sub("usage", "What was used in a window of time", &LedgerQuestion::Usage);
    usage.add_option("--by", to.by, "Sum by this (default: queue)")
        ->check(CLI::IsMember({"queue", "tenant", "cluster"}));
    usage.add_option("--window", to.window, "How far back (default: 24h)")->type_name("DURATION");
    usage.add_option("--until", to.until, "End of the window (default: now)")->type_name("TIME");
  }

  void AddJobQuestions() {
    Options& to = *options_;
    Sub("job", "Everything about one job", &LedgerQuestion::Job)
        .add_option("JOB", to.name, "NAME or NAMESPACE/NAME")
        ->required();
    Sub("explain", "Why a job waits, or why it runs where it runs", &LedgerQuestion::Explain)
        .add_option("JOB", to.name, "NAME or NAMESPACE/NAME")
        ->required();
    CLI::App& history =
        Sub("history", "Decisions with their reasons, oldest first", &LedgerQuestion::History);
    history.add_option("--job", to.history.job, "Only of this job");
    history.add_option("--queue", to.history.queue, "Only of this queue");
    history.add_option("--limit", to.history.limit, "The newest so many, 0 for all (default: 100)")
        ->check([](const std::string& text) {
          return std::string(text.starts_with('-') ? "must be 0 or more, not " + text : "");
        });
    history.add_flag("--cycles", to.cycles, "Cycles with their digests instead of decisions");
  }

  void AddAudits() {
    Options& to = *options_;
    Sub("replay", "Plan a cycle again and compare the digests", &LedgerQuestion::ReplayCycle)
        .add_option("CYCLE", to.cycle, "Number of the cycle")
        ->required();
    CLI::App& sql = Sub("sql", "Run one SQL statement that only reads", &LedgerQuestion::Sql);
    sql.add_option("QUERY", to.sql, "The statement")->required();
    sql.add_option("--timeout", to.timeout,
                   "It is ended after this long (default: 30s); a controller has its own limit")
        ->type_name("DURATION");
    CLI::App& backup = Sub("backup", "Copy the ledger while it is in use", &LedgerQuestion::BackUp);
    backup.add_option("FILE", to.target, "The copy")->required();
    backup.add_flag("--force", to.force, "Replace the file if it exists");
    CLI::App& prune = Sub("prune", "Remove what is old, and keep its usage by the hour",
                          &LedgerQuestion::PruneOld);
    prune.add_option("--keep", to.keep_days, "Days before the last cycle to keep (default: 90)")
        ->type_name("DAYS")
        ->check(CLI::Range(int64_t{0}, kMostDays));
    prune.add_flag("--dry-run", to.dry_run, "Only say what would go");
    Sub("check", "Check file, digests, balances and shards", &LedgerQuestion::Check);
  }

  std::shared_ptr<Options> options_;
  int& exit_code_;
  std::shared_ptr<const Asker> asker_;
  CLI::App& ledger_;
};

}  // namespace

void AddLedgerCommand(CLI::App& app, int& exit_code, const Asker& asker) {
  LedgerCommand(app, exit_code, asker).Add();
}

}  // namespace caldera
