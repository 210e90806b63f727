// Create, update, patch and delete against the store, as one Kubernetes API server does them. Used
// by the request handler and by the garbage collector. One thread.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "controller/kube/executor.h"
#include "test/sandbox/answer.h"
#include "test/sandbox/api_server.h"
#include "test/sandbox/store.h"

namespace caldera::sandbox {

/// Where a write goes.
struct Target {
  const Kind* kind = nullptr;
  ObjectKey key;  ///< For a create only the namespace counts.
  std::string subresource;
  bool dry_run = false;
};

struct Written {
  int code = 200;
  std::string text;  ///< The object, or a Status.
};

class Writer {
 public:
  /// All must outlive this. `name` makes uids of two servers differ.
  Writer(Store& store, Executor& executor, const Catalog& catalog, const std::string& name);

  Answer<Written> Create(const Target& target, Value object);
  Answer<Written> Update(const Target& target, Value object);
  /// `media_type` as in Content-Type; server-side apply creates what is missing.
  Answer<Written> Patch(const Target& target, std::string_view media_type, const std::string& body);
  /// `options` is a metav1.DeleteOptions, or null.
  Answer<Written> Delete(const Target& target, const Value& options);
  /// pods/binding.
  Answer<Written> Bind(const Target& target, const Value& binding);

  /// Changes an object past all checks, as the server's own controllers do; one whose last
  /// finalizer went is removed. Nothing happens where it is gone.
  void Edit(const Place& place, const std::function<void(Value& object)>& change);
  /// Removes an object whatever its finalizers say.
  void Remove(const Place& place);
  /// Adds a namespace if it is missing.
  void EnsureNamespace(const std::string& name);

  void SetAdmission(ApiServer::Admission admission) { admission_ = std::move(admission); }

 private:
  [[nodiscard]] Answer<void> CheckNamespace(const Target& target, const std::string& name) const;
  Answer<void> Admit(const Kind& kind, const Value* before, Value& object) const;
  Answer<Written> Change(const Target& target, const StoredObject& old, Value object);
  Written Commit(const Target& target, const StoredObject& old, const Value& before, Value object);
  Written MarkDeleting(const Target& target, const StoredObject& old, int64_t grace,
                       const std::string& finalizer);
  std::string NewUid();
  std::string NewSuffix();
  uint64_t NextRandom();

  Store& store_;
  Executor& executor_;
  const Catalog& catalog_;
  ApiServer::Admission admission_;
  uint64_t random_;
};

}  // namespace caldera::sandbox
