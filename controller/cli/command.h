// What a subcommand of `caldera` is to main: one function that adds it to the program's parser. Its
// callback runs the command and leaves the exit code; errors are printed to stderr, results to
// stdout. Each lives in its own translation unit, the only ones that include CLI11.
#pragma once

#include "controller/cli/ask.h"

namespace CLI {
class App;
}  // namespace CLI

namespace caldera {

inline constexpr int kExitOk = 0;
inline constexpr int kExitRefused =
    1;  ///< The answer is no: an object was refused, a check failed.
inline constexpr int kExitUnusable = 2;  ///< Wrong usage or unusable input: there is no answer.

// `exit_code` outlives the parser and stays kExitOk unless the callback sets it.
void AddPlanCommand(CLI::App& app, int& exit_code);
void AddValidateCommand(CLI::App& app, int& exit_code);
void AddSimulateCommand(CLI::App& app, int& exit_code);
void AddLedgerCommand(CLI::App& app, int& exit_code, const Asker& asker);
void AddExplainCommand(CLI::App& app, int& exit_code, const Asker& asker);
void AddJobCommand(CLI::App& app, int& exit_code, const Asker& asker);
void AddVersionCommand(CLI::App& app);
void AddCompletionCommand(CLI::App& app);

}  // namespace caldera
