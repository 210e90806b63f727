// Knobs on queues, tenants and priorities.
#include <algorithm>
#include <utility>

#include "federation/knob_parts.h"
#include "federation/queue_state.h"
#include "federation/queue_tree.h"

namespace caldera {

namespace {

/// What jobs of the queue and of those below it hold.
int64_t ChargedBelow(const State& state, QueueIndex queue, ResourceIndex r) {
  const QueueTree tree(state);
  int64_t charged = 0;
  for (const QueueIndex leaf : tree.TopDown()) {
    for (QueueIndex n = leaf; n != kNoIndex; n = tree.node(n).parent) {
      if (n == queue) {
        charged = SaturatingAdd(charged, state.queue(leaf).charged[r]);
      }
    }
  }
  return charged;
}

Knob EditQueue(const State& state, QueueIndex queue, Edit edit,
               std::function<void(Queue&)> change) {
  edit.object = "Queue/" + state.queue(queue).name;
  return Switch(std::move(edit), [queue, change = std::move(change)](State& s) {
    Queue object = *s.queue(queue).object;
    change(object);
    s.Apply(QueueUpsert{object});
  });
}

}  // namespace

Knob RaiseCapability(const State& state, QueueIndex queue, ResourceIndex r) {
  const std::string& resource = state.resources().Name(r);
  Knob knob = MoveAmount({"Queue/" + state.queue(queue).name, Keyed("spec.capability", resource),
                          resource, &state.queue(queue).object->capability},
                         [queue, resource](State& s, int64_t to) {
                           Queue object = *s.queue(queue).object;
                           object.capability[resource] = to;
                           s.Apply(QueueUpsert{object});
                         });
  knob.step = StepOf(state, r);
  knob.used = [queue, r](const State& s) { return ChargedBelow(s, queue, r); };
  return knob;
}

Knob LowerGuarantee(const State& state, QueueIndex queue, ResourceIndex r) {
  const std::string& resource = state.resources().Name(r);
  Knob knob =
      MoveAmount({"Queue/" + state.queue(queue).name, Keyed("spec.guarantee.resource", resource),
                  resource, &state.queue(queue).object->guarantee, -1},
                 [queue, resource](State& s, int64_t to) {
                   Queue object = *s.queue(queue).object;
                   object.guarantee[resource] = to;
                   s.Apply(QueueUpsert{object});
                 });
  knob.step = StepOf(state, r);
  return knob;
}

Knob RaiseQuota(const State& state, TenantIndex tenant, ResourceIndex r) {
  const std::string resource = state.resources().Name(r);
  int64_t smallest = kUnlimited;
  for (const auto& [name, quota] : state.tenant(tenant).quotas) {
    if (const auto it = quota.overall.find(resource); it != quota.overall.end()) {
      smallest = std::min(smallest, it->second);
    }
  }
  Knob knob;
  knob.id =
      "FederatedResourceQuota/" + state.tenant(tenant).name + " " + Keyed("spec.overall", resource);
  knob.from = smallest;
  knob.most = SaturatingSub(kUnlimited - 1, smallest);
  knob.step = StepOf(state, r);
  knob.used = [tenant, r](const State& s) { return s.tenant(tenant).charged[r]; };
  knob.turn = [=](State& s, int64_t by) {
    const auto quotas = s.tenant(tenant).quotas;
    for (auto [name, quota] : quotas) {
      if (const auto it = quota.overall.find(resource); it != quota.overall.end()) {
        it->second = std::max(it->second, SaturatingAdd(smallest, by));
        s.Apply(TenantQuotaUpsert{quota});
      }
    }
  };
  knob.edits = [resource, smallest, name = state.tenant(tenant).name,
                quotas = state.tenant(tenant).quotas](int64_t by) {
    std::vector<Edit> edits;
    const std::string prefix = "FederatedResourceQuota/" + name + "/";
    for (const auto& [quota_name, quota] : quotas) {
      const auto it = quota.overall.find(resource);
      if (it != quota.overall.end() && it->second < SaturatingAdd(smallest, by)) {
        edits.push_back({prefix + quota_name, Keyed("spec.overall", resource),
                         FormatAmount(resource, it->second),
                         FormatAmount(resource, SaturatingAdd(smallest, by))});
      }
    }
    return edits;
  };
  return knob;
}

Knob RaiseClusterQuota(const State& state, TenantIndex tenant, ClusterIndex cluster,
                       ResourceIndex r) {
  const std::string resource = state.resources().Name(r);
  const std::string where = state.cluster(cluster).name;
  const std::string field = Keyed("spec.staticAssignments", where) + Keyed(".hard", resource);
  int64_t smallest = kUnlimited;
  std::vector<Edit> places;
  std::vector<int64_t> amounts;
  for (const auto& [name, quota] : state.tenant(tenant).quotas) {
    const auto assignment = quota.per_cluster.find(where);
    if (assignment == quota.per_cluster.end() || !assignment->second.contains(resource)) {
      continue;
    }
    const int64_t amount = assignment->second.find(resource)->second;
    smallest = std::min(smallest, amount);
    amounts.push_back(amount);
    places.push_back({"FederatedResourceQuota/" + state.tenant(tenant).name + "/" + name, field,
                      FormatAmount(resource, amount), ""});
  }
  Knob knob;
  knob.id = "FederatedResourceQuota/" + state.tenant(tenant).name + " " + field;
  knob.from = smallest;
  knob.most = SaturatingSub(kUnlimited - 1, smallest);
  knob.step = StepOf(state, r);
  knob.used = [tenant, cluster, r](const State& s) {
    const auto& charged = s.tenant(tenant).charged_in;
    const auto it = charged.find(cluster);
    return it == charged.end() ? 0 : it->second[r];
  };
  knob.turn = [=](State& s, int64_t by) {
    const auto quotas = s.tenant(tenant).quotas;
    for (auto [name, quota] : quotas) {
      const auto assignment = quota.per_cluster.find(where);
      if (assignment != quota.per_cluster.end() && assignment->second.contains(resource)) {
        int64_t& amount = assignment->second.find(resource)->second;
        amount = std::max(amount, SaturatingAdd(smallest, by));
        s.Apply(TenantQuotaUpsert{quota});
      }
    }
  };
  knob.edits = [=](int64_t by) {
    const int64_t to = SaturatingAdd(smallest, by);
    std::vector<Edit> edits;
    for (size_t i = 0; i < places.size(); ++i) {
      if (amounts[i] < to) {
        edits.push_back(places[i]);
        edits.back().to = FormatAmount(resource, to);
      }
    }
    return edits;
  };
  return knob;
}

Knob OpenQueue(const State& state, QueueIndex queue) {
  return EditQueue(
      state, queue,
      {"", "status.state", std::string(QueueStateName(state.queue(queue).object->state)), "Open"},
      [](Queue& object) { object.state = QueueState::kOpen; });
}

Knob CreateQueue(const std::string& queue) {
  return Switch({"Queue/" + queue, "metadata.name", std::string(kAbsent), queue},
                [queue](State& s) {
                  Queue object;
                  object.name = queue;
                  object.parent = kRootQueue;
                  s.Apply(QueueUpsert{object});
                });
}

Knob MoveUnderRoot(const State& state, QueueIndex queue) {
  return EditQueue(state, queue,
                   {"", "spec.parent", state.queue(queue).object->parent, std::string(kRootQueue)},
                   [](Queue& object) { object.parent = kRootQueue; });
}

Knob MakeTraverse(const State& state, QueueIndex queue) {
  return EditQueue(state, queue, {"", "spec.dequeueStrategy", "fifo", "traverse"},
                   [](Queue& object) { object.dequeue_strategy = DequeueStrategy::kTraverse; });
}

Knob CreatePriorityClass(const std::string& name) {
  return Switch({"PriorityClass/" + name, "value", std::string(kAbsent), "0"}, [name](State& s) {
    s.Apply(PriorityClassUpsert{{name, 0, false, true}});
  });
}

Knob PropagateNamespace(const State& state, TenantIndex tenant) {
  return Switch({"Namespace/" + state.tenant(tenant).name,
                 Keyed("metadata.labels", "namespace.karmada.io/skip-auto-propagation"), "true",
                 std::string(kAbsent)},
                [tenant](State& s) {
                  Namespace object = *s.tenant(tenant).object;
                  object.skip_auto_propagation = false;
                  s.Apply(NamespaceUpsert{object});
                });
}

}  // namespace caldera
