#include "test/sandbox/garbage.h"

#include <algorithm>
#include <utility>

namespace caldera::sandbox {
namespace {

constexpr std::string_view kForeground = "foregroundDeletion";
constexpr std::string_view kOrphan = "orphan";

bool HasFinalizer(const Value& object, std::string_view finalizer) {
  const Value* list = object.At({"metadata", "finalizers"});
  return list != nullptr && list->IsList() &&
         std::any_of(list->AsList().begin(), list->AsList().end(),
                     [&](const Value& v) { return v.IsString() && v.AsString() == finalizer; });
}

}  // namespace

Garbage::Garbage(Store& store, Writer& writer, Executor& executor, const Catalog& catalog)
    : store_(store),
      writer_(writer),
      executor_(executor),
      namespaces_(*catalog.Find("", "v1", "namespaces")) {}

void Garbage::OnChange(const Change& change) {
  const StoredObject& object = *change.object;
  if (change.type != ChangeType::kDeleted) {
    if (object.deleting || !object.owners.empty()) {
      Enqueue({change.kind, object.key});
    }
    return;
  }
  for (const Place& dependent : store_.Dependents(object.uid)) {
    Enqueue(dependent);
  }
  for (const std::string& owner : object.owners) {
    if (const auto place = store_.PlaceOf(owner)) {
      Enqueue(*place);
    }
  }
  if (change.kind->type.namespaced && store_.CountIn(object.key.ns) == 0) {
    Enqueue({&namespaces_, {"", object.key.ns}});
  }
}

void Garbage::Enqueue(const Place& place) {
  waiting_.insert(place);
  if (std::exchange(posted_, true)) {
    return;
  }
  executor_.Post([this, alive = std::weak_ptr(alive_)] {
    if (alive.lock() != nullptr) {
      Work();
    }
  });
}

void Garbage::Work() {
  posted_ = false;
  for (const Place& place : std::exchange(waiting_, {})) {
    Look(place);
  }
}

// Looks at an object as it is now and does what is due.
void Garbage::Look(const Place& place) {
  if (place.kind == &namespaces_) {
    LookAtNamespace(place);
    return;
  }
  LookAtOwners(place);
  const ObjectPtr object = store_.Find(*place.kind, place.key);
  if (object != nullptr && object->deleting && object->has_finalizers) {
    LookAtDependents(place, *object);
  }
}

void Garbage::LookAtNamespace(const Place& place) {
  const ObjectPtr ns = store_.Find(*place.kind, place.key);
  if (ns == nullptr || !ns->deleting) {
    return;
  }
  for (const Place& content : store_.PlacesIn(place.key.name)) {
    const ObjectPtr object = store_.Find(*content.kind, content.key);
    if (object != nullptr && !object->deleting) {
      Delete(content, false);
    }
  }
  if (store_.CountIn(place.key.name) == 0 && !ns->has_finalizers) {
    writer_.Remove(place);
  }
}

void Garbage::LookAtOwners(const Place& place) {
  const ObjectPtr object = store_.Find(*place.kind, place.key);
  if (object == nullptr || object->owners.empty()) {
    return;
  }
  const bool any = std::any_of(object->owners.begin(), object->owners.end(),
                               [this](const std::string& uid) { return store_.HasUid(uid); });
  if (!any) {
    if (!object->deleting) {
      Delete(place, false);
    }
    return;
  }
  for (const std::string& uid : object->owners) {
    if (!store_.HasUid(uid)) {
      DropOwner(place, uid);
    }
  }
}

void Garbage::LookAtDependents(const Place& place, const StoredObject& owner) {
  const Value tree = TreeOf(owner);
  if (HasFinalizer(tree, kOrphan)) {
    for (const Place& dependent : store_.Dependents(owner.uid)) {
      DropOwner(dependent, owner.uid);
    }
    DropFinalizer(place, kOrphan);
    return;
  }
  if (!HasFinalizer(tree, kForeground)) {
    return;
  }
  for (const Place& dependent : store_.Dependents(owner.uid)) {
    const ObjectPtr object = store_.Find(*dependent.kind, dependent.key);
    if (object != nullptr && !object->deleting) {
      Delete(dependent, true);
    }
  }
  if (store_.Dependents(owner.uid).empty()) {
    DropFinalizer(place, kForeground);
  }
}

void Garbage::DropOwner(const Place& place, const std::string& uid) {
  writer_.Edit(place, [&](Value& object) {
    Value* metadata = object.Find("metadata");
    Value* owners = metadata->Find("ownerReferences");
    if (owners == nullptr || !owners->IsList()) {
      return;
    }
    std::erase_if(owners->AsList(),
                  [&](const Value& owner) { return TextAt(owner, {"uid"}) == uid; });
    if (owners->AsList().empty()) {
      metadata->Erase("ownerReferences");
    }
  });
}

void Garbage::DropFinalizer(const Place& place, std::string_view finalizer) {
  writer_.Edit(place, [&](Value& object) {
    Value* metadata = object.Find("metadata");
    Value* list = metadata->Find("finalizers");
    if (list == nullptr || !list->IsList()) {
      return;
    }
    std::erase_if(list->AsList(),
                  [&](const Value& v) { return v.IsString() && v.AsString() == finalizer; });
    if (list->AsList().empty()) {
      metadata->Erase("finalizers");
    }
  });
}

void Garbage::Delete(const Place& place, bool foreground) {
  const Value options =
      Value::Map{{"propagationPolicy", foreground ? "Foreground" : "Background", {}}};
  // Nothing refuses it: there are no preconditions, and it is there.
  (void)writer_.Delete({place.kind, place.key, "", false}, options);
}

}  // namespace caldera::sandbox
