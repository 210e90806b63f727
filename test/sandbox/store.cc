#include "test/sandbox/store.h"

#include "controller/kube/json_reader.h"
#include "controller/kube/json_writer.h"
#include "federation/assert.h"
#include "federation/value_at.h"

namespace caldera::sandbox {
namespace {

std::string ScalarText(const Value& value) {
  switch (value.kind()) {
    case Value::Kind::kString:
      return value.AsString();
    case Value::Kind::kBool:
    case Value::Kind::kInteger:
      return value.Brief();
    default:
      return {};
  }
}

std::string FieldText(const Value& object, std::string_view path) {
  const Value* value = &object;
  while (value != nullptr && !path.empty()) {
    const size_t dot = path.find('.');
    value = value->Find(path.substr(0, dot));
    path = dot == std::string_view::npos ? std::string_view() : path.substr(dot + 1);
  }
  return value == nullptr ? std::string() : ScalarText(*value);
}

// `regarding` is what events.k8s.io calls the core group's `involvedObject`; `source` selects on
// the component.
std::string FieldOf(const Kind& kind, const Value& object, const std::string& field) {
  constexpr std::string_view kRegarding = "regarding.";
  if (kind.type.kind == "Event" && field.starts_with(kRegarding)) {
    return FieldText(object, "involvedObject." + field.substr(kRegarding.size()));
  }
  if (kind.type.kind == "Event" && field == "source") {
    return FieldText(object, "source.component");
  }
  return FieldText(object, field);
}

void ReadMetadata(const Value& metadata, StoredObject& into) {
  into.key.ns = TextAt(metadata, {"namespace"});
  into.key.name = TextAt(metadata, {"name"});
  into.uid = TextAt(metadata, {"uid"});
  into.deleting = metadata.Find("deletionTimestamp") != nullptr;
  if (const Value* labels = metadata.Find("labels"); labels != nullptr && labels->IsMap()) {
    for (const Member& label : labels->AsMap()) {
      into.labels.emplace(label.key, ScalarText(label.value));
    }
  }
  if (const Value* list = metadata.Find("finalizers"); list != nullptr && list->IsList()) {
    into.has_finalizers = !list->AsList().empty();
  }
  if (const Value* list = metadata.Find("ownerReferences"); list != nullptr && list->IsList()) {
    for (const Value& owner : list->AsList()) {
      into.owners.push_back(TextAt(owner, {"uid"}));
    }
  }
}

// apiVersion and kind first, so that a list can leave them out without parsing.
Value InOrder(const Kind& kind, Value object) {
  Value ordered;
  ordered.Set("apiVersion", kind.type.ApiVersion());
  ordered.Set("kind", kind.type.kind);
  for (Member& member : object.AsMap()) {
    if (member.key != "apiVersion" && member.key != "kind") {
      ordered.AsMap().push_back(std::move(member));
    }
  }
  return ordered;
}

std::shared_ptr<StoredObject> MakeStored(const Kind& kind, Value object, uint64_t version) {
  auto stored = std::make_shared<StoredObject>();
  Value* metadata = object.Find("metadata");
  CALDERA_ASSERT(metadata != nullptr);
  metadata->Set("resourceVersion", std::to_string(version));
  ReadMetadata(*metadata, *stored);
  stored->version = version;
  for (const std::string& field : kind.fields) {
    if (std::string text = FieldOf(kind, object, field); !text.empty()) {
      stored->fields.emplace(field, std::move(text));
    }
  }
  stored->text = WriteJson(InOrder(kind, std::move(object)));
  return stored;
}

}  // namespace

Value TreeOf(const StoredObject& object) {
  Result<Value> tree = ParseJson(object.text);
  CALDERA_ASSERT(tree.has_value());
  return *std::move(tree);
}

Store::Store(size_t history, Listener listener)
    : history_limit_(history), listener_(std::move(listener)) {}

ObjectPtr Store::Find(const Kind& kind, const ObjectKey& key) const {
  const ObjectMap& objects = Objects(kind);
  const auto found = objects.find(key);
  return found == objects.end() ? nullptr : found->second;
}

const ObjectMap& Store::Objects(const Kind& kind) const {
  static const ObjectMap kNone;
  const auto found = objects_.find(&kind);
  return found == objects_.end() ? kNone : found->second;
}

std::optional<ObjectMap> Store::ObjectsAt(const Kind& kind, uint64_t version) const {
  ObjectMap then = Objects(kind);
  std::set<ObjectKey> seen;  // The first change after `version` knows what was there before it.
  const bool known = VisitSince(version, [&](const Change& change) {
    const ObjectKey& key = change.object->key;
    if (change.kind != &kind || !seen.insert(key).second) {
      return;
    }
    if (change.previous == nullptr) {
      then.erase(key);
    } else {
      then.insert_or_assign(key, change.previous);
    }
  });
  return known ? std::optional(std::move(then)) : std::nullopt;
}

ObjectPtr Store::Put(const Kind& kind, Value object) {
  ObjectPtr now = MakeStored(kind, std::move(object), version_ + 1);
  ObjectPtr& slot = objects_[&kind][now->key];
  ObjectPtr previous = std::exchange(slot, now);
  if (previous != nullptr) {
    Unindex(kind, *previous);
  }
  Index(kind, *now);
  const ChangeType type = previous == nullptr ? ChangeType::kAdded : ChangeType::kModified;
  Record({&kind, type, now, std::move(previous)});
  return now;
}

ObjectPtr Store::Remove(const Kind& kind, const ObjectKey& key) {
  auto node = objects_[&kind].extract(key);
  CALDERA_ASSERT(!node.empty());
  ObjectPtr previous = std::move(node.mapped());
  Unindex(kind, *previous);
  ObjectPtr last = MakeStored(kind, TreeOf(*previous), version_ + 1);
  Record({&kind, ChangeType::kDeleted, last, std::move(previous)});
  return last;
}

bool Store::VisitSince(uint64_t version, const std::function<void(const Change&)>& visit) const {
  if (version >= version_) {
    return true;
  }
  const uint64_t wanted = version_ - version;
  if (wanted > history_.size()) {
    return false;
  }
  for (size_t i = history_.size() - wanted; i < history_.size(); ++i) {
    visit(history_[i]);
  }
  return true;
}

void Store::Compact() { history_.clear(); }

std::optional<Place> Store::PlaceOf(const std::string& uid) const {
  const auto found = by_uid_.find(uid);
  return found == by_uid_.end() ? std::nullopt : std::optional(found->second);
}

std::vector<Place> Store::Dependents(const std::string& uid) const {
  const auto found = by_owner_.find(uid);
  return found == by_owner_.end() ? std::vector<Place>()
                                  : std::vector<Place>(found->second.begin(), found->second.end());
}

size_t Store::CountIn(const std::string& ns) const {
  const auto found = count_by_namespace_.find(ns);
  return found == count_by_namespace_.end() ? 0 : found->second;
}

std::vector<Place> Store::PlacesIn(const std::string& ns) const {
  std::vector<Place> places;
  for (const auto& [kind, objects] : objects_) {
    for (auto it = objects.lower_bound({ns, ""}); it != objects.end() && it->first.ns == ns; ++it) {
      if (kind->type.namespaced) {
        places.push_back({kind, it->first});
      }
    }
  }
  return places;
}

void Store::Record(Change change) {
  ++version_;
  history_.push_back(std::move(change));
  if (history_.size() > history_limit_) {
    history_.pop_front();
  }
  listener_(history_.back());
}

void Store::Index(const Kind& kind, const StoredObject& object) {
  const Place place{&kind, object.key};
  by_uid_[object.uid] = place;
  for (const std::string& owner : object.owners) {
    by_owner_[owner].insert(place);
  }
  if (kind.type.namespaced) {
    ++count_by_namespace_[object.key.ns];
  }
}

void Store::Unindex(const Kind& kind, const StoredObject& object) {
  const Place place{&kind, object.key};
  by_uid_.erase(object.uid);
  for (const std::string& owner : object.owners) {
    if (const auto found = by_owner_.find(owner); found != by_owner_.end()) {
      found->second.erase(place);
      if (found->second.empty()) {
        by_owner_.erase(found);
      }
    }
  }
  if (kind.type.namespaced && --count_by_namespace_[object.key.ns] == 0) {
    count_by_namespace_.erase(object.key.ns);
  }
}

}  // namespace caldera::sandbox
