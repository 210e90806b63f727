// `caldera explain`: why a job waits and what would let it run, or why it runs where it runs, as of
// the last recorded cycle.
#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <utility>

#include "controller/cli/ask.h"
#include "controller/cli/command.h"
#include "controller/cli/contract.h"
#include "controller/cli/ledger_output.h"
#include "controller/cli/options.h"
#include "controller/kube/json_writer.h"
#include "federation/explain.h"
#include "storage/queries.h"

namespace caldera {
namespace {

constexpr const char* kExamples = R"(Examples:
  caldera explain team-a/train                  the controller or ledger that the environment names
  caldera explain team-a/train --server http://127.0.0.1:8080
  caldera explain team-a/train --ledger federation.db -o json

A job is NAME, NAMESPACE/NAME or KIND/NAMESPACE/NAME (the newest of that name), or a uid.
The smallest change that would let a waiting job run is applied to a copy of the State and planned
again before it is shown.
Exit code: 0 done, 2 wrong usage, or no such controller, ledger or job.)";

struct ExplainOptions {
  AskOptions ask;
  std::string output;
  std::string job;
};

std::string TextOf(const Listing& listing, const std::string& column) {
  for (size_t i = 0; i < listing.columns.size(); ++i) {
    if (listing.columns[i] == column) {
      const auto* const text = std::get_if<std::string>(&listing.rows.front()[i]);
      return text == nullptr ? "" : *text;
    }
  }
  return "";
}

std::string AheadText(const std::vector<QueueAhead>& ahead, const Terminal& terminal) {
  std::string text =
      ahead.empty() ? "" : "\n" + terminal.Painted("WHOSE TURN IT IS", Paint::kBold) + "\n";
  for (const std::string& sentence : Sentences(ahead)) {
    text += "  " + Harmless(sentence) + ".\n";
  }
  return text;
}

std::string EditsText(const std::vector<Edit>& edits, const Terminal& terminal) {
  std::string text = "\n" + terminal.Painted("WOULD BE PLACED IF", Paint::kBold) + "\n";
  if (edits.empty()) {
    return text + "  No single change of a limit or a capacity would place it now.\n";
  }
  for (const Edit& edit : edits) {
    text += "  " + Harmless(edit.object + " " + edit.field + ": " + edit.from + " -> " + edit.to) +
            "\n";
  }
  return text;
}

Result<Printed> Explain(const ExplainOptions& options, const Terminal& terminal,
                        const LedgerReader& reader) {
  CALDERA_TRY(const Explanation answer, ExplainJob(reader, options.job));
  CALDERA_TRY(const State state, reader.Load());
  const std::string name = TextOf(answer.job, "job");
  const size_t slash = name.find('/');
  const JobKey key{name.substr(0, slash), name.substr(slash + 1)};
  const JobKind kind =
      TextOf(answer.job, "kind") == "HyperJob" ? JobKind::kHyperJob : JobKind::kJob;
  const JobIndex found = state.FindJob(key, kind);
  const bool waits = found != kNoIndex && state.job(found).Pending();
  const std::vector<Edit> edits = waits ? WouldFitIf(state, key) : std::vector<Edit>{};
  const std::vector<QueueAhead> ahead = waits ? WhoIsAhead(state, key) : std::vector<QueueAhead>{};
  if (options.output == "json") {
    std::string text = PrintExplanation(answer, LedgerFormat::kJson, terminal);
    text.resize(text.rfind('}'));
    return Printed{text + ",\n  \"ahead\":" + WriteJson(AheadValue(ahead)) +
                       ",\n  \"turn\":" + WriteJson(TurnValue(ahead)) +
                       ",\n  \"wouldFitIf\":" + WriteJson(EditsValue(edits)) + "}\n",
                   kExitOk};
  }
  return Printed{PrintExplanation(answer, LedgerFormat::kTable, terminal) +
                     AheadText(ahead, terminal) + (waits ? EditsText(edits, terminal) : ""),
                 kExitOk};
}

}  // namespace

void AddExplainCommand(CLI::App& app, int& exit_code, const Asker& asker) {
  CLI::App* const command =
      app.add_subcommand("explain", "Why a job waits, and what would let it run");
  const auto options = std::make_shared<ExplainOptions>();
  command->footer(kExamples);
  command->add_option("JOB", options->job, "NAME or NAMESPACE/NAME")->required();
  AddAskOptions(*command, options->ask);
  AddOutput(*command, options->output, "table|json");
  command->callback([options, asker, &exit_code] {
    exit_code = Ask(asker, options->ask, "explain",
                    [&](const LedgerReader& reader, const std::string& /*path*/) {
                      return Explain(*options, asker.terminal, reader);
                    });
  });
}

}  // namespace caldera
