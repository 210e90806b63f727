// The daemon `caldera-controller`: reads its settings, opens the ledger, connects, and runs until
// it is told to stop or loses its lease.
#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "controller/cli/ask.h"
#include "controller/cli/options.h"
#include "controller/kube/kubeconfig.h"
#include "controller/kube/rest_transport.h"
#include "controller/run/config.h"
#include "controller/run/controller.h"
#include "controller/run/http_endpoints.h"
#include "controller/run/ledger_endpoint.h"
#include "controller/run/log.h"
#include "controller/run/metrics.h"

namespace caldera {
namespace {

constexpr int kExitLost = 1;      ///< The lease was lost, or the ledger or network failed at start.
constexpr int kExitUnusable = 2;  ///< Settings or kubeconfig.
constexpr auto kLongestStop = std::chrono::seconds(10);
constexpr auto kPhasesWait = std::chrono::milliseconds(1'000);

struct Flags {
  std::string config;
  std::vector<std::string> settings;
  std::string kubeconfig;
  std::string ledger;
  bool observe = false;
  bool help_config = false;
};

void AddFlags(CLI::App& app, Flags& flags) {
  app.add_option("--config", flags.config, "Settings, a YAML file")
      ->envname("CALDERA_CONFIG")
      ->check(CheckNotEmpty)
      ->type_name("FILE");
  app.add_option("--set", flags.settings,
                 "One setting, over the file's; may be repeated, such as --set timing.batch=10ms")
      ->type_name("KEY=VALUE")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app.add_option("--kubeconfig", flags.kubeconfig, "Short for --set karmada.kubeconfig=FILE")
      ->envname("CALDERA_KUBECONFIG")
      ->check(CheckNotEmpty)
      ->type_name("FILE");
  app.add_option("--ledger", flags.ledger, "Short for --set ledger.path=FILE")
      ->envname("CALDERA_LEDGER")
      ->check(CheckNotEmpty)
      ->type_name("FILE");
  app.add_flag("--observe", flags.observe,
               "Watch, plan and explain, but write nothing to any cluster");
  app.add_flag("--help-config", flags.help_config, "List every setting with its default");
}

Result<std::string> ReadFile(const std::string& path) {
  std::error_code unknown;
  if (std::filesystem::is_directory(path, unknown)) {
    return Fail(ErrorCode::kInvalid, "--config " + path + ": is a directory, not a file");
  }
  std::ifstream file(path, std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (!file) {
    return Fail(ErrorCode::kNotFound, "--config " + path + ": cannot be read");
  }
  return text;
}

Result<ControllerConfig> ConfigOf(const Flags& flags) {
  std::string text;
  if (!flags.config.empty()) {
    CALDERA_TRY(text, ReadFile(flags.config));
  }
  std::vector<std::pair<std::string, Value>> overrides;
  for (const std::string& setting : flags.settings) {
    CALDERA_TRY(auto parsed, ParseOverride(setting));
    overrides.push_back(std::move(parsed));
  }
  if (!flags.kubeconfig.empty()) {
    overrides.emplace_back("karmada.kubeconfig", flags.kubeconfig);
  }
  if (!flags.ledger.empty()) {
    overrides.emplace_back("ledger.path", flags.ledger);
  }
  if (flags.observe) {
    overrides.emplace_back("observe", true);
  }
  return ReadConfig(text, flags.config.empty() ? "settings" : flags.config, overrides);
}

Result<RestConfig> ConnectionOf(const ControllerConfig& config) {
  return config.kubeconfig.empty() ? InClusterConfig()
                                   : LoadKubeconfig(config.kubeconfig, config.context);
}

EndpointAnswer Answer(Controller& controller, Metrics& metrics, const EndpointRequest& request) {
  if (request.path == "/healthz" || request.path == "/livez") {
    return {200, "text/plain; charset=utf-8", "ok\n"};
  }
  if (request.path == "/readyz") {
    std::string missing;
    for (const std::string& what : controller.NotReady()) {
      missing += what + "\n";
    }
    return missing.empty() ? EndpointAnswer{200, "text/plain; charset=utf-8", "ok\n"}
                           : EndpointAnswer{503, "text/plain; charset=utf-8", missing};
  }
  if (request.path == "/metrics") {
    metrics.SetUnobservedFailures(UnobservedFailures());
    controller.UpdateMetrics();
    return {200, "text/plain; version=0.0.4; charset=utf-8", metrics.Text()};
  }
  return {404, "text/plain; charset=utf-8", "not found: see /healthz /readyz /metrics /ledger\n"};
}

/// What the `caldera` commands say about this controller's ledger.
LedgerEndpoint LedgerEndpointOf(const ControllerConfig& config, const Controller& controller,
                                Executor& executor) {
  return LedgerEndpoint([&, path = config.ledger](LedgerQuestionAsked question) {
    Asker asker;
    asker.arguments = std::move(question.arguments);
    asker.terminal = {question.colour, question.width};
    asker.served = path;
    asker.limits = std::move(question.limits);
    asker.phases = [&](const std::string& uid) {
      return AskExecutor(
          executor, [&controller, uid] { return controller.PhasesOf(uid); }, kPhasesWait);
    };
    return AnswerQuestion(std::move(asker)).map([](Printed&& printed) {
      return LedgerAnswer{std::move(printed.text), printed.exit_code};
    });
  });
}

EndpointAnswer AnswerLedger(const ControllerConfig& config, const LedgerEndpoint& ledger,
                            const EndpointRequest& request) {
  if (config.ledger_access == LedgerAccess::kAny ||
      (config.ledger_access == LedgerAccess::kLoopback && request.local)) {
    return ledger.Answer(request);
  }
  return {
      403, "text/vnd.caldera; charset=utf-8",
      "the ledger is not answered here (listen.ledger): ask from this machine or pod, or through "
      "kubectl port-forward"};
}

/// SIGTERM and SIGINT, blocked in all threads before any starts, are waited for in one.
class Signals {
 public:
  Signals() {
    ::sigemptyset(&set_);
    ::sigaddset(&set_, SIGTERM);
    ::sigaddset(&set_, SIGINT);
    ::pthread_sigmask(SIG_BLOCK, &set_, nullptr);
  }
  /// `stop` is called on the first signal; a second ends the process at once.
  void Await(std::function<void()> stop) {
    std::thread([set = set_, stop = std::move(stop)] {
      int signal = 0;
      ::sigwait(&set, &signal);
      stop();
      ::sigwait(&set, &signal);
      std::_Exit(kExitLost);
    }).detach();
  }

 private:
  sigset_t set_{};
};

/// A shutdown has an end, whatever a library waits for.
void StartWatchdog() {
  std::thread([] {
    std::this_thread::sleep_for(kLongestStop);
    std::fputs("caldera-controller: did not stop in time\n", stderr);
    std::_Exit(kExitLost);
  }).detach();
}

int Unusable(const Error& error) {
  std::cerr << "caldera-controller: " << error.message << '\n';
  return kExitUnusable;
}

/// Runs until stopped; the exit code.
int Serve(const ControllerConfig& config, HttpTransport& transport, Executor& executor,
          Ledger& ledger, Signals& signals) {
  Metrics metrics;
  int exit_code = 0;
  auto controller = Controller::Create(config, {executor, transport, ledger, metrics}, [&] {
    exit_code = kExitLost;
    executor.Stop();
  });
  if (!controller.has_value()) {
    Log(LogLevel::kError, "start", {{"error", controller.error().message}});
    return kExitLost;
  }
  EndpointHandlers handlers;
  handlers.now = [&](const EndpointRequest& request) {
    return Answer(**controller, metrics, request);
  };
  LedgerEndpoint ledger_endpoint = LedgerEndpointOf(config, **controller, executor);
  handlers.is_aside = [](const std::string& path) { return path == "/ledger"; };
  handlers.aside = [&](const EndpointRequest& request) {
    return AnswerLedger(config, ledger_endpoint, request);
  };
  auto endpoints = HttpEndpoints::Start(config.address, config.port, executor, handlers);
  if (!endpoints.has_value()) {
    Log(LogLevel::kError, "start", {{"error", endpoints.error().message}});
    return kExitLost;
  }
  Log(LogLevel::kInfo, "listening",
      {{"address", config.address}, {"port", std::to_string((*endpoints)->port())}});
  signals.Await([&] {
    StartWatchdog();
    ledger_endpoint.Stop();
    executor.Post([&] {
      Log(LogLevel::kInfo, "stopping");
      (*controller)->Stop([&] { executor.Stop(); });
    });
  });
  executor.Post([&] { (*controller)->Start(); });
  executor.Run();
  StartWatchdog();
  ledger_endpoint.Stop();
  return exit_code;
}

int Start(const ControllerConfig& config, Signals& signals) {
  StartLog(config.log);
  const auto connection = ConnectionOf(config);
  if (!connection.has_value()) {
    return Unusable(connection.error());
  }
  if (connection->insecure) {
    Log(LogLevel::kWarn, "INSECURE: the server's certificate is not verified",
        {{"server", connection->server}});
  }
  auto ledger = Ledger::Open(config.ledger);
  if (!ledger.has_value()) {
    Log(LogLevel::kError, "open the ledger", {{"error", ledger.error().message}});
    return kExitLost;
  }
  const SystemClock clock;
  Executor executor(clock);
  auto transport = RestTransport::Create(*connection, executor, {});
  if (!transport.has_value()) {
    return Unusable(transport.error());
  }
  Log(LogLevel::kInfo, "starting",
      {{"server", connection->server},
       {"ledger", config.ledger},
       {"observe", config.observe ? "true" : "false"}});
  return Serve(config, **transport, executor, *ledger, signals);
}

int Run(int argc, char** argv) {
  CLI::App app(
      "Caldera's controller: watches Queues and Jobs at a Karmada API, decides, records "
      "and dispatches.",
      "caldera-controller");
  app.get_formatter()->column_width(28);
  app.set_version_flag("--version", std::string("caldera-controller ") + CALDERA_VERSION,
                       "Print the version");
  Flags flags;
  AddFlags(app, flags);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ExtrasError&) {
    std::cerr << "caldera-controller: " << app.remaining().front()
              << ": there is no such option, and no arguments are taken: settings are given as "
                 "--set KEY=VALUE or in --config FILE; see --help\n";
    return kExitUnusable;
  } catch (const CLI::ParseError& error) {
    return app.exit(error, std::cout, std::cerr) == 0 ? 0 : kExitUnusable;
  }
  if (flags.help_config) {
    std::cout << DescribeConfig();
    return 0;
  }
  const auto config = ConfigOf(flags);
  if (!config.has_value()) {
    return Unusable(config.error());
  }
  Signals signals;
  PrepareRestLibrary();
  return Start(*config, signals);
}

}  // namespace
}  // namespace caldera

int main(int argc, char** argv) {
  try {
    return caldera::Run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "caldera-controller: %s\n", error.what());
  } catch (...) {
    std::fputs("caldera-controller: unknown exception\n", stderr);
  }
  return caldera::kExitLost;
}
