#include "test/sandbox/mirror.h"

#include <utility>

namespace caldera::sandbox {
namespace {

// Short, so that a test or a demonstration of an outage sees the return soon.
constexpr Millis kLongestBackoff{2'000};

ReflectorOptions OptionsOf(const ResourceType& type) {
  ReflectorOptions options;
  options.type = type;
  options.longest_backoff = kLongestBackoff;
  return options;
}

}  // namespace

Mirror::Mirror(Client& client, const ResourceType& type, ChangeHandler on_change,
               std::function<void()> on_synced)
    : type_(type),
      on_change_(std::move(on_change)),
      reflector_(client, OptionsOf(type),
                 {[this](Value&& object) { Upsert(std::move(object)); },
                  [this](const std::string& ns, const std::string& name, const std::string&) {
                    Delete({ns, name});
                  },
                  on_synced ? std::move(on_synced) : [] {}, [](const Error&) {}}) {}

const Value* Mirror::Find(const ObjectKey& key) const {
  const auto found = objects_.find(key);
  return found == objects_.end() ? nullptr : &found->second;
}

void Mirror::Upsert(Value&& object) {
  if (object.Find("kind") == nullptr) {  // An item of a list has them once, in the list.
    object.Set("apiVersion", type_.ApiVersion());
    object.Set("kind", type_.kind);
  }
  const ObjectKey key = KeyOf(object);
  const auto found = objects_.find(key);
  if (found == objects_.end()) {
    const Value& after = objects_.emplace(key, std::move(object)).first->second;
    return on_change_(key, nullptr, &after);
  }
  const Value before = std::exchange(found->second, std::move(object));
  on_change_(key, &before, &found->second);
}

void Mirror::Delete(const ObjectKey& key) {
  const auto found = objects_.find(key);
  if (found == objects_.end()) {
    return;
  }
  const Value before = std::move(found->second);
  objects_.erase(found);
  on_change_(key, &before, nullptr);
}

}  // namespace caldera::sandbox
