#include "test/sandbox/watches.h"

#include <utility>

#include "controller/kube/json_writer.h"
#include "test/sandbox/answer.h"
#include "test/sandbox/table.h"

namespace caldera::sandbox {
namespace {

std::string Event(std::string_view type, std::string_view object) {
  std::string line = R"({"type":")";
  line += type;
  line += R"(","object":)";
  line += object;
  line += '}';
  return line;
}

bool InScope(const WatchOptions& options, const StoredObject& object) {
  return (options.key.ns.empty() || options.key.ns == object.key.ns) &&
         (options.key.name.empty() || options.key.name == object.key.name);
}

bool Wants(const WatchOptions& options, const StoredObject& object) {
  return InScope(options, object) && options.selector.Matches(object);
}

// For a watch whose selector an object stops to match, it is deleted: as it was, at the version of
// the change.
StoredObject AsOf(const StoredObject& object, uint64_t version) {
  StoredObject moved = object;
  Value tree = TreeOf(object);
  tree.Find("metadata")->Set("resourceVersion", std::to_string(version));
  moved.version = version;
  moved.text = WriteJson(tree);
  return moved;
}

}  // namespace

Watches::Watches(Store& store, Executor& executor, Millis bookmark_every)
    : store_(store), executor_(executor), bookmark_every_(bookmark_every) {}

Watches::~Watches() { CloseAll(); }

void Watches::Open(Id id, WatchOptions options, StreamHandlers handlers) {
  Watch& watch = watches_[id];
  watch.options = std::move(options);
  watch.handlers = std::make_shared<StreamHandlers>(std::move(handlers));
  const Kind& kind = *watch.options.kind;
  by_kind_[&kind].insert(id);
  watch.timeout = executor_.PostAfter(watch.options.timeout, [this, id] { Finish(id); });
  SetBookmarkTimer(id, watch);
  // The handler may close the watch.
  const auto kept = watch.handlers;
  kept->on_response({200, {{"content-type", "application/json"}}, ""});
  if (!watches_.contains(id)) {
    return;
  }
  if (watch.options.from_start) {
    for (const auto& [key, object] : store_.Objects(kind)) {
      if (Wants(watch.options, *object)) {
        Queue(id, watch, "ADDED", *object);
      }
    }
    if (watch.options.mark_initial) {
      QueueBookmark(id, watch, true);
    }
    return;
  }
  const bool known = store_.VisitSince(
      watch.options.from, [&](const Change& change) { QueueChange(id, watch, change); });
  if (!known) {
    const Refusal gone = Expired("too old resource version: " + std::to_string(watch.options.from) +
                                 " (" + std::to_string(store_.version()) + ")");
    QueueLine(id, watch, Event("ERROR", WriteJson(StatusObject(gone))));
    watch.ending = true;
  }
}

void Watches::Close(Id id) { Erase(id); }

void Watches::OnChange(const Change& change) {
  const auto found = by_kind_.find(change.kind);
  if (found == by_kind_.end()) {
    return;
  }
  for (const Id id : found->second) {
    QueueChange(id, watches_.at(id), change);
  }
}

void Watches::EndAll(const Error& error) {
  while (!watches_.empty()) {
    const auto handlers = watches_.begin()->second.handlers;
    Erase(watches_.begin()->first);
    handlers->on_end(tl::unexpected<Error>(error));
  }
}

void Watches::CloseAll() {
  while (!watches_.empty()) {
    Erase(watches_.begin()->first);
  }
}

void Watches::QueueChange(Id id, Watch& watch, const Change& change) {
  if (watch.ending || change.kind != watch.options.kind ||
      !InScope(watch.options, *change.object)) {
    return;
  }
  const bool before =
      change.previous != nullptr && watch.options.selector.Matches(*change.previous);
  const bool now =
      change.type != ChangeType::kDeleted && watch.options.selector.Matches(*change.object);
  if (now) {
    Queue(id, watch, before ? "MODIFIED" : "ADDED", *change.object);
  } else if (before && change.type == ChangeType::kDeleted) {
    Queue(id, watch, "DELETED", *change.object);
  } else if (before) {
    Queue(id, watch, "DELETED", AsOf(*change.previous, change.object->version));
  }
}

void Watches::Queue(Id id, Watch& watch, std::string_view type, const StoredObject& object) {
  if (!watch.options.table) {
    QueueLine(id, watch, Event(type, object.text));
    return;
  }
  const bool columns = !std::exchange(watch.columns_sent, true);
  const TableOptions options{executor_.Now(), columns, std::to_string(object.version), "", -1};
  QueueLine(id, watch, Event(type, RenderTable(*watch.options.kind, {&object}, options)));
}

void Watches::QueueBookmark(Id id, Watch& watch, bool initial_end) {
  const Kind& kind = *watch.options.kind;
  Value metadata;
  metadata.Set("resourceVersion", std::to_string(store_.version()));
  metadata.Set("creationTimestamp", Value());
  if (initial_end) {
    metadata.Set("annotations", Value::Map{{"k8s.io/initial-events-end", "true", {}}});
  }
  Value object;
  object.Set("kind", kind.type.kind);
  object.Set("apiVersion", kind.type.ApiVersion());
  object.Set("metadata", std::move(metadata));
  QueueLine(id, watch, Event("BOOKMARK", WriteJson(object)));
}

void Watches::QueueLine(Id id, Watch& watch, std::string line) {
  watch.pending.push_back(std::move(line));
  dirty_.insert(id);
  if (std::exchange(posted_, true)) {
    return;
  }
  executor_.Post([this, alive = std::weak_ptr(alive_)] {
    if (alive.lock() != nullptr) {
      Flush();
    }
  });
}

void Watches::SetBookmarkTimer(Id id, Watch& watch) {
  if (!watch.options.bookmarks) {
    return;
  }
  watch.bookmark = executor_.PostAfter(bookmark_every_, [this, id] {
    Watch& there = watches_.at(id);  // Closing a watch cancels its timers.
    QueueBookmark(id, there, false);
    SetBookmarkTimer(id, there);
  });
}

void Watches::Finish(Id id) {
  Watch& watch = watches_.at(id);
  if (watch.options.bookmarks) {
    QueueBookmark(id, watch, false);
  }
  watch.ending = true;
  FlushOne(id);
}

void Watches::Flush() {
  posted_ = false;
  for (const Id id : std::exchange(dirty_, {})) {
    FlushOne(id);
  }
}

void Watches::FlushOne(Id id) {
  auto found = watches_.find(id);
  if (found == watches_.end()) {
    return;
  }
  const auto alive = std::weak_ptr(alive_);
  const auto handlers = found->second.handlers;
  for (std::string& line : std::exchange(found->second.pending, {})) {
    handlers->on_line(std::move(line));
    // The handler may close the watch, or take the server down.
    if (alive.expired() || !watches_.contains(id)) {
      return;
    }
  }
  if (watches_.at(id).ending) {
    Erase(id);
    handlers->on_end({});
  }
}

void Watches::Erase(Id id) {
  const auto found = watches_.find(id);
  if (found == watches_.end()) {
    return;
  }
  executor_.Cancel(found->second.bookmark);
  executor_.Cancel(found->second.timeout);
  by_kind_[found->second.options.kind].erase(id);
  watches_.erase(found);
}

}  // namespace caldera::sandbox
