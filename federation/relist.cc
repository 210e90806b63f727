#include "federation/relist.h"

#include <array>
#include <compare>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "federation/codec_fields.h"

namespace caldera {
namespace {

/// In the order in which upserts are applied: what is referred to comes before what refers to it.
enum class Kind : uint8_t {
  kPriorityClass,
  kNamespace,
  kQueue,
  kTenantQuota,
  kCluster,
  kNode,
  kHyperNode,
  kPod,
  kJob,
};

struct Key {
  Kind kind = Kind::kPriorityClass;
  std::array<std::string, 3> parts;
  friend bool operator<(const Key& a, const Key& b) {
    return std::tie(a.kind, a.parts) < std::tie(b.kind, b.parts);
  }
};

Key KeyOf(const PriorityClassUpsert& c) { return {Kind::kPriorityClass, {c.priority_class.name}}; }
Key KeyOf(const NamespaceUpsert& c) { return {Kind::kNamespace, {c.ns.name}}; }
Key KeyOf(const QueueUpsert& c) { return {Kind::kQueue, {c.queue.name}}; }
Key KeyOf(const TenantQuotaUpsert& c) {
  return {Kind::kTenantQuota, {c.quota.tenant, c.quota.name}};
}
Key KeyOf(const ClusterUpsert& c) { return {Kind::kCluster, {c.cluster.name}}; }
Key KeyOf(const NodeUpsert& c) { return {Kind::kNode, {c.node.cluster, c.node.name}}; }
Key KeyOf(const HyperNodeUpsert& c) {
  return {Kind::kHyperNode, {c.hyper_node.cluster, c.hyper_node.name}};
}
Key KeyOf(const PodUpsert& c) { return {Kind::kPod, {c.pod.cluster, c.pod.ns, c.pod.name}}; }
Key KeyOf(const JobUpsert& c) {
  const bool hyper = c.job.kind == JobKind::kHyperJob;  // The two may share a name.
  return {Kind::kJob, {c.job.key.ns, c.job.key.name, hyper ? "HyperJob" : "Job"}};
}

template <class C>
concept IsUpsert = requires(const C& change) {
  KeyOf(change);
};

std::optional<Key> KeyOfChange(const Change& change) {
  return std::visit(
      []<class C>(const C& c) -> std::optional<Key> {
        if constexpr (IsUpsert<C>) {
          return KeyOf(c);
        } else {
          return std::nullopt;
        }
      },
      change);
}

/// The deletion of what `upsert` put there.
Change DeletionOf(const Key& key, const Change& upsert) {
  const auto& [first, second, third] = key.parts;
  switch (key.kind) {
    case Kind::kPriorityClass:
      return PriorityClassDelete{first};
    case Kind::kNamespace:
      return NamespaceDelete{first};
    case Kind::kQueue:
      return QueueDelete{first};
    case Kind::kTenantQuota:
      return TenantQuotaDelete{first, second};
    case Kind::kCluster:
      return ClusterDelete{first};
    case Kind::kNode:
      return NodeDelete{first, second};
    case Kind::kHyperNode:
      return HyperNodeDelete{first, second};
    case Kind::kPod:
      return PodDelete{first, second, third};
    case Kind::kJob:
      break;
  }
  const Job& job = std::get<JobUpsert>(upsert).job;
  return JobDelete{job.key, job.uid};
}

using Objects = std::map<Key, Change>;

Objects ByKey(const std::vector<Change>& changes) {
  Objects objects;
  for (const Change& change : changes) {
    if (const std::optional<Key> key = KeyOfChange(change)) {
      objects.insert_or_assign(*key, change);
    }
  }
  return objects;
}

bool SameObject(const Change& a, const Change& b) {
  return a.index() == b.index() &&
         std::visit([&b]<class C>(const C& left) { return codec::Same(left, std::get<C>(b)); }, a);
}

/// A job made again under the same name is another job.
bool OtherJob(const Change& known, const Change& seen) {
  const auto* before = std::get_if<JobUpsert>(&known);
  const auto* after = std::get_if<JobUpsert>(&seen);
  return before != nullptr && after != nullptr && before->job.uid != after->job.uid;
}

/// Intake gives the time of reading to an object that carries no creation time; one that is known
/// keeps the time at which it was seen first, or it would lose its place with every listing.
void KeepCreation(const Change& known, Time now, Change& seen) {
  if (auto* job = std::get_if<JobUpsert>(&seen); job != nullptr && job->job.creation == now) {
    job->job.creation = std::get<JobUpsert>(known).job.creation;
  }
  if (auto* queue = std::get_if<QueueUpsert>(&seen);
      queue != nullptr && queue->queue.creation == now) {
    queue->queue.creation = std::get<QueueUpsert>(known).queue.creation;
  }
}

/// The knobs are no object that could be absent: they change only where they were given.
std::optional<Settings> NewSettings(const State& state, const std::vector<Change>& observed) {
  std::optional<Settings> settings;
  for (const Change& change : observed) {
    if (const auto* set = std::get_if<SettingsSet>(&change)) {
      settings = set->settings;
    }
  }
  return settings && *settings != state.settings() ? settings : std::nullopt;
}

}  // namespace

std::vector<Change> Relist(const State& state, Time now, const std::vector<Change>& observed) {
  const Objects known = ByKey(state.Export());
  Objects seen = ByKey(observed);
  std::vector<Change> result = {ClockSet{now}};
  if (const std::optional<Settings> settings = NewSettings(state, observed)) {
    result.emplace_back(SettingsSet{*settings});
  }
  std::vector<Change> deletes;
  for (const auto& [key, change] : known) {
    const auto at = seen.find(key);
    if (at == seen.end() || OtherJob(change, at->second)) {
      deletes.push_back(DeletionOf(key, change));
    }
  }
  result.insert(result.end(), std::make_move_iterator(deletes.rbegin()),
                std::make_move_iterator(deletes.rend()));
  for (auto& [key, change] : seen) {
    const auto at = known.find(key);
    if (at != known.end() && !OtherJob(at->second, change)) {
      KeepCreation(at->second, now, change);
      if (SameObject(at->second, change)) {
        continue;
      }
    }
    result.push_back(std::move(change));
  }
  return result;
}

}  // namespace caldera
