#include "controller/cli/ask.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <sstream>

#include "controller/cli/command.h"
#include "controller/cli/messages.h"
#include "controller/cli/options.h"

namespace caldera {
namespace {

constexpr std::string_view kServer = "--server";

bool Typed(const std::vector<std::string>& arguments, const std::string& option) {
  return std::any_of(arguments.begin(), arguments.end(), [&](const std::string& argument) {
    return argument == option || argument.starts_with(option + "=");
  });
}

// The arguments without what says where to ask.
std::vector<std::string> Forwarded(const std::vector<std::string>& arguments) {
  std::vector<std::string> rest;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == kServer) {
      ++i;
    } else if (!arguments[i].starts_with("--server=")) {
      rest.push_back(arguments[i]);
    }
  }
  return rest;
}

Result<Printed> AskFile(const Asker& asker, const std::string& path, const AnswerFrom& answer) {
  if (path.empty()) {
    return Fail(
        ErrorCode::kInvalid,
        "say whom to ask: --server URL or CALDERA_SERVER for a running controller, --ledger "
        "FILE or CALDERA_LEDGER for a file");
  }
  CALDERA_TRY(const LedgerReader reader, LedgerReader::Open(path, asker.limits));
  return answer(reader, path);
}

Result<Printed> AnswerOf(const Asker& asker, const AskOptions& options, const AnswerFrom& answer) {
  if (!asker.served.empty()) {
    return AskFile(asker, asker.served, answer);
  }
  const bool file = Typed(asker.arguments, "--ledger");
  if (file && !options.server.empty()) {
    return Fail(ErrorCode::kInvalid, "--server and --ledger: give one of them");
  }
  const std::string& server = options.server.empty() && !file ? asker.server : options.server;
  return server.empty() ? AskFile(asker, options.ledger, answer)
                        : AskServer(server, Forwarded(asker.arguments), asker.terminal);
}

}  // namespace

Asker AskerOf(int argc, char** argv) {
  Asker asker;
  for (int i = 1; i < argc; ++i) {
    asker.arguments.emplace_back(argv[i]);
  }
  // Read once at start, before any thread exists.
  const char* const server = std::getenv("CALDERA_SERVER");  // NOLINT(concurrency-mt-unsafe)
  asker.server = server == nullptr ? "" : server;
  asker.terminal = Terminal::Of(stdout);
  asker.out = &std::cout;
  return asker;
}

void AddAskOptions(CLI::App& command, AskOptions& options) {
  command
      .add_option("--server", options.server,
                  "A running controller, such as http://127.0.0.1:8080 (default: CALDERA_SERVER)")
      ->type_name("URL")
      ->check(CheckNotEmpty);
  command.add_option("--ledger", options.ledger, "The ledger's file")
      ->type_name("FILE")
      ->check(CheckNotEmpty)
      ->envname("CALDERA_LEDGER");
}

int Ask(const Asker& asker, const AskOptions& options, const std::string& command,
        const AnswerFrom& answer) {
  const Result<Printed> printed = AnswerOf(asker, options, answer);
  if (!printed.has_value()) {
    if (asker.failure != nullptr) {
      *asker.failure = printed.error();
      return kExitUnusable;
    }
    return PrintUnusable(command, printed.error());
  }
  *asker.out << printed->text;
  return printed->exit_code;
}

Result<Printed> AnswerQuestion(Asker asker) {
  std::ostringstream out;
  std::ostringstream usage;
  asker.out = &out;
  asker.failure = std::make_shared<Error>();
  int exit_code = kExitOk;
  CLI::App app("", "caldera");
  app.require_subcommand(1);
  AddLedgerCommand(app, exit_code, asker);
  AddExplainCommand(app, exit_code, asker);
  AddJobCommand(app, exit_code, asker);
  try {
    // CLI11 takes them from the back.
    app.parse(std::vector<std::string>(asker.arguments.rbegin(), asker.arguments.rend()));
  } catch (const CLI::ParseError& error) {
    asker.failure->code = ErrorCode::kInvalid;
    exit_code = app.exit(error, out, usage) == 0 ? kExitOk : kExitUnusable;
  }
  if (exit_code == kExitUnusable) {
    if (asker.failure->message.empty()) {
      asker.failure->message = usage.str();
    }
    return tl::unexpected<Error>(*asker.failure);
  }
  return Printed{out.str(), exit_code};
}

}  // namespace caldera
