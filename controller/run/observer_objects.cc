#include "controller/run/observer_objects.h"

#include <algorithm>

namespace caldera {
namespace {

using Kind = ObjectBook::Kind;
using Key = ObjectBook::Key;

template <class Entries>
auto* EntryAt(const State::ByName& names, const Entries& entry_of, const std::string& name) {
  const auto it = names.find(name);
  return it == names.end() ? nullptr : &entry_of(it->second);
}

const QueueEntry* QueueAt(const State& state, const std::string& name) {
  return EntryAt(
      state.queues(), [&](QueueIndex i) -> const QueueEntry& { return state.queue(i); }, name);
}
const TenantEntry* TenantAt(const State& state, const std::string& name) {
  return EntryAt(
      state.tenants(), [&](TenantIndex i) -> const TenantEntry& { return state.tenant(i); }, name);
}
const ClusterEntry* ClusterAt(const State& state, const std::string& name) {
  return EntryAt(
      state.clusters(), [&](ClusterIndex i) -> const ClusterEntry& { return state.cluster(i); },
      name);
}
const PriorityEntry* PriorityAt(const State& state, const std::string& name) {
  return EntryAt(
      state.priorities(),
      [&](PriorityIndex i) -> const PriorityEntry& { return state.priority(i); }, name);
}

template <class Upsert, class Objects, class Name>
std::optional<Change> Found(const Objects& objects, const Name& key) {
  const auto it = objects.find(key);
  return it == objects.end() ? std::nullopt : std::optional<Change>(Upsert{it->second});
}

std::optional<Change> MemberInState(const State& state, const Key& key) {
  const auto& [cluster, second, third] = key.parts;
  const ClusterEntry* const entry = ClusterAt(state, cluster);
  if (entry == nullptr) {
    return std::nullopt;
  }
  switch (key.kind) {
    case Kind::kNode:
      return Found<NodeUpsert>(entry->nodes, second);
    case Kind::kHyperNode:
      return Found<HyperNodeUpsert>(entry->hyper_nodes, second);
    default:
      return Found<PodUpsert>(entry->pods, std::pair(second, third));
  }
}

}  // namespace

std::optional<Change> ObjectBook::InState(const Key& key) const {
  const std::string& name = key.parts[0];
  switch (key.kind) {
    case Kind::kPriorityClass: {
      const PriorityEntry* const entry = PriorityAt(state_, name);
      return entry == nullptr || !entry->object.has_value()
                 ? std::nullopt
                 : std::optional<Change>(PriorityClassUpsert{*entry->object});
    }
    case Kind::kNamespace: {
      const TenantEntry* const entry = TenantAt(state_, name);
      return entry == nullptr || !entry->object.has_value()
                 ? std::nullopt
                 : std::optional<Change>(NamespaceUpsert{*entry->object});
    }
    case Kind::kQueue: {
      const QueueEntry* const entry = QueueAt(state_, name);
      return entry == nullptr || !entry->declared
                 ? std::nullopt
                 : std::optional<Change>(QueueUpsert{*entry->object});
    }
    case Kind::kTenantQuota: {
      const TenantEntry* const entry = TenantAt(state_, name);
      return entry == nullptr ? std::nullopt
                              : Found<TenantQuotaUpsert>(entry->quotas, key.parts[1]);
    }
    case Kind::kCluster: {
      const ClusterEntry* const entry = ClusterAt(state_, name);
      return entry == nullptr || !entry->object.has_value()
                 ? std::nullopt
                 : std::optional<Change>(ClusterUpsert{*entry->object});
    }
    default:
      return MemberInState(state_, key);
  }
}

void ObjectBook::Upsert(Change&& upsert, Time now) {
  std::visit(
      [&]<class C>(C& change) {
        if constexpr (std::is_same_v<C, ClusterUpsert>) {
          See(change.cluster, now);
        }
        if constexpr (IsUpsert<C>) {
          pending_.insert_or_assign(KeyOf(change), std::move(change));
        }
      },
      upsert);
}

void ObjectBook::Delete(const Key& key) {
  if (key.kind == Kind::kCluster) {
    clusters_.erase(key.parts[0]);
  }
  pending_.insert_or_assign(key, std::nullopt);
}

void ObjectBook::Refuse(const Key& key, Time now) {
  const auto it = pending_.find(key);
  // What was deleted and came back is another object: State's is not its last good form.
  const bool taken = it != pending_.end() && it->second.has_value();
  std::optional<Change> kept = taken                  ? it->second
                               : it != pending_.end() ? std::nullopt
                                                      : InState(key);
  if (!kept.has_value()) {
    return;
  }
  if (auto* const upsert = std::get_if<ClusterUpsert>(&*kept); upsert != nullptr) {
    const auto seen = clusters_.find(upsert->cluster.name);
    Cluster cluster = seen == clusters_.end() ? upsert->cluster : seen->second.cluster;
    cluster.ready = false;
    upsert->cluster = cluster;
    See(std::move(cluster), now);
  }
  pending_.insert_or_assign(key, std::move(kept));
}

void ObjectBook::ForgetMembers(const std::string& cluster) {
  std::erase_if(pending_, [&](const auto& entry) {
    return entry.first.kind >= Kind::kNode && entry.first.parts[0] == cluster;
  });
  const ClusterEntry* const entry = ClusterAt(state_, cluster);
  if (entry == nullptr) {
    return;
  }
  for (const auto& [name, node] : entry->nodes) {
    Delete({Kind::kNode, {cluster, name}});
  }
  for (const auto& [name, node] : entry->hyper_nodes) {
    Delete({Kind::kHyperNode, {cluster, name}});
  }
  for (const auto& [name, pod] : entry->pods) {
    Delete({Kind::kPod, {cluster, name.first, name.second}});
  }
}

void ObjectBook::See(QueueView queue) {
  dirty_queues_.insert(queue.name);
  const std::string name = queue.name;
  queues_.insert_or_assign(name, std::move(queue));
}

void ObjectBook::ForgetQueue(const std::string& name) {
  dirty_queues_.insert(name);
  queues_.erase(name);
  commands_.erase(name);
}

const QueueView* ObjectBook::FindQueue(const std::string& name) const {
  const auto it = queues_.find(name);
  return it == queues_.end() ? nullptr : &it->second;
}

bool ObjectBook::IsThere(const std::string& name, const std::string& uid) const {
  const QueueView* const queue = FindQueue(name);
  return queue != nullptr && queue->uid == uid;
}

void ObjectBook::Command(const std::string& queue, CommandAction action) {
  commands_[queue] = action;
  TouchQueue(queue);
}

void ObjectBook::TouchQueue(const std::string& name) {
  const Key key{Kind::kQueue, {name}};
  if (!pending_.contains(key)) {
    if (std::optional<Change> known = InState(key); known.has_value()) {
      pending_.insert_or_assign(key, std::move(known));
    }
  }
}

bool ObjectBook::CanClose(const std::string& queue) const {
  const QueueEntry* const entry = QueueAt(state_, queue);
  return entry == nullptr || entry->charged_jobs == 0;
}

Queue ObjectBook::Decided(Queue queue) {
  // A Queue made again under the same name starts with what its own status says.
  const QueueEntry* const known = QueueAt(state_, queue.name);
  if (known != nullptr && known->declared && known->object->uid == queue.uid) {
    queue.state = known->object->state;
  }
  if (const auto command = commands_.find(queue.name); command != commands_.end()) {
    queue.state =
        command->second == CommandAction::kOpenQueue ? QueueState::kOpen : QueueState::kClosing;
    commands_.erase(command);
  }
  if (queue.state == QueueState::kClosing && CanClose(queue.name)) {
    queue.state = QueueState::kClosed;
  }
  if (queue.state == QueueState::kClosing) {
    closing_.insert(queue.name);
  } else {
    closing_.erase(queue.name);
  }
  return queue;
}

const Cluster* ObjectBook::KnownAs(const Cluster& cluster) const {
  const ClusterEntry* const entry = ClusterAt(state_, cluster.name);
  return entry != nullptr && entry->object.has_value() && entry->object->uid == cluster.uid
             ? &*entry->object
             : nullptr;
}

void ObjectBook::See(Cluster cluster, Time now) {
  const std::string name = cluster.name;
  const Cluster* const known = KnownAs(cluster);
  const auto it = clusters_.find(name);
  Seen seen{std::move(cluster), std::nullopt};
  if (known != nullptr && known->ready != seen.cluster.ready) {
    const bool goes_on = it != clusters_.end() && it->second.differs.has_value() &&
                         it->second.cluster.ready_changed == seen.cluster.ready_changed;
    // Seen for the first time since the start, it may have stood for long: Karmada says since when.
    const bool since_before = it == clusters_.end() && seen.cluster.ready_changed != Time();
    seen.differs = goes_on        ? it->second.differs
                   : since_before ? std::min(now, seen.cluster.ready_changed)
                                  : now;
  }
  clusters_.insert_or_assign(name, std::move(seen));
}

Cluster ObjectBook::Believed(Seen& seen, Time now) const {
  Cluster cluster = seen.cluster;
  const Cluster* const known = KnownAs(cluster);
  const bool stood = seen.differs.has_value() && now >= *seen.differs + options_.ready_debounce;
  if (known == nullptr || (cluster.ready != known->ready && stood)) {
    seen.differs.reset();
    return cluster;
  }
  if (cluster.ready != known->ready) {
    seen.differs = seen.differs.value_or(now);
    cluster.ready = known->ready;
    cluster.ready_changed = known->ready_changed;
    return cluster;
  }
  seen.differs.reset();
  if (known->ready_changed != Time()) {
    cluster.ready_changed = known->ready_changed;  // A change that did not stand did not happen.
  }
  return cluster;
}

std::optional<Change> ObjectBook::Prepared(const Key& key, Change change, Time now) {
  if (auto* const queue = std::get_if<QueueUpsert>(&change); queue != nullptr) {
    queue->queue = Decided(std::move(queue->queue));
  } else if (std::holds_alternative<ClusterUpsert>(change)) {
    const auto seen = clusters_.find(key.parts[0]);
    if (seen == clusters_.end()) {
      return std::nullopt;
    }
    change = ClusterUpsert{Believed(seen->second, now)};
  }
  return change;
}

std::vector<std::string> ObjectBook::DueClusters(Time now) const {
  std::vector<std::string> due;
  for (const auto& [name, seen] : clusters_) {
    if (seen.differs.has_value() && now >= *seen.differs + options_.ready_debounce) {
      due.push_back(name);
    }
  }
  return due;
}

void ObjectBook::List(Time now, std::vector<Change>& observed) {
  for (auto& [key, change] : pending_) {
    if (!change.has_value()) {
      continue;
    }
    if (std::optional<Change> upsert = Prepared(key, *std::move(change), now); upsert.has_value()) {
      observed.push_back(*std::move(upsert));
    }
  }
  pending_.clear();
  for (const auto& [name, queue] : queues_) {
    dirty_queues_.insert(name);
  }
}

void ObjectBook::Take(Time now, std::vector<Change>& changes) {
  for (const std::string& name : DueClusters(now)) {
    pending_.insert_or_assign({Kind::kCluster, {name}}, ClusterUpsert{clusters_.at(name).cluster});
  }
  for (const std::string& name : std::set<std::string>(closing_)) {
    if (CanClose(name)) {
      TouchQueue(name);
    }
  }
  std::vector<Change> upserts;
  for (auto& [key, change] : std::exchange(pending_, {})) {
    const std::optional<Change> known = InState(key);
    if (!change.has_value()) {
      closing_.erase(key.kind == Kind::kQueue ? key.parts[0] : std::string());
      if (known.has_value()) {
        changes.push_back(DeletionOf(key));
      }
      continue;
    }
    std::optional<Change> upsert = Prepared(key, *change, now);
    if (upsert.has_value() && !(known.has_value() && SameChange(*known, *upsert))) {
      if (key.kind == Kind::kQueue) {
        dirty_queues_.insert(key.parts[0]);
      }
      upserts.push_back(*std::move(upsert));
    }
  }
  changes.insert(changes.end(), std::make_move_iterator(upserts.begin()),
                 std::make_move_iterator(upserts.end()));
}

Time ObjectBook::NextDue() const {
  Time next;
  const auto consider = [&](Time time) { next = next == Time() ? time : std::min(next, time); };
  for (const auto& [name, seen] : clusters_) {
    if (seen.differs.has_value()) {
      consider(*seen.differs + options_.ready_debounce);
    }
  }
  for (const std::string& name : closing_) {
    if (CanClose(name)) {
      consider(state_.now());
    }
  }
  return next;
}

}  // namespace caldera
