// The program `caldera`, which kubectl also finds as its plugin `kubectl caldera`.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <iostream>
#include <string>
#include <string_view>

#include "controller/cli/command.h"

namespace caldera {
namespace {

constexpr const char* kAbout =
    "Caldera plans Volcano Jobs over the member clusters of a Karmada federation: which job runs "
    "next, in which cluster, and why the others wait.";

constexpr const char* kExamples = R"(Examples:
  caldera validate -f job.yaml             check a manifest as the cluster would
  caldera plan -f examples/quickstart      who runs where, and why the others wait
  caldera plan -f DIR --explain team-a/train
                                           what would let this job run
  caldera plan -f DIR -o json | jq '.pending[] | {job, verdict}'
  caldera plan -f DIR --ledger federation.db --render out/
                                           record the plan, write what would be sent
  caldera simulate -f DIR --scenario day.yaml --plot day.svg
                                           what a day of jobs would look like
  caldera explain team-a/train --ledger federation.db
                                           ask later
  caldera job team-a/train --server http://127.0.0.1:8080
                                           ask a running controller
Each command has examples of its own: caldera plan --help.
Exit code: 0 done, 1 the answer is no (an object was refused), 2 wrong usage or unusable input.)";

std::string ProgramName(std::string_view invoked) {
  const size_t slash = invoked.rfind('/');
  const std::string_view name =
      slash == std::string_view::npos ? invoked : invoked.substr(slash + 1);
  return name == "kubectl-caldera" ? "kubectl caldera" : "caldera";
}

int Run(int argc, char** argv) {
  int exit_code = kExitOk;
  CLI::App app(kAbout, ProgramName(argc > 0 ? argv[0] : ""));
  app.footer(kExamples);
  app.get_formatter()->column_width(28);
  app.set_version_flag("--version", std::string("caldera ") + CALDERA_VERSION, "Print the version");
  app.require_subcommand(0, 1);
  AddPlanCommand(app, exit_code);
  AddValidateCommand(app, exit_code);
  AddSimulateCommand(app, exit_code);
  const Asker asker = AskerOf(argc, argv);
  AddLedgerCommand(app, exit_code, asker);
  AddExplainCommand(app, exit_code, asker);
  AddJobCommand(app, exit_code, asker);
  AddVersionCommand(app);
  AddCompletionCommand(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error, std::cout, std::cerr) == 0 ? kExitOk : kExitUnusable;
  }
  if (app.get_subcommands().empty()) {
    std::cout << app.help();
  }
  std::cout.flush();
  if (std::fflush(stdout) != 0 || !std::cout) {
    std::cerr << "caldera: cannot write to standard output\n";
    return kExitUnusable;
  }
  return exit_code;
}

}  // namespace
}  // namespace caldera

int main(int argc, char** argv) {
  try {
    return caldera::Run(argc, argv);
  } catch (const std::exception& error) {
    // Only memory can run out here: everything else is handled where it happens.
    std::fprintf(stderr, "caldera: %s\n", error.what());
  } catch (...) {
    std::fputs("caldera: unknown exception\n", stderr);
  }
  return caldera::kExitUnusable;
}
