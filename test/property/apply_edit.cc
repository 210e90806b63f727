#include "test/property/apply_edit.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "federation/quantity.h"
#include "federation/time.h"

namespace caldera::property {

namespace {

std::vector<std::string> Split(const std::string& text, char separator) {
  std::vector<std::string> parts{""};
  for (const char c : text) {
    if (c == separator) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

/// `cpu` of `spec.capability[cpu]`, if the field begins with `prefix` and `[`.
std::optional<std::string> KeyIn(const std::string& field, const std::string& prefix) {
  if (!field.starts_with(prefix + "[") || !field.ends_with("]")) {
    return std::nullopt;
  }
  return field.substr(prefix.size() + 1, field.size() - prefix.size() - 2);
}

bool SetAmount(ResourceList& list, const std::string& resource, const std::string& text) {
  const Result<Quantity> quantity = Quantity::Parse(text);
  if (!quantity) {
    return false;
  }
  list[resource] = RequestAmount(resource, *quantity);
  return true;
}

template <class Map>
uint32_t Index(const Map& names, const std::string& name) {
  const auto it = names.find(name);
  return it == names.end() ? kNoIndex : it->second;
}

bool EditQueue(State& state, const std::string& name, const Edit& edit) {
  if (edit.field == "metadata.name" && edit.from == "absent") {
    Queue made;
    made.name = name;
    made.parent = "root";
    state.Apply(QueueUpsert{made});
    return true;
  }
  const uint32_t index = Index(state.queues(), name);
  if (index == kNoIndex || !state.queue(index).object) {
    return false;
  }
  Queue queue = *state.queue(index).object;
  bool good = true;
  if (const auto resource = KeyIn(edit.field, "spec.capability")) {
    good = SetAmount(queue.capability, *resource, edit.to);
  } else if (const auto reserved = KeyIn(edit.field, "spec.guarantee.resource")) {
    good = SetAmount(queue.guarantee, *reserved, edit.to);
  } else if (edit.field == "status.state" && edit.to == "Open") {
    queue.state = QueueState::kOpen;
  } else if (edit.field == "spec.parent") {
    queue.parent = edit.to;
  } else if (edit.field == "spec.dequeueStrategy" && edit.to == "traverse") {
    queue.dequeue_strategy = DequeueStrategy::kTraverse;
  } else {
    good = false;
  }
  state.Apply(QueueUpsert{queue});
  return good;
}

bool EditQuota(State& state, const std::string& tenant, const std::string& name, const Edit& edit) {
  const uint32_t index = Index(state.tenants(), tenant);
  if (index == kNoIndex || !state.tenant(index).quotas.contains(name)) {
    return false;
  }
  TenantQuota quota = state.tenant(index).quotas.at(name);
  bool good = false;
  if (const auto resource = KeyIn(edit.field, "spec.overall")) {
    good = SetAmount(quota.overall, *resource, edit.to);
  } else if (const size_t hard = edit.field.find("].hard["); hard != std::string::npos) {
    const auto cluster = KeyIn(edit.field.substr(0, hard + 1), "spec.staticAssignments");
    const auto amount = KeyIn(edit.field.substr(hard + 1), ".hard");
    good = cluster && amount && quota.per_cluster.contains(*cluster) &&
           SetAmount(quota.per_cluster[*cluster], *amount, edit.to);
  }
  state.Apply(TenantQuotaUpsert{quota});
  return good;
}

bool EditCluster(State& state, const std::string& name, const Edit& edit) {
  const uint32_t index = Index(state.clusters(), name);
  if (index == kNoIndex || !state.cluster(index).object) {
    return false;
  }
  Cluster cluster = *state.cluster(index).object;
  bool good = true;
  if (const auto resource = KeyIn(edit.field, "status.resourceSummary.allocatable")) {
    cluster.has_summary = true;
    good = SetAmount(cluster.allocatable, *resource, edit.to);
  } else if (edit.field == "status.conditions[Ready].status" && edit.to == "True") {
    cluster.ready = true;
  } else {
    good = false;
  }
  state.Apply(ClusterUpsert{cluster});
  return good;
}

bool EditNode(State& state, const std::string& cluster, const std::string& name, const Edit& edit) {
  const uint32_t index = Index(state.clusters(), cluster);
  if (index == kNoIndex || !state.cluster(index).nodes.contains(name)) {
    return false;
  }
  Node node = state.cluster(index).nodes.at(name);
  bool good = true;
  if (const auto resource = KeyIn(edit.field, "status.allocatable")) {
    good = SetAmount(node.allocatable, *resource, edit.to);
  } else if (edit.field == "spec.unschedulable" && edit.to == "false") {
    node.unschedulable = false;
  } else if (edit.field == "status.conditions[Ready].status" && edit.to == "True") {
    node.ready = true;
  } else {
    good = false;
  }
  state.Apply(NodeUpsert{node});
  return good;
}

std::vector<Toleration> ParseTolerations(const std::string& text) {
  std::vector<Toleration> tolerations;
  for (const std::string& part : Split(text, ',')) {
    Toleration toleration;
    const std::vector<std::string> effect = Split(part, ':');
    toleration.effect = effect.size() > 1 ? effect[1] : "";
    const std::vector<std::string> value = Split(effect[0], '=');
    toleration.op = value.size() > 1 ? "Equal" : "Exists";
    toleration.key = value[0] == "*" ? "" : value[0];
    toleration.value = value.size() > 1 ? value[1] : "";
    tolerations.push_back(toleration);
  }
  return tolerations;
}

bool EditJob(State& state, const JobKey& key, const Edit& edit) {
  const JobIndex index = state.FindJob(key);
  if (index == kNoIndex) {
    return false;
  }
  Job job = state.Object(index);
  const std::string prefix = "metadata.annotations[federation.caldera.sh/";
  if (edit.field == "spec.queue") {
    job.queue = edit.to;
  } else if (edit.field == "status.state.phase" && edit.to == "Pending") {
    job.suspended = false;
  } else if (edit.field == prefix + "hold]" && edit.to == "absent") {
    job.hold = false;
  } else if (edit.field == prefix + "clusters]") {
    job.clusters.names = Split(edit.to, ',');
  } else if (edit.field == prefix + "cluster-selector]" && edit.to == "absent") {
    job.clusters.selector.clear();
  } else if (edit.field == prefix + "cluster-tolerations]") {
    job.clusters.tolerations = ParseTolerations(edit.to);
  } else if (edit.field == prefix + "preemptible]" && edit.to == "true") {
    job.preemptible = true;
  } else if (edit.field == prefix + "split]") {
    job.split = edit.to;
  } else if (edit.field == prefix + "max-clusters]") {
    job.max_clusters = edit.to == "absent" ? 0 : std::stoi(edit.to);
  } else if (edit.field == prefix + "max-distance]" && edit.to == "absent") {
    job.max_distance = "any";
  } else if (edit.field.ends_with(".until") && edit.to == FormatTime(state.now())) {
    const auto cluster = KeyIn(edit.field.substr(0, edit.field.rfind('.')), "backoffs");
    for (ClusterBackoff& backoff : job.backoffs) {
      backoff.until = backoff.cluster == cluster ? state.now() : backoff.until;
    }
  } else {
    return false;
  }
  state.Apply(JobUpsert{job});
  return true;
}

/// A Secret or the like came to be: no job misses it any more.
bool MakeReference(State& state, const std::string& reference) {
  bool found = false;
  for (const JobIndex index : state.JobsByKey()) {
    Job job = state.Object(index);
    if (std::erase(job.missing_references, reference) > 0) {
      state.Apply(JobUpsert{job});
      found = true;
    }
  }
  return found;
}

}  // namespace

bool ApplyEdit(State& state, const Edit& edit) {
  const std::vector<std::string> object = Split(edit.object, '/');
  if (object.size() == 2 && object[0] == "Queue") {
    return EditQueue(state, object[1], edit);
  }
  if (object.size() == 3 && object[0] == "FederatedResourceQuota") {
    return EditQuota(state, object[1], object[2], edit);
  }
  if (object.size() == 2 && object[0] == "Cluster") {
    return EditCluster(state, object[1], edit);
  }
  if (object.size() == 3 && object[0] == "Node") {
    return EditNode(state, object[1], object[2], edit);
  }
  if (object.size() == 3 && (object[0] == "Job" || object[0] == "HyperJob")) {
    return EditJob(state, {object[1], object[2]}, edit);
  }
  if (object.size() == 2 && object[0] == "PriorityClass" && edit.field == "value") {
    state.Apply(PriorityClassUpsert{{object[1], std::stoi(edit.to), false, true}});
    return true;
  }
  if (object.size() == 2 && object[0] == "Namespace" && edit.to == "absent") {
    state.Apply(NamespaceUpsert{{object[1], false}});
    return true;
  }
  return edit.field == "metadata.name" && MakeReference(state, edit.object);
}

}  // namespace caldera::property
