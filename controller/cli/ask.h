// Where a question about a ledger is answered, and how its answer is shown: the file, read here, or
// a running controller, which runs the same commands on its own ledger (AnswerQuestion) and sends
// back what they print.
#pragma once

#include <functional>
#include <iosfwd>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "controller/cli/terminal.h"
#include "federation/result.h"
#include "storage/reader.h"

namespace CLI {
class App;
}  // namespace CLI

namespace caldera {

/// The phases of a job's shards where they are known, by cluster and child; argument: the job's
/// uid.
using PhasesOf = std::function<std::map<std::pair<std::string, std::string>, std::string>(
    const std::string& job_uid)>;

/// What a command prints, and its exit code.
struct Printed {
  std::string text;
  int exit_code = 0;
};

/// For whom the commands of this process answer. All is set by main or AnswerQuestion.
struct Asker {
  std::vector<std::string> arguments;  ///< As typed, without the program's name.
  std::string server;                  ///< CALDERA_SERVER.
  Terminal terminal;                   ///< Of `out`.
  std::ostream* out = nullptr;
  /// In a controller: its ledger. Every question is about this file, nothing is written.
  std::string served;
  std::shared_ptr<Error> failure;  ///< There, errors are left here instead of printed.
  ReadLimits limits;
  PhasesOf phases;  ///< Unset: not known.
};

/// The asker of a program that was called by a person: its streams, CALDERA_SERVER.
Asker AskerOf(int argc, char** argv);

/// Options that the commands share.
struct AskOptions {
  std::string ledger;
  std::string server;
};

/// Adds `--ledger` and `--server`.
void AddAskOptions(CLI::App& command, AskOptions& options);

/// Answers from the ledger's file at `path`.
using AnswerFrom =
    std::function<Result<Printed>(const LedgerReader& reader, const std::string& path)>;

/// Asks the controller that `options` or CALDERA_SERVER names, which is sent the arguments as they
/// were typed, else the file; prints the answer or the error of `command`; the exit code. An option
/// wins over the environment, the server over the file.
int Ask(const Asker& asker, const AskOptions& options, const std::string& command,
        const AnswerFrom& answer);

/// The URL's controller answers; the same bytes and exit code as if it had been asked there.
/// Errors: kInvalid (URL), kUnavailable (no answer), else as the controller had it.
Result<Printed> AskServer(const std::string& server, const std::vector<std::string>& arguments,
                          const Terminal& terminal);

/// Runs `caldera ARGUMENTS`, one of the commands that read a ledger, on `asker.served`. Success:
/// what it prints on standard output, exit code 0 or 1. Error: as the command had it; kInvalid also
/// for other commands, wrong usage, and what would write. Any thread, one at a time.
Result<Printed> AnswerQuestion(Asker asker);

}  // namespace caldera
