// What goes because something else went: dependents of a deleted owner, and everything in a deleted
// namespace. Works after the fact, step by step on the executor, as kube-controller-manager does.
// One thread.
#pragma once

#include <memory>
#include <set>
#include <string>

#include "controller/kube/executor.h"
#include "test/sandbox/store.h"
#include "test/sandbox/writes.h"

namespace caldera::sandbox {

class Garbage {
 public:
  /// All must outlive this.
  Garbage(Store& store, Writer& writer, Executor& executor, const Catalog& catalog);
  Garbage(const Garbage&) = delete;
  Garbage& operator=(const Garbage&) = delete;
  ~Garbage() = default;

  /// To be told of each change in the store.
  void OnChange(const Change& change);

 private:
  void Enqueue(const Place& place);
  void Work();
  void Look(const Place& place);
  void LookAtNamespace(const Place& place);
  void LookAtOwners(const Place& place);
  void LookAtDependents(const Place& place, const StoredObject& owner);
  void DropOwner(const Place& place, const std::string& uid);
  void DropFinalizer(const Place& place, std::string_view finalizer);
  void Delete(const Place& place, bool foreground);

  Store& store_;
  Writer& writer_;
  Executor& executor_;
  const Kind& namespaces_;
  std::set<Place> waiting_;
  bool posted_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace caldera::sandbox
