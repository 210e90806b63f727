// What a sandbox API server remembers: every object as its JSON text with an index of what is asked
// for often, one resourceVersion for all kinds, and the newest changes for watches and for pages of
// a list. Cost: a write is O(log n); a list costs what it returns. One thread.
#pragma once

#include <compare>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "federation/document.h"
#include "federation/value_at.h"
#include "test/sandbox/kinds.h"

namespace caldera::sandbox {

struct ObjectKey {
  std::string ns;  ///< Empty for cluster-scoped kinds.
  std::string name;
  friend auto operator<=>(const ObjectKey&, const ObjectKey&) = default;
};

/// One version of one object; never changed.
struct StoredObject {
  ObjectKey key;
  std::string uid;
  uint64_t version = 0;  ///< resourceVersion; for a deleted object that of the deletion.
  std::map<std::string, std::string> labels;
  std::map<std::string, std::string> fields;  ///< Kind::fields that are set.
  std::vector<std::string> owners;            ///< Uids in ownerReferences.
  bool has_finalizers = false;
  bool deleting = false;  ///< Has a deletionTimestamp.
  std::string text;       ///< Compact JSON, starting with apiVersion and kind.
};
using ObjectPtr = std::shared_ptr<const StoredObject>;
using ObjectMap = std::map<ObjectKey, ObjectPtr>;

/// Where an object is.
struct Place {
  const Kind* kind = nullptr;
  ObjectKey key;
  friend auto operator<=>(const Place&, const Place&) = default;
};

enum class ChangeType { kAdded, kModified, kDeleted };

struct Change {
  const Kind* kind = nullptr;
  ChangeType type = ChangeType::kAdded;
  ObjectPtr object;    ///< After the change; the deleted object with the deletion's version.
  ObjectPtr previous;  ///< Null for kAdded.
};

class Store {
 public:
  using Listener = std::function<void(const Change&)>;

  /// `history`: changes kept. `listener` is told of each change after it is made; it must not
  /// write.
  Store(size_t history, Listener listener);

  [[nodiscard]] ObjectPtr Find(const Kind& kind, const ObjectKey& key) const;
  [[nodiscard]] const ObjectMap& Objects(const Kind& kind) const;
  /// The objects as they were at `version`; nullopt where that is no longer known.
  [[nodiscard]] std::optional<ObjectMap> ObjectsAt(const Kind& kind, uint64_t version) const;

  /// Adds or replaces; `object` has its metadata but resourceVersion, which is set here.
  ObjectPtr Put(const Kind& kind, Value object);
  /// Removes what must be there; returns it with the deletion's version.
  ObjectPtr Remove(const Kind& kind, const ObjectKey& key);

  [[nodiscard]] uint64_t version() const { return version_; }
  /// Calls `visit` for each change after `version` in order; false where these are no longer known.
  bool VisitSince(uint64_t version, const std::function<void(const Change&)>& visit) const;
  void Compact();

  [[nodiscard]] bool HasUid(const std::string& uid) const { return by_uid_.contains(uid); }
  [[nodiscard]] std::optional<Place> PlaceOf(const std::string& uid) const;
  /// Where objects are that name `uid` as an owner.
  [[nodiscard]] std::vector<Place> Dependents(const std::string& uid) const;
  /// How many objects are in a namespace.
  [[nodiscard]] size_t CountIn(const std::string& ns) const;
  [[nodiscard]] std::vector<Place> PlacesIn(const std::string& ns) const;

 private:
  void Record(Change change);
  void Index(const Kind& kind, const StoredObject& object);
  void Unindex(const Kind& kind, const StoredObject& object);

  const size_t history_limit_;
  const Listener listener_;
  uint64_t version_ = 1;
  std::map<const Kind*, ObjectMap> objects_;
  std::deque<Change> history_;  // Versions without gaps, the last one is version_.
  std::map<std::string, Place> by_uid_;
  std::map<std::string, std::set<Place>> by_owner_;
  std::map<std::string, size_t> count_by_namespace_;
};

/// The object as a tree. What is stored is valid, so this does not fail.
Value TreeOf(const StoredObject& object);
}  // namespace caldera::sandbox
