#include "test/sandbox/work_executor.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <utility>

#include "test/sandbox/cluster_keeper.h"
#include "test/sandbox/mirror.h"
#include "test/sandbox/work_manifest.h"
#include "test/sandbox/work_sync.h"

namespace caldera::sandbox {
namespace {

ClientOptions AsFastAsItGoes() {
  ClientOptions options;
  options.requests_per_second = 5'000;
  options.burst = 10'000;
  return options;
}

// What a look at a Work depends on: a write of its status is not among it.
bool NeedsLook(const Value* before, const Value& after) {
  const auto same = [&](std::string_view field) {
    const Value* const a = before->At({"metadata", field});
    const Value* const b = after.At({"metadata", field});
    return a == nullptr || b == nullptr ? a == b : *a == *b;
  };
  return before == nullptr || !same("uid") || !same("generation") || !same("deletionTimestamp") ||
         !same("finalizers");
}

bool IsPropagated(const Value& ns) {
  const std::string name = KeyOf(ns).name;
  std::string skip = LabelOf(ns, "namespace.karmada.io/skip-auto-propagation");
  std::transform(skip.begin(), skip.end(), skip.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return skip != "true" && name != "default" && !name.starts_with("kube-") &&
         !name.starts_with("karmada-") && !IsDeleting(ns);
}

// The Work that brings a namespace into a member. It goes with the namespace.
Value NamespaceWork(const Value& ns, const std::string& execution_namespace) {
  const std::string name = KeyOf(ns).name;
  const std::string work_name = name + "-namespace";
  const Value* const labels = ns.At({"metadata", "labels"});
  Value labels_there = labels == nullptr ? Value(Value::Map{}) : *labels;
  labels_there.Set("karmada.io/managed", "true");
  Value manifest = MakeMap(
      {{"apiVersion", "v1"},
       {"kind", "Namespace"},
       {"metadata",
        MakeMap({{"name", name},
                 {"labels", std::move(labels_there)},
                 {"annotations", MakeMap({{"work.karmada.io/namespace", execution_namespace},
                                          {"work.karmada.io/name", work_name}})}})}});
  Value owner = MakeMap({{"apiVersion", "v1"},
                         {"kind", "Namespace"},
                         {"name", name},
                         {"uid", UidOf(ns)},
                         {"controller", true},
                         {"blockOwnerDeletion", true}});
  Value metadata = MakeMap({{"name", work_name},
                            {"namespace", execution_namespace},
                            {"finalizers", Value::List{Value(std::string(kExecutionFinalizer))}},
                            {"ownerReferences", Value::List{std::move(owner)}}});
  return MakeMap(
      {{"apiVersion", resource::Works().ApiVersion()},
       {"kind", "Work"},
       {"metadata", std::move(metadata)},
       {"spec",
        MakeMap({{"workload", MakeMap({{"manifests", Value::List{std::move(manifest)}}})}})}});
}

}  // namespace

class WorkExecutor::Impl : public std::enable_shared_from_this<WorkExecutor::Impl> {
 public:
  Impl(HttpTransport& karmada, Executor& executor, WorkExecutorOptions options)
      : executor_(executor),
        options_(options),
        client_(karmada, executor, AsFastAsItGoes()),
        works_(client_, resource::Works(),
               [this](const ObjectKey& key, const Value* before, const Value* after) {
                 if (after == nullptr || NeedsLook(before, *after)) {
                   sync_.Look(key);
                 }
               }),
        clusters_(client_, resource::Clusters(),
                  [this](const ObjectKey& key, const Value* before, const Value* after) {
                    if (before == nullptr && after != nullptr) {
                      OnCluster(key.name);
                    }
                  }),
        namespaces_(client_, resource::Namespaces(),
                    [this](const ObjectKey&, const Value* before, const Value* after) {
                      if (after != nullptr) {
                        OnNamespace(before, *after);
                      }
                    }),
        keeper_(client_),
        sync_(client_, works_, [this](const std::string& cluster) { return FindMember(cluster); },
              {options.first_retry, options.longest_retry}) {}

  void AddMember(const std::string& cluster, HttpTransport& member) {
    WorkMember::Handlers handlers;
    handlers.on_probed = [this, cluster] { OnProbed(cluster); };
    handlers.on_object = [this](const Value* before, const Value* after) {
      sync_.Report(before, after);
    };
    members_[cluster].member =
        std::make_unique<WorkMember>(member, executor_, options_.members, std::move(handlers));
  }

  void Start() {
    works_.Start();
    clusters_.Start();
    namespaces_.Start();
    for (const auto& [cluster, known] : members_) {
      known.member->Start();
    }
  }

 private:
  struct Known {
    std::unique_ptr<WorkMember> member;
    WorkMember::Health acted_on = WorkMember::Health::kUnknown;
  };

  WorkMember* FindMember(const std::string& cluster) {
    const auto found = members_.find(cluster);
    const bool there = found != members_.end() && clusters_.Find({"", cluster}) != nullptr;
    return there ? found->second.member.get() : nullptr;
  }

  void OnCluster(const std::string& cluster) {
    keeper_.EnsureNamespace(cluster);
    OnProbed(cluster);
    for (const auto& [key, ns] : namespaces_.objects()) {
      Propagate(ns, cluster);
    }
  }

  void OnProbed(const std::string& cluster) {
    WorkMember* const member = FindMember(cluster);
    if (member == nullptr) {
      return;
    }
    keeper_.Keep(*clusters_.Find({"", cluster}), *member);
    WorkMember::Health& acted_on = members_[cluster].acted_on;
    if (acted_on != member->health()) {
      acted_on = member->health();
      sync_.LookAtCluster(cluster);
    }
  }

  void OnNamespace(const Value* before, const Value& after) {
    const std::string cluster = ClusterOfNamespace(KeyOf(after).name);
    if (before == nullptr && clusters_.Find({"", cluster}) != nullptr) {
      for (const auto& [key, ns] : namespaces_.objects()) {
        Propagate(ns, cluster);
      }
    }
    if (before == nullptr || IsPropagated(*before) != IsPropagated(after)) {
      for (const auto& [key, there] : clusters_.objects()) {
        Propagate(after, key.name);
      }
    }
  }

  void Propagate(const Value& ns, const std::string& cluster) {
    const std::string execution = std::string(kExecutionPrefix) + cluster;
    if (!IsPropagated(ns) || namespaces_.Find({"", execution}) == nullptr) {
      return;
    }
    client_.Create(resource::Works(), execution, NamespaceWork(ns, execution),
                   [](const Result<Value>&) {});
  }

  Executor& executor_;
  const WorkExecutorOptions options_;
  Client client_;
  Mirror works_;
  Mirror clusters_;
  Mirror namespaces_;
  ClusterKeeper keeper_;
  WorkSync sync_;
  std::map<std::string, Known> members_;
};

WorkExecutor::WorkExecutor(HttpTransport& karmada, Executor& executor, WorkExecutorOptions options)
    : impl_(std::make_shared<Impl>(karmada, executor, options)) {}
WorkExecutor::~WorkExecutor() = default;
void WorkExecutor::AddMember(const std::string& cluster, HttpTransport& member) {
  impl_->AddMember(cluster, member);
}
void WorkExecutor::Start() { impl_->Start(); }

}  // namespace caldera::sandbox
