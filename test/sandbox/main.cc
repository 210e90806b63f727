// caldera-sandbox: a Karmada API and member APIs on loopback, with what Karmada and Volcano do in
// them, until it is interrupted; everything is forgotten at its end. Also the same actors for real
// API servers (`act`), and manifests to any server (`apply`).
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <thread>

#include "controller/kube/kubeconfig.h"
#include "controller/kube/rest_transport.h"
#include "test/sandbox/apply.h"
#include "test/sandbox/list_command.h"
#include "test/sandbox/sandbox.h"

namespace caldera::sandbox {
namespace {

struct ActorFlags {
  std::string duration;
  std::string probe_every = "2s";
  std::string failure_threshold = "6s";
  std::string success_threshold = "2s";
};

struct ServeFlags {
  std::string directory = "sandbox";
  std::vector<std::string> fleet;
  std::vector<std::string> members{"m1", "m2"};
  uint16_t port = 0;
  std::string ready_file;
  ActorFlags actors;
};

struct ActFlags {
  std::string kubeconfig;
  std::vector<std::string> members;  ///< NAME=KUBECONFIG.
  bool no_works = false;
  bool no_life = false;
  bool no_kubelets = false;
  ActorFlags actors;
};

struct ApplyFlags {
  std::string kubeconfig;
  ApplyOptions options;
};

struct GetFlags {
  std::string kubeconfig;
  std::string plural;
};

sigset_t StopSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  return signals;
}

// Before any other thread is made, so that all of them leave the signals to SignalWaiter.
void BlockStopSignals() {
  const sigset_t signals = StopSignals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
}

// Stops the executor at a signal, which a thread of its own waits for.
class SignalWaiter {
 public:
  explicit SignalWaiter(Executor& executor)
      : thread_([&executor, signals = StopSignals()] {
          int signal = 0;
          sigwait(&signals, &signal);
          executor.Stop();
        }) {}
  SignalWaiter(const SignalWaiter&) = delete;
  SignalWaiter& operator=(const SignalWaiter&) = delete;
  // The thread may still wait, where serving has failed.
  ~SignalWaiter() { kill(getpid(), SIGTERM); }

 private:
  std::jthread thread_;
};

Result<Millis> Span(const std::string& flag, const std::string& text) {
  Result<Millis> span = ParseDuration(text);
  if (!span || *span <= Millis(0)) {
    return Fail(ErrorCode::kInvalid, flag + ": '" + text + "' must be a duration such as 5s");
  }
  return span;
}

Status ReadActors(const ActorFlags& flags, WorkExecutorOptions& works, MemberLifeOptions& life) {
  CALDERA_TRY(works.members.probe_every, Span("--probe-every", flags.probe_every));
  CALDERA_TRY(works.members.failure_threshold,
              Span("--failure-threshold", flags.failure_threshold));
  CALDERA_TRY(works.members.success_threshold,
              Span("--success-threshold", flags.success_threshold));
  if (!flags.duration.empty()) {
    CALDERA_TRY(life.duration, Span("--duration", flags.duration));
  }
  return {};
}

Status WriteReadyFile(const std::string& path, const std::string& text) {
  if (path.empty()) {
    return {};
  }
  std::ofstream file(path, std::ios::trunc);
  file << text << '\n';
  file.close();
  return file ? Status() : Fail(ErrorCode::kUnavailable, path + ": cannot be written");
}

Status Serve(const ServeFlags& flags) {
  SandboxOptions options;
  CALDERA_CHECK(ReadActors(flags.actors, options.works, options.life));
  if (flags.fleet.empty()) {
    options.fleet = MakeFleet(flags.members);
  } else {
    CALDERA_TRY(options.fleet, ReadFleet(flags.fleet));
  }
  options.directory = std::filesystem::absolute(flags.directory);
  options.port = flags.port;
  std::error_code error;
  std::filesystem::create_directories(options.directory, error);
  if (error) {
    return Fail(ErrorCode::kInvalid, flags.directory + ": " + error.message());
  }
  const SystemClock clock;
  Executor executor(clock);
  const SignalWaiter waiter(executor);
  std::unique_ptr<Sandbox> sandbox;
  Status status;
  CALDERA_TRY(sandbox, Sandbox::Start(executor, std::move(options), [&](const Status& installed) {
                status = installed;
                if (status) {
                  status = WriteReadyFile(flags.ready_file, sandbox->kubeconfig().string());
                }
                if (!status) {
                  return executor.Stop();
                }
                std::cout << "# Karmada API at " << sandbox->url()
                          << "\nexport KUBECONFIG=" << sandbox->kubeconfig().string() << std::endl;
              }));
  executor.Run();
  return status;
}

struct ActingMember {
  std::unique_ptr<RestTransport> transport;
  std::unique_ptr<MemberLife> life;
};

Status Act(const ActFlags& flags) {
  WorkExecutorOptions works_options;
  MemberLifeOptions life_options;
  CALDERA_CHECK(ReadActors(flags.actors, works_options, life_options));
  life_options.kubelets = !flags.no_kubelets;
  const SystemClock clock;
  Executor executor(clock);
  const SignalWaiter waiter(executor);
  CALDERA_TRY(const RestConfig config, LoadKubeconfig(flags.kubeconfig, ""));
  CALDERA_TRY(const auto karmada, RestTransport::Create(config, executor, {}));
  std::map<std::string, ActingMember> members;
  WorkExecutor works(*karmada, executor, works_options);
  for (const std::string& text : flags.members) {
    const size_t mark = text.find('=');
    if (mark == std::string::npos) {
      return Fail(ErrorCode::kInvalid, "--member: '" + text + "' must be NAME=KUBECONFIG");
    }
    const std::string name = text.substr(0, mark);
    CALDERA_TRY(const RestConfig of_member, LoadKubeconfig(text.substr(mark + 1), ""));
    ActingMember& member = members[name];
    CALDERA_TRY(member.transport, RestTransport::Create(of_member, executor, {}));
    works.AddMember(name, *member.transport);
    if (!flags.no_life) {
      member.life = std::make_unique<MemberLife>(*member.transport, executor, life_options);
      executor.Post([life = member.life.get()] { life->Start(); });
    }
  }
  if (!flags.no_works) {
    executor.Post([&] { works.Start(); });
  }
  std::cout << "acting" << std::endl;
  executor.Run();
  return {};
}

void AddActorFlags(CLI::App& app, ActorFlags& flags) {
  app.add_option("--duration", flags.duration,
                 "How long pods run that do not say in annotation sandbox.caldera.sh/duration; "
                 "absent: until they are deleted");
  app.add_option("--probe-every", flags.probe_every, "How often a member's health is looked at")
      ->capture_default_str();
  app.add_option("--failure-threshold", flags.failure_threshold,
                 "How long a member fails until its Cluster is not Ready")
      ->capture_default_str();
  app.add_option("--success-threshold", flags.success_threshold,
                 "How long it answers again until its Cluster is Ready")
      ->capture_default_str();
}

void AddServe(CLI::App& app, ServeFlags& flags) {
  app.add_option("--dir,--directory", flags.directory, "Where kubeconfigs are written")
      ->capture_default_str();
  app.add_option("--fleet", flags.fleet,
                 "Files or folders of Cluster, Node, HyperNode and Pod; absent: --members");
  app.add_option("--members", flags.members, "Members of 4 nodes with 16 cpu, 64Gi, 4 GPUs each")
      ->delimiter(',')
      ->capture_default_str();
  app.add_option("--port", flags.port, "The Karmada API's; 0: any free one")->capture_default_str();
  app.add_option("--ready-file", flags.ready_file,
                 "Written when the fleet is there; holds the path of the kubeconfig");
  AddActorFlags(app, flags.actors);
}

void AddAct(CLI::App& app, ActFlags& flags) {
  app.add_option("--kubeconfig", flags.kubeconfig, "Of the Karmada API")->required();
  app.add_option("--member", flags.members, "Cluster and its kubeconfig, NAME=FILE; repeated")
      ->required();
  app.add_flag("--no-works", flags.no_works, "Works are left to Karmada");
  app.add_flag("--no-life", flags.no_life, "Jobs are left to Volcano");
  app.add_flag("--no-kubelets", flags.no_kubelets, "Bound pods are left to kubelets or kwok");
  AddActorFlags(app, flags.actors);
}

void AddApply(CLI::App& app, ApplyFlags& flags) {
  app.add_option("-f,--filename", flags.options.paths, "Files and folders")->required();
  app.add_option("--kubeconfig", flags.kubeconfig, "Of the server")
      ->envname("KUBECONFIG")
      ->required();
  app.add_option("--skip", flags.options.skip, "Kinds that are left out");
  app.add_flag("--create-namespaces", flags.options.create_namespaces,
               "Create the namespaces that objects name");
}

void AddGet(CLI::App& app, GetFlags& flags) {
  app.add_option("kind", flags.plural, "Such as jobs, queues, works, pods")->required();
  app.add_option("--kubeconfig", flags.kubeconfig, "Of the server")
      ->envname("KUBECONFIG")
      ->required();
}

Status RunGet(const GetFlags& flags) {
  CALDERA_TRY(const RestConfig config, LoadKubeconfig(flags.kubeconfig, ""));
  return PrintList(config, flags.plural);
}

Status RunApply(const ApplyFlags& flags) {
  CALDERA_TRY(const RestConfig config, LoadKubeconfig(flags.kubeconfig, ""));
  return Apply(config, flags.options);
}

int Run(int argc, char** argv) {
  ServeFlags serve;
  ActFlags act;
  ApplyFlags apply;
  GetFlags get;
  CLI::App app("A Karmada API and member APIs on loopback, with what acts in them");
  AddServe(app, serve);
  CLI::App* const act_app =
      app.add_subcommand("act", "Do what Karmada and Volcano do, at real API servers");
  AddAct(*act_app, act);
  CLI::App* const apply_app = app.add_subcommand("apply", "Create or change what manifests say");
  AddApply(*apply_app, apply);
  CLI::App* const get_app = app.add_subcommand("get", "List the objects of a kind");
  AddGet(*get_app, get);
  CLI11_PARSE(app, argc, argv);
  if (!apply_app->parsed() && !get_app->parsed()) {
    BlockStopSignals();
  }
  PrepareRestLibrary();
  const Status status = act_app->parsed()     ? Act(act)
                        : apply_app->parsed() ? RunApply(apply)
                        : get_app->parsed()   ? RunGet(get)
                                              : Serve(serve);
  if (!status) {
    std::cerr << "caldera-sandbox: " << status.error().message << "\n";
    return 1;
  }
  return 0;
}

}  // namespace
}  // namespace caldera::sandbox

int main(int argc, char** argv) {
  try {
    return caldera::sandbox::Run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "caldera-sandbox: %s\n", error.what());
  } catch (...) {
    std::fputs("caldera-sandbox: unknown exception\n", stderr);
  }
  return 1;
}
