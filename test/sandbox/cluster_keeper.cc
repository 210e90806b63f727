#include "test/sandbox/cluster_keeper.h"

#include <set>
#include <utility>

#include "test/sandbox/object_rules.h"
#include "test/sandbox/work_manifest.h"

namespace caldera::sandbox {
namespace {

constexpr std::string_view kNotReadyTaint = "cluster.karmada.io/not-ready";

Condition ReadyOf(WorkMember::Health health) {
  if (health == WorkMember::Health::kReady) {
    return {"Ready", "True", "ClusterReady", "cluster is healthy and ready to accept workloads"};
  }
  return {"Ready", "False", "ClusterNotReachable", "cluster is not reachable"};
}

// What the taints should be; the ones of others stay.
Value TaintsOf(const Value& cluster, bool ready, const std::string& now) {
  Value::List taints;
  bool there = false;
  for (const Value& taint : ListAt(cluster, {"spec", "taints"})) {
    const bool ours = TextAt(taint, {"key"}) == kNotReadyTaint;
    there = there || ours;
    if (!ours || !ready) {
      taints.push_back(taint);
    }
  }
  if (!ready && !there) {
    taints.push_back(MakeMap(
        {{"key", std::string(kNotReadyTaint)}, {"effect", "NoSchedule"}, {"timeAdded", now}}));
  }
  return taints;
}

}  // namespace

class ClusterKeeper::Impl : public std::enable_shared_from_this<ClusterKeeper::Impl> {
 public:
  explicit Impl(Client& client) : client_(client) {}

  void Stop() { stopped_ = true; }

  void Keep(const Value& cluster, const WorkMember& member) {
    const std::string name = KeyOf(cluster).name;
    if (busy_.contains(name) || member.health() == WorkMember::Health::kUnknown) {
      return;
    }
    const Value* const there = cluster.Find("status");
    const Value status = there != nullptr && there->IsMap() ? *there : Value(Value::Map{});
    const std::string now = MetaTime(client_.executor().Now());
    Value wanted = status;
    if (wanted.Find("conditions") == nullptr) {
      wanted.Set("conditions", Value::List{});
    }
    SetCondition(*wanted.Find("conditions"), ReadyOf(member.health()), now);
    const Value parts = member.StatusParts();
    for (const Member& part : parts.AsMap()) {
      wanted.Set(part.key, part.value);
    }
    if (auto change = MergeDiff(status, wanted)) {
      Patch(name, MakeMap({{"status", *std::move(change)}}), "status");
    }
    const bool ready = member.health() == WorkMember::Health::kReady;
    Value taints = TaintsOf(cluster, ready, now);
    if (!(taints.AsList() == ListAt(cluster, {"spec", "taints"}))) {
      Patch(name, MakeMap({{"spec", MakeMap({{"taints", std::move(taints)}})}}), "");
    }
  }

  void EnsureNamespace(const std::string& cluster) {
    client_.Create(
        resource::Namespaces(), "",
        MakeMap({{"apiVersion", "v1"},
                 {"kind", "Namespace"},
                 {"metadata", MakeMap({{"name", std::string(kExecutionPrefix) + cluster}})}}),
        [self = shared_from_this(), cluster](const Result<Value>& created) {
          if (!self->stopped_ && !created && created.error().code == ErrorCode::kUnavailable) {
            self->EnsureNamespace(cluster);
          }
        });
  }

 private:
  void Patch(const std::string& name, const Value& patch, std::string_view subresource) {
    busy_.insert(name);
    client_.Patch({&resource::Clusters(), "", name}, PatchKind::kMerge, patch, subresource,
                  [self = shared_from_this(), name](const Result<Value>&) {
                    self->busy_.erase(self->busy_.find(name));
                  });
  }

  Client& client_;
  bool stopped_ = false;
  std::multiset<std::string> busy_;
};

ClusterKeeper::ClusterKeeper(Client& client) : impl_(std::make_shared<Impl>(client)) {}
ClusterKeeper::~ClusterKeeper() { impl_->Stop(); }
void ClusterKeeper::Keep(const Value& cluster, const WorkMember& member) {
  impl_->Keep(cluster, member);
}
void ClusterKeeper::EnsureNamespace(const std::string& cluster) { impl_->EnsureNamespace(cluster); }

}  // namespace caldera::sandbox
