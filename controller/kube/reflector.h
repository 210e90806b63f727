// Keeps a local view of one kind true: LIST in pages, then WATCH with bookmarks from there, and
// again LIST whenever the server says that it no longer knows (410), or what came cannot be
// trusted. Level-triggered: what it reports is the object as it is now, never a difference.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "controller/kube/client.h"

namespace caldera {

struct ReflectorOptions {
  ResourceType type;
  std::string ns;  ///< Empty: all namespaces.
  std::string label_selector;
  std::string field_selector;
  int page_size = 500;
  Millis watch_timeout{300'000};  ///< Asked of the server.
  Millis first_backoff{500};
  Millis longest_backoff{30'000};
};

/// What a reflector calls, on the executor's thread. An object is handed over as a Value that the
/// callee may keep parts of; the reflector itself keeps only key, uid and resourceVersion.
struct ReflectorHandlers {
  /// New or changed (a repeat with the same uid and resourceVersion is not reported).
  std::function<void(Value&& object)> on_upsert;
  /// Deleted, by watch or by absence in a list; also before an upsert of the same key with a new
  /// uid.
  std::function<void(const std::string& ns, const std::string& name, const std::string& uid)>
      on_delete;
  /// After each complete list: everything that is there has been reported. Never after a list that
  /// broke half way: such a list reports no deletes.
  std::function<void()> on_synced;
  /// For logs and metrics: why it lists or watches again.
  std::function<void(const Error&)> on_error;
};

class Reflector {
 public:
  /// `client` must outlive the reflector.
  Reflector(Client& client, ReflectorOptions options, ReflectorHandlers handlers);
  Reflector(const Reflector&) = delete;
  Reflector& operator=(const Reflector&) = delete;
  ~Reflector();

  void Start();
  /// No handler runs after it.
  void Stop();
  [[nodiscard]] bool Synced() const;
  [[nodiscard]] size_t size() const;

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;  // Shared with callbacks in flight, which find it stopped.
};

}  // namespace caldera
