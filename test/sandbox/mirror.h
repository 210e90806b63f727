// All objects of one kind as a server shows them, kept by a Reflector; for what acts in the
// sandbox. One thread (the executor's).
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "controller/kube/reflector.h"
#include "test/sandbox/tree.h"

namespace caldera::sandbox {

class Mirror {
 public:
  using Objects = std::map<ObjectKey, Value>;
  /// `before` is null for a new object, `after` for one that is gone. Both live for the call only.
  using ChangeHandler =
      std::function<void(const ObjectKey& key, const Value* before, const Value* after)>;

  /// `client` must outlive this; `on_synced` is called after each list and may be empty. Either may
  /// read the mirror, and finds the change in it.
  Mirror(Client& client, const ResourceType& type, ChangeHandler on_change,
         std::function<void()> on_synced = nullptr);
  Mirror(const Mirror&) = delete;
  Mirror& operator=(const Mirror&) = delete;
  ~Mirror() = default;

  void Start() { reflector_.Start(); }
  void Stop() { reflector_.Stop(); }
  /// Everything that was there at the first list is in it.
  [[nodiscard]] bool Synced() const { return reflector_.Synced(); }
  [[nodiscard]] const Value* Find(const ObjectKey& key) const;
  [[nodiscard]] const Objects& objects() const { return objects_; }

 private:
  void Upsert(Value&& object);
  void Delete(const ObjectKey& key);

  const ResourceType type_;
  ChangeHandler on_change_;
  Objects objects_;
  Reflector reflector_;
};

}  // namespace caldera::sandbox
