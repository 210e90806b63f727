#include "test/sandbox/sandbox.h"

#include <fstream>
#include <map>
#include <utility>

#include "test/sandbox/api_server.h"
#include "test/sandbox/https_server.h"
#include "test/sandbox/mirror.h"
#include "test/sandbox/served_kinds.h"

namespace caldera::sandbox {
namespace {

ClientOptions Unlimited() {
  ClientOptions options;
  options.requests_per_second = 10'000;
  options.burst = 100'000;
  return options;
}

Status WriteSecretFile(const std::filesystem::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::trunc);
  file << text;
  file.close();
  std::error_code error;
  std::filesystem::permissions(
      path, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write, error);
  if (!file || error) {
    return Fail(ErrorCode::kUnavailable, path.string() + ": cannot be written");
  }
  return {};
}

}  // namespace

class Sandbox::Impl {
 public:
  Impl(Executor& executor, SandboxOptions options, std::function<void(Status)> on_ready)
      : executor_(executor), options_(std::move(options)), on_ready_(std::move(on_ready)) {}

  Status Start() {
    CALDERA_CHECK(Serve(karmada_, "karmada", "karmada.kubeconfig", KarmadaKinds(), options_.port));
    works_ = std::make_unique<WorkExecutor>(*karmada_.api, executor_, options_.works);
    for (const auto& [name, wanted] : options_.fleet) {
      Server& member = members_[name];
      CALDERA_CHECK(Serve(member, name, "member-" + name + ".kubeconfig", MemberKinds(), 0));
      member.api->SetReachable(wanted.reachable);
      karmada_.api->AddMember(name, *member.api);
      works_->AddMember(name, *member.api);
      member.life = std::make_unique<MemberLife>(*member.api, executor_, options_.life);
      member.api->SetAdmission(member.life->Admission());
    }
    Install();
    return {};
  }

  [[nodiscard]] std::string url() const { return karmada_.https->url(); }
  [[nodiscard]] std::filesystem::path kubeconfig() const {
    return options_.directory / "karmada.kubeconfig";
  }

 private:
  // In the order in which they depend on each other; destroyed from below.
  struct Server {
    std::unique_ptr<ApiServer> api;
    std::unique_ptr<HttpsServer> https;
    std::unique_ptr<Client> client;
    std::unique_ptr<MemberLife> life;
  };

  Status Serve(Server& server, const std::string& name, const std::string& file,
               std::vector<ResourceType> types, uint16_t port) {
    ApiServerOptions options;
    options.name = name;
    options.types = std::move(types);
    server.api = std::make_unique<ApiServer>(executor_, std::move(options));
    CALDERA_TRY(const Certificates certificates, MakeCertificates(name));
    HttpsServerOptions https;
    https.port = port;
    CALDERA_TRY(server.https, HttpsServer::Start(*server.api, executor_, certificates, https));
    server.client = std::make_unique<Client>(*server.api, executor_, Unlimited());
    return WriteSecretFile(options_.directory / file, server.https->Kubeconfig(name));
  }

  void Install() {
    ++pending_;
    for (const auto& [name, wanted] : options_.fleet) {
      if (wanted.reachable) {
        Client& client = *members_[name].client;
        for (const Value& node : wanted.nodes) {
          Create(client, resource::Nodes(), node);
        }
        for (const Value& hyper_node : wanted.hyper_nodes) {
          Create(client, resource::HyperNodes(), hyper_node);
        }
        for (const Value& pod : wanted.pods) {
          Create(client, resource::Pods(), pod);
        }
      }
    }
    Done({});
  }

  void Create(Client& client, const ResourceType& type, const Value& object) {
    ++pending_;
    client.Create(type, KeyOf(object).ns, object, [this](const Result<Value>& created) {
      Done(created ? Status() : tl::unexpected<Error>(created.error()));
    });
  }

  // When the members are filled what acts in them starts; then the Clusters come, with what they
  // have known from the start.
  void Done(const Status& status) {
    if (!status && status_) {
      status_ = status;
    }
    if (--pending_ > 0) {
      return;
    }
    if (clusters_made_) {
      return on_ready_(status_);
    }
    clusters_made_ = true;
    ++pending_;
    for (auto& [name, member] : members_) {
      member.life->Start();
    }
    works_->Start();
    for (const auto& [name, wanted] : options_.fleet) {
      Create(*karmada_.client, resource::Clusters(), wanted.cluster);
    }
    Done({});
  }

  Executor& executor_;
  const SandboxOptions options_;
  std::function<void(Status)> on_ready_;
  int pending_ = 0;
  bool clusters_made_ = false;
  Status status_;
  Server karmada_;
  std::map<std::string, Server> members_;
  std::unique_ptr<WorkExecutor> works_;
};

Sandbox::Sandbox(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Sandbox::~Sandbox() = default;

Result<std::unique_ptr<Sandbox>> Sandbox::Start(Executor& executor, SandboxOptions options,
                                                std::function<void(Status)> on_ready) {
  auto impl = std::make_unique<Impl>(executor, std::move(options), std::move(on_ready));
  CALDERA_CHECK(impl->Start());
  return std::unique_ptr<Sandbox>(new Sandbox(std::move(impl)));
}

std::string Sandbox::url() const { return impl_->url(); }
std::filesystem::path Sandbox::kubeconfig() const { return impl_->kubeconfig(); }

}  // namespace caldera::sandbox
