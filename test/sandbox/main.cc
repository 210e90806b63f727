// caldera-sandbox: a Karmada API and member APIs on loopback HTTPS, for a stock kubectl and for the
// controller, until it is interrupted. Everything is forgotten at its end.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <thread>

#include "test/sandbox/api_server.h"
#include "test/sandbox/https_server.h"
#include "test/sandbox/served_kinds.h"

namespace caldera::sandbox {
namespace {

struct Settings {
  std::string directory = "sandbox";
  std::vector<std::string> members{"m1", "m2"};
  uint16_t port = 0;
};

struct Endpoint {
  std::unique_ptr<ApiServer> api;
  std::unique_ptr<HttpsServer> https;
};

Status WriteFile(const std::filesystem::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::trunc);
  file << text;
  file.close();
  if (!file) {
    return Fail(ErrorCode::kUnavailable, path.string() + ": cannot be written");
  }
  // It holds a private key.
  std::error_code ignored;
  std::filesystem::permissions(
      path, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write, ignored);
  return {};
}

Result<Endpoint> StartEndpoint(Executor& executor, const Settings& settings,
                               const std::string& name, std::vector<ResourceType> types,
                               uint16_t port) {
  Endpoint endpoint;
  ApiServerOptions options;
  options.name = name;
  options.types = std::move(types);
  endpoint.api = std::make_unique<ApiServer>(executor, std::move(options));
  CALDERA_TRY(const Certificates certificates, MakeCertificates(name));
  HttpsServerOptions https;
  https.port = port;
  CALDERA_TRY(endpoint.https, HttpsServer::Start(*endpoint.api, executor, certificates, https));
  const std::filesystem::path path =
      std::filesystem::absolute(settings.directory) / (name + ".config");
  CALDERA_CHECK(WriteFile(path, endpoint.https->Kubeconfig(name)));
  std::cout << "# " << name << " at " << endpoint.https->url() << "\n"
            << (port == settings.port && name == "karmada" ? "" : "# ")
            << "export KUBECONFIG=" << path.string() << "\n";
  return endpoint;
}

// Stops the executor at a signal, which a thread of its own waits for. To be made before any other
// thread, so that all of them leave the signals to it.
class SignalWaiter {
 public:
  explicit SignalWaiter(Executor& executor) {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &signals, nullptr);
    thread_ = std::jthread([&executor, signals] {
      int signal = 0;
      sigwait(&signals, &signal);
      executor.Stop();
    });
  }
  SignalWaiter(const SignalWaiter&) = delete;
  SignalWaiter& operator=(const SignalWaiter&) = delete;
  // The thread may still wait, where serving has failed.
  ~SignalWaiter() { kill(getpid(), SIGTERM); }

 private:
  std::jthread thread_;
};

Status Serve(const Settings& settings) {
  std::error_code error;
  std::filesystem::create_directories(settings.directory, error);
  if (error) {
    return Fail(ErrorCode::kInvalid, settings.directory + ": " + error.message());
  }
  const SystemClock clock;
  Executor executor(clock);
  const SignalWaiter waiter(executor);
  std::vector<Endpoint> members;
  for (const std::string& name : settings.members) {
    CALDERA_TRY(Endpoint member, StartEndpoint(executor, settings, name, MemberKinds(), 0));
    members.push_back(std::move(member));
  }
  CALDERA_TRY(const Endpoint karmada,
              StartEndpoint(executor, settings, "karmada", KarmadaKinds(), settings.port));
  for (size_t i = 0; i < members.size(); ++i) {
    karmada.api->AddMember(settings.members[i], *members[i].api);
  }
  std::cout << std::flush;
  executor.Run();
  return {};
}

}  // namespace
}  // namespace caldera::sandbox

int main(int argc, char** argv) {
  caldera::sandbox::Settings settings;
  CLI::App app("A Karmada API and member APIs on loopback");
  app.add_option("--directory", settings.directory, "Where kubeconfigs are written")
      ->capture_default_str();
  app.add_option("--members", settings.members, "Names of the member clusters")
      ->delimiter(',')
      ->capture_default_str();
  app.add_option("--port", settings.port, "The Karmada API's; 0: any free one")
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  const caldera::Status served = caldera::sandbox::Serve(settings);
  if (!served) {
    std::cerr << "caldera-sandbox: " << served.error().message << "\n";
    return 1;
  }
  return 0;
}
