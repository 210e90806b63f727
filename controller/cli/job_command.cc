// `caldera job`: where a job's shards are, how they are, and how to read the logs of their pods.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "controller/cli/ask.h"
#include "controller/cli/command.h"
#include "controller/cli/ledger_json.h"
#include "controller/cli/ledger_output.h"
#include "controller/cli/options.h"
#include "storage/queries.h"

namespace caldera {
namespace {

constexpr const char* kExamples = R"(Examples:
  caldera job team-a/train                      the controller or ledger that the environment names
  caldera job team-a/train --server http://127.0.0.1:8080
  caldera job team-a/train -o json | jq -r '.shards[].logs[]'

A job is NAME, NAMESPACE/NAME or KIND/NAMESPACE/NAME (the newest of that name), or a uid.
A shard's phase is known to a running controller only. Decisions about a job are in
`caldera ledger job`.
Exit code: 0 done, 2 wrong usage, or no such controller, ledger or job.)";

constexpr size_t kPodsShown = 8;  ///< Of a shard, in a table; JSON has them all.

struct JobOptions {
  AskOptions ask;
  std::string output;
  std::string job;
};

/// Columns of a listing by name.
class Row {
 public:
  Row(const Listing& listing, size_t row) : listing_(listing), row_(row) {}

  template <typename T>
  [[nodiscard]] T Get(const std::string& column) const {
    const auto at = std::find(listing_.columns.begin(), listing_.columns.end(), column);
    const auto index = static_cast<size_t>(at - listing_.columns.begin());
    const T* const value =
        at == listing_.columns.end() ? nullptr : std::get_if<T>(&listing_.rows[row_][index]);
    return value == nullptr ? T() : *value;
  }

 private:
  const Listing& listing_;
  size_t row_;
};

struct ShardLine {
  std::string cluster;
  std::string child;
  std::string phase;  ///< Empty: not known.
  int64_t epoch = 0;
  std::vector<TaskGrant> tasks;
  std::vector<std::string> pods;
};

// Volcano's rule: JOB-TASK-INDEX. Each shard is a Job of its own, whose indexes begin at 0.
std::vector<std::string> PodsOf(const std::string& job, const std::vector<TaskGrant>& tasks) {
  std::vector<std::string> pods;
  for (const TaskGrant& task : tasks) {
    for (int32_t i = 0; i < task.replicas; ++i) {
      pods.push_back(job + "-" + task.name + "-" + std::to_string(i));
    }
  }
  return pods;
}

// Those that are charged; where none is, those of the last time.
std::vector<ShardLine> ShardsOf(const JobAnswer& answer, const PhasesOf& phases_of) {
  const Row job(answer.job, 0);
  const auto full = job.Get<std::string>("job");
  const std::string name = full.substr(full.find('/') + 1);
  const auto phases = phases_of ? phases_of(job.Get<std::string>("uid"))
                                : std::map<std::pair<std::string, std::string>, std::string>();
  int64_t last = 0;
  bool charged = false;
  for (size_t i = 0; i < answer.shards.rows.size(); ++i) {
    const Row row(answer.shards, i);
    last = std::max(last, row.Get<int64_t>("epoch"));
    charged = charged || row.Get<Time>("until") == Time();
  }
  std::vector<ShardLine> lines;
  for (size_t i = 0; i < answer.shards.rows.size(); ++i) {
    const Row row(answer.shards, i);
    ShardLine line{row.Get<std::string>("cluster"),
                   row.Get<std::string>("child"),
                   "",
                   row.Get<int64_t>("epoch"),
                   row.Get<std::vector<TaskGrant>>("tasks"),
                   {}};
    if (line.epoch != last || (charged && row.Get<Time>("until") != Time())) {
      continue;
    }
    if (const auto phase = phases.find({line.cluster, line.child}); phase != phases.end()) {
      line.phase = phase->second;
    }
    line.pods = PodsOf(line.child.empty() ? name : name + "-" + line.child, line.tasks);
    lines.push_back(std::move(line));
  }
  return lines;
}

std::string LogsLine(const std::string& pod, const std::string& ns, const std::string& cluster) {
  return "karmadactl logs " + pod + " -n " + ns + " -C " + cluster;
}

std::string AsJson(const JobAnswer& answer, const std::vector<ShardLine>& shards,
                   const std::string& ns) {
  std::string text = "{" + JsonMembers(answer.job, 0) + ",\n  \"shards\":[";
  for (size_t i = 0; i < shards.size(); ++i) {
    const ShardLine& shard = shards[i];
    text += (i > 0 ? "," : "") + std::string("\n    {\"cluster\":") + JsonString(shard.cluster) +
            ",\"child\":" + JsonString(shard.child) +
            ",\"phase\":" + (shard.phase.empty() ? "null" : JsonString(shard.phase)) +
            ",\"epoch\":" + std::to_string(shard.epoch) +
            ",\"tasks\":" + JsonOf(Datum(shard.tasks)) + ",\"pods\":[";
    std::string logs;
    for (size_t pod = 0; pod < shard.pods.size(); ++pod) {
      const std::string comma = pod > 0 ? "," : "";
      text += comma + JsonString(shard.pods[pod]);
      logs += comma + JsonString(LogsLine(shard.pods[pod], ns, shard.cluster));
    }
    text += "],\"logs\":[" + logs + "]}";
  }
  return text + "]}\n";
}

std::string AsTable(const JobAnswer& answer, const std::vector<ShardLine>& shards,
                    const std::string& ns, const Terminal& terminal) {
  Listing job{{"job", "kind", "queue", "state", "verdict", "message"}, {{}}};
  const Row row(answer.job, 0);
  for (const std::string& column : job.columns) {
    const auto text = row.Get<std::string>(column);
    job.rows.front().push_back(text.empty() ? Datum() : Datum(text));
  }
  std::string text = PrintJob({job, {}, {}, {}}, LedgerFormat::kTable, terminal);
  if (shards.empty()) {
    return text + "\nIt has no shards: it was placed nowhere yet.\n";
  }
  Listing table{{"cluster", "child", "phase", "epoch", "tasks"}, {}};
  std::string logs;
  for (const ShardLine& shard : shards) {
    const auto known = [](const std::string& value) { return value.empty() ? Datum() : value; };
    table.rows.push_back(
        {shard.cluster, known(shard.child), known(shard.phase), shard.epoch, shard.tasks});
    for (size_t pod = 0; pod < std::min(shard.pods.size(), kPodsShown); ++pod) {
      logs += "  " + Harmless(LogsLine(shard.pods[pod], ns, shard.cluster)) + "\n";
    }
    if (shard.pods.size() > kPodsShown) {
      logs += "  ... and " + std::to_string(shard.pods.size() - kPodsShown) + " more in " +
              Harmless(shard.cluster) + ": -o json has all\n";
    }
  }
  return text + "\n" + terminal.Painted("SHARDS", Paint::kBold) + "\n" +
         PrintListing(table, LedgerFormat::kTable, terminal) + "\n" +
         terminal.Painted("LOGS", Paint::kBold) + "\n" + logs;
}

Result<Printed> ShowJob(const JobOptions& options, const Asker& asker, const LedgerReader& reader) {
  CALDERA_TRY(const JobAnswer answer, DescribeJob(reader, options.job));
  const std::vector<ShardLine> shards = ShardsOf(answer, asker.phases);
  const auto full = Row(answer.job, 0).Get<std::string>("job");
  const std::string ns = full.substr(0, full.find('/'));
  return Printed{options.output == "json" ? AsJson(answer, shards, ns)
                                          : AsTable(answer, shards, ns, asker.terminal),
                 kExitOk};
}

}  // namespace

void AddJobCommand(CLI::App& app, int& exit_code, const Asker& asker) {
  CLI::App* const command =
      app.add_subcommand("job", "Where a job runs, and how to read its pods' logs");
  const auto options = std::make_shared<JobOptions>();
  command->footer(kExamples);
  command->add_option("JOB", options->job, "NAME or NAMESPACE/NAME")->required();
  AddAskOptions(*command, options->ask);
  AddOutput(*command, options->output, "table|json");
  command->callback([options, asker, &exit_code] {
    exit_code = Ask(asker, options->ask, "job",
                    [&](const LedgerReader& reader, const std::string& /*path*/) {
                      return ShowJob(*options, asker, reader);
                    });
  });
}

}  // namespace caldera
