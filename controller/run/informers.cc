#include "controller/run/informers.h"

#include <utility>

namespace caldera {
namespace {

/// A kind that Karmada may be installed without: where the API does not have it, there are none,
/// unless some are known.
enum class Need : uint8_t { kRequired, kOptional };

// Items of a list carry neither.
void SetKind(Value& object, const ResourceType& type) {
  if (object.Find("kind") == nullptr) {
    object.Set("apiVersion", type.ApiVersion());
    object.Set("kind", type.kind);
  }
}

}  // namespace

class Informers::Impl {
 public:
  Impl(Client& karmada, Observer& observer, InformerHandlers handlers)
      : karmada_(karmada), observer_(observer), handlers_(std::move(handlers)) {}

  void Start() {
    for (const ResourceType* const type :
         {&resource::Queues(), &resource::PriorityClasses(), &resource::Clusters(),
          &resource::Namespaces(), &resource::Jobs()}) {
      Add(*type, Need::kRequired);
    }
    for (const ResourceType* const type : {&resource::HyperJobs(), &resource::TenantQuotas()}) {
      Add(*type, Need::kOptional);
    }
    AddCommands();
    AddWorks();
    for (const auto& source : sources_) {
      source->reflector->Start();
    }
  }

  void StartMember(const std::string& cluster, Client& member) {
    StopMember(cluster);
    Member& watched = members_[cluster];
    watched.pods = MakeMember(cluster, member, resource::Pods(), [this, cluster] {
      const auto it = members_.find(cluster);
      if (it != members_.end() && !std::exchange(it->second.pods_listed, true)) {
        it->second.nodes->Start();
        it->second.hyper_nodes->Start();
      }
    });
    watched.nodes = MakeMember(cluster, member, resource::Nodes(), nullptr);
    watched.hyper_nodes = MakeMember(cluster, member, resource::HyperNodes(), nullptr);
    watched.pods->Start();
  }

  void StopMember(const std::string& cluster) {
    if (members_.erase(cluster) > 0) {
      observer_.ForgetMembers(cluster);
      handlers_.on_change();
    }
  }

  void Stop() {
    sources_.clear();
    members_.clear();
  }

  [[nodiscard]] std::vector<std::string> Unsynced() const {
    std::vector<std::string> kinds;
    for (const auto& source : sources_) {
      if (!source->synced) {
        kinds.push_back(source->kind);
      }
    }
    return kinds;
  }

 private:
  struct Source {
    std::string kind;
    bool synced = false;
    Time absent_since;
    std::unique_ptr<Reflector> reflector;
  };
  struct Member {
    std::unique_ptr<Reflector> pods;
    std::unique_ptr<Reflector> nodes;
    std::unique_ptr<Reflector> hyper_nodes;
    bool pods_listed = false;
  };

  [[nodiscard]] Time Now() const { return karmada_.executor().Now(); }

  // A source of the Karmada API whose handlers for objects the caller sets.
  void AddSource(const ResourceType& type, const std::string& selector, Need need,
                 ReflectorHandlers handlers) {
    auto source = std::make_unique<Source>();
    source->kind = type.kind;
    Source* const raw = source.get();
    handlers.on_synced = [this, raw] { MarkSynced(*raw); };
    handlers.on_error = [this, raw, need, type](const Error& error) {
      if (!raw->synced || error.code != ErrorCode::kNotFound) {
        handlers_.on_error(raw->kind, error);
      }
      if (need == Need::kOptional && error.code == ErrorCode::kNotFound && IsBelieved(*raw, type)) {
        MarkSynced(*raw);
      }
    };
    ReflectorOptions options;
    options.type = type;
    options.label_selector = selector;
    source->reflector =
        std::make_unique<Reflector>(karmada_, std::move(options), std::move(handlers));
    sources_.push_back(std::move(source));
  }

  // That there is no such kind.
  bool IsBelieved(Source& source, const ResourceType& type) {
    if (source.absent_since == Time()) {
      source.absent_since = Now();
    }
    return !handlers_.is_known(type) || source.absent_since + kAbsentKindPatience <= Now();
  }

  void MarkSynced(Source& source) {
    if (!std::exchange(source.synced, true) && Unsynced().empty()) {
      handlers_.on_synced();
    }
    handlers_.on_change();
  }

  void Add(const ResourceType& type, Need need) {
    ReflectorHandlers handlers;
    handlers.on_upsert = [this, type](Value&& object) {
      SetKind(object, type);
      observer_.Upsert(std::move(object), Now());
      handlers_.on_change();
    };
    handlers.on_delete = [this, kind = type.kind](const std::string& ns, const std::string& name,
                                                  const std::string& uid) {
      observer_.Delete(kind, ns, name, uid, Now());
      handlers_.on_change();
    };
    AddSource(type, "", need, std::move(handlers));
  }

  void AddCommands() {
    ReflectorHandlers handlers;
    handlers.on_upsert = [this](Value&& command) {
      SetKind(command, resource::Commands());
      observer_.UpsertCommand(command, Now());
      handlers_.on_change();
    };
    handlers.on_delete = [this](const std::string& ns, const std::string& name,
                                const std::string& uid) {
      observer_.Delete("Command", ns, name, uid, Now());
      handlers_.on_change();
    };
    AddSource(resource::Commands(), "", Need::kOptional, std::move(handlers));
  }

  void AddWorks() {
    ReflectorHandlers handlers;
    handlers.on_upsert = [this](Value&& work) {
      SetKind(work, resource::Works());
      observer_.UpsertWork(work, Now());
      handlers_.on_change();
    };
    handlers.on_delete = [this](const std::string& ns, const std::string& name,
                                const std::string& uid) {
      observer_.DeleteWork(ns, name, uid, Now());
      handlers_.on_change();
    };
    AddSource(resource::Works(), std::string(kManagedBySelector), Need::kRequired,
              std::move(handlers));
  }

  std::unique_ptr<Reflector> MakeMember(const std::string& cluster, Client& member,
                                        const ResourceType& type, std::function<void()> on_synced) {
    ReflectorHandlers handlers;
    handlers.on_upsert = [this, cluster, type](Value&& object) {
      SetKind(object, type);
      observer_.UpsertMember(cluster, std::move(object), Now());
      handlers_.on_change();
    };
    handlers.on_delete = [this, cluster, kind = type.kind](const std::string& ns,
                                                           const std::string& name,
                                                           const std::string& /*uid*/) {
      observer_.DeleteMember(cluster, kind, ns, name);
      handlers_.on_change();
    };
    handlers.on_synced = [this, on_synced = std::move(on_synced)] {
      if (on_synced) {
        on_synced();
      }
      handlers_.on_change();
    };
    handlers.on_error = [this, source = cluster + "/" + type.kind](const Error& error) {
      handlers_.on_error(source, error);
    };
    ReflectorOptions options;
    options.type = type;
    return std::make_unique<Reflector>(member, std::move(options), std::move(handlers));
  }

  Client& karmada_;
  Observer& observer_;
  const InformerHandlers handlers_;
  std::vector<std::unique_ptr<Source>> sources_;
  std::map<std::string, Member> members_;
};

Informers::Informers(Client& karmada, Observer& observer, InformerHandlers handlers)
    : impl_(std::make_unique<Impl>(karmada, observer, std::move(handlers))) {}
Informers::~Informers() = default;
void Informers::Start() { impl_->Start(); }
void Informers::StartMember(const std::string& cluster, Client& member) {
  impl_->StartMember(cluster, member);
}
void Informers::StopMember(const std::string& cluster) { impl_->StopMember(cluster); }
void Informers::Stop() { impl_->Stop(); }
bool Informers::Synced() const { return impl_->Unsynced().empty(); }
std::vector<std::string> Informers::Unsynced() const { return impl_->Unsynced(); }

bool KnowsObjects(const State& state, const ResourceType& type) {
  bool known = false;
  if (type.kind == resource::TenantQuotas().kind) {
    for (const auto& [name, tenant] : state.tenants()) {
      known = known || !state.tenant(tenant).quotas.empty();
    }
  } else if (type.kind == resource::HyperJobs().kind) {
    state.VisitJobs([&](JobIndex /*index*/, const JobEntry& job) {
      known = known || state.spec(job).kind == JobKind::kHyperJob;
    });
  }
  return known;
}

}  // namespace caldera
